// What the figure "from one word to another" counts.

const D_MODEL = 512; // the paper's width, for the products
const LONGEST = 16;
export const KINDS = ["recurrent", "convolution", "dilated convolution", "self-attention"];
export const KERNELS = [3, 5, 7];

/** The state, with words that are in the sentence. */
export function inSentence({ kind, n, start, end, kernel_size: kernel }) {
  return { kind, n, start: clamp(start, 1, n), end: clamp(end, 1, n), kernel };
}

/** How far to either side layer `i` of a stack of convolutions reaches, from 0. */
export function reach(kind, kernel, i) {
  return ((kernel - 1) / 2) * (kind === "dilated convolution" ? kernel ** i : 1);
}

/** Layers of convolutions until a signal has gone `distance` words to one side. */
export function layersFor(kind, kernel, distance) {
  let [layers, gone] = [0, 0];
  while (gone < distance || layers === 0) gone += reach(kind, kernel, layers++);
  return layers;
}

/** What a kind of layer needs for the way: steps on it, steps that must wait for each other, products of a layer. */
export function costs(kind, n, start, end, kernel) {
  const distance = Math.abs(end - start);
  const width = D_MODEL ** 2;
  if (kind === "recurrent") return { path: distance, waiting: n, products: 6 * n * width };
  if (kind === "self-attention") {
    return { path: 1, waiting: 1, products: 4 * n * width + 2 * n * n * D_MODEL };
  }
  const layers = layersFor(kind, kernel, distance);
  return { path: layers, waiting: layers, products: layers * kernel * n * width };
}

/** How many words one layer of dilated convolutions takes: of each step's sizes only one lets later layers arrive. */
function dilatedMove(distance, kernel, i) {
  const [side, step] = [(kernel - 1) / 2, kernel ** i];
  return (modulo(distance / step + side, kernel) - side) * step;
}

const modulo = (number, by) => ((number % by) + by) % by;

/**
 * The way as points [row, word], words counted from 0: row 0 holds the words, the rows above it the layers. Dilated
 * convolutions see every few words only, so their way may lead over padding: words below 0, or beyond the last.
 */
export function way(kind, start, end, kernel) {
  const [from, to] = [start - 1, end - 1];
  if (kind === "self-attention") return [[0, from], [1, to]];
  const points = [[0, from]];
  if (kind === "recurrent") {
    const step = to < from ? -1 : 1;
    for (let word = from; word !== to + step; word += step) points.push([1, word]);
    return points;
  }
  const layers = layersFor(kind, kernel, Math.abs(to - from));
  let word = from;
  for (let i = 0; i < layers; i += 1) {
    const here = reach(kind, kernel, i);
    word += kind === "convolution" ? clamp(to - word, -here, here) : dilatedMove(to - word, kernel, i);
    points.push([i + 1, word]);
  }
  return points;
}

/** The first and the last word of a drawing: those of the sentence, and padding that the way leads over. */
export function edges(points, n) {
  const words = points.map(([, word]) => word);
  return [Math.min(0, ...words), Math.max(n - 1, ...words)];
}

/** All connections of the rows that are drawn: pairs of points. */
export function connections(kind, n, rows, start, end, kernel) {
  const found = [];
  for (let row = 1; row < rows; row += 1) {
    for (let word = 0; word < n; word += 1) {
      if (kind === "recurrent") {
        found.push([[0, word], [1, word]]);
        if (word) found.push([[1, word - 1], [1, word]]);
      } else if (kind === "self-attention") {
        for (let from = 0; from < n; from += 1) found.push([[0, from], [1, word]]);
      } else {
        const side = (kernel - 1) / 2;
        const step = reach(kind, kernel, row - 1) / side;
        for (let k = -side; k <= side; k += 1) {
          const from = word + k * step;
          if (from >= 0 && from < n) found.push([[row - 1, from], [row, word]]);
        }
      }
    }
  }
  return found;
}

/** What there is to see, in sentences. */
export function sentence({ kind, n, start, end, kernel }) {
  const { path, waiting } = costs(kind, n, start, end, kernel);
  const [low, high] = edges(way(kind, start, end, kernel), n);
  const beside = low < 0 || high >= n ? "The way leads over padding beside the sentence. " : "";
  return (
    `From word ${start} to word ${end}, ${kind}: ${counted(path, "step")} on the way. ${beside}` +
    `To read all ${n} words: ${counted(waiting, "step")} that must wait for each other.`
  );
}
