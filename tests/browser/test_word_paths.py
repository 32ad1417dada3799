"""The figure of ways from word to word: by menu, finger and keyboard; it counts as the package does."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page

from transformer_course.seq2seq import attention_cost, convolution_cost, recurrent_cost

from .conftest import HTML, settle, watch
from .conftest import Visit as Seen

Open = Callable[..., Page]
NAME = "chapters/00_seq2seq.html"
KINDS = ["recurrent", "convolution", "dilated convolution", "self-attention"]
START = {"kind": "recurrent", "n": 10, "start": 1, "end": 10, "kernel": 3}


def opened(page: Page, address: str) -> Locator:
    """Open the chapter and return its figure, in view."""
    page.goto(address)
    settle(page)
    figure = page.locator(".tc-paths")
    assert figure.count() == 1
    figure.scroll_into_view_if_needed()
    return figure


def layers(kind: str, kernel: int, distance: int) -> int:
    """Layers until a signal has gone `distance` words to one side."""
    reach = (kernel - 1) // 2
    if kind == "convolution":
        return max(1, math.ceil(distance / reach))
    return next(i for i in range(1, 99) if (kernel**i - 1) // 2 >= distance)


def expected(kind: str, n: int, start: int, end: int, kernel: int) -> list[int]:
    """Steps on the way, steps that wait, and products: by the package's counts."""
    distance = abs(end - start)
    if kind == "recurrent":
        cost = recurrent_cost(n, 512)
        return [distance, cost.sequential_steps, cost.multiply_adds]
    if kind == "self-attention":
        cost = attention_cost(n, 512)
        return [cost.longest_path, cost.sequential_steps, cost.multiply_adds]
    count = layers(kind, kernel, distance)
    return [count, count, count * convolution_cost(n, 512, kernel).multiply_adds]


def agrees(figure: Locator, **changes: str | int) -> None:
    """Table, sentence and drawing say what belongs to the choice."""
    now = START | changes
    kind, n = str(now["kind"]), int(now["n"])
    start, end, kernel = (int(now[name]) for name in ("start", "end", "kernel"))
    rows = figure.locator("tbody tr")
    assert rows.locator("th").all_inner_texts() == KINDS
    for i, name in enumerate(KINDS):
        cells = rows.nth(i).locator("td").all_inner_texts()
        found = [int(cell.replace("\u202f", "")) for cell in cells]
        assert found == expected(name, n, start, end, kernel), name
    path, waiting, _ = expected(kind, n, start, end, kernel)
    result = figure.locator(".tc-result").inner_text()
    assert result.startswith(f"From word {start} to word {end}, {kind}: {path} step")
    assert f"To read all {n} words: {waiting} step" in result
    assert figure.locator("svg text").all_text_contents() == [str(i + 1) for i in range(n)]
    drawn = figure.locator(".tc-way").count()  # the recurrent way enters a state first
    assert drawn == (path + 1 if kind == "recurrent" else path)


@pytest.mark.parametrize("where", ["http", "file"])
def test_it_starts_as_stored(where: str, site: str, new_page: Open) -> None:
    """With no kernel and nothing from elsewhere, over http and from the disk, all numbers are right."""
    page, seen = new_page(), Seen()
    own = site if where == "http" else HTML.as_uri()
    watch(page, seen, own)
    agrees(opened(page, f"{own}/{NAME}"))
    assert (seen.foreign, seen.missing, seen.errors) == ([], [], [])


@pytest.mark.parametrize("width", [1280, 390])
def test_menus_choose_layers_and_width(width: int, site: str, new_page: Open) -> None:
    page = new_page(viewport={"width": width, "height": 900})
    figure = opened(page, f"{site}/{NAME}")
    for kind in reversed(KINDS):
        figure.get_by_label("Layers", exact=True).select_option(label=kind)
        agrees(figure, kind=kind)
        for kernel in (5, 7, 3):
            figure.get_by_label("Width of the convolution").select_option(label=str(kernel))
            agrees(figure, kind=kind, kernel=kernel)


def test_the_keyboard_moves_the_sliders(site: str, new_page: Open) -> None:
    """Arrow keys change words; a shorter sentence takes its last word along."""
    page = new_page(viewport={"width": 1280, "height": 900})
    figure = opened(page, f"{site}/{NAME}")
    figure.get_by_label("To word", exact=True).focus()
    page.keyboard.press("ArrowLeft")
    agrees(figure, end=9)
    page.keyboard.press("Home")
    agrees(figure, end=1)
    figure.get_by_label("From word", exact=True).focus()
    page.keyboard.press("End")
    agrees(figure, start=10, end=1)
    figure.get_by_label("Words", exact=True).focus()
    page.keyboard.press("Home")
    agrees(figure, n=2, start=2, end=1)
    page.keyboard.press("End")
    agrees(figure, n=16, start=2, end=1)


def test_a_finger_chooses_and_scrolls(site: str, new_page: Open) -> None:
    """On a touch screen nothing in the figure keeps the page from scrolling, and nothing is too small."""
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    figure = opened(page, f"{site}/{NAME}")
    figure.get_by_label("To word", exact=True).tap()  # the middle of the slider
    result = figure.locator(".tc-result").inner_text()
    end = int(result.split("to word ")[1].split(",")[0])
    assert 4 <= end <= 7
    agrees(figure, end=end)
    styles = "e => e.map((x) => getComputedStyle(x).touchAction)"
    assert set(figure.locator("*").evaluate_all(styles)) <= {"auto", "manipulation"}
    small = "e => e.filter((b) => b.getBoundingClientRect().height < 24).length"
    assert figure.locator("input, select").evaluate_all(small) == 0
