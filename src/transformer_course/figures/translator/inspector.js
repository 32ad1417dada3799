// The inspector: a sentence is translated in the page, and what happens inside is shown. It draws; what is computed stands
// in translator.js. The page "Try it" uses it, and `figures.Inspector` in a notebook.

const CourseInspector = (() => {
  const EXAMPLES = [
    "The animal didn't cross the street because it was too tired.",
    "The animal didn't cross the street because it was too wide.",
    "I would like a coffee, please.",
    "The young girl gave the red apple to her brother.",
  ];
  const HINTS = {
    positions: "Watch the order: who does what to whom? (Chapter 05)",
    scale: "All scores are several times as large, so each head looks at one word only. (Chapter 01)",
    feedForward: "Only attention is left: it can move what the words hold, but not rework it. (Chapter 06)",
    causalMask: "Each step reads all French words again, and the early ones see the later ones: never so in training. (Chapter 03)",
    head: "One head of sixteen and eight less: often nothing happens. Which ones matter? (Chapters 04 and 10)",
    layer: "A layer is skipped, and its neighbours were trained with it. (Chapter 06)",
  };

  const CHAPTERS = {
    "01": "attention",
    "02": "self_attention",
    "03": "masking",
    "04": "multi_head",
    "05": "positional_encoding",
    "06": "encoder_decoder",
    "07": "training",
    "09": "decoding",
    "10": "inspecting",
  };

  function html(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }

  function svg(tag, attributes) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  }

  function button(text, press, attributes = {}) {
    const element = html("button", { type: "button", ...attributes }, text);
    element.addEventListener("click", press);
    return element;
  }

  function menu(label, names, changed) {
    const options = names.map((name, i) => html("option", { value: i }, name));
    const select = html("select", { "aria-label": label }, ...options);
    select.addEventListener("change", () => changed(Number(select.value)));
    return { label: html("label", {}, `${label} `, select), select };
  }

  /**
   * Put an inspector of a loaded translator into an element. `wish` may hold a text, what is broken, and `chapters`: the
   * folder of the book's chapters, if the page belongs to it.
   */
  function mount(root, translator, wish = {}) {
    const state = { text: EXAMPLES[0], beam: 4, temperature: 1, broken: {}, side: "cross", layer: 0, head: 0, at: 0, ...wish };
    state.layer = translator.model.layers[1] - 1;

    const shown = (id) => translator.vocabulary.piece(id).replaceAll("▁", " ").trim() || "␣";
    const percent = (share) => `${Math.round(100 * share)} %`;
    const mean = (rows) => rows[0].map((_, k) => rows.reduce((sum, row) => sum + row[k], 0) / rows.length);

    /** A text whose numbers of chapters are links, where there are chapters: its pieces. */
    function linked(text) {
      return text.split(/\b(\d\d)\b/).map((piece, i) => {
        if (i % 2 === 0 || !state.chapters) return piece;
        return html("a", { href: `${state.chapters}${piece}_${CHAPTERS[piece]}.html` }, piece);
      });
    }

    /** All that the page shows of one translation, computed once. */
    function inspected(text, ids, broken) {
      const { model } = translator;
      const src = translator.read(text);
      const read = model.encode(src, broken);
      let cached = model.start(read.memory);
      let last = CourseTranslator.BOS;
      const steps = ids.map((id, place) => {
        const found = model.step(last, place, cached, broken, true);
        [cached, last] = [found.state, id];
        const lens = found.lens.map((logits) => shown(logits.indexOf(Math.max(...logits))));
        return { id, logits: found.logits, lens, maps: found.maps };
      });
      return { src, encoder: read.maps, steps };
    }

    /** The five likeliest subwords, their logits divided by the temperature. */
    function likeliest({ logits }) {
      const cooled = logits.map((logit) => logit / state.temperature);
      const probs = [...CourseTranslator.logSoftmax(cooled)].map(Math.exp);
      return probs.map((p, i) => [p, i]).sort((a, b) => b[0] - a[0]).slice(0, 5);
    }

    function isBroken() {
      const { positions, scale, feedForward, causalMask, heads = [], layers = [] } = state.broken;
      return Boolean(positions || scale || feedForward || causalMask || heads.length || layers.length);
    }

    // ---------------------------------------------------------------- parts of the page

    const status = html("p", { class: "try-result", role: "status" });
    const note = html("p", { class: "try-note" });
    const input = html("input", { type: "text", autocomplete: "off", maxlength: 200, lang: "en" });
    const offers = html("div", { class: "try-row", "aria-label": "Words that the translator knows", role: "group" });
    const words = html("div", { class: "try-row", role: "group", "aria-label": "Choose a word" });
    const map = html("div", { class: "try-map", role: "img" });
    const grid = html("div", { class: "try-grid" });
    const five = html("table", { class: "try-five" });
    const lens = html("p", { class: "try-note" });
    const strips = html("div", { class: "try-strips" });
    const tree = html("div", { class: "try-tree" });

    function known() {
      const seen = new Set(translator.vocabulary.words.filter((word) => /^[A-Za-z]+$/.test(word)));
      return [...seen].sort();
    }

    function offer() {
      const typed = /[A-Za-z]+$/.exec(input.value)?.[0] ?? "";
      const found = typed ? offer.words.filter((word) => word.startsWith(typed) && word !== typed).slice(0, 6) : [];
      offers.replaceChildren(
        ...found.map((word) =>
          button(word, () => {
            input.value = `${input.value.slice(0, input.value.length - typed.length)}${word} `;
            input.focus();
            changedText();
          }),
        ),
      );
    }

    let waiting = 0;
    function changedText() {
      offer();
      clearTimeout(waiting);
      waiting = setTimeout(() => {
        state.text = input.value;
        state.at = 0;
        draw();
      }, 150);
    }

    function translated(broken, trace = []) {
      return translator.search(state.text, { beam: state.beam, broken, trace })[0].ids;
    }

    function draw() {
      note.textContent = "";
      const count = translator.vocabulary.encode(state.text).length;
      if (count === 0 || count > 60) {
        status.textContent = count ? "That is too long: at most 60 subwords." : "Type an English sentence.";
        for (const part of [words, map, grid, five, strips, tree]) part.replaceChildren();
        lens.textContent = "";
        return;
      }
      const trace = [];
      const ids = translated(state.broken, trace);
      drawTree(trace, ids);
      const text = translator.vocabulary.decode(ids.filter((id) => id !== CourseTranslator.EOS));
      status.replaceChildren(html("span", { lang: "fr" }, text || "(nothing)"));
      if (isBroken()) {
        const whole = translator.vocabulary.decode(translated({}).filter((id) => id !== CourseTranslator.EOS));
        const same = whole === text ? "The whole model says the same." : `The whole model says: ${whole}`;
        note.replaceChildren(`${same} `, ...linked(hint()));
      } else {
        const unseen = translator.vocabulary.unseen(state.text);
        if (unseen.length) note.textContent = `Never seen in training, so guessed: ${unseen.join(", ")}`;
      }
      drawInside(inspected(state.text, ids, state.broken));
    }

    function hint() {
      const { positions, scale, feedForward, causalMask, heads = [], layers = [] } = state.broken;
      const kinds = { positions, scale, feedForward, causalMask, head: heads.length, layer: layers.length };
      return Object.entries(kinds).filter(([, on]) => on).map(([kind]) => HINTS[kind]).join(" ");
    }

    /** The subwords to choose from, by pointing too, and all about the chosen one. */
    function drawInside(found) {
      const reading = state.side === "encoder";
      const list = reading ? found.src : found.steps.map(({ id }) => id);
      const look = (at) => {
        state.at = at;
        [...words.children].forEach((word, i) => word.setAttribute("aria-pressed", String(i === at)));
        drawWord(found);
      };
      words.replaceChildren(
        ...list.map((id, i) => {
          const word = button(shown(id), () => look(i), { lang: reading ? "en" : "fr" });
          word.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && look(i));
          return word;
        }),
      );
      look(Math.min(state.at, list.length - 1));
    }

    /** The weights of the chosen subword, and what the model would say there. */
    function drawWord({ src, encoder, steps }) {
      const reading = state.side === "encoder";
      const maps = reading
        ? encoder.map((layer) => layer?.map((rows) => rows[state.at]))
        : steps[state.at].maps.map((layer) => layer?.[state.side]);
      const read = [CourseTranslator.BOS, ...steps.map(({ id }) => id)].slice(0, state.at + 1);
      const looked = (state.side === "self" ? read : src).map(shown);
      drawWeights(maps[state.layer], looked);
      drawGrid(maps, looked);
      five.replaceChildren();
      strips.replaceChildren();
      lens.textContent = "";
      if (reading) {
        drawStrips(src[state.at]);
        return;
      }
      five.append(html("caption", {}, ...linked("The five likeliest subwords at this step (chapter 06)")));
      for (const [share, id] of likeliest(steps[state.at])) {
        const bar = html("span", { class: "try-bar", "aria-hidden": "true" });
        bar.style.setProperty("--share", share);
        five.append(html("tr", {}, html("th", { scope: "row", lang: "fr" }, shown(id)), html("td", {}, bar, percent(share))));
      }
      const said = steps[state.at].lens.map((word, i) => `after layer ${i + 1}: ${word}`).join(", ");
      lens.replaceChildren(...linked("Logit lens (chapter 10), "), `${said}.`);
    }

    /** The weights of one layer, of the chosen head or their mean: a square for each subword. */
    function drawWeights(heads, looked) {
      const weights = heads ? (state.head ? heads[state.head - 1] : mean(heads)) : [];
      map.replaceChildren(
        ...weights.map((weight, k) => {
          const square = html("span", { class: "try-key" }, looked[k], html("small", {}, percent(weight)));
          square.style.setProperty("--share", weight);
          return square;
        }),
      );
      if (!weights.length) map.textContent = "This layer is left out.";
      const most = weights.indexOf(Math.max(...weights));
      map.setAttribute("aria-label", weights.length ? `Most weight on ${looked[most]}: ${percent(weights[most])}` : "");
    }

    /** All heads of all layers at once: a row for each, a column for each subword. */
    function drawGrid(maps, looked) {
      const whole = root.clientWidth < 480 ? 340 : 600;
      const [left, right, top, line] = [34, 20, 74, 16];
      const rows = maps.flatMap((heads, layer) =>
        (heads ?? []).map((weights, head) => ({ weights, name: `${layer + 1}.${head + 1}` })),
      );
      const room = Math.min(40, (whole - left - right) / looked.length);
      const picture = svg("svg", { viewBox: `0 0 ${whole} ${top + line * rows.length}`, role: "img" });
      picture.setAttribute("aria-label", `Weights of ${rows.length} heads, a row each, on ${looked.length} subwords`);
      const write = (text, place) => {
        const label = svg("text", place);
        label.textContent = text;
        picture.append(label);
      };
      looked.forEach((word, k) => {
        const foot = left + room * (k + 0.5) + 5;
        write(word, { transform: `translate(${foot},${top - 6}) rotate(-60)` });
      });
      rows.forEach(({ weights, name }, row) => {
        const y = top + line * row;
        write(name, { x: 0, y: y + line - 4 });
        weights.forEach((weight, k) => {
          const place = { x: left + room * k, y, width: room - 1, height: line - 1 };
          picture.append(svg("rect", { ...place, class: "try-none" }), svg("rect", { ...place, opacity: weight }));
        });
      });
      const told = "All heads at once, a row for each: layer.head (chapters 02 and 04; how much it explains: 10)";
      grid.replaceChildren(html("p", { class: "try-note" }, ...linked(told)), picture);
    }

    /** A word's vector, the code of its place, and their sum: a square for each number. */
    function drawStrips(id) {
      const { model } = translator;
      const parts = {
        "the word, times √d_model (chapter 06)": model.wordOf(id),
        "the code of its place (chapter 05)": state.broken.positions ? null : model.positionOf(state.at),
        "their sum, which layer 1 reads": model.embed(id, state.at, state.broken),
      };
      for (const [name, vector] of Object.entries(parts)) {
        if (!vector) continue;
        const picture = svg("svg", { viewBox: `0 0 ${vector.length} 6`, role: "img", "aria-label": `${name}: ${vector.length} numbers` });
        vector.forEach((number, i) => {
          const fill = number < 0 ? "var(--key)" : "var(--query)";
          picture.append(svg("rect", { x: i, y: 0, width: 1, height: 6, fill, opacity: Math.min(1, Math.abs(number) / 2) }));
        });
        strips.append(html("p", { class: "try-note" }, ...linked(name)), picture);
      }
    }

    /** The beginnings that the beam kept at each step, a row a step; those of the answer are bold. */
    function drawTree(trace, best) {
      const rows = trace.slice(0, best.length - 1);
      const narrow = root.clientWidth < 480; // a telephone: no room for the sums
      const [whole, line] = [narrow ? 340 : 600, 40];
      const room = whole / state.beam;
      const picture = svg("svg", { viewBox: `0 0 ${whole} ${line * rows.length + 6}`, role: "img" });
      picture.setAttribute("aria-label", `Beam of ${state.beam}: the beginnings that were kept in ${rows.length} steps`);
      rows.forEach((kept, step) => {
        kept.forEach(({ ids, parent, total }, i) => {
          const [x, y] = [room * (i + 0.5), line * step + 18];
          const chosen = ids.every((id, place) => id === best[place]);
          const kind = chosen ? "try-best" : "";
          if (step) picture.append(svg("path", { class: kind, d: `M${room * (parent + 0.5)},${y - line + 10}L${x},${y - 14}` }));
          const text = svg("text", { class: kind, x, y, "text-anchor": "middle" });
          const sum = narrow ? "" : `  ${(-total).toFixed(1).replace(/^(?!0\.0)/, "−")}`;
          text.textContent = shown(ids.at(-1)) + sum;
          picture.append(text);
        });
      });
      const sums = narrow ? "" : ", with the sum of log-probabilities";
      const told = `The beam (chapter 09): what was kept at each step${sums}`;
      tree.replaceChildren(html("p", { class: "try-note" }, ...linked(told)), picture);
    }

    // ---------------------------------------------------------------- controls

    function switches() {
      const [encoders, decoders] = translator.model.layers;
      const layers = [
        ...Array.from({ length: encoders }, (_, i) => `encoder ${i + 1}`),
        ...Array.from({ length: decoders }, (_, i) => `decoder ${i + 1}`),
      ];
      const attentions = layers.flatMap((l) => (l.startsWith("encoder") ? [l] : [`${l} self`, `${l} cross`]));
      const heads = attentions.flatMap((a) => Array.from({ length: translator.model.heads }, (_, h) => `${a} ${h + 1}`));
      const named = heads.map((name) => name.replace(/ (\d)$/, ", head $1").replace("self", "self-attention").replace("cross", "cross-attention"));
      const ticks = { positions: "no positions", scale: "scores not divided by √d_k", feedForward: "no feed-forward nets", causalMask: "no causal mask" };
      const boxes = Object.entries(ticks).map(([kind, text]) => {
        const box = html("input", { type: "checkbox", autocomplete: "off" });
        box.checked = Boolean(state.broken[kind]);
        box.addEventListener("change", () => {
          state.broken[kind] = box.checked;
          draw();
        });
        return html("label", {}, box, ` ${text}`);
      });
      const head = menu("without head", ["(all stay)", ...named], (i) => {
        state.broken.heads = i ? [heads[i - 1]] : [];
        draw();
      });
      const layer = menu("without layer", ["(all stay)", ...layers], (i) => {
        state.broken.layers = i ? [layers[i - 1]] : [];
        draw();
      });
      head.select.value = String(heads.indexOf(state.broken.heads?.[0]) + 1);
      layer.select.value = String(layers.indexOf(state.broken.layers?.[0]) + 1);
      return html("fieldset", { class: "try-row" }, html("legend", {}, "Break it"), ...boxes, layer.label, head.label);
    }

    function views() {
      const sides = ["cross", "self", "encoder"];
      const names = ["decoder: looks at the source", "decoder: looks back", "encoder: looks at the source"];
      const side = menu("Weights of the", names, (i) => {
        [state.side, state.at] = [sides[i], 0];
        draw();
      });
      side.select.value = String(sides.indexOf(state.side));
      const depth = Math.max(...translator.model.layers);
      const layer = menu("layer", Array.from({ length: depth }, (_, i) => String(i + 1)), (i) => {
        state.layer = i;
        draw();
      });
      layer.select.value = String(state.layer);
      const counted = Array.from({ length: translator.model.heads }, (_, i) => String(i + 1));
      const head = menu("head", ["mean", ...counted], (i) => {
        state.head = i;
        draw();
      });
      return html("div", { class: "try-row" }, side.label, layer.label, head.label);
    }

    function build() {
      offer.words = known();
      input.value = state.text;
      input.addEventListener("input", changedText);
      const examples = EXAMPLES.map((text) =>
        button(text, () => {
          input.value = text;
          changedText();
        }),
      );
      const beam = html("input", { type: "range", min: 1, max: 5, value: state.beam, "aria-label": "beam" });
      const width = html("span", {}, String(state.beam));
      beam.addEventListener("input", () => {
        state.beam = Number(beam.value);
        width.textContent = beam.value;
        draw();
      });
      const warmth = html("input", { type: "range", min: 0.3, max: 2, step: 0.1, value: 1, "aria-label": "temperature" });
      const degrees = html("span", {}, "1.0");
      warmth.addEventListener("input", () => {
        state.temperature = Number(warmth.value);
        degrees.textContent = state.temperature.toFixed(1);
        draw();
      });
      root.classList.add("course-inspector");
      root.replaceChildren(
        html("label", { class: "try-wide" }, "An English sentence ", input),
        offers,
        html("div", { class: "try-row try-examples", role: "group", "aria-label": "Examples" }, ...examples),
        status,
        note,
        html("label", {}, "beam ", beam, " ", width),
        switches(),
        html("p", { class: "try-title" }, "Inside"),
        html("p", { class: "try-note" }, ...linked("Point at a subword (chapter 07), or choose it. It looked at these (chapter 01):")),
        views(),
        words,
        map,
        grid,
        strips,
        five,
        html("label", {}, "temperature ", warmth, " ", degrees),
        html("span", {}, ...linked(" (chapter 09)")),
        lens,
        tree,
      );
      draw();
    }

    build();
    return { focus: () => input.focus({ preventScroll: true }) };
  }

  return { mount };
})();
