// Quizzes: on "Check", say whether the answer is right and show why. Without scripts all is readable.
"use strict";

function checkQuestion(form) {
  const choices = [...form.querySelectorAll(".quiz-choice")];
  const verdict = form.querySelector(".quiz-verdict");
  const chosen = choices.filter((choice) => choice.querySelector("input").checked);
  const right = choices.filter((choice) => choice.dataset.correct === "true");
  const hits = chosen.filter((choice) => choice.dataset.correct === "true");
  for (const choice of choices) {
    const told = chosen.includes(choice);
    const input = choice.querySelector("input");
    const why = choice.querySelector(".quiz-why");
    choice.classList.toggle("told", told);
    if (told) input.setAttribute("aria-describedby", why.id);
    else input.removeAttribute("aria-describedby");
  }
  form.dataset.state = "";
  if (chosen.length === 0) {
    verdict.textContent = "Choose an answer first.";
  } else if (hits.length < chosen.length) {
    form.dataset.state = "wrong";
    const words = [...new Set(chosen.filter((choice) => !hits.includes(choice)))];
    verdict.textContent =
      words.length > 1 ? "Not right yet: read the notes." : "Not right yet: read the note.";
  } else if (hits.length < right.length) {
    form.dataset.state = "partly";
    const left = right.length - hits.length;
    verdict.textContent = `Right so far; ${left} more right ${left > 1 ? "answers are" : "answer is"} left.`;
  } else {
    form.dataset.state = "right";
    verdict.textContent = "Right.";
    form.dispatchEvent(new CustomEvent("quiz-answered", { bubbles: true })); // progress.js listens
  }
}

for (const form of document.querySelectorAll("form.quiz-question")) {
  form.classList.add("live");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    checkQuestion(form);
  });
  form.addEventListener("change", () => {
    // a new choice takes back the old verdict
    form.dataset.state = "";
    form.querySelector(".quiz-verdict").textContent = "";
    for (const choice of form.querySelectorAll(".quiz-choice")) {
      choice.classList.remove("told");
      choice.querySelector("input").removeAttribute("aria-describedby");
    }
  });
}
