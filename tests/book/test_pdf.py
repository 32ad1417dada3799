"""The book on paper: two short pages and the cheat sheet, printed by the system's Chromium."""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from pypdf import PageObject, PdfReader
from test_book import HTML, ROOT, listed

sys.path.append(str(ROOT / "tools"))

import make_pdf
import yaml

PARTS = [
    make_pdf.Part("Welcome", ["book/intro"]),
    make_pdf.Part("Start here", ["book/prerequisites", "book/first_look"]),
]
Needs = Callable[[object, str], None]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `some.pdf` and `sheet.pdf`."""
    there = (HTML / "book" / "cheat_sheet.html").is_file() and make_pdf.chromium()
    if not there:
        lack = pytest.fail if os.environ.get("CI") else pytest.skip
        lack("The web book or Chromium is missing: `make book`, `apt-get install chromium`.")
    target = tmp_path_factory.mktemp("paper")
    with make_pdf.browser_of_the_system() as browser:
        make_pdf.print_book(browser, PARTS, target / "some.pdf")
        make_pdf.print_sheet(browser, target / "sheet.pdf")
    return target


def text(pages: list[PageObject]) -> str:
    """All words of some pages, one space between two."""
    words = " ".join(page.extract_text() for page in pages)
    return " ".join(unicodedata.normalize("NFKC", words).split())  # takes ligatures apart


def filled(page: PageObject) -> float:
    """The share of a page's height that lies above its lowest line of text, the page's number left out."""
    heights: list[float] = []

    def note(words: str, cm: list[float], tm: list[float], *_: object) -> None:
        height = tm[5] * cm[3] + cm[5]
        if words.strip() and height > 50:  # points; below stands the number
            heights.append(height)

    page.extract_text(visitor_text=note)
    return 1 - min(heights) / float(page.mediabox.height)


def test_all_pages_of_the_book_are_printed_in_order() -> None:
    """Every file of `_toc.yml`, once."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    printed = [page for part in make_pdf.parts_of(toc) for page in part.pages]
    assert printed == list(listed(toc))


def test_contents_tell_the_page_on_which_each_section_stands(folder: Path) -> None:
    """Each title of a page is on the page that its line of the contents names, in an outline too."""
    reader = PdfReader(folder / "some.pdf")
    source = BeautifulSoup((folder / "book.html").read_text(encoding="utf-8"), "lxml")
    lines = source.select(".paper-contents a")
    numbers = make_pdf.page_numbers(reader, source)
    assert numbers == sorted(numbers)
    for line, number in zip(lines, numbers, strict=True):
        title = make_pdf.words_of(line.select("span")[0])
        assert title[:12] in text([reader.pages[number - 1]]), (title, number)
    shown = text(reader.pages[: numbers[0]])
    assert "000" not in shown
    assert f"Answers to the quizzes {numbers[-3]}" in shown
    assert [entry.title for entry in reader.outline if not isinstance(entry, list)] == [
        "Welcome",
        "Start here",
        "Answers to the quizzes",
    ]


def test_answers_stand_at_the_end_and_nowhere_else(folder: Path) -> None:
    """An explanation of a quiz is printed once, behind the letter of its choice."""
    reader = PdfReader(folder / "some.pdf")
    page = BeautifulSoup((HTML / "book" / "prerequisites.html").read_text(encoding="utf-8"), "lxml")
    why = page.select('.quiz-choice[data-correct="true"] .quiz-why p')[0].get_text()[:30]
    words = text(list(reader.pages))
    assert words.count(why) == 1
    assert words.rindex("Answers to the quizzes") < words.index(why)


def test_links_inside_the_book_stay_inside_the_pdf(folder: Path) -> None:
    """No link of the PDF leads to a file of the web book."""
    reader = PdfReader(folder / "some.pdf")
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
    pages = list(PdfReader(folder / "some.pdf").pages)
    assert [n for n, page in enumerate(pages[:-1], start=1) if filled(page) < 0.55] == []


def test_the_cheat_sheet_has_two_full_pages(folder: Path) -> None:
    """Not one, not three."""
    pages = list(PdfReader(folder / "sheet.pdf").pages)
    assert len(pages) == 2
    assert all(filled(page) > 0.6 for page in pages)
    assert "Common mistakes" in text(pages)


def test_what_has_no_place_on_paper_is_no_link() -> None:
    """A download and a page that isn't printed."""
    pages = {"book/intro"}
    assert make_pdf.address("../_downloads/a.ipynb", "book/intro", pages) is None
    assert make_pdf.address("../genindex.html", "book/intro", pages) is None
