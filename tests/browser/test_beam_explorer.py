"""The beam search to step through: the package's answers, by mouse, finger and keyboard, without a kernel."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page

from transformer_course.decoding import length_penalty

from .conftest import HTML, ROOT, settle, watch
from .conftest import Visit as Seen

Open = Callable[..., Page]
NAME = "chapters/09_decoding.html"
END = "</s>"


def stored() -> dict[str, Any]:
    """What the notebook stores of the figure."""
    text = (ROOT / "chapters" / "09_decoding.ipynb").read_text(encoding="utf-8")
    widgets = json.loads(text)["metadata"]["widgets"]
    states = widgets["application/vnd.jupyter.widget-state+json"]["state"].values()
    return next(dict(s["state"]) for s in states if "trees" in s["state"])


def recorded() -> list[tuple[int, dict[str, str]]]:
    """For each tree of the trained model: its place in the figure, and what the package found in it."""
    path = ROOT / "book" / "experiments" / "decoding.json"
    seeds = json.loads(path.read_text(encoding="utf-8"))["seeds"]
    found = {tree["source"]: tree["found"] for s in seeds for tree in s["texts"]["trees"]}
    names = [tree["name"] for tree in stored()["trees"]]
    return [(i, found[name]) for i, name in enumerate(names) if name in found]


def spelled(pieces: str) -> str:
    """The text of pieces with spaces between them."""
    return "".join(p for p in pieces.split(" ") if p != END).replace("▁", " ").strip()


def opened(page: Page, address: str) -> Locator:
    """Open the chapter and return its figure, in view."""
    page.goto(address)
    settle(page)
    figure = page.locator(".tc-beam")
    assert figure.count() == 1
    figure.scroll_into_view_if_needed()
    return figure


def rows(figure: Locator, caption: str) -> list[list[str]]:
    """The texts of a table's rows, real minus signs replaced."""
    table = figure.locator("table").filter(has_text=caption)
    return [
        [cell.replace("−", "-") for cell in row.locator("th, td").all_inner_texts()]
        for row in table.locator("tbody tr").all()
    ]


def boxes(figure: Locator) -> list[str]:
    """The words in the boxes of the tree, from top to bottom and left to right."""
    return figure.locator(".tc-node .tc-word").all_text_contents()


def answer(figure: Locator) -> str:
    """The sentence that the search returns."""
    found = re.search(r"The answer is “(.+)”", figure.locator(".tc-result").inner_text())
    assert found
    return found[1]


def slide(page: Page, figure: Locator, name: str, start: float, step: float, to: float) -> None:
    """Move a slider with the arrow keys."""
    figure.get_by_label(name).focus()
    for _ in range(round(abs(to - start) / step)):
        page.keyboard.press("ArrowRight" if to > start else "ArrowLeft")


@pytest.mark.parametrize("where", ["http", "file"])
def test_it_starts_as_stored(where: str, site: str, new_page: Open) -> None:
    """With no kernel and nothing from elsewhere, over http and from the disk, before the first step."""
    page, seen = new_page(), Seen()
    own = site if where == "http" else HTML.as_uri()
    watch(page, seen, own)
    figure = opened(page, f"{own}/{NAME}")
    assert boxes(figure) == ["<s>"]
    assert "Nothing is written yet" in figure.locator(".tc-result").inner_text()
    options = figure.locator("option").all_inner_texts()
    assert options == [tree["name"] for tree in stored()["trees"]]
    assert (seen.foreign, seen.missing, seen.errors) == ([], [], [])


@pytest.mark.parametrize("width", [1280, 390])
def test_the_example_by_hand_step_by_step(width: int, site: str, new_page: Open) -> None:
    """The table of the page: what is compared, what stays, what ends, what wins."""
    page = new_page(viewport={"width": width, "height": 900})
    figure = opened(page, f"{site}/{NAME}")
    button = figure.get_by_role("button", name="Next step")
    button.click()
    assert boxes(figure) == ["<s>", "a", "i"]
    assert [row[0] for row in rows(figure, "Candidates")] == ["a", "i", "thanks", "student"]
    assert [row[2:] for row in rows(figure, "Candidates")[:3]] == [
        ["-0.69", "stays"], ["-0.92", "stays"], ["-3.00", "dropped"],
    ]  # fmt: skip
    button.click()
    assert boxes(figure)[3:] == ["am", "student"]
    button.click()
    assert [(row[0], row[3]) for row in rows(figure, "Candidates")[:3]] == [
        ("i am a", "stays"), ("a student </s>", "ends"), ("a student am", "stays"),
    ]  # fmt: skip
    assert rows(figure, "Finished") == [["a student", "-1.56", "3", "-1.31"]]
    assert figure.locator(".tc-tag").count() == 1
    button.click()
    button.click()
    assert button.is_disabled()
    assert answer(figure) == "i am a student"
    assert rows(figure, "Finished")[0] == ["i am a student", "-1.23", "5", "-0.91"]
    best = figure.locator(".tc-node.tc-best .tc-word").all_text_contents()
    assert best == ["<s>", "i", "am", "a", "student"]
    figure.get_by_role("button", name="Back").click()
    assert figure.locator(".tc-node.tc-best").count() == 0
    figure.get_by_role("button", name="Start again").click()
    assert boxes(figure) == ["<s>"]


def test_a_beam_of_one_is_greedy(site: str, new_page: Open) -> None:
    """It ends with the first sentence."""
    page = new_page()
    figure = opened(page, f"{site}/{NAME}")
    slide(page, figure, "beam", 2, 1, 1)
    figure.get_by_role("button", name="To the end").click()
    assert answer(figure) == "a student"
    assert boxes(figure) == ["<s>", "a", "student"]
    slide(page, figure, "beam", 1, 1, 3)
    figure.get_by_role("button", name="To the end").click()  # a wider beam needs more steps
    assert answer(figure) == "i am a student"


def test_the_browser_finds_what_the_package_found(site: str, new_page: Open) -> None:
    """Every sentence of the trained model, each beam, with and without a length penalty."""
    page = new_page()
    figure = opened(page, f"{site}/{NAME}")
    known = recorded()
    assert known
    for place, found in known:
        figure.locator("select").select_option(str(place))
        for beam in range(1, 6):
            figure.get_by_label("beam").fill(str(beam))
            for alpha in (0.0, 0.6, 1.2):
                figure.get_by_label("length penalty").fill(str(alpha))
                end = figure.get_by_role("button", name="To the end")
                if end.is_enabled():
                    end.click()
                assert answer(figure) == spelled(found[f"beam {beam}, α = {alpha:g}"])
                for text, total, length, score in rows(figure, "Finished"):
                    wanted = float(total) / length_penalty(int(length), alpha)
                    assert float(score) == pytest.approx(wanted, abs=0.011), text


def test_a_finger_does_everything_and_nothing_sticks_out(site: str, new_page: Open) -> None:
    """On a touch screen: steps, a wide beam, long words, and tables that fit."""
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    figure = opened(page, f"{site}/{NAME}")
    places = [place for place, _ in recorded()]
    for place in (0, *places):
        figure.locator("select").select_option(str(place))
        slide(page, figure, "beam", 1, 1, 5)
        figure.get_by_role("button", name="Next step").tap()
        figure.get_by_role("button", name="To the end").tap()
        assert figure.evaluate("e => e.scrollWidth <= e.clientWidth + 1")
        for table in figure.locator("table").all():
            box = table.bounding_box()
            assert box
            assert box["x"] + box["width"] <= 390
        words = figure.locator(".tc-node .tc-word")
        widths = words.evaluate_all("all => all.map((w) => w.getComputedTextLength())")
        boxes_wide = figure.locator(".tc-node rect").evaluate_all(
            "all => all.map((r) => Number(r.getAttribute('width')))"
        )
        assert all(w <= b for w, b in zip(widths, boxes_wide, strict=True))


def test_the_keyboard_does_everything(site: str, new_page: Open) -> None:
    """Tab to the buttons, Enter to press them; the focus can be seen."""
    page = new_page()
    figure = opened(page, f"{site}/{NAME}")
    figure.locator("select").focus()
    for _ in range(3):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # the first button that isn't disabled
    page.keyboard.press("Enter")
    assert boxes(figure) == ["<s>", "a", "i", "am", "student"]
    outline = figure.get_by_role("button", name="Next step").evaluate(
        "e => getComputedStyle(e).outlineStyle"
    )
    assert outline == "solid"
    label = figure.locator("svg").get_attribute("aria-label")
    assert label
    assert label.startswith("Tree of beginnings. Step 2")


def test_without_scripts_there_are_words(site: str, new_page: Open) -> None:
    """Where scripts don't run, a sentence says what is missing and leads to a picture."""
    page = new_page(java_script_enabled=False)
    page.goto(f"{site}/{NAME}")
    assert page.locator(".tc-beam").count() == 0
    page.get_by_role("link", name=re.compile("picture of the tree")).click()
    assert page.locator("#fig-beam img").is_visible()
