// What the figure "map of the model" knows of the parts, and what it computes from a model's sizes.

export const TASKS = ["translating", "training"];
const FRAME = { encoder: "4 / 8", decoder: "4 / 12" }; // rows of the layers that are repeated

/** What a model's parts hold, by its config: d_model numbers a token, and so on. */
export function counts(c) {
  const attention = 4 * (c.d_model * c.d_model + c.d_model);
  const net = 2 * c.d_model * c.d_ff + c.d_ff + c.d_model;
  return { table: c.vocab_size * c.d_model, attention, net, norm: 2 * c.d_model };
}

const tensor = (...sizes) => `(${["1", ...sizes].join(", ")})`;

/** A part: its column and row, its name, its chapters, the section of chapter 06, and what it does.
 *  `shapes` gives what goes in and what comes out; `learns` the numbers of one such part. */
export const PARTS = {
  source: { at: "encoder 1", name: "source", chapters: ["07"], text: "The ids of the source tokens, with </s> at the end. Chapter 07 cuts text into tokens.", shapes: (c, s) => ["", tensor(s)] },
  "encoder-embedding": { at: "encoder 2", name: "embedding", chapters: ["06"], section: "embedding", text: "A table: each id becomes its row, times \u221Ad_model.", shapes: (c, s) => [tensor(s), tensor(s, c.d_model)], learns: (c, n) => n.table },
  "encoder-positions": { at: "encoder 3", name: "+ positions", chapters: ["05"], text: "Adds the vector of each position. Sinusoids are computed, not learned.", shapes: (c, s) => [tensor(s, c.d_model), tensor(s, c.d_model)] },
  "encoder-attention": { at: "encoder 4", name: "self-attention", chapters: ["01", "02", "04"], text: "Every source token asks all source tokens. Padding is hidden.", shapes: (c, s) => [tensor(s, c.d_model), tensor(s, c.d_model)], maps: (c, s) => tensor(c.n_heads, s, s), learns: (c, n) => n.attention },
  "encoder-norm-1": { at: "encoder 5", name: "add, normalise", chapters: ["06"], section: "residual", text: "Adds what the attention found to the token, and brings each token to the same size.", shapes: (c, s) => [tensor(s, c.d_model), tensor(s, c.d_model)], learns: (c, n) => n.norm },
  "encoder-feed-forward": { at: "encoder 6", name: "feed-forward", chapters: ["06"], section: "feed-forward", text: "Each token alone: d_model numbers become d_ff, through a ReLU, and back.", shapes: (c, s) => [tensor(s, c.d_model), tensor(s, c.d_model)], inside: (c, s) => tensor(s, c.d_ff), learns: (c, n) => n.net },
  "encoder-norm-2": { at: "encoder 7", name: "add, normalise", chapters: ["06"], section: "layer-norm", text: "Adds what the network found to the token, and normalises again.", shapes: (c, s) => [tensor(s, c.d_model), tensor(s, c.d_model)], learns: (c, n) => n.norm },
  memory: { at: "encoder 8", name: "memory", chapters: ["06"], section: "stacks", text: "What the top encoder layer gives. Every decoder layer reads it, as keys and values.", shapes: (c, s) => ["", tensor(s, c.d_model)], learns: (c, n) => (c.norm === "pre" ? n.norm : 0), top: "encoder" },
  target: { at: "decoder 1", name: "target so far", chapters: ["03", "07"], text: "The ids of the target tokens that are known, <s> first.", shapes: (c, s, t) => ["", tensor(t)] },
  "decoder-embedding": { at: "decoder 2", name: "embedding", chapters: ["06"], section: "embedding", text: "Each target id becomes its row of the table. The next token comes back to here, as an id.", shapes: (c, s, t) => [tensor(t), tensor(t, c.d_model)], learns: (c, n) => (c.tie_embeddings ? 0 : n.table), tied: true },
  "decoder-positions": { at: "decoder 3", name: "+ positions", chapters: ["05"], text: "The target counts its own positions, from 0.", shapes: (c, s, t) => [tensor(t, c.d_model), tensor(t, c.d_model)] },
  "decoder-attention": { at: "decoder 4", name: "masked self-attention", chapters: ["01", "03", "04"], text: "Every target token asks itself and those before it. The future is hidden.", shapes: (c, s, t) => [tensor(t, c.d_model), tensor(t, c.d_model)], maps: (c, s, t) => tensor(c.n_heads, t, t), learns: (c, n) => n.attention },
  "decoder-norm-1": { at: "decoder 5", name: "add, normalise", chapters: ["06"], section: "residual", text: "Adds what was found among the target tokens, and normalises.", shapes: (c, s, t) => [tensor(t, c.d_model), tensor(t, c.d_model)], learns: (c, n) => n.norm },
  "decoder-cross": { at: "decoder 8", name: "cross-attention", chapters: ["01", "02", "04"], text: "Queries from the target, keys and values from the memory: what shall be read next?", shapes: (c, s, t) => [`${tensor(t, c.d_model)} and the memory ${tensor(s, c.d_model)}`, tensor(t, c.d_model)], maps: (c, s, t) => tensor(c.n_heads, t, s), learns: (c, n) => n.attention },
  "decoder-norm-2": { at: "decoder 9", name: "add, normalise", chapters: ["06"], section: "residual", text: "Adds what was read in the memory, and normalises.", shapes: (c, s, t) => [tensor(t, c.d_model), tensor(t, c.d_model)], learns: (c, n) => n.norm },
  "decoder-feed-forward": { at: "decoder 10", name: "feed-forward", chapters: ["06"], section: "feed-forward", text: "Each target token alone, as in the encoder, with weights of its own.", shapes: (c, s, t) => [tensor(t, c.d_model), tensor(t, c.d_model)], inside: (c, s, t) => tensor(t, c.d_ff), learns: (c, n) => n.net },
  "decoder-norm-3": { at: "decoder 11", name: "add, normalise", chapters: ["06"], section: "layer-norm", text: "Adds what the network found, and normalises.", shapes: (c, s, t) => [tensor(t, c.d_model), tensor(t, c.d_model)], learns: (c, n) => n.norm },
  linear: { at: "decoder 12", name: "linear", chapters: ["06"], section: "output", text: "A score for every token of the vocabulary: a dot product with its row.", shapes: (c, s, t) => [tensor(t, c.d_model), tensor(t, c.vocab_size)], learns: (c, n) => (c.tie_embeddings ? 0 : n.table) + (c.norm === "pre" ? n.norm : 0), tied: true, top: "decoder" },
  softmax: { at: "decoder 13", name: "softmax", chapters: ["01"], text: "Scores become probabilities; each row sums to 1.", shapes: (c, s, t) => [tensor(t, c.vocab_size), tensor(t, c.vocab_size)] },
  next: { at: "decoder 14", name: "next token", chapters: ["09"], only: "translating", text: "One token is chosen by the last row. Its id goes back to the target's embedding.", shapes: (c, s, t) => [tensor(t, c.vocab_size), "one id"] },
  training: { at: "encoder 12", name: "change weights", chapters: ["07"], only: "training", text: "The gradient of the loss says how every weight has to move.", shapes: () => ["the gradients", "new weights"] },
  loss: { at: "encoder 13", name: "loss: how wrong?", chapters: ["08"], only: "training", text: "How probable were the right tokens? Compared at all target positions at once.", shapes: (c, s, t) => [tensor(t, c.vocab_size), "one number"] },
};

/** How many times a part stands in the model. */
export function copies(part, c) {
  const [stack, row] = part.at.split(" ");
  const [from, to] = FRAME[stack].split(" / ").map(Number);
  return row >= from && row < to ? c[`n_${stack}_layers`] : 1;
}

/** A number with a comma between thousands. */
const whole = (number) => number.toLocaleString("en-US");

/** How many numbers a part learns, all its copies together. */
function learnedBy(part, c) {
  return part.learns ? part.learns(c, counts(c)) * copies(part, c) : 0;
}

/** How many numbers the whole model learns. */
export function total(c) {
  return sum(Object.values(PARTS).map((part) => learnedBy(part, c)));
}

/** The model in one line. */
export function summary(c) {
  return `d_model ${c.d_model}, ${c.n_heads} heads, d_ff ${c.d_ff}, ${c.norm}-norm, vocabulary ${whole(c.vocab_size)}: ${whole(total(c))} numbers to learn.`;
}

/** The numbers that a part learns, in words. */
function learned(part, c) {
  const one = part.learns ? part.learns(c, counts(c)) : 0;
  const times = copies(part, c);
  const shared = part.tied && c.tie_embeddings ? "shares the table of the source embedding" : "";
  const top = part.top && c.norm === "pre" ? "the norm on top of the stack" : "";
  const why = [shared, top].filter(Boolean).join("; ");
  const number = times > 1 && one ? `${whole(one)} each, ${whole(one * times)} in ${times} layers` : one ? whole(one) : "nothing";
  return why ? `${number} (${why})` : number;
}

/** What there is to know of a part: pairs of a name and a text. */
export function factsOf(id, c, [s, t]) {
  const part = PARTS[id];
  const [into, out] = part.shapes(c, s, t);
  const facts = [
    ["goes in", into],
    ["inside", part.inside?.(c, s, t)],
    ["maps", part.maps?.(c, s, t)],
    ["comes out", out],
    ["learns", learned(part, c)],
  ];
  return facts.filter(([, text]) => text);
}

/** What a part does, and what is special about it now. */
export function about(id, c, task) {
  const part = PARTS[id];
  const order = c.norm === "pre" && part.name.startsWith("add") ? " (Here pre-norm: the norm stands before the sub-layer.)" : "";
  return part.text + order + (idle(id, task) ? ` (Only when ${part.only}.)` : "");
}

/** Whether a part has nothing to do now. */
export function idle(id, task) {
  const { only } = PARTS[id];
  return Boolean(only) && only !== task;
}
