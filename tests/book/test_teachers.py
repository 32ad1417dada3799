"""The pages for teachers say what the course says: times, mistakes, names of exercises and commands."""

from __future__ import annotations

import json
import re

import pytest
from test_book import ROOT

from tools.lengths import lengths
from transformer_course.checks.discovery import exercises_by_chapter

TEACHERS = (ROOT / "book" / "teachers.md").read_text(encoding="utf-8")
NOTES = (ROOT / "book" / "teachers" / "notes.md").read_text(encoding="utf-8")
CHAPTERS = {path.stem: path for path in sorted((ROOT / "chapters").glob("*.ipynb"))}
NAMED = re.compile(r"^- \*([^*]+)\* \(((?:`\w+`(?: and )?)+)\)", re.M)
every_chapter = pytest.mark.parametrize("name", CHAPTERS)


def notebook(name: str) -> dict[str, list[dict[str, list[str]]]]:
    """Return a chapter as it is stored."""
    stored: dict[str, list[dict[str, list[str]]]] = json.loads(CHAPTERS[name].read_text("utf-8"))
    return stored


def note(name: str) -> str:
    """Return the notes on a chapter."""
    found = re.search(rf"^## {name[:2]} [^\n]+\n(.*?)(?=^## |\Z)", NOTES, re.M | re.S)
    assert found, f"no notes on {name}"
    return found[1]


@every_chapter
def test_times_are_those_of_the_chapter_and_its_exercises(name: str) -> None:
    core, whole, _ = lengths(notebook(name))
    exercises = exercises_by_chapter()[name[3:]]
    minutes = sum(exercise.minutes for exercise in exercises)
    title = "".join(notebook(name)["cells"][0]["source"]).splitlines()[0].removeprefix("# ")
    row = f"| [{title}](../chapters/{name}) | {core.minutes} | {whole.minutes} | {minutes} |"
    assert row in TEACHERS


def test_weeks_add_up() -> None:
    """Ten weeks; each chapter of the plan is read once, and a week's sum is that of its chapters."""
    rows = re.findall(r"^\| (\d+) \| ([^|]+) \| (\d+) \| (\d+) \| ([^|]*) \|$", TEACHERS, re.M)
    assert [int(row[0]) for row in rows] == list(range(1, 11))
    planned = [re.findall(r"\b\d\d\b", row[1]) for row in rows]
    assert sorted(number for week in planned for number in week) == [name[:2] for name in CHAPTERS]
    by_number = {name[:2]: name for name in CHAPTERS}
    for chapters, (_, _, reading, work, _) in zip(planned, rows, strict=True):
        names = [by_number[number] for number in chapters]
        assert int(reading) == sum(lengths(notebook(name))[0].minutes for name in names)
        exercises = [e for name in names for e in exercises_by_chapter()[name[3:]]]
        assert int(work) == sum(exercise.minutes for exercise in exercises)


@every_chapter
def test_mistakes_in_the_notes_are_named_by_the_checks(name: str) -> None:
    named = NAMED.findall(note(name))
    assert len(named) >= 2
    exercises = {exercise.name: exercise for exercise in exercises_by_chapter()[name[3:]]}
    for mistake, where in named:
        for exercise in re.findall(r"`(\w+)`", where):
            assert mistake in [m.name for m in exercises[exercise].misconceptions], exercise


@every_chapter
def test_quoted_sentences_are_common_mistakes_of_the_page(name: str) -> None:
    cells = "\n".join("".join(cell["source"]) for cell in notebook(name)["cells"])
    mistakes = re.findall(r"\{admonition\} (\"[^\n]+\")[^\n]*\n:class: warning", cells)
    text = re.sub(r"\s+", " ", note(name))
    quoted = re.findall(r'"[^"]+\."', text)
    assert quoted
    assert [sentence for sentence in quoted if sentence not in mistakes] == []


@every_chapter
def test_there_are_three_questions_on_each_chapter(name: str) -> None:
    assert len(re.findall(r"^\d\. ", note(name), re.M)) >= 3
