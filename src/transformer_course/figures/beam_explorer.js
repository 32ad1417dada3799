// The figure "beam search, step by step". All is computed here, in the browser, from the stored log-probabilities:
// it needs no Python once the page is open.

const END = "</s>";
const [WIDTH, BOX, TAG, GAP, TOP] = [600, 54, 26, 18, 6]; // units of the drawing

/** What the sum of log-probabilities is divided by. */
export function penalty(length, alpha) {
  return ((5 + length) / 6) ** alpha;
}

/** The text that pieces spell; "\u2581" stands for a space. */
export function spelled(pieces) {
  return pieces
    .filter((piece) => piece !== END)
    .join("")
    .replaceAll("\u2581", " ")
    .trim();
}

/** Whether no open beginning can become the best any more. */
function over(finished, best, beam, length, alpha, maxLen) {
  if (finished.length < beam) return false;
  if (beam === 1) return true;
  const bound = best / penalty(alpha > 0 ? maxLen : length, alpha);
  return Math.max(...finished.map((f) => f.score)) >= bound;
}

/** All steps of a beam search: its candidates with what becomes of them, what is kept, what is finished. */
export function searched(branches, beam, alpha, maxLen) {
  let kept = [{ pieces: [], total: 0 }];
  const finished = [];
  const steps = [];
  for (let length = 1; length <= maxLen; length += 1) {
    const all = kept.flatMap(({ pieces, total }, parent) =>
      (branches[pieces.join(" ")] ?? []).map(([piece, logProb]) => ({
        pieces: [...pieces, piece],
        parent,
        logProb,
        total: total + logProb,
      })),
    );
    const candidates = all.sort((a, b) => b.total - a.total).slice(0, 2 * beam);
    let open = 0;
    candidates.forEach((candidate, rank) => {
      if (candidate.pieces.at(-1) === END) {
        candidate.fate = rank < beam ? "ends" : "dropped";
        if (rank < beam) finished.push({ ...candidate, length, score: candidate.total / penalty(length, alpha) });
      } else {
        candidate.fate = open < beam ? "stays" : "dropped";
        open += 1;
      }
    });
    if (beam === 1 && finished.length) candidates.forEach((c) => c.fate === "stays" && (c.fate = "dropped"));
    kept = candidates.filter((candidate) => candidate.fate === "stays");
    const done = over(finished, kept[0]?.total ?? -Infinity, beam, length, alpha, maxLen);
    const last = done || length === maxLen || kept.length === 0;
    if (last && !done) {
      const room = kept.slice(0, Math.max(0, beam - finished.length));
      finished.push(...room.map((k) => ({ ...k, length, cut: true, score: k.total / penalty(length, alpha) })));
    }
    const ranked = [...finished].sort((a, b) => b.score - a.score);
    steps.push({ candidates, kept, finished: ranked, end: last ? (done ? "done" : "limit") : "" });
    if (last) break;
  }
  return steps;
}

/** One cell of the drawing: a box with a token and its sum. */
function node(parent, x, y, width, piece, total, kind) {
  const group = svg(parent, "g", { class: `tc-node ${kind}` });
  svg(group, "rect", { x: x - width / 2, y, width, height: BOX, rx: 6 });
  const shown = piece.replaceAll("\u2581", "");
  const word = svg(group, "text", { x, y: y + 24, "text-anchor": "middle", class: "tc-word" }, shown);
  if (shown.length * 15 > width - 8) word.setAttribute("textLength", width - 8), word.setAttribute("lengthAdjust", "spacingAndGlyphs");
  if (total !== null) svg(group, "text", { x, y: y + 47, "text-anchor": "middle" }, digits(total, 2));
}

/** Draw the beginnings kept at each step, one row a step; a green tag where a sentence ended. */
function drawTree(drawing, steps, beam, maxRows) {
  drawing.replaceChildren();
  const room = WIDTH / Math.max(beam, 2);
  const width = Math.min(room - 10, 150);
  const row = BOX + TAG + GAP;
  const place = (i, count) => WIDTH / 2 + (i - (count - 1) / 2) * room;
  drawing.setAttribute("viewBox", `0 0 ${WIDTH} ${TOP + (maxRows + 1) * row - GAP}`);
  const last = steps.at(-1);
  const winner = last?.end ? last.finished[0] : null;
  const onPath = (pieces) => winner && pieces.every((piece, i) => piece === winner.pieces[i]);
  const lines = svg(drawing, "g");
  let above = [{ pieces: [], total: null, x: WIDTH / 2 }];
  node(drawing, WIDTH / 2, TOP, width, "<s>", null, winner ? "tc-best" : "");
  steps.forEach(({ candidates, kept }, t) => {
    const y = TOP + (t + 1) * row;
    const ended = candidates.filter((candidate) => candidate.fate === "ends");
    for (const { parent, pieces, total } of ended) {
      const best = winner && onPath(pieces) && pieces.length === winner.pieces.length;
      const group = svg(drawing, "g", { class: best ? "tc-tag tc-best" : "tc-tag" });
      const left = above[parent].x - width / 2;
      svg(group, "rect", { x: left + 4, y: y - row + BOX, width: width - 8, height: TAG, rx: 4 });
      const middle = { x: above[parent].x, y: y - row + BOX + 20, "text-anchor": "middle" };
      svg(group, "text", middle, `${END} ${digits(total, 2)}`);
    }
    const tagged = new Set(ended.map(({ parent }) => parent));
    above = kept.map((candidate, i) => {
      const x = place(i, kept.length);
      const best = onPath(candidate.pieces);
      const from = above[candidate.parent];
      const start = y - row + BOX + (tagged.has(candidate.parent) ? TAG : 0);
      const path = `M${from.x},${start}C${from.x},${start + 22} ${x},${y - 22} ${x},${y}`;
      svg(lines, "path", { d: path, class: best ? "tc-edge tc-best" : "tc-edge" });
      const kind = best ? "tc-best" : t === steps.length - 1 && !winner ? "tc-new" : "";
      node(drawing, x, y, width, candidate.pieces.at(-1), candidate.total, kind);
      return { ...candidate, x };
    });
  });
}

/** A table with a heading for each column. */
function table(caption, titles) {
  const head = html("tr", {}, ...titles.map((title) => html("th", { scope: "col" }, title)));
  const body = html("tbody");
  return { element: html("table", {}, html("caption", {}, caption), html("thead", {}, head), body), body };
}

/** Fill a table; the first cell of a row is text, all others numbers. */
function fill(body, rows) {
  body.replaceChildren(
    ...rows.map(({ cells: [first, ...others], kind }) =>
      html(
        "tr",
        { class: kind },
        html("th", { scope: "row" }, first),
        ...others.map((cell) => html("td", { class: "tc-number" }, cell)),
      ),
    ),
  );
}

/** A slider with its name and its value. */
function slider(name, attributes) {
  const input = html("input", { type: "range", ...attributes });
  const value = html("span", { class: "tc-number" });
  return { input, value, label: html("label", { class: "tc-slider" }, html("span", {}, name), input, value) };
}

function render({ model, el }) {
  const trees = model.get("trees");
  const set = (changes) => {
    for (const [name, value] of Object.entries(changes)) model.set(name, value);
    model.save_changes();
  };
  const choice = html("select", {}, ...trees.map((tree, i) => html("option", { value: i }, tree.name)));
  const beam = slider("beam", { min: 1, max: 5, step: 1 });
  const alpha = slider("length penalty \u03B1", { min: 0, max: 2, step: 0.1 });
  const [again, back, next, all] = ["Start again", "Back", "Next step", "To the end"].map((name) =>
    html("button", { type: "button" }, name),
  );
  const right = html("p", { class: "tc-quiet" });
  const drawing = document.createElementNS(SVG, "svg");
  drawing.setAttribute("role", "img");
  const told = html("p", { class: "tc-result", role: "status" });
  const candidates = table("Candidates of this step", ["beginning", "ln p of the new word", "sum", ""]);
  const finished = table("Finished", ["translation", "sum", "tokens", "score"]);
  const root = html(
    "div",
    { class: "tc-widget tc-beam", role: "group", "aria-label": "Beam search, step by step" },
    html("label", { class: "tc-choice" }, html("span", {}, "sentence"), choice),
    right,
    html("div", { class: "tc-sliders" }, beam.label, alpha.label),
    html("div", { class: "tc-buttons" }, again, back, next, all),
    told,
    drawing,
    candidates.element,
    finished.element,
  );
  el.replaceChildren(root);
  keepKeys(root);

  const stepsNow = () => {
    const tree = trees[model.get("tree")];
    return searched(tree.branches, model.get("beam"), model.get("alpha"), tree.max_len);
  };

  function draw() {
    const tree = trees[model.get("tree")];
    const [width, strength] = [model.get("beam"), model.get("alpha")];
    const steps = stepsNow();
    const at = Math.min(model.get("step"), steps.length);
    const seen = steps.slice(0, at);
    choice.value = model.get("tree");
    beam.input.value = width;
    beam.value.textContent = String(width);
    alpha.input.value = strength;
    alpha.value.textContent = digits(strength, 1);
    right.textContent = tree.right ? `Right: ${tree.right}` : "";
    [again.disabled, back.disabled] = [at === 0, at === 0];
    [next.disabled, all.disabled] = [at === steps.length, at === steps.length];
    drawTree(drawing, seen, width, Math.max(at, 1));
    const text = sentence(seen, width);
    told.textContent = text;
    drawing.setAttribute("aria-label", `Tree of beginnings. ${text}`);
    const now = seen.at(-1);
    fill(
      candidates.body,
      (now?.candidates ?? []).map(({ pieces, logProb, total, fate }) => ({
        kind: `tc-${fate}`,
        cells: [`${spelled(pieces)}${pieces.at(-1) === END ? ` ${END}` : ""}`, digits(logProb, 2), digits(total, 2), fate],
      })),
    );
    fill(
      finished.body,
      (now?.finished ?? []).map(({ pieces, total, length, score, cut }, i) => ({
        kind: i === 0 && now.end ? "tc-winner" : "",
        cells: [spelled(pieces) + (cut ? " \u2026" : ""), digits(total, 2), String(length), digits(score, 2)],
      })),
    );
    candidates.element.hidden = !now;
    finished.element.hidden = !now?.finished.length;
  }

  choice.addEventListener("change", () => set({ tree: Number(choice.value), step: 0 }));
  beam.input.addEventListener("input", () => set({ beam: Number(beam.input.value) }));
  alpha.input.addEventListener("input", () => set({ alpha: Number(alpha.input.value) }));
  again.addEventListener("click", () => set({ step: 0 }));
  back.addEventListener("click", () => set({ step: Math.min(model.get("step"), stepsNow().length) - 1 }));
  next.addEventListener("click", () => set({ step: model.get("step") + 1 }));
  all.addEventListener("click", () => set({ step: stepsNow().length }));
  return follow(model, ["tree", "beam", "alpha", "step"], draw);
}

/** What there is to see, in a sentence. */
function sentence(seen, beam) {
  if (!seen.length) return "Nothing is written yet. Press \u201CNext step\u201D.";
  const { candidates, finished, end } = seen.at(-1);
  const step = `Step ${seen.length}`;
  if (end) {
    const best = finished[0];
    const why = end === "done" ? "no open beginning can beat the best" : "the limit of length is reached";
    return `${step}: ${why}. The answer is \u201C${spelled(best.pieces)}\u201D, score ${digits(best.score, 2)}.`;
  }
  const count = (fate) => candidates.filter((candidate) => candidate.fate === fate).length;
  const ended = count("ends");
  const text = `${step}: of the ${candidates.length} best candidates, ${count("stays")} stay open`;
  return `${text}, ${ended || "none"} end${ended === 1 ? "s" : ""}; the rest is dropped. The beam is ${beam}.`;
}

export default { render };
