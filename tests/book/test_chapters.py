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


def script(name: str) -> Any:
    """Load a script of `tools`."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


CHAPTERS = sorted(path.stem for path in (ROOT / "chapters").glob("*.ipynb"))
PAGES = sorted(
    str(path.relative_to(ROOT))
    for folder in ("book", "chapters")
    for path in (ROOT / folder).glob("*.ipynb")
)
NEW_FORM = [
    "00_seq2seq",
    "01_attention",
    "02_self_attention",
    "03_masking",
    "04_multi_head",
    "05_positional_encoding",
    "06_encoder_decoder",
    "07_training",
    "08_loss",
    "09_decoding",
    "10_inspecting",
    "11_families",
    "12_long_context",
    "13_non_autoregressive",
    "14_scaling",
    "15_multi30k",
]
every_chapter = pytest.mark.parametrize("chapter", CHAPTERS)
in_new_form = pytest.mark.parametrize("chapter", NEW_FORM)
measuring = script("lengths")
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
WORDS_OF_CORE, LINES_OF_CORE, ASSERTS_OF_CORE = 4000, 250, 15
WORDS_OF_OVERTURE = 2850  # half of what chapter 00 once had
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
                ("-figure", "-picture", "-check", "-claims")
            ), cell["id"]
        previous = cell["cell_type"]


@pytest.mark.parametrize("page", PAGES)
def test_code_that_is_read_is_no_wider_than_the_page(page: str) -> None:
    for cell in json.loads((ROOT / page).read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code" and "hide-input" not in cell["metadata"].get("tags", []):
            lines = "".join(cell["source"]).splitlines()
            assert [line for line in lines if len(line) > WIDTH] == []


@pytest.mark.parametrize("page", PAGES)
def test_letters_in_a_figure_can_be_read_on_a_telephone(page: str) -> None:
    """A figure of 920 pixels is 350 wide there, and its letters, of 20 pixels, are 7 or 8 high."""
    sizes = re.findall(r"<Figure size ([\d.]+)x", (ROOT / page).read_text(encoding="utf-8"))
    assert [size for size in sizes if float(size) > 920] == []


@every_chapter
def test_it_asserts_what_it_says(chapter: str) -> None:
    sources = ["".join(c["source"]) for c in cells(chapter) if c["cell_type"] == "code"]
    asserting = sum("assert " in source for source in sources)
    assert asserting >= len(sources) / (3 if chapter in NEW_FORM else 2)


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
    number = chapter[:2]
    assert f"images/map_{number}.svg" in prose(chapter)
    stored = (ROOT / "book" / "images" / f"map_{number}.svg").read_text(encoding="utf-8")
    assert stored == script("draw_transformer_map").draw(number)


def notebook(chapter: str) -> dict[str, Any]:
    """Return a chapter's notebook as it is stored."""
    path = ROOT / "chapters" / f"{chapter}.ipynb"
    return dict(json.loads(path.read_text(encoding="utf-8")))


@in_new_form
def test_its_core_is_read_in_45_minutes(chapter: str) -> None:
    core, _, _ = measuring.lengths(notebook(chapter))
    assert core.words <= WORDS_OF_CORE
    assert core.lines <= LINES_OF_CORE
    assert core.asserts <= ASSERTS_OF_CORE
    assert core.minutes <= 45


def test_the_overture_is_half_as_long() -> None:
    core, _, _ = measuring.lengths(notebook("00_seq2seq"))
    assert core.words <= WORDS_OF_OVERTURE


@in_new_form
def test_it_says_how_long_it_takes(chapter: str) -> None:
    page = notebook(chapter)
    first = "".join(page["cells"][0]["source"])
    assert measuring.TIME_LINE.search(first)
    assert measuring.with_times(page) == page, "python tools/lengths.py --write"


BESIDE = ("prerequisites", "first_look", "first_sentences", "walk", "debugging")


@pytest.mark.parametrize("page", [f"book/{name}.ipynb" for name in BESIDE])
def test_a_page_beside_a_chapter_has_a_core_too(page: str) -> None:
    stored = json.loads((ROOT / page).read_text(encoding="utf-8"))
    core, _, _ = measuring.lengths(stored)
    assert core.words <= WORDS_OF_CORE
    assert core.lines <= LINES_OF_CORE
    assert core.asserts <= ASSERTS_OF_CORE
    assert core.minutes <= 45
    assert measuring.TIME_LINE.search("".join(stored["cells"][0]["source"]))
    assert measuring.with_times(stored) == stored, "python tools/lengths.py --write"


@in_new_form
def test_it_has_three_common_mistakes_at_most(chapter: str) -> None:
    section = re.split(r"^## ", prose(chapter).split("## Common mistakes")[1], flags=re.M)[0]
    assert 1 <= section.count("```{admonition}") <= 3


@in_new_form
def test_what_only_asserts_is_folded_and_ends_its_section(chapter: str) -> None:
    page = cells(chapter)
    for place, cell in enumerate(page):
        if cell["cell_type"] == "code" and not cell["outputs"]:
            statements = "".join(cell["source"]).splitlines()
            tags = cell["metadata"].get("tags", [])
            asserts = sum(line.lstrip().startswith("assert ") for line in statements)
            assert "hide-input" in tags or asserts < len(statements) / 2, cell["id"]
        if cell["id"].endswith("-claims"):
            assert "hide-input" in cell["metadata"]["tags"]
            said = cell["metadata"]["mystnb"]
            assert set(said.values()) == {"The claims above, as code"}
            following = "".join(page[place + 1]["source"])
            assert re.match(r"(\([\w-]+\)=\n)?#+ ", following), cell["id"]


@in_new_form
def test_the_ten_questions_are_answered_by_its_core(chapter: str) -> None:
    path = ROOT / "tests" / "questions" / f"{chapter}.yml"
    pieces = list(measuring.pieces(notebook(chapter)))
    folded = {piece.cell for piece in pieces if piece.deeper or not piece.seen}
    seen = {piece.cell for piece in pieces} - folded
    for entry in yaml.safe_load(path.read_text(encoding="utf-8")):
        assert entry["where"] in seen, entry["question"]


def test_lengths_count_what_is_seen_and_what_is_folded() -> None:
    def cell(kind: str, source: str, *tags: str) -> dict[str, Any]:
        return {"cell_type": kind, "source": [source], "metadata": {"tags": tags}, "outputs": []}

    page = {
        "cells": [
            cell("markdown", "# One two\n\n$$\nx = 1\n$$\n\nthree $y$"),
            cell("code", "a = 1\n\nassert a"),
            cell("code", "assert a == 1", "hide-input"),
            cell(
                "markdown",
                "```{dropdown} four\nfolded words\n```\n\n### Going deeper: more\n\n```{dropdown} In\nit\n```",
            ),
            cell("code", "b = 2", "hide-input"),
            cell("markdown", "#### Still deeper\n\n(a-label)=\n## five\n\nsix $y$ (`z`)"),
        ]
    }
    core, whole, folds = measuring.lengths(page)
    assert (core.words, core.lines, core.asserts) == (23, 3, 1)
    assert (whole.words, whole.lines, whole.asserts) == (32, 5, 2)
    assert list(folds) == ["Going deeper: more"]
    assert (folds["Going deeper: more"].words, folds["Going deeper: more"].lines) == (11, 1)
    timed = measuring.with_times(page)
    assert "### Going deeper: more (1 minute)\n" in "".join(timed["cells"][3]["source"])
