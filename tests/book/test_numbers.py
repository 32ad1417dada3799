"""A chapter's number is in its title, and in front of those of its figures and equations."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from test_book import HTML, PAGES, ROOT, listed

CHAPTERS = sorted(path.stem for path in (ROOT / "chapters").glob("*.ipynb"))
NUMBER = re.compile(r'<span class="(caption-number|eqno)">\(?(Fig\.|Table|Listing)? ?([\d.]+)')
every_chapter = pytest.mark.parametrize("chapter", CHAPTERS)
built = pytest.mark.skipif(not PAGES, reason="The web book is not built: run `make book` first.")


def title(path: Path) -> str:
    """Return the title of a page."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        text = "".join(json.loads(text)["cells"][0]["source"])
    found = re.search(r"^# (.+)$", text, re.M)
    assert found, path
    return found[1]


def numbers(page: str) -> dict[str, list[str]]:
    """Return the numbers of a built page's figures, tables and equations."""
    kinds: dict[str, list[str]] = {}
    for kind, word, number in NUMBER.findall((HTML / page).read_text(encoding="utf-8")):
        kinds.setdefault(word or kind, []).append(number)
    return kinds


@every_chapter
def test_a_title_begins_with_the_number_of_its_chapter(chapter: str) -> None:
    assert re.match(rf"{chapter[:2]} \S", title(ROOT / "chapters" / f"{chapter}.ipynb"))


def test_the_side_bar_has_no_hole() -> None:
    """Each number from 00 to the last chapter's stands in a title, in order."""
    toc = listed(yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8")))
    paths = [next(ROOT.glob(f"{name}.*[bd]")) for name in toc]
    shown = [re.match(r"\d\d(, \d\d)*(?= )", title(path)) for path in paths]
    found = [int(number) for match in shown if match for number in match[0].split(", ")]
    assert found == list(range(int(CHAPTERS[-1][:2]) + 1))


@built
@every_chapter
def test_figures_and_equations_have_the_number_of_their_chapter(chapter: str) -> None:
    found = numbers(f"chapters/{chapter}.html")
    assert {"Fig.", "eqno"} <= set(found)
    for counted in found.values():
        assert counted == [f"{int(chapter[:2])}.{i}" for i in range(1, len(counted) + 1)]


@built
def test_a_page_beside_the_chapters_counts_for_itself() -> None:
    for page in ("book/intro.html", "book/walk.html", "book/results.html"):
        for counted in numbers(page).values():
            assert counted == [str(i) for i in range(1, len(counted) + 1)]


@built
def test_what_the_text_calls_a_figure_is_what_its_caption_says() -> None:
    page = (HTML / "chapters" / "01_attention.html").read_text(encoding="utf-8")
    called = re.search(r'href="#fig-two-queries"><span class="std std-numref">Fig. ([\d.]+)<', page)
    caption = re.search(
        r'id="fig-two-queries">.*?<span class="caption-number">Fig. ([\d.]+) <', page, re.S
    )
    assert called
    assert caption
    assert called[1] == caption[1]


@built
@every_chapter
def test_every_interactive_figure_has_a_number_and_a_caption(chapter: str) -> None:
    cells = json.loads((ROOT / "chapters" / f"{chapter}.ipynb").read_text(encoding="utf-8"))[
        "cells"
    ]
    page = (HTML / "chapters" / f"{chapter}.html").read_text(encoding="utf-8")
    for cell in cells:
        kinds = {kind for output in cell.get("outputs", []) for kind in output.get("data", {})}
        if any("widget-view" in kind for kind in kinds):
            figure = cell["metadata"]["mystnb"]["figure"]
            assert figure["caption"].startswith("Interactive: ")
            shown = page.split(f'id="{figure["name"]}"')[1].split("</figure>")[0]
            assert "widget-view+json" in shown
            assert "Fig. " in shown
