"""The six steps of self-attention: by mouse, finger and keyboard, in a page without a kernel."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest
import torch
from playwright.sync_api import Locator

from transformer_course.figures.self_attention_steps import W_KEY, W_QUERY, W_VALUE, WORDS, X
from transformer_course.self_attention import SelfAttention

from .conftest import TELEPHONE

Open = Callable[..., Locator]
FIGURE = ("chapters/02_self_attention.html", ".tc-steps")
NUMBER = r"−?\d+(?:\.\d+)?"
FORWARD = list(range(len(WORDS)))


def numbers(text: str) -> list[float]:
    """Read the numbers of a text, with real minus signs."""
    return [float(found.replace("−", "-")) for found in re.findall(NUMBER, text)]


@dataclass
class Expected:
    """What the package computes for one word, as float64."""

    x: torch.Tensor
    q: torch.Tensor
    keys: torch.Tensor
    values: torch.Tensor
    weights: torch.Tensor
    output: torch.Tensor


def expected(chosen: int, *, shared: bool) -> Expected:
    """Compute with the package."""
    x = torch.tensor(X, dtype=torch.float64)
    layer = SelfAttention(4, 2, 3).double()
    matrices = [torch.tensor(m, dtype=torch.float64) for m in (W_QUERY, W_KEY, W_VALUE)]
    if shared:
        matrices[1] = matrices[0]
    with torch.no_grad():
        for linear, matrix in zip(layer.children(), matrices, strict=True):
            linear.weight.copy_(matrix.T)  # type: ignore[operator, union-attr]
        output, weights = layer(x[None])
        q, keys, values = (linear(x) for linear in layer.children())
    return Expected(x[chosen], q[chosen], keys, values, weights[0, chosen], output[0, chosen])


def column(figure: Locator, card: int, number: int) -> list[str]:
    """The cells of one column of one card, both counted from 1; column 1 names the words."""
    rows = figure.locator(f".tc-card:nth-child({card}) tbody tr")
    return rows.locator(f"> :nth-child({number})").all_inner_texts()


def agrees(
    figure: Locator, chosen: int, *, shared: bool = False, order: list[int] = FORWARD
) -> None:
    """Everything that is shown is what the package computes, in the order of the sentence."""
    right = expected(chosen, shared=shared)
    words = [WORDS[i] for i in order]
    assert figure.locator(".tc-words label").all_inner_texts() == words
    assert figure.locator(".tc-words :checked").get_attribute("value") == str(chosen)
    for card in range(1, 6):
        assert column(figure, card, 1) == words

    say = figure.locator(".tc-card:nth-child(1) .tc-say").inner_text()
    assert say.startswith(f"{WORDS[chosen]} is")
    assert numbers(say) == pytest.approx([*right.x.tolist(), *right.q.tolist()])
    scores = right.keys @ right.q
    expectations = [
        (1, 2, right.keys, 0.006),
        (1, 3, right.values, 0.006),
        (2, 3, scores[:, None], 0.006),
        (3, 2, scores[:, None] / 2**0.5, 0.006),
        (4, 2, right.weights[:, None], 6e-4),
        (5, 3, right.weights[:, None] * right.values, 0.006),
    ]
    for card, place, wanted, close in expectations:
        shown = [numbers(text) for text in column(figure, card, place)]
        assert shown == [pytest.approx(row, abs=close) for row in wanted[order].tolist()], card
    products = [numbers(text) for text in column(figure, 2, 2)]  # q1 k1 q2 k2
    pairs = [torch.stack([right.q, right.keys[i]], 1).flatten().tolist() for i in order]
    assert products == [pytest.approx(pair) for pair in pairs]
    parts = [numbers(text) for text in column(figure, 5, 2)]
    wanted = [[float(right.weights[i]), *right.values[i].tolist()] for i in order]
    assert parts == [pytest.approx(row, abs=0.006) for row in wanted]
    total = numbers(figure.locator(".tc-sum").inner_text())
    assert total == pytest.approx(right.output.tolist(), abs=0.006)
    bars = figure.locator(".tc-bar").evaluate_all("bars => bars.map((b) => b.clientWidth)")
    longest = bars.index(max(bars))
    assert right.weights[order[longest]] == right.weights.max()
    verdict(figure, chosen, shared=shared)


def verdict(figure: Locator, chosen: int, *, shared: bool) -> None:
    """The sentence on top names the largest weight, and the score in both directions."""
    right = expected(chosen, shared=shared)
    best = int(right.weights.argmax())
    sentence = figure.locator(".tc-result").inner_text()
    assert sentence.startswith(f"“{WORDS[chosen]}” looks most at “{WORDS[best]}”")
    if best == chosen:
        assert sentence.endswith("That is itself.")
        return
    back = expected(best, shared=shared)
    there = float(right.keys[best] @ right.q)
    assert numbers(sentence)[1:] == pytest.approx([there, float(back.keys[chosen] @ back.q)])


def test_a_click_on_a_word_makes_it_ask(open_figure: Open) -> None:
    """Each word can be clicked, on its button or its name; all six steps follow."""
    figure = open_figure(*FIGURE)
    agrees(figure, WORDS.index("eats"))
    for chosen, word in enumerate(WORDS):
        figure.get_by_text(word, exact=True).first.click()
        agrees(figure, chosen)


def test_a_finger_chooses_a_word(open_figure: Open) -> None:
    """On a touch screen a tap does what a click does, and targets are large enough."""
    figure = open_figure(*FIGURE, **TELEPHONE)
    label = figure.locator(".tc-words label", has_text="fish")
    label.tap()
    agrees(figure, WORDS.index("fish"))
    box = label.bounding_box()
    assert box
    assert box["height"] >= 32
    figure.get_by_role("button").tap()
    agrees(figure, WORDS.index("fish"), order=FORWARD[::-1])


def test_the_keyboard_does_all(open_figure: Open) -> None:
    """Arrow keys choose the word, space ticks the box, enter turns the order; the focus can be seen."""
    figure = open_figure(*FIGURE)
    page = figure.page
    figure.locator(".tc-words :checked").focus()
    page.keyboard.press("ArrowLeft")
    agrees(figure, 1)
    focused = "document.activeElement"
    assert page.evaluate(f"getComputedStyle({focused}).outlineStyle") != "none"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    agrees(figure, 3)
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    agrees(figure, 3, shared=True)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    agrees(figure, 3, shared=True, order=FORWARD[::-1])
    page.keyboard.press("Enter")
    agrees(figure, 3, shared=True)
