"""The figure of ways from word to word: by menu, finger and keyboard; it counts as the package does."""

from __future__ import annotations

import math
from collections.abc import Callable

from playwright.sync_api import Locator

from transformer_course.seq2seq import attention_cost, convolution_cost, recurrent_cost

from .conftest import TELEPHONE

Open = Callable[..., Locator]
FIGURE = ("chapters/00_seq2seq.html", ".tc-paths")
KINDS = ["recurrent", "convolution", "dilated convolution", "self-attention"]
START = {"kind": "recurrent", "n": 10, "start": 1, "end": 10, "kernel": 3}


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


def test_the_mouse_chooses_layers_and_width(open_figure: Open) -> None:
    figure = open_figure(*FIGURE)
    agrees(figure)
    for kind in reversed(KINDS):
        figure.get_by_label("Layers", exact=True).select_option(label=kind)
        agrees(figure, kind=kind)
        for kernel in (5, 7, 3):
            figure.get_by_label("Width of the convolution").select_option(label=str(kernel))
            agrees(figure, kind=kind, kernel=kernel)


def test_the_keyboard_moves_the_sliders(open_figure: Open) -> None:
    """Arrow keys change words; a shorter sentence takes its last word along."""
    figure = open_figure(*FIGURE)
    page = figure.page
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


def test_a_finger_chooses_and_scrolls(open_figure: Open) -> None:
    """On a touch screen nothing in the figure keeps the page from scrolling, and nothing is too small."""
    figure = open_figure(*FIGURE, **TELEPHONE)
    figure.get_by_label("To word", exact=True).tap()  # the middle of the slider
    result = figure.locator(".tc-result").inner_text()
    end = int(result.split("to word ")[1].split(",")[0])
    assert 4 <= end <= 7
    agrees(figure, end=end)
    styles = "e => e.map((x) => getComputedStyle(x).touchAction)"
    assert set(figure.locator("*").evaluate_all(styles)) <= {"auto", "manipulation"}
    small = "e => e.filter((b) => b.getBoundingClientRect().height < 24).length"
    assert figure.locator("input, select").evaluate_all(small) == 0
