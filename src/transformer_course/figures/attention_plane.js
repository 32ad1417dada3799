// The figure "query, keys and values in the plane". All is computed here, in the browser, from the
// state that the notebook stores: it needs no Python once the page is open.

const RANGE = 4; // both planes show -RANGE to RANGE
const SIZE = 300; // units of a plane's drawing
const STEP = 0.1; // of the sliders and the arrow keys

/** Scores, weights, output and entropy (in bits) of one query. */
export function attend(query, keys, values, scaled) {
  const divisor = scaled ? Math.sqrt(query.length) : 1;
  const scores = keys.map((key) => dot(query, key) / divisor);
  const weights = softmax(scores);
  const output = values[0].map((_, axis) => dot(weights, values.map((value) => value[axis])));
  const entropy = -weights.reduce((sum, w) => sum + (w > 0 ? w * Math.log2(w) : 0), 0);
  return { scores, weights, output, entropy: Math.max(entropy, 0) };
}

const across = (x) => ((x + RANGE) / (2 * RANGE)) * SIZE;
const down = (y) => ((RANGE - y) / (2 * RANGE)) * SIZE;
const clamp = (x) => Math.min(RANGE, Math.max(-RANGE, Math.round(x / STEP) * STEP));

/** Draw the axes of a plane and return its drawing. */
function plane(label, xName, yName) {
  const drawing = document.createElementNS(SVG, "svg");
  drawing.setAttribute("viewBox", `-4 -4 ${SIZE + 8} ${SIZE + 8}`);
  drawing.setAttribute("role", "group");
  drawing.setAttribute("aria-label", label);
  const ticks = svg(drawing, "g", { class: "tc-grid", "aria-hidden": "true" });
  for (let i = -RANGE; i <= RANGE; i += 1) {
    const kind = i === 0 ? "tc-axis" : "tc-line";
    svg(ticks, "path", { class: kind, d: `M${across(i)},0V${SIZE}M0,${down(i)}H${SIZE}` });
  }
  for (const i of [-2, 2]) {
    svg(ticks, "text", { x: across(i), y: down(0) + 15, "text-anchor": "middle" }, digits(i, 0));
    svg(ticks, "text", { x: across(0) - 6, y: down(i) + 5, "text-anchor": "end" }, digits(i, 0));
  }
  svg(ticks, "text", { x: SIZE - 4, y: down(0) + 15, "text-anchor": "end" }, `${xName} \u2192`);
  svg(ticks, "text", { x: across(0) + 7, y: 14 }, `${yName} \u2191`);
  return drawing;
}

/** A label beside a point, on the side away from the middle of the plane. */
function beside(parent, text, [x, y]) {
  const right = x >= 0;
  const where = {
    x: across(x) + (right ? 11 : -11),
    y: down(y) + (y >= 0 ? -7 : 16),
    "text-anchor": right ? "start" : "end",
    class: "tc-name",
  };
  return svg(parent, "text", where, text);
}

/** The corners of the smallest polygon that holds all points, in order (Andrew's monotone chain). */
function hull(points) {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const turn = (o, a, b) => (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
  const chain = (list) => {
    const kept = [];
    for (const p of list) {
      while (kept.length > 1 && turn(kept.at(-2), kept.at(-1), p) <= 0) kept.pop();
      kept.push(p);
    }
    return kept.slice(0, -1);
  };
  return [...chain(sorted), ...chain(sorted.reverse())];
}

/** The left plane: keys as orange arrows, the query as a blue arrow with a handle. */
function keyPlane(names, keys, axes) {
  const drawing = plane("Plane of the keys, with the query", ...axes);
  drawing.classList.add("tc-keys");
  const marks = svg(drawing, "g", { "aria-hidden": "true" });
  const halos = keys.map((key) =>
    svg(marks, "circle", { cx: across(key[0]), cy: down(key[1]), class: "tc-halo" }),
  );
  keys.forEach((key, i) => {
    const line = { x1: across(0), y1: down(0), x2: across(key[0]), y2: down(key[1]) };
    svg(marks, "line", { ...line, class: "tc-key-line" });
    svg(marks, "circle", { cx: line.x2, cy: line.y2, r: 6, class: "tc-key" });
    beside(marks, names[i], key);
  });
  const line = svg(marks, "line", { x1: across(0), y1: down(0), class: "tc-query-line" });
  const handle = svg(drawing, "g", {
    class: "tc-handle",
    role: "slider",
    tabindex: "0",
    "aria-label": "Query: drag it, or use the arrow keys",
    "aria-valuemin": -RANGE,
    "aria-valuemax": RANGE,
  });
  svg(handle, "circle", { r: 24, class: "tc-grip" }); // large enough for a finger
  svg(handle, "circle", { r: 10, class: "tc-query" });
  svg(handle, "text", { y: 4.5, "text-anchor": "middle", class: "tc-q" }, "q");
  return { drawing, halos, line, handle };
}

/** The right plane: values as green dots, the output as a diamond between them. */
function valuePlane(names, values) {
  const drawing = plane("Plane of the values, with the output", "first", "second");
  drawing.classList.add("tc-values");
  const marks = svg(drawing, "g", { "aria-hidden": "true" });
  const corners = hull(values).map(([x, y]) => `${across(x)},${down(y)}`);
  svg(marks, "polygon", { points: corners.join(" "), class: "tc-hull" });
  const pulls = values.map((value) =>
    svg(marks, "line", { x1: across(value[0]), y1: down(value[1]), class: "tc-pull" }),
  );
  values.forEach((value, i) => {
    svg(marks, "circle", { cx: across(value[0]), cy: down(value[1]), r: 6, class: "tc-value" });
    beside(marks, names[i], value);
  });
  const output = svg(marks, "path", { d: "M0,-9L9,0L0,9L-9,0Z", class: "tc-output" });
  return { drawing, pulls, output };
}

/** A native slider for one number of the query. */
function slider(axis) {
  const input = html("input", { type: "range", min: -RANGE, max: RANGE, step: STEP });
  const number = html("span", { class: "tc-number" });
  const label = html("label", {}, html("span", {}, `Query, ${axis}`), input, number);
  return { input, number, label };
}

/** The table of scores and weights, one row a key. */
function table(names) {
  const head = html("tr");
  for (const title of ["Key", "Score", "Weight"]) {
    head.append(html("th", { scope: "col" }, title));
  }
  const rows = names.map((name) => {
    const score = html("td");
    const weight = share();
    const row = html("tr", {}, html("th", { scope: "row" }, name), score);
    row.append(html("td", {}, weight.element));
    return { row, score, weight };
  });
  const body = html("tbody", {}, ...rows.map((r) => r.row));
  return { element: html("table", {}, html("thead", {}, head), body), rows };
}

function render({ model, el }) {
  const [names, keys, values] = ["names", "key_vectors", "value_vectors"].map((name) => model.get(name));
  const axes = model.get("axes");
  const start = [...model.get("query")];
  const left = keyPlane(names, keys, axes);
  const right = valuePlane(names, values);
  const sliders = axes.map(slider);
  const scaled = html("input", { type: "checkbox" });
  const again = html("button", { type: "button" }, "Start again");
  const rows = table(names);
  const result = html("p", { class: "tc-result", role: "status" });

  const scaleLabel = html("label", { class: "tc-scale" }, scaled, "divide the scores by \u221Ad\u2096 = \u221A2");
  const controls = html("div", { class: "tc-controls" }, ...sliders.map((s) => s.label));
  controls.append(html("div", { class: "tc-row" }, scaleLabel, again));
  const root = html("div", { class: "tc-widget tc-plane", role: "group", "aria-label": "Attention in the plane" });
  const captions = ["Query (blue), keys (orange)", "Values (green), output (diamond)"];
  const panels = [left, right].map(({ drawing }, i) =>
    html("div", { class: "tc-panel" }, html("p", {}, captions[i]), drawing),
  );
  root.append(html("div", { class: "tc-panels" }, ...panels), controls, rows.element, result);
  el.replaceChildren(root);
  keepKeys(root);

  function draw() {
    const query = model.get("query");
    const is = model.get("scaled");
    const now = attend(query, keys, values, is);
    const other = attend(query, keys, values, !is);
    const [x, y] = [across(query[0]), down(query[1])];
    left.handle.setAttribute("transform", `translate(${x},${y})`);
    left.handle.setAttribute("aria-valuenow", query[0].toFixed(1));
    const places = axes.map((axis, i) => `${axis} ${digits(query[i], 1)}`);
    left.handle.setAttribute("aria-valuetext", places.join(", "));
    left.line.setAttribute("x2", x);
    left.line.setAttribute("y2", y);
    left.halos.forEach((halo, i) => halo.setAttribute("r", 34 * Math.sqrt(now.weights[i])));
    const [outX, outY] = [across(now.output[0]), down(now.output[1])];
    right.output.setAttribute("transform", `translate(${outX},${outY})`);
    right.pulls.forEach((pull, i) => {
      pull.setAttribute("x2", outX);
      pull.setAttribute("y2", outY);
      pull.setAttribute("stroke-width", 12 * now.weights[i]);
    });
    sliders.forEach(({ input, number }, i) => {
      input.value = query[i];
      number.textContent = digits(query[i], 1);
    });
    scaled.checked = is;
    rows.rows.forEach((row, i) => {
      row.score.textContent = digits(now.scores[i], 2);
      row.weight.show(now.weights[i]);
    });
    const best = now.weights.indexOf(Math.max(...now.weights));
    const without = is ? "without scaling" : "with scaling";
    result.textContent =
      `Most weight: ${names[best]}. Output: ${point(now.output, 2)}. ` +
      `Entropy: ${digits(now.entropy, 2)} bits (${without}: ${digits(other.entropy, 2)}).`;
  }

  function move(x, y) {
    model.set("query", [clamp(x), clamp(y)]);
    model.save_changes();
  }

  function moveTo(event) {
    const box = left.drawing.getBoundingClientRect();
    const unit = (SIZE + 8) / box.width;
    const x = (event.clientX - box.left) * unit - 4;
    const y = (event.clientY - box.top) * unit - 4;
    move((x / SIZE) * 2 * RANGE - RANGE, RANGE - (y / SIZE) * 2 * RANGE);
  }

  // The handle is dragged by mouse, pen or finger; a click anywhere in the plane brings it there.
  let dragging = false;
  left.handle.addEventListener("pointerdown", (event) => {
    dragging = true;
    left.handle.setPointerCapture(event.pointerId);
    left.handle.focus({ preventScroll: true });
    event.preventDefault();
  });
  // Browsers differ in where touch-action counts in a drawing: this also keeps the page from scrolling.
  left.handle.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false });
  left.handle.addEventListener("pointermove", (event) => dragging && moveTo(event));
  for (const end of ["pointerup", "pointercancel"]) {
    left.handle.addEventListener(end, () => (dragging = false));
  }
  left.drawing.addEventListener("click", moveTo);
  left.handle.addEventListener("keydown", (event) => {
    const directions = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const [x, y] = model.get("query");
    if (event.key in directions) {
      const [dx, dy] = directions[event.key].map((d) => d * (event.shiftKey ? 10 : 1) * STEP);
      move(x + dx, y + dy);
    } else if (event.key === "Home") {
      move(...start);
    } else {
      return;
    }
    event.preventDefault(); // the page stays where it is
  });
  sliders.forEach(({ input }, i) =>
    input.addEventListener("input", () => {
      const query = [...model.get("query")];
      query[i] = Number(input.value);
      move(...query);
    }),
  );
  scaled.addEventListener("change", () => {
    model.set("scaled", scaled.checked);
    model.save_changes();
  });
  again.addEventListener("click", () => move(...start));
  return follow(model, ["query", "scaled"], draw);
}

export default { render };
