"""Notebooks as they are downloaded: plain Markdown, no dead links, a first cell that says what is missing."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from test_book import HTML, NOTEBOOKS, PAGES, ROOT, parsed

sys.path.append(str(ROOT / "book" / "_ext"))

from course_downloads import plain, standalone

MYST = re.compile(r"\{[\w:-]+\}`|^(?:`{3,}|:{3,})\{|^\([\w-]+\)=$|\]\((?!https?:)", re.M)


def downloaded(name: str, needed: str = "0.1") -> Any:
    """Return a notebook of the course as a reader gets it."""
    return standalone(nbformat.read(ROOT / name, as_version=4), name, needed)


def first_code(notebook: Any) -> str:
    """Return its first cell of code."""
    return next(str(cell.source) for cell in notebook.cells if cell.cell_type == "code")


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_downloaded_notebook_is_plain(name: str) -> None:
    notebook = downloaded(name)
    nbformat.validate(notebook)
    text = "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    assert MYST.findall(text) == []
    assert text.count("<details>") == text.count("</details>")
    assert "package" in first_code(notebook)


def test_boxes_of_every_kind_become_plain() -> None:
    assert plain("```{math}\n:label: eq-a\na = b\n```") == "$$\na = b\n$$"
    assert plain("```{dropdown} Hint\nThink of {term}`keys <key>`.\n```") == (
        "<details><summary>Hint</summary>\n\nThink of keys.\n\n</details>"
    )
    assert plain("````{admonition} So\n```{math}\nx\n```\n````") == "> **So**\n>\n> $$\n> x\n> $$"
    asked = "- question: One?\n  choices:\n  - {text: a, correct: true, why: yes.}\n  - {text: b, why: no.}"
    quiz = f"```{{quiz}}\n{asked}\n```"
    assert plain(quiz).startswith("1. One?\n   - a\n   - b\n\n<details>")
    assert "1. a yes." in plain(quiz)
    assert (
        plain("see {cite:t}`vaswani2017attention`, {eq}`eq-a`")
        == "see Vaswani (2017), the equation"
    )
    assert plain("[a](../b.ipynb) and [c](https://c.org)") == "a and [c](https://c.org)"


def test_the_first_cell_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = first_code(downloaded("chapters/04_multi_head.ipynb"))
    (tmp_path / "alone").mkdir()
    monkeypatch.chdir(tmp_path / "alone")
    wanted = (
        r"Missing: book/experiments/heads\.json, runs/demo\. .*`make demo`.*04_multi_head\.ipynb"
    )
    with pytest.raises(RuntimeError, match=wanted):
        exec(cell, {})
    other = first_code(downloaded("chapters/01_attention.ipynb", needed="99.9"))
    with pytest.raises(
        RuntimeError, match=r"Missing: the package transformer-course 99\.9 \(installed: 0"
    ):
        exec(other, {})
    exec(first_code(downloaded("chapters/01_attention.ipynb")), {})


def test_in_the_folder_of_the_course_nothing_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT / "chapters")
    exec(first_code(downloaded("chapters/05_positional_encoding.ipynb")), {})


@pytest.mark.skipif(not PAGES, reason="The web book is not built: run `make book` first.")
def test_the_book_offers_these_copies() -> None:
    links = {
        (HTML / page).parent / link
        for page in PAGES
        for link in parsed(page).links
        if link.endswith(".ipynb") and not link.startswith("http")
    }
    copies = {path.resolve() for path in links}
    assert len(copies) == len(NOTEBOOKS)
    for path in copies:
        notebook = nbformat.read(path, as_version=4)
        text = "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
        assert MYST.findall(text) == [], path
        assert re.search(r"downloaded alone|NEEDED = ", first_code(notebook)), path
