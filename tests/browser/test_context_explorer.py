"""The figure of longer contexts: mask, reach and cost are the package's; by mouse, finger and keyboard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Locator
from widgets import context_cases

from .conftest import TELEPHONE

Open = Callable[..., Locator]
FIGURE = ("chapters/12_long_context.html", ".tc-context")
START: dict[str, Any] = context_cases.START | {
    "pattern": "local", "causal": True, "length": 24, "span": 4, "depth": 3, "token": 20,
}  # fmt: skip

SHOWN = """figure => {
  const squares = (path) => (figure.querySelector(path).getAttribute('d').match(/M/g) ?? []).length;
  return {
    sees: squares('svg .tc-sees'), blind: squares('svg .tc-blind'), row: squares('svg .tc-row'),
    knows: squares('svg .tc-knows'), open: squares('svg .tc-open'),
    labels: [...figure.querySelectorAll('svg')].map((drawing) => drawing.getAttribute('aria-label')),
    rows: [...figure.querySelectorAll('tbody tr')].map((row) => [...row.cells].map((cell) => cell.innerText)),
    said: [...figure.querySelectorAll('.tc-result')].map((p) => p.innerText),
  };
}"""


def agrees(figure: Locator, **changes: Any) -> None:
    """Squares, table and sentences are what the package says."""
    state = START | changes
    mask = context_cases.mask_of(*(state[n] for n in ("pattern", "causal", "length", "span")))
    known = context_cases.known_by(mask, state["token"], state["depth"])
    shown = figure.evaluate(SHOWN)
    assert (shown["sees"], shown["blind"]) == (int(mask.sum()), int((~mask).sum()))
    assert shown["row"] == int(mask[state["token"]].sum())
    assert shown["knows"] == sum(map(sum, known))
    assert shown["knows"] + shown["open"] == (state["depth"] + 1) * state["length"]
    assert f"row of token {state['token']} is marked" in shown["labels"][0]
    last = context_cases.counted(sum(known[-1]), "token")
    assert shown["labels"][1].endswith(f"after layer {state['depth']} {last}")
    assert shown["rows"] == context_cases.rows_of(state)
    sentences = [context_cases.reach_sentence(state), context_cases.cost_sentence(state)]
    assert shown["said"] == sentences


def row_of(figure: Locator, token: int, length: int = 24) -> tuple[float, float]:
    """Where the row of a token is in the drawing of the mask."""
    box = figure.locator("svg.tc-grid").bounding_box()
    assert box
    return box["x"] + box["width"] / 2, box["y"] + box["height"] * (token + 0.5) / length


def test_the_mouse_points_and_chooses(open_figure: Open) -> None:
    """Pointing at a row is enough to hear of its token; patterns, switch and menus change the rest."""
    figure = open_figure(*FIGURE)
    page = figure.page
    agrees(figure)
    figure.locator("svg.tc-grid").scroll_into_view_if_needed()
    page.mouse.move(*row_of(figure, 9))
    agrees(figure, token=9)
    for pattern in ("strided", "local + strided", "local + global", "full"):
        figure.get_by_label(pattern, exact=True).check()
        agrees(figure, token=9, pattern=pattern)
    assert figure.locator("input[type=range]:disabled").count() == 2  # full needs no window
    figure.get_by_label("local + global").check()
    figure.get_by_label("hide what follows").uncheck()
    agrees(figure, token=9, pattern="local + global", causal=False)
    figure.get_by_label("Bytes of a number").select_option("2")
    figure.get_by_label("Heads", exact=True).select_option("4")
    chosen = {"pattern": "local + global", "causal": False, "bytes_per_number": 2, "heads": 4}
    agrees(figure, token=9, key_heads=4, **chosen)
    offered = figure.get_by_label("Heads of keys").locator("option").all_inner_texts()
    assert offered == ["1", "2", "4"]
    figure.get_by_label("Heads of keys").select_option("1")
    agrees(figure, token=9, key_heads=1, **chosen)


def test_the_keyboard_does_everything(open_figure: Open) -> None:
    """Arrow keys, Home and End on each slider, one after the other; the focus can be seen."""
    figure = open_figure(*FIGURE)
    page = figure.page
    sliders = figure.locator("input[type=range]").all()
    tokens, window, layers, token, long_text, long_window = sliders
    now: dict[str, Any] = {}
    tokens.focus()
    assert tokens.evaluate("e => getComputedStyle(e).outlineStyle") == "solid"
    for key, slider, changes in (
        ("Home", tokens, {"length": 4, "token": 3}),
        ("ArrowRight", window, {"span": 5}),
        ("End", layers, {"depth": 8}),
        ("ArrowLeft", token, {"token": 2}),
        ("End", tokens, {"length": 32}),
        ("End", token, {"token": 31}),
        ("End", long_text, {"long_length": 2**20}),
        ("Home", long_window, {"long_span": 16}),
    ):
        slider.focus()
        page.keyboard.press(key)
        now |= changes
        agrees(figure, **now)
    assert long_text.get_attribute("aria-valuetext") == "1048576"
    figure.get_by_label("local", exact=True).focus()
    page.keyboard.press("ArrowRight")
    agrees(figure, **now, pattern="strided")


def test_a_finger_chooses_and_all_fits(open_figure: Open) -> None:
    """On a telephone a tap on a row is enough; nothing is wider than the figure."""
    figure = open_figure(*FIGURE, **TELEPHONE)
    figure.get_by_text("local + strided", exact=True).tap()
    grid = figure.locator("svg.tc-grid")
    grid.scroll_into_view_if_needed()
    figure.page.touchscreen.tap(*row_of(figure, 13))
    agrees(figure, pattern="local + strided", token=13)
    assert figure.evaluate("e => e.scrollWidth <= e.clientWidth + 1")
    heights = [label.bounding_box()["height"] for label in figure.locator("label").all()]  # type: ignore[index]
    assert min(heights) >= 24  # large enough for a finger
