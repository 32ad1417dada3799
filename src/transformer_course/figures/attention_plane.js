// The figure "query, keys and values in the plane". All is computed here, in the browser, from the
// state that the notebook stores: it needs no Python once the page is open.

const SIZE = 300; // units of a plane's drawing
const EDGE = 4; // room around it

const across = (x) => ((x + RANGE) / (2 * RANGE)) * SIZE;
const down = (y) => ((RANGE - y) / (2 * RANGE)) * SIZE;

/** Draw the axes of a plane and return its drawing. */
function plane(label, kind, xName, yName) {
  const whole = SIZE + 2 * EDGE;
  const drawing = canvas({ viewBox: `${-EDGE} ${-EDGE} ${whole} ${whole}`, role: "group", "aria-label": label, class: kind });
  const ticks = svg(drawing, "g", { class: "tc-grid", "aria-hidden": "true" });
  for (let i = -RANGE; i <= RANGE; i += 1) {
    const line = i === 0 ? "tc-axis" : "tc-line";
    svg(ticks, "path", { class: line, d: `M${across(i)},0V${SIZE}M0,${down(i)}H${SIZE}` });
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
    class: "tc-beside",
  };
  return svg(parent, "text", where, text);
}

/** The left plane: keys as orange arrows, the query as a blue arrow with a handle. */
function keyPlane(names, keys, axes, actions) {
  const drawing = plane("Plane of the keys, with the query", "tc-keys", ...axes);
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
  const handle = knob(drawing, "Query", actions, { "aria-valuemin": -RANGE, "aria-valuemax": RANGE });
  svg(handle, "circle", { r: 24, class: "tc-grip" }); // large enough for a finger
  svg(handle, "circle", { r: 10, class: "tc-query" });
  svg(handle, "text", { y: 4.5, "text-anchor": "middle", class: "tc-q" }, "q");
  return { drawing, halos, line, handle };
}

/** The right plane: values as green dots, the output as a diamond between them. */
function valuePlane(names, values) {
  const drawing = plane("Plane of the values, with the output", "tc-values", "first", "second");
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

/** The table of scores and weights, one row a key. */
function scoreTable(names) {
  const rows = names.map((name) => {
    const [score, weight] = [html("td"), share()];
    return { row: namedRow(name, [score, html("td", {}, weight.element)]), score, weight };
  });
  return { element: tableOf(["Key", "Score", "Weight"], rows.map((r) => r.row)).element, rows };
}

function render({ model, el }) {
  const [names, keys, values, axes] = ["names", "key_vectors", "value_vectors", "axes"].map((name) => model.get(name));
  const start = [...model.get("query")];
  const move = (query) => change(model, { query: nearest(query) });
  const moveTo = (event) => {
    const [x, y] = placeIn(left.drawing, event).map((part) => (part * (SIZE + 2 * EDGE) - EDGE) / SIZE);
    move([(2 * x - 1) * RANGE, (1 - 2 * y) * RANGE]);
  };
  const press = ({ key, shiftKey }) => {
    const place = stepped(model.get("query"), start, key, shiftKey);
    if (place) move(place);
    return place;
  };
  // The handle is dragged; a click anywhere in the plane brings it there.
  const left = keyPlane(names, keys, axes, { move: moveTo, press });
  left.drawing.addEventListener("click", moveTo);
  const right = valuePlane(names, values);
  const sliders = axes.map((axis, i) =>
    slider(`Query, ${axis}`, [-RANGE, RANGE, STEP], (x) => move(model.get("query").map((old, j) => (j === i ? x : old)))),
  );
  const scaled = tick("divide the scores by \u221Ad\u2096 = \u221A2", (on) => change(model, { scaled: on }));
  const again = button("Start again", () => move(start));
  const scores = scoreTable(names);
  const result = verdict();
  const captions = ["Query (blue), keys (orange)", "Values (green), output (diamond)"];
  const panels = [left, right].map(({ drawing }, i) =>
    html("div", { class: "tc-panel" }, html("p", {}, captions[i]), drawing),
  );
  const below = html("div", { class: "tc-row" }, scaled.label, again);
  const controls = html("div", { class: "tc-controls" }, ...sliders.map((s) => s.label), below);
  mount(el, "tc-plane", "Attention in the plane", html("div", { class: "tc-panels" }, ...panels), controls, scores.element, result);

  function draw() {
    const { query, scaled: is } = read(model, ["query", "scaled"]);
    const now = attend(query, keys, values, is);
    const [x, y] = [across(query[0]), down(query[1])];
    const places = axes.map((axis, i) => `${axis} ${digits(query[i], 1)}`);
    setAll(left.handle, {
      transform: `translate(${x},${y})`,
      "aria-valuenow": query[0].toFixed(1),
      "aria-valuetext": places.join(", "),
    });
    setAll(left.line, { x2: x, y2: y });
    left.halos.forEach((halo, i) => halo.setAttribute("r", 34 * Math.sqrt(now.weights[i])));
    const [x2, y2] = [across(now.output[0]), down(now.output[1])];
    right.output.setAttribute("transform", `translate(${x2},${y2})`);
    right.pulls.forEach((pull, i) => setAll(pull, { x2, y2, "stroke-width": 12 * now.weights[i] }));
    sliders.forEach(({ show }, i) => show(query[i], digits(query[i], 1)));
    scaled.show(is);
    scores.rows.forEach(({ score, weight }, i) => {
      score.textContent = digits(now.scores[i], 2);
      weight.show(now.weights[i]);
    });
    result.textContent = sentence(names, query, keys, values, is);
  }

  return follow(model, ["query", "scaled"], draw);
}

export default { render };
