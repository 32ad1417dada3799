"""The explorer of heads: by mouse, finger and keyboard, without a kernel; every number is the stored one."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator

from .conftest import HTML, TELEPHONE

Open = Callable[..., Locator]
FIGURE = ("chapters/04_multi_head.html", ".tc-explorer")
STATE = "application/vnd.jupyter.widget-state+json"
START = {"sentence": 0, "kind": 0, "layer": 0, "head": 0, "word": 2}
WEIGHT = r"\d\.\d\d"


def stored() -> list[dict[str, Any]]:
    """The sentences with their maps, from the state that the page carries."""
    text = (HTML / FIGURE[0]).read_text(encoding="utf-8")
    found = re.search(rf'<script type="{re.escape(STATE)}">(.*?)</script>', text, re.S)
    assert found
    models = json.loads(found[1])["state"].values()
    states = [model["state"] for model in models if "sentences" in model["state"]]
    assert len(states) == 1
    return list(states[0]["sentences"])


def agrees(figure: Locator, **changes: int) -> None:
    """Everything that is shown belongs to what is chosen, and is what is stored."""
    now = START | changes
    kind = stored()[now["sentence"]]["kinds"][now["kind"]]
    maps = kind["layers"][now["layer"]]
    weights = maps[now["head"]]
    row = weights[now["word"]]
    pressed = "e => e.map((b) => b.getAttribute('aria-pressed') === 'true')"
    heads = figure.locator(".tc-head").evaluate_all(pressed)
    assert heads == [i == now["head"] for i in range(len(maps))]
    buttons = figure.locator(".tc-words button")
    assert buttons.all_inner_texts() == kind["rows"]
    assert buttons.evaluate_all(pressed) == [i == now["word"] for i in range(len(kind["rows"]))]
    keys = figure.locator(".tc-key-list li")
    assert keys.locator("span:first-child").all_inner_texts() == kind["columns"]
    numbers = [float(text) for text in figure.locator(".tc-share").all_inner_texts()]
    assert numbers == pytest.approx(row, abs=5.1e-3)
    shares = "e => e.map((s) => Number(s.style.getPropertyValue('--share')))"
    drawn = figure.locator(".tc-map .tc-square").evaluate_all(shares)
    assert drawn == [weight for line in weights for weight in line]
    widths = "e => e.map((p) => Number(p.getAttribute('stroke-width')))"
    lines = figure.locator(".tc-link").evaluate_all(widths)
    assert lines == pytest.approx([1 + 13 * weight for weight in row if weight >= 0.005])
    result = figure.locator(".tc-result").inner_text()
    best = row.index(max(row))
    assert f"“{kind['rows'][now['word']]}”: most weight on “{kind['columns'][best]}”" in result
    entropy = -sum(w * math.log2(w) for w in row if w > 0)
    said = [float(text) for text in re.findall(WEIGHT, result)]
    assert said == pytest.approx([row[best], max(entropy, 0.0)], abs=5.1e-3)


def test_the_mouse_chooses_head_and_word(open_figure: Open) -> None:
    """A small map makes a head large; a word, or a row of the large map, becomes the query."""
    figure = open_figure(*FIGURE)
    agrees(figure)
    figure.locator(".tc-head").nth(3).click()
    agrees(figure, head=3)
    figure.locator(".tc-words button").nth(4).click()
    agrees(figure, head=3, word=4)
    for row in (0, 6):  # squares of two rows of the large map
        columns = len(stored()[0]["kinds"][START["kind"]]["columns"])
        figure.locator(".tc-map .tc-square").nth(row * columns + 1).click(force=True)
        agrees(figure, head=3, word=row)
    titles = [sentence["title"] for sentence in stored()]
    menu = figure.get_by_label("Sentence", exact=True)
    assert menu.locator("option").all_inner_texts() == titles
    menu.select_option(label=titles[1])  # another sentence or attention starts at its first word
    agrees(figure, sentence=1, head=3, word=0)
    figure.get_by_label("Layer", exact=True).select_option(label="2 of 2")
    for kind, name in enumerate(k["name"] for k in stored()[1]["kinds"]):
        figure.get_by_label("Attention", exact=True).select_option(label=name)
        agrees(figure, sentence=1, layer=1, kind=kind, head=3, word=0)


def test_a_finger_chooses_and_scrolls(open_figure: Open) -> None:
    """On a touch screen a tap chooses; nothing in the figure keeps the page from scrolling."""
    figure = open_figure(*FIGURE, **TELEPHONE)
    figure.locator(".tc-head").nth(2).tap()
    agrees(figure, head=2)
    figure.locator(".tc-words button").nth(3).tap()
    agrees(figure, head=2, word=3)
    styles = "e => e.map((x) => getComputedStyle(x).touchAction)"
    assert set(figure.locator("*").evaluate_all(styles)) <= {"auto", "manipulation"}
    small = "e => e.filter((b) => b.getBoundingClientRect().height < 24).length"
    assert figure.locator("button, select").evaluate_all(small) == 0


def test_the_keyboard_does_all_the_mouse_can(open_figure: Open) -> None:
    """Tab goes through menus, heads and words; Enter and Space press, and the focus stays where it is."""
    figure = open_figure(*FIGURE)
    page = figure.page
    figure.get_by_label("Sentence", exact=True).focus()
    page.keyboard.press("ArrowDown")
    agrees(figure, sentence=1, word=0)
    for _ in range(4):  # attention, layer, first head, second head
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    agrees(figure, sentence=1, head=1, word=0)
    focused = "e => e === document.activeElement && e.matches(':focus-visible')"
    assert figure.locator(".tc-head").nth(1).evaluate(focused)
    for _ in range(4):  # two more heads, two words
        page.keyboard.press("Tab")
    page.keyboard.press("Space")
    agrees(figure, sentence=1, head=1, word=1)
    assert figure.locator(".tc-words button").nth(1).evaluate(focused)
