"""The figure with the query that is dragged: by mouse, finger and keyboard, in a page without a kernel."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import pytest
import torch
from playwright.sync_api import Locator

from transformer_course.attention import scaled_dot_product_attention
from transformer_course.figures.attention_plane import KEYS, VALUES, WORDS

from .conftest import TELEPHONE, finger_on

Open = Callable[..., Locator]
FIGURE = ("chapters/01_attention.html", ".tc-plane")
NUMBER = r"−?\d+\.\d+"
UNITS = 308  # of the drawing, 8 to each step of the plane's numbers


def number(text: str) -> float:
    """Read a number with a real minus sign."""
    return float(text.replace("−", "-"))


def query_of(figure: Locator) -> tuple[float, float]:
    """Where the figure says its query is."""
    words = figure.locator(".tc-handle").get_attribute("aria-valuetext") or ""
    found = re.fullmatch(rf"living ({NUMBER}), thing ({NUMBER})", words)
    assert found, words
    return number(found[1]), number(found[2])


def expected(query: tuple[float, float], *, scaled: bool) -> tuple[list[float], list[float], float]:
    """Weights, output and entropy in bits, from the package."""
    factor = 1 if scaled else math.sqrt(2)  # undoes the division
    q, k, v = (torch.tensor(t, dtype=torch.float64) for t in ([query], KEYS, VALUES))
    output, weights = scaled_dot_product_attention(factor * q, k, v)
    entropy = -torch.special.xlogy(weights, weights).sum() / math.log(2)
    return weights[0].tolist(), output[0].tolist(), float(entropy)


def agrees(figure: Locator, query: tuple[float, float], *, scaled: bool = True) -> None:
    """Everything that is shown is what the package computes for this query."""
    assert query_of(figure) == pytest.approx(query)
    weights, output, entropy = expected(query, scaled=scaled)
    shown = figure.locator(".tc-share").all_inner_texts()
    assert [number(text) for text in shown] == pytest.approx(weights, abs=6e-4)
    scores = figure.locator("tbody td:nth-child(2)").all_inner_texts()
    by_hand = [(query[0] * k[0] + query[1] * k[1]) / (2**0.5 if scaled else 1) for k in KEYS]
    assert [number(text) for text in scores] == pytest.approx(by_hand, abs=6e-3)
    result = figure.locator(".tc-result").inner_text()
    assert f"Most weight: {WORDS[weights.index(max(weights))]}." in result
    numbers = [number(text) for text in re.findall(NUMBER, result)]
    other = expected(query, scaled=not scaled)[2]
    assert numbers == pytest.approx([*output, entropy, other], abs=6e-3)
    assert ("without scaling" if scaled else "with scaling") in result
    drawn = figure.locator(".tc-output").get_attribute("transform") or ""
    place = [float(text) for text in re.findall(r"-?[\d.]+", drawn)]
    assert place == pytest.approx([(output[0] + 4) * 37.5, (4 - output[1]) * 37.5], abs=0.01)
    bars = figure.locator(".tc-bar").evaluate_all("bars => bars.map((b) => b.clientWidth)")
    longest = bars.index(max(bars))
    assert weights[longest] == max(weights)


def screen(figure: Locator, query: tuple[float, float]) -> tuple[float, float]:
    """Where a place of the plane of keys is on the screen."""
    box = figure.locator(".tc-keys").bounding_box()
    assert box
    unit = box["width"] / UNITS
    across, down = (query[0] + 4) * 37.5 + 4, (4 - query[1]) * 37.5 + 4
    return box["x"] + across * unit, box["y"] + down * unit


def test_the_mouse_drags_the_query(open_figure: Open) -> None:
    """Pressed on the handle, the query follows the mouse; let go, it stays."""
    figure = open_figure(*FIGURE)
    page = figure.page
    agrees(figure, (2.0, 1.0))
    page.mouse.move(*screen(figure, (2.0, 1.0)))
    page.mouse.down()
    page.mouse.move(*screen(figure, (0.0, 2.0)), steps=4)
    agrees(figure, (0.0, 2.0))
    page.mouse.move(*screen(figure, (-2.0, 1.5)), steps=4)
    agrees(figure, (-2.0, 1.5))
    page.mouse.up()
    page.mouse.move(*screen(figure, (3.0, -3.0)))
    agrees(figure, (-2.0, 1.5))
    page.mouse.click(*screen(figure, (-1.0, -3.0)))  # a click brings it there
    agrees(figure, (-1.0, -3.0))
    page.mouse.down()
    page.mouse.move(*screen(figure, (-9.0, -3.0)), steps=3)  # not beyond the edge
    page.mouse.up()
    agrees(figure, (-4.0, -3.0))


def test_a_finger_drags_the_query_and_scrolls_elsewhere(open_figure: Open) -> None:
    """On a touch screen the handle follows the finger and the page stays; beside it the page scrolls."""
    figure = open_figure(*FIGURE, **TELEPHONE)
    page = figure.page
    figure.locator(".tc-keys").scroll_into_view_if_needed()
    before = page.evaluate("scrollY")
    touch = finger_on(page)
    path = [(2.0, 1.0), (1.5, 0.0), (1.0, -1.0), (0.0, -2.0)]
    places = [screen(figure, place) for place in path]
    touch("touchStart", places[0])
    for place in places[1:]:
        touch("touchMove", place)
    touch("touchEnd")
    agrees(figure, (0.0, -2.0))
    assert page.evaluate("scrollY") == before
    page.touchscreen.tap(*screen(figure, (3.0, 3.0)))
    agrees(figure, (3.0, 3.0))
    styles = "e => getComputedStyle(e).touchAction"
    assert figure.locator(".tc-handle").evaluate(styles) == "none"
    assert figure.locator(".tc-keys").evaluate(styles) == "auto"


def test_the_arrow_keys_move_the_query(open_figure: Open) -> None:
    """The handle is reached with the tab key and moved with the arrow keys; the page doesn't scroll."""
    figure = open_figure(*FIGURE)
    page = figure.page
    handle = figure.locator(".tc-handle")
    figure.get_by_label("Query, living").focus()
    page.keyboard.press("Shift+Tab")  # what comes before the first slider
    assert handle.evaluate("e => e === document.activeElement && e.matches(':focus-visible')")
    ring = figure.locator(".tc-grip").evaluate("e => getComputedStyle(e).stroke")
    assert ring != "none"
    before = page.evaluate("scrollY")
    for key in ["ArrowRight", "ArrowRight", "ArrowDown", "Shift+ArrowLeft"]:
        page.keyboard.press(key)
    agrees(figure, (1.2, 0.9))
    for _ in range(7):
        page.keyboard.press("Shift+ArrowUp")
    agrees(figure, (1.2, 4.0))
    page.keyboard.press("Home")
    agrees(figure, (2.0, 1.0))
    assert page.evaluate("scrollY") == before
    native_controls_work(figure)


def native_controls_work(figure: Locator) -> None:
    """Both numbers, the scaling, and back to the start."""
    page = figure.page
    living, thing = (figure.get_by_label(f"Query, {axis}") for axis in ("living", "thing"))
    living.focus()
    page.keyboard.press("Home")  # a native slider: its least value
    agrees(figure, (-4.0, 1.0))
    page.keyboard.press("ArrowRight")
    thing.focus()
    page.keyboard.press("ArrowLeft")
    agrees(figure, (-3.9, 0.9))
    box = figure.get_by_label("divide the scores")
    assert box.is_checked()
    box.focus()
    page.keyboard.press("Space")
    agrees(figure, (-3.9, 0.9), scaled=False)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    agrees(figure, (2.0, 1.0), scaled=False)
