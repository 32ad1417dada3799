// The figure "drag the peak". All is computed here, in the browser, from the state that the notebook stores: it
// needs no Python once the page is open.

const STEPS = 20000;
const [FEWEST, MOST] = [1000, 16000]; // warm-up steps
const WIDTHS = [128, 256, 512, 1024];
const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [600, 290, 92, 26, 24, 46]; // units of the drawing
let made = 0; // radio buttons of several figures must not share a name

/** The paper's rate, eq. 3. */
export function inverseSqrtRate(step, width, warmup) {
  return width ** -0.5 * Math.min(step ** -0.5, step * warmup ** -1.5);
}

/** Up in a line to the peak, then down along half a cosine to 0 at the last step. */
export function cosineRate(step, peak, warmup) {
  if (step <= warmup) return (peak * step) / warmup;
  const done = (step - warmup) / (STEPS - warmup);
  return peak * 0.5 * (1 + Math.cos(Math.PI * Math.min(1, done)));
}

/** The rate at a step, by the state of the figure. */
export function rateOf(state, step) {
  if (state.schedule === "cosine") return cosineRate(step, state.peak_rate, state.warmup_steps);
  return inverseSqrtRate(step, state.d_model, state.warmup_steps);
}

/** The highest rate that the figure can draw: eq. 3 with the shortest warm-up. */
export function highest(width) {
  return (width * FEWEST) ** -0.5;
}

/** A rate as people write it: 6.99e-4 becomes 6.99 · 10⁻⁴. */
function rateText(rate) {
  if (rate < 1e-12) return "0";
  const [number, power] = rate.toExponential(2).split("e");
  const raised = [...String(Number(power))].map((c) => (c === "-" ? "\u207B" : "\u2070\u00B9\u00B2\u00B3\u2074\u2075\u2076\u2077\u2078\u2079"[c]));
  return `${number} \u00B7 10${raised.join("")}`;
}

const stepText = (step) => step.toLocaleString("en").replace(",", "\u202F");
const across = (step) => LEFT + (step / STEPS) * (WIDTH - LEFT - RIGHT);
const clamp = (x, low, high) => Math.min(high, Math.max(low, x));

/** The drawing: axes, the places where the peak can be, the curve, the reading line, and the knob. */
function chart() {
  const drawing = document.createElementNS(SVG, "svg");
  drawing.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
  drawing.setAttribute("role", "group");
  drawing.setAttribute("aria-label", "Learning rate over the steps of training: drag its peak");
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
  const handle = svg(drawing, "g", {
    class: "tc-handle",
    role: "slider",
    tabindex: "0",
    "aria-label": "Peak: drag it, or use the arrow keys",
    "aria-valuemin": FEWEST,
    "aria-valuemax": MOST,
  });
  svg(handle, "circle", { r: 30, class: "tc-grip" });
  svg(handle, "circle", { r: 9, class: "tc-knob" });
  return { drawing, levels, peaks, reading, curve, mark, handle };
}

/** A group of radio buttons. */
function choices(title, name, options) {
  const found = options.map(([value, text]) => {
    const input = html("input", { type: "radio", name, value });
    return { input, value, label: html("label", {}, input, text) };
  });
  const element = html("fieldset", {}, html("legend", {}, title), ...found.map((c) => c.label));
  return { element, found };
}

function render({ model, el }) {
  made += 1;
  const names = ["schedule", "d_model", "warmup_steps", "peak_rate", "step"];
  const read = () => Object.fromEntries(names.map((name) => [name, model.get(name)]));
  const start = read();
  const set = (changes) => {
    for (const [name, value] of Object.entries(changes)) model.set(name, value);
    model.save_changes();
  };
  const parts = chart();
  const schedules = choices("Schedule", `tc-schedule-${made}`, [["inverse_sqrt", "the paper's, eq. 3"], ["cosine", "cosine"]]);
  const widths = choices("d_model", `tc-width-${made}`, WIDTHS.map((width) => [width, String(width)]));
  const step = html("input", { type: "range", min: 100, max: STEPS, step: 100 });
  const stepNumber = html("span", { class: "tc-number" });
  const stepLabel = html("label", { class: "tc-step" }, html("span", {}, "read off at step"), step, stepNumber);
  const again = html("button", { type: "button" }, "Start again");
  const rows = ["warm-up steps", "highest rate", "rate at the step", "share of the highest"].map((name) => {
    const cell = html("td", { class: "tc-number" });
    return { cell, row: html("tr", {}, html("th", { scope: "row" }, name), cell) };
  });
  const told = html("p", { class: "tc-result", role: "status" });
  const root = html(
    "div",
    { class: "tc-widget tc-rate", role: "group", "aria-label": "Learning rate with warm-up" },
    schedules.element,
    widths.element,
    parts.drawing,
    html("div", { class: "tc-row" }, stepLabel, again),
    html("table", {}, html("tbody", {}, ...rows.map((r) => r.row))),
    told,
  );
  el.replaceChildren(root);
  keepKeys(root);

  const up = (rate, width) => TOP + (1 - rate / (1.06 * highest(width))) * (HEIGHT - TOP - BOTTOM);
  const path = (points) => `M${points.map(([x, y]) => `${x.toFixed(2)},${y.toFixed(2)}`).join("L")}`;

  function draw() {
    const state = read();
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
    parts.mark.setAttribute("cx", across(state.step));
    parts.mark.setAttribute("cy", up(now, width));
    parts.handle.setAttribute("transform", `translate(${across(warmup)},${up(peak, width)})`);
    parts.handle.setAttribute("aria-valuenow", warmup);
    parts.handle.setAttribute("aria-valuetext", `${warmup} warm-up steps, highest rate ${rateText(peak)}`);
    for (const { input, value } of schedules.found) input.checked = value === state.schedule;
    for (const { input, value } of widths.found) input.checked = value === width;
    step.value = state.step;
    stepNumber.textContent = stepText(state.step);
    const texts = [stepText(warmup), rateText(peak), rateText(now), `${digits((100 * now) / peak, 1)} %`];
    rows.forEach(({ cell }, i) => (cell.textContent = texts[i]));
    told.textContent = sentence(state, now, peak);
  }

  /** Move the peak; in eq. 3 its height follows from the warm-up. */
  function move(warmup, peak) {
    const state = read();
    const top = highest(state.d_model);
    const changes = { warmup_steps: clamp(Math.round(warmup / 100) * 100, FEWEST, MOST) };
    if (state.schedule === "cosine") changes.peak_rate = clamp(Math.round(peak / 1e-5) * 1e-5, 1e-5, Math.floor(top / 1e-5) * 1e-5);
    set(changes);
  }

  let dragging = false;
  const follows = (event) => {
    const box = parts.drawing.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * WIDTH;
    const y = ((event.clientY - box.top) / box.height) * HEIGHT;
    const rate = (1 - (y - TOP) / (HEIGHT - TOP - BOTTOM)) * 1.06 * highest(model.get("d_model"));
    move(((x - LEFT) / (WIDTH - LEFT - RIGHT)) * STEPS, rate);
  };
  parts.handle.addEventListener("pointerdown", (event) => {
    dragging = true;
    parts.handle.setPointerCapture(event.pointerId);
    parts.handle.focus({ preventScroll: true });
    event.preventDefault();
  });
  // Browsers differ in where touch-action counts in a drawing: this also keeps the page from scrolling.
  parts.handle.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false });
  parts.handle.addEventListener("pointermove", (event) => dragging && follows(event));
  for (const end of ["pointerup", "pointercancel"]) parts.handle.addEventListener(end, () => (dragging = false));
  parts.handle.addEventListener("keydown", (event) => {
    const { schedule, warmup_steps: warmup, peak_rate: peak } = read();
    const far = event.shiftKey ? 10 : 1;
    const free = schedule === "cosine"; // else up and down move the warm-up, as in every slider
    const moves = {
      ArrowRight: [warmup + 100 * far, peak],
      ArrowLeft: [warmup - 100 * far, peak],
      ArrowUp: free ? [warmup, peak + 1e-5 * far] : [warmup + 100 * far, peak],
      ArrowDown: free ? [warmup, peak - 1e-5 * far] : [warmup - 100 * far, peak],
      Home: [FEWEST, peak],
      End: [MOST, peak],
    };
    if (!(event.key in moves)) return;
    move(...moves[event.key]);
    event.preventDefault(); // the page stays where it is
  });
  for (const { input, value } of schedules.found) input.addEventListener("change", () => set({ schedule: value }));
  for (const { input, value } of widths.found) {
    input.addEventListener("change", () => set({ d_model: value, peak_rate: Math.min(model.get("peak_rate"), Math.floor(highest(value) / 1e-5) * 1e-5) }));
  }
  step.addEventListener("input", () => set({ step: Number(step.value) }));
  again.addEventListener("click", () => set(start));
  return follow(model, names, draw);
}

/** What there is to see, in a sentence. */
function sentence(state, now, peak) {
  const { schedule, warmup_steps: warmup, step } = state;
  const share = digits((100 * now) / peak, 0);
  if (step === warmup) return "This step is the last of the warm-up: the rate is at its highest.";
  if (step < warmup) return `In the warm-up: step ${stepText(step)} of ${stepText(warmup)}, so ${share} % of the highest rate.`;
  if (schedule === "cosine") return `On the way down to 0 at the last step: ${share} % of the highest rate is left.`;
  const times = digits(step / warmup, 2);
  return `${times} times the warm-up: the rate is the highest one divided by the root of ${times}.`;
}

export default { render };
