// What the interactive figures have in common: numbers first, then elements and controls. `widget.py` puts this text
// in front of each figure's own: the module that a notebook stores has to be one text.

const SVG = "http://www.w3.org/2000/svg";

/** The stable form of softmax. */
export function softmax(scores) {
  const highest = Math.max(...scores);
  const exponentials = scores.map((score) => Math.exp(score - highest));
  const total = sum(exponentials);
  return exponentials.map((e) => e / total);
}

export function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}

export function dot(a, b) {
  return sum(a.map((number, i) => number * b[i]));
}

/** Where the largest number stands. */
export function largest(numbers) {
  return numbers.indexOf(Math.max(...numbers));
}

export function clamp(number, low, high) {
  return Math.min(high, Math.max(low, number));
}

/** The entropy of a distribution in nats; 0 ln 0 counts as 0. */
export function entropyOf(probs) {
  return Math.max(0, -sum(probs.map((p) => (p > 0 ? p * Math.log(p) : 0))));
}

/** Random numbers from 0 to 1, the same ones for the same start (mulberry32). */
export function randomNumbers(start) {
  let state = start | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A number with few digits and a real minus sign; never "-0.0". */
export function digits(number, places) {
  const text = number.toFixed(places);
  return Number(text) === 0 ? (0).toFixed(places) : text.replace("-", "\u2212");
}

/** A vector as text: its numbers in brackets. */
export function point(vector, places) {
  return `(${vector.map((number) => digits(number, places)).join(", ")})`;
}

/** How many there are: "1 step", "2 steps". */
export function counted(number, name) {
  return `${number.toLocaleString("en")} ${name}${number === 1 ? "" : "s"}`;
}

/** The named parts of the state. */
function read(model, names) {
  return Object.fromEntries(names.map((name) => [name, model.get(name)]));
}

/** Change some parts of the state. */
function change(model, changes) {
  for (const [name, value] of Object.entries(changes)) model.set(name, value);
  model.save_changes();
}

/** Draw now, and again whenever one of the named parts of the state changes; return how to stop. */
function follow(model, names, draw) {
  for (const name of names) model.on(`change:${name}`, draw);
  draw();
  return () => names.forEach((name) => model.off(`change:${name}`, draw));
}

function setAll(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
}

/** Make an HTML element: attributes, then children or text. */
function html(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  setAll(element, attributes);
  element.append(...children);
  return element;
}

/** Make an element of a drawing, and put it there. */
function svg(parent, tag, attributes = {}, text = "") {
  const element = document.createElementNS(SVG, tag);
  setAll(element, attributes);
  if (text) element.textContent = text;
  parent.append(element);
  return element;
}

/** An empty drawing. */
function canvas(attributes) {
  const element = document.createElementNS(SVG, "svg");
  setAll(element, attributes);
  return element;
}

/** Put a figure into the page: its frame, and what stands in it. */
function mount(el, kind, label, ...children) {
  const root = html("div", { class: `tc-widget ${kind}`, role: "group", "aria-label": label }, ...children);
  el.replaceChildren(root);
  keepKeys(root);
}

/** JupyterLab has arrow keys, space and enter of its own: inside a figure they belong to the figure. */
function keepKeys(root) {
  root.addEventListener("keydown", (event) => {
    if (!event.ctrlKey && !event.metaKey) event.stopPropagation();
  });
}

/** The sentence below a figure, read out when it changes. */
function verdict() {
  return html("p", { class: "tc-result", role: "status" });
}

function button(text, press, attributes = {}) {
  const element = html("button", { type: "button", ...attributes }, text);
  element.addEventListener("click", press);
  return element;
}

/** A native slider with its name and its number; `changed` gets the number. */
function slider(name, [min, max, step], changed) {
  const input = html("input", { type: "range", min, max, step });
  const number = html("span", { class: "tc-number" });
  const label = html("label", { class: "tc-slider" }, html("span", {}, name), input, number);
  input.addEventListener("input", () => changed(Number(input.value)));
  const show = (value, text) => {
    input.value = value;
    number.textContent = text;
  };
  return { input, label, show };
}

/** A native check box with its name; `changed` gets true or false. */
function tick(name, changed) {
  const input = html("input", { type: "checkbox", autocomplete: "off" });
  const label = html("label", { class: "tc-tick" }, input, name);
  input.addEventListener("change", () => changed(input.checked));
  return { label, show: (on) => (input.checked = on) };
}

/** A group of controls with a title. */
function group(title, kind, ...children) {
  return html("fieldset", { class: `tc-group ${kind}` }, html("legend", {}, title), ...children);
}

let groups = 0; // radio buttons of several figures must not share a name

/** Native radio buttons in a group with a title; `changed` gets the number of the one that is chosen. */
function choices(title, name, contents, changed) {
  groups += 1;
  const found = contents.map((content, i) => {
    const input = html("input", { type: "radio", name: `tc-${name}-${groups}`, value: i, autocomplete: "off" });
    input.addEventListener("change", () => changed(i));
    return { input, label: html("label", {}, input, ...[content].flat()) };
  });
  const labels = found.map((one) => one.label);
  const element = group(title, `tc-${name}`, ...labels);
  const show = (chosen) => found.forEach(({ input }, i) => (input.checked = i === chosen));
  return { element, labels, show };
}

/** A native menu with its label; `changed` gets the number of the line that is chosen. */
function menu(title, changed) {
  const select = html("select", { "aria-label": title });
  const label = html("label", { class: "tc-menu" }, html("span", { "aria-hidden": "true" }, title), select);
  select.addEventListener("change", () => changed(Number(select.value)));
  let shown = "";
  const show = (names, chosen) => {
    if (shown !== names.join("\n")) select.replaceChildren(...names.map((name, i) => html("option", { value: i }, name)));
    shown = names.join("\n");
    select.value = chosen;
  };
  return { label, show };
}

/** The row of a table's headings; an empty one is no heading. */
function headings(titles) {
  return html("tr", {}, ...titles.map((title) => (title ? html("th", { scope: "col" }, title) : html("td"))));
}

/** A row of a table: its name, then its cells. */
function namedRow(name, cells, attributes = {}) {
  return html("tr", attributes, html("th", { scope: "row" }, name), ...cells);
}

/** A cell for a number. */
function numberCell(text = "") {
  return html("td", { class: "tc-number" }, text);
}

/** A table with headings; rows can be put into its body later. */
function tableOf(titles, rows = []) {
  const body = html("tbody", {}, ...rows);
  return { element: html("table", {}, html("thead", {}, headings(titles)), body), body };
}

/** A weight as a number and a bar; `show` sets both. */
function share() {
  const number = html("span", { class: "tc-share" });
  const bar = html("span", { class: "tc-bar", "aria-hidden": "true" });
  const element = html("span", { class: "tc-weight" }, number, bar);
  const show = (weight) => {
    number.textContent = digits(weight, 3);
    bar.style.setProperty("--share", weight);
  };
  return { element, show };
}

/** Where an event is in an element: two numbers from 0 to 1, from the left and from the top. */
function placeIn(element, event) {
  const box = element.getBoundingClientRect();
  return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
}

/** A knob in a drawing, dragged by mouse, pen or finger; for the keyboard and for readers it is a slider.
 *  `start` and `move` get the event; `press` gets the key's event and says whether it meant something. */
function knob(parent, name, { start, move, press }, attributes = {}) {
  const label = `${name}: drag it, or use the arrow keys`;
  const handle = svg(parent, "g", { class: "tc-handle", role: "slider", tabindex: "0", "aria-label": label, ...attributes });
  let dragging = false;
  handle.addEventListener("pointerdown", (event) => {
    dragging = true;
    start?.(event);
    handle.setPointerCapture(event.pointerId);
    handle.focus({ preventScroll: true });
    event.preventDefault();
  });
  // Browsers differ in where touch-action counts in a drawing: this also keeps the page from scrolling.
  handle.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false });
  handle.addEventListener("pointermove", (event) => dragging && move(event));
  for (const end of ["pointerup", "pointercancel"]) handle.addEventListener(end, () => (dragging = false));
  handle.addEventListener("keydown", (event) => {
    if (press(event)) event.preventDefault(); // the page stays where it is
  });
  return handle;
}
