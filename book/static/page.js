// Repairs of the theme's markup that style sheets cannot make: accessible names, roles and landmarks.
"use strict";

for (const button of document.querySelectorAll(".search-button-field")) {
  button.removeAttribute("aria-label"); // its visible text, "Search", is its name
}
for (const brand of document.querySelectorAll(".bd-sidebar-primary .navbar-brand")) {
  brand.parentElement.setAttribute("role", "banner");
}
for (const entry of document.querySelectorAll(".citation-list, .citation-list [role^='doc-']")) {
  entry.removeAttribute("role"); // deprecated ones, which screen readers don't know
}
for (const summary of document.querySelectorAll("details.hide > summary")) {
  summary.removeAttribute("aria-label"); // "Show code cell source" stands there to be read
}
for (const toggle of document.querySelectorAll(".bd-sidebar-primary li > details > summary")) {
  const page = toggle.closest("li").querySelector("a").textContent.trim();
  toggle.setAttribute("aria-label", `Pages under ${page}`);
}
for (const list of document.querySelectorAll("dt.sig dl")) {
  // a signature over several lines is no list of definitions
  for (const part of [...list.querySelectorAll("dd"), list]) {
    const block = document.createElement("span");
    block.className = part === list ? "sig-lines" : "sig-line";
    block.append(...part.childNodes);
    part.replaceWith(block);
  }
}
function openTarget() {
  // A link to the heading of a folded section opens it. (One to something inside is opened by the browser.)
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const section = target?.matches("span:empty") ? target.parentElement : target; // a label stands beside the fold
  const fold = section?.querySelector(":scope > details.deeper");
  if (fold) fold.open = true;
}
openTarget();
window.addEventListener("hashchange", openTarget);
window.addEventListener("beforeprint", () => {
  for (const fold of document.querySelectorAll("details.deeper")) fold.open = true;
});
function unnameIcons() {
  // the icons of the colour switch carry names that contradict the button's own
  for (const icon of document.querySelectorAll(".theme-switch-button .theme-switch")) {
    icon.querySelector("title")?.remove();
    for (const name of ["title", "role", "aria-labelledby"]) icon.removeAttribute(name);
    icon.setAttribute("aria-hidden", "true");
  }
}
unnameIcons(); // before they become pictures
window.addEventListener("load", unnameIcons);
