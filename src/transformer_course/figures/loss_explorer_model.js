// What the figure "drag the prediction" computes.

const STEP = 0.01; // of a bar moved by the arrow keys

/** The wanted distribution: one right word, smoothed. */
export function wantedOf(count, right, smoothing) {
  return Array.from({ length: count }, (_, k) => (k === right ? 1 - smoothing : 0) + smoothing / count);
}

/** Cross-entropy, entropy of the target, divergence and perplexity, in nats; 0 ln 0 counts as 0. */
export function measure(wanted, predicted) {
  const costs = wanted.map((q, k) => (q > 0 ? -q * Math.log(predicted[k]) : 0));
  const crossEntropy = sum(costs);
  const entropy = entropyOf(wanted);
  const gradient = predicted.map((p, k) => p - wanted[k]);
  return { costs, crossEntropy, entropy, divergence: crossEntropy - entropy, perplexity: Math.exp(crossEntropy), gradient };
}

/** Give word k the probability p; the others share the rest as they did before. */
export function moved(predicted, k, p) {
  const share = clamp(p, 0, 1);
  const rest = sum(predicted.filter((_, i) => i !== k));
  const others = predicted.length - 1;
  return predicted.map((other, i) => {
    if (i === k) return share;
    return rest > 1e-9 ? (other / rest) * (1 - share) : (1 - share) / others;
  });
}

/** Which probability a key of the keyboard gives; nothing for keys without a meaning. */
export function stepped(p, key, far) {
  const step = STEP * (far ? 10 : 1);
  const places = { ArrowUp: p + step, ArrowRight: p + step, ArrowDown: p - step, ArrowLeft: p - step, Home: 0, End: 1 };
  return key in places ? Math.round(places[key] * 1e6) / 1e6 : undefined;
}

/** A number, or the sign of infinity. */
export function shown(number, places) {
  return Number.isFinite(number) ? digits(number, places) : "\u221E";
}

/** What there is to see, in a sentence. */
export function sentence(words, wanted, predicted, right) {
  const now = measure(wanted, predicted);
  if (!Number.isFinite(now.crossEntropy)) {
    const zero = words[predicted.findIndex((p, k) => p === 0 && wanted[k] > 0)];
    return `The loss is infinite: "${zero}" is wanted with ${digits(wanted[words.indexOf(zero)], 3)}, and predicted with 0.`;
  }
  if (Math.abs(now.divergence) < 5e-4) return "Predicted and wanted are equal: the loss is at its floor, and no gradient is left.";
  const k = largest(now.gradient.map(Math.abs));
  const way = now.gradient[k] < 0 ? "raises" : "lowers";
  const about = k === right ? "the right word" : `"${words[k]}"`;
  return `As hard as guessing among ${shown(now.perplexity, 2)} equally likely words. The next step ${way} the logit of ${about} most.`;
}
