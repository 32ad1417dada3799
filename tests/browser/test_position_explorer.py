"""The circle of positions: by slider, mouse, finger and keyboard, in a page without a kernel."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator

from transformer_course.positional_encoding import sinusoidal_encoding

from .conftest import TELEPHONE, finger_on

Open = Callable[..., Locator]
FIGURE = ("chapters/05_positional_encoding.html", ".tc-positions")
NUMBER = r"−?\d+\.\d+"
WIDTH = 16
START = {"Position": 5, "Dimension": 2, "Offset k": 3, "Length": 32, "Amplitude": 1.0}


def number(text: str) -> float:
    """Read a number with a real minus sign."""
    return float(text.replace("−", "-"))


def slider(figure: Locator, name: str) -> Locator:
    """The slider with this name before it."""
    return figure.locator("label", has_text=name).locator("input")


def agrees(figure: Locator, **changes: float) -> None:
    """Everything that is shown is what the package computes for this state."""
    state = START | {name.replace("_", " "): value for name, value in changes.items()}
    for name, value in state.items():
        assert float(slider(figure, name).input_value()) == pytest.approx(value)
    position, dimension, offset, length = (
        int(state[name]) for name in ("Position", "Dimension", "Offset k", "Length")
    )
    table = state["Amplitude"] * sinusoidal_encoding(length + 10, WIDTH).double()
    turn = 10000 ** (-2 * (dimension // 2) / WIDTH)
    even = dimension - dimension % 2
    result = figure.locator(".tc-result").inner_text()
    numbers = [number(text) for text in re.findall(NUMBER, result)]
    sine, cosine = table[position, even : even + 2].tolist()
    norm = float(table[position].norm())
    assert numbers == pytest.approx([turn, sine, cosine, offset * turn, norm, 4.0], abs=6e-3)
    assert f"From {position} to {position + offset}" in result
    place = [
        float(text)
        for text in re.findall(
            r"-?[\d.]+(?:e-\d+)?", figure.locator(".tc-handle").get_attribute("transform") or ""
        )
    ]
    assert place == pytest.approx([150 + 80 * cosine, 150 - 80 * sine], abs=0.01)
    later = figure.locator(".tc-circle g[transform]").first.get_attribute("transform") or ""
    far = table[position + offset, even : even + 2].tolist()
    where = [float(text) for text in re.findall(r"-?[\d.]+(?:e-\d+)?", later)]
    assert where == pytest.approx([150 + 80 * far[1], 150 - 80 * far[0]], abs=0.01)
    assert figure.locator(".tc-map g rect").count() == WIDTH * length


def screen(figure: Locator, angle: float, radius: float = 80) -> tuple[float, float]:
    """Where a place of the circle is on the screen."""
    box = figure.locator(".tc-circle").bounding_box()
    assert box
    unit = box["width"] / 300
    across, down = 150 + radius * math.cos(angle), 150 - radius * math.sin(angle)
    return box["x"] + across * unit, box["y"] + down * unit


def test_the_mouse_drags_the_point_round(open_figure: Open) -> None:
    """The point follows the mouse from position to position, more than once round, and not below 0."""
    figure = open_figure(*FIGURE)
    page = figure.page
    agrees(figure)
    figure.locator(".tc-circle").scroll_into_view_if_needed()
    turn = 10000 ** (-2 / WIDTH)
    page.mouse.move(*screen(figure, 5 * turn))
    page.mouse.down()
    for step in range(6, 27):  # 25 positions are 7.9 radians
        page.mouse.move(*screen(figure, step * turn))
    agrees(figure, Position=26)
    for step in range(26, -8, -1):
        page.mouse.move(*screen(figure, step * turn))
    agrees(figure, Position=0)
    page.mouse.up()
    page.mouse.move(*screen(figure, 2.0))
    agrees(figure, Position=0)
    box = figure.locator(".tc-map").bounding_box()
    assert box
    page.mouse.click(box["x"] + box["width"] * 9.5 / 16, box["y"] + box["height"] * 20.5 / 32)
    agrees(figure, Position=20, Dimension=9)


def test_a_finger_drags_the_point_and_the_page_stays(open_figure: Open) -> None:
    figure = open_figure(*FIGURE, **TELEPHONE)
    page = figure.page
    figure.locator(".tc-circle").scroll_into_view_if_needed()
    before = page.evaluate("scrollY")
    finger = finger_on(page)
    turn = 10000 ** (-2 / WIDTH)

    def touch(kind: str, step: float | None = None) -> None:
        finger(kind, screen(figure, step * turn) if step is not None else None)

    touch("touchStart", 5)
    for step in (6, 7, 8, 9, 10):
        touch("touchMove", step)
    touch("touchEnd")
    agrees(figure, Position=10)
    assert page.evaluate("scrollY") == before
    styles = "e => getComputedStyle(e).touchAction"
    assert figure.locator(".tc-handle").evaluate(styles) == "none"
    assert figure.locator(".tc-circle").evaluate(styles) == "auto"


def test_the_arrow_keys_move_the_point(open_figure: Open) -> None:
    figure = open_figure(*FIGURE)
    page = figure.page
    handle = figure.locator(".tc-handle")
    handle.focus()
    before = page.evaluate("scrollY")
    for key in ["ArrowRight", "ArrowUp", "ArrowLeft", "ArrowRight"]:
        page.keyboard.press(key)
    agrees(figure, Position=7)
    assert handle.get_attribute("aria-valuetext") == "position 7, angle 2.21"
    page.keyboard.press("End")
    agrees(figure, Position=31)
    page.keyboard.press("ArrowUp")
    agrees(figure, Position=31)
    page.keyboard.press("Home")
    agrees(figure, Position=0)
    assert page.evaluate("scrollY") == before
    native_controls_work(figure)


def native_controls_work(figure: Locator) -> None:
    """Each slider changes what it says; a shorter table takes the position along; the button goes back."""
    page, squares = figure.page, figure.locator(".tc-map g rect")
    colours = "all => [...new Set(all.map((e) => getComputedStyle(e).fill))].length"

    def press(name: str, *keys: str) -> None:
        slider(figure, name).focus()
        for key in keys:
            page.keyboard.press(key)

    press("Position", "End")
    press("Dimension", "End", "ArrowLeft")
    press("Offset k", "End")
    press("Amplitude", "End")
    press("Length", "Home")
    agrees(figure, Dimension=14, Offset_k=10, Amplitude=1.5, Length=4, Position=3)
    assert squares.evaluate_all(colours) > 20  # signs and sizes differ
    press("Amplitude", "Home")
    agrees(figure, Dimension=14, Offset_k=10, Amplitude=0, Length=4, Position=3)
    assert squares.evaluate_all(colours) == 1
    figure.get_by_role("button", name="Start again").focus()
    page.keyboard.press("Enter")
    agrees(figure)
