"""The explorer of heads: by mouse, finger and keyboard, without a kernel; every number is the stored one."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page

from .conftest import HTML, settle, watch
from .conftest import Visit as Seen

Open = Callable[..., Page]
NAME = "chapters/04_multi_head.html"
STATE = "application/vnd.jupyter.widget-state+json"
START = {"sentence": 0, "kind": 0, "layer": 0, "head": 0, "word": 2}
WEIGHT = r"\d\.\d\d"


def stored() -> list[dict[str, Any]]:
    """The sentences with their maps, from the state that the page carries."""
    text = (HTML / NAME).read_text(encoding="utf-8")
    found = re.search(rf'<script type="{re.escape(STATE)}">(.*?)</script>', text, re.S)
    assert found
    models = json.loads(found[1])["state"].values()
    states = [model["state"] for model in models if "sentences" in model["state"]]
    assert len(states) == 1
    return list(states[0]["sentences"])


def opened(page: Page, address: str) -> Locator:
    """Open the chapter and return its figure, in view."""
    page.goto(address)
    settle(page)
    figure = page.locator(".tc-explorer")
    assert figure.count() == 1
    figure.scroll_into_view_if_needed()
    return figure


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


@pytest.mark.parametrize("where", ["http", "file"])
def test_it_starts_as_stored(where: str, site: str, new_page: Open) -> None:
    """With no kernel and nothing from elsewhere, over http and from the disk, all numbers are right."""
    page, seen = new_page(), Seen()
    own = site if where == "http" else HTML.as_uri()
    watch(page, seen, own)
    agrees(opened(page, f"{own}/{NAME}"))
    assert (seen.foreign, seen.missing, seen.errors) == ([], [], [])


@pytest.mark.parametrize("width", [1280, 390])
def test_the_mouse_chooses_head_and_word(width: int, site: str, new_page: Open) -> None:
    """A small map makes a head large; a word, or a row of the large map, becomes the query."""
    page = new_page(viewport={"width": width, "height": 900})
    figure = opened(page, f"{site}/{NAME}")
    figure.locator(".tc-head").nth(3).click()
    agrees(figure, head=3)
    figure.locator(".tc-words button").nth(4).click()
    agrees(figure, head=3, word=4)
    for row in (0, 6):  # squares of two rows of the large map
        columns = len(stored()[0]["kinds"][START["kind"]]["columns"])
        figure.locator(".tc-map .tc-square").nth(row * columns + 1).click(force=True)
        agrees(figure, head=3, word=row)


def test_menus_choose_sentence_attention_and_layer(site: str, new_page: Open) -> None:
    """Each menu shows what there is; another sentence or attention starts at its first word."""
    page = new_page()
    figure = opened(page, f"{site}/{NAME}")
    titles = [sentence["title"] for sentence in stored()]
    menu = figure.get_by_label("Sentence", exact=True)
    assert menu.locator("option").all_inner_texts() == titles
    menu.select_option(label=titles[1])
    agrees(figure, sentence=1, word=0)
    figure.get_by_label("Layer", exact=True).select_option(label="2 of 2")
    agrees(figure, sentence=1, layer=1, word=0)
    for kind, name in enumerate(k["name"] for k in stored()[1]["kinds"]):
        figure.get_by_label("Attention", exact=True).select_option(label=name)
        agrees(figure, sentence=1, layer=1, kind=kind, word=0)


def test_every_row_sums_to_one_and_nobody_sees_the_future(site: str, new_page: Open) -> None:
    """What the page says of all heads holds for what the figure stores."""
    for sentence in stored():
        for kind in sentence["kinds"]:
            for weights in (head for layer in kind["layers"] for head in layer):
                assert all(abs(sum(row) - 1) < 0.01 for row in weights)
                if kind["name"] == "decoder, self-attention":
                    assert not any(any(row[i + 1 :]) for i, row in enumerate(weights))


def test_a_finger_chooses_and_scrolls(site: str, new_page: Open) -> None:
    """On a touch screen a tap chooses; nothing in the figure keeps the page from scrolling."""
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    figure = opened(page, f"{site}/{NAME}")
    figure.locator(".tc-head").nth(2).tap()
    agrees(figure, head=2)
    figure.locator(".tc-words button").nth(3).tap()
    agrees(figure, head=2, word=3)
    styles = "e => e.map((x) => getComputedStyle(x).touchAction)"
    assert set(figure.locator("*").evaluate_all(styles)) <= {"auto", "manipulation"}
    small = "e => e.filter((b) => b.getBoundingClientRect().height < 24).length"
    assert figure.locator("button, select").evaluate_all(small) == 0


def test_the_keyboard_does_all_the_mouse_can(site: str, new_page: Open) -> None:
    """Tab goes through menus, heads and words; Enter and Space press, and the focus stays where it is."""
    page = new_page(viewport={"width": 1280, "height": 900})
    figure = opened(page, f"{site}/{NAME}")
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


def test_without_scripts_there_are_words(site: str, new_page: Open) -> None:
    """Where scripts don't run, a sentence says what is missing and leads to a picture of it."""
    page = new_page(java_script_enabled=False)
    page.goto(f"{site}/{NAME}")
    assert page.locator(".tc-explorer").count() == 0
    page.get_by_role("link", name="picture above").click()
    assert page.locator("#fig-trained-heads img").is_visible()
