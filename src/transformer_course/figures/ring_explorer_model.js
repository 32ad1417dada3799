// What the figure "round the ring" computes.

const NUMBERS = 60; // of a gradient: it can be cut into 2, 3, 4, 5 or 6 chunks of one size

/** How many steps there are: first sums are made, then passed on. */
export function stepsOf(workers) {
  return 2 * (workers - 1);
}

/** The chunk that each worker sends in a step, counted from 1. */
export function sentIn(workers, step) {
  return Array.from({ length: workers }, (_, i) => (i - (step - 1) + 2 * workers) % workers);
}

/** What each worker has in each of its chunks after some steps; worker i begins with i + 1 in all of them. */
export function after(workers, steps) {
  let chunks = Array.from({ length: workers }, (_, i) => Array(workers).fill(i + 1));
  for (let step = 1; step <= steps; step += 1) {
    const next = chunks.map((own) => [...own]);
    sentIn(workers, step).forEach((chunk, i) => {
      const there = (i + 1) % workers;
      next[there][chunk] = chunks[i][chunk] + (step < workers ? chunks[there][chunk] : 0);
    });
    chunks = next;
  }
  return chunks;
}

/** The sum of all, which each worker has in the end. */
export function whole(workers) {
  return (workers * (workers + 1)) / 2;
}

/** Numbers sent so far by each worker; and to the end, if all send to worker 1, which sends the sum back: one, worker 1. */
export function traffic(workers, step) {
  const chunk = NUMBERS / workers;
  return { each: step * chunk, end: stepsOf(workers) * chunk, other: NUMBERS, first: (workers - 1) * NUMBERS };
}

/** What has happened in a step, in sentences. */
export function sentence(workers, step) {
  if (step === 0) return `${workers} workers, each with ${workers} chunks. The sum of each column is wanted, by everyone.`;
  const done = after(workers, step).flat().filter((number) => number === whole(workers)).length;
  const what = step < workers ? "which adds it to its own" : "which takes it in place of its own";
  const end = step === stepsOf(workers) ? " Everyone has all sums." : "";
  return `Step ${step} of ${stepsOf(workers)}: each worker has sent one chunk to the next, ${what}. Whole sums: ${done} of ${workers ** 2}.${end}`;
}
