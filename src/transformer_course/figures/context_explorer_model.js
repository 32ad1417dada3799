// What the figure "longer contexts" computes. True = may attend, as in the whole course. `span` (of the short text)
// and `long_span` (of the long one) say how many tokens a local pattern sees, and they are the stride of a strided
// one. The first token is the global one.

const PATTERNS = ["full", "local", "strided", "local + strided", "local + global"];
const [FULL, LOCAL, STRIDED, BOTH, GLOBAL] = PATTERNS;
const powers = (low, high) => Array.from({ length: high - low + 1 }, (_, i) => 2 ** (low + i));

/** What the calculator offers. */
export const SIZES = {
  long_length: powers(7, 20),
  long_span: powers(4, 14),
  layers: [1, 2, 4, 6, 12, 24, 32, 48, 80],
  d_model: powers(7, 13),
  heads: powers(0, 6),
  key_heads: powers(0, 6),
  bytes_per_number: [4, 2, 1],
};

/** What changes when a number is chosen: no token beyond the text, no more heads of keys than heads. What must become
 *  smaller comes first, because the figure is drawn after each change. */
export function chosen(state, name, number) {
  if (name === "length") return { token: Math.min(state.token, number - 1), length: number };
  if (name === "heads") return { key_heads: Math.min(state.key_heads, number), heads: number };
  return { [name]: number };
}

/** Who sees whom in one layer, [query][key]. */
export function maskOf({ pattern, causal, length, span }) {
  const places = Array.from({ length }, (_, i) => i);
  const near = (back) => Math.abs(back) < span;
  const hit = (back) => back % span === 0;
  const sees = {
    [FULL]: () => true,
    [LOCAL]: near,
    [STRIDED]: hit,
    [BOTH]: (back) => near(back) || hit(back),
    [GLOBAL]: (back, q, k) => near(back) || q === 0 || k === 0,
  }[pattern];
  return places.map((q) => places.map((k) => (!causal || k <= q) && sees(q - k, q, k)));
}

/** What a token knows of after 0, 1, … layers, [layer][token]: the residual connection keeps what it knew. */
export function knownBy(mask, token, layers) {
  const known = [mask.map((_, j) => j === token)];
  for (let layer = 0; layer < layers; layer += 1) {
    const before = known[layer];
    known.push(before.map((has, j) => has || before.some((on, k) => on && mask[k][j])));
  }
  return known;
}

/** Layers until every token knows of all that it may know of; null if it never does. */
export function layersNeeded(mask, causal) {
  const needed = mask.map((_, token) => {
    const known = knownBy(mask, token, mask.length);
    return known.findIndex((row) => row.every((has, j) => has || (causal && j > token)));
  });
  return needed.includes(-1) ? null : Math.max(...needed);
}

/** What there is to see in the short text, in sentences. */
export function reachSentence(state) {
  const { pattern, causal, length, depth, token } = state;
  const mask = maskOf(state);
  const count = (row) => row.filter(Boolean).length;
  const known = count(knownBy(mask, token, depth)[depth]);
  const all = causal ? token + 1 : length;
  const needed = layersNeeded(mask, causal);
  const text =
    `Token ${token} sees ${counted(count(mask[token]), "token")}. ` +
    `After ${counted(depth, "layer")} it knows of ${known} of the ${all} that it may know of. `;
  if (needed === null) return `${text}Not all tokens meet, however many layers there are.`;
  const rest = `It takes ${counted(needed, "layer")} until every token knows all.`;
  const blind = pattern === GLOBAL && causal;
  return text + rest + (blind ? " The global token is the first one: it sees only itself, so it passes nothing on." : "");
}

/** Scores that are computed for one head of a long text, hidden ones too: as in `local_attention` and
 *  `strided_attention`, where texts are filled up to whole blocks. */
export function pairsOf(pattern, n, span) {
  const r = Math.min(span, n);
  const blocks = Math.ceil(n / r);
  const local = blocks * r * 2 * r;
  const strided = r * blocks * blocks;
  return { [FULL]: n * n, [LOCAL]: local, [STRIDED]: strided, [BOTH]: local + strided, [GLOBAL]: local + n }[pattern];
}

/** How many tokens a new one needs the keys and values of. */
export function cachedOf(pattern, n, span) {
  if (pattern === LOCAL) return Math.min(n, span);
  return pattern === GLOBAL ? Math.min(n, span + 1) : n;
}

/** What a long text costs a decoder: multiply-adds of all layers, bytes of one layer's scores, bytes of the cache. */
export function costOf(state) {
  const { pattern, long_length, long_span, layers, d_model: width, heads, key_heads: keyHeads, bytes_per_number: bytes } = state;
  const pairs = pairsOf(pattern, long_length, long_span);
  return {
    multiply_adds: 2 * layers * pairs * width,
    score_bytes: heads * pairs * bytes,
    cache_bytes: 2 * layers * cachedOf(pattern, long_length, long_span) * (width / heads) * keyHeads * bytes,
  };
}

/** A whole number with a narrow space between thousands. */
export function whole(number) {
  return number.toLocaleString("en").replaceAll(",", "\u202F");
}

/** Below 100 000 all digits, above that three of them and a power of ten. */
export function countText(number) {
  if (number < 1e5) return whole(number);
  const [few, power] = number.toExponential(2).split("e+");
  return `${few} \u00B7 10${[...power].map((digit) => "\u2070\u00B9\u00B2\u00B3\u2074\u2075\u2076\u2077\u2078\u2079"[digit]).join("")}`;
}

/** Bytes with three digits, in powers of 1024. */
export function bytesText(bytes) {
  const power = Math.min(5, Math.floor(Math.log2(bytes) / 10));
  const number = bytes / 1024 ** power;
  const text = number >= 100 ? number.toFixed(0) : String(Number(number.toPrecision(3)));
  return `${text} ${["B", "KiB", "MiB", "GiB", "TiB", "PiB"][power]}`;
}

/** The rows of the table: what it is, for this pattern, for full attention. */
export function rowsOf(state) {
  const [own, full] = [costOf(state), costOf({ ...state, pattern: FULL })];
  return [
    ["multiply-adds", countText, "multiply_adds"],
    ["scores of a layer", bytesText, "score_bytes"],
    ["cache", bytesText, "cache_bytes"],
  ].map(([name, text, part]) => [name, text(own[part]), text(full[part])]);
}

/** A part of a whole in %; small ones keep two digits. */
export function shareText(part) {
  const percent = 100 * part;
  return `${percent >= 10 ? digits(percent, 0) : String(Number(percent.toPrecision(2)))} %`;
}

/** What there is to see in the table, in sentences. */
export function costSentence(state) {
  const { pattern, heads, key_heads: keyHeads } = state;
  const [own, full] = [costOf(state), costOf({ ...state, pattern: FULL })];
  const group = heads / keyHeads;
  const shared = group > 1 ? ` ${group} heads share keys and values: that makes the cache ${group} times smaller, and nothing else.` : "";
  if (pattern === FULL) return `Twice as many tokens: four times the multiply-adds and scores, twice the cache.${shared}`;
  const less = (name) => shareText(own[name] / full[name]);
  const text = `Of full attention that is ${less("score_bytes")} of the scores and ${less("cache_bytes")} of the cache.`;
  return text + (own.score_bytes > full.score_bytes ? " Looking so far back saves nothing: half of these scores are hidden." : "") + shared;
}
