// The figure "who sees whom in four families". All is computed here, in the browser, from the state that the
// notebook stores: it needs no Python once the page is open.

const AIMS = ["guess the next token", "guess hidden tokens"]; // in the order of OBJECTIVES
const DEPTHS = ["1 layer", "2 layers"];
const CHANGING = ["family", "objective", "layers", "spared", "token"];
const STATE = ["tokens", "hidden", "start", "end", ...CHANGING];
const SIGNS = [
  ["tc-seen", "", "sees"],
  ["tc-hidden", "", "may not see"],
  ["tc-hidden", "?", "its answer, not seen"],
  ["tc-seen tc-leak", "!", "its answer, seen: a leak"],
  ["tc-hidden tc-leak", "!", "its answer, heard of: a leak"],
  ["tc-none", "", "no such attention"],
];

/** The look of a square: one of the signs. */
function look({ mask, guesses, leaks }, q, k) {
  const [seen, hidden, answer, leak, heard, none] = SIGNS;
  if (mask[q][k] === null) return none;
  if (guesses[q]?.at !== k) return mask[q][k] ? seen : hidden;
  if (!leaks.includes(q)) return answer;
  return mask[q][k] ? leak : heard;
}

/** What the signs mean that are to be seen. */
function legendOf(signs) {
  return signs.map(([kind, sign, words]) =>
    html("li", {}, html("span", { class: `tc-sign ${kind}`, "aria-hidden": "true" }, html("span", {}, sign)), words),
  );
}

function render({ model, el }) {
  const tokens = model.get("tokens");
  const families = choices("Family", "family", FAMILIES, (i) => change(model, { family: FAMILIES[i] }));
  const aims = choices("Objective", "aim", AIMS, (i) => change(model, { objective: OBJECTIVES[i] }));
  const depths = choices("Depth", "depth", DEPTHS, (i) => change(model, { layers: i + 1 }));
  const spare = tick("hide the answers\u2019 squares", (on) => change(model, { spared: on }));
  const names = tokens.map(() => html("span", {}));
  const asking = choices("Choose a token: whom does it see?", "asks", names, (i) => change(model, { token: i }));
  const rows = tokens.map((_, q) => {
    const squares = tokens.map(() => html("td", {}));
    const answer = html("td", { class: "tc-answer" });
    const element = namedRow(asking.labels[q], [...squares, answer]);
    const point = () => model.get("token") !== q && change(model, { token: q });
    element.addEventListener("click", point);
    element.addEventListener("pointerover", (event) => event.pointerType === "mouse" && point());
    return { element, squares, answer };
  });
  const titles = ["query\u00a0\u2193 key\u00a0\u2192", ...tokens, "must guess"];
  const { element: table } = tableOf(titles, rows.map(({ element }) => element));
  const heads = [...table.tHead.rows[0].cells].slice(1, -1);
  asking.element.append(table);
  const legend = html("ul", { class: "tc-legend", "aria-label": "Signs" });
  const [made, said, result] = [html("p", { class: "tc-made" }), verdict(), verdict()];
  mount(
    el,
    "tc-families",
    "Who sees whom in four families",
    families.element,
    aims.element,
    html("div", { class: "tc-more" }, depths.element, spare.label),
    asking.element,
    legend,
    said,
    made,
    result,
  );

  function draw() {
    const state = read(model, STATE);
    const { family, objective, layers, spared, token, start } = state;
    const now = judged(state);
    families.show(FAMILIES.indexOf(family));
    aims.show(OBJECTIVES.indexOf(objective));
    depths.show(layers - 1);
    spare.show(spared);
    spare.label.firstChild.disabled = objective === "hidden"; // its answers stand nowhere
    asking.show(token);
    const last = { [BOTH]: start - 1, [PREFIX]: start }[family]; // of the source, or the prompt
    const signs = rows.map((_, q) => tokens.map((_, k) => look(now, q, k)));
    legend.replaceChildren(...legendOf(SIGNS.filter((sign) => signs.flat().includes(sign))));
    rows.forEach(({ element, squares, answer }, q) => {
      names[q].textContent = now.reads[q];
      element.classList.toggle("tc-chosen", q === token);
      squares.forEach((square, k) => {
        const [kind, sign, words] = signs[q][k];
        square.className = kind + (k === last ? " tc-right" : "") + (q === last ? " tc-bottom" : "");
        square.replaceChildren(html("span", { "aria-hidden": "true" }, sign), html("span", { class: "tc-heard" }, words));
      });
      answer.textContent = now.guesses[q] ? now.guesses[q].word : "\u2013";
    });
    heads.forEach((head, k) => {
      head.replaceChildren(html("span", now.reads[k].length > 1 ? { class: "tc-long" } : {}, now.reads[k]));
      head.className = now.mask[token][k] ? "tc-key-head tc-looked-at" : "tc-key-head";
    });
    said.textContent = seenBy(state, token);
    made.textContent = `${family[0].toUpperCase()}${family.slice(1)} is made ${MADE_FOR[family]}.`;
    const [short, rest] = verdictOf(state);
    result.replaceChildren(html("b", {}, short), ` ${rest}`);
    result.classList.toggle("tc-bad", now.leaks.length > 0);
    result.classList.toggle("tc-fits", fits(now));
  }

  return follow(model, CHANGING, draw);
}

export default { render };
