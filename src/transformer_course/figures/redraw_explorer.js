// The figure "draw the test set again". All is computed here, in the browser, from the counts that the notebook
// stores: it needs no Python once the page is open.

const MANY = 100; // draws of the second button
const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BASE] = [600, 366, 56, 32, 34, 230]; // units of the drawing
const [BAR, ENDS, WHOLE] = [BASE + 40, BASE + 70, BASE + 106]; // heights of what is below the axis

/** The table of the last draw: its sentences, or how many sentences came up how often. */
function lastDraw(set, last) {
  const line = (name, cells, none) =>
    namedRow(name, cells.map((content) => html("td", {}, content)), none ? { class: "tc-none" } : {});
  if (set.found.length <= LISTED) {
    const rows = set.found.map((found, i) => {
      const times = last ? last.times[i] : null;
      return line(String(i), [String(found), String(set.total[i]), last ? `\u00D7${times}` : ""], times === 0);
    });
    return tableOf(["sentence", "found", "written", "last draw"], rows).element;
  }
  const counts = last ? howOften(last.times) : [0, 0, 0, 0];
  const rows = ["0 times", "once", "twice", "3+ times"].map((name, i) => {
    const bar = html("span", { class: "tc-bar", "aria-hidden": "true" });
    bar.style.setProperty("--share", counts[i] / set.found.length);
    return line(name, [last ? counts[i].toLocaleString("en") : "", bar], last && counts[i] === 0);
  });
  return tableOf(["last draw", "sentences", ""], rows).element;
}

/** A line of the legend: its sign, its name, its numbers. */
function fact(kind, name) {
  const number = html("span", { class: "tc-number" });
  const sign = html("span", { class: `tc-sign tc-sign-${kind}`, "aria-hidden": "true" });
  return { number, element: html("p", { class: "tc-fact" }, sign, html("span", {}, name), number) };
}

/** All of the drawing, for a set and what was drawn from it. */
function paint(drawing, { axis, score, last, scores, middle }) {
  drawing.replaceChildren();
  const along = (low, high) => (x) => LEFT + ((clamp(x, low, high) - low) / (high - low)) * (WIDTH - LEFT - RIGHT);
  const [across, wholly] = [along(axis.low, axis.high), along(0, 1)];
  const bars = barsOf(axis, scores, middle);
  const top = ceiling(Math.max(0, ...bars.map(sum)));
  const unit = (BASE - TOP) / top;
  for (const level of [top / 2, top]) {
    svg(drawing, "path", { class: "tc-level", d: `M${LEFT},${BASE - level * unit}H${WIDTH - RIGHT}` });
    svg(drawing, "text", { x: LEFT - 7, y: BASE - level * unit + 6, "text-anchor": "end" }, String(level));
  }
  svg(drawing, "text", { x: LEFT - 50, y: 17 }, "draws");
  const wide = (WIDTH - LEFT - RIGHT) / bars.length;
  bars.forEach(([stays, out], i) => {
    const place = { x: LEFT + i * wide + 0.5, width: wide - 1 };
    if (stays) svg(drawing, "rect", { class: "tc-stays", ...place, y: BASE - stays * unit, height: stays * unit });
    if (out) svg(drawing, "rect", { class: "tc-out", ...place, y: BASE - (stays + out) * unit, height: out * unit });
  });
  svg(drawing, "path", { class: "tc-axis", d: `M${LEFT},${BASE}H${WIDTH - RIGHT}` });
  for (const tick of axis.ticks) {
    svg(drawing, "path", { class: "tc-axis", d: `M${across(tick)},${BASE}v6` });
    svg(drawing, "text", { x: across(tick), y: BASE + 26, "text-anchor": "middle" }, digits(tick, axis.places));
  }
  svg(drawing, "path", { class: "tc-measured", d: `M${across(score)},${TOP - 6}V${BASE}` });
  if (last) {
    const x = across(last.found / last.total);
    svg(drawing, "path", { class: "tc-last", d: `M${x},${BASE - 9}l8,9l-8,9l-8,-9z` });
  }
  const [left, right] = [axis.low, axis.high].map(wholly);
  svg(drawing, "path", { class: "tc-funnel", d: `M${LEFT},${ENDS + 12}H${WIDTH - RIGHT}L${right},${WHOLE}H${left}z` });
  svg(drawing, "path", { class: "tc-axis", d: `M${LEFT},${WHOLE}H${WIDTH - RIGHT}` });
  for (const tick of [0, 0.5, 1]) {
    svg(drawing, "path", { class: "tc-axis", d: `M${wholly(tick)},${WHOLE}v6` });
    svg(drawing, "text", { x: wholly(tick), y: WHOLE + 26, "text-anchor": "middle" }, String(tick));
  }
  if (!middle) return;
  const { low, high } = middle;
  svg(drawing, "path", { class: "tc-middle", d: `M${across(low)},${BAR}H${across(high) + 0.5}` });
  const least = 40; // half of the room that two numbers need beside each other
  const centre = clamp((across(low) + across(high)) / 2, 2 * least, WIDTH - 2 * least);
  const ends = [Math.min(across(low), centre - least), Math.max(across(high), centre + least)];
  [low, high].forEach((end, i) => svg(drawing, "text", { class: "tc-end", x: ends[i], y: ENDS, "text-anchor": "middle" }, digits(end, 3)));
  svg(drawing, "path", { class: "tc-middle", d: `M${wholly(low)},${WHOLE}H${Math.max(wholly(high), wholly(low) + 3)}` });
}

function render({ model, el }) {
  const sets = model.get("sets");
  const set = (changes) => change(model, changes);
  const more = (count) => set({ draws: Math.min(MOST, model.get("draws") + count) });
  const choice = choices("Test set", "set", sets.map(({ name }) => name), (i) => set({ chosen: i }));
  const once = button("Draw once", () => more(1));
  const many = button(`Draw ${MANY} times`, () => more(MANY));
  const again = button("Start again", () => set({ draws: 0, seed: model.get("seed") + 1 }));
  const sentences = html("div");
  const facts = { measured: fact("measured", "test set"), last: fact("last", "last draw"), middle: fact("middle", "middle 95 %") };
  const drawing = canvas({ viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
  const told = verdict();
  mount(
    el,
    "tc-redraw",
    "A test set, drawn again",
    choice.element,
    html("div", { class: "tc-buttons" }, once, many, again),
    html("div", { class: "tc-panels" }, sentences, html("div", {}, ...Object.values(facts).map((f) => f.element))),
    drawing,
    html("p", { class: "tc-note" }, "Upper axis: the score of a draw. Lower axis: the whole scale, from 0 to 1."),
    told,
  );
  let kept = null; // what is drawn already: the next draws are added to it

  function draw() {
    kept = drawsOf(sets, read(model, ["chosen", "seed", "draws"]), kept);
    const { chosen, scores, last } = kept;
    const now = sets[chosen];
    const measured = { found: sum(now.found), total: sum(now.total) };
    const [axis, middle] = [axisOf(now), middleOf(scores)];
    choice.show(chosen);
    for (const element of [once, many]) element.disabled = scores.length >= MOST;
    sentences.replaceChildren(lastDraw(now, last));
    facts.measured.number.textContent = fraction(measured);
    facts.last.number.textContent = last ? fraction(last) : "none yet";
    facts.middle.number.textContent = middle ? `${digits(middle.low, 3)} to ${digits(middle.high, 3)}` : `from ${FEWEST} draws on`;
    paint(drawing, { axis, score: measured.found / measured.total, last, scores, middle });
    const reach = [axis.low, axis.high].map((end) => digits(end, axis.places)).join(" to ");
    drawing.setAttribute("aria-label", `Histogram: the scores of ${counted(scores.length, "draw")}, on an axis from ${reach}`);
    told.textContent = sentence(now, scores);
  }

  return follow(model, ["chosen", "seed", "draws"], draw);
}

export default { render };
