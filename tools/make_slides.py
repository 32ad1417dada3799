"""Make slides of every chapter, into _build/slides: python tools/make_slides.py

What they say comes from the chapters (`slide_content`), what shows them is reveal.js, from the npm package that
`fetch_vendor.py` fetches. The folder needs no network and no server: open its index.html from the disk.
"""

from __future__ import annotations

import html
import json
import shutil
import sys
from pathlib import Path
from string import Template
from typing import Any

from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "book" / "_ext"))

from course_downloads import plain  # noqa: E402
from fetch_vendor import MODULES, VENDOR, FetchError, fetch  # noqa: E402
from slide_content import Slide, slides_of  # noqa: E402

OUT = ROOT / "_build" / "slides"
SOURCES = ROOT / "tools" / "slides"
REVEAL = MODULES / "reveal.js"
FROM_REVEAL = (
    "dist/reset.css",
    "dist/reveal.css",
    "dist/reveal.js",
    "dist/plugin/notes.js",
    "LICENSE",
)


def _mathematics(content: str, settings: dict[str, Any]) -> str:
    """Return a formula as MathJax finds it."""
    if settings["display_mode"]:
        return rf'<div class="display" tabindex="0">\[{html.escape(content)}\]</div>'
    return rf"\({html.escape(content)}\)"


MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")
MARKDOWN.use(dollarmath_plugin, double_inline=True, renderer=_mathematics)


def rendered(text: str) -> str:
    r"""Return MyST as HTML.

    >>> rendered("A {term}`key`, $d_k < 2$")
    '<p>A key, <span class="math inline">\\(d_k &lt; 2\\)</span></p>\n'
    """
    return str(MARKDOWN.render(plain(text)))


def section(slide: Slide, first: bool, image: str) -> str:
    """Return the HTML of a slide; `image` is the name of its file."""
    tag, kind = ("h1", ' class="opening"') if first else ("h2", "")
    title = MARKDOWN.renderInline(plain(slide.title))
    text, parts = rendered(slide.text), [f"<{tag}>{title}</{tag}>"]
    if image:
        alt = html.escape(slide.alt, quote=True)
        text = f'<figure><img src="{image}" alt="{alt}"><figcaption>{text}</figcaption></figure>'
    parts.append(text)
    if slide.link:
        parts.append(
            f'<p><a href="../html/{slide.link}" target="_blank">Open it in the book</a></p>'
        )
    if slide.answer:
        parts.append(f'<div class="fragment answer">{rendered(slide.answer)}</div>')
    if slide.notes:
        parts.append(f'<aside class="notes">{rendered(slide.notes)}</aside>')
    return "\n".join([f"<section{kind}>", *parts, "</section>"])


def write_image(slide: Slide, name: str, out: Path) -> str:
    """Put a slide's image into the folder; return its path there, empty if it has none."""
    if slide.image is None:
        return ""
    if isinstance(slide.image, Path):
        target = f"images/{slide.image.name}"
        shutil.copyfile(slide.image, out / target)
    else:
        target = f"images/{name}.png"
        (out / target).write_bytes(slide.image)
    return target


def write_deck(page: str, slides: list[Slide], out: Path) -> None:
    """Write the slides of a chapter."""
    sections = [
        section(slide, number == 0, write_image(slide, f"{page}-{number}", out))
        for number, slide in enumerate(slides)
    ]
    filled = Template((SOURCES / "deck.html").read_text(encoding="utf-8")).substitute(
        title=html.escape(slides[0].title), sections="\n".join(sections)
    )
    (out / f"{page}.html").write_text(filled, encoding="utf-8")


def copy_vendor(out: Path) -> None:
    """Copy what shows slides and formulas, and the look."""
    (out / "vendor" / "reveal").mkdir(parents=True)
    for name in FROM_REVEAL:
        shutil.copyfile(REVEAL / name, out / "vendor" / "reveal" / Path(name).name)
    shutil.copytree(VENDOR / "mathjax", out / "vendor" / "mathjax")
    for name in ("slides.css", "slides.js"):
        shutil.copyfile(SOURCES / name, out / name)


def make(out: Path) -> list[str]:
    """Write the slides of all chapters; reveal.js and MathJax must have been fetched.

    Args:
        out: the folder; what is in it is replaced.

    Returns:
        The names of the pages that have slides.
    """
    from transformer_course.checks.discovery import exercises_by_chapter

    fresh = out.with_name(f"{out.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    (fresh / "images").mkdir(parents=True)
    copy_vendor(fresh)
    decks = list[str]()
    paths = sorted((ROOT / "chapters").glob("*.ipynb"))
    for path in paths:
        exercises = exercises_by_chapter()[path.stem[3:]]
        slides = slides_of(path.stem, json.loads(path.read_text(encoding="utf-8")), exercises)
        write_deck(path.stem, slides, fresh)
        title, count = html.escape(slides[0].title), len(slides)
        decks.append(
            f'<li><a href="{path.stem}.html">{title}</a> <small>{count} slides</small></li>'
        )
    contents = Template((SOURCES / "index.html").read_text(encoding="utf-8"))
    filled = contents.substitute(decks="\n".join(decks))
    (fresh / "index.html").write_text(filled, encoding="utf-8")
    shutil.rmtree(out, ignore_errors=True)
    fresh.rename(out)
    return [path.stem for path in paths]


def main() -> int:
    """Fetch what is missing, and make the slides."""
    try:
        fetch()
    except FetchError as error:
        print(error, file=sys.stderr)
        return 1
    pages = make(OUT)
    print(
        f"Slides of {len(pages)} chapters. Open {(OUT / 'index.html').relative_to(ROOT)} in a browser."
    )
    if not (OUT.parent / "html").is_dir():
        print("Their links to interactive figures need the built book beside them: make book")
    return 0


if __name__ == "__main__":
    sys.exit(main())
