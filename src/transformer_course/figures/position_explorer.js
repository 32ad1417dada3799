// The figure "positions on the circle". All is computed here, in the browser, from the state that the notebook
// stores: it needs no Python once the page is open.

const SIDE = 300; // units of the drawings
const RADIUS = 80; // of the circle, for amplitude 1
const DEEPEST = 1.5; // the number with the full colour

/** How far one position turns the pair of a dimension, in radians. */
function frequency(dimension, width) {
  return 10000 ** (-(2 * Math.floor(dimension / 2)) / width);
}

/** One number of the table. */
export function encode(position, dimension, width, amplitude) {
  const angle = position * frequency(dimension, width);
  return amplitude * (dimension % 2 ? Math.cos(angle) : Math.sin(angle));
}

function drawing(label, height, kind) {
  const element = document.createElementNS(SVG, "svg");
  element.setAttribute("viewBox", `0 0 ${SIDE} ${height}`);
  element.setAttribute("role", "group");
  element.setAttribute("aria-label", label);
  element.classList.add(kind);
  return element;
}

/** A native slider with its name and its number. */
function slider(name, low, high, step) {
  const input = html("input", { type: "range", min: low, max: high, step });
  const number = html("span", { class: "tc-number" });
  return { input, number, label: html("label", {}, html("span", {}, name), input, number) };
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
function circle() {
  const element = drawing("Circle of one pair: across the cosine, upwards the sine", SIDE, "tc-circle");
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
  const laterName = svg(later, "text", { class: "tc-name" });
  const handle = svg(element, "g", {
    class: "tc-handle",
    role: "slider",
    tabindex: "0",
    "aria-label": "Position on the circle: drag it, or use the arrow keys",
    "aria-valuemin": 0,
  });
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

function render({ model, el }) {
  const width = model.get("d_model");
  const names = ["position", "dimension", "offset", "length", "amplitude"];
  const start = Object.fromEntries(names.map((name) => [name, model.get(name)]));
  const sliders = {
    position: slider("Position", 0, start.length - 1, 1),
    dimension: slider("Dimension", 0, width - 1, 1),
    offset: slider("Offset k", 0, 10, 1),
    length: slider("Length", 4, 64, 1),
    amplitude: slider("Amplitude", 0, DEEPEST, 0.05),
  };
  const map = drawing("Table of positions: a row for each position, a column for each dimension", SIDE, "tc-map");
  const cells = svg(map, "g", { "aria-hidden": "true" });
  const row = svg(map, "rect", { class: "tc-mark", "aria-hidden": "true" });
  const column = svg(map, "rect", { class: "tc-mark", "aria-hidden": "true" });
  const round = circle();
  const wave = drawing("The chosen dimension over the positions", 110, "tc-wave");
  const line = svg(wave, "g", { "aria-hidden": "true" });
  const result = html("p", { class: "tc-result", role: "status" });
  const again = html("button", { type: "button" }, "Start again");

  const panel = (title, ...parts) => html("div", { class: "tc-panel" }, html("p", {}, title), ...parts);
  const waveTitle = html("p");
  const root = html(
    "div",
    { class: "tc-widget tc-positions", role: "group", "aria-label": "Positions on the circle" },
    html(
      "div",
      { class: "tc-panels" },
      panel("Table: positions downwards, dimensions across", map),
      panel("One pair as a point on a circle", round.element),
    ),
    html("div", { class: "tc-panel" }, waveTitle, wave),
    html("div", { class: "tc-controls" }, ...names.map((name) => sliders[name].label)),
    html("div", { class: "tc-row" }, result, again),
  );
  el.replaceChildren(root);
  keepKeys(root);

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
    const set = (mark, x, y, w, h) =>
      Object.entries({ x, y, width: w, height: h }).forEach((pair) => mark.setAttribute(...pair));
    set(row, 1, position * high, SIDE - 2, high);
    set(column, dimension * wide, 1, wide, SIDE - 2);
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
    Object.entries({ x: 14 * side, y: y2 > SIDE / 2 ? 18 : -8, "text-anchor": side > 0 ? "start" : "end" }).forEach(
      (pair) => round.laterName.setAttribute(...pair),
    );
    round.laterName.textContent = `${position + offset}`;
    round.handle.setAttribute("transform", `translate(${x},${y})`);
    round.handle.setAttribute("aria-valuemax", length - 1);
    round.handle.setAttribute("aria-valuenow", position);
    round.handle.setAttribute("aria-valuetext", `position ${position}, angle ${digits(angle, 2)}`);
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
    const state = Object.fromEntries(names.map((name) => [name, model.get(name)]));
    const { position, dimension, offset, length, amplitude } = state;
    sliders.position.input.max = length - 1;
    for (const name of names) {
      sliders[name].input.value = state[name];
      sliders[name].number.textContent = name === "amplitude" ? digits(amplitude, 2) : state[name];
    }
    drawMap(state);
    drawCircle(state);
    drawWave(state);
    const turn = frequency(dimension, width);
    const pair = Math.floor(dimension / 2);
    const both = [0, 1].map((k) => encode(position, 2 * pair + k, width, amplitude));
    const waveLength = (2 * Math.PI) / turn;
    waveTitle.textContent =
      `Dimension ${dimension}, a ${dimension % 2 ? "cosine" : "sine"}: ` +
      `a full wave takes ${digits(waveLength, waveLength < 100 ? 1 : 0)} positions`;
    const norm = amplitude * Math.sqrt(width / 2);
    const size = Math.sqrt(width);
    result.textContent =
      `Pair ${pair} turns by ${digits(turn, 4)} a position. At position ${position}: ` +
      `(sin, cos) = ${point(both, 3)}. From ${position} to ${position + offset}: ` +
      `a turn of ${digits(offset * turn, 3)}. ` +
      `The whole row has norm ${digits(norm, 2)}; an embedding times \u221A${width} has about ${digits(size, 2)}.`;
  }

  function set(changes) {
    const length = changes.length ?? model.get("length");
    const position = changes.position ?? model.get("position");
    const safe = Math.min(length - 1, Math.max(0, position));
    for (const [name, value] of Object.entries({ ...changes, position: safe })) model.set(name, value);
    model.save_changes();
  }

  for (const name of names) {
    sliders[name].input.addEventListener("input", () => set({ [name]: Number(sliders[name].input.value) }));
  }
  again.addEventListener("click", () => set(start));

  // While the point is dragged, its turns are added up: it may go round more than once.
  let drag = null;
  const pointed = (event) => {
    const box = round.element.getBoundingClientRect();
    return Math.atan2(box.top + box.height / 2 - event.clientY, event.clientX - box.left - box.width / 2);
  };
  round.handle.addEventListener("pointerdown", (event) => {
    const turn = frequency(model.get("dimension"), width);
    drag = { last: pointed(event), total: model.get("position") * turn, turn };
    round.handle.setPointerCapture(event.pointerId);
    round.handle.focus({ preventScroll: true });
    event.preventDefault();
  });
  // Browsers differ in where touch-action counts in a drawing: this also keeps the page from scrolling.
  round.handle.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false });
  round.handle.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const now = pointed(event);
    const step = now - drag.last;
    const most = (model.get("length") - 1) * drag.turn;
    drag.total += Math.atan2(Math.sin(step), Math.cos(step)); // the shorter way round
    drag.total = Math.min(most, Math.max(0, drag.total));
    drag.last = now;
    set({ position: Math.round(drag.total / drag.turn) });
  });
  for (const end of ["pointerup", "pointercancel"]) round.handle.addEventListener(end, () => (drag = null));
  round.handle.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 };
    if (event.key in steps) set({ position: model.get("position") + steps[event.key] });
    else if (event.key === "Home") set({ position: 0 });
    else if (event.key === "End") set({ position: model.get("length") - 1 });
    else return;
    event.preventDefault(); // the page stays where it is
  });
  map.addEventListener("click", (event) => {
    const box = map.getBoundingClientRect();
    const [x, y] = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
    const inside = (share, n) => Math.min(n - 1, Math.max(0, Math.floor(share * n)));
    set({ position: inside(y, model.get("length")), dimension: inside(x, width) });
  });
  return follow(model, names, draw);
}

export default { render };
