// The figure "temperature, top-k, top-p". All is computed here, in the browser, from the stored log-probabilities:
// it needs no Python once the page is open.

const SHOWN = 12; // tokens with a row of their own
const DRAWS = 100;
const COUNTS = [1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 40]; // what the slider of k can be, and then "all"

/** What is drawn from: softmax after temperature, cut to the k best, cut to the nucleus, normalised again. */
export function distribution(logits, temperature, k, p) {
  let probs = softmax(logits.map((z) => z / temperature)); // most probable first
  const normalised = (numbers) => {
    const total = numbers.reduce((sum, x) => sum + x, 0);
    return numbers.map((x) => x / total);
  };
  if (k) probs = normalised(probs.map((x, i) => (i < k ? x : 0)));
  let before = 0;
  const kept = probs.map((x) => {
    const stays = p >= 1 || before < p; // rounding must not cut the tail
    before += x;
    return stays ? x : 0;
  });
  return normalised(kept);
}

/** Random numbers from 0 to 1, the same ones for the same seed. */
function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** How often each token is drawn. */
export function drawn(probs, times, seed) {
  const random = randomNumbers(seed);
  const counts = probs.map(() => 0);
  const last = probs.findLastIndex((x) => x > 0);
  for (let i = 0; i < times; i += 1) {
    let left = random();
    const token = probs.findIndex((x) => (left -= x) < 0);
    counts[token < 0 ? last : token] += 1;
  }
  return counts;
}

const sum = (numbers) => numbers.reduce((total, x) => total + x, 0);

/** A slider with its name and its value. */
function slider(name, attributes) {
  const input = html("input", { type: "range", ...attributes });
  const value = html("span", { class: "tc-number" });
  return { input, value, label: html("label", { class: "tc-slider" }, html("span", {}, name), input, value) };
}

function render({ model, el }) {
  const [logits, pieces] = ["logits", "pieces"].map((name) => model.get(name));
  const set = (changes) => {
    for (const [name, value] of Object.entries(changes)) model.set(name, value);
    model.save_changes();
  };
  const plain = softmax(logits);
  const choices = [...COUNTS.filter((k) => k < logits.length), 0];
  const temperature = slider("temperature T", { min: 0.1, max: 3, step: 0.1 });
  const topK = slider("top-k", { min: 0, max: choices.length - 1, step: 1 });
  const topP = slider("top-p", { min: 0.05, max: 1, step: 0.05 });
  const draw100 = html("button", { type: "button" }, `Draw ${DRAWS}`);
  const again = html("button", { type: "button" }, "Start again");
  const count = Math.min(SHOWN, pieces.length);
  const names = pieces.slice(0, count).map((piece) => piece.replaceAll("\u2581", ""));
  if (logits.length > count) names.push(`${logits.length - count} others`);
  const titles = ["next token", "model", "now", "", "drawn"];
  const rows = names.map((name) => {
    const cells = { model: html("td", { class: "tc-number" }), now: html("td", { class: "tc-number" }) };
    const bars = html("td", { class: "tc-bars" }, html("span", { class: "tc-was" }), html("span", { class: "tc-is" }));
    const times = html("td", { class: "tc-number" });
    const row = html("tr", {}, html("th", { scope: "row" }, name), cells.model, cells.now, bars, times);
    return { ...cells, bars, times, row };
  });
  const head = html("tr", {}, ...titles.map((title) => (title ? html("th", { scope: "col" }, title) : html("td"))));
  const told = html("p", { class: "tc-result", role: "status" });
  const root = html(
    "div",
    { class: "tc-widget tc-sampling", role: "group", "aria-label": "Temperature, top-k and top-p" },
    html("p", { class: "tc-context" }, model.get("context")),
    html("div", { class: "tc-sliders" }, temperature.label, topK.label, topP.label),
    html("div", { class: "tc-buttons" }, draw100, again),
    html("table", {}, html("thead", {}, head), html("tbody", {}, ...rows.map((r) => r.row))),
    told,
  );
  el.replaceChildren(root);
  keepKeys(root);

  /** One number for each row: its token's, or the sum of all others. */
  const grouped = (numbers) => names.map((_, i) => (i < count ? numbers[i] : sum(numbers.slice(count))));

  function draw() {
    const [t, k, p, seed] = ["temperature", "top_k", "top_p", "seed"].map((name) => model.get(name));
    const probs = distribution(logits, t, k, p);
    const kept = probs.filter((x) => x > 0).length;
    const entropy = -sum(probs.map((x) => (x > 0 ? x * Math.log(x) : 0)));
    const counts = seed ? grouped(drawn(probs, DRAWS, seed)) : null;
    const [was, is] = [grouped(plain), grouped(probs)];
    temperature.input.value = t;
    temperature.value.textContent = digits(t, 1);
    topK.input.value = choices.indexOf(k);
    topK.value.textContent = k ? String(k) : "all";
    topP.input.value = p;
    topP.value.textContent = digits(p, 2);
    rows.forEach(({ model: before, now, bars, times, row }, i) => {
      before.textContent = digits(was[i], 3);
      now.textContent = digits(is[i], 3);
      bars.style.setProperty("--was", was[i]);
      bars.style.setProperty("--is", is[i]);
      times.textContent = counts ? String(counts[i]) : "";
      row.classList.toggle("tc-cut", is[i] === 0);
    });
    const tokens = kept === 1 ? "1 token is left: every draw is the same" : `${kept} of ${logits.length} tokens can be drawn`;
    const different = counts ? ` Of ${DRAWS} draws, ${digits(counts[0], 0)} are \u201C${names[0]}\u201D.` : "";
    told.textContent = `${tokens}; the entropy is ${digits(Math.max(0, entropy), 2)} nats.${different}`;
  }

  temperature.input.addEventListener("input", () => set({ temperature: Number(temperature.input.value), seed: 0 }));
  topK.input.addEventListener("input", () => set({ top_k: choices[Number(topK.input.value)], seed: 0 }));
  topP.input.addEventListener("input", () => set({ top_p: Number(topP.input.value), seed: 0 }));
  draw100.addEventListener("click", () => set({ seed: model.get("seed") + 1 }));
  again.addEventListener("click", () => set({ temperature: 1, top_k: 0, top_p: 1, seed: 0 }));
  return follow(model, ["temperature", "top_k", "top_p", "seed"], draw);
}

export default { render };
