// The figure "positions on the circle". All is computed here, in the browser, from the state that the notebook
// stores: it needs no Python once the page is open.

const SIDE = 300; // units of the drawings
const RADIUS = 80; // of the circle, for amplitude 1
const DEEPEST = 1.5; // the number with the full colour

function picture(label, height, kind) {
  return canvas({ viewBox: `0 0 ${SIDE} ${height}`, role: "group", "aria-label": label, class: kind });
}

/** A value's colour: purple above 0, grey below, the page's own at 0. */
function colour(value) {
  const share = Math.round((100 * Math.min(Math.abs(value), DEEPEST)) / DEEPEST);
  const hue = value < 0 ? "var(--ink)" : "var(--position-deep)";
  return `color-mix(in srgb, ${hue} ${share}%, var(--paper))`;
}

const across = (angle, radius) => SIDE / 2 + radius * Math.cos(angle);
const down = (angle, radius) => SIDE / 2 - radius * Math.sin(angle);

/** The circle with its two points; the first is a handle. */
function circle(actions) {
  const element = picture("Circle of one pair: across the cosine, upwards the sine", SIDE, "tc-circle");
  const back = svg(element, "g", { "aria-hidden": "true" });
  svg(back, "path", { class: "tc-axis", d: `M0,${SIDE / 2}H${SIDE}M${SIDE / 2},0V${SIDE}` });
  svg(back, "text", { x: SIDE - 2, y: SIDE / 2 - 6, "text-anchor": "end" }, "cos \u2192");
  svg(back, "text", { x: SIDE / 2 + 6, y: 14 }, "sin \u2191");
  const round = svg(back, "circle", { cx: SIDE / 2, cy: SIDE / 2, class: "tc-round" });
  const steps = svg(back, "g");
  const arc = svg(back, "path", { class: "tc-arc" });
  const legs = svg(back, "path", { class: "tc-legs" });
  const arms = svg(back, "path", { class: "tc-arm" });
  const later = svg(back, "g");
  svg(later, "circle", { r: 8, class: "tc-later" });
  const laterName = svg(later, "text", { class: "tc-beside" });
  const handle = knob(element, "Position on the circle", actions, { "aria-valuemin": 0 });
  svg(handle, "circle", { r: 24, class: "tc-grip" }); // large enough for a finger
  svg(handle, "circle", { r: 11, class: "tc-point" });
  const name = svg(handle, "text", { y: 4.5, "text-anchor": "middle", class: "tc-in-point" });
  return { element, round, steps, arc, legs, arms, later, laterName, handle, name };
}

/** The path of an arc from one angle to a later one, also over many turns. */
function arcPath(from, to, radius) {
  const pieces = Math.max(1, Math.ceil((to - from) / 0.1));
  const places = Array.from({ length: pieces + 1 }, (_, n) => {
    const angle = from + ((to - from) * n) / pieces;
    return `${across(angle, radius)},${down(angle, radius)}`;
  });
  return `M${places.join("L")}`;
}

const NAMES = ["position", "dimension", "offset", "length", "amplitude"];

/** What dragging the point does: its turns are added up, because it may go round more than once. */
function dragging(model, element, set) {
  let drag = null;
  const pointed = (event) => {
    const [x, y] = placeIn(element(), event);
    return Math.atan2(0.5 - y, x - 0.5);
  };
  const start = (event) => {
    const turn = frequency(model.get("dimension"), model.get("d_model"));
    drag = { last: pointed(event), total: model.get("position") * turn, turn };
  };
  const move = (event) => {
    const now = pointed(event);
    drag.total = turned(drag.total, drag.last, now, (model.get("length") - 1) * drag.turn);
    drag.last = now;
    set({ position: Math.round(drag.total / drag.turn) });
  };
  return { start, move };
}

function render({ model, el }) {
  const width = model.get("d_model");
  const start = read(model, NAMES);
  const set = (changes) => change(model, inTable(read(model, NAMES), changes));
  const own = (title, name, range) => slider(title, range, (value) => set({ [name]: value }));
  const sliders = {
    position: own("Position", "position", [0, start.length - 1, 1]),
    dimension: own("Dimension", "dimension", [0, width - 1, 1]),
    offset: own("Offset k", "offset", [0, 10, 1]),
    length: own("Length", "length", [4, 64, 1]),
    amplitude: own("Amplitude", "amplitude", [0, DEEPEST, 0.05]),
  };
  const map = picture("Table of positions: a row for each position, a column for each dimension", SIDE, "tc-map");
  const cells = svg(map, "g", { "aria-hidden": "true" });
  const row = svg(map, "rect", { class: "tc-mark", "aria-hidden": "true" });
  const column = svg(map, "rect", { class: "tc-mark", "aria-hidden": "true" });
  const press = ({ key }) => {
    const position = stepped(read(model, NAMES), key);
    if (position !== undefined) set({ position });
    return position !== undefined;
  };
  const round = circle({ ...dragging(model, () => round.element, set), press });
  const wave = picture("The chosen dimension over the positions", 110, "tc-wave");
  const line = svg(wave, "g", { "aria-hidden": "true" });
  const result = verdict();
  const again = button("Start again", () => set(start));

  const panel = (title, ...parts) => html("div", { class: "tc-panel" }, html("p", {}, title), ...parts);
  const title = html("p");
  mount(
    el,
    "tc-positions",
    "Positions on the circle",
    html(
      "div",
      { class: "tc-panels" },
      panel("Table: positions downwards, dimensions across", map),
      panel("One pair as a point on a circle", round.element),
    ),
    html("div", { class: "tc-panel" }, title, wave),
    html("div", { class: "tc-controls" }, ...NAMES.map((name) => sliders[name].label)),
    html("div", { class: "tc-row" }, result, again),
  );

  function drawMap({ position, dimension, length, amplitude }) {
    const [wide, high] = [SIDE / width, SIDE / length];
    if (cells.childElementCount !== width * length) {
      cells.replaceChildren();
      for (let p = 0; p < length; p += 1) {
        for (let d = 0; d < width; d += 1) {
          // A little larger than the cell: no thin lines between neighbours.
          svg(cells, "rect", { x: d * wide, y: p * high, width: wide + 0.3, height: high + 0.3 });
        }
      }
    }
    [...cells.children].forEach((cell, n) => {
      cell.style.fill = colour(encode(Math.floor(n / width), n % width, width, amplitude));
    });
    setAll(row, { x: 1, y: position * high, width: SIDE - 2, height: high });
    setAll(column, { x: dimension * wide, y: 1, width: wide, height: SIDE - 2 });
  }

  function drawCircle({ position, dimension, offset, length, amplitude }) {
    const turn = frequency(dimension, width);
    const [angle, ahead] = [position * turn, (position + offset) * turn];
    const radius = RADIUS * amplitude;
    round.round.setAttribute("r", radius);
    round.steps.replaceChildren();
    for (let p = 0; p < length; p += 1) {
      svg(round.steps, "circle", { cx: across(p * turn, radius), cy: down(p * turn, radius), r: 2.5, class: "tc-step" });
    }
    round.arc.setAttribute("d", arcPath(angle, ahead, radius * 0.4));
    const [x, y, x2, y2] = [across(angle, radius), down(angle, radius), across(ahead, radius), down(ahead, radius)];
    round.arms.setAttribute("d", `M${x},${y}L${SIDE / 2},${SIDE / 2}L${x2},${y2}`);
    round.legs.setAttribute("d", `M${x},${y}V${SIDE / 2}M${x},${y}H${SIDE / 2}`);
    round.later.setAttribute("transform", `translate(${x2},${y2})`);
    const side = x2 >= SIDE / 2 ? 1 : -1;
    setAll(round.laterName, { x: 14 * side, y: y2 > SIDE / 2 ? 18 : -8, "text-anchor": side > 0 ? "start" : "end" });
    round.laterName.textContent = `${position + offset}`;
    setAll(round.handle, {
      transform: `translate(${x},${y})`,
      "aria-valuemax": length - 1,
      "aria-valuenow": position,
      "aria-valuetext": `position ${position}, angle ${digits(angle, 2)}`,
    });
    round.name.textContent = position;
  }

  function drawWave({ position, dimension, length, amplitude }) {
    const place = (p) => [10 + ((SIDE - 20) * p) / (length - 1), 55 - 32 * encode(p, dimension, width, amplitude)];
    line.replaceChildren();
    svg(line, "path", { class: "tc-axis", d: `M0,55H${SIDE}` });
    const fine = Array.from({ length: 8 * (length - 1) + 1 }, (_, n) => place(n / 8).join(","));
    svg(line, "path", { class: "tc-curve", d: `M${fine.join("L")}` });
    for (let p = 0; p < length; p += 1) {
      const [cx, cy] = place(p);
      svg(line, "circle", { cx, cy, r: p === position ? 5 : 2, class: p === position ? "tc-point" : "tc-step" });
    }
  }

  function draw() {
    const state = read(model, NAMES);
    sliders.position.input.max = state.length - 1;
    for (const name of NAMES) {
      sliders[name].show(state[name], name === "amplitude" ? digits(state.amplitude, 2) : state[name]);
    }
    drawMap(state);
    drawCircle(state);
    drawWave(state);
    title.textContent = waveTitle(state.dimension, width);
    result.textContent = sentence(state, width);
  }

  map.addEventListener("click", (event) => {
    const [x, y] = placeIn(map, event);
    const inside = (part, n) => clamp(Math.floor(part * n), 0, n - 1);
    set({ position: inside(y, model.get("length")), dimension: inside(x, width) });
  });
  return follow(model, NAMES, draw);
}

export default { render };
