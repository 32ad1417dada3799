"""What keeps the pages light, as functions: `tests/browser/test_pages.py` weighs the built pages."""

from __future__ import annotations

import base64
import io
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pydata_sphinx_theme
import pytest
from fontTools.ttLib import TTFont
from test_book import ROOT

sys.path.append(str(ROOT / "book" / "_ext"))

from course_weight import FONT, icon_sheet, later, used_icons

THEME = Path(pydata_sphinx_theme.__file__).parent / "theme" / "pydata_sphinx_theme" / "static"


def tag(script: SimpleNamespace) -> str:
    """Write a script's tag as Sphinx does."""
    return f'<script src="{script.filename}"></script>' if script.filename else "<script></script>"


def script(filename: str | None, **attributes: str) -> SimpleNamespace:
    """A script as Sphinx holds it."""
    return SimpleNamespace(filename=filename, attributes=attributes)


def test_the_small_font_has_the_icons_that_are_named_and_no_other() -> None:
    """One that a page names, one that a style sheet draws, and the one that the theme's script draws."""
    theme = (THEME / "styles" / "pydata-sphinx-theme.css").read_text(encoding="utf-8")
    codes = used_icons([theme, 'p::after { content: "\\f107"; }'], ['<i class="fa fa-bars"></i>'])
    assert {0xF0C9, 0xF107, 0xF00D} <= codes
    assert 0xF644 not in codes  # an ankh
    sheet = icon_sheet(THEME / FONT, codes)
    assert 'font-family: "Font Awesome 6 Free"' in sheet
    data = base64.b64decode(re.findall(r"base64,([^)]+)\)", sheet)[0])
    with TTFont(io.BytesIO(data)) as font:
        assert set(font.getBestCmap()) <= codes
        assert {0xF0C9, 0xF107, 0xF00D} <= set(font.getBestCmap())
    assert len(sheet) < 20_000


@pytest.mark.parametrize("attributes", [{}, {"async": "async"}, {"defer": ""}])
def test_every_script_of_a_file_waits_for_the_text(attributes: dict[str, str]) -> None:
    """It gets `defer`, unless it has something of that kind."""
    written = later(tag, None)(script("_static/a.js", **attributes))
    assert written.count("defer") == (0 if attributes else 1)


def test_what_reads_a_deferred_file_is_deferred_too() -> None:
    """A script in the page that uses DOCUMENTATION_OPTIONS runs after the file that makes it; another stays."""
    uses = script("", body="DOCUMENTATION_OPTIONS.pagename = 'a';")
    assert 'type="module"' in later(tag, None)(uses)
    assert 'type="module"' not in later(tag, None)(script("", body="let a = 1;"))


def test_mathjax_is_left_out_where_there_is_nothing_for_it() -> None:
    """By the name in the settings."""
    mathjax = script("_static/vendor/mathjax/tex.js", defer="")
    assert later(tag, "vendor/mathjax/tex.js")(mathjax) == ""
    assert "tex.js" in later(tag, None)(mathjax)
