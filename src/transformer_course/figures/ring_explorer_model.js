// What the figure "a sum, sent round a ring" computes.

const NUMBERS = 60; // of each worker; 2 to 6 divide it
const COUNTS = [2, 3, 4, 5, 6]; // workers

/** Steps until everyone has the sum. */
export function stepsOf(p) {
  return 2 * (p - 1);
}

/** The chunk that each worker sends in a step, counted from 1: first its own, then what has just come. */
export function sentIn(p, step) {
  return Array.from({ length: p }, (_, i) => (((i - step + 1) % p) + p) % p);
}

/** After a step, for each worker and chunk: the first number, of how many parts it is the sum, whether it has just
 *  come; and of the last step the letters, one from each worker to the next. */
export function stateAt(parts, p, step) {
  const cells = Array.from({ length: p }, (_, i) =>
    parts[i].slice(0, p).map((number) => ({ number, summed: 1, came: false })),
  );
  let letters = [];
  for (let now = 1; now <= step; now += 1) {
    for (const cell of cells.flat()) cell.came = false;
    letters = sentIn(p, now).map((chunk, from) => {
      const [sent, there] = [cells[from][chunk], cells[(from + 1) % p][chunk]];
      return { from, to: (from + 1) % p, chunk, number: sent.number, summed: sent.summed, before: there.number, had: there.summed };
    });
    for (const { to, chunk, number, summed, before, had } of letters) {
      const adds = now < p;
      cells[to][chunk] = { number: adds ? before + number : number, summed: adds ? had + summed : summed, came: true };
    }
  }
  return { cells, letters };
}

/** How many numbers were sent: by each worker of the ring, and if all send to one, which sends the sum back. */
export function sentNumbers(p, step) {
  const chunk = NUMBERS / p;
  return { chunk, now: step * chunk, ring: stepsOf(p) * chunk, one: (p - 1) * NUMBERS, others: NUMBERS };
}

/** The rows of the table of numbers sent. */
export function sentRows(p, step) {
  const { now, ring, one, others } = sentNumbers(p, step);
  return [
    ["ring: each worker", String(now), String(ring)],
    ["all to one: the one", "", String(one)],
    ["all to one: the others", "", String(others)],
  ];
}

/** Places on the ring, from the top and clockwise: of the workers, or between them. */
export function placesOf(p, along = 0) {
  return Array.from({ length: p }, (_, i) => {
    const turn = (2 * Math.PI * (i + along)) / p;
    return { x: Math.sin(turn), y: -Math.cos(turn), turn };
  });
}

/** The part of the state that changes with the number of workers. */
export function chosenWorkers(p) {
  return { workers: p, step: 0 };
}

/** What there is to see, in a few sentences. */
export function ringSentence({ parts, workers, step }) {
  const [p, steps] = [workers, stepsOf(workers)];
  if (step === 0) {
    return `Start: each of ${p} workers has its own ${NUMBERS} numbers, cut into ${p} chunks of ${NUMBERS / p}. All want the sum.`;
  }
  const { from, to, chunk, number, before } = stateAt(parts, p, step).letters[0];
  const adds = step < p;
  const name = `Step ${step} of ${steps}, ${adds ? "reduce-scatter" : "all-gather"}.`;
  const letter = `Worker ${from} sends chunk ${chunk} to worker ${to}, which`;
  const does = adds ? `adds it: ${before} + ${number} = ${before + number}.` : `puts ${number} in the place of ${before}.`;
  const all = step === steps ? " Now all workers have all sums." : step === p - 1 ? " Now each worker has one whole sum." : "";
  return `${name} ${letter} ${does}${all}`;
}
