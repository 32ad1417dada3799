// The page of `transformer-course serve`. Whatever a sentence or a translation holds is shown as text.
const form = document.getElementById("form");
const state = document.getElementById("state");
const list = document.getElementById("translations");

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  tell("Translating …");
  list.replaceChildren();
  const text = document.getElementById("text").value.split("\n");
  const beam = Number(document.getElementById("beam").value);
  const started = performance.now();
  try {
    const response = await fetch("translate", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ text, beam }),
    });
    const answer = await response.json();
    if (!response.ok) {
      tell(answer.error, true);
      return;
    }
    list.replaceChildren(...answer.translations.map(item));
    tell(`${Math.round(performance.now() - started)} ms`);
  } catch {
    tell("The server doesn't answer.", true);
  }
});

function tell(text, wrong = false) {
  state.textContent = text;
  state.classList.toggle("error", wrong);
}

function item(found) {
  const entry = document.createElement("li");
  entry.textContent = found.text;
  for (const text of notes(found)) {
    const note = document.createElement("span");
    note.className = "note";
    note.textContent = text;
    entry.append(note);
  }
  return entry;
}

function notes(found) {
  return [
    found.unseen.length && `not in the training text: ${found.unseen.join(", ")}`,
    found.untranslated.length && `perhaps left out: ${found.untranslated.join(", ")}`,
    found.doubtful && "the model is unsure of this translation",
    found.cut && "the model found no end, so the translation is cut",
  ].filter(Boolean);
}
