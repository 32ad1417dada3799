// The figure "drag the prediction". All is computed here, in the browser, from the state that the notebook
// stores: it needs no Python once the page is open.

const STEP = 0.01; // of a bar moved by the arrow keys
const [WIDTH, HEIGHT, LEFT, TOP, BOTTOM] = [600, 250, 46, 26, 30]; // units of the drawing
let made = 0; // radio buttons of several figures must not share a name

/** The wanted distribution: one right word, smoothed. */
export function wantedOf(count, right, smoothing) {
  return Array.from({ length: count }, (_, k) => (k === right ? 1 - smoothing : 0) + smoothing / count);
}

/** Cross-entropy, entropy of the target, divergence and perplexity, in nats; 0 ln 0 counts as 0. */
export function measure(wanted, predicted) {
  const sum = (terms) => terms.reduce((total, term) => total + term, 0);
  const costs = wanted.map((q, k) => (q > 0 ? -q * Math.log(predicted[k]) : 0));
  const crossEntropy = sum(costs);
  const entropy = sum(wanted.map((q) => (q > 0 ? -q * Math.log(q) : 0)));
  const gradient = predicted.map((p, k) => p - wanted[k]);
  return { costs, crossEntropy, entropy, divergence: crossEntropy - entropy, perplexity: Math.exp(crossEntropy), gradient };
}

/** Give word k the probability p; the others share the rest as they did before. */
export function moved(predicted, k, p) {
  const share = Math.min(1, Math.max(0, p));
  const rest = predicted.reduce((sum, other, i) => sum + (i === k ? 0 : other), 0);
  const others = predicted.length - 1;
  return predicted.map((other, i) => {
    if (i === k) return share;
    return rest > 1e-9 ? (other / rest) * (1 - share) : (1 - share) / others;
  });
}

/** A number, or the sign of infinity. */
function shown(number, places) {
  return Number.isFinite(number) ? digits(number, places) : "\u221E";
}

const down = (p) => TOP + (1 - p) * (HEIGHT - TOP - BOTTOM);

/** The drawing: for each word its wanted bar, its predicted bar, and the handle on top of it. */
function chart(words) {
  const drawing = document.createElementNS(SVG, "svg");
  drawing.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
  drawing.setAttribute("role", "group");
  drawing.setAttribute("aria-label", "Predicted distribution: drag the top of a bar");
  const lines = svg(drawing, "g", { "aria-hidden": "true" });
  for (const p of [0, 0.5, 1]) {
    svg(lines, "path", { class: "tc-line", d: `M46,${down(p)}H${WIDTH}` });
    svg(lines, "text", { x: 40, y: down(p) + 6, "text-anchor": "end" }, String(p));
  }
  const room = (WIDTH - LEFT) / words.length;
  const bars = words.map((word, k) => {
    const left = LEFT + k * room;
    const column = svg(drawing, "rect", { x: left, y: 0, width: room, height: HEIGHT, class: "tc-column" });
    const marks = svg(drawing, "g", { "aria-hidden": "true" });
    const wanted = svg(marks, "rect", { x: left + room * 0.1, width: room * 0.2, class: "tc-wanted" });
    const bar = svg(marks, "rect", { x: left + room * 0.36, width: room * 0.52, class: "tc-predicted" });
    const name = svg(marks, "text", { x: left + room / 2, y: HEIGHT - 8, "text-anchor": "middle", class: "tc-name" }, word);
    const middle = left + room * 0.62;
    const handle = svg(drawing, "g", {
      class: "tc-handle",
      role: "slider",
      tabindex: "0",
      "aria-label": `Probability of ${word}: drag it, or use the arrow keys`,
      "aria-valuemin": 0,
      "aria-valuemax": 1,
    });
    svg(handle, "rect", { x: middle - room * 0.36, y: -30, width: room * 0.72, height: 60, class: "tc-grip" });
    svg(handle, "rect", { x: middle - 20, y: -5, width: 40, height: 10, rx: 5, class: "tc-knob" });
    return { column, wanted, bar, name, handle };
  });
  return { drawing, bars };
}

/** The table: a row for each word, with what it wants, what it gets, what that costs, and the gradient. */
function table(words) {
  const titles = ["word", "wanted q", "predicted p", "\u2212q ln p", "p \u2212 q"];
  const head = html("tr", {}, ...titles.map((title) => html("th", { scope: "col" }, title)));
  const rows = words.map((word) => {
    const cells = titles.slice(1).map(() => html("td", { class: "tc-number" }));
    return { cells, row: html("tr", {}, html("th", { scope: "row" }, word), ...cells) };
  });
  const body = html("tbody", {}, ...rows.map((r) => r.row));
  return { element: html("table", {}, html("thead", {}, head), body), rows };
}

/** One result: its name, its number, and a bar as long as it. */
function result(name, kind) {
  const number = html("span", { class: "tc-number" });
  const bar = html("span", { class: `tc-sum-bar ${kind}`, "aria-hidden": "true" });
  const element = html("p", { class: `tc-sum ${kind}` }, html("span", {}, name), number, bar);
  return { number, bar, element };
}

function render({ model, el }) {
  made += 1;
  const words = model.get("words");
  const start = [...model.get("predicted")];
  const set = (changes) => {
    for (const [name, value] of Object.entries(changes)) model.set(name, value);
    model.save_changes();
  };
  const { drawing, bars } = chart(words);
  const choices = words.map((word, k) => {
    const input = html("input", { type: "radio", name: `tc-right-${made}`, value: k });
    return { input, label: html("label", {}, input, word) };
  });
  const smoothing = html("input", { type: "range", min: 0, max: 0.5, step: 0.01 });
  const epsilon = html("span", { class: "tc-number" });
  const smoothingLabel = html("label", { class: "tc-epsilon" }, html("span", {}, "smoothing \u03B5"), smoothing, epsilon);
  const even = html("button", { type: "button" }, "All equal");
  const exact = html("button", { type: "button" }, "As wanted");
  const again = html("button", { type: "button" }, "Start again");
  const numbers = table(words);
  const sums = [
    result("entropy of the wanted distribution, H(q)", "tc-entropy"),
    result("KL divergence, D(q\u2016p)", "tc-divergence"),
    result("cross-entropy, H(q, p)", "tc-cross"),
    result("perplexity", "tc-perplexity"),
  ];
  const told = html("p", { class: "tc-result", role: "status" });
  const legend = html(
    "p",
    { class: "tc-legend" },
    html("span", { class: "tc-key-wanted" }, "wanted"),
    html("span", { class: "tc-key-predicted" }, "predicted: drag the knobs"),
  );
  const root = html(
    "div",
    { class: "tc-widget tc-loss", role: "group", "aria-label": "Loss of a predicted distribution" },
    html("fieldset", { class: "tc-group" }, html("legend", {}, "The right word"), ...choices.map((c) => c.label)),
    legend,
    drawing,
    html("div", { class: "tc-row" }, smoothingLabel, html("span", { class: "tc-buttons" }, even, exact, again)),
    numbers.element,
    ...sums.map((s) => s.element),
    told,
  );
  el.replaceChildren(root);
  keepKeys(root);

  function draw() {
    const [predicted, right, e] = ["predicted", "right", "smoothing"].map((name) => model.get(name));
    const wanted = wantedOf(words.length, right, e);
    const now = measure(wanted, predicted);
    bars.forEach(({ wanted: target, bar, name, handle }, k) => {
      for (const [rect, p] of [[target, wanted[k]], [bar, predicted[k]]]) {
        rect.setAttribute("y", down(p));
        rect.setAttribute("height", down(0) - down(p));
      }
      name.classList.toggle("tc-right", k === right);
      handle.setAttribute("transform", `translate(0,${down(predicted[k])})`);
      handle.setAttribute("aria-valuenow", predicted[k].toFixed(3));
      handle.setAttribute("aria-valuetext", `${words[k]}: ${predicted[k].toFixed(3)}`);
      const cells = numbers.rows[k].cells;
      cells[0].textContent = digits(wanted[k], 3);
      cells[1].textContent = digits(predicted[k], 3);
      cells[2].textContent = shown(now.costs[k], 3);
      cells[3].textContent = digits(now.gradient[k], 3);
      numbers.rows[k].row.classList.toggle("tc-right", k === right);
      choices[k].input.checked = k === right;
    });
    smoothing.value = e;
    epsilon.textContent = digits(e, 2);
    const values = [now.entropy, now.divergence, now.crossEntropy, now.perplexity];
    sums.forEach(({ number, bar }, i) => {
      number.textContent = shown(values[i], 3);
      bar.style.setProperty("--length", Math.min(1, Math.max(0, values[i]) / 5));
    });
    sums[1].bar.style.setProperty("--start", Math.min(1, now.entropy / 5));
    told.textContent = sentence(words, now, wanted, predicted, right);
  }

  const move = (k, p) => set({ predicted: moved(model.get("predicted"), k, p) });

  bars.forEach(({ column, handle }, k) => {
    let dragging = false;
    const follows = (event) => {
      const box = drawing.getBoundingClientRect();
      const y = ((event.clientY - box.top) / box.height) * HEIGHT;
      move(k, Math.round((1 - (y - TOP) / (HEIGHT - TOP - BOTTOM)) / STEP) * STEP);
    };
    handle.addEventListener("pointerdown", (event) => {
      dragging = true;
      handle.setPointerCapture(event.pointerId);
      handle.focus({ preventScroll: true });
      event.preventDefault();
    });
    // Browsers differ in where touch-action counts in a drawing: this also keeps the page from scrolling.
    handle.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false });
    handle.addEventListener("pointermove", (event) => dragging && follows(event));
    for (const end of ["pointerup", "pointercancel"]) {
      handle.addEventListener(end, () => (dragging = false));
    }
    column.addEventListener("click", follows);
    handle.addEventListener("keydown", (event) => {
      const p = model.get("predicted")[k];
      const step = STEP * (event.shiftKey ? 10 : 1);
      const steps = { ArrowUp: p + step, ArrowRight: p + step, ArrowDown: p - step, ArrowLeft: p - step, Home: 0, End: 1 };
      if (!(event.key in steps)) return;
      move(k, Math.round(steps[event.key] * 1e6) / 1e6);
      event.preventDefault(); // the page stays where it is
    });
  });
  choices.forEach(({ input }, k) => input.addEventListener("change", () => set({ right: k })));
  smoothing.addEventListener("input", () => set({ smoothing: Number(smoothing.value) }));
  even.addEventListener("click", () => set({ predicted: words.map(() => 1 / words.length) }));
  exact.addEventListener("click", () => set({ predicted: wantedOf(words.length, model.get("right"), model.get("smoothing")) }));
  again.addEventListener("click", () => set({ predicted: [...start] }));
  return follow(model, ["predicted", "right", "smoothing"], draw);
}

/** What there is to see, in a sentence. */
function sentence(words, now, wanted, predicted, right) {
  if (!Number.isFinite(now.crossEntropy)) {
    const zero = words[predicted.findIndex((p, k) => p === 0 && wanted[k] > 0)];
    return `The loss is infinite: "${zero}" is wanted with ${digits(wanted[words.indexOf(zero)], 3)}, and predicted with 0.`;
  }
  if (Math.abs(now.divergence) < 5e-4) return "Predicted and wanted are equal: the loss is at its floor, and no gradient is left.";
  const strongest = now.gradient.map(Math.abs);
  const k = strongest.indexOf(Math.max(...strongest));
  const way = now.gradient[k] < 0 ? "raises" : "lowers";
  const about = k === right ? "the right word" : `"${words[k]}"`;
  return `As hard as guessing among ${shown(now.perplexity, 2)} equally likely words. The next step ${way} the logit of ${about} most.`;
}

export default { render };
