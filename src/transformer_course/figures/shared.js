// What the interactive figures have in common. `widget.py` puts this text in front of each figure's own script:
// the module that a notebook stores has to be one text.

const SVG = "http://www.w3.org/2000/svg";

/** The stable form of softmax. */
function softmax(scores) {
  const highest = Math.max(...scores);
  const exponentials = scores.map((score) => Math.exp(score - highest));
  const total = exponentials.reduce((sum, e) => sum + e, 0);
  return exponentials.map((e) => e / total);
}

/** A number with few digits and a real minus sign; never "-0.0". */
function digits(number, places) {
  const text = number.toFixed(places);
  return Number(text) === 0 ? (0).toFixed(places) : text.replace("-", "\u2212");
}

/** A vector as text: its numbers in brackets. */
function point(vector, places) {
  return `(${vector.map((number) => digits(number, places)).join(", ")})`;
}

/** Make an HTML element: attributes, then children or text. */
function html(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function svg(parent, tag, attributes = {}, text = "") {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text) element.textContent = text;
  parent.append(element);
  return element;
}

function dot(a, b) {
  return a.reduce((sum, number, i) => sum + number * b[i], 0);
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

/** Draw now, and again whenever one of the named parts of the state changes; return how to stop. */
function follow(model, names, draw) {
  for (const name of names) model.on(`change:${name}`, draw);
  draw();
  return () => names.forEach((name) => model.off(`change:${name}`, draw));
}

/** JupyterLab has arrow keys, space and enter of its own: inside a figure they belong to the figure. */
function keepKeys(root) {
  root.addEventListener("keydown", (event) => {
    if (!event.ctrlKey && !event.metaKey) event.stopPropagation();
  });
}
