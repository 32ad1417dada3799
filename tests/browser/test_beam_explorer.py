"""The beam search to step through: the package's answers, by mouse, finger and keyboard, without a kernel."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Locator, Page

from .conftest import ROOT, TELEPHONE

Open = Callable[..., Locator]
FIGURE = ("chapters/09_decoding.html", ".tc-beam")
END = "</s>"


def stored() -> dict[str, Any]:
    """What the notebook stores of the figure."""
    text = (ROOT / "chapters" / "09_decoding.ipynb").read_text(encoding="utf-8")
    widgets = json.loads(text)["metadata"]["widgets"]
    states = widgets["application/vnd.jupyter.widget-state+json"]["state"].values()
    return next(dict(s["state"]) for s in states if "trees" in s["state"])


def recorded() -> list[tuple[int, dict[str, str]]]:
    """For each tree of the trained model: its place in the figure, and what the package found in it."""
    path = ROOT / "book" / "experiments" / "decoding.json"
    seeds = json.loads(path.read_text(encoding="utf-8"))["seeds"]
    found = {tree["source"]: tree["found"] for s in seeds for tree in s["texts"]["trees"]}
    names = [tree["name"] for tree in stored()["trees"]]
    return [(i, found[name]) for i, name in enumerate(names) if name in found]


def spelled(pieces: str) -> str:
    """The text of pieces with spaces between them."""
    return "".join(p for p in pieces.split(" ") if p != END).replace("▁", " ").strip()


def rows(figure: Locator, caption: str) -> list[list[str]]:
    """The texts of a table's rows, real minus signs replaced."""
    table = figure.locator("table").filter(has_text=caption)
    return [
        [cell.replace("−", "-") for cell in row.locator("th, td").all_inner_texts()]
        for row in table.locator("tbody tr").all()
    ]


def boxes(figure: Locator) -> list[str]:
    """The words in the boxes of the tree, from top to bottom and left to right."""
    return figure.locator(".tc-node .tc-word").all_text_contents()


def answer(figure: Locator) -> str:
    """The sentence that the search returns."""
    found = re.search(r"The answer is “(.+)”", figure.locator(".tc-result").inner_text())
    assert found
    return found[1]


def slide(page: Page, figure: Locator, name: str, start: float, step: float, to: float) -> None:
    """Move a slider with the arrow keys."""
    figure.get_by_role("slider", name=name).focus()
    for _ in range(round(abs(to - start) / step)):
        page.keyboard.press("ArrowRight" if to > start else "ArrowLeft")


def test_the_example_by_hand_step_by_step(open_figure: Open) -> None:
    """The table of the page: what is compared, what stays, what ends, what wins."""
    figure = open_figure(*FIGURE)
    page = figure.page
    options = figure.locator("option").all_inner_texts()
    assert options == [tree["name"] for tree in stored()["trees"]]
    button = figure.get_by_role("button", name="Next step")
    assert boxes(figure) == ["<s>", "a", "i"]  # it starts with something to see
    figure.get_by_role("button", name="Start again").click()
    assert "Nothing is written yet" in figure.locator(".tc-result").inner_text()
    assert boxes(figure) == ["<s>"]
    button.click()
    assert boxes(figure) == ["<s>", "a", "i"]
    assert [row[0] for row in rows(figure, "Candidates")] == ["a", "i", "thanks", "student"]
    assert [row[2:] for row in rows(figure, "Candidates")[:3]] == [
        ["-0.69", "stays"], ["-0.92", "stays"], ["-3.00", "dropped"],
    ]  # fmt: skip
    button.click()
    assert boxes(figure)[3:] == ["am", "student"]
    button.click()
    assert [(row[0], row[3]) for row in rows(figure, "Candidates")[:3]] == [
        ("i am a", "stays"), ("a student </s>", "ends"), ("a student am", "stays"),
    ]  # fmt: skip
    assert rows(figure, "Finished") == [["a student", "-1.56", "3", "-1.31"]]
    assert figure.locator(".tc-tag").count() == 1
    button.click()
    button.click()
    assert button.is_disabled()
    assert answer(figure) == "i am a student"
    assert rows(figure, "Finished")[0] == ["i am a student", "-1.23", "5", "-0.91"]
    best = figure.locator(".tc-node.tc-best .tc-word").all_text_contents()
    assert best == ["<s>", "i", "am", "a", "student"]
    figure.get_by_role("button", name="Back").click()
    assert figure.locator(".tc-node.tc-best").count() == 0
    figure.get_by_role("button", name="Start again").click()
    assert boxes(figure) == ["<s>"]
    slide(page, figure, "beam", 2, 1, 1)
    slide(page, figure, "length penalty", 0.6, 0.1, 0.0)
    figure.get_by_role("button", name="To the end").click()
    assert answer(figure) == "a student"
    assert boxes(figure) == ["<s>", "a", "student"]
    total, score = (rows(figure, "Finished")[0][i] for i in (1, 3))
    assert total == score  # without a penalty


def test_a_finger_does_everything_and_nothing_sticks_out(open_figure: Open) -> None:
    """On a touch screen: steps, a wide beam, long words, and tables that fit."""
    figure = open_figure(*FIGURE, **TELEPHONE)
    page = figure.page
    places = [place for place, _ in recorded()]
    for place in (0, *places):
        figure.locator("select").select_option(str(place))
        assert len(boxes(figure)) > 1
        slide(page, figure, "beam", 1, 1, 5)
        figure.get_by_role("button", name="Next step").tap()
        figure.get_by_role("button", name="To the end").tap()
        assert figure.evaluate("e => e.scrollWidth <= e.clientWidth + 1")
        for table in figure.locator("table").all():
            box = table.bounding_box()
            assert box
            assert box["x"] + box["width"] <= 390
        words = figure.locator(".tc-node .tc-word")
        widths = words.evaluate_all("all => all.map((w) => w.getComputedTextLength())")
        boxes_wide = figure.locator(".tc-node rect").evaluate_all(
            "all => all.map((r) => Number(r.getAttribute('width')))"
        )
        assert all(w <= b for w, b in zip(widths, boxes_wide, strict=True))


def test_the_keyboard_does_everything(open_figure: Open) -> None:
    """Tab to the buttons, Enter to press them; the focus can be seen."""
    figure = open_figure(*FIGURE)
    page = figure.page
    figure.locator("select").focus()
    for _ in range(5):  # two sliders, then the buttons
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert boxes(figure) == ["<s>", "a", "i", "am", "student"]
    outline = figure.get_by_role("button", name="Next step").evaluate(
        "e => getComputedStyle(e).outlineStyle"
    )
    assert outline == "solid"
    label = figure.locator("svg").get_attribute("aria-label")
    assert label
    assert label.startswith("Tree of beginnings. Step 2")
