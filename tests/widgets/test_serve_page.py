"""The script of `transformer-course serve`, run in Node on a page of a few parts: texts stay texts."""

import json
import subprocess
from importlib.resources import files
from typing import Any

import pytest

from .node import node

PAGE = r"""
const parts = new Map();
class Part {
  constructor(tag) {
    this.tag = tag;
    this.children = [];
    this.text = "";
    this.classes = new Set();
    this.classList = {
      toggle: (name, on) => (on ? this.classes.add(name) : this.classes.delete(name)),
    };
  }
  get textContent() { return this.text; }
  set textContent(text) { this.text = text; this.children = []; }
  set innerHTML(text) { throw new Error("text became HTML"); }
  replaceChildren(...children) { this.children = children; }
  append(...children) { this.children.push(...children); }
  addEventListener(kind, listener) { this[kind] = listener; }
}
const document = {
  getElementById: (id) => parts.get(id) ?? parts.set(id, new Part(id)).get(id),
  createElement: (tag) => new Part(tag),
};
let asked = null;
const fetch = async (address, options) => {
  asked = { address, ...options, body: JSON.parse(options.body) };
  if (ANSWER === null) throw new TypeError("no answer");
  return { ok: ANSWER.status === 200, json: async () => ANSWER.body };
};
"""
PRESS = r"""
document.getElementById("text").value = TEXT;
document.getElementById("beam").value = "3";
let prevented = false;
document.getElementById("form").submit({ preventDefault: () => { prevented = true; } }).then(() => {
  const state = document.getElementById("state");
  const lines = document.getElementById("translations").children.map((entry) => ({
    tag: entry.tag, text: entry.text, notes: entry.children.map((note) => note.text),
  }));
  const wrong = state.classes.has("error");
  console.log(JSON.stringify({ asked, prevented, state: state.text, wrong, lines }));
});
"""


def pressed(text: str, answer: dict[str, Any] | None) -> Any:
    """What the page shows after the button was pressed."""
    script = files("transformer_course.serve").joinpath("page.js").read_text(encoding="utf-8")
    given = f"const TEXT = {json.dumps(text)}, ANSWER = {json.dumps(answer)};\n"
    program = f"{given}{PAGE}\n{script}\n{PRESS}"
    run = subprocess.run(
        [node()], input=program, capture_output=True, encoding="utf-8", check=False
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def record(text: str, **said: object) -> dict[str, object]:
    return {"text": text, "unseen": [], "doubtful": False, "untranslated": [], "cut": False, **said}


def test_each_line_is_asked_for_and_shown_as_text() -> None:
    found = [record("<b>un</b>"), record(""), record("deux", unseen=["<i>"], cut=True)]
    shown = pressed("<script>\n\ntwo", {"status": 200, "body": {"translations": found}})
    assert shown["prevented"]
    assert shown["asked"]["address"] == "translate"
    assert shown["asked"]["method"] == "POST"
    assert shown["asked"]["headers"] == {"Content-Type": "application/json"}
    assert shown["asked"]["body"] == {"text": ["<script>", "", "two"], "beam": 3}
    assert not shown["wrong"]
    assert shown["state"].endswith(" ms")
    cut = "the model found no end, so the translation is cut"
    notes: list[list[str]] = [[], [], ["not in the training text: <i>", cut]]
    assert shown["lines"] == [
        {"tag": "li", "text": r["text"], "notes": n} for r, n in zip(found, notes, strict=True)
    ]


def test_all_that_the_model_says_of_a_translation_is_shown() -> None:
    found = [record("un", doubtful=True, untranslated=["two", "three"])]
    shown = pressed("one", {"status": 200, "body": {"translations": found}})
    assert shown["lines"][0]["notes"] == [
        "perhaps left out: two, three",
        "the model is unsure of this translation",
    ]


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"status": 413, "body": {"error": "too <long>"}}, "too <long>"),
        (None, "The server doesn't answer."),
    ],
)
def test_an_error_is_shown_as_text(answer: dict[str, Any] | None, told: str) -> None:
    shown = pressed("one", answer)
    assert (shown["state"], shown["wrong"], shown["lines"]) == (told, True, [])
