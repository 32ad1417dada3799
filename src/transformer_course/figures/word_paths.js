// The figure "from one word to another": a signal goes from a word to another through recurrent, convolutional or
// attention layers. Everything is counted here, in the browser.

const WIDE = 40; // units from one word to the next
const HIGH = 46; // units from one layer to the next
const NAMES = ["kind", "n", "start", "end", "kernel_size"];

/** A slider for a word: its name for readers of the screen is without the number. */
function wordSlider(title, low, changed) {
  const made = slider(title, [low, LONGEST, 1], changed);
  made.input.setAttribute("aria-label", title);
  return made;
}

function render({ model, el }) {
  const now = () => inSentence(read(model, NAMES));
  const choose = (changes) => change(model, changes);
  const kinds = menu("Layers", (i) => choose({ kind: KINDS[i] }));
  const kernels = menu("Width of the convolution", (i) => choose({ kernel_size: KERNELS[i] }));
  const shorten = (n) => {
    const { start, end } = now();
    choose({ n, start: Math.min(start, n), end: Math.min(end, n) });
  };
  const sliders = {
    n: wordSlider("Words", 2, shorten),
    start: wordSlider("From word", 1, (start) => choose({ start })),
    end: wordSlider("To word", 1, (end) => choose({ end })),
  };
  const drawing = canvas({ role: "img" });
  const { element: table, body } = tableOf(["Layers", "steps on the way", "steps that wait", "products"]);
  const result = verdict();
  mount(
    el,
    "tc-paths",
    "From one word to another",
    html("div", { class: "tc-menus" }, kinds.label, kernels.label),
    html("div", { class: "tc-panels" }, ...Object.values(sliders).map((s) => s.label)),
    drawing,
    result,
    html("div", { class: "tc-scroll", tabindex: "0", role: "region", "aria-label": "All four counted" }, table),
  );

  function draw() {
    const state = now();
    const { kind, n, start, end, kernel } = state;
    kinds.show(KINDS, KINDS.indexOf(kind));
    kernels.show(KERNELS.map(String), KERNELS.indexOf(kernel));
    sliders.n.show(n, n);
    for (const [name, word] of Object.entries({ start, end })) {
      sliders[name].input.max = n;
      sliders[name].show(word, word);
    }
    const points = way(kind, start, end, kernel);
    const rows = 1 + Math.max(...points.map(([row]) => row));
    const [low, high] = edges(points, n);
    const size = [(high - low + 1) * WIDE, rows * HIGH + 4];
    const place = ([row, word]) => [(word - low + 0.5) * WIDE, size[1] - 2 - (row + 0.5) * HIGH];
    drawing.setAttribute("viewBox", `0 0 ${size[0]} ${size[1]}`);
    drawing.style.maxWidth = `${size[0]}px`;
    drawing.replaceChildren();
    const line = ([a, b], name) => {
      const [[x1, y1], [x2, y2]] = [place(a), place(b)];
      svg(drawing, "line", { x1, y1, x2, y2, class: name });
    };
    connections(kind, n, rows, start, end, kernel).forEach((pair) => line(pair, "tc-wire"));
    points.slice(1).forEach((point, i) => line([points[i], point], "tc-way"));
    const on = new Set(points.map(String));
    for (const point of points.filter(([, word]) => word < 0 || word >= n)) {
      const [cx, cy] = place(point);
      svg(drawing, "circle", { cx, cy, r: 12, class: "tc-on tc-beside" });
    }
    for (let row = 0; row < rows; row += 1) {
      for (let word = 0; word < n; word += 1) {
        const [cx, cy] = place([row, word]);
        svg(drawing, "circle", { cx, cy, r: 12, class: on.has(String([row, word])) ? "tc-on" : "tc-off" });
        if (row === 0) svg(drawing, "text", { x: cx, y: cy + 5, "text-anchor": "middle" }, String(word + 1));
      }
    }
    drawing.setAttribute("aria-label", `The way from word ${start} to word ${end} of ${n} through ${kind} layers`);
    body.replaceChildren(
      ...KINDS.map((name) => {
        const { path, waiting, products } = costs(name, n, start, end, kernel);
        const cells = [path, waiting, products.toLocaleString("en").replaceAll(",", "\u202F")].map(String).map(numberCell);
        return namedRow(name, cells, name === kind ? { class: "tc-chosen" } : {});
      }),
    );
    result.textContent = sentence(state);
  }

  return follow(model, NAMES, draw);
}

export default { render };
