// The figure "drag the prediction". All is computed here, in the browser, from the state that the notebook
// stores: it needs no Python once the page is open.

const [WIDTH, HEIGHT, LEFT, TOP, BOTTOM] = [600, 250, 46, 26, 30]; // units of the drawing

const down = (p) => TOP + (1 - p) * (HEIGHT - TOP - BOTTOM);

/** The drawing: for each word its wanted bar, its predicted bar, and the handle on top of it. */
function chart(words, move, press) {
  const label = "Predicted distribution: drag the top of a bar";
  const drawing = canvas({ viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group", "aria-label": label });
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
    const moveTo = (event) => {
      const y = placeIn(drawing, event)[1] * HEIGHT;
      move(k, Math.round((1 - (y - TOP) / (HEIGHT - TOP - BOTTOM)) / STEP) * STEP);
    };
    column.addEventListener("click", moveTo);
    const actions = { move: moveTo, press: (event) => press(k, event) };
    const handle = knob(drawing, `Probability of ${word}`, actions, { "aria-valuemin": 0, "aria-valuemax": 1 });
    svg(handle, "rect", { x: middle - room * 0.36, y: -30, width: room * 0.72, height: 60, class: "tc-grip" });
    svg(handle, "rect", { x: middle - 20, y: -5, width: 40, height: 10, rx: 5, class: "tc-knob" });
    return { wanted, bar, name, handle };
  });
  return { drawing, bars };
}

/** The table: a row for each word, with what it wants, what it gets, what that costs, and the gradient. */
function numbersOf(words) {
  const titles = ["word", "wanted q", "predicted p", "\u2212q ln p", "p \u2212 q"];
  const rows = words.map((word) => {
    const cells = titles.slice(1).map(() => numberCell());
    return { cells, row: namedRow(word, cells) };
  });
  return { element: tableOf(titles, rows.map((r) => r.row)).element, rows };
}

/** One result: its name, its number, and a bar as long as it. */
function result(name, kind) {
  const number = html("span", { class: "tc-number" });
  const bar = html("span", { class: `tc-sum-bar ${kind}`, "aria-hidden": "true" });
  const element = html("p", { class: `tc-sum ${kind}` }, html("span", {}, name), number, bar);
  return { number, bar, element };
}

function render({ model, el }) {
  const words = model.get("words");
  const start = [...model.get("predicted")];
  const predict = (predicted) => change(model, { predicted });
  const wantedNow = () => wantedOf(words.length, model.get("right"), model.get("smoothing"));
  const move = (k, p) => predict(moved(model.get("predicted"), k, p));
  const press = (k, { key, shiftKey }) => {
    const p = stepped(model.get("predicted")[k], key, shiftKey);
    if (p !== undefined) move(k, p);
    return p !== undefined;
  };
  const { drawing, bars } = chart(words, move, press);
  const choice = choices("The right word", "right", words, (k) => change(model, { right: k }));
  const smoothing = slider("smoothing \u03B5", [0, 0.5, 0.01], (value) => change(model, { smoothing: value }));
  const even = button("All equal", () => predict(words.map(() => 1 / words.length)));
  const exact = button("As wanted", () => predict(wantedNow()));
  const again = button("Start again", () => predict([...start]));
  const numbers = numbersOf(words);
  const sums = [
    result("entropy of the wanted distribution, H(q)", "tc-entropy"),
    result("KL divergence, D(q\u2016p)", "tc-divergence"),
    result("cross-entropy, H(q, p)", "tc-cross"),
    result("perplexity", "tc-perplexity"),
  ];
  const told = verdict();
  const legend = html(
    "p",
    { class: "tc-legend" },
    html("span", { class: "tc-key-wanted" }, "wanted"),
    html("span", { class: "tc-key-predicted" }, "predicted: drag the knobs"),
  );
  mount(
    el,
    "tc-loss",
    "Loss of a predicted distribution",
    choice.element,
    legend,
    drawing,
    html("div", { class: "tc-row" }, smoothing.label, html("span", { class: "tc-buttons" }, even, exact, again)),
    numbers.element,
    ...sums.map((s) => s.element),
    told,
  );

  function draw() {
    const { predicted, right, smoothing: e } = read(model, ["predicted", "right", "smoothing"]);
    const wanted = wantedNow();
    const now = measure(wanted, predicted);
    bars.forEach(({ wanted: target, bar, name, handle }, k) => {
      for (const [rect, p] of [[target, wanted[k]], [bar, predicted[k]]]) {
        setAll(rect, { y: down(p), height: down(0) - down(p) });
      }
      name.classList.toggle("tc-right", k === right);
      setAll(handle, {
        transform: `translate(0,${down(predicted[k])})`,
        "aria-valuenow": predicted[k].toFixed(3),
        "aria-valuetext": `${words[k]}: ${predicted[k].toFixed(3)}`,
      });
      const cells = numbers.rows[k].cells;
      cells[0].textContent = digits(wanted[k], 3);
      cells[1].textContent = digits(predicted[k], 3);
      cells[2].textContent = shown(now.costs[k], 3);
      cells[3].textContent = digits(now.gradient[k], 3);
      numbers.rows[k].row.classList.toggle("tc-right", k === right);
    });
    choice.show(right);
    smoothing.show(e, digits(e, 2));
    const values = [now.entropy, now.divergence, now.crossEntropy, now.perplexity];
    sums.forEach(({ number, bar }, i) => {
      number.textContent = shown(values[i], 3);
      bar.style.setProperty("--length", Math.min(1, Math.max(0, values[i]) / 5));
    });
    sums[1].bar.style.setProperty("--start", Math.min(1, now.entropy / 5));
    told.textContent = sentence(words, wanted, predicted, right);
  }

  return follow(model, ["predicted", "right", "smoothing"], draw);
}

export default { render };
