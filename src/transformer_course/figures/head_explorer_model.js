// What the figure "heads of a trained model" computes: all weights are in the state that the notebook stores.

const CHOICES = ["sentence", "kind", "layer", "head", "word"];

/** What is chosen; a number beyond what there is becomes the last there is. */
export function chosenOf(sentences, wanted) {
  const pick = (name, list) => Math.min(wanted[name], list.length - 1);
  const sentence = pick("sentence", sentences);
  const { kinds } = sentences[sentence];
  const kind = pick("kind", kinds);
  const { rows, columns, layers } = kinds[kind];
  const layer = pick("layer", layers);
  const head = pick("head", layers[layer]);
  const word = pick("word", rows);
  return { sentence, kinds, kind, rows, columns, layers, layer, head, word, maps: layers[layer] };
}

/** What the chosen row says, in words. */
export function sentence(name, columns, weights) {
  const best = largest(weights);
  return (
    `Query \u201C${name}\u201D: most weight on \u201C${columns[best]}\u201D, ${digits(weights[best], 2)}. ` +
    `Entropy: ${digits(entropyOf(weights) / Math.LN2, 2)} bits.`
  );
}
