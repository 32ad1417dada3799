// The figure "six steps of self-attention". All is computed here, in the browser, from the state that the
// notebook stores: it needs no Python once the page is open.

/** One step: a heading, a sentence, and a table with a row for each word and some columns. */
function card(title, words, columns) {
  const sentence = html("p", { class: "tc-say" });
  const rows = words.map((word) => {
    const cells = columns.map(() => html("td"));
    return { row: namedRow(word, cells), cells };
  });
  const { element: table, body } = tableOf(["word", ...columns.map(([name]) => name)], rows.map((r) => r.row));
  columns.forEach(([, meaning], i) => table.tHead.rows[0].cells[i + 1].setAttribute("class", meaning));
  const heading = html("p", { class: "tc-title" }, title);
  const element = html("li", { class: "tc-card" }, heading, sentence, ...(columns.length ? [table] : []));
  return { element, sentence, body, rows };
}

const [OF_QUERY, OF_KEY, OF_VALUE] = ["tc-of-query", "tc-of-key", "tc-of-value"];

function render({ model, el }) {
  const [words, x] = [model.get("words"), model.get("vectors")];
  const [query, key, value] = ["w_query", "w_key", "w_value"].map((name) => model.get(name));
  const names = words.map((word) => html("span", {}, word));
  const asker = choices("Choose the word that asks:", "words", names, (i) => change(model, { chosen: i }));
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
  const shared = tick("keys by the queries\u2019 matrix, one for both", (on) => change(model, { shared: on }));
  const turn = button("Turn the word order round", () => change(model, { order: [...model.get("order")].reverse() }));
  const result = verdict();
  mount(
    el,
    "tc-steps",
    "Six steps of self-attention",
    asker.element,
    html("div", { class: "tc-row" }, shared.label, turn),
    result,
    html("ol", { class: "tc-cards" }, ...cards.map((c) => c.element)),
  );

  /** Put the words, everywhere, into the order of the sentence. */
  function arrange() {
    const order = model.get("order");
    asker.element.append(...order.map((i) => asker.labels[i]));
    for (const { body, rows } of cards) body.append(...order.map((i) => rows[i].row));
  }

  function draw() {
    const [i, same] = [model.get("chosen"), model.get("shared")];
    const matrices = { query, key: same ? query : key, value };
    const now = steps(x, matrices, i);
    const word = words[i];
    asker.show(i);
    shared.show(same);
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
    result.textContent = sentence(words, x, matrices, i);
  }

  const stops = [follow(model, ["order"], arrange), follow(model, ["chosen", "shared"], draw)];
  return () => stops.forEach((stop) => stop());
}

export default { render };
