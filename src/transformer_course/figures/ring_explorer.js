// The figure "a sum, sent round a ring". All is computed here, in the browser, from the numbers that the notebook
// stores: it needs no Python once the page is open.

const STATE = ["parts", "workers", "step"];
const [WIDTH, HEIGHT, ACROSS, DOWN, MIDDLE] = [600, 416, 228, 152, 218]; // units of the drawing
const [BOX, TALL] = [120, 42]; // of a worker
const SIGNS = [
  ["tc-part", "a sum of fewer"],
  ["tc-part tc-whole", "the sum of all workers"],
  ["tc-came", "has come in this step"],
];

/** The ring, what is on its way, and what each worker has. */
function paint(drawing, p, { cells, letters }) {
  drawing.replaceChildren();
  const at = ({ x, y }) => [WIDTH / 2 + ACROSS * x, MIDDLE + DOWN * y];
  svg(drawing, "ellipse", { class: "tc-ring", cx: WIDTH / 2, cy: MIDDLE, rx: ACROSS, ry: DOWN });
  placesOf(p, 0.5).forEach((between, i) => {
    const [x, y] = at(between);
    const turn = (Math.atan2(DOWN * Math.sin(between.turn), ACROSS * Math.cos(between.turn)) * 180) / Math.PI;
    svg(drawing, "path", { class: "tc-arrow", d: "M15,-9L28,0L15,9z", transform: `translate(${x} ${y}) rotate(${turn})` });
    if (!letters.length) return;
    svg(drawing, "circle", { class: "tc-letter", cx: x, cy: y, r: 16 });
    svg(drawing, "text", { class: "tc-chunk", x, y: y + 7, "text-anchor": "middle" }, String(letters[i].chunk));
  });
  placesOf(p).forEach((place, i) => {
    const [x, y] = at(place);
    const [left, top, wide] = [x - BOX / 2, y - TALL / 2, BOX / p];
    svg(drawing, "text", { class: "tc-beside", x, y: top - 8, "text-anchor": "middle" }, `worker ${i}`);
    svg(drawing, "rect", { class: "tc-box", x: left, y: top, width: BOX, height: TALL });
    cells[i].forEach(({ summed, came }, chunk) => {
      const height = (TALL * summed) / p;
      const kind = summed === p ? "tc-part tc-whole" : "tc-part";
      svg(drawing, "rect", { class: kind, x: left + chunk * wide, y: top + TALL - height, width: wide, height });
      if (came) svg(drawing, "rect", { class: "tc-came", x: left + chunk * wide, y: top, width: wide, height: TALL });
    });
  });
}

function render({ model, el }) {
  const set = (changes) => change(model, changes);
  const move = (by) => set({ step: clamp(model.get("step") + by, 0, stepsOf(model.get("workers"))) });
  const choice = choices("Workers", "workers", COUNTS.map(String), (i) => set(chosenWorkers(COUNTS[i])));
  const [back, next] = [button("\u2190 back", () => move(-1)), button("next step \u2192", () => move(1))];
  const again = button("start again", () => set({ step: 0 }));
  const drawing = canvas({ viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
  const [kept, sent] = [html("div", { class: "tc-kept" }), html("div", { class: "tc-sent" })];
  const told = verdict();
  const legend = SIGNS.map(([kind, words]) =>
    html("li", {}, html("span", { class: `tc-sign ${kind}`, "aria-hidden": "true" }), words),
  );
  mount(
    el,
    "tc-ringsum",
    "A sum, sent round a ring",
    choice.element,
    html("div", { class: "tc-buttons" }, back, next, again),
    told,
    drawing,
    html("ul", { class: "tc-legend", "aria-label": "Signs" }, ...legend),
    kept,
    sent,
  );

  function draw() {
    const state = read(model, STATE);
    const { parts, workers: p, step } = state;
    const now = stateAt(parts, p, step);
    choice.show(COUNTS.indexOf(p));
    back.disabled = again.disabled = step === 0;
    next.disabled = step === stepsOf(p);
    told.textContent = ringSentence(state);
    paint(drawing, p, now);
    const whole = now.cells.flat().filter(({ summed }) => summed === p).length;
    drawing.setAttribute("aria-label", `${p} workers on a ring; ${whole} of ${p * p} chunks hold the sum of all`);
    const rows = now.cells.map((cells, i) => {
      const contents = cells.map(({ number, summed, came }) => {
        const cell = numberCell(String(number));
        cell.classList.toggle("tc-whole", summed === p);
        cell.classList.toggle("tc-came", came);
        return cell;
      });
      return namedRow(`worker ${i}`, contents);
    });
    kept.replaceChildren(tableOf(["chunk", ...now.cells.map((_, chunk) => String(chunk))], rows).element);
    const counts = sentRows(p, step).map(([name, ...cells]) => namedRow(name, cells.map(numberCell)));
    sent.replaceChildren(tableOf(["numbers sent", "so far", "in the end"], counts).element);
  }

  return follow(model, ["workers", "step"], draw);
}

export default { render };
