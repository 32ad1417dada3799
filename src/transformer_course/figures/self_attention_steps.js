// The figure "six steps of self-attention". All is computed here, in the browser, from the state that the
// notebook stores: it needs no Python once the page is open.

/** One row of X times a matrix. */
function project(x, matrix) {
  return matrix[0].map((_, column) => dot(x, matrix.map((row) => row[column])));
}

/** All six steps for one word: i is the place of the word that asks. */
export function steps(x, { query, key, value }, i) {
  const q = project(x[i], query);
  const keys = x.map((row) => project(row, key));
  const values = x.map((row) => project(row, value));
  const scores = keys.map((k) => dot(q, k));
  const scaled = scores.map((score) => score / Math.sqrt(q.length));
  const weights = softmax(scaled);
  const weighted = values.map((v, j) => v.map((number) => weights[j] * number));
  const output = weighted[0].map((_, axis) => weighted.reduce((sum, v) => sum + v[axis], 0));
  return { q, keys, values, scores, scaled, weights, weighted, output };
}

/** Whole numbers as they are, others with two digits. */
function brief(number) {
  return digits(number, Number.isInteger(number) ? 0 : 2);
}

function vector(numbers) {
  return `(${numbers.map(brief).join(", ")})`;
}

/** A product of two vectors, written out: 2·1 + 0·3. */
function written(a, b) {
  return a.map((number, i) => `${brief(number)}\u00b7${brief(b[i])}`).join(" + ");
}

/** One step: a heading, a sentence, and a table with a row for each word and some columns. */
function card(title, words, columns) {
  const sentence = html("p", { class: "tc-say" });
  const head = html("tr", {}, html("th", { scope: "col" }, "word"));
  for (const [name, meaning] of columns) {
    head.append(html("th", { scope: "col", class: meaning }, name));
  }
  const rows = words.map((word) => {
    const cells = columns.map(() => html("td"));
    return { row: html("tr", {}, html("th", { scope: "row" }, word), ...cells), cells };
  });
  const body = html("tbody", {}, ...rows.map((r) => r.row));
  const table = html("table", {}, html("thead", {}, head), body);
  const heading = html("p", { class: "tc-title" }, title);
  const element = html("li", { class: "tc-card" }, heading, sentence, ...(columns.length ? [table] : []));
  return { element, sentence, body, rows };
}

/** The words as native radio buttons: a click, a touch or the arrow keys choose the one that asks. */
function chooser(words) {
  const set = html("fieldset", { class: "tc-words" }, html("legend", {}, "Choose the word that asks:"));
  const inputs = words.map((word, i) => {
    const input = html("input", { type: "radio", name: "word", value: i, autocomplete: "off" });
    const label = html("label", {}, input, html("span", {}, word));
    set.append(label);
    return { input, label };
  });
  return { set, inputs };
}

const [OF_QUERY, OF_KEY, OF_VALUE] = ["tc-of-query", "tc-of-key", "tc-of-value"];

function render({ model, el }) {
  const [words, x] = [model.get("words"), model.get("vectors")];
  const [query, key, value] = ["w_query", "w_key", "w_value"].map((name) => model.get(name));
  const { set, inputs } = chooser(words);
  const divisor = `\u221Ad\u2096 = \u221A${query[0].length}`;
  const cards = [
    card("Query, keys, values", words, [["key", OF_KEY], ["value", OF_VALUE]]),
    card("Scores", words, [["query \u00b7 key", OF_QUERY], ["score", ""]]),
    card(`Divide by ${divisor}`, words, [["scaled score", ""]]),
    card("Softmax", words, [["weight", ""]]),
    card("Weight times value", words, [["weight \u00b7 value", ""], ["weighted value", OF_VALUE]]),
    card("Sum", words, []),
  ];
  const bars = cards[3].rows.map(({ cells }) => {
    const bar = share();
    cells[0].append(bar.element);
    return bar;
  });
  const output = html("p", { class: "tc-sum" });
  cards[5].element.append(output);
  const shared = html("input", { type: "checkbox", autocomplete: "off" });
  const turn = html("button", { type: "button" }, "Turn the word order round");
  const sharing = html("label", { class: "tc-tick" }, shared, "keys by the queries\u2019 matrix, one for both");
  const result = html("p", { class: "tc-result", role: "status" });
  const form = html("form", { class: "tc-widget tc-steps", "aria-label": "Six steps of self-attention" });
  form.append(set, html("div", { class: "tc-row" }, sharing, turn), result);
  form.append(html("ol", { class: "tc-cards" }, ...cards.map((c) => c.element)));
  el.replaceChildren(form);

  /** Put the words, everywhere, into the order of the sentence. */
  function arrange() {
    const order = model.get("order");
    set.append(...order.map((i) => inputs[i].label));
    for (const { body, rows } of cards) body.append(...order.map((i) => rows[i].row));
  }

  function draw() {
    const [i, same] = [model.get("chosen"), model.get("shared")];
    const matrices = { query, key: same ? query : key, value };
    const now = steps(x, matrices, i);
    const word = words[i];
    inputs.forEach(({ input }, j) => (input.checked = j === i));
    shared.checked = same;
    const tell = (n, text) => (cards[n].sentence.textContent = text);
    const fill = (n, column, text) =>
      cards[n].rows.forEach(({ cells }, j) => (cells[column].textContent = text(j)));
    tell(0, `${word} is x = ${vector(x[i])}. Its query is ${vector(now.q)}.`);
    fill(0, 0, (j) => vector(now.keys[j]));
    fill(0, 1, (j) => vector(now.values[j]));
    tell(1, `The query of ${word} meets each key.`);
    fill(1, 0, (j) => written(now.q, now.keys[j]));
    fill(1, 1, (j) => brief(now.scores[j]));
    tell(2, "So that wide vectors don\u2019t make large scores.");
    fill(2, 0, (j) => brief(now.scaled[j]));
    tell(3, "Positive shares that sum to 1.");
    bars.forEach((bar, j) => bar.show(now.weights[j]));
    tell(4, "Each value, made smaller by its weight.");
    fill(4, 0, (j) => `${digits(now.weights[j], 2)} \u00b7 ${vector(now.values[j])}`);
    fill(4, 1, (j) => vector(now.weighted[j]));
    tell(5, `All weighted values, added up: the new vector of ${word}.`);
    output.textContent = point(now.output, 2);
    const best = now.weights.indexOf(Math.max(...now.weights));
    const back = steps(x, matrices, best).scores[i];
    result.textContent =
      `\u201c${word}\u201d looks most at \u201c${words[best]}\u201d (${digits(now.weights[best], 3)}). ` +
      (best === i
        ? "That is itself."
        : `The score is ${brief(now.scores[best])}; the other way round it is ${brief(back)}.`);
  }

  const save = (name, to) => {
    model.set(name, to);
    model.save_changes();
  };
  inputs.forEach(({ input }, i) => input.addEventListener("change", () => save("chosen", i)));
  shared.addEventListener("change", () => save("shared", shared.checked));
  turn.addEventListener("click", () => save("order", [...model.get("order")].reverse()));
  form.addEventListener("submit", (event) => event.preventDefault());
  keepKeys(form);
  const watched = { "change:chosen": draw, "change:shared": draw, "change:order": arrange };
  for (const [name, action] of Object.entries(watched)) model.on(name, action);
  arrange();
  draw();
  return () => {
    for (const [name, action] of Object.entries(watched)) model.off(name, action);
  };
}

export default { render };
