"""How far a learner has come: read off saved notebooks, the own file and this kernel; as text and as a map."""

from __future__ import annotations

import importlib
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

from transformer_course import cli
from transformer_course.checks import progress
from transformer_course.checks.discovery import (
    chapter_titles,
    exercises_by_chapter,
    exercises_moved,
    exercises_named,
)
from transformer_course.checks.exercise import SAID, Exercise
from transformer_course.checks.own_progress import ChapterProgress, Progress
from transformer_course.checks.progress_html import filled_map

ROOT = Path(__file__).resolve().parents[2]
ATTENTION = {task.name: task for task in exercises_by_chapter()["attention"]}
PASSED = "Passed: softmax."
WRONG = "softmax. Not yet right: divided by the sum."
OPEN = "softmax: not attempted yet. Replace `raise NotImplementedError`."
IMPORT = "from transformer_course.checks import attention as check"
CALL = "report = check.softmax(softmax)"
SOFTMAX = """
import numpy as np


def softmax(scores, axis=-1):
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)
"""


@pytest.fixture(autouse=True)
def _nothing_said() -> Iterator[None]:
    """What other tests checked in this process is out of the way."""
    before = dict(SAID)
    SAID.clear()
    yield
    SAID.clear()
    SAID.update(before)


def saved(
    path: Path, *texts: str, code: str = CALL, rich: bool = False, imported: str = IMPORT
) -> Path:
    """Write a notebook that calls a check, with these texts as its outputs: printed, or beside HTML."""
    outputs = [
        nbformat.v4.new_output("display_data", {"text/plain": text, "text/html": "<b>?</b>"})
        if rich
        else nbformat.v4.new_output("stream", text=f"{text}\n")
        for text in texts
    ]
    cells = [nbformat.v4.new_code_cell(imported)]
    cells.append(nbformat.v4.new_code_cell(code, outputs=outputs))
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    return path


def of_attention(folder: Path) -> ChapterProgress:
    """How far chapter 01 is."""
    return next(c for c in progress(folder).chapters if c.number == "01")


def test_every_chapter_with_exercises_is_there_in_the_order_of_the_book() -> None:
    stored = [path.stem.split("_", 1) for path in sorted((ROOT / "exercises").glob("*.ipynb"))]
    assert [(number, stem) for stem, (number, _) in chapter_titles().items()] == [
        (number, stem) for number, stem in stored
    ]
    assert all(title for _, title in chapter_titles().values())


@pytest.mark.parametrize("rich", [False, True])
@pytest.mark.parametrize(
    ("texts", "solved", "begun"),
    [
        ((PASSED,), True, True),
        ((WRONG,), False, True),
        ((OPEN,), False, False),
        ((), False, False),
        ((WRONG, PASSED), True, True),
        ((PASSED, WRONG), False, True),  # the last verdict counts
        (("Passed: similarities.",), False, False),  # of another check
    ],
)
def test_verdicts_of_a_saved_notebook(
    texts: tuple[str, ...], solved: bool, begun: bool, rich: bool, tmp_path: Path
) -> None:
    saved(tmp_path / "01_attention.ipynb", *texts, rich=rich)
    chapter = of_attention(tmp_path)
    assert (chapter.solved == ("softmax",), chapter.begun) == (solved, begun)
    assert chapter.total == len(ATTENTION)
    assert chapter.notebook == "01_attention.ipynb"


def test_a_text_that_looks_like_a_verdict_is_none(tmp_path: Path) -> None:
    for code in ("print('Passed: softmax.')", "# check.softmax(softmax)", "keep(softmax)"):
        saved(tmp_path / "a.ipynb", PASSED, code=code)
        assert of_attention(tmp_path).solved == ()


def test_exercises_of_the_same_name_are_told_apart_by_their_chapter(tmp_path: Path) -> None:
    saved(tmp_path / "a.ipynb", "Passed: predict.", code="check.predict(predict)")
    solved = {c.number: c.solved for c in progress(tmp_path).chapters if c.solved}
    assert solved == {"01": ("predict",)}


@pytest.mark.parametrize(
    ("stem", "name", "number", "now_in"), [("decoding", "bleu", "15", "multi30k")]
)
def test_an_exercise_that_moved_counts_where_it_is_now(
    stem: str, name: str, number: str, now_in: str, tmp_path: Path
) -> None:
    """A notebook from before calls its check in the old chapter. The new one isn't begun by that."""
    assert [task.name for task in exercises_moved()[stem]] == [name]
    [task] = exercises_named(name, now_in)
    assert getattr(importlib.import_module(f"transformer_course.checks.{stem}"), name) is task
    path = tmp_path / "from_before.ipynb"
    old = IMPORT.replace("attention", stem)
    for said, solved in ((f"Passed: {name}.", (name,)), (f"{name}. Not yet right: so.", ())):
        saved(path, said, code=f"check.{name}({name})", imported=old)
        chapters = {chapter.number: chapter for chapter in progress(tmp_path).chapters}
        assert (chapters[number].solved, chapters[number].begun) == (solved, False)
        assert {c.notebook for c in chapters.values()} == {"", "from_before.ipynb"}
        assert chapters[number].notebook == ""
    saved(path, said, code=f"check.{name}({name})", imported=IMPORT.replace("attention", now_in))
    assert {c.number for c in progress(tmp_path).chapters if c.begun} == {number}


def test_of_a_notebook_and_its_copy_the_better_verdict_counts(tmp_path: Path) -> None:
    saved(tmp_path / "01_attention.ipynb", PASSED)
    saved(tmp_path / "01_attention-Copy1.ipynb", WRONG)
    assert of_attention(tmp_path).solved == ("softmax",)


def test_the_learners_file_counts_if_it_passes_now(tmp_path: Path) -> None:
    own = tmp_path / "my_transformer.py"
    own.write_text(SOFTMAX, encoding="utf-8")
    assert of_attention(tmp_path).solved == ("softmax",)
    own.write_text(SOFTMAX.replace("np.exp", "np.abs"), encoding="utf-8")
    assert of_attention(tmp_path).solved == ()


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("def f(:", "my_transformer.py can't be read as Python, line 1. Mend it there first."),
        ("1 / 0", "my_transformer.py stopped with ZeroDivisionError: division by zero"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(text: str, note: str, tmp_path: Path) -> None:
    (tmp_path / "my_transformer.py").write_text(text, encoding="utf-8")
    [said] = progress(tmp_path).notes
    assert said.startswith(note)
    assert note in repr(progress(tmp_path))


@pytest.mark.parametrize("text", ["", "{", "[]", '{"cells": 3}', '{"cells": [{}]}', "[" * 100_000])
def test_a_notebook_that_cannot_be_read_is_named(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_text(text, encoding="utf-8")
    saved(tmp_path / "b.ipynb", PASSED)
    found = progress(tmp_path)
    assert found.notes == ("a.ipynb can't be read as a notebook.",)
    assert found.summary().startswith("1 of ")


def test_what_this_kernel_has_checked_counts_before_it_is_saved(tmp_path: Path) -> None:
    saved(tmp_path / "a.ipynb", WRONG)
    softmax = ATTENTION["softmax"]
    assert isinstance(softmax, Exercise)
    softmax(softmax.reference)
    assert of_attention(tmp_path).solved == ("softmax",)
    softmax(lambda scores, axis: scores)
    assert of_attention(tmp_path).solved == ()


def test_what_comes_next(tmp_path: Path) -> None:
    """The first open exercise of a chapter that is begun; of the first chapter if none is."""
    assert progress(tmp_path).next_step() == (
        "Next: gru_step (chapter 00, implement, about 20 minutes), its notebook isn't in this folder."
    )
    saved(tmp_path / "01_attention.ipynb", PASSED)
    assert progress(tmp_path).next_step() == (
        "Next: similarities (chapter 01, implement, about 10 minutes), in 01_attention.ipynb."
    )


def test_everything_is_solved_in_the_notebooks_with_solutions() -> None:
    found = progress(ROOT / "exercises" / "solutions")
    assert all(chapter.open == () for chapter in found.chapters)
    assert found.next is None
    assert found.next_step() == "Every exercise is solved."
    total = sum(map(len, exercises_by_chapter().values()))
    assert found.summary() == f"{total} of {total} exercises solved."
    svg = filled_map({chapter.number: 1.0 for chapter in found.chapters})
    assert 'visibility="hidden"' not in svg
    assert 'width="0"' not in svg


def test_the_map_fills_in_by_the_chapters_of_each_part(tmp_path: Path) -> None:
    empty = filled_map({})
    assert empty.count('width="0"') == empty.count("map-fill") > 8
    assert empty.count('visibility="hidden"') == empty.count("map-tick")
    svg = filled_map({"02": 1.0, "04": 0.5})
    widths = re.findall(r'data-chapters="([\d ]+)" data-width="156"[^>]* width="(\d+)"', svg)
    expected = {"02 04": "117", "03 04": "39", "06": "0", "05": "0"}
    assert expected.items() <= dict(widths).items()
    shown = re.findall(r'class="map-tick" data-chapters="(\d\d)">', svg)
    assert set(shown) == {"02"}


def test_the_html_says_in_words_what_the_map_shows(tmp_path: Path) -> None:
    saved(tmp_path / "01_attention.ipynb", PASSED)
    html = progress(tmp_path)._repr_html_()
    assert "<svg" in html
    assert "<caption" in html
    assert re.search(r'<th scope="row"[^>]*>01 attention</th><td[^>]*>1 of 8</td>', html)
    assert '<a href="01_attention.ipynb">01_attention.ipynb</a>' in html


def test_what_stands_in_a_folder_is_text_in_the_page() -> None:
    chapter = ChapterProgress("01", "attention", (), (ATTENTION["softmax"],), True, '<i>".ipynb')
    html = Progress((chapter,), ("<b>",))._repr_html_()
    assert "<i>" not in html
    assert "<b>" not in html
    assert html.count("&lt;i&gt;") == 2  # the link, and where it leads


def command(*arguments: Any) -> int:
    """Run `transformer-course progress` and return its exit status."""
    with pytest.raises(SystemExit) as end:
        cli.app(["progress", *map(str, arguments)])
    return int(end.value.code or 0)


def test_the_command_prints_it_and_changes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "exercises"
    folder.mkdir()
    shutil.copy(ROOT / "exercises" / "03_masking.ipynb", folder)
    path = saved(folder / "01_attention.ipynb", PASSED)
    before = path.read_bytes()
    monkeypatch.chdir(tmp_path)  # the folder above the exercises will do
    assert command() == 0
    printed = capsys.readouterr().out
    assert printed == f"{progress(folder)!r}\n"
    assert (
        "01 attention              [#...........] 1 of 8 solved, about 110 minutes left" in printed
    )
    assert path.read_bytes() == before
    assert {p.name for p in folder.iterdir()} == {"01_attention.ipynb", "03_masking.ipynb"}


def test_a_folder_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(tmp_path / "no") == 1
    told = f"error: folder ({tmp_path / 'no'}) must be a folder with exercise notebooks\n"
    assert capsys.readouterr().err == told
