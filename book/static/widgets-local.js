// Loaded between RequireJS and the widget manager: makes the manager find everything in this book.
"use strict";
{
  const here = new URL("vendor/widgets/", document.currentScript.src).href;
  window.courseWidgets = here; // where the manager's icon fonts are, see tools/fetch_vendor.py
  // The manager asks RequireJS for a widget's module before it would ask another host.
  window.requirejs.config({
    paths: {
      anywidget: here + "anywidget",
      "@jupyter-widgets/html-manager/dist": here.replace(/\/$/, ""), // icon fonts
    },
  });
  // The manager typesets labels through MathJax 2's queue; the book has MathJax 3. This listener
  // comes before the manager's own, and after MathJax, which replaces window.MathJax as it starts.
  window.addEventListener("load", () => {
    window.MathJax.Hub = {
      Config() {},
      Configured() {},
      Queue([, , element]) {
        window.MathJax.startup.promise.then(() => window.MathJax.typesetPromise([element]));
      },
    };
  });
}
