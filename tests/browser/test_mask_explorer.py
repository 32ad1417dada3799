"""The figure of the masks: every number is the package's, by mouse, finger and keyboard, without a kernel."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from playwright.sync_api import Locator
from torch import Tensor

from transformer_course.attention import softmax
from transformer_course.figures.mask_explorer import SOURCES, TARGETS, VECTORS
from transformer_course.masking import causal_mask, padding_mask

from .conftest import TELEPHONE

Open = Callable[..., Locator]
FIGURE = ("chapters/03_masking.html", ".tc-masks")
IDS = {word: number for number, word in enumerate(VECTORS)}  # <pad> is 0
LABELS = {
    "encoder": "encoder self-attention",
    "cross": "cross-attention",
    "decoder": "decoder self-attention",
}
WAYS = ("and nothing more", "this package")
START = {"place": "decoder", "padding": True, "causal": True, "sentence": 1}


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


def test_the_mouse_switches_everything(open_figure: Open) -> None:
    """Each switch; a new place starts with its right mask: padding in all, the future in the decoder only."""
    figure = open_figure(*FIGURE)
    agrees(figure, **START)
    figure.get_by_label("the wrong way round").check()
    agrees(figure, **START, inverted=True)
    figure.get_by_label("hide padding").uncheck()
    agrees(figure, **START | {"padding": False}, inverted=True)
    for place in ("cross", "encoder", "decoder"):
        figure.get_by_label(LABELS[place]).check()
        agrees(figure, place=place, padding=True, causal=place == "decoder", sentence=1)
        assert "No word sees what it should not." in figure.locator(".tc-result").inner_text()
    figure.get_by_label("at the left").check()
    agrees(figure, **START, left=True)
    cells = figure.locator(".tc-nan")  # marked by more than colour
    assert cells.all_inner_texts() == ["NaN"] * 4
    look = "e => [getComputedStyle(e).outlineStyle, getComputedStyle(e).fontWeight]"
    assert cells.first.evaluate(look) == ["solid", "700"]
    figure.get_by_label("this package").check()
    agrees(figure, **START, left=True, safe=True)
    assert "all weights there are 0." in figure.locator(".tc-result").inner_text()


def test_the_keyboard_does_everything(open_figure: Open) -> None:
    """Tab to a group, the arrow keys among round buttons, space on a tick."""
    figure = open_figure(*FIGURE)
    page = figure.page
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


def test_a_finger_switches(open_figure: Open) -> None:
    """On a telephone, a tap on the words of a switch is enough, and both tables fit."""
    figure = open_figure(*FIGURE, **TELEPHONE)
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
