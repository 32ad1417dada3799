"""Draw the pictures of the gallery: python tools/draw_gallery.py [ID ...]

Opens the built book in Chromium and takes a picture of every interactive figure, as it looks before anybody
touches it, into book/static/gallery/<id>.png. With ids, takes only those. `make book` first; the pictures are
in the book after the next one.
"""

from __future__ import annotations

import io
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from check import BROWSERS
from PIL import Image
from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
HTML = ROOT / "_build" / "html"
FOLDER = ROOT / "book" / "static" / "gallery"
ENTRY = re.compile(r'<a class="[\w ]+" href="\.\./([\w/]+\.html)#([\w-]+)">Fig\. ')
WIDTH, COLOURS = 480, 64
COVERING = ".bd-header-article, #pst-skip-link { display: none !important; }"
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


def entries(gallery: str) -> Iterator[tuple[str, str]]:
    """Yield the page and the id of each figure in the gallery.

    >>> list(entries('<a class="reference internal" href="../chapters/a.html#fig-b">Fig. 1.2: C</a>'))
    [('chapters/a.html', 'fig-b')]
    """
    for found in ENTRY.finditer(gallery):
        yield found[1], found[2]


def small(png: bytes) -> Image.Image:
    """Return the upper part of a picture, three quarters as high as wide, small and with few colours."""
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    part = picture.crop((0, 0, picture.width, min(picture.height, picture.width * 3 // 4)))
    part = part.resize((WIDTH, part.height * WIDTH // part.width), Image.Resampling.LANCZOS)
    return part.quantize(COLOURS)


def draw(page: Page, where: str, ident: str) -> None:
    """Take the picture of one figure."""
    page.goto((HTML / where).as_uri())
    page.add_style_tag(content=COVERING)
    page.locator(f"#{ident}").scroll_into_view_if_needed()  # a figure comes when it is near
    figure = page.locator(f"#{ident} .tc-widget")
    figure.wait_for(timeout=120_000)
    page.wait_for_timeout(1000)  # what is drawn after the first frame
    FOLDER.mkdir(exist_ok=True)
    small(figure.screenshot(timeout=120_000)).save(FOLDER / f"{ident}.png", optimize=True)
    print(f"{ident}.png", flush=True)


def main(wanted: list[str]) -> None:
    """Draw all, or those that are named."""
    gallery = (HTML / "book" / "gallery.html").read_text(encoding="utf-8")
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        page = browser.new_page(viewport={"width": 1000, "height": 900}, reduced_motion="reduce")
        for where, ident in entries(gallery):
            if not wanted or ident in wanted:
                draw(page, where, ident)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
