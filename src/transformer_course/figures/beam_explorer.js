// The figure "beam search, step by step". All is computed here, in the browser, from the stored log-probabilities:
// it needs no Python once the page is open.

const [WIDTH, BOX, TAG, GAP, TOP] = [600, 54, 26, 18, 6]; // units of the drawing

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

/** A table with a caption. */
function captioned(caption, titles) {
  const { element, body } = tableOf(titles);
  element.prepend(html("caption", {}, caption));
  return { element, body };
}

/** Fill a table; the first cell of a row is text, all others numbers. */
function fill(body, rows) {
  body.replaceChildren(
    ...rows.map(({ cells: [first, ...others], kind }) => namedRow(first, others.map(numberCell), { class: kind })),
  );
}

function render({ model, el }) {
  const trees = model.get("trees");
  const choice = menu("sentence", (i) => change(model, { tree: i, step: 1 }));
  const beam = slider("beam", [1, 5, 1], (value) => change(model, { beam: value }));
  const alpha = slider("length penalty \u03B1", [0, 2, 0.1], (value) => change(model, { alpha: value }));
  const goTo = (place) => () => change(model, { step: place(model.get("step")) });
  const again = button("Start again", goTo(() => 0));
  const back = button("Back", goTo((step) => Math.min(step, stepsNow().length) - 1));
  const next = button("Next step", goTo((step) => step + 1));
  const all = button("To the end", goTo(() => stepsNow().length));
  const right = html("p", { class: "tc-quiet" });
  const drawing = canvas({ role: "img" });
  const told = verdict();
  const candidates = captioned("Candidates of this step", ["beginning", "ln p of the new word", "sum", ""]);
  const finished = captioned("Finished", ["translation", "sum", "tokens", "score"]);
  mount(
    el,
    "tc-beam",
    "Beam search, step by step",
    choice.label,
    right,
    html("div", { class: "tc-sliders" }, beam.label, alpha.label),
    html("div", { class: "tc-buttons" }, again, back, next, all),
    told,
    drawing,
    candidates.element,
    finished.element,
  );

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
    choice.show(trees.map(({ name }) => name), model.get("tree"));
    beam.show(width, String(width));
    alpha.show(strength, digits(strength, 1));
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

  return follow(model, ["tree", "beam", "alpha", "step"], draw);
}

export default { render };
