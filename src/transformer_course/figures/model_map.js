// The figure "map of the model": sizes come from the state; shapes and numbers are computed here, in the browser.

/** Where a chapter's page is, beside this one; in JupyterLab it is a notebook. */
const address = (stem) => `${stem}${location.pathname.endsWith(".html") ? ".html" : ".ipynb"}`;

/** The links of a part: pages of chapters, sections of this page, or what is still to come. */
function links(part, pages) {
  return part.chapters.map((chapter) => {
    const stem = pages[chapter];
    if (!stem) return html("span", {}, `Chapter ${chapter} (coming)`);
    const here = part.section && chapter === "06";
    const target = here ? `#${part.section}` : address(stem);
    const title = here ? "Open the section of this page" : `Open chapter ${chapter}, ${stem.slice(3).replaceAll("_", " ")}`;
    return html("a", { href: target }, title);
  });
}

/** The map: the frames of both stacks, and a button for each part. */
function drawMap(press) {
  const map = html("div", { class: "tc-parts", role: "group", "aria-label": "Parts of the model" });
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
    const element = button("", () => press(id), { class: `tc-part tc-${stack}`, "data-part": id });
    element.append(html("span", {}, part.name), html("span", { class: "tc-badges" }, ...badges));
    element.style.gridRow = row;
    buttons[id] = element;
    map.append(element);
  }
  return { map, buttons };
}

function render({ model, el }) {
  const [sizes, pages] = ["sizes", "pages"].map((name) => model.get(name));
  const menus = [
    menu("Model", (i) => change(model, { size: i })),
    menu("What happens", (i) => change(model, { task: TASKS[i] })),
  ];
  const { map, buttons } = drawMap((id) => change(model, { part: id }));
  const said = html("div", { class: "tc-said", role: "status" });
  const numbers = html("p", { class: "tc-total" });
  const top = html("div", { class: "tc-menus" }, ...menus.map((m) => m.label));
  mount(el, "tc-model-map", "Map of the model", top, numbers, map, said);

  function draw() {
    const { lengths, task } = read(model, ["lengths", "task"]);
    const size = Math.min(model.get("size"), sizes.length - 1);
    const c = sizes[size];
    const id = PARTS[model.get("part")] ? model.get("part") : "memory";
    const part = PARTS[id];
    menus[0].show(sizes.map(({ name }) => name), size);
    menus[1].show(TASKS, TASKS.indexOf(task));
    numbers.textContent = summary(c);
    for (const stack of Object.keys(FRAME)) {
      map.querySelector(`.tc-frame.tc-${stack} span`).textContent = `\u00D7 ${c[`n_${stack}_layers`]} layers`;
    }
    for (const [name, element] of Object.entries(buttons)) {
      element.setAttribute("aria-pressed", name === id);
      element.classList.toggle("tc-off", idle(name, task));
    }
    const where = part.only === "training" ? "training" : part.at.split(" ")[0];
    const facts = factsOf(id, c, lengths).map(([name, text]) => namedRow(name, [html("td", {}, text)]));
    said.replaceChildren(
      html("p", { class: "tc-name" }, `${part.name} (${where})`),
      html("p", {}, about(id, c, task)),
      html("table", {}, html("tbody", {}, ...facts)),
      html("p", { class: "tc-open" }, ...links(part, pages)),
    );
  }

  return follow(model, ["size", "task", "part", "lengths"], draw);
}

export default { render };
