// The figure "three masks over one batch". All is computed here, in the browser, from the state that the
// notebook stores: it needs no Python once the page is open. True = may attend, as in the whole course.

const PLACES = [
  ["encoder", "encoder self-attention"],
  ["cross", "cross-attention"],
  ["decoder", "decoder self-attention"],
];
const SWITCHES = [
  ["padding", "hide padding"],
  ["causal", "hide the future"],
  ["inverted", "read the mask the wrong way round"],
  ["left", "put the padding at the left"],
];
const STATE = ["place", "padding", "causal", "inverted", "left", "safe", "sentence"];
const CELL = 13; // units of a small mask's drawing
let made = 0; // radio buttons of several figures must not share a name

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
function verdict(queries, keys, mask, weights, pad, place) {
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

/** A native check box or radio button with its label. */
function choice(type, attributes, ...label) {
  const input = html("input", { type, ...attributes });
  return { input, label: html("label", {}, input, ...label) };
}

function group(title, name, ...children) {
  return html("fieldset", { class: `tc-group ${name}` }, html("legend", {}, title), ...children);
}

/** A small drawing of one mask. */
function thumbnail(mask) {
  const [height, width] = [mask.length * CELL, mask[0].length * CELL];
  const drawing = document.createElementNS(SVG, "svg");
  drawing.setAttribute("viewBox", `-1 -1 ${width + 2} ${height + 2}`);
  drawing.setAttribute("aria-hidden", "true");
  mask.forEach((row, t) =>
    row.forEach((seen, k) => {
      const [x, y] = [k * CELL, t * CELL];
      svg(drawing, "rect", { x, y, width: CELL, height: CELL, class: seen ? "tc-seen" : "tc-hidden" });
      if (!seen) svg(drawing, "path", { d: `M${x},${y + CELL}l${CELL},${-CELL}`, class: "tc-stripe" });
    }),
  );
  return drawing;
}

/** A table of numbers, a row for each query and a column for each key. */
function table(title, queries, keys, mask, cell) {
  const head = html("tr", {}, html("th", { scope: "col" }, "query \u2193 key \u2192"));
  head.append(...keys.map((key) => html("th", { scope: "col", class: "tc-key-head" }, key)));
  const rows = queries.map((query, t) => {
    const row = html("tr", {}, html("th", { scope: "row" }, query));
    row.append(...keys.map((_, k) => cell(t, k)));
    return row;
  });
  const body = html("tbody", {}, ...rows);
  return html("table", {}, html("caption", {}, title), html("thead", {}, head), body);
}

function render({ model, el }) {
  made += 1;
  const get = (name) => model.get(name);
  const set = (changes) => {
    for (const [name, value] of Object.entries(changes)) model.set(name, value);
    model.save_changes();
  };
  const radio = (name, value, ...label) => choice("radio", { name: `tc-${name}-${made}`, value }, ...label);
  const places = PLACES.map(([value, text]) => radio("place", value, text));
  const switches = SWITCHES.map(([, text]) => choice("checkbox", {}, text));
  const ways = [
    radio("safe", "no", "\u2212\u221E, and nothing more"),
    radio("safe", "yes", "the lowest number; a row that sees nothing gets 0 (this package)"),
  ];
  const sentences = get("sources").map((_, i) => {
    const [drawing, words] = [html("span", { class: "tc-thumb" }), html("span")];
    return { ...radio("sentence", i, drawing, words), drawing, words };
  });
  const tables = html("div", { class: "tc-tables" });
  const result = html("p", { class: "tc-result", role: "status" });
  const labels = (list) => list.map((item) => item.label);
  const root = html(
    "div",
    { class: "tc-widget tc-masks", role: "group", "aria-label": "Masks of a padded batch" },
    html(
      "div",
      { class: "tc-panels" },
      group("Place", "tc-places", ...labels(places)),
      group("Mask", "tc-switches", ...labels(switches)),
    ),
    group("A hidden score becomes", "tc-ways", ...labels(ways)),
    group("The batch: three sentences, three masks. Choose one", "tc-batch", ...labels(sentences)),
    tables,
    result,
  );
  el.replaceChildren(root);
  keepKeys(root);

  function draw() {
    const [place, pad, left] = ["place", "pad", "left"].map(get);
    const options = { pad, padding: get("padding"), causal: get("causal"), inverted: get("inverted") };
    const sides = { encoder: ["sources", "sources"], cross: ["targets", "sources"], decoder: ["targets", "targets"] };
    const [asking, asked] = sides[place].map((name) => {
      const width = Math.max(...get(name).map((words) => words.length));
      return get(name).map((words) => padded(words, width, pad, left));
    });
    places.forEach(({ input }) => (input.checked = input.value === place));
    switches.forEach(({ input }, i) => (input.checked = get(SWITCHES[i][0])));
    ways.forEach(({ input }) => (input.checked = (input.value === "yes") === get("safe")));
    const masks = asking.map((queries, i) => maskOf(queries, asked[i], options));
    sentences.forEach(({ input, drawing, words }, i) => {
      input.checked = i === get("sentence");
      drawing.replaceChildren(thumbnail(masks[i]));
      words.textContent = asked[i].join(" ");
    });
    const i = get("sentence");
    const [queries, keys, mask] = [asking[i], asked[i], masks[i]];
    const { scores, weights } = attend(queries, keys, mask, get("vectors"), get("safe"));
    const low = get("safe") ? "lowest" : "\u2212\u221E";
    tables.replaceChildren(
      table("Scores, divided by \u221A2", queries, keys, mask, (t, k) =>
        mask[t][k]
          ? html("td", {}, digits(scores[t][k], 2))
          : html("td", { class: "tc-hidden-cell" }, html("span", {}, low)),
      ),
      table("Weights", queries, keys, mask, (t, k) => {
        const weight = weights[t][k];
        if (Number.isNaN(weight)) return html("td", { class: "tc-nan" }, "NaN");
        const cell = html("td", mask[t][k] ? { class: "tc-share" } : { class: "tc-share tc-zero" });
        cell.append(digits(weight, 2));
        cell.style.setProperty("--share", weight);
        return cell;
      }),
    );
    result.textContent = verdict(queries, keys, mask, weights, pad, place);
  }

  // A new place starts with the mask that is right for it.
  places.forEach(({ input }) =>
    input.addEventListener("change", () =>
      set({ place: input.value, padding: true, causal: input.value === "decoder", inverted: false }),
    ),
  );
  switches.forEach(({ input }, i) =>
    input.addEventListener("change", () => set({ [SWITCHES[i][0]]: input.checked })),
  );
  ways.forEach(({ input }) => input.addEventListener("change", () => set({ safe: input.value === "yes" })));
  sentences.forEach(({ input }, i) => input.addEventListener("change", () => set({ sentence: i })));
  return follow(model, STATE, draw);
}

export default { render };
