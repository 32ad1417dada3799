// Finding things: a search over all sections, while one types, and previews of the glossary on its links.
"use strict";
{
  const COMMON =
    "a an and are as at be by do does for from how in is it its of on or the this to we what with you";
  const STOP = new Set(COMMON.split(" "));
  const OF_KIND = { chapter: 1, page: 0.8, glossary: 0.45, api: 0.3 }; // a reader reads before looking up

  const REPEATING = new Set(["Summary", "What the package gained", "Common mistakes"]);

  /** The words of a text: small letters, no accents. */
  function wordsOf(text) {
    return text.normalize("NFD").replace(/[\u0300-\u036f]/g, "").toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  }

  /** A word without its ending: mask, masks, masked, masking are one. */
  function stem(word) {
    if (word.length < 4) return word;
    const cut = word.replace(/(ing|ed|es|s|e)$/, "");
    return cut.length < 3 ? word : cut;
  }

  /** What is asked, as stems; words that are everywhere count only where there are no others. */
  function asked(query) {
    const all = wordsOf(query);
    const telling = all.filter((word) => !STOP.has(word));
    return [...new Set((telling.length ? telling : all).map(stem))];
  }

  /** How often each stem occurs in a text. */
  function count(text) {
    const found = new Map();
    for (const word of wordsOf(text).map(stem)) found.set(word, (found.get(word) ?? 0) + 1);
    return found;
  }

  /** The sections, with their words counted. */
  function prepare(rows) {
    const entries = rows.map(([url, page, title, topics, text, kind]) => {
      const [named, run] = [`${title} ${topics}`, text].map((t) => ` ${wordsOf(t).map(stem).join(" ")} `);
      return { url, page, title, text, kind, named, run, in: [title, page, topics, text].map(count) };
    });
    const spread = new Map(); // in how many sections a stem occurs
    for (const entry of entries) {
      for (const word of new Set(entry.in.flatMap((words) => [...words.keys()]))) {
        spread.set(word, (spread.get(word) ?? 0) + 1);
      }
    }
    const mean = entries.reduce((sum, { text }) => sum + text.length, 0) / entries.length;
    return { entries, spread, mean };
  }

  /** What may be meant by each word of a query: itself, or for half as much one that the last word may become. */
  function meanings(stems, spread) {
    return stems.map((word, place) => {
      const grows = (other) =>
        other.startsWith(word) || (other.length > 3 && word.startsWith(other) && word.length < other.length + 4);
      const others = place === stems.length - 1 && word.length > 1 ? [...spread.keys()].filter(grows) : [];
      return [[word, 1], ...others.filter((other) => other !== word).map((other) => [other, 0.5])];
    });
  }

  /** How well a section fits: rare words count more, a title more than a text, a short text more than a long one. */
  function score(entry, stems, ways, { entries, spread, mean }) {
    const [title, page, topics, text] = entry.in;
    let sum = 0;
    let hits = 0;
    for (const way of ways) {
      let best = 0;
      for (const [word, weight] of way) {
        const often = (text.get(word) ?? 0) / (0.4 + (0.6 * entry.text.length) / mean);
        const named = (title.get(word) ? 4 : 0) + (topics.get(word) ? 2.5 : 0) + (page.get(word) ? 0.5 : 0);
        const rare = Math.log(1 + entries.length / (spread.get(word) ?? 1));
        best = Math.max(best, weight * rare * (named + (2 * often) / (often + 1.5)));
      }
      if (best) hits += 1;
      sum += best;
    }
    const inTitle = [...title.keys()].filter((word) => !/^\d+$/.test(word) && !STOP.has(word));
    const filled = inTitle.filter((word) => stems.includes(word)).length / Math.max(1, inTitle.length);
    const phrase = ` ${stems.join(" ")} `;
    const together = stems.length < 2 ? 1 : entry.named.includes(phrase) ? 2 : entry.run.includes(phrase) ? 1.4 : 1;
    const worth = OF_KIND[entry.kind] * (REPEATING.has(entry.title) ? 0.5 : 1);
    return sum * (hits / stems.length) ** 2 * (1 + 0.5 * filled) * together * worth;
  }

  /** The sections that fit, the best first. The last word may be unfinished. */
  function find(query, index, limit = 20) {
    const stems = asked(query);
    if (!stems.length) return [];
    const ways = meanings(stems, index.spread);
    const scored = index.entries.map((entry) => ({ entry, points: score(entry, stems, ways, index) }));
    const found = scored.filter(({ points }) => points > 0).sort((a, b) => b.points - a.points);
    const words = new Set(ways.flatMap((way) => way.map(([word]) => word)));
    return found.slice(0, limit).map(({ entry }) => ({ ...entry, parts: excerpt(entry.text, words) }));
  }

  /** Some words around the first hit, as pieces: [text, is it a hit]. */
  function excerpt(text, stems, length = 180) {
    const hit = (word) => stems.has(stem(wordsOf(word)[0] ?? ""));
    const pieces = text.split(/(?<=[^\p{L}\p{N}])(?=[\p{L}\p{N}])|(?<=[\p{L}\p{N}])(?=[^\p{L}\p{N}])/u);
    const first = Math.max(0, pieces.findIndex(hit));
    let start = Math.max(0, first - 16);
    if (start) start = pieces.findIndex((piece, i) => i >= start && piece.includes(" ")) + 1;
    const parts = start ? [["… ", false]] : [];
    let used = 0;
    for (const piece of pieces.slice(start)) {
      if ((used += piece.length) > length) return [...parts, [" …", false]];
      parts.push([piece, hit(piece)]);
    }
    return parts;
  }

  function element(name, properties = {}, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  }

  const root = globalThis.document?.documentElement.dataset.content_root ?? "./";
  const loading = new Map();
  /** Load `_static/NAME.js`, once. */
  function load(name) {
    if (!loading.has(name)) {
      const waiting = new Promise((resolve, reject) => {
        const script = element("script", { src: `${root}_static/${name}.js`, onerror: reject });
        script.onload = () => resolve(window[`course_${name}`]);
        document.head.append(script);
      });
      loading.set(name, waiting);
    }
    return loading.get(name);
  }

  let prepared;
  function index() {
    prepared ??= load("sections").then(prepare);
    return prepared;
  }

  function shown({ url, page, title, kind, parts }) {
    const text = parts.map(([piece, hit]) => (hit ? element("mark", {}, piece) : piece));
    const link = element("a", { href: root + url }, title);
    const where = title === page ? "" : element("span", { className: "found-where" }, page);
    return element("li", { className: `found-${kind}` }, link, where, element("p", {}, ...text));
  }

  /** Show what fits below a search field, while one types. */
  function searchIn(field, place, limit) {
    const told = element("p", { className: "found-told", role: "status" });
    const list = element("ol", { className: "found" });
    place.append(told, list);
    async function show() {
      const query = field.value;
      const found = query.trim().length > 1 ? find(query, await index(), limit) : [];
      if (query !== field.value) return; // one went on typing
      list.replaceChildren(...found.map(shown));
      const number = found.length === limit ? `The ${limit} best` : found.length || "No";
      told.textContent = query.trim().length > 1 ? `${number} ${found.length === 1 ? "section" : "sections"}.` : "";
    }
    field.addEventListener("focus", index, { once: true });
    field.addEventListener("input", show);
    place.parentElement.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      const stops = [field, ...list.querySelectorAll("a")];
      const next = step && stops[stops.indexOf(document.activeElement) + step];
      if (!next || !stops.includes(document.activeElement)) return;
      event.preventDefault();
      next.focus();
    });
    return show;
  }

  /** Show what the glossary says of a word while its link has the pointer or the focus; Escape takes it away. */
  function previewTerms() {
    const box = element("div", { id: "term-preview", role: "tooltip", hidden: true });
    (document.querySelector("main") ?? document.body).append(box);
    let link, timer;
    const hide = () => {
      clearTimeout(timer);
      link?.removeAttribute("aria-describedby");
      box.hidden = true;
    };
    const later = (action, wait) => {
      clearTimeout(timer);
      timer = setTimeout(action, wait);
    };
    async function show(target) {
      const terms = await load("terms");
      const entry = terms[target.hash.slice(1)];
      if (!entry || !target.matches(":hover, :focus")) return;
      hide();
      link = target;
      box.replaceChildren(element("strong", {}, entry[0]), ` ${entry[1]}`);
      box.hidden = false;
      link.setAttribute("aria-describedby", box.id);
      const { left, top, bottom } = link.getClientRects()[0];
      const room = document.documentElement.clientWidth - box.offsetWidth - 8;
      const above = bottom + box.offsetHeight + 8 > window.innerHeight && top > box.offsetHeight;
      const from = box.offsetParent.getBoundingClientRect();
      box.style.left = `${Math.max(8, Math.min(left, room)) - from.left}px`;
      box.style.top = `${(above ? top - box.offsetHeight - 4 : bottom + 4) - from.top}px`;
    }
    for (const target of document.querySelectorAll('article a[href*="glossary.html#term-"]')) {
      target.addEventListener("pointerenter", (event) => {
        if (event.pointerType === "mouse") later(() => show(target), 250);
      });
      target.addEventListener("focus", () => show(target));
      target.addEventListener("pointerleave", () => later(hide, 250));
      target.addEventListener("blur", hide);
    }
    box.addEventListener("pointerenter", () => clearTimeout(timer));
    box.addEventListener("pointerleave", () => later(hide, 250));
    document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
  }

  if (globalThis.document) {
    const dialog = document.querySelector("#pst-search-dialog form");
    if (dialog) searchIn(dialog.querySelector("input"), dialog.parentElement, 8);
    const page = document.querySelector("#search-results");
    if (page) {
      const field = page.parentElement.querySelector("form input");
      const show = searchIn(field, page, 30);
      field.value = new URLSearchParams(location.search).get("q") ?? "";
      show();
    }
    previewTerms();
  } else {
    globalThis.finding = { find, prepare }; // for the tests, which run it in Node
  }
}
