// What the figure "three masks over one batch" computes. True = may attend, as in the whole course.

/** The words of one sentence, filled up to `width`. */
export function padded(words, width, pad, left) {
  const filler = Array(width - words.length).fill(pad);
  return left ? [...filler, ...words] : [...words, ...filler];
}

/** Who may see whom, [query][key]. */
export function maskOf(queries, keys, { pad, padding, causal, inverted }) {
  return queries.map((_, t) =>
    keys.map((word, k) => (!(padding && word === pad) && !(causal && k > t)) !== inverted),
  );
}

/** The batch as one attention sees it: for each sentence its queries, its keys and its mask. */
export function batchOf({ sources, targets, place, left, ...options }) {
  const filled = (sentences) => {
    const width = Math.max(...sentences.map((words) => words.length));
    return sentences.map((words) => padded(words, width, options.pad, left));
  };
  const asking = filled(place === "encoder" ? sources : targets);
  const asked = filled(place === "decoder" ? targets : sources);
  return asking.map((queries, i) => ({ queries, keys: asked[i], mask: maskOf(queries, asked[i], options) }));
}

/** Scores and weights, [query][key]; what is hidden gets -Infinity, or as the package does it. */
export function attend(queries, keys, mask, vectors, safe) {
  const scores = queries.map((query, t) =>
    keys.map((key, k) => (mask[t][k] ? dot(vectors[query][0], vectors[key][1]) / Math.SQRT2 : -Infinity)),
  );
  const weights = scores.map((row) => {
    if (safe && !row.some(Number.isFinite)) return row.map(() => 0);
    return softmax(row); // of -Infinity alone: NaN
  });
  return { scores, weights };
}

/** What is right or wrong about a mask, in sentences. */
export function sentence(queries, keys, mask, weights, pad, place) {
  const right = maskOf(queries, keys, { pad, padding: true, causal: place === "decoder", inverted: false });
  const hidden = mask.flat().filter((seen) => !seen).length;
  const said = [`${hidden} of ${mask.flat().length} pairs are hidden.`];
  const worst = (wrong) =>
    Math.max(0, ...queries.flatMap((query, t) =>
      keys.map((key, k) => (query !== pad && wrong(key, k, t) && weights[t][k] > 0 ? weights[t][k] : 0)),
    ));
  const future = worst((key, k, t) => place === "decoder" && k > t && key !== pad);
  const filler = worst((key) => key === pad);
  const empty = queries.filter((_, t) => !mask[t].includes(true));
  const lost = queries.flatMap((query, t) => mask[t].filter((seen, k) => query !== pad && !seen && right[t][k]));
  if (future > 0) said.push(`Leak: a word sees a later one, with a weight of up to ${digits(future, 2)}.`);
  if (filler > 0) said.push(`Words attend to padding, with a weight of up to ${digits(filler, 2)}.`);
  if (lost.length) said.push(`${lost.length} pairs are hidden that should be seen.`);
  if (empty.length) {
    const what = Number.isNaN(weights[mask.findIndex((row) => !row.includes(true))][0]) ? "NaN" : "0";
    said.push(`Nothing is left to see for ${empty.join(", ")}: all weights there are ${what}.`);
  }
  if (future === 0 && filler === 0 && !lost.length) said.push("No word sees what it should not.");
  return said.join(" ");
}
