"""The sum that goes round a ring: the package's states, by mouse, finger and keyboard, without a kernel."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Locator
from widgets import ring_cases

from .conftest import TELEPHONE

Open = Callable[..., Locator]
FIGURE = ("chapters/14_scaling.html", ".tc-ringsum")
SHOWN = """figure => {
  const all = (selector) => [...figure.querySelectorAll(selector)];
  const rows = (selector) => all(selector).map((row) => [...row.cells].map((cell) => cell.textContent));
  return {
    kept: rows('.tc-kept tbody tr').map((row) => row.slice(1).map(Number)),
    sent: rows('.tc-sent tbody tr'),
    came: all('.tc-kept td.tc-came').map((cell) => [cell.parentElement.rowIndex - 1, cell.cellIndex - 1]),
    whole: all('.tc-kept td.tc-whole').length,
    letters: all('svg .tc-chunk').map((text) => Number(text.textContent)),
    drawn: ['.tc-box', '.tc-came', '.tc-whole'].map((kind) => all('svg ' + kind).length),
    told: figure.querySelector('[role=status]').textContent,
    label: figure.querySelector('svg').getAttribute('aria-label'),
  };
}"""


def agrees(figure: Locator, p: int, step: int) -> None:
    """Drawing, tables and sentence are those of this step."""
    shown, cells = figure.evaluate(SHOWN), ring_cases.cells_after(p, step)
    assert shown["kept"] == [[cell["number"] for cell in mine] for mine in cells]
    came = [[i, c] for i, mine in enumerate(cells) for c, cell in enumerate(mine) if cell["came"]]
    assert shown["came"] == came
    whole = sum(cell["summed"] == p for mine in cells for cell in mine)
    assert shown["whole"] == whole
    assert shown["drawn"] == [p, len(came), whole]
    assert shown["letters"] == (ring_cases.states(p)[step].sent if step else [])
    assert shown["sent"] == ring_cases.rows_after(p, step)
    assert shown["told"] == ring_cases.sentence_after(p, step)
    assert shown["label"].endswith(f"{whole} of {p * p} chunks hold the sum of all")


def test_the_mouse_goes_forth_and_back(open_figure: Open) -> None:
    """Every number of workers, every step; at the ends there is nothing further to press."""
    figure = open_figure(*FIGURE)
    back, forth, again = (
        figure.get_by_role("button", name=n) for n in ("back", "next step", "start again")
    )
    for p in range(2, 7):
        figure.get_by_label(str(p), exact=True).check()
        if again.is_enabled():  # the figure may begin at a later step
            again.click()
        agrees(figure, p, 0)
        assert back.is_disabled()
        for step in range(1, 2 * (p - 1) + 1):
            forth.click()
            agrees(figure, p, step)
        assert forth.is_disabled()
        back.click()
        agrees(figure, p, 2 * (p - 1) - 1)
        again.click()
        agrees(figure, p, 0)


def test_the_keyboard_does_everything(open_figure: Open) -> None:
    """Arrow keys choose, Tab leads to the buttons, Enter and the space bar press; the focus is seen."""
    figure = open_figure(*FIGURE)
    page = figure.page
    figure.get_by_label("5", exact=True).check()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    agrees(figure, 3, 0)
    page.keyboard.press("Tab")  # nothing to go back to: the next button
    page.keyboard.press("Enter")
    page.keyboard.press("Space")
    agrees(figure, 3, 2)
    outline = "document.activeElement && getComputedStyle(document.activeElement).outlineStyle"
    assert page.evaluate(outline) == "solid"
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    agrees(figure, 3, 1)
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    agrees(figure, 3, 0)


def test_a_finger_does_everything_and_all_fits(open_figure: Open) -> None:
    """On a telephone: the most workers; nothing sticks out, and all is large enough for a finger."""
    figure = open_figure(*FIGURE, **TELEPHONE)
    figure.get_by_text("6", exact=True).first.tap()
    for step in range(1, 7):
        figure.get_by_role("button", name="next step").tap()
        agrees(figure, 6, step)
    assert figure.evaluate("e => e.scrollWidth <= e.clientWidth + 1")
    outside = """svg => {
      const whole = svg.getBoundingClientRect();
      return [...svg.querySelectorAll('text')].filter((text) => {
        const box = text.getBoundingClientRect();
        return box.left < whole.left || box.right > whole.right || box.top < whole.top;
      }).length;
    }"""
    assert figure.locator("svg").evaluate(outside) == 0
    controls = [*figure.locator("label").all(), *figure.get_by_role("button").all()]
    assert min(control.bounding_box()["height"] for control in controls) >= 24  # type: ignore[index]
