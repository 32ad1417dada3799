// The figure "round the ring". All is computed here, in the browser: it needs no Python once the page is open.

const [LEFT, TOP, WIDE, HIGH, GAP] = [118, 34, 76, 40, 22]; // units of the drawing
const STATE = ["workers", "step"];

/** Draw all chunks: a row for each worker, a column for each chunk, arrows for what is on its way. */
function paint(drawing, workers, step) {
  const chunks = after(workers, step);
  const size = [LEFT + workers * WIDE + 8, TOP + workers * (HIGH + GAP)];
  drawing.setAttribute("viewBox", `0 0 ${size[0]} ${size[1]}`);
  drawing.style.maxWidth = `${size[0]}px`;
  drawing.replaceChildren();
  const place = (worker, chunk) => [LEFT + chunk * WIDE, TOP + worker * (HIGH + GAP)];
  for (let chunk = 0; chunk < workers; chunk += 1) {
    svg(drawing, "text", { x: place(0, chunk)[0] + WIDE / 2, y: TOP - 12, "text-anchor": "middle" }, `chunk ${chunk + 1}`);
  }
  const sent = step ? sentIn(workers, step) : [];
  chunks.forEach((own, worker) => {
    const middle = place(worker, 0)[1] + HIGH / 2 + 5;
    svg(drawing, "text", { class: "tc-worker", x: LEFT - 26, y: middle, "text-anchor": "end" }, `worker ${worker + 1}`);
    own.forEach((number, chunk) => {
      const [x, y] = place(worker, chunk);
      const came = sent[(worker + workers - 1) % workers] === chunk;
      const kind = [number === whole(workers) ? "tc-whole" : "", came ? "tc-came" : ""].join(" ");
      svg(drawing, "rect", { class: `tc-chunk ${kind}`, x: x + 5, y, width: WIDE - 10, height: HIGH, rx: 5 });
      svg(drawing, "text", { class: "tc-number-in", x: x + WIDE / 2, y: y + HIGH / 2 + 6, "text-anchor": "middle" }, String(number));
    });
  });
  sent.forEach((chunk, worker) => {
    const [x, y] = place(worker, chunk);
    if (worker + 1 < workers) {
      arrow(drawing, `M${x + WIDE / 2},${y + HIGH + 2}v${GAP - 10}`, [x + WIDE / 2, y + HIGH + GAP - 1]);
      return;
    }
    const [left, up] = [x + 1, TOP + HIGH / 2]; // from the last worker back to the first, beside its column
    arrow(drawing, `M${x + 5},${y + HIGH / 2}H${left - 6}V${up}H${left}`, [x + 5, up], "right");
  });
}

function arrow(drawing, path, [x, y], to = "down") {
  svg(drawing, "path", { class: "tc-arrow", d: path });
  const head = to === "down" ? `M${x - 6},${y - 8}h12l-6,8z` : `M${x - 6},${y - 6}v12l7,-6z`;
  svg(drawing, "path", { class: "tc-head", d: head });
}

function render({ model, el }) {
  const now = () => read(model, STATE);
  const go = (step) => change(model, { step: clamp(step, 0, stepsOf(now().workers)) });
  const many = slider("Workers", [2, 6, 1], (workers) => change(model, { workers, step: Math.min(now().step, stepsOf(workers)) }));
  many.input.setAttribute("aria-label", "Workers");
  const again = button("Start again", () => go(0));
  const back = button("Back", () => go(now().step - 1));
  const next = button("Next step", () => go(now().step + 1));
  const end = button("To the end", () => go(Infinity));
  const drawing = canvas({ role: "img" });
  const told = verdict();
  const { element: table, body } = tableOf(["Numbers sent", "by each", "by worker 1"]);
  mount(el, "tc-ring", "The sum, round a ring", many.label, html("div", { class: "tc-buttons" }, again, back, next, end), drawing, told, table);

  function draw() {
    const { workers, step } = now();
    const { each, end: all, other, first } = traffic(workers, step);
    many.show(workers, String(workers));
    for (const element of [again, back]) element.disabled = step === 0;
    for (const element of [next, end]) element.disabled = step === stepsOf(workers);
    paint(drawing, workers, step);
    const rows = after(workers, step).map((own, i) => `worker ${i + 1}: ${own.join(", ")}`);
    drawing.setAttribute("aria-label", `What each worker has. ${rows.join("; ")}`);
    told.textContent = sentence(workers, step);
    body.replaceChildren(
      namedRow(`round the ring, of ${NUMBERS}, so far`, [numberCell(String(each)), numberCell(String(each))]),
      namedRow("round the ring, in the end", [numberCell(String(all)), numberCell(String(all))]),
      namedRow("all to worker 1, and the sum back", [numberCell(String(other)), numberCell(String(first))]),
    );
  }

  return follow(model, STATE, draw);
}

export default { render };
