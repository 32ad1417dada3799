"""The test set that is drawn again: Python's numbers, by mouse, finger and keyboard, without a kernel."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from playwright.sync_api import Locator
from widgets.training_cases import drawn

from .conftest import ROOT, TELEPHONE

Open = Callable[..., Locator]
FIGURE = ("chapters/15_multi30k.html", ".tc-redraw")
LISTED = 12  # sentences that get a row each
BY_HAND = ["12/23 = 0.522", "29/39 = 0.744", "19/28 = 0.679"]  # the chapter's three draws
SHOWN = """figure => {
  const all = (selector) => [...figure.querySelectorAll(selector)];
  return {
    rows: all('tbody tr').map((row) => [...row.children].map((cell) => cell.textContent)),
    facts: all('.tc-fact .tc-number').map((e) => e.textContent),
    told: figure.querySelector('[role=status]').textContent,
    axis: figure.querySelector('.tc-axis').getAttribute('d'),
    levels: all('.tc-level').map((e) => e.getAttribute('d')),
    texts: all('svg text').map((e) => [Number(e.getAttribute('y')), e.textContent]),
    bars: all('svg rect').map((e) => [e.getAttribute('class'),
      ...['x', 'width', 'y', 'height'].map((name) => Number(e.getAttribute(name)))]),
    measured: figure.querySelector('.tc-measured').getAttribute('d'),
    last: figure.querySelector('.tc-last')?.getAttribute('d') ?? '',
    middle: all('.tc-middle').map((e) => e.getAttribute('d')),
  };
}"""


def stored() -> dict[str, Any]:
    """What the notebook stores of the figure."""
    text = (ROOT / "chapters" / "15_multi30k.ipynb").read_text(encoding="utf-8")
    widgets = json.loads(text)["metadata"]["widgets"]
    states = widgets["application/vnd.jupyter.widget-state+json"]["state"].values()
    return next(dict(s["state"]) for s in states if "sets" in s["state"])


def shown(figure: Locator) -> dict[str, Any]:
    """All numbers that the figure shows."""
    seen: dict[str, Any] = figure.evaluate(SHOWN)
    return seen


def press(figure: Locator, name: str, times: int = 1) -> None:
    """Press a button with the mouse."""
    for _ in range(times):
        figure.get_by_role("button", name=name).click()


def choose(figure: Locator, given: dict[str, Any]) -> None:
    """Choose a test set."""
    figure.get_by_label(given["name"], exact=True).check()


def numbers(path: str) -> list[float]:
    """The numbers of a path of the drawing."""
    return [float(number) for number in re.findall(r"[\d.]+", path)]


def fraction(text: str) -> tuple[int, int]:
    """The two sums of "12/23 = 0.522", whose quotient must be right."""
    matched = re.fullmatch(r"(\d+)/(\d+) = (\d\.\d{3})", text)
    assert matched, text
    found, total = int(matched[1]), int(matched[2])
    assert float(matched[3]) == pytest.approx(found / total, abs=5.1e-4)
    return found, total


def middle(scores: Sequence[float]) -> tuple[int, float, float]:
    """How many scores the chapter's interval leaves out at each end, and its ends."""
    ordered, k = sorted(scores), len(scores) // 40
    return k, ordered[k], ordered[len(ordered) - 1 - k]


def last_draw(given: dict[str, Any], seen: dict[str, Any]) -> float:
    """The score of the last draw, from how often the table says each sentence came up."""
    times = [int(row[-1].removeprefix("×")) for row in seen["rows"]]
    assert sum(times) == len(given["found"]) == len(times)
    sums = [
        sum(t * x for t, x in zip(times, given[key], strict=True)) for key in ("found", "total")
    ]
    assert fraction(seen["facts"][1]) == tuple(sums)
    return sums[0] / sums[1]


def how_often(given: dict[str, Any], seen: dict[str, Any]) -> list[int]:
    """How many sentences came up 0 times, once, twice and more often: together all, in as many places."""
    counts = [int(row[1].replace(",", "")) for row in seen["rows"]]
    assert [row[0] for row in seen["rows"]] == ["0 times", "once", "twice", "3+ times"]
    n = len(given["found"])
    assert sum(counts) == n
    left = n - counts[1] - 2 * counts[2]  # for those that came up three times or more
    assert left >= 3 * counts[3]
    assert (left == 0) == (counts[3] == 0)
    return counts


def place_of(seen: dict[str, Any]) -> Callable[[float], float]:
    """The score that a place of the drawing stands for, by the numbers of the upper axis."""
    left, base, right = numbers(seen["axis"])
    ticks = [float(text) for y, text in seen["texts"] if y == base + 26]
    assert ticks == sorted(ticks)
    assert 0 <= ticks[0] < ticks[-1] <= 1
    return lambda x: ticks[0] + (x - left) / (right - left) * (ticks[-1] - ticks[0])


def bars_agree(seen: dict[str, Any], scores: Sequence[float]) -> None:
    """Each bar is as high as the number of scores in its place; what is left out is grey."""
    base = numbers(seen["axis"])[1]
    score_at = place_of(seen)
    level = min(numbers(path)[1] for path in seen["levels"])
    (top,) = (float(text) for y, text in seen["texts"] if y == level + 6)
    unit = (base - level) / top
    k = middle(scores)[0] if len(scores) >= 40 else 0
    ordered = sorted(scores)
    kinds = {
        "tc-stays": ordered[k : len(ordered) - k],
        "tc-out": ordered[:k] + ordered[-k:] * (k > 0),
    }
    for kind, own in kinds.items():
        bars = [bar[1:] for bar in seen["bars"] if bar[0] == kind]
        for x, width, _, height in bars:
            low, high = score_at(x - 0.5) - 1e-9, score_at(x + width + 0.5) - 1e-9
            last = high > score_at(numbers(seen["axis"])[2]) - 1e-6
            inside = sum(low <= score and (score < high or last) for score in own)
            assert height / unit == pytest.approx(inside, abs=1e-6)
        assert sum(bar[-1] for bar in bars) / unit == pytest.approx(len(own))


def interval_shown(seen: dict[str, Any]) -> tuple[int, int, list[float]]:
    """How many draws, how many left out at each end, and the ends: the same in words and as bars."""
    matched = re.match(
        r"([\d,]+) draws: the middle 95 % reach from (.+) to (.+), (.+) points\. (\d+) score",
        seen["told"],
    )
    assert matched, seen["told"]
    ends = [float(matched[2]), float(matched[3])]
    assert float(matched[4]) == pytest.approx(100 * (ends[1] - ends[0]), abs=0.01)
    assert seen["facts"][2] == f"{matched[2]} to {matched[3]}"
    assert [text for _, text in seen["texts"]][-2:] == [matched[2], matched[3]]
    upper, lower = (numbers(path) for path in seen["middle"])
    assert [place_of(seen)(x) for x in upper[::2]] == pytest.approx(ends, abs=1.6e-3)
    left, _, right = numbers(seen["axis"])
    whole = [(x - left) / (right - left) for x in lower[::2]]  # one is at least 3 units long
    assert whole == pytest.approx(ends, abs=7e-3)
    return int(matched[1].replace(",", "")), int(matched[5]), ends


def interval_agrees(seen: dict[str, Any], scores: Sequence[float]) -> None:
    """The interval is that of these scores."""
    draws, left_out, ends = interval_shown(seen)
    k, low, high = middle(scores)
    assert (draws, left_out) == (len(scores), k)
    assert ends == pytest.approx([low, high], abs=5.1e-4)


def test_the_mouse_draws_and_chooses(open_figure: Open) -> None:
    """The draws by hand first, then many: bars and interval are those of the same draws in Python."""
    figure = open_figure(*FIGURE)
    sets, seed = stored()["sets"], stored()["seed"]
    assert figure.locator("fieldset label").all_inner_texts() == [given["name"] for given in sets]
    assert figure.get_by_label(sets[0]["name"], exact=True).is_checked()
    few = drawn(sets[0], seed, 5)
    assert [f"{d['found']}/{d['total']}" for d in few[:3]] == [f.split(" ")[0] for f in BY_HAND]
    assert shown(figure)["facts"][1] == BY_HAND[-1]
    for number in (3, 4, 5):
        seen = shown(figure)
        assert fraction(seen["facts"][1]) == (few[number - 1]["found"], few[number - 1]["total"])
        assert place_of(seen)(numbers(seen["last"])[0]) == pytest.approx(last_draw(sets[0], seen))
        bars_agree(seen, [d["found"] / d["total"] for d in few[:number]])
        assert seen["middle"] == []
        if number < 5:
            press(figure, "Draw once")
    press(figure, "Draw 100 times", 2)
    for given in sets:
        choose(figure, given)  # the number of draws stays
        seen, draws = shown(figure), drawn(given, seed, 205)
        scores = [d["found"] / d["total"] for d in draws]
        bars_agree(seen, scores)
        interval_agrees(seen, scores)
        assert fraction(seen["facts"][1]) == (draws[-1]["found"], draws[-1]["total"])
        if len(given["found"]) <= LISTED:
            last_draw(given, seen)
        else:
            how_often(given, seen)
    clicks = "e => { for (let i = 0; i < 48; i += 1) e.click(); }"
    figure.get_by_role("button", name="Draw 100 times").evaluate(clicks)
    assert shown(figure)["told"].startswith("5,000 draws: ")
    for name in ("Draw once", "Draw 100 times"):
        assert figure.get_by_role("button", name=name).is_disabled()
    press(figure, "Start again")
    starts(given, shown(figure))
    press(figure, "Draw 100 times")
    bars_agree(shown(figure), [d["found"] / d["total"] for d in drawn(given, seed + 1, 100)])


def starts(given: dict[str, Any], seen: dict[str, Any]) -> None:
    """Before the first draw."""
    sums = (sum(given["found"]), sum(given["total"]))
    assert fraction(seen["facts"][0]) == sums
    assert seen["facts"][1:] == ["none yet", "from 40 draws on"]
    assert seen["told"].startswith("Nothing is drawn yet.")
    assert (seen["bars"], seen["last"], seen["middle"]) == ([], "", [])
    assert place_of(seen)(numbers(seen["measured"])[0]) == pytest.approx(sums[0] / sums[1])


def test_the_keyboard_does_everything(open_figure: Open) -> None:
    """Arrow keys choose a set, Tab leads to the buttons, Enter and the space bar press; the focus is seen."""
    figure = open_figure(*FIGURE)
    page = figure.page
    sets = stored()["sets"]
    figure.get_by_label(sets[0]["name"], exact=True).focus()
    page.keyboard.press("ArrowRight")
    assert figure.get_by_label(sets[1]["name"], exact=True).is_checked()
    assert fraction(shown(figure)["facts"][0]) == (sum(sets[1]["found"]), sum(sets[1]["total"]))
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.keyboard.press("Space")
    assert shown(figure)["told"].startswith("5 draws: ")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert shown(figure)["told"].startswith("105 draws: ")
    outline = "document.activeElement && getComputedStyle(document.activeElement).outlineStyle"
    assert page.evaluate(outline) == "solid"
    label = figure.locator("svg").get_attribute("aria-label")
    assert label
    assert label.startswith("Histogram: the scores of 105 draws")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert shown(figure)["told"].startswith("Nothing is drawn yet.")


def test_a_finger_does_everything_and_nothing_sticks_out(open_figure: Open) -> None:
    """On a touch screen of 390 pixels: every set, and no text of the drawing outside of it."""
    figure = open_figure(*FIGURE, **TELEPHONE)
    page = figure.page
    figure.get_by_role("button", name="Draw once").tap()
    figure.get_by_role("button", name="Draw 100 times").tap()
    for given in stored()["sets"]:
        figure.get_by_text(given["name"], exact=True).tap()
        assert shown(figure)["told"].startswith("104 draws: ")
        assert figure.evaluate("e => e.scrollWidth <= e.clientWidth + 1")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        outside = figure.locator("svg text").evaluate_all("""texts => texts.filter((text) => {
          const [own, all] = [text, text.ownerSVGElement].map((e) => e.getBoundingClientRect());
          return own.left < all.left - 1 || own.right > all.right + 1 || own.bottom > all.bottom + 1;
        }).map((text) => text.textContent)""")
        assert outside == []
        table = figure.locator("table").bounding_box()
        assert table
        assert table["x"] + table["width"] <= 390
    figure.get_by_role("button", name="Start again").tap()
    assert shown(figure)["told"].startswith("Nothing is drawn yet.")
