// The figure "heads of a trained model": all weights are in the state that the notebook stores; they are drawn here,
// in the browser.

const CELL = 24; // units of a square of the map
const ROW = 40; // units from one word of the links to the next

/** Draw the squares of a map; the row of the chosen word gets a frame. */
function squares(parent, weights, chosen) {
  weights.forEach((row, i) =>
    row.forEach((weight, j) => {
      const place = { x: j * CELL, y: i * CELL, width: CELL, height: CELL };
      const square = svg(parent, "rect", { ...place, class: "tc-square" });
      square.style.setProperty("--share", weight);
    }),
  );
  if (chosen === null) return;
  const size = { width: weights[0].length * CELL, height: CELL };
  svg(parent, "rect", { x: 0, y: chosen * CELL, ...size, class: "tc-chosen" });
}

/** The small map of one head, a button that chooses it. */
function thumbnail(weights, head, press) {
  const size = `0 0 ${weights[0].length * CELL} ${weights.length * CELL}`;
  const drawing = canvas({ viewBox: size, "aria-hidden": "true" });
  squares(drawing, weights, null);
  const element = button("", press, { class: "tc-head" });
  element.append(drawing, html("span", {}, `Head ${head + 1}`));
  return element;
}

/** The large map: a row for each query, a column for each key. */
function largeMap(drawing, weights, rows, columns, chosen) {
  const wide = 8 * Math.max(...rows.map((name) => name.length)) + 12;
  const high = 7.5 * Math.max(...columns.map((name) => name.length)) + 12;
  const size = [wide + weights[0].length * CELL + 2, high + weights.length * CELL + 2];
  drawing.setAttribute("viewBox", `0 0 ${size[0]} ${size[1]}`);
  drawing.style.maxWidth = `${1.1 * size[0]}px`;
  drawing.replaceChildren();
  columns.forEach((name, j) => {
    const place = `translate(${wide + (j + 0.65) * CELL},${high - 6}) rotate(-90)`;
    svg(drawing, "text", { transform: place, class: "tc-key-name" }, name);
  });
  rows.forEach((name, i) => {
    const place = { x: wide - 6, y: high + (i + 0.68) * CELL, "text-anchor": "end" };
    svg(drawing, "text", { ...place, class: i === chosen ? "tc-now" : "tc-query-name" }, name);
  });
  const grid = svg(drawing, "g", { transform: `translate(${wide},${high})` });
  squares(grid, weights, chosen);
  return { left: wide / size[0], top: high / size[1], high: size[1] };
}

/** The links of one word: a line to each key, as thick as its weight. */
function links(drawing, weights, chosen) {
  const high = ROW * Math.max(weights.length, weights[0].length);
  drawing.setAttribute("viewBox", `0 0 100 ${high}`);
  drawing.style.height = `${high}px`;
  drawing.replaceChildren();
  weights[chosen].forEach((weight, j) => {
    if (weight < 0.005) return;
    const [from, to] = [chosen, j].map((i) => (i + 0.5) * ROW);
    const path = { d: `M0,${from}C50,${from} 50,${to} 100,${to}`, class: "tc-link" };
    svg(drawing, "path", { ...path, "stroke-width": 1 + 13 * weight, opacity: 0.25 + 0.75 * weight });
  });
}

function render({ model, el }) {
  const sentences = model.get("sentences");
  const choose = (changes) => change(model, changes);
  const state = () => chosenOf(sentences, read(model, CHOICES));
  const menus = [
    menu("Sentence", (i) => choose({ sentence: i, word: 0 })),
    menu("Attention", (i) => choose({ kind: i, word: 0 })),
    menu("Layer", (i) => choose({ layer: i })),
  ];
  const heads = html("div", { class: "tc-heads", role: "group", "aria-label": "Heads of this layer" });
  const map = canvas({ class: "tc-map", role: "img" });
  const lines = canvas({ preserveAspectRatio: "none", "aria-hidden": "true" });
  const queries = html("div", { class: "tc-words", role: "group", "aria-label": "Queries" });
  const keys = html("ul", { class: "tc-words tc-key-list", "aria-label": "Keys, with their weights" });
  const result = verdict();
  const linked = html("div", { class: "tc-links" }, queries, lines, keys);
  const titles = ["Choose a word: where does it look?", "The whole map: rows query, columns key"];
  const panels = [linked, map].map((part, i) => html("div", { class: "tc-panel" }, html("p", {}, titles[i]), part));
  mount(
    el,
    "tc-explorer",
    "Heads of a trained model",
    html("div", { class: "tc-menus" }, ...menus.map((m) => m.label)),
    heads,
    result,
    html("div", { class: "tc-panels" }, ...panels),
  );
  let frame = null; // where the map's squares begin

  /** Keep the buttons, and with them the focus, where only the choice changed. */
  function renew(parent, names, make, chosen) {
    const key = JSON.stringify(names);
    if (parent.shown !== key) {
      parent.shown = key;
      parent.replaceChildren(...names.map(make));
    }
    [...parent.children].forEach((child, i) => child.setAttribute("aria-pressed", i === chosen));
  }

  function draw() {
    const now = state();
    const weights = now.maps[now.head];
    menus[0].show(sentences.map((s) => s.title), now.sentence);
    menus[1].show(now.kinds.map((k) => k.name), now.kind);
    menus[2].show(now.layers.map((_, i) => `${i + 1} of ${now.layers.length}`), now.layer);
    renew(heads, now.maps, (head, i) => thumbnail(head, i, () => choose({ head: i })), now.head);
    renew(queries, now.rows, (name, i) => button(name, () => choose({ word: i })), now.word);
    keys.replaceChildren(
      ...now.columns.map((name, j) => {
        const number = html("span", { class: "tc-share" }, digits(weights[now.word][j], 2));
        const key = html("li", {}, html("span", {}, name), number);
        key.style.setProperty("--share", weights[now.word][j]);
        return key;
      }),
    );
    links(lines, weights, now.word);
    frame = largeMap(map, weights, now.rows, now.columns, now.word);
    const place = `${now.kinds[now.kind].name}, layer ${now.layer + 1}, head ${now.head + 1}`;
    map.setAttribute("aria-label", `Map of ${place}: ${now.rows.length} queries, ${now.columns.length} keys`);
    result.textContent = sentence(now.rows[now.word], now.columns, weights[now.word]);
  }

  map.addEventListener("click", (event) => {
    const y = placeIn(map, event)[1] - frame.top;
    const row = Math.floor((y * frame.high) / CELL);
    if (row >= 0 && row < state().rows.length) choose({ word: row });
  });
  return follow(model, CHOICES, draw);
}

export default { render };
