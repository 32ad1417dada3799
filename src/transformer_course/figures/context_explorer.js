// The figure "longer contexts". All is computed here, in the browser, from the state that the notebook stores: it
// needs no Python once the page is open.

const [WIDTH, LEFT, STEP] = [340, 64, 17]; // units of the drawings: all, what names need, one layer
const NAMES = ["pattern", "causal", "length", "span", "depth", "token", ...Object.keys(SIZES)];
const WORDS = { [FULL]: "Window", [LOCAL]: "Window", [STRIDED]: "Stride", [BOTH]: "Window, stride", [GLOBAL]: "Window" };
const MENUS = {
  layers: "Layers",
  d_model: "Width d_model",
  heads: "Heads",
  key_heads: "Heads of keys",
  bytes_per_number: "Bytes of a number",
};
const SIGNS = [
  ["tc-sees", "sees"],
  ["tc-blind", "may not see"],
  ["tc-knows", "knows of"],
  ["tc-open", "does not know of"],
];

/** The path of some squares: pairs of column and row, each so wide and so high. */
function squares(places, wide, high) {
  const one = ([x, y]) => `M${(LEFT + x * wide).toFixed(2)},${(y * high).toFixed(2)}h${wide}v${high}h${-wide}z`;
  return places.map(one).join("");
}

/** A stroke through each square: what is hidden is hatched. */
function strokes(places, wide, high) {
  return places.map(([x, y]) => `M${LEFT + x * wide},${(y + 1) * high}l${wide},${-high}`).join("");
}

/** Where a grid holds true, and where it doesn't: two lists of column and row. */
function parted(grid) {
  const all = grid.flatMap((row, y) => row.map((on, x) => [on, [x, y]]));
  return [true, false].map((wanted) => all.filter(([on]) => on === wanted).map(([, place]) => place));
}

/** A slider over a list of sizes. */
function sizeSlider(title, sizes, changed) {
  const made = slider(title, [0, sizes.length - 1, 1], (i) => changed(sizes[i]));
  const show = (value) => {
    made.show(sizes.indexOf(value), whole(value));
    made.input.setAttribute("aria-valuetext", String(value));
  };
  return { ...made, show };
}

/** The drawing of the mask. */
function maskDrawing() {
  const drawing = canvas({ role: "img", class: "tc-grid" });
  const parts = Object.fromEntries(["blind", "stroke", "sees", "row", "frame"].map((name) => [name, svg(drawing, "path", { class: `tc-${name}` })]));
  const name = svg(drawing, "text", { x: LEFT - 6, "text-anchor": "end" });
  const show = (mask, token) => {
    const side = (WIDTH - LEFT) / mask.length;
    const [seen, hidden] = parted(mask);
    const [high, y] = [WIDTH - LEFT, token * side];
    setAll(drawing, { viewBox: `0 -1 ${WIDTH + 1} ${high + 2}`, "aria-label": `Mask of ${mask.length} tokens; the row of token ${token} is marked` });
    parts.blind.setAttribute("d", squares(hidden, side, side));
    parts.stroke.setAttribute("d", strokes(hidden, side, side));
    parts.sees.setAttribute("d", squares(seen, side, side));
    parts.row.setAttribute("d", squares(seen.filter(([, q]) => q === token), side, side));
    parts.frame.setAttribute("d", `M${LEFT},${y}h${high}v${side}h${-high}z`);
    name.setAttribute("y", clamp(y + side / 2 + 5, 12, high));
    name.textContent = `token ${token}`;
  };
  return { drawing, show };
}

/** The drawing of what one token knows of, a row for each layer, below the columns of the mask. */
function ladder() {
  const drawing = canvas({ role: "img" });
  const parts = Object.fromEntries(["open", "knows"].map((name) => [name, svg(drawing, "path", { class: `tc-${name}` })]));
  const names = svg(drawing, "g", { "aria-hidden": "true" });
  const show = (known, token) => {
    const wide = (WIDTH - LEFT) / known[0].length;
    const [has, lacks] = parted(known);
    const counts = known.map((row) => row.filter(Boolean).length);
    const label = `What token ${token} knows of: ${counts.slice(1).map((count, i) => `after layer ${i + 1} ${counted(count, "token")}`).join(", ")}`;
    setAll(drawing, { viewBox: `0 -1 ${WIDTH + 1} ${known.length * STEP + 2}`, "aria-label": label });
    parts.open.setAttribute("d", squares(lacks, wide, STEP));
    parts.knows.setAttribute("d", squares(has, wide, STEP));
    names.replaceChildren();
    known.forEach((_, i) => svg(names, "text", { x: LEFT - 6, y: (i + 0.5) * STEP + 5, "text-anchor": "end" }, i ? `layer ${i}` : "itself"));
  };
  return { drawing, show };
}

function render({ model, el }) {
  const set = (changes) => change(model, changes);
  const patterns = choices("Pattern", "pattern", PATTERNS, (i) => set({ pattern: PATTERNS[i] }));
  const causal = tick("hide what follows", (on) => set({ causal: on }));
  const own = (title, name, range) => slider(title, range, (value) => set({ [name]: value }));
  const sliders = {
    length: slider("Tokens", [4, 32, 1], (length) => set(chosen(read(model, NAMES), "length", length))),
    span: own("Window", "span", [1, 16, 1]),
    depth: own("Layers", "depth", [1, 8, 1]),
    token: own("Token", "token", [0, 31, 1]),
  };
  const [mask, known] = [maskDrawing(), ladder()];
  const knownTitle = html("p");
  const reached = verdict();
  const legend = SIGNS.map(([kind, words]) => html("li", {}, html("span", { class: `tc-sign ${kind}`, "aria-hidden": "true" }), words));

  const longLength = sizeSlider("Tokens", SIZES.long_length, (value) => set({ long_length: value }));
  const longSpan = sizeSlider("Window", SIZES.long_span, (value) => set({ long_span: value }));
  const menus = Object.entries(MENUS).map(([name, title]) => {
    const choose = (i) => set(chosen(read(model, NAMES), name, SIZES[name][i]));
    return { name, ...menu(title, choose) };
  });
  const { element: table, body } = tableOf(["", "this pattern", "full"]);
  const told = verdict();
  mount(
    el,
    "tc-context",
    "Longer contexts: reach and cost",
    patterns.element,
    group(
      "A short text: who sees whom?",
      "tc-short",
      html(
        "div",
        { class: "tc-panels" },
        html(
          "div",
          { class: "tc-panel" },
          html("div", { class: "tc-controls" }, ...Object.values(sliders).map((s) => s.label), causal.label),
          html("ul", { class: "tc-legend", "aria-label": "Signs" }, ...legend),
          reached,
        ),
        html("div", { class: "tc-panel" }, html("p", {}, "Mask: queries down, keys across"), mask.drawing, knownTitle, known.drawing),
      ),
    ),
    group(
      "A long text in a decoder: its cost",
      "tc-long",
      html("div", { class: "tc-sliders" }, longLength.label, longSpan.label),
      html("div", { class: "tc-menus" }, ...menus.map((m) => m.label)),
      table,
      told,
    ),
  );

  const point = (event) => {
    const [, y] = placeIn(mask.drawing, event);
    const length = model.get("length");
    const token = clamp(Math.floor(y * length), 0, length - 1);
    if (token !== model.get("token")) set({ token });
  };
  mask.drawing.addEventListener("click", point);
  mask.drawing.addEventListener("pointermove", (event) => event.pointerType === "mouse" && point(event));

  function draw() {
    const state = read(model, NAMES);
    const { pattern, length, depth, token } = state;
    patterns.show(PATTERNS.indexOf(pattern));
    causal.show(state.causal);
    sliders.token.input.max = length - 1;
    for (const [name, { show }] of Object.entries(sliders)) show(state[name], state[name]);
    for (const { label, input } of [sliders.span, longSpan]) {
      label.firstChild.textContent = WORDS[pattern];
      input.disabled = pattern === FULL;
    }
    const grid = maskOf(state);
    mask.show(grid, token);
    known.show(knownBy(grid, token, depth), token);
    knownTitle.textContent = `What token ${token} knows of`;
    reached.textContent = reachSentence(state);
    longLength.show(state.long_length);
    longSpan.show(state.long_span);
    for (const { name, show } of menus) {
      const offered = SIZES[name].filter((size) => name !== "key_heads" || size <= state.heads);
      show(offered.map(String), offered.indexOf(state[name]));
    }
    body.replaceChildren(...rowsOf(state).map(([name, ...cells]) => namedRow(name, cells.map(numberCell))));
    told.textContent = costSentence(state);
  }

  return follow(model, NAMES, draw);
}

export default { render };
