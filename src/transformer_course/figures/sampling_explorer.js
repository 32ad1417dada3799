// The figure "temperature, top-k, top-p". All is computed here, in the browser, from the stored log-probabilities:
// it needs no Python once the page is open.

const SHOWN = 12; // tokens with a row of their own
const NAMES = ["temperature", "top_k", "top_p", "seed"];

/** A row of the table: before, now, both as bars, and how often it was drawn. */
function tokenRow(name) {
  const [before, now, times] = [numberCell(), numberCell(), numberCell()];
  const bars = html("td", { class: "tc-bars" }, html("span", { class: "tc-was" }), html("span", { class: "tc-is" }));
  return { before, now, bars, times, row: namedRow(name, [before, now, bars, times]) };
}

function render({ model, el }) {
  const [logits, pieces] = ["logits", "pieces"].map((name) => model.get(name));
  const set = (changes) => change(model, changes);
  const plain = softmax(logits);
  const counts = countsFor(logits.length);
  const temperature = slider("temperature T", [0.1, 3, 0.1], (t) => set({ temperature: t, seed: 0 }));
  const topK = slider("top-k", [0, counts.length - 1, 1], (i) => set({ top_k: counts[i], seed: 0 }));
  const topP = slider("top-p", [0.05, 1, 0.05], (p) => set({ top_p: p, seed: 0 }));
  const draws = button(`Draw ${DRAWS}`, () => set({ seed: model.get("seed") + 1 }));
  const again = button("Start again", () => set({ temperature: 1, top_k: 0, top_p: 1, seed: 0 }));
  const count = Math.min(SHOWN, pieces.length);
  const names = pieces.slice(0, count).map((piece) => piece.replaceAll("\u2581", ""));
  if (logits.length > count) names.push(`${logits.length - count} others`);
  const rows = names.map(tokenRow);
  const told = verdict();
  mount(
    el,
    "tc-sampling",
    "Temperature, top-k and top-p",
    html("p", { class: "tc-context" }, model.get("context")),
    html("div", { class: "tc-sliders" }, temperature.label, topK.label, topP.label),
    html("div", { class: "tc-buttons" }, draws, again),
    tableOf(["next token", "model", "now", "", "drawn"], rows.map((r) => r.row)).element,
    told,
  );

  function draw() {
    const { temperature: t, top_k: k, top_p: p, seed } = read(model, NAMES);
    const probs = distribution(logits, t, k, p);
    const [was, is] = [plain, probs].map((numbers) => grouped(numbers, count));
    const found = seed ? grouped(drawn(probs, DRAWS, seed), count) : null;
    temperature.show(t, digits(t, 1));
    topK.show(counts.indexOf(k), k ? String(k) : "all");
    topP.show(p, digits(p, 2));
    rows.forEach(({ before, now, bars, times, row }, i) => {
      before.textContent = digits(was[i], 3);
      now.textContent = digits(is[i], 3);
      bars.style.setProperty("--was", was[i]);
      bars.style.setProperty("--is", is[i]);
      times.textContent = found ? String(found[i]) : "";
      row.classList.toggle("tc-cut", is[i] === 0);
    });
    told.textContent = sentence(probs, names[0], found ? found[0] : null);
  }

  return follow(model, NAMES, draw);
}

export default { render };
