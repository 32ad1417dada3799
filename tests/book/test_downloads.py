"""Notebooks as they are downloaded: plain Markdown, no dead links, a first cell that says what is missing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path
from typing import Any

import nbformat
import pytest
from plain_markdown import leftovers
from test_book import HTML, NOTEBOOKS, PAGES, ROOT, parsed

sys.path.append(str(ROOT / "book" / "_ext"))

from course_downloads import plain, standalone

MYST = re.compile(r"\{[\w:-]+\}`|^(?:`{3,}|:{3,})\{|^\([\w-]+\)=$|\]\((?!https?:)", re.M)


FOLDER = {  # a small one in the place of the course's
    "pyproject.toml": """\
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"
[project]
name = "transformer-course"
version = "9.9.3"
optional-dependencies = {notebooks = []}
[tool.setuptools]
py-modules = ["transformer_course"]
""",
    "transformer_course.py": "WORD = 'from the archive'\n",
    "chapters/a.ipynb": "",
    "book/experiments/heads.json": "{}",
    "tools/train_demo.py": "from pathlib import Path\n(Path('..') / 'runs' / 'demo').mkdir(parents=True)\n",
}


def downloaded(name: str, needed: str = "0.1", archive: str = "") -> Any:
    """Return a notebook of the course as a reader gets it."""
    return standalone(nbformat.read(ROOT / name, as_version=4), name, needed, archive)


def first_code(notebook: Any) -> str:
    """Return its first cell of code."""
    return next(str(cell.source) for cell in notebook.cells if cell.cell_type == "code")


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_downloaded_notebook_is_plain(name: str) -> None:
    notebook = downloaded(name)
    nbformat.validate(notebook)
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    assert [left for text in texts for left in leftovers(text)] == []
    text = "\n\n".join(texts)
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


def archive_of(folder: Path) -> str:
    """Write the small folder of a course as a zip file, and return its address."""
    with zipfile.ZipFile(folder / "course.zip", "w") as packed:
        for name, text in FOLDER.items():
            packed.writestr(f"transformer-course-main/{name}", text)
    return (folder / "course.zip").as_uri()


def python_without_the_course(folder: Path) -> Path:
    """Return the Python of a new environment that sees the packages of this one, and installs into itself."""
    venv.create(folder, with_pip=False)
    python = next(p for p in (folder / "bin/python", folder / "Scripts/python.exe") if p.exists())
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    told = subprocess.run([python, "-I", "-c", ask], capture_output=True, text=True, check=True)
    others = Path(told.stdout.strip()) / "others.pth"
    others.write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return python


def run_cell(code: str, folder: Path, python: Path) -> str:
    """Run a cell as a notebook in this folder would, without the network; return what it printed."""
    folder.mkdir(exist_ok=True)
    clean = {name: word for name, word in os.environ.items() if not name.startswith("PYTHON")}
    clean |= {
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "0",
    }  # pip reads the 0 as "not isolated"
    done = subprocess.run(
        [python, "-c", code], cwd=folder, env=clean, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_first_cell_gets_what_is_missing(tmp_path: Path) -> None:
    """The package by pip, the files from the archive, the demo by training it; the second time nothing."""
    name, archive = "chapters/04_multi_head.ipynb", archive_of(tmp_path)
    python = python_without_the_course(tmp_path / "env")
    cell = first_code(downloaded(name, needed="9.9", archive=archive))
    look = "\nimport transformer_course\nprint(transformer_course.WORD, is_there('runs/demo'))"
    alone = tmp_path / "alone"
    printed = run_cell(cell + look, alone, python)
    assert printed.startswith("Getting the folder of the course from file://")
    assert "Training the demo" in printed
    assert printed.endswith("from the archive True\n")
    again = run_cell(cell + look, alone, python)
    assert again.startswith(f"Working in {alone.resolve() / 'transformer-course-9.9' / 'chapters'}")
    assert "Training" not in again
    assert [path.name for path in alone.iterdir()] == ["transformer-course-9.9"]
    wrong = first_code(downloaded(name, needed="9.8", archive=archive))
    with pytest.raises(AssertionError, match=r"holds transformer-course 9\.9\.3, needed is 9\.8"):
        run_cell(wrong, tmp_path / "other", python)


def test_an_exercise_stays_in_its_folder(tmp_path: Path) -> None:
    """What a learner keeps is written beside the notebook: it needs the package alone."""
    python = python_without_the_course(tmp_path / "env")
    name, archive = "exercises/01_attention.ipynb", archive_of(tmp_path)
    cell = first_code(downloaded(name, needed="9.9", archive=archive))
    printed = run_cell(f"{cell}\nprint(Path.cwd().name)", tmp_path / "alone", python)
    assert printed.endswith("alone\n")
    assert "Working" not in printed


@pytest.mark.skipif(not PAGES, reason="The web book is not built: run `make book` first.")
def test_the_book_offers_these_copies() -> None:
    links = {
        (HTML / page).parent / link
        for page in PAGES
        for link in parsed(page).links
        if link.endswith(".ipynb") and not link.startswith("http")
    }
    copies = {path.resolve() for path in links}
    chapters = {Path(name).stem for name in NOTEBOOKS if name.startswith("chapters/")}
    offered = [
        Path(name).name
        for name in NOTEBOOKS
        if not name.startswith("exercises/")
        or Path(name).stem.removesuffix("_solutions") in chapters  # a chapter to come has no page
    ]
    assert sorted(path.name for path in copies) == sorted(offered)
    for path in copies:
        notebook = nbformat.read(path, as_version=4)
        text = "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
        assert MYST.findall(text) == [], path
        assert re.search("downloaded alone", first_code(notebook)), path
