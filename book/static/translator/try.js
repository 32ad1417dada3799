// The page "Try it": reads the translator when it is wanted, and puts the inspector into the page.
"use strict";

(() => {
  const root = document.getElementById("try-it");
  if (!root) return;
  const here = document.currentScript.src;

  /**
   * What a link from a chapter asks for: ?text=…&beam=…&view=cross, self or encoder &break=positions, scale, feedForward,
   * causalMask, or head or layer with its name.
   */
  function asked() {
    const query = new URLSearchParams(location.search);
    const wish = { broken: {}, chapters: new URL("../../chapters/", here).href };
    if (query.has("text")) wish.text = query.get("text").slice(0, 200);
    if (/^[1-5]$/.test(query.get("beam"))) wish.beam = Number(query.get("beam"));
    if (["cross", "self", "encoder"].includes(query.get("view"))) wish.side = query.get("view");
    const [kind, name] = (query.get("break") ?? "").split(":");
    if (["positions", "scale", "feedForward", "causalMask"].includes(kind)) wish.broken[kind] = true;
    if (["head", "layer"].includes(kind) && name) wish.broken[`${kind}s`] = [name];
    return wish;
  }

  /** Scripts are read from beside this one, also from the disk. */
  function read(source) {
    return new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = new URL(source, here).href;
      script.addEventListener("load", resolve);
      script.addEventListener("error", () => reject(new Error(`${source} is missing`)));
      document.head.append(script);
    });
  }

  const begin = document.createElement("button");
  begin.type = "button";
  begin.textContent = "Start the translator (2 MB)";
  begin.addEventListener("click", async () => {
    begin.disabled = true;
    begin.textContent = "Loading …";
    try {
      for (const source of ["../translator.js", "../inspector.js", "weights.js"]) await read(source);
      const translator = await CourseTranslator.load(courseTranslatorFile);
      CourseInspector.mount(root, translator, asked()).focus();
    } catch (error) {
      begin.textContent = `It can't be loaded here: ${error.message}`;
    }
  });
  root.classList.add("course-inspector");
  root.replaceChildren(begin);
  if (new URLSearchParams(location.search).has("text")) begin.click(); // who follows such a link wants it
})();
