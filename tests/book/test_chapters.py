"""Every chapter's notebook: order, language, story, ten questions. A new chapter needs no new line here."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = sorted(path.stem for path in (ROOT / "chapters").glob("*.ipynb"))
PAGES = sorted(
    str(path.relative_to(ROOT))
    for folder in ("book", "chapters")
    for path in (ROOT / folder).glob("*.ipynb")
)
every_chapter = pytest.mark.parametrize("chapter", CHAPTERS)
ORDER = [  # words of the headings, in the order of every chapter
    "Where this part sits",
    "The idea",
    "The equation",
    "By hand",
    "The naive version",
    "The version of the package",
    "Common mistakes",
    "Quiz",
    "Summary",
    "What the package gained",
    "Exercises",
    "References",
]
LINES = 22  # a cell may have
WIDTH = 83  # letters that fit in a line of code on the page, at 1280 pixels


def cells(chapter: str) -> list[dict[str, Any]]:
    """Return the cells of a chapter's notebook."""
    path = ROOT / "chapters" / f"{chapter}.ipynb"
    return list(json.loads(path.read_text(encoding="utf-8"))["cells"])


def prose(chapter: str) -> str:
    """Return everything a reader of the chapter reads that is not code."""
    markdown = ("".join(c["source"]) for c in cells(chapter) if c["cell_type"] == "markdown")
    return "\n\n".join(markdown)


def test_there_is_a_chapter() -> None:
    assert "01_attention" in CHAPTERS


@every_chapter
def test_sections_come_in_the_order_of_the_book(chapter: str) -> None:
    headings = re.findall(r"^## (.+)$", prose(chapter), re.M)
    found = [
        next((i for i, heading in enumerate(headings) if heading.startswith(words)), -1)
        for words in ORDER
    ]
    assert -1 not in found, [words for words, i in zip(ORDER, found, strict=True) if i < 0]
    assert found == sorted(found), headings


@every_chapter
def test_it_starts_with_its_question(chapter: str) -> None:
    first = "".join(cells(chapter)[0]["source"])
    assert re.match(r"# [^\n]+\n\n\*\*The question of this chapter: [^\n]+\?\*\*\n", first)


@every_chapter
def test_no_word_that_belittles_the_reader(chapter: str) -> None:
    words = r"\b(simply|obviously|just|trivial\w*|clearly|of course)\b"
    assert re.findall(words, prose(chapter), re.I) == []


@every_chapter
def test_cells_are_small_and_introduced(chapter: str) -> None:
    previous = "code"
    for cell in cells(chapter):
        if cell["cell_type"] == "code":
            assert len("".join(cell["source"]).splitlines()) <= LINES, cell["id"]
            assert previous == "markdown" or cell["id"].endswith(
                ("-figure", "-picture", "-check")
            ), cell["id"]
        previous = cell["cell_type"]


@pytest.mark.parametrize("page", PAGES)
def test_code_that_is_read_is_no_wider_than_the_page(page: str) -> None:
    for cell in json.loads((ROOT / page).read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code" and "hide-input" not in cell["metadata"].get("tags", []):
            lines = "".join(cell["source"]).splitlines()
            assert [line for line in lines if len(line) > WIDTH] == []


@every_chapter
def test_it_asserts_what_it_says(chapter: str) -> None:
    sources = ["".join(c["source"]) for c in cells(chapter) if c["cell_type"] == "code"]
    asserting = sum("assert " in source for source in sources)
    assert asserting >= len(sources) / 2


@every_chapter
def test_its_part_of_the_story_is_planned(chapter: str) -> None:
    plan = (ROOT / "chapters" / "story.txt").read_text(encoding="utf-8")
    box = re.search(
        r"```\{admonition\} The night ferry, (part \d+: [^\n]+)\n:class: story\n(.+?)```",
        prose(chapter),
        re.S,
    )
    assert box, "there is no box with the story"
    stem = chapter.split("_", 1)[1]
    assert re.search(rf"^{re.escape(box[1])} +\({stem}\)$", plan, re.M), box[1]
    assert 100 <= len(box[2].split()) <= 200
    assert re.search(r"\n\*In this chapter: .+\*\n", box[2])


@every_chapter
def test_ten_questions_are_answered_by_the_page(chapter: str) -> None:
    path = ROOT / "tests" / "questions" / f"{chapter}.yml"
    questions = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert len(questions) == len({entry["question"] for entry in questions}) == 10
    by_id = {cell["id"]: cell for cell in cells(chapter)}
    for entry in questions:
        assert set(entry) == {"question", "answer", "where", "says"}
        assert entry["question"].endswith("?")
        assert entry["says"] in "".join(by_id[entry["where"]]["source"]), entry["question"]


@every_chapter
def test_every_work_cited_is_in_the_list(chapter: str) -> None:
    text = (ROOT / "book" / "references.bib").read_text(encoding="utf-8")
    known = set(re.findall(r"^@\w+\{([\w-]+),", text, re.M))
    found = re.findall(r"\{cite:[tp]\}`([^`]+)`", prose(chapter))
    cited = {key for keys in found for key in keys.split(",")}
    assert cited
    assert cited <= known
    section = prose(chapter).split("## References")[1]
    assert cited == set(re.findall(r"\{cite:t\}`([^`]+)`", section)), "the last section lists all"


@every_chapter
def test_its_map_is_what_the_script_draws(chapter: str) -> None:
    name = "draw_transformer_map"
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    sys.modules[name] = script
    spec.loader.exec_module(script)
    number = chapter[:2]
    assert f"images/map_{number}.svg" in prose(chapter)
    stored = (ROOT / "book" / "images" / f"map_{number}.svg").read_text(encoding="utf-8")
    assert stored == script.draw(number)
