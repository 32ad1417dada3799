"""The figure of the masks: every number is the package's, by mouse, finger and keyboard, without a kernel."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
import torch
from playwright.sync_api import Locator, Page
from torch import Tensor

from transformer_course.attention import softmax
from transformer_course.figures.mask_explorer import PLACES, SOURCES, TARGETS, VECTORS
from transformer_course.masking import causal_mask, padding_mask

from .conftest import HTML, settle, watch
from .conftest import Visit as Seen

Open = Callable[..., Page]
NAME = "chapters/03_masking.html"
IDS = {word: number for number, word in enumerate(VECTORS)}  # <pad> is 0
LABELS = {
    "encoder": "encoder self-attention",
    "cross": "cross-attention",
    "decoder": "decoder self-attention",
}
WAYS = ("and nothing more", "this package")
START = {"place": "decoder", "padding": True, "causal": True, "sentence": 1}


def opened(page: Page, address: str) -> Locator:
    """Open the chapter and return its figure, in view."""
    page.goto(address)
    settle(page)
    figure = page.locator(".tc-masks")
    assert figure.count() == 1
    figure.scroll_into_view_if_needed()
    return figure


def padded(words: tuple[str, ...], width: int, left: bool) -> list[str]:
    """Fill up one sentence."""
    filler = ["<pad>"] * (width - len(words))
    return [*filler, *words] if left else [*words, *filler]


def expected(
    place: str,
    padding: bool,
    causal: bool,
    sentence: int,
    inverted: bool = False,
    left: bool = False,
    safe: bool = False,
) -> tuple[list[str], list[str], Tensor, Tensor, Tensor]:
    """Query words, key words, mask, scores and weights, by the package."""
    asking, asked = (
        (TARGETS if place != "encoder" else SOURCES),
        (TARGETS if place == "decoder" else SOURCES),
    )
    queries, keys = (padded(side[sentence], max(map(len, side)), left) for side in (asking, asked))
    mask = torch.ones(len(queries), len(keys), dtype=torch.bool)
    if padding:
        mask &= padding_mask(torch.tensor([[IDS[word] for word in keys]]))[0, 0]
    if causal:
        mask &= causal_mask(max(mask.shape))[0, 0, : len(queries), : len(keys)]
    mask ^= inverted
    vectors = {word: torch.tensor(pair, dtype=torch.float64) for word, pair in VECTORS.items()}
    asks, offers = (
        torch.stack([vectors[w][i] for w in ws]) for i, ws in enumerate((queries, keys))
    )
    scores = asks @ offers.T / math.sqrt(2)
    if safe:
        return queries, keys, mask, scores, softmax(scores, mask)
    return queries, keys, mask, scores, torch.softmax(scores.masked_fill(~mask, -math.inf), -1)


def number(text: str) -> float:
    """Read what a cell shows."""
    return float(text.replace("−", "-").replace("∞", "inf").replace("lowest", "-inf"))


SHOWN = """figure => {
  const texts = (root, what) => [...root.querySelectorAll(what)].map((e) => e.innerText);
  const tables = [...figure.querySelectorAll('table')].map((table) => ({
    keys: texts(table, 'thead th').slice(1), queries: texts(table, 'tbody th'), cells: texts(table, 'td'),
  }));
  const masks = [...figure.querySelectorAll('.tc-thumb svg')].map(
    (small) => [...small.querySelectorAll('rect')].map((r) => r.classList.contains('tc-seen')));
  return {tables, masks};
}"""


def agrees(figure: Locator, **state: Any) -> None:
    """Every number of both tables, and the small mask of the sentence, are as the package has them."""
    is_right(figure.evaluate(SHOWN), **state)


def is_right(shown: dict[str, Any], **state: Any) -> None:
    """What the figure shows in this state is what the package computes."""
    queries, keys, mask, scores, weights = expected(**state)
    numbers = (scores.masked_fill(~mask, -math.inf), weights)
    for table, wanted in zip(shown["tables"], numbers, strict=True):
        assert (table["queries"], table["keys"]) == (queries, keys)
        found = [number(text) for text in table["cells"]]
        assert found == pytest.approx(wanted.flatten().tolist(), abs=6e-3, nan_ok=True)
    assert shown["masks"][state["sentence"]] == mask.flatten().tolist()


@pytest.mark.parametrize("where", ["http", "file"])
def test_it_starts_as_stored(where: str, site: str, new_page: Open) -> None:
    """With no kernel and nothing from elsewhere, over http and from the disk, all numbers are right."""
    page, seen = new_page(), Seen()
    own = site if where == "http" else HTML.as_uri()
    watch(page, seen, own)
    figure = opened(page, f"{own}/{NAME}")
    agrees(figure, **START)
    assert (seen.foreign, seen.missing, seen.errors) == ([], [], [])


SWITCHES = {
    "padding": "hide padding",
    "causal": "hide the future",
    "inverted": "the wrong way round",
    "left": "at the left",
}
SHOWN_IN = """(figure, [switches, ways, states]) => {
  const labels = [...figure.querySelectorAll('label')];
  const named = (words) => labels.find((label) => label.innerText.includes(words)).querySelector('input');
  const boxes = Object.entries(switches).map(([name, words]) => [name, named(words)]);
  const buttons = [...ways.map(named), ...figure.querySelectorAll('.tc-batch input')];
  const shown = SHOWN;
  return states.map((state) => {
    for (const [name, box] of boxes) if (box.checked !== state[name]) box.click();
    for (const button of [buttons[Number(state.safe)], buttons[ways.length + state.sentence]]) button.click();
    return shown(figure);
  });
}""".replace("SHOWN", SHOWN)


@pytest.mark.parametrize("place", PLACES)
def test_every_state_is_what_the_package_computes(place: str, site: str, new_page: Open) -> None:
    """All switches, both ways to hide, all sentences."""
    figure = opened(new_page(), f"{site}/{NAME}")
    figure.get_by_label(LABELS[place]).check()
    values = product(*[(True, False)] * 4, (False, True), range(3))
    states = [dict(zip([*SWITCHES, "safe", "sentence"], state, strict=True)) for state in values]
    for state, shown in zip(
        states, figure.evaluate(SHOWN_IN, [SWITCHES, WAYS, states]), strict=True
    ):
        is_right(shown, place=place, **state)


def test_a_new_place_starts_with_its_right_mask(site: str, new_page: Open) -> None:
    """Whatever was switched before: padding in all three, the future in the decoder only."""
    page = new_page()
    figure = opened(page, f"{site}/{NAME}")
    figure.get_by_label("the wrong way round").check()
    figure.get_by_label("hide padding").uncheck()
    for place in ("cross", "encoder", "decoder"):
        figure.get_by_label(LABELS[place]).check()
        agrees(figure, place=place, padding=True, causal=place == "decoder", sentence=1)
        assert "No word sees what it should not." in figure.locator(".tc-result").inner_text()


def test_the_sentence_below_says_what_is_wrong(site: str, new_page: Open) -> None:
    """A leak, attention to padding, rows of NaN, and needless hiding are told in words."""
    page = new_page()
    figure = opened(page, f"{site}/{NAME}")

    def said() -> str:
        return figure.locator(".tc-result").inner_text()

    assert said() == "7 of 16 pairs are hidden. No word sees what it should not."
    figure.get_by_label("hide the future").uncheck()
    weights = expected("decoder", True, False, 1)[4]
    largest = max(float(weights[t, k]) for t in range(3) for k in range(t + 1, 3))
    assert f"Leak: a word sees a later one, with a weight of up to {largest:.2f}." in said()
    figure.get_by_label("hide padding").uncheck()
    padding = float(expected("decoder", False, False, 1)[4][:3, 3].max())
    assert f"Words attend to padding, with a weight of up to {padding:.2f}." in said()
    figure.get_by_label(LABELS["encoder"]).check()
    figure.get_by_label("hide the future").check()
    assert "3 pairs are hidden that should be seen." in said()
    figure.get_by_label(LABELS["decoder"]).check()
    figure.get_by_label("at the left").check()
    assert "Nothing is left to see for <pad>: all weights there are NaN." in said()
    figure.get_by_label("this package").check()
    assert "Nothing is left to see for <pad>: all weights there are 0." in said()


def test_the_keyboard_does_everything(site: str, new_page: Open) -> None:
    """Tab to a group, the arrow keys among round buttons, space on a tick."""
    page = new_page()
    figure = opened(page, f"{site}/{NAME}")
    page.keyboard.press("Tab")
    figure.get_by_label(LABELS["decoder"]).focus()
    page.keyboard.press("ArrowUp")
    agrees(figure, place="cross", padding=True, causal=False, sentence=1)
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    agrees(figure, place="cross", padding=False, causal=False, sentence=1)
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline != "none"
    for _ in range(4):
        page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    agrees(figure, place="cross", padding=False, causal=False, sentence=2, safe=True)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_finger_switches(scheme: str, site: str, new_page: Open) -> None:
    """On a telephone, a tap on the words of a switch is enough, and both tables fit."""
    page = new_page(
        viewport={"width": 390, "height": 844},
        has_touch=True,
        is_mobile=True,
        color_scheme=scheme,
    )
    figure = opened(page, f"{site}/{NAME}")
    figure.get_by_text("hide the future", exact=True).tap()
    agrees(figure, place="decoder", padding=True, causal=False, sentence=1)
    figure.get_by_text("yes", exact=False).or_(
        figure.get_by_text("<s> oui", exact=False)
    ).first.tap()
    agrees(figure, place="decoder", padding=True, causal=False, sentence=2)
    inside = figure.evaluate("e => e.scrollWidth <= e.clientWidth + 1")
    assert inside
    for table in figure.locator("table").all():
        box = table.bounding_box()
        assert box
        assert box["x"] + box["width"] <= 390
    heights = [label.bounding_box()["height"] for label in figure.locator("label").all()]  # type: ignore[index]
    assert min(heights) >= 24  # large enough for a finger


def test_nan_is_marked_by_more_than_colour(site: str, new_page: Open) -> None:
    """The row that sees nothing says NaN in bold, in a frame."""
    page = new_page()
    figure = opened(page, f"{site}/{NAME}")
    figure.get_by_label("at the left").check()
    cells = figure.locator(".tc-nan")
    assert cells.all_inner_texts() == ["NaN"] * 4
    style = cells.first.evaluate(
        "e => [getComputedStyle(e).outlineStyle, getComputedStyle(e).fontWeight]"
    )
    assert style == ["solid", "700"]


def test_without_scripts_there_are_words(site: str, new_page: Open) -> None:
    """Where scripts don't run, a sentence says what is missing and leads to a picture of it."""
    page = new_page(java_script_enabled=False)
    page.goto(f"{site}/{NAME}")
    assert page.locator(".tc-masks").count() == 0
    page.get_by_role("link", name=re.compile("picture of the three masks")).click()
    assert page.locator("#fig-three-masks img").is_visible()
