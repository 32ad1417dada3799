// The figure "map of the model": sizes come from the state; shapes and numbers are computed here, in the browser.

const FRAME = { encoder: "4 / 8", decoder: "4 / 12" }; // rows of the layers that are repeated

/** What a model's parts hold, by its config: d_model numbers a token, and so on. */
function counts(c) {
  const attention = 4 * (c.d_model * c.d_model + c.d_model);
  const net = 2 * c.d_model * c.d_ff + c.d_ff + c.d_model;
  return { table: c.vocab_size * c.d_model, attention, net, norm: 2 * c.d_model };
}

const tensor = (...sizes) => `(${["1", ...sizes].join(", ")})`;

/** A part: its column and row, its name, its chapters, the section of chapter 06, and what it does.
 *  `shapes` gives what goes in and what comes out; `learns` the numbers of one such part. */
const PARTS = {
  source: { at: "encoder 1", name: "source", chapters: ["07"], text: "The ids of the source tokens, with </s> at the end. Chapter 07 cuts text into tokens.", shapes: (c, s) => ["", tensor(s)] },
  "encoder-embedding": { at: "encoder 2", name: "embedding", chapters: ["06"], section: "embedding", text: "A table: each id becomes its row, times \u221Ad_model.", shapes: (c, s) => [tensor(s), tensor(s, c.d_model)], learns: (c, n) => n.table },
  "encoder-positions": { at: "encoder 3", name: "+ positions", chapters: ["05"], text: "Adds the vector of each position. Sinusoids are computed, not learned.", shapes: (c, s) => [tensor(s, c.d_model), tensor(s, c.d_model)] },
  "encoder-attention": { at: "encoder 4", name: "self-attention", chapters: ["01", "02", "04"], text: "Every source token asks all source tokens. Padding is hidden.", shapes: (c, s) => [tensor(s, c.d_model), tensor(s, c.d_model)], maps: (c, s) => tensor(c.n_heads, s, s), learns: (c, n) => n.attention },
  "encoder-norm-1": { at: "encoder 5", name: "add, normalise", chapters: ["06"], section: "residual", text: "Adds what the attention found to the token, and brings each token to the same size.", shapes: (c, s) => [tensor(s, c.d_model), tensor(s, c.d_model)], learns: (c, n) => n.norm },
  "encoder-feed-forward": { at: "encoder 6", name: "feed-forward", chapters: ["06"], section: "feed-forward", text: "Each token alone: d_model numbers become d_ff, through a ReLU, and back.", shapes: (c, s) => [tensor(s, c.d_model), tensor(s, c.d_model)], inside: (c, s) => tensor(s, c.d_ff), learns: (c, n) => n.net },
  "encoder-norm-2": { at: "encoder 7", name: "add, normalise", chapters: ["06"], section: "layer-norm", text: "Adds what the network found to the token, and normalises again.", shapes: (c, s) => [tensor(s, c.d_model), tensor(s, c.d_model)], learns: (c, n) => n.norm },
  memory: { at: "encoder 8", name: "memory", chapters: ["06"], section: "stacks", text: "What the top encoder layer gives. Every decoder layer reads it, as keys and values.", shapes: (c, s) => ["", tensor(s, c.d_model)], learns: (c, n) => (c.norm === "pre" ? n.norm : 0), top: "encoder" },
  target: { at: "decoder 1", name: "target so far", chapters: ["03", "07"], text: "The ids of the target tokens that are known, <s> first.", shapes: (c, s, t) => ["", tensor(t)] },
  "decoder-embedding": { at: "decoder 2", name: "embedding", chapters: ["06"], section: "embedding", text: "Each target id becomes its row of the table. The next token comes back to here, as an id.", shapes: (c, s, t) => [tensor(t), tensor(t, c.d_model)], learns: (c, n) => (c.tie_embeddings ? 0 : n.table), tied: true },
  "decoder-positions": { at: "decoder 3", name: "+ positions", chapters: ["05"], text: "The target counts its own positions, from 0.", shapes: (c, s, t) => [tensor(t, c.d_model), tensor(t, c.d_model)] },
  "decoder-attention": { at: "decoder 4", name: "masked self-attention", chapters: ["01", "03", "04"], text: "Every target token asks itself and those before it. The future is hidden.", shapes: (c, s, t) => [tensor(t, c.d_model), tensor(t, c.d_model)], maps: (c, s, t) => tensor(c.n_heads, t, t), learns: (c, n) => n.attention },
  "decoder-norm-1": { at: "decoder 5", name: "add, normalise", chapters: ["06"], section: "residual", text: "Adds what was found among the target tokens, and normalises.", shapes: (c, s, t) => [tensor(t, c.d_model), tensor(t, c.d_model)], learns: (c, n) => n.norm },
  "decoder-cross": { at: "decoder 8", name: "cross-attention", chapters: ["01", "02", "04"], text: "Queries from the target, keys and values from the memory: what shall be read next?", shapes: (c, s, t) => [`${tensor(t, c.d_model)} and the memory ${tensor(s, c.d_model)}`, tensor(t, c.d_model)], maps: (c, s, t) => tensor(c.n_heads, t, s), learns: (c, n) => n.attention },
  "decoder-norm-2": { at: "decoder 9", name: "add, normalise", chapters: ["06"], section: "residual", text: "Adds what was read in the memory, and normalises.", shapes: (c, s, t) => [tensor(t, c.d_model), tensor(t, c.d_model)], learns: (c, n) => n.norm },
  "decoder-feed-forward": { at: "decoder 10", name: "feed-forward", chapters: ["06"], section: "feed-forward", text: "Each target token alone, as in the encoder, with weights of its own.", shapes: (c, s, t) => [tensor(t, c.d_model), tensor(t, c.d_model)], inside: (c, s, t) => tensor(t, c.d_ff), learns: (c, n) => n.net },
  "decoder-norm-3": { at: "decoder 11", name: "add, normalise", chapters: ["06"], section: "layer-norm", text: "Adds what the network found, and normalises.", shapes: (c, s, t) => [tensor(t, c.d_model), tensor(t, c.d_model)], learns: (c, n) => n.norm },
  linear: { at: "decoder 12", name: "linear", chapters: ["06"], section: "output", text: "A score for every token of the vocabulary: a dot product with its row.", shapes: (c, s, t) => [tensor(t, c.d_model), tensor(t, c.vocab_size)], learns: (c, n) => (c.tie_embeddings ? 0 : n.table) + (c.norm === "pre" ? n.norm : 0), tied: true, top: "decoder" },
  softmax: { at: "decoder 13", name: "softmax", chapters: ["01"], text: "Scores become probabilities; each row sums to 1.", shapes: (c, s, t) => [tensor(t, c.vocab_size), tensor(t, c.vocab_size)] },
  next: { at: "decoder 14", name: "next token", chapters: ["09"], only: "translating", text: "One token is chosen by the last row. Its id goes back to the target's embedding.", shapes: (c, s, t) => [tensor(t, c.vocab_size), "one id"] },
  training: { at: "encoder 12", name: "change weights", chapters: ["07"], only: "training", text: "The gradient of the loss says how every weight has to move.", shapes: () => ["the gradients", "new weights"] },
  loss: { at: "encoder 13", name: "loss: how wrong?", chapters: ["08"], only: "training", text: "How probable were the right tokens? Compared at all target positions at once.", shapes: (c, s, t) => [tensor(t, c.vocab_size), "one number"] },
};

/** How many times a part stands in the model. */
function copies(part, c) {
  const [stack, row] = part.at.split(" ");
  const [from, to] = FRAME[stack].split(" / ").map(Number);
  return row >= from && row < to ? c[`n_${stack}_layers`] : 1;
}

const whole = (number) => number.toLocaleString("en-US");

/** Where a chapter's page is, beside this one; in JupyterLab it is a notebook. */
const address = (stem) => `${stem}${location.pathname.endsWith(".html") ? ".html" : ".ipynb"}`;

function choice(title) {
  const select = html("select", { "aria-label": title });
  const element = html("label", {}, html("span", { "aria-hidden": "true" }, title), select);
  const fill = (names, chosen) => {
    select.replaceChildren(...names.map((name) => html("option", { value: name }, name)));
    select.value = chosen;
  };
  return { element, select, fill };
}

function render({ model, el }) {
  const sizes = model.get("sizes");
  const pages = model.get("pages");
  const menus = [choice("Model"), choice("What happens")];
  const map = html("div", { class: "tc-parts", role: "group", "aria-label": "Parts of the model" });
  const said = html("div", { class: "tc-said", role: "status" });
  const total = html("p", { class: "tc-total" });
  const root = html("div", { class: "tc-widget tc-model-map", role: "group", "aria-label": "Map of the model" });
  root.append(html("div", { class: "tc-menus" }, ...menus.map((m) => m.element)), total, map, said);
  el.replaceChildren(root);
  keepKeys(root);

  for (const [stack, rows] of Object.entries(FRAME)) {
    const frame = html("div", { class: `tc-frame tc-${stack}` }, html("span", {}));
    frame.style.gridRow = rows;
    map.append(frame);
  }
  map.append(html("div", { class: "tc-line", "aria-hidden": "true" }));
  map.append(html("div", { class: "tc-across", "aria-hidden": "true" }, "K, V \u2192"));
  const buttons = {};
  for (const [id, part] of Object.entries(PARTS)) {
    const [stack, row] = part.at.split(" ");
    const badges = part.chapters.map((chapter) => html("span", { class: "tc-badge" }, chapter));
    const button = html("button", { type: "button", class: `tc-part tc-${stack}`, "data-part": id });
    button.append(html("span", {}, part.name), html("span", { class: "tc-badges" }, ...badges));
    button.style.gridRow = row;
    button.addEventListener("click", () => {
      model.set("part", id);
      model.save_changes();
    });
    buttons[id] = button;
    map.append(button);
  }

  function row(title, value) {
    return html("tr", {}, html("th", { scope: "row" }, title), html("td", {}, value));
  }

  /** The numbers that a part learns, in words. */
  function learned(part, c) {
    const one = part.learns ? part.learns(c, counts(c)) : 0;
    const times = copies(part, c);
    const shared = part.tied && c.tie_embeddings ? "shares the table of the source embedding" : "";
    const top = part.top && c.norm === "pre" ? "the norm on top of the stack" : "";
    const why = [shared, top].filter(Boolean).join("; ");
    const number = times > 1 && one ? `${whole(one)} each, ${whole(one * times)} in ${times} layers` : one ? whole(one) : "nothing";
    return why ? `${number} (${why})` : number;
  }

  function links(part) {
    return part.chapters.map((chapter) => {
      const stem = pages[chapter];
      if (!stem) return html("span", {}, `Chapter ${chapter} (coming)`);
      const here = part.section && chapter === "06";
      const target = here ? `#${part.section}` : address(stem);
      const title = here ? "Open the section of this page" : `Open chapter ${chapter}, ${stem.slice(3).replaceAll("_", " ")}`;
      return html("a", { href: target }, title);
    });
  }

  function draw() {
    const c = sizes[Math.min(model.get("size"), sizes.length - 1)];
    const [s, t] = model.get("lengths");
    const task = model.get("task");
    const id = PARTS[model.get("part")] ? model.get("part") : "memory";
    const part = PARTS[id];
    menus[0].fill(sizes.map((size) => size.name), c.name);
    menus[1].fill(["translating", "training"], task);
    const sum = Object.values(PARTS).reduce((all, p) => all + (p.learns ? p.learns(c, counts(c)) * copies(p, c) : 0), 0);
    total.textContent = `d_model ${c.d_model}, ${c.n_heads} heads, d_ff ${c.d_ff}, ${c.norm}-norm, vocabulary ${whole(c.vocab_size)}: ${whole(sum)} numbers to learn.`;
    for (const stack of Object.keys(FRAME)) {
      map.querySelector(`.tc-frame.tc-${stack} span`).textContent = `\u00D7 ${c[`n_${stack}_layers`]} layers`;
    }
    for (const [name, button] of Object.entries(buttons)) {
      button.setAttribute("aria-pressed", name === id);
      button.classList.toggle("tc-off", Boolean(PARTS[name].only) && PARTS[name].only !== task);
    }
    const [into, out] = part.shapes(c, s, t);
    const facts = html("tbody", {});
    if (into) facts.append(row("goes in", into));
    if (part.inside) facts.append(row("inside", part.inside(c, s, t)));
    if (part.maps) facts.append(row("maps", part.maps(c, s, t)));
    facts.append(row("comes out", out), row("learns", learned(part, c)));
    const order = c.norm === "pre" && part.name.startsWith("add") ? " (Here pre-norm: the norm stands before the sub-layer.)" : "";
    const off = part.only && part.only !== task ? ` (Only when ${part.only}.)` : "";
    const place = { encoder: "encoder", decoder: "decoder" }[part.at.split(" ")[0]];
    const where = part.only === "training" ? "training" : place;
    said.replaceChildren(
      html("p", { class: "tc-name" }, `${part.name} (${where})`),
      html("p", {}, part.text + order + off),
      html("table", {}, facts),
      html("p", { class: "tc-open" }, ...links(part)),
    );
  }

  menus[0].select.addEventListener("change", (event) => {
    model.set("size", sizes.findIndex((size) => size.name === event.target.value));
    model.save_changes();
  });
  menus[1].select.addEventListener("change", (event) => {
    model.set("task", event.target.value);
    model.save_changes();
  });
  return follow(model, ["size", "task", "part", "lengths"], draw);
}

export default { render };
