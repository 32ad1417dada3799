"""The figure with the query that is dragged: by mouse, finger and keyboard, in a page without a kernel."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import pytest
import torch
from playwright.sync_api import Locator, Page

from transformer_course.attention import scaled_dot_product_attention
from transformer_course.figures.attention_plane import KEYS, VALUES, WORDS

from .conftest import HTML, finger_on, settle, watch
from .conftest import Visit as Seen

Open = Callable[..., Page]
NAME = "chapters/01_attention.html"
NUMBER = r"−?\d+\.\d+"
UNITS = 308  # of the drawing, 8 to each step of the plane's numbers


def opened(page: Page, address: str) -> Locator:
    """Open the chapter and return its figure, in view."""
    page.goto(address)
    settle(page)
    figure = page.locator(".tc-plane")
    assert figure.count() == 1
    figure.scroll_into_view_if_needed()
    return figure


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


@pytest.mark.parametrize("where", ["http", "file"])
def test_it_starts_as_stored(where: str, site: str, new_page: Open) -> None:
    """With no kernel and nothing from elsewhere, over http and from the disk, all numbers are right."""
    page, seen = new_page(), Seen()
    own = site if where == "http" else HTML.as_uri()
    watch(page, seen, own)
    figure = opened(page, f"{own}/{NAME}")
    agrees(figure, (2.0, 1.0))
    assert (seen.foreign, seen.missing, seen.errors) == ([], [], [])


@pytest.mark.parametrize("width", [1280, 390])
def test_the_mouse_drags_the_query(width: int, site: str, new_page: Open) -> None:
    """Pressed on the handle, the query follows the mouse; let go, it stays."""
    page = new_page(viewport={"width": width, "height": 900})
    figure = opened(page, f"{site}/{NAME}")
    page.mouse.move(*screen(figure, (2.0, 1.0)))
    page.mouse.down()
    page.mouse.move(*screen(figure, (0.0, 2.0)), steps=4)
    agrees(figure, (0.0, 2.0))
    page.mouse.move(*screen(figure, (-2.0, 1.5)), steps=4)
    agrees(figure, (-2.0, 1.5))
    page.mouse.up()
    page.mouse.move(*screen(figure, (3.0, -3.0)))
    agrees(figure, (-2.0, 1.5))


def test_a_click_brings_the_query(site: str, new_page: Open) -> None:
    """A click in the plane brings the query there, and not beyond its edge."""
    page = new_page(viewport={"width": 1280, "height": 900})
    figure = opened(page, f"{site}/{NAME}")
    page.mouse.click(*screen(figure, (-1.0, -3.0)))
    agrees(figure, (-1.0, -3.0))
    page.mouse.move(*screen(figure, (-1.0, -3.0)))
    page.mouse.down()
    page.mouse.move(*screen(figure, (-9.0, -3.0)), steps=3)
    page.mouse.up()
    agrees(figure, (-4.0, -3.0))


def test_a_finger_drags_the_query_and_scrolls_elsewhere(site: str, new_page: Open) -> None:
    """On a touch screen the handle follows the finger and the page stays; beside it the page scrolls."""
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    figure = opened(page, f"{site}/{NAME}")
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


def test_the_arrow_keys_move_the_query(site: str, new_page: Open) -> None:
    """The handle is reached with the tab key and moved with the arrow keys; the page doesn't scroll."""
    page = new_page(viewport={"width": 1280, "height": 900})
    figure = opened(page, f"{site}/{NAME}")
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


def test_sliders_box_and_button_work_by_keyboard(site: str, new_page: Open) -> None:
    """The native controls do all the mouse can: both numbers, the scaling, and back to the start."""
    page = new_page()
    figure = opened(page, f"{site}/{NAME}")
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
    box.focus()
    page.keyboard.press("Space")
    agrees(figure, (2.0, 1.0))


def test_scaling_makes_the_weights_more_even(site: str, new_page: Open) -> None:
    """What the page says about the tick: without it, entropy falls."""
    page = new_page()
    figure = opened(page, f"{site}/{NAME}")

    def entropy() -> float:
        found = re.search(rf"Entropy: ({NUMBER}) bits", figure.locator(".tc-result").inner_text())
        assert found
        return number(found[1])

    with_scale = entropy()
    figure.get_by_label("divide the scores").uncheck()
    assert entropy() < with_scale


def test_without_scripts_there_are_words(site: str, new_page: Open) -> None:
    """Where scripts don't run, a sentence says what is missing and leads to a picture of it."""
    page = new_page(java_script_enabled=False)
    page.goto(f"{site}/{NAME}")
    assert page.locator(".tc-plane").count() == 0
    page.get_by_role("link", name="picture further down").click()
    assert page.locator("#fig-three-queries img").is_visible()
