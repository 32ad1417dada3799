// What the figure "query, keys and values in the plane" computes.

const RANGE = 4; // both planes show -RANGE to RANGE
const STEP = 0.1; // of the sliders and the arrow keys

/** Scores, weights, output and entropy (in bits) of one query. */
export function attend(query, keys, values, scaled) {
  const divisor = scaled ? Math.sqrt(query.length) : 1;
  const scores = keys.map((key) => dot(query, key) / divisor);
  const weights = softmax(scores);
  const output = values[0].map((_, axis) => dot(weights, values.map((value) => value[axis])));
  return { scores, weights, output, entropy: entropyOf(weights) / Math.LN2 };
}

/** The nearest place that a query can have. */
export function nearest(query) {
  return query.map((x) => clamp(Math.round(x / STEP) * STEP, -RANGE, RANGE));
}

/** Where a key of the keyboard brings the query; nothing for keys without a meaning. */
export function stepped([x, y], start, key, far) {
  const step = STEP * (far ? 10 : 1);
  const places = {
    ArrowLeft: [x - step, y],
    ArrowRight: [x + step, y],
    ArrowUp: [x, y + step],
    ArrowDown: [x, y - step],
    Home: start,
  };
  return places[key];
}

/** The corners of the smallest polygon that holds all points, in order (Andrew's monotone chain). */
export function hull(points) {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const turn = (o, a, b) => (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
  const chain = (list) => {
    const kept = [];
    for (const p of list) {
      while (kept.length > 1 && turn(kept.at(-2), kept.at(-1), p) <= 0) kept.pop();
      kept.push(p);
    }
    return kept.slice(0, -1);
  };
  return [...chain(sorted), ...chain(sorted.reverse())];
}

/** What there is to see, in a sentence. */
export function sentence(names, query, keys, values, scaled) {
  const now = attend(query, keys, values, scaled);
  const other = attend(query, keys, values, !scaled);
  const without = scaled ? "without scaling" : "with scaling";
  return (
    `Most weight: ${names[largest(now.weights)]}. Output: ${point(now.output, 2)}. ` +
    `Entropy: ${digits(now.entropy, 2)} bits (${without}: ${digits(other.entropy, 2)}).`
  );
}
