// Starts the slides. Their size follows the window, so that they can be read on a telephone and zoomed.
window.MathJax = { tex: { inlineMath: [["\\(", "\\)"]], displayMath: [["\\[", "\\]"]] } };

const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
const deck = new Reveal(document.querySelector(".reveal"), {
  hash: true,
  disableLayout: true,
  scrollActivationWidth: null,
  center: false,
  slideNumber: "c/t",
  transition: calm ? "none" : "fade",
  backgroundTransition: "none",
  plugins: [RevealNotes],
});

// Notes below the slide also work where a browser lets a page from the disk open no window.
function switchNotes() {
  document.body.classList.toggle("with-notes");
}

// Each slide begins at its top, and what is too long for the window can be scrolled by key.
function toTop({ currentSlide }) {
  currentSlide.scrollTop = 0;
  currentSlide.tabIndex = currentSlide.scrollHeight > currentSlide.clientHeight ? 0 : -1;
}

deck.on("slidechanged", toTop);
deck.initialize().then(() => {
  deck.addKeyBinding({ keyCode: 84, key: "T", description: "Notes below the slide" }, switchNotes);
  toTop({ currentSlide: deck.getCurrentSlide() });
});
