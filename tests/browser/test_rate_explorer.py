"""The learning rate whose peak is dragged: all numbers by mouse, finger and keyboard, without a kernel."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator

from transformer_course.training import cosine_rate, inverse_sqrt_rate

from .conftest import TELEPHONE, finger_on

Open = Callable[..., Locator]
FIGURE = ("chapters/07_training.html", ".tc-rate")
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 600, 290, 92, 26, 24, 46  # units of the drawing
STEPS = 20_000
RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def number(text: str) -> float:
    """Read "4 000", "6.99 · 10⁻⁴" or "63.2 %"."""
    text = re.sub(r"[\s\u202f]", "", text).removesuffix("%")
    digits, _, power = text.partition("·10")
    return float(digits) * 10 ** int(power.translate(RAISED) or 0)


def top_of(d_model: int) -> float:
    """The rate at the upper edge of the drawing."""
    return float(1.06 * (1000 * d_model) ** -0.5)


def agrees(
    figure: Locator,
    warmup: int = 4000,
    d_model: int = 512,
    step: int = 10_000,
    peak: float | None = None,
) -> None:
    """All that is shown is what the package computes; a peak is given for the cosine only."""

    def rate(at: int) -> float:
        if peak is None:
            return inverse_sqrt_rate(at, d_model, warmup)
        return cosine_rate(at, peak, warmup, STEPS)

    found = [number(text) for text in figure.locator("tbody td").all_inner_texts()]
    assert found[:2] == [warmup, pytest.approx(rate(warmup), rel=6e-3)]
    assert found[2] == pytest.approx(rate(step), rel=6e-3, abs=1e-12)
    assert found[3] == pytest.approx(100 * rate(step) / rate(warmup), abs=0.06)
    path = figure.locator("path.tc-curve").get_attribute("d") or ""
    points = [tuple(map(float, point.split(","))) for point in path.removeprefix("M").split("L")]
    assert len(points) == 202
    for x, y in points[1::20]:
        at = round((x - LEFT) / (WIDTH - LEFT - RIGHT) * STEPS)
        high = (1 - (y - TOP) / (HEIGHT - TOP - BOTTOM)) * top_of(d_model)
        assert high == pytest.approx(rate(max(1, at)), abs=0.005 * top_of(d_model))
    assert figure.locator(".tc-handle").get_attribute("aria-valuenow") == str(warmup)
    assert float(figure.locator("input[type=range]").input_value()) == step


def screen(figure: Locator, step: float, rate: float, d_model: int = 512) -> tuple[float, float]:
    """Where a rate at a step is on the screen."""
    box = figure.locator("svg").bounding_box()
    assert box
    x = LEFT + step / STEPS * (WIDTH - LEFT - RIGHT)
    y = TOP + (1 - rate / top_of(d_model)) * (HEIGHT - TOP - BOTTOM)
    return box["x"] + x * box["width"] / WIDTH, box["y"] + y * box["height"] / HEIGHT


def warmup_of(figure: Locator) -> int:
    return int(figure.locator(".tc-handle").get_attribute("aria-valuenow") or 0)


def test_the_mouse_drags_the_peak(open_figure: Open) -> None:
    """In eq. 3 the knob follows the mouse sideways only; with the cosine both ways."""
    figure = open_figure(*FIGURE)
    page = figure.page
    agrees(figure)
    assert "2.50 times the warm-up" in figure.locator(".tc-result").inner_text()
    figure.locator("svg").scroll_into_view_if_needed()
    page.mouse.move(*screen(figure, 4000, inverse_sqrt_rate(4000, 512, 4000)))
    page.mouse.down()
    page.mouse.move(*screen(figure, 8000, 1e-3), steps=4)
    found = warmup_of(figure)
    assert abs(found - 8000) <= 100  # the mouse stops at whole pixels
    agrees(figure, warmup=found)
    page.mouse.move(*screen(figure, 300, 1e-3), steps=4)
    agrees(figure, warmup=1000)  # as far as it goes
    page.mouse.up()
    page.mouse.move(*screen(figure, 9000, 1e-3))
    agrees(figure, warmup=1000)
    figure.get_by_label("cosine").check()
    agrees(figure, warmup=1000, peak=7e-4)
    page.mouse.move(*screen(figure, 1000, 7e-4))
    page.mouse.down()
    page.mouse.move(*screen(figure, 6000, 1.2e-3), steps=4)
    page.mouse.up()
    found = warmup_of(figure)
    peak = round(number(figure.locator("tbody td").nth(1).inner_text()), 6)
    assert abs(found - 6000) <= 100
    assert abs(peak - 1.2e-3) <= 2e-5
    agrees(figure, warmup=found, peak=peak)


def test_a_finger_drags_the_peak_and_the_page_stays(open_figure: Open) -> None:
    """On a touch screen the knob follows the finger."""
    figure = open_figure(*FIGURE, **TELEPHONE)
    page = figure.page
    figure.locator("svg").scroll_into_view_if_needed()
    before = page.evaluate("scrollY")
    touch = finger_on(page)
    high = inverse_sqrt_rate(4000, 512, 4000)
    touch("touchStart", screen(figure, 4000, high))
    for step in (5000, 9000, 12_000):
        touch("touchMove", screen(figure, step, high))
    touch("touchEnd")
    found = warmup_of(figure)
    assert abs(found - 12_000) <= 100
    agrees(figure, warmup=found)
    assert page.evaluate("scrollY") == before
    assert figure.evaluate("e => e.scrollWidth <= e.clientWidth + 1")


def test_the_keyboard_does_everything(open_figure: Open) -> None:
    """Arrow keys by 100 steps, with shift by 1000, Home and End; the focus can be seen."""
    figure = open_figure(*FIGURE)
    page = figure.page
    handle = figure.locator(".tc-handle")
    handle.focus()
    for key, warmup in (
        ("ArrowRight", 4100),
        ("Shift+ArrowRight", 5100),
        ("ArrowUp", 5200),
        ("ArrowLeft", 5100),
        ("Shift+ArrowDown", 4100),
        ("End", 16_000),
        ("Home", 1000),
    ):
        page.keyboard.press(key)
        agrees(figure, warmup=warmup)
    stroke = handle.locator(".tc-grip").evaluate("e => getComputedStyle(e).strokeWidth")
    assert stroke == "2.5px"
    figure.get_by_label("cosine").check()
    handle.focus()
    page.keyboard.press("Shift+ArrowUp")
    agrees(figure, warmup=1000, peak=8e-4)
    page.keyboard.press("ArrowDown")
    agrees(figure, warmup=1000, peak=7.9e-4)
    slider = figure.locator("input[type=range]")
    slider.focus()
    page.keyboard.press("End")
    agrees(figure, warmup=1000, peak=7.9e-4, step=STEPS)
    assert figure.locator("tbody td").nth(2).inner_text() == "0"
    figure.get_by_role("button", name="Start again").focus()
    page.keyboard.press("Enter")
    agrees(figure)
    figure.get_by_label("512", exact=True).focus()
    page.keyboard.press("ArrowLeft")
    agrees(figure, d_model=256)
