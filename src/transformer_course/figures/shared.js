// What the interactive figures have in common. `widget.py` puts this text in front of each figure's own script:
// the module that a notebook stores has to be one text.

const SVG = "http://www.w3.org/2000/svg";

/** A number with few digits and a real minus sign; never "-0.0". */
function digits(number, places) {
  const text = number.toFixed(places);
  return Number(text) === 0 ? (0).toFixed(places) : text.replace("-", "\u2212");
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

/** Draw now, and again whenever one of the named parts of the state changes; return how to stop. */
function follow(model, names, draw) {
  for (const name of names) model.on(`change:${name}`, draw);
  draw();
  return () => names.forEach((name) => model.off(`change:${name}`, draw));
}
