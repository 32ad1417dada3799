// The figure "three masks over one batch". All is computed here, in the browser, from the state that the
// notebook stores: it needs no Python once the page is open.

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
const WAYS = ["\u2212\u221E, and nothing more", "the lowest number; a row that sees nothing gets 0 (this package)"];
const CHANGING = ["place", "padding", "causal", "inverted", "left", "safe", "sentence"];
const STATE = ["pad", "sources", "targets", "vectors", ...CHANGING];
const CELL = 13; // units of a small mask's drawing

/** A small drawing of one mask. */
function thumbnail(mask) {
  const [height, width] = [mask.length * CELL, mask[0].length * CELL];
  const drawing = canvas({ viewBox: `-1 -1 ${width + 2} ${height + 2}`, "aria-hidden": "true" });
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
function grid(title, queries, keys, cell) {
  const rows = queries.map((query, t) => namedRow(query, keys.map((_, k) => cell(t, k))));
  const { element } = tableOf(["query \u2193 key \u2192", ...keys], rows);
  element.prepend(html("caption", {}, title));
  for (const head of [...element.tHead.rows[0].cells].slice(1)) head.setAttribute("class", "tc-key-head");
  return element;
}

function render({ model, el }) {
  // A new place starts with the mask that is right for it.
  const choosePlace = (i) => {
    const place = PLACES[i][0];
    change(model, { place, padding: true, causal: place === "decoder", inverted: false });
  };
  const places = choices("Place", "places", PLACES.map(([, text]) => text), choosePlace);
  const switches = SWITCHES.map(([name, text]) => tick(text, (on) => change(model, { [name]: on })));
  const ways = choices("A hidden score becomes", "ways", WAYS, (i) => change(model, { safe: i === 1 }));
  const batch = model.get("sources").map(() => ({ small: html("span", { class: "tc-thumb" }), words: html("span") }));
  const sentences = choices(
    "The batch: three sentences, three masks. Choose one",
    "batch",
    batch.map(({ small, words }) => [small, words]),
    (i) => change(model, { sentence: i }),
  );
  const tables = html("div", { class: "tc-tables" });
  const result = verdict();
  mount(
    el,
    "tc-masks",
    "Masks of a padded batch",
    html("div", { class: "tc-panels" }, places.element, group("Mask", "tc-switches", ...switches.map((s) => s.label))),
    ways.element,
    sentences.element,
    tables,
    result,
  );

  function draw() {
    const state = read(model, STATE);
    const { place, safe, sentence: chosen } = state;
    const now = batchOf(state);
    places.show(PLACES.findIndex(([name]) => name === place));
    switches.forEach(({ show }, i) => show(state[SWITCHES[i][0]]));
    ways.show(Number(safe));
    sentences.show(chosen);
    batch.forEach(({ small, words }, i) => {
      small.replaceChildren(thumbnail(now[i].mask));
      words.textContent = now[i].keys.join(" ");
    });
    const { queries, keys, mask } = now[chosen];
    const { scores, weights } = attend(queries, keys, mask, state.vectors, safe);
    const low = safe ? "lowest" : "\u2212\u221E";
    tables.replaceChildren(
      grid("Scores, divided by \u221A2", queries, keys, (t, k) =>
        mask[t][k]
          ? html("td", {}, digits(scores[t][k], 2))
          : html("td", { class: "tc-hidden-cell" }, html("span", {}, low)),
      ),
      grid("Weights", queries, keys, (t, k) => {
        const weight = weights[t][k];
        if (Number.isNaN(weight)) return html("td", { class: "tc-nan" }, "NaN");
        const cell = html("td", mask[t][k] ? { class: "tc-share" } : { class: "tc-share tc-zero" });
        cell.append(digits(weight, 2));
        cell.style.setProperty("--share", weight);
        return cell;
      }),
    );
    result.textContent = sentence(queries, keys, mask, weights, state.pad, place);
  }

  return follow(model, CHANGING, draw);
}

export default { render };
