"""The book on paper: three short pages and the cheat sheet, printed by the system's Chromium."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import unicodedata
from dataclasses import dataclass
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from pypdf import PdfReader
from test_book import HTML, ROOT, listed

sys.path.append(str(ROOT / "tools"))

import make_pdf
import yaml
from chromium import chromium

PAGES = ["book/intro", "book/prerequisites", "book/first_look"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `book.pdf` (three pages of the book) and `cheat_sheet.pdf`."""
    there = (make_pdf.HTML / "book" / "cheat_sheet.html").is_file() and chromium()
    if not there:
        lack = pytest.fail if os.environ.get("CI") else pytest.skip
        lack("The web book or Chromium is missing: `make book`, `apt-get install chromium`.")
    target = tmp_path_factory.mktemp("paper")
    # A process of its own: this one may have a browser already, and can't start another.
    tool = [sys.executable, make_pdf.__file__, "--into", str(target), *PAGES]
    ended = subprocess.run(tool, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return target


@dataclass
class Sheet:
    """What is read from a page of a PDF."""

    text: str  # all words, one space between two
    filled: float  # the share of its height above its lowest line, the page's number left out


@functools.cache
def sheets(path: Path) -> list[Sheet]:
    """Read a PDF, once: pictures of many strokes take seconds."""
    read = []
    for page in PdfReader(path).pages:
        heights = [float(page.mediabox.height)]

        def note(words: str, cm: list[float], tm: list[float], *_: object) -> None:
            height = tm[5] * cm[3] + cm[5]
            if words.strip() and height > 50:  # points; below stands the number
                heights.append(height)  # noqa: B023

        words = page.extract_text(visitor_text=note)
        words = " ".join(unicodedata.normalize("NFKC", words).split())  # takes ligatures apart
        read.append(Sheet(words, 1 - min(heights) / heights[0]))
    return read


def text(path: Path, end: int | None = None) -> str:
    """All words of a PDF, or of its first pages."""
    return " ".join(sheet.text for sheet in sheets(path)[:end])


def test_all_pages_of_the_book_are_printed_in_order() -> None:
    """Every file of `_toc.yml`, once."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    printed = [page for part in make_pdf.parts_of(toc) for page in part.pages]
    assert printed == list(listed(toc))


def test_contents_tell_the_page_on_which_each_section_stands(folder: Path) -> None:
    """Each title of a page is on the page that its line of the contents names, in an outline too."""
    reader = PdfReader(folder / "book.pdf")
    source = BeautifulSoup((folder / "book.html").read_text(encoding="utf-8"), "lxml")
    lines = source.select(".paper-contents a")
    numbers = make_pdf.page_numbers(reader, source)
    assert numbers == sorted(numbers)
    for line, number in zip(lines, numbers, strict=True):
        title = make_pdf.words_of(line.select("span")[0])
        assert title[:12] in sheets(folder / "book.pdf")[number - 1].text, (title, number)
    shown = text(folder / "book.pdf", numbers[0])
    assert "000" not in shown
    assert f"Answers to the quizzes {numbers[-3]}" in shown
    assert [entry.title for entry in reader.outline if not isinstance(entry, list)] == [
        "Welcome",
        "Start here",
        "Answers to the quizzes",
    ]


def test_answers_stand_at_the_end_and_nowhere_else(folder: Path) -> None:
    """An explanation of a quiz is printed once, behind the letter of its choice."""
    page = BeautifulSoup((HTML / "book" / "prerequisites.html").read_text(encoding="utf-8"), "lxml")
    why = page.select('.quiz-choice[data-correct="true"] .quiz-why p')[0].get_text()[:30]
    words = text(folder / "book.pdf")
    assert words.count(why) == 1
    assert words.rindex("Answers to the quizzes") < words.index(why)


def test_links_inside_the_book_stay_inside_the_pdf(folder: Path) -> None:
    """No link of the PDF leads to a file of the web book."""
    reader = PdfReader(folder / "book.pdf")
    links = [
        annotation.get_object()["/A"]["/URI"]
        for page in reader.pages
        for annotation in page.get("/Annots") or []
        if "/URI" in annotation.get_object().get("/A", {})
    ]
    assert links
    assert [link for link in links if not link.startswith(("http://", "https://"))] == []


def test_no_page_is_half_empty(folder: Path) -> None:
    """Only the last page may end where it likes."""
    *but_last, _ = sheets(folder / "book.pdf")
    assert [n for n, sheet in enumerate(but_last, start=1) if sheet.filled < 0.55] == []


def test_the_cheat_sheet_has_two_full_pages(folder: Path) -> None:
    """Not one, not three."""
    pages = sheets(folder / "cheat_sheet.pdf")
    assert len(pages) == 2
    assert all(page.filled > 0.6 for page in pages)
    assert "Common mistakes" in text(folder / "cheat_sheet.pdf")


def test_arrows_keep_their_heads() -> None:
    """What a picture's lines and areas name is there, under its new id."""
    article, _ = make_pdf.paper_article("book/intro", {"book/intro"}, [])
    heads = {str(arrow["marker-end"]) for arrow in article.select("svg [marker-end]")}
    assert heads
    assert heads <= {f"url(#{element['id']})" for element in article.select("svg [id]")}


def test_what_has_no_place_on_paper_is_no_link() -> None:
    """A download and a page that isn't printed."""
    pages = {"book/intro"}
    assert make_pdf.address("../_downloads/a.ipynb", "book/intro", pages) is None
    assert make_pdf.address("../genindex.html", "book/intro", pages) is None
