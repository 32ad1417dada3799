// The figure "mask-predict, pass by pass". It shows films that the notebook stores: it needs no Python once the page
// is open.

const CHANGING = ["length", "passes", "step"];
const STATE = ["films", "source", ...CHANGING];
const SIGNS = [
  ["tc-new", "written in this pass"],
  ["tc-kept", "kept, with its old probability"],
  ["tc-gap", "guessed again in the next pass"],
];

/** One piece: its ground says how probable it was, its frame and its corner what happens to it. */
function pieceOf(piece, prob, isNew, isGap) {
  const heard = isNew ? "written in this pass" : "kept";
  return html(
    "li",
    { class: `tc-piece ${isNew ? "tc-new" : "tc-kept"}${isGap ? " tc-gap" : ""}`, style: `--share: ${prob}` },
    html("span", { class: "tc-word" }, piece || "\u2423"),
    html("span", { class: "tc-prob" }, digits(prob, 2)),
    html("span", { class: "tc-heard" }, `, ${heard}${isGap ? ", guessed again in the next pass" : ""}; `),
  );
}

function render({ model, el }) {
  const set = (changes) => change(model, changes);
  const { passes: counts, lengths } = offered(model.get("films"));
  const probs = lengths.map((length) => model.get("films").find((film) => film.length === length).prob);
  const names = lengths.map((length, i) => `${length} (${digits(100 * probs[i], 0)} %)`);
  const number = choices("Passes T", "count", counts.map(String), (i) => set(chosen(read(model, STATE), "passes", counts[i])));
  const length = choices("Length", "length", names, (i) => set(chosen(read(model, STATE), "length", lengths[i])));
  const pass = slider("Pass", [0, 0, 1], (t) => set({ step: t }));
  const move = (by) => set({ step: clamp(model.get("step") + by, 0, model.get("passes") - 1) });
  const [back, next] = [button("\u2190 back", () => move(-1)), button("next pass \u2192", () => move(1))];
  const strip = html("ol", { class: "tc-strip", start: 0, "aria-label": "What stands there after each pass" });
  const legend = SIGNS.map(([kind, words]) =>
    html("li", {}, html("span", { class: `tc-piece tc-sign ${kind}`, "aria-hidden": "true" }), words),
  );
  const [said, end] = [verdict(), html("p", { class: "tc-end" })];
  mount(
    el,
    "tc-passes",
    "Mask-predict, pass by pass",
    html("p", { class: "tc-source" }, "Source: ", html("b", { lang: "en" }, model.get("source"))),
    number.element,
    length.element,
    pass.label,
    html("div", { class: "tc-buttons" }, back, next),
    said,
    strip,
    html("ul", { class: "tc-legend", "aria-label": "Signs" }, ...legend),
    end,
  );

  function draw() {
    const state = read(model, STATE);
    const { films, step, passes } = state;
    const film = filmOf(films, state.length, passes);
    number.show(counts.indexOf(passes));
    length.show(lengths.indexOf(state.length));
    pass.input.max = passes - 1;
    pass.show(step, step);
    pass.input.disabled = passes === 1;
    back.disabled = step === 0;
    next.disabled = step === passes - 1;
    const rows = film.frames.slice(0, step + 1).map(({ pieces, probs: told, written }, t) => {
      const gaps = nextGaps(film, t);
      const items = pieces.map((piece, j) => pieceOf(piece, told[j], written[j], gaps[j]));
      const row = html("ol", { class: "tc-frame", lang: "fr", "aria-label": `pass ${t}` }, ...items);
      return html("li", t === step ? { class: "tc-now" } : {}, html("span", { class: "tc-name" }, `pass ${t}`), row);
    });
    strip.replaceChildren(...rows);
    said.textContent = passSentence(state);
    end.textContent = endSentence(state);
  }

  return follow(model, CHANGING, draw);
}

export default { render };
