"""The prediction that is dragged: all numbers by mouse, finger and keyboard, without a kernel."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from playwright.sync_api import Locator

from transformer_course.figures.loss_explorer import PREDICTED, WORDS
from transformer_course.loss import cross_entropy, kl_divergence, perplexity, smoothing_floor

from .conftest import TELEPHONE, finger_on

Open = Callable[..., Locator]
FIGURE = ("chapters/08_loss.html", ".tc-loss")
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 600, 250, 46, 26, 30  # units of the drawing
THANKS = WORDS.index("thanks")


def number(text: str) -> float:
    """Read a number with a real minus sign, or the sign of infinity."""
    return float(text.replace("−", "-").replace("∞", "inf"))


def predicted_of(figure: Locator) -> list[float]:
    """What the handles say."""
    texts = figure.locator(".tc-handle").evaluate_all(
        "handles => handles.map((h) => h.getAttribute('aria-valuetext'))"
    )
    assert [text.split(": ")[0] for text in texts] == list(WORDS)
    return [float(text.split(": ")[1]) for text in texts]


def agrees(
    figure: Locator, predicted: list[float], right: int = THANKS, smoothing: float = 0.0
) -> None:
    """Everything that is shown is what the package computes for this prediction."""
    p = torch.tensor(predicted, dtype=torch.float64)
    label = torch.tensor([right])
    count = len(WORDS)
    q = (1 - smoothing) * torch.eye(count, dtype=torch.float64)[right] + smoothing / count
    loss = float(cross_entropy(p.log()[None], label, -1, smoothing)) if p.min() > 0 else math.nan
    assert predicted_of(figure) == pytest.approx(predicted, abs=6e-4)
    rows = figure.locator("tbody td").all_inner_texts()
    cells = torch.tensor([number(text) for text in rows], dtype=torch.float64).view(count, 4)
    assert torch.allclose(cells[:, 0], q, atol=6e-4)
    assert torch.allclose(cells[:, 1], p, atol=6e-4)
    assert torch.allclose(cells[:, 3], p - q, atol=6e-4)
    if p.min() > 0:
        assert torch.allclose(cells[:, 2], -q * p.log(), atol=6e-4)
        sums = [number(text) for text in figure.locator(".tc-sum .tc-number").all_inner_texts()]
        divergence = float(kl_divergence(q, p))
        floor = smoothing_floor(count, smoothing)
        assert sums == pytest.approx([floor, divergence, loss, perplexity(loss)], abs=6e-4)
        lengths = figure.locator(".tc-sum-bar").evaluate_all(
            "bars => bars.slice(0, 3).map((b) => Number(b.style.getPropertyValue('--length')))"
        )
        assert lengths == pytest.approx(
            [min(1, x / 5) for x in (floor, divergence, loss)], abs=1e-6
        )
    heights = figure.locator("rect.tc-predicted").evaluate_all(
        "bars => bars.map((b) => Number(b.getAttribute('height')))"
    )
    assert heights == pytest.approx([194 * x for x in predicted], abs=0.2)


def moved(predicted: list[float], k: int, p: float) -> list[float]:
    """Word k gets p, the others share the rest as before."""
    rest = 1 - predicted[k]
    return [p if i == k else x / rest * (1 - p) for i, x in enumerate(predicted)]


def screen(figure: Locator, k: int, p: float) -> tuple[float, float]:
    """Where a probability of a word is on the screen."""
    box = figure.locator("svg").bounding_box()
    assert box
    room = (WIDTH - LEFT) / len(WORDS)
    x = LEFT + (k + 0.62) * room
    y = TOP + (1 - p) * (HEIGHT - TOP - BOTTOM)
    return box["x"] + x * box["width"] / WIDTH, box["y"] + y * box["height"] / HEIGHT


def test_the_mouse_drags_a_bar(open_figure: Open) -> None:
    """Pressed on a knob, the bar follows the mouse, and the others make room; let go, it stays."""
    figure = open_figure(*FIGURE)
    page = figure.page
    agrees(figure, list(PREDICTED))
    figure.locator("svg").scroll_into_view_if_needed()
    page.mouse.move(*screen(figure, THANKS, 0.5))
    page.mouse.down()
    page.mouse.move(*screen(figure, THANKS, 0.9), steps=4)
    agrees(figure, moved(list(PREDICTED), THANKS, 0.9))
    page.mouse.move(*screen(figure, THANKS, 0.2), steps=4)
    agrees(figure, moved(list(PREDICTED), THANKS, 0.2))
    page.mouse.up()
    page.mouse.move(*screen(figure, THANKS, 0.7))
    agrees(figure, moved(list(PREDICTED), THANKS, 0.2))
    page.mouse.click(*screen(figure, 4, 0.6))  # a click in another column
    there = round(predicted_of(figure)[4], 2)
    assert abs(there - 0.6) < 0.011  # a click is told in whole pixels
    agrees(figure, moved(moved(list(PREDICTED), THANKS, 0.2), 4, there))


def test_a_finger_drags_a_bar_and_the_page_stays(open_figure: Open) -> None:
    """On a touch screen the bar follows the finger."""
    figure = open_figure(*FIGURE, **TELEPHONE)
    page = figure.page
    figure.locator("svg").scroll_into_view_if_needed()
    before = page.evaluate("scrollY")
    touch = finger_on(page)
    touch("touchStart", screen(figure, THANKS, 0.5))
    for p in (0.6, 0.7, 0.8):
        touch("touchMove", screen(figure, THANKS, p))
    touch("touchEnd")
    agrees(figure, moved(list(PREDICTED), THANKS, 0.8))
    assert page.evaluate("scrollY") == before
    assert figure.evaluate("e => e.scrollWidth <= e.clientWidth + 1")
    box = figure.locator("table").bounding_box()
    assert box
    assert box["x"] + box["width"] <= 390


def test_the_keyboard_does_everything(open_figure: Open) -> None:
    """Arrow keys by 0.01, with shift by 0.1, Home and End; the focus can be seen."""
    figure = open_figure(*FIGURE)
    page = figure.page
    handle = figure.locator(".tc-handle").nth(THANKS)
    handle.focus()
    for key, p in (("ArrowUp", 0.51), ("Shift+ArrowUp", 0.61), ("ArrowLeft", 0.6), ("End", 1.0)):
        page.keyboard.press(key)
        assert predicted_of(figure)[THANKS] == pytest.approx(p)
    page.keyboard.press("Shift+ArrowDown")  # the others had 0 each, now they share evenly
    agrees(figure, [0.9 if i == THANKS else 0.02 for i in range(6)])
    stroke = handle.locator(".tc-grip").evaluate("e => getComputedStyle(e).strokeWidth")
    assert stroke == "2.5px"
    page.keyboard.press("Home")
    assert predicted_of(figure)[THANKS] == 0
    assert "The loss is infinite" in figure.locator(".tc-result").inner_text()
    assert figure.locator(".tc-sum .tc-number").nth(2).inner_text() == "∞"
    figure.get_by_label("thanks", exact=True).focus()
    page.keyboard.press("ArrowRight")  # the next word is the right one
    figure.locator("input[type=range]").focus()
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    for name, predicted in (
        ("As wanted", [0.1 / 6 + 0.9 * (i == 4) for i in range(6)]),
        ("All equal", [1 / 6] * 6),
        ("Start again", list(PREDICTED)),
    ):
        figure.get_by_role("button", name=name).focus()
        page.keyboard.press("Enter")
        agrees(figure, predicted, right=4, smoothing=0.1)
