// The figure "drag the peak". All is computed here, in the browser, from the state that the notebook stores: it
// needs no Python once the page is open.

const WIDTHS = [128, 256, 512, 1024];
const SCHEDULES = ["inverse_sqrt", "cosine"];
const NAMES = ["schedule", "d_model", "warmup_steps", "peak_rate", "step"];
const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [600, 290, 92, 26, 24, 46]; // units of the drawing

const across = (step) => LEFT + (step / STEPS) * (WIDTH - LEFT - RIGHT);

/** The drawing: axes, the places where the peak can be, the curve, the reading line, and the knob. */
function chart(actions) {
  const label = "Learning rate over the steps of training: drag its peak";
  const drawing = canvas({ viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group", "aria-label": label });
  const lines = svg(drawing, "g", { "aria-hidden": "true" });
  const floor = HEIGHT - BOTTOM;
  svg(lines, "path", { class: "tc-axis", d: `M${LEFT},${floor}H${WIDTH - RIGHT}` });
  for (const step of [0, 5000, 10000, 15000, 20000]) {
    svg(lines, "path", { class: "tc-axis", d: `M${across(step)},${floor}v5` });
    svg(lines, "text", { x: across(step), y: floor + 21, "text-anchor": "middle" }, step ? `${step / 1000}k` : "0");
  }
  svg(lines, "text", { x: WIDTH - RIGHT, y: HEIGHT - 5, "text-anchor": "end" }, "step");
  svg(lines, "text", { x: 2, y: 15 }, "rate");
  const levels = [1, 2, 3].map(() => {
    const line = svg(lines, "path", { class: "tc-level" });
    return { line, name: svg(lines, "text", { x: LEFT - 8, "text-anchor": "end" }) };
  });
  const peaks = svg(lines, "path", { class: "tc-peaks" });
  const reading = svg(lines, "path", { class: "tc-reading" });
  const curve = svg(lines, "path", { class: "tc-curve" });
  const mark = svg(lines, "circle", { class: "tc-mark", r: 6 });
  const handle = knob(drawing, "Peak", actions, { "aria-valuemin": FEWEST, "aria-valuemax": MOST });
  svg(handle, "circle", { r: 30, class: "tc-grip" });
  svg(handle, "circle", { r: 9, class: "tc-knob" });
  return { drawing, levels, peaks, reading, curve, mark, handle };
}

const up = (rate, width) => TOP + (1 - rate / (1.06 * highest(width))) * (HEIGHT - TOP - BOTTOM);
const path = (points) => `M${points.map(([x, y]) => `${x.toFixed(2)},${y.toFixed(2)}`).join("L")}`;

function render({ model, el }) {
  const start = read(model, NAMES);
  const set = (changes) => change(model, changes);
  const move = (event) => {
    const [x, y] = placeIn(parts.drawing, event);
    const rate = (1 - (y * HEIGHT - TOP) / (HEIGHT - TOP - BOTTOM)) * 1.06 * highest(model.get("d_model"));
    set(moved(read(model, NAMES), ((x * WIDTH - LEFT) / (WIDTH - LEFT - RIGHT)) * STEPS, rate));
  };
  const press = ({ key, shiftKey }) => {
    const state = read(model, NAMES);
    const place = stepped(state, key, shiftKey);
    if (place) set(moved(state, ...place));
    return place;
  };
  const parts = chart({ move, press });
  const schedules = choices("Schedule", "schedule", ["the paper's, eq. 3", "cosine"], (i) => set({ schedule: SCHEDULES[i] }));
  const widths = choices("d_model", "width", WIDTHS.map(String), (i) => {
    set({ d_model: WIDTHS[i], peak_rate: Math.min(model.get("peak_rate"), topOf(WIDTHS[i])) });
  });
  const step = slider("read off at step", [100, STEPS, 100], (value) => set({ step: value }));
  const again = button("Start again", () => set(start));
  const names = ["warm-up steps", "highest rate", "rate at the step", "share of the highest"];
  const cells = names.map(() => numberCell());
  const rows = names.map((name, i) => namedRow(name, [cells[i]]));
  const told = verdict();
  mount(
    el,
    "tc-rate",
    "Learning rate with warm-up",
    schedules.element,
    widths.element,
    parts.drawing,
    html("div", { class: "tc-row" }, step.label, again),
    html("table", {}, html("tbody", {}, ...rows)),
    told,
  );

  function draw() {
    const state = read(model, NAMES);
    const { d_model: width, warmup_steps: warmup } = state;
    const peak = rateOf(state, warmup);
    const now = rateOf(state, state.step);
    parts.levels.forEach(({ line, name }, i) => {
      const unit = { 128: 1e-3, 256: 5e-4, 512: 5e-4, 1024: 3e-4 }[width];
      const level = unit * (i + 1);
      const shown = level <= 1.06 * highest(width);
      for (const part of [line, name]) part.setAttribute("visibility", shown ? "visible" : "hidden");
      line.setAttribute("d", `M${LEFT},${up(level, width)}H${WIDTH - RIGHT}`);
      name.setAttribute("y", up(level, width) + 6);
      name.textContent = level.toFixed(4);
    });
    const steps = Array.from({ length: 201 }, (_, i) => (i * STEPS) / 200);
    const drawn = [...steps.filter((s) => s > 0), warmup].sort((a, b) => a - b);
    parts.curve.setAttribute("d", path([[across(0), up(0, width)], ...drawn.map((s) => [across(s), up(rateOf(state, s), width)])]));
    const places = steps.filter((s) => s >= FEWEST && s <= MOST);
    parts.peaks.setAttribute("d", path(places.map((s) => [across(s), up((width * s) ** -0.5, width)])));
    parts.peaks.setAttribute("visibility", state.schedule === "cosine" ? "hidden" : "visible");
    parts.reading.setAttribute("d", `M${across(state.step)},${up(0, width)}V${up(now, width)}`);
    setAll(parts.mark, { cx: across(state.step), cy: up(now, width) });
    setAll(parts.handle, {
      transform: `translate(${across(warmup)},${up(peak, width)})`,
      "aria-valuenow": warmup,
      "aria-valuetext": `${warmup} warm-up steps, highest rate ${rateText(peak)}`,
    });
    schedules.show(SCHEDULES.indexOf(state.schedule));
    widths.show(WIDTHS.indexOf(width));
    step.show(state.step, stepText(state.step));
    numbersOf(state).forEach((text, i) => (cells[i].textContent = text));
    told.textContent = sentence(state);
  }

  return follow(model, NAMES, draw);
}

export default { render };
