// What a reader has read and answered, and where they stopped: kept in this browser, sent nowhere.
"use strict";

(() => {
  const KEY = "transformer-course-progress";
  const WORDS_A_SECOND = 1000 / 60; // nobody reads faster
  const [LEAST, MOST] = [1, 20]; // seconds that a section must have been in view
  const SETTLED = 5; // seconds at a place before it counts as the one where the reader stopped
  const root = new URL(document.documentElement.dataset.content_root || "./", location.href);
  const here = new URL(location.href).pathname.slice(root.pathname.length);
  let memory = null; // takes the place of the browser's storage where that is refused

  const isObject = (x) => typeof x === "object" && x !== null && !Array.isArray(x);
  const texts = (x) => (Array.isArray(x) ? x.filter((item) => typeof item === "string") : []);
  const count = (x) => (Number.isInteger(x) && x >= 0 ? x : 0);
  const isPage = (x) => typeof x === "string" && /^[\w-]+(\/[\w-]+)*\.html$/.test(x);

  function sound(found) {
    // Whatever stands in the storage: only what has the right form is taken.
    const kept = { version: 1, pages: {}, last: null };
    if (!isObject(found) || found.version !== 1) return kept;
    for (const [name, page] of Object.entries(isObject(found.pages) ? found.pages : {})) {
      if (!isPage(name) || !isObject(page)) continue;
      kept.pages[name] = {
        title: String(page.title ?? ""),
        sections: count(page.sections),
        questions: count(page.questions),
        read: texts(page.read),
        right: texts(page.right),
      };
    }
    const last = found.last;
    if (isObject(last) && isPage(last.page)) {
      const text = (x) => (typeof x === "string" ? x : "");
      kept.last = { page: last.page, title: text(last.title), id: text(last.id), section: text(last.section) };
    }
    return kept;
  }

  function load() {
    if (memory) return memory;
    try {
      return sound(JSON.parse(localStorage.getItem(KEY)));
    } catch {
      return sound(null);
    }
  }

  function update(change) {
    const all = load(); // again each time: another tab may have written
    change(all);
    try {
      if (!memory) localStorage.setItem(KEY, JSON.stringify(all));
    } catch {
      memory = all;
    }
    return all;
  }

  function forget() {
    memory = memory && sound(null);
    try {
      localStorage.removeItem(KEY);
    } catch {
      // refused: there is nothing
    }
  }

  const make = (tag, settings = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(settings)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };
  const titleOf = (heading) => {
    const copy = heading.cloneNode(true);
    for (const link of copy.querySelectorAll(".headerlink")) link.remove();
    return copy.textContent.trim().replace(/\s+/g, " ");
  };

  // A page that is read: which sections it has, and when one counts as read.

  function sectionsOf(article) {
    const found = [];
    for (const section of article.querySelectorAll("section[id]")) {
      const heading = section.querySelector(":scope > :is(h2, h3)");
      if (!heading || section.closest("details.deeper")) continue;
      const own = [...section.children].filter((part) => part.tagName !== "SECTION" && part !== heading);
      if (own.length === 0) continue;
      const words = own.reduce((sum, part) => sum + part.textContent.split(/\s+/).length, 0);
      const needed = Math.min(MOST, Math.max(LEAST, words / WORDS_A_SECOND));
      found.push({ id: section.id, title: titleOf(heading), heading, end: own.at(-1), needed, seconds: 0, begun: false, ended: false });
    }
    return found;
  }

  function markRead(read) {
    for (const link of document.querySelectorAll("#pst-page-toc-nav a, .page-toc a")) {
      if (!read.includes(link.hash.slice(1)) || link.querySelector(".read-mark")) continue;
      link.append(
        make("span", { class: "read-mark" }, make("span", { "aria-hidden": "true" }, " ✓"),
          make("span", { class: "visually-hidden" }, " (read)")),
      );
    }
  }

  function markAnswered(forms, right) {
    for (const form of forms) {
      const number = form.querySelector(".quiz-number");
      if (!right.includes(nameOf(form)) || number.querySelector(".quiz-done")) continue;
      number.append(make("span", { class: "quiz-done" }, " · ✓ answered right"));
    }
  }

  const nameOf = (form) => form.querySelector("input").name;

  function followReader(article) {
    const sections = sectionsOf(article);
    const forms = [...article.querySelectorAll("form.quiz-question")];
    const ids = sections.map((section) => section.id);
    const names = forms.map(nameOf);
    const title = titleOf(article.querySelector("h1"));
    const page = (all) => {
      const old = all.pages[here] ?? { read: [], right: [] };
      all.pages[here] = {
        title,
        sections: ids.length,
        questions: names.length,
        read: old.read.filter((id) => ids.includes(id)),
        right: old.right.filter((name) => names.includes(name)),
      };
      return all.pages[here];
    };
    const showMarks = (all) => {
      markRead(all.pages[here]?.read ?? []);
      markAnswered(forms, all.pages[here]?.right ?? []);
    };
    showMarks(load());
    article.addEventListener("quiz-answered", (event) => {
      const name = nameOf(event.target);
      showMarks(update((all) => page(all).right.includes(name) || page(all).right.push(name)));
    });
    let place = null;
    let stayed = 0;
    const tick = () => {
      if (document.visibilityState !== "visible") return;
      const fresh = sections.filter((section) => isRead(section));
      const now = sections.findLast((s) => s.heading.getBoundingClientRect().top < innerHeight / 3) ?? null;
      stayed = now === place ? stayed + 1 : 0;
      place = now;
      const stopped = stayed === SETTLED;
      if (fresh.length === 0 && !stopped) return;
      showMarks(update((all) => {
        const mine = page(all);
        mine.read = [...new Set([...mine.read, ...fresh.map((section) => section.id)])];
        if (stopped) all.last = { page: here, title, id: now?.id ?? "", section: now?.title ?? "" };
      }));
    };
    setInterval(tick, 1000);
  }

  function isRead(section) {
    // Called once a second; true once, when both ends were seen and the time was long enough.
    if (section.told) return false;
    const top = section.heading.getBoundingClientRect().top;
    const bottom = section.end.getBoundingClientRect().bottom;
    if (top < innerHeight && bottom > 0) section.seconds += 1;
    section.begun ||= top >= 0 && top < innerHeight;
    section.ended ||= section.seconds > 0 && bottom < innerHeight + 1; // places are fractions of a pixel
    section.told = section.begun && section.ended && section.seconds >= section.needed;
    return section.told;
  }

  // The front page: the map, the list, and where to go on.

  const numberOf = (name) => name.match(/^chapters\/(\d\d)_/)?.[1];

  function shares(all) {
    const found = {};
    for (const [name, page] of Object.entries(all.pages)) {
      const total = page.sections + page.questions;
      if (numberOf(name) && total)
        found[numberOf(name)] = Math.min(1, (page.read.length + page.right.length) / total);
    }
    return found;
  }

  function fillMap(map, done) {
    for (const part of map.querySelectorAll(".map-fill")) {
      const chapters = part.dataset.chapters.split(" ");
      const mean = chapters.reduce((sum, chapter) => sum + (done[chapter] ?? 0), 0) / chapters.length;
      part.setAttribute("width", Math.round(mean * part.dataset.width));
    }
    for (const tick of map.querySelectorAll(".map-tick"))
      tick.setAttribute("visibility", done[tick.dataset.chapters] >= 1 ? "visible" : "hidden");
  }

  function lineOf(name, page) {
    const share = shares({ pages: { [name]: page } })[numberOf(name)] ?? 0;
    const words = [`${page.read.length} of ${page.sections} sections read`];
    if (page.questions) words.push(`${page.right.length} of ${page.questions} questions answered right`);
    return make("li", {},
      make("a", { href: new URL(name, root).href }, page.title),
      make("progress", { max: "1", value: String(share), "aria-label": `${page.title}: ${Math.round(100 * share)} %` }),
      make("span", { class: "progress-words" }, `${share >= 1 ? "✓ " : ""}${words.join(", ")}`));
  }

  function placeOf(last) {
    const address = new URL(last.page, root);
    if (last.id) address.hash = last.id;
    return make("a", { href: address.href }, last.section ? `${last.title}: ${last.section}` : last.title);
  }

  function dialogToForget(afterwards) {
    const dialog = make("dialog", { class: "progress-dialog", "aria-labelledby": "progress-question" },
      make("p", { id: "progress-question" }, "Forget what you have read and answered, and where you stopped?"),
      make("p", {}, "This can't be undone."));
    const yes = make("button", { type: "button" }, "Forget everything");
    const no = make("button", { type: "button", autofocus: "" }, "Keep it");
    yes.addEventListener("click", () => {
      forget();
      dialog.close();
      afterwards();
    });
    no.addEventListener("click", () => dialog.close());
    dialog.append(make("div", { class: "progress-buttons" }, no, yes));
    return dialog;
  }

  function showProgress(map, article) {
    const onward = make("p", { class: "progress-onward" });
    article.querySelector("h1").after(onward);
    const list = make("ul");
    const said = make("p", { role: "status" });
    const button = make("button", { type: "button", class: "progress-forget" }, "Forget my progress …");
    const dialog = dialogToForget(() => {
      draw();
      said.textContent = "Your progress is forgotten.";
      said.tabIndex = -1;
      said.focus();
    });
    button.addEventListener("click", () => dialog.showModal());
    const panel = make("div", { class: "progress-panel", role: "region", "aria-label": "Your progress" }, said, list, button, dialog);
    (map.closest("figure") ?? map).after(panel);
    const draw = () => {
      const all = load();
      const chapters = Object.keys(all.pages).filter(numberOf).sort();
      fillMap(map, shares(all));
      list.replaceChildren(...chapters.map((name) => lineOf(name, all.pages[name])));
      onward.replaceChildren(...(all.last ? ["Continue where you stopped: ", placeOf(all.last)] : []));
      onward.hidden = !all.last;
      const empty = chapters.length === 0 && !all.last;
      list.hidden = chapters.length === 0;
      button.hidden = empty;
      said.textContent = storable()
        ? `${empty ? "The map fills in as you read and answer. What you have done" : "Your progress"} is kept in this browser only, and sent nowhere.`
        : "This browser lets the page keep nothing, so the map stays empty.";
    };
    draw();
    window.addEventListener("storage", draw); // another tab
    window.addEventListener("pageshow", draw); // back from a chapter
  }

  function storable() {
    try {
      localStorage.setItem(`${KEY}-try`, "1");
      localStorage.removeItem(`${KEY}-try`);
      return true;
    } catch {
      return false;
    }
  }

  function isReference() {
    // Pages that are looked up, not read: those in the last part of the side bar, and those that aren't there.
    const current = [...document.querySelectorAll(".bd-links p.caption")].find((caption) =>
      caption.nextElementSibling?.querySelector(".current"));
    return !current || current.textContent.trim() === "Reference";
  }

  const article = document.querySelector("article.bd-article");
  const map = document.getElementById("progress-map");
  if (map) showProgress(map, article);
  else if (article?.querySelector("h1") && !isReference()) followReader(article);
})();
