"""With SOLUTIONS=no the book has no notebook with solutions, and nothing that leads to one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from sphinx.errors import ConfigError, ExtensionError
from test_book import ROOT

sys.path.append(str(ROOT / "book" / "_ext"))

from course_solutions import LEFT, shorten, wanted, without

SOLUTION = "solutions"
CONF = """
import sys
sys.path.append({folder!r})
extensions = ["myst_nb", "course_downloads", "course_solutions"]
nb_execution_mode = "off"
html_sourcelink_suffix = ""  # as Jupyter Book has it
suppress_warnings = ["myst.xref_missing", "ref.doc"]
"""
CHAPTERS = sorted((ROOT / "chapters").glob("*.ipynb"))


def offer(chapter: Path) -> str:
    """Return the cell of a chapter that offers its exercises."""
    cells = nbformat.read(chapter, as_version=4).cells
    return next(str(cell.source) for cell in cells if "{download}" in cell.source)


def build(folder: Path, solutions: str) -> subprocess.CompletedProcess[str]:
    """Build the small book in the folder."""
    return subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", str(folder), str(folder / "_build" / solutions)],
        env=os.environ | {"SOLUTIONS": solutions},
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.fixture(scope="module")
def small_book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A book of what all chapters say about their exercises, with the real notebooks beside it."""
    folder = tmp_path_factory.mktemp("book")
    (folder / "conf.py").write_text(CONF.format(folder=str(ROOT / "book" / "_ext")))
    (folder / "exercises").symlink_to(ROOT / "exercises")
    (folder / "chapters").mkdir()
    pages = []
    for chapter in CHAPTERS:
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(offer(chapter))])
        nbformat.write(notebook, folder / "chapters" / chapter.name)
        pages.append(f"chapters/{chapter.stem}")
    toctree = "```{toctree}\n" + "\n".join(pages) + "\n```\n"
    (folder / "index.md").write_text(f"# Book\n\n{toctree}", encoding="utf-8")
    (folder / "conf.py").open("a").write('exclude_patterns = ["exercises", "_build"]\n')
    return folder


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_the_offer_of_a_chapter_loses_its_end(chapter: Path) -> None:
    before = offer(chapter)
    after = without(before)
    assert LEFT.search(before)
    assert not LEFT.search(after)
    assert "the exercises <" in after
    assert after.count("{download}") == before.count("{download}") - 1
    assert (
        len(before.split()) - len(after.split()) == 6
    )  # ", and {download}`the same with ... <...>`"


def test_nothing_in_the_book_leads_to_a_solution(small_book: Path) -> None:
    done = build(small_book, "no")
    assert done.returncode == 0, done.stderr
    out = small_book / "_build" / "no"
    files = [path for path in out.rglob("*") if path.is_file() and ".doctrees" not in path.parts]
    assert [path.name for path in files if SOLUTION in path.name] == []
    notebooks = [path for path in files if path.suffix == ".ipynb"]
    assert len(notebooks) == 2 * len(CHAPTERS)  # each page, and each notebook with exercises
    texts = [p for p in files if p.suffix in (".html", ".ipynb", ".js", ".txt")]
    told = re.compile(r"_solutions|solutions/|\bSolution\b")
    assert [p.name for p in texts if told.search(p.read_text(encoding="utf-8"))] == []


def test_the_usual_book_has_them(small_book: Path) -> None:
    done = build(small_book, "yes")
    assert done.returncode == 0, done.stderr
    offered = list((small_book / "_build" / "yes").rglob("*_solutions.ipynb"))
    assert len(offered) == len(CHAPTERS)


def test_another_link_to_a_solution_stops_the_build() -> None:
    app = SimpleNamespace(config=SimpleNamespace(course_solutions=False))
    for page, text in (
        ("book/a", "[here](exercises/solutions/a.ipynb)"),
        ("book/a", "{doc}`here <../exercises/solutions/a>`"),
        ("exercises/solutions/a", "All of it."),
    ):
        with pytest.raises(ExtensionError, match=f"SOLUTIONS=no, but {page} leads to a solution"):
            shorten(app, page, [text])
        app_with = SimpleNamespace(config=SimpleNamespace(course_solutions=True))
        shorten(app_with, page, [text])


def test_the_variable_says_yes_or_no(monkeypatch: pytest.MonkeyPatch) -> None:
    for value, expected in (("yes", True), ("no", False), ("", True)):
        monkeypatch.setenv("SOLUTIONS", value)
        assert wanted() == expected
    monkeypatch.setenv("SOLUTIONS", "perhaps")
    with pytest.raises(ConfigError, match=r"SOLUTIONS \('perhaps'\) must be yes or no"):
        wanted()
