// The figure "draw the test set again". All is computed here, in the browser, from the counts that the notebook
// stores: it needs no Python once the page is open.

const MANY = 100; // draws of the second button
const MOST = 5000;
const FEWEST = 40; // draws that an interval needs: one in 40 is left out at each end
const LISTED = 12; // sentences that get a row each; of more, only how often they came up is counted
const PER_STEP = 8; // bars between two numbers of the axis
const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BASE] = [600, 366, 56, 32, 34, 230]; // units of the drawing
const [BAR, ENDS, WHOLE] = [BASE + 40, BASE + 70, BASE + 106]; // heights of what is below the axis
let made = 0; // radio buttons of several figures must not share a name

const sum = (numbers) => numbers.reduce((total, x) => total + x, 0);

/** Random whole numbers from 0 to n - 1, the same ones for the same seed (mulberry32). */
export function randomPlaces(seed) {
  let state = Math.imul(seed + 1, 0x9e3779b1);
  return (n) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * n);
  };
}

/** One draw: as many sentences as there are, each put back. How often each came up, and the two sums. */
export function redraw({ found, total }, place) {
  const drawn = { times: found.map(() => 0), found: 0, total: 0 };
  for (let left = found.length; left > 0; left -= 1) {
    const i = place(found.length);
    drawn.times[i] += 1;
    drawn.found += found[i];
    drawn.total += total[i];
  }
  return drawn;
}

/** The scores in order, how many are left out at each end, and the ends of the rest. */
export function interval(scores) {
  const sorted = [...scores].sort((a, b) => a - b);
  const k = Math.floor(scores.length / 40);
  return { sorted, k, low: sorted[k], high: sorted[sorted.length - 1 - k] };
}

/** 1, 2 or 5 times a power of ten: the smallest one that is not below the number. */
function roundStep(number) {
  const power = 10 ** Math.floor(Math.log10(number));
  return [1, 2, 5, 10].find((m) => m * power >= number * (1 - 1e-9)) * power;
}

/** The axis of a set. It stays the same, whatever is drawn. */
export function axisOf({ found, total }) {
  const score = sum(found) / sum(total);
  const own = found.map((f, i) => f / total[i]);
  const error = Math.sqrt(sum(found.map((f, i) => (f - score * total[i]) ** 2))) / sum(total);
  const few = found.length <= LISTED; // then a draw of one sentence, again and again, does happen
  let [low, high] = few ? [Math.min(...own), Math.max(...own)] : [score - 4 * error, score + 4 * error];
  if (high - low < 1e-6) [low, high] = [score - 0.05, score + 0.05]; // all sentences are alike
  [low, high] = [Math.max(0, low), Math.min(1, high)];
  const step = roundStep((high - low) / 5);
  const [first, last] = [Math.floor(low / step + 1e-9), Math.ceil(high / step - 1e-9)];
  const ticks = Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
  return { ticks, places: Math.max(1, -Math.floor(Math.log10(step))), low: first * step, high: last * step };
}

/** For each bar: the scores that stay, and those that are left out. */
function barsOf(axis, scores, marked) {
  const count = PER_STEP * (axis.ticks.length - 1);
  const bars = Array.from({ length: count }, () => [0, 0]);
  const { sorted, k } = interval(scores);
  sorted.forEach((score, i) => {
    const place = Math.floor(((score - axis.low) / (axis.high - axis.low)) * count + 1e-9);
    const out = marked && (i < k || i >= sorted.length - k);
    bars[Math.min(count - 1, Math.max(0, place))][out ? 1 : 0] += 1;
  });
  return bars;
}

/** How high the drawing reaches: a round number of draws. */
function ceiling(highest) {
  if (highest <= 4) return 4;
  const power = 10 ** Math.floor(Math.log10(highest));
  return [1, 1.2, 1.6, 2, 3, 4, 6, 8, 10].find((m) => m * power >= highest) * power;
}

const fraction = ({ found, total }) => `${found}/${total} = ${digits(found / total, 3)}`;
const thousands = (number) => number.toLocaleString("en");
const counted = (number, name) => `${thousands(number)} ${name}${number === 1 ? "" : "s"}`;

/** What the figure shows of one sentence, or of one count: a row, with a name and cells. */
const row = (name, cells, quiet) =>
  html("tr", quiet ? { class: "tc-none" } : {}, html("th", { scope: "row" }, name), ...cells.map((cell) => html("td", {}, cell)));

/** The table of the last draw: its sentences, or how many sentences came up how often. */
function table(set, last) {
  const heads = (titles) => html("tr", {}, ...titles.map((title) => (title ? html("th", { scope: "col" }, title) : html("td"))));
  if (set.found.length <= LISTED) {
    const rows = set.found.map((found, i) => {
      const times = last ? last.times[i] : null;
      return row(String(i), [String(found), String(set.total[i]), last ? `\u00D7${times}` : ""], times === 0);
    });
    return [html("thead", {}, heads(["sentence", "found", "written", "last draw"])), html("tbody", {}, ...rows)];
  }
  const rows = ["0 times", "once", "twice", "3+ times"].map((name, often) => {
    const number = last ? last.times.filter((t) => (often < 3 ? t === often : t >= 3)).length : 0;
    const bar = html("span", { class: "tc-bar", "aria-hidden": "true" });
    bar.style.setProperty("--share", number / set.found.length);
    return row(name, [last ? thousands(number) : "", bar], last && number === 0);
  });
  return [html("thead", {}, heads(["last draw", "sentences", ""])), html("tbody", {}, ...rows)];
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
  const along = (low, high) => (x) => LEFT + ((Math.min(high, Math.max(low, x)) - low) / (high - low)) * (WIDTH - LEFT - RIGHT);
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
  const centre = Math.min(WIDTH - 2 * least, Math.max(2 * least, (across(low) + across(high)) / 2));
  const ends = [Math.min(across(low), centre - least), Math.max(across(high), centre + least)];
  [low, high].forEach((end, i) => svg(drawing, "text", { class: "tc-end", x: ends[i], y: ENDS, "text-anchor": "middle" }, digits(end, 3)));
  svg(drawing, "path", { class: "tc-middle", d: `M${wholly(low)},${WHOLE}H${Math.max(wholly(high), wholly(low) + 3)}` });
}

function render({ model, el }) {
  made += 1;
  const sets = model.get("sets");
  const set = (changes) => {
    for (const [name, value] of Object.entries(changes)) model.set(name, value);
    model.save_changes();
  };
  const choices = sets.map(({ name }, i) => {
    const input = html("input", { type: "radio", name: `tc-set-${made}`, value: i });
    return { input, label: html("label", {}, input, name) };
  });
  const once = html("button", { type: "button" }, "Draw once");
  const many = html("button", { type: "button" }, `Draw ${MANY} times`);
  const again = html("button", { type: "button" }, "Start again");
  const sentences = html("table");
  const facts = { measured: fact("measured", "test set"), last: fact("last", "last draw"), middle: fact("middle", "middle 95 %") };
  const drawing = document.createElementNS(SVG, "svg");
  drawing.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
  drawing.setAttribute("role", "img");
  const told = html("p", { class: "tc-result", role: "status" });
  const root = html(
    "div",
    { class: "tc-widget tc-redraw", role: "group", "aria-label": "A test set, drawn again" },
    html("fieldset", {}, html("legend", {}, "Test set"), ...choices.map((c) => c.label)),
    html("div", { class: "tc-buttons" }, once, many, again),
    html("div", { class: "tc-panels" }, sentences, html("div", {}, ...Object.values(facts).map((f) => f.element))),
    drawing,
    html("p", { class: "tc-note" }, "Upper axis: the score of a draw. Lower axis: the whole scale, from 0 to 1."),
    told,
  );
  el.replaceChildren(root);
  keepKeys(root);

  let kept = null; // what is drawn already: the next draws are added to it

  /** All draws so far of the chosen set. */
  function drawn() {
    const [chosen, seed] = [model.get("chosen"), model.get("seed")];
    const draws = Math.min(MOST, model.get("draws"));
    if (kept?.chosen !== chosen || kept.seed !== seed || kept.scores.length > draws) {
      kept = { chosen, seed, place: randomPlaces(seed), scores: [], last: null };
    }
    while (kept.scores.length < draws) {
      kept.last = redraw(sets[chosen], kept.place);
      kept.scores.push(kept.last.found / kept.last.total);
    }
    return kept;
  }

  function draw() {
    const { chosen, scores, last } = drawn();
    const now = sets[chosen];
    const measured = { found: sum(now.found), total: sum(now.total) };
    const axis = axisOf(now);
    const middle = scores.length >= FEWEST ? interval(scores) : null;
    choices.forEach(({ input }, i) => (input.checked = i === chosen));
    for (const button of [once, many]) button.disabled = scores.length >= MOST;
    sentences.replaceChildren(...table(now, last));
    facts.measured.number.textContent = fraction(measured);
    facts.last.number.textContent = last ? fraction(last) : "none yet";
    facts.middle.number.textContent = middle ? `${digits(middle.low, 3)} to ${digits(middle.high, 3)}` : `from ${FEWEST} draws on`;
    paint(drawing, { axis, score: measured.found / measured.total, last, scores, middle });
    const reach = [axis.low, axis.high].map((end) => digits(end, axis.places)).join(" to ");
    drawing.setAttribute("aria-label", `Histogram: the scores of ${counted(scores.length, "draw")}, on an axis from ${reach}`);
    told.textContent = sentence(now, scores, middle);
  }

  choices.forEach(({ input }, i) => input.addEventListener("change", () => set({ chosen: i })));
  once.addEventListener("click", () => set({ draws: Math.min(MOST, model.get("draws") + 1) }));
  many.addEventListener("click", () => set({ draws: Math.min(MOST, model.get("draws") + MANY) }));
  again.addEventListener("click", () => set({ draws: 0, seed: model.get("seed") + 1 }));
  return follow(model, ["chosen", "seed", "draws"], draw);
}

/** What there is to see, in a sentence. */
function sentence({ found }, scores, middle) {
  const n = found.length;
  if (!scores.length) return `Nothing is drawn yet. A draw takes ${counted(n, "sentence")} out of ${thousands(n)}, and each is put back before the next.`;
  const draws = counted(scores.length, "draw");
  if (!middle) {
    const [low, high] = [Math.min(...scores), Math.max(...scores)].map((score) => digits(score, 3));
    const reach = low === high ? `a score of ${low}` : `scores from ${low} to ${high}`;
    return `${draws}: ${reach}. From ${FEWEST} draws on, you see the middle 95 %.`;
  }
  const [low, high] = [middle.low, middle.high].map((score) => digits(score, 3));
  const points = digits(100 * (Number(high) - Number(low)), 1); // as a reader would subtract them
  const left = `${thousands(middle.k)} ${middle.k === 1 ? "score is" : "scores are"} left out at each end (grey).`;
  return `${draws}: the middle 95 % reach from ${low} to ${high}, ${points} points. ${left}`;
}

export default { render };
