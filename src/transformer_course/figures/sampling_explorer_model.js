// What the figure "temperature, top-k, top-p" computes, from stored log-probabilities.

const DRAWS = 100;
const COUNTS = [1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 40]; // what the slider of k can be, and then "all"

/** What is drawn from: softmax after temperature, cut to the k best, cut to the nucleus, normalised again. */
export function distribution(logits, temperature, k, p) {
  let probs = softmax(logits.map((z) => z / temperature)); // most probable first
  const normalised = (numbers) => {
    const total = sum(numbers);
    return numbers.map((x) => x / total);
  };
  if (k) probs = normalised(probs.map((x, i) => (i < k ? x : 0)));
  let before = 0;
  const kept = probs.map((x) => {
    const stays = p >= 1 || before < p; // rounding must not cut the tail
    before += x;
    return stays ? x : 0;
  });
  return normalised(kept);
}

/** How often each token is drawn. */
export function drawn(probs, times, seed) {
  const random = randomNumbers(seed);
  const counts = probs.map(() => 0);
  const last = probs.findLastIndex((x) => x > 0);
  for (let i = 0; i < times; i += 1) {
    let left = random();
    const token = probs.findIndex((x) => (left -= x) < 0);
    counts[token < 0 ? last : token] += 1;
  }
  return counts;
}

/** One number for each of the first tokens, and the sum of all others. */
export function grouped(numbers, count) {
  const first = numbers.slice(0, count);
  return numbers.length > count ? [...first, sum(numbers.slice(count))] : first;
}

/** What the slider of k can be; 0 keeps all. */
export function countsFor(tokens) {
  return [...COUNTS.filter((k) => k < tokens), 0];
}

/** What there is to see, in a sentence; `first` is the name of the first token, `times` how often it was drawn. */
export function sentence(probs, first, times) {
  const kept = probs.filter((x) => x > 0).length;
  const tokens = kept === 1 ? "1 token is left: every draw is the same" : `${kept} of ${probs.length} tokens can be drawn`;
  const drawn = times === null ? "" : ` Of ${DRAWS} draws, ${digits(times, 0)} are \u201C${first}\u201D.`;
  return `${tokens}; the entropy is ${digits(entropyOf(probs), 2)} nats.${drawn}`;
}
