// Shows the page's interactive figures. Their manager has 3.6 MB: it is loaded when the first figure comes near.
"use strict";
{
  const here = new URL("vendor/widgets/", document.currentScript.src).href;
  window.courseWidgets = here; // where the manager's icon fonts are, see tools/fetch_vendor.py

  function load(name, attributes = {}) {
    return new Promise((resolve, reject) => {
      const script = document.createElement("script");
      for (const [key, value] of Object.entries(attributes)) script.setAttribute(key, value);
      script.onload = resolve;
      script.onerror = reject;
      script.src = here + name;
      document.head.append(script);
    });
  }

  // The manager typesets labels through MathJax 2's queue; the book has MathJax 3, where there are formulas.
  function queue([, , element]) {
    window.MathJax.startup?.promise.then(() => window.MathJax.typesetPromise([element]));
  }

  async function showFigures() {
    await load("require.js");
    // The manager asks RequireJS for a widget's module before it would ask another host.
    window.requirejs.config({
      paths: {
        anywidget: here + "anywidget",
        "@jupyter-widgets/html-manager/dist": here.replace(/\/$/, ""), // icon fonts
      },
    });
    window.MathJax ??= {};
    window.MathJax.Hub = { Config() {}, Configured() {}, Queue: queue };
    await load("embed-amd.js", { "data-jupyter-widgets-cdn": "about:blank/" });
  }

  const observer = new IntersectionObserver(
    (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      showFigures();
    },
    { rootMargin: "1000px 0px" }, // more than a window above and below
  );
  for (const view of document.querySelectorAll('script[type$="widget-view+json"]')) {
    observer.observe(view.parentElement); // a script has no place of its own
  }
}
