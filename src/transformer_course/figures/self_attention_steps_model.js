// What the figure "six steps of self-attention" computes.

/** One row of X times a matrix. */
export function project(x, matrix) {
  return matrix[0].map((_, column) => dot(x, matrix.map((row) => row[column])));
}

/** All six steps for one word: i is the place of the word that asks. */
export function steps(x, { query, key, value }, i) {
  const q = project(x[i], query);
  const keys = x.map((row) => project(row, key));
  const values = x.map((row) => project(row, value));
  const scores = keys.map((k) => dot(q, k));
  const scaled = scores.map((score) => score / Math.sqrt(q.length));
  const weights = softmax(scaled);
  const weighted = values.map((v, j) => v.map((number) => weights[j] * number));
  const output = weighted[0].map((_, axis) => sum(weighted.map((v) => v[axis])));
  return { q, keys, values, scores, scaled, weights, weighted, output };
}

/** Whole numbers as they are, others with two digits. */
export function brief(number) {
  return digits(number, Number.isInteger(number) ? 0 : 2);
}

export function vector(numbers) {
  return `(${numbers.map(brief).join(", ")})`;
}

/** A product of two vectors, written out: 2\u00b71 + 0\u00b73. */
export function written(a, b) {
  return a.map((number, i) => `${brief(number)}\u00b7${brief(b[i])}`).join(" + ");
}

/** What there is to see, in a sentence: the largest weight, and the score in both directions. */
export function sentence(words, x, matrices, i) {
  const now = steps(x, matrices, i);
  const best = largest(now.weights);
  const back = steps(x, matrices, best).scores[i];
  const scores = `The score is ${brief(now.scores[best])}; the other way round it is ${brief(back)}.`;
  return (
    `\u201c${words[i]}\u201d looks most at \u201c${words[best]}\u201d (${digits(now.weights[best], 3)}). ` +
    (best === i ? "That is itself." : scores)
  );
}
