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
