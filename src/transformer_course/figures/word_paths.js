// The figure "from one word to another": a signal goes from a word to another through recurrent, convolutional or
// attention layers. Everything is counted here, in the browser.

const D_MODEL = 512; // the paper's width, for the products
const LONGEST = 16;
const WIDE = 40; // units from one word to the next
const HIGH = 46; // units from one layer to the next
const KINDS = ["recurrent", "convolution", "dilated convolution", "self-attention"];

/** How far to either side layer `i` of a stack of convolutions reaches, from 0. */
function reach(kind, kernel, i) {
  return ((kernel - 1) / 2) * (kind === "dilated convolution" ? kernel ** i : 1);
}

/** Layers of convolutions until a signal has gone `distance` words to one side. */
function layersFor(kind, kernel, distance) {
  let [layers, gone] = [0, 0];
  while (gone < distance || layers === 0) gone += reach(kind, kernel, layers++);
  return layers;
}

/** What a kind of layer needs for the way: steps on it, steps that must wait for each other, products of a layer. */
function costs(kind, n, start, end, kernel) {
  const distance = Math.abs(end - start);
  const width = D_MODEL ** 2;
  if (kind === "recurrent") return { path: distance, waiting: n, products: 6 * n * width };
  if (kind === "self-attention") {
    return { path: 1, waiting: 1, products: 4 * n * width + 2 * n * n * D_MODEL };
  }
  const layers = layersFor(kind, kernel, distance);
  return { path: layers, waiting: layers, products: layers * kernel * n * width };
}

/** The way as points [row, word], words counted from 0: row 0 holds the words, the rows above it the layers. */
function way(kind, start, end, kernel) {
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
    word += Math.max(-here, Math.min(here, to - word));
    points.push([i + 1, word]);
  }
  return points;
}

/** All connections of the rows that are drawn: pairs of points. */
function connections(kind, n, rows, start, end, kernel) {
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

function slider(title, low, high) {
  const input = html("input", { type: "range", min: low, max: high, step: 1, "aria-label": title });
  const number = html("output", {});
  const name = html("span", { "aria-hidden": "true" }, `${title}: `, number);
  const show = (value, limit) => {
    input.max = limit;
    input.value = value;
    number.textContent = value;
  };
  return { element: html("label", {}, name, input), input, show };
}

function select(title, names) {
  const menu = html("select", { "aria-label": title });
  menu.append(...names.map((name) => html("option", { value: name }, String(name))));
  return { menu, element: html("label", {}, html("span", { "aria-hidden": "true" }, title), menu) };
}

function render({ model, el }) {
  const kinds = select("Layers", KINDS);
  const kernels = select("Width of the convolution", [3, 5, 7]);
  const sliders = {
    n: slider("Words", 2, LONGEST),
    start: slider("From word", 1, LONGEST),
    end: slider("To word", 1, LONGEST),
  };
  const drawing = document.createElementNS(SVG, "svg");
  drawing.setAttribute("role", "img");
  const heads = ["Layers", "steps on the way", "steps that wait", "products"];
  const head = html("tr", {}, ...heads.map((name) => html("th", { scope: "col" }, name)));
  const body = html("tbody");
  const table = html("table", {}, html("thead", {}, head), body);
  const result = html("p", { class: "tc-result", role: "status" });
  const root = html("div", { class: "tc-widget tc-paths", role: "group", "aria-label": "From one word to another" });
  root.append(html("div", { class: "tc-choices" }, kinds.element, kernels.element));
  root.append(html("div", { class: "tc-panels" }, ...Object.values(sliders).map((s) => s.element)));
  root.append(drawing, result, html("div", { class: "tc-scroll", tabindex: "0", role: "region", "aria-label": "All four counted" }, table));
  el.replaceChildren(root);
  keepKeys(root);

  function state() {
    const n = model.get("n");
    const inside = (word) => Math.max(1, Math.min(n, word));
    const [start, end] = [inside(model.get("start")), inside(model.get("end"))];
    return { kind: model.get("kind"), n, start, end, kernel: model.get("kernel_size") };
  }

  function choose(changes) {
    for (const [name, value] of Object.entries(changes)) model.set(name, value);
    model.save_changes();
  }

  function draw() {
    const { kind, n, start, end, kernel } = state();
    kinds.menu.value = kind;
    kernels.menu.value = kernel;
    for (const [name, value] of Object.entries({ n, start, end })) sliders[name].show(value, name === "n" ? LONGEST : n);
    const points = way(kind, start, end, kernel);
    const rows = 1 + Math.max(...points.map(([row]) => row));
    const size = [n * WIDE, rows * HIGH + 4];
    const place = ([row, word]) => [(word + 0.5) * WIDE, size[1] - 2 - (row + 0.5) * HIGH];
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
        const found = costs(name, n, start, end, kernel);
        const cells = [found.path, found.waiting, found.products.toLocaleString("en").replaceAll(",", "\u202F")];
        const row = html("tr", {}, html("th", { scope: "row" }, name));
        row.append(...cells.map((text) => html("td", { class: "tc-number" }, String(text))));
        if (name === kind) row.setAttribute("class", "tc-chosen");
        return row;
      }),
    );
    const { path, waiting } = costs(kind, n, start, end, kernel);
    const some = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
    result.textContent =
      `From word ${start} to word ${end}, ${kind}: ${some(path, "step")} on the way. ` +
      `To read all ${n} words: ${some(waiting, "step")} that must wait for each other.`;
  }

  kinds.menu.addEventListener("change", () => choose({ kind: kinds.menu.value }));
  kernels.menu.addEventListener("change", () => choose({ kernel_size: Number(kernels.menu.value) }));
  for (const [name, { input }] of Object.entries(sliders)) {
    input.addEventListener("input", () => {
      const changes = { [name]: Number(input.value) };
      if (name === "n") {
        const { start, end } = state();
        Object.assign(changes, { start: Math.min(start, changes.n), end: Math.min(end, changes.n) });
      }
      choose(changes);
    });
  }
  return follow(model, ["kind", "n", "start", "end", "kernel_size"], draw);
}

export default { render };
