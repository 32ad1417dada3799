"""The figure of the families: every square is the package's, by mouse, finger and keyboard; no kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Locator
from widgets import family_cases

from .conftest import TELEPHONE

Open = Callable[..., Locator]
FIGURE = ("chapters/11_families.html", ".tc-families")
START = {"family": "encoder–decoder", "objective": "next", "layers": 2, "spared": False}
NEXT, HIDDEN = "guess the next token", "guess hidden tokens"
SPARED = "hide the answers’ squares"
LATE = "its answer, heard of: a leak"

SHOWN = """figure => {
  const rows = [...figure.querySelectorAll('tbody tr')];
  const classes = (square) => square.className.split(' ');
  return {
    reads: rows.map((row) => row.querySelector('th').innerText.trim()),
    keys: [...figure.querySelectorAll('thead .tc-key-head')].map((head) => head.innerText.trim()),
    squares: rows.map((row) => [...row.querySelectorAll('td:not(.tc-answer)')].map((square) =>
      classes(square).includes('tc-seen') || (classes(square).includes('tc-none') ? null : false))),
    heard: rows.map((row) => [...row.querySelectorAll('.tc-heard')].map((words) => words.textContent)),
    answers: rows.map((row) => row.querySelector('.tc-answer').innerText),
    leaks: rows.flatMap((row, i) => row.querySelector('.tc-leak') ? [i] : []),
    chosen: rows.findIndex((row) => row.classList.contains('tc-chosen')),
    looked: [...figure.querySelectorAll('.tc-key-head')].map((head) => head.classList.contains('tc-looked-at')),
    said: [...figure.querySelectorAll('.tc-result')].map((p) => p.innerText),
  };
}"""


def agrees(figure: Locator, token: int, **changes: Any) -> None:
    """Squares, answers, leaks and both sentences are what the package says."""
    state = family_cases.OWN | START | changes
    now = family_cases.judged(state)
    shown = figure.evaluate(SHOWN)
    assert shown["reads"] == shown["keys"] == now["reads"]
    assert shown["squares"] == [list(row) for row in now["mask"]]
    assert shown["answers"] == [guess["word"] if guess else "–" for guess in now["guesses"]]
    assert shown["leaks"] == now["leaks"]
    assert shown["chosen"] == token
    assert shown["looked"] == [bool(seen) for seen in now["mask"][token]]
    sentences = [family_cases.seen_by(state, token), " ".join(family_cases.verdict(state))]
    assert shown["said"] == sentences
    for row, open_ones in zip(shown["heard"], now["mask"], strict=True):  # more than colours
        for words, seen in zip(row, open_ones, strict=True):
            meant = {True: ("sees", "its answer, seen: a leak"), None: ("no such attention",)}
            assert words in meant.get(seen, ("may not see", "its answer, not seen", LATE))


def test_the_mouse_switches_and_points(open_figure: Open) -> None:
    """Each switch; pointing at a row is enough to hear what its token sees."""
    figure = open_figure(*FIGURE)
    agrees(figure, 5)
    rows = figure.locator("tbody tr")
    rows.nth(1).locator("td").nth(2).hover()
    agrees(figure, 1)
    for family in ("encoder only", "decoder only", "prefix"):
        figure.get_by_label(family, exact=True).check()
        agrees(figure, 1, family=family)
    figure.get_by_label(HIDDEN).check()
    agrees(figure, 1, family="prefix", objective="hidden")
    assert figure.get_by_label(SPARED).is_disabled()
    figure.get_by_label(NEXT).check()
    figure.get_by_label("encoder only", exact=True).check()
    figure.get_by_label(SPARED).check()
    agrees(figure, 1, family="encoder only", spared=True)
    assert "a leak in two layers" in figure.locator(".tc-result").first.inner_text()
    figure.get_by_label("1 layer").check()
    agrees(figure, 1, family="encoder only", spared=True, layers=1)
    rows.nth(6).locator("td").last.click()
    agrees(figure, 6, family="encoder only", spared=True, layers=1)


def test_the_keyboard_does_everything(open_figure: Open) -> None:
    """Tab to a group, the arrow keys among round buttons, the tokens among them, space on a tick."""
    figure = open_figure(*FIGURE)
    keyboard = figure.page.keyboard
    figure.get_by_label("encoder–decoder").focus()
    keyboard.press("ArrowDown")
    agrees(figure, 5, family="encoder only")
    keyboard.press("Tab")
    keyboard.press("Tab")
    keyboard.press("ArrowUp")
    agrees(figure, 5, family="encoder only", layers=1)
    keyboard.press("Tab")
    keyboard.press("Space")
    agrees(figure, 5, family="encoder only", layers=1, spared=True)
    keyboard.press("Tab")
    keyboard.press("ArrowDown")
    keyboard.press("ArrowDown")  # from the last token to the first
    agrees(figure, 0, family="encoder only", layers=1, spared=True)
    row = figure.locator("tbody tr").first
    assert row.evaluate("e => getComputedStyle(e).outlineStyle") == "solid"
    assert figure.page.evaluate("document.activeElement.labels[0].innerText.trim()") == "the"


def test_a_finger_chooses(open_figure: Open) -> None:
    """On a telephone, a tap on a square or on a word is enough, and all fits."""
    figure = open_figure(*FIGURE, **TELEPHONE)
    figure.get_by_text("decoder only", exact=True).tap()
    figure.get_by_text(HIDDEN, exact=True).tap()
    rows = figure.locator("tbody tr")
    rows.nth(3).locator("td").nth(1).tap()
    agrees(figure, 3, family="decoder only", objective="hidden")
    rows.nth(0).locator("label").tap()
    agrees(figure, 0, family="decoder only", objective="hidden")
    assert figure.evaluate("e => e.scrollWidth <= e.clientWidth + 1")
    box = figure.locator("table").bounding_box()
    assert box
    assert box["x"] + box["width"] <= 390
    heights = [label.bounding_box()["height"] for label in figure.locator("label").all()]  # type: ignore[index]
    assert min(heights) >= 24  # large enough for a finger
