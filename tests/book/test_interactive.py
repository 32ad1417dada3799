"""Interactive figures can be found: a sign in the contents of their page, and a gallery that lists them all."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

import pytest
from PIL import Image
from test_book import HTML, PAGES, ROOT

NAMES = sorted(path for folder in ("chapters", "book") for path in (ROOT / folder).glob("*.ipynb"))
pytestmark = pytest.mark.skipif(
    not PAGES, reason="The web book is not built: run `make book` first."
)


@dataclass
class Shown:
    """An interactive figure of a notebook."""

    page: str
    ident: str
    caption: str


FIGURES = [
    Shown(f"{path.parent.name}/{path.stem}.html", figure["name"], figure["caption"])
    for path in NAMES
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
    if (figure := cell["metadata"].get("mystnb", {}).get("figure"))
    and figure["caption"].startswith("Interactive: ")
]
every_figure = pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.ident)


def gallery() -> str:
    """Return the page that lists them."""
    return (HTML / "book" / "gallery.html").read_text(encoding="utf-8")


@every_figure
def test_the_gallery_leads_to_it_by_its_number(figure: Shown) -> None:
    """Number, name, what to do, and a picture that is in the book."""
    page = (HTML / figure.page).read_text(encoding="utf-8")
    own = page.split(f'id="{figure.ident}"')[1]
    number = re.search(r'class="caption-number">Fig\. ([\d.]+)', own)
    assert number
    entry = gallery().split(f'_static/gallery/{figure.ident}.png"')[1].split("</li>")[0]
    told = " ".join(re.sub(r"<[^>]+>", "", entry.partition(">")[2]).split())
    name, _, action = figure.caption.removeprefix("Interactive: ").partition(". ")
    assert told.startswith(f"Fig. {number[1]}: {name[0].upper()}{name[1:].rstrip('.')} ")
    assert told.endswith(action)
    assert f'href="../{figure.page}#{figure.ident}"' in entry
    with Image.open(HTML / "_static" / "gallery" / f"{figure.ident}.png") as picture:
        assert picture.width == 480
        assert len(picture.getcolors()) > 10  # not empty


def test_the_gallery_lists_them_in_the_order_of_the_book_and_no_others() -> None:
    found = re.findall(r'_static/gallery/([\w-]+)\.png"', gallery())
    chapters = [f for f in FIGURES if f.page.startswith("chapters/")]
    assert found == [figure.ident for figure in chapters]
    assert len(chapters) == len(FIGURES)


@every_figure
def test_its_section_has_a_sign_in_the_contents(figure: Shown) -> None:
    page = (HTML / figure.page).read_text(encoding="utf-8")
    section = re.findall(r'<section id="([\w-]+)"', page.split(f'id="{figure.ident}"')[0])[-1]
    contents = page.split('id="pst-page-toc-nav"')[1].split("</nav>")[0]
    entries = re.findall(r'<a [^>]*href="#([\w-]+)">(.*?)</a>', contents, re.S)
    signed = [ident for ident, text in entries if 'class="has-interactive"' in text]
    assert section in signed
    assert len(signed) == len({f.ident for f in FIGURES if f.page == figure.page})
