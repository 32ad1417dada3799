"""The slides say what the chapters say, and bring along all that they need."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest
from test_book import ROOT

from transformer_course.checks.discovery import exercises_by_chapter

sys.path.append(str(ROOT / "tools"))

from make_slides import REVEAL, SOURCES, make, rendered, section
from slide_content import Slide, blocks, slides_of

CHAPTERS = {path.stem: path for path in sorted((ROOT / "chapters").glob("*.ipynb"))}
MYST = re.compile(r"\{[\w:-]+\}`|^(?:`{3,}|:{3,})\{|^\([\w-]+\)=$|\*\*", re.M)
every_chapter = pytest.mark.parametrize("name", CHAPTERS)


def deck(name: str) -> list[Slide]:
    """Return the slides of a chapter."""
    notebook = json.loads(CHAPTERS[name].read_text(encoding="utf-8"))
    return slides_of(name, notebook, exercises_by_chapter()[name[3:]])


def seen(slide: Slide) -> str:
    """Return a slide as HTML without code and formulas."""
    shown = section(slide, False, "images/a.png" if slide.image else "")
    return re.sub(r"<code>.*?</code>|\\\(.*?\\\)|\\\[.*?\\\]", "", shown, flags=re.DOTALL)


@every_chapter
def test_each_chapter_has_what_a_lesson_needs(name: str) -> None:
    slides = deck(name)
    assert 12 <= len(slides) <= 40
    assert slides[0].text.endswith("?")
    assert "What goes wrong" in slides[0].notes
    titles = [slide.title for slide in slides]
    assert {"Quiz", "Summary"} <= set(titles)
    assert "Exercises: " in titles[-1]
    assert sum(slide.text == "True or false? Why?" for slide in slides) in (1, 2, 3)
    assert sum(slide.image is not None for slide in slides) >= 3
    assert any("$$" in slide.text for slide in slides)
    assert not [title for title in titles if title.startswith("Going deeper")]


@every_chapter
def test_no_slide_is_empty(name: str) -> None:
    """A question at the end of its paragraph brings the paragraph along."""
    assert [slide for slide in deck(name) if not (slide.text.strip() or slide.image)] == []


@every_chapter
def test_figures_are_those_of_the_core_with_caption_and_words(name: str) -> None:
    for slide in deck(name):
        if slide.image is not None:
            assert len(slide.alt) > 20
            assert slide.text
            assert not slide.answer
            assert isinstance(slide.image, bytes) or slide.image.is_file()


@every_chapter
def test_nothing_of_the_markup_is_left(name: str) -> None:
    for slide in deck(name):
        assert MYST.findall(seen(slide)) == [], slide.title


@every_chapter
def test_answers_come_after_their_question(name: str) -> None:
    for slide in deck(name):
        if slide.title == "Quiz" or slide.text == "True or false? Why?":
            assert slide.answer
            assert seen(slide).index('class="fragment answer"') > seen(slide).index("<p>")


def test_a_quiz_question_doesnt_tell_which_choice_is_right() -> None:
    quiz = next(slide for slide in deck("01_attention") if slide.title == "Quiz")
    assert "- It stays 1." in quiz.text
    assert "**" not in quiz.text
    assert quiz.answer.startswith("- **It stays 1.**")


def test_html_of_the_text_is_escaped() -> None:
    shown = section(Slide("<b>", "<script>", notes="<i>", alt='"'), False, "a.png")
    assert "<script>" not in shown
    assert "<b>" not in shown
    assert 'alt="&quot;"' in shown
    assert r"\(a &lt; b\)" in rendered("$a < b$")


def test_a_block_ends_at_its_own_fence() -> None:
    kinds = [(b.kind, b.body) for b in blocks("````{note} A\n```{math}\nx\n```\n````\nEnd.")]
    assert kinds == [("", ""), ("note", "```{math}\nx\n```"), ("", "End.")]


class Addresses(HTMLParser):
    """Collects what a page loads and where it leads."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the addresses of a tag."""
        self.found += [value for key, value in attrs if key in ("src", "href") and value]


def test_the_folder_has_all_that_its_pages_load(
    tmp_path: Path, needs: Callable[[object, str], None]
) -> None:
    needs(REVEAL.is_dir(), "reveal.js is not here: run `python tools/fetch_vendor.py`")
    out = tmp_path / "slides"
    out.mkdir()
    (out / "left over").touch()
    assert make(out) == list(CHAPTERS)
    assert not (out / "left over").exists()
    pages = sorted(out.glob("*.html"))
    assert len(pages) == len(CHAPTERS) + 1
    for page in pages:
        reader = Addresses()
        reader.feed(page.read_text(encoding="utf-8"))
        own = [address for address in reader.found if not address.startswith("../html/chapters/")]
        assert [address for address in own if not (out / address).is_file()] == []
    assert {path.name for path in SOURCES.iterdir()} == {
        "deck.html",
        "index.html",
        "slides.css",
        "slides.js",
    }
    shutil.rmtree(out)
