"""The built book on paper: `make pdf` writes `_build/pdf/book.pdf` and `_build/pdf/cheat_sheet.pdf`.

All pages become one, in the order of `_toc.yml`, and Chromium prints it: links lead to places in the PDF,
formulas are set by the book's own MathJax, interactive figures are pictures of how they start, folds are open.
The answers to the quizzes stand at the end. Page numbers of the contents are those of a first print.
"""

from __future__ import annotations

import argparse
import posixpath
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import yaml
from bs4 import BeautifulSoup, Tag
from chromium import FLAGS, MISSING, chromium
from playwright.sync_api import Browser, Page, sync_playwright
from pypdf import PdfReader

ROOT = Path(__file__).resolve().parent.parent
HTML = ROOT / "_build" / "html"
TARGET = ROOT / "_build" / "pdf"
STYLE = Path(__file__).with_name("paper.css")
SHEET = "book/cheat_sheet"
LEFT_OUT = ".headerlink, .quiz-foot, script, noscript, link, style, input, #try-it"
SHEETS = [
    "styles/pydata-sphinx-theme.css",
    "pygments.css",
    "styles/sphinx-book-theme.css",
    "mystnb*.css",
    "exercise.css",
    "proof.css",
    "sphinx-design.min.css",
    "vendor/chinese/chinese.css",
    "course.css",
]
MATHJAX = '{"options": {"processHtmlClass": "tex2jax_process|mathjax_process|math|output_area"}}'
PATIENCE = 600_000  # milliseconds: the whole book has thousands of formulas
FOOT = """<div style="width: 100%; font: 8pt sans-serif; color: #555; text-align: center">
<span class="pageNumber"></span></div>"""
FILL = """(numbers) => document.querySelectorAll('.paper-contents [data-page]').forEach((e, i) => {
  e.textContent = numbers[i];
})"""


@dataclass
class Part:
    """A caption of the table of contents, with the pages below it."""

    caption: str
    pages: list[str] = field(default_factory=list)


def listed(chapters: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the files of a list of chapters, those of their sections behind each."""
    for chapter in chapters:
        yield chapter["file"]
        yield from listed(chapter.get("sections", []))


def parts_of(toc: dict[str, Any]) -> list[Part]:
    """Return the parts of the book, in order; the front page has one of its own.

    >>> chapters = [{"file": "b", "sections": [{"file": "c"}]}]
    >>> parts_of({"root": "a", "parts": [{"caption": "I", "chapters": chapters}]})
    [Part(caption='Welcome', pages=['a']), Part(caption='I', pages=['b', 'c'])]
    """
    rest = [Part(part["caption"], list(listed(part["chapters"]))) for part in toc["parts"]]
    return [Part("Welcome", [toc["root"]]), *rest]


def only(parts: list[Part], pages: list[str]) -> list[Part]:
    """Return the parts with no other pages than these.

    >>> only([Part("I", ["a"]), Part("II", ["b", "c"])], ["c"])
    [Part(caption='II', pages=['c'])]
    """
    left = [Part(part.caption, [page for page in part.pages if page in pages]) for part in parts]
    return [part for part in left if part.pages]


def ident(page: str, name: str = "") -> str:
    """Return the id that a place of a page has in the one page of all.

    >>> ident("chapters/01_attention", "eq-a"), ident("book/intro")
    ('chapters-01_attention--eq-a', 'book-intro--')
    """
    return f"{page.replace('/', '-')}--{name}"


def address(link: str, page: str, pages: set[str]) -> str | None:
    """Return where a link of `page` leads on paper: a place in it, a web page, or None (nowhere).

    >>> pages = {"book/intro", "chapters/01_attention"}
    >>> address("../book/intro.html#a", "chapters/01_attention", pages)
    '#book-intro--a'
    >>> address("#b", "book/intro", pages), address("https://doi.org/1", "book/intro", pages)
    ('#book-intro--b', 'https://doi.org/1')
    >>> address("../_downloads/a.ipynb", "book/intro", pages) is None
    True
    """
    parts = urlsplit(link)
    if parts.scheme:
        return link
    there = posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(parts.path)))
    target = there.removesuffix(".html") if parts.path else page
    return f"#{ident(target, unquote(parts.fragment))}" if target in pages else None


def change_links(article: Tag, page: str, pages: set[str]) -> None:
    """Make ids and links those of the one page, and pictures those of the built book."""
    for name in ("id", "for"):
        for element in article.select(f"[{name}]"):
            element[name] = ident(page, str(element[name]))
    for element in article.select("svg [fill], svg [marker-end]"):
        for name in ("fill", "marker-end"):
            value = str(element.get(name, ""))
            if value.startswith("url(#"):
                element[name] = f"url(#{ident(page, value[5:-1])})"
    for link in article.select("a[href]"):
        goal = address(str(link.attrs.pop("href")), page, pages)
        if goal:
            link["href"] = goal
    for image in article.select("img[src]:not(.figure-start)"):
        source = (HTML / page).parent / unquote(urlsplit(str(image["src"])).path)
        image["src"] = source.resolve().as_uri()


def build(name: str, *inside: Tag | str, **attributes: str) -> Tag:
    """Return a new element; an underscore at the end of an attribute's name is dropped (`class_`)."""
    given = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items()}
    element = BeautifulSoup("", "lxml").new_tag(name, attrs=given)
    element.extend(inside)
    return element


def take_answers(article: Tag) -> list[Tag]:
    """Take the explanations out of an article's quizzes; return an item with the answer to each question."""
    items = []
    for question in article.select(".quiz-question"):
        item = build("li")
        for letter, choice in zip("ABCDEFGH", question.select(".quiz-choice"), strict=False):
            why = choice.select(".quiz-why")[0].extract()
            choice.insert(0, build("b", letter, class_="quiz-letter"))
            if choice["data-correct"] == "true":
                item.append(build("b", f"{letter}. "))
                item.extend(why.select(":scope > p"))
        items.append(item)
    return items


def show_figures(article: Tag, pictures: list[Path]) -> None:
    """Put a picture in the place of each interactive figure."""
    views = article.select('script[type$="widget-view+json"]')
    for view, picture in zip(views, pictures, strict=True):
        uri = picture.resolve().as_uri()
        view.replace_with(build("img", src=uri, class_="figure-start", alt="How the figure starts"))


def lower_headings(article: Tag) -> None:
    """Make the title of a page a heading of the second level, below the part that it is in."""
    for level in (5, 4, 3, 2, 1):
        for heading in article.find_all(f"h{level}"):
            heading.name = f"h{level + 1}"


def open_folds(article: Tag) -> None:
    """Make plain blocks of folded code and sections: nothing can be opened on paper."""
    for title in article.select("details.hide > summary"):
        title.decompose()
    for fold in article.select("details, summary"):
        fold.name = "div"


def paper_article(page: str, pages: set[str], pictures: list[Path]) -> tuple[Tag, list[Tag]]:
    """Return the article of a built page as it is printed, and the answers to its quizzes."""
    tree = BeautifulSoup((HTML / f"{page}.html").read_text(encoding="utf-8"), "lxml")
    article = tree.select("article.bd-article")[0].extract()
    show_figures(article, pictures)
    for element in article.select(LEFT_OUT):
        element.decompose()
    open_folds(article)
    lower_headings(article)
    change_links(article, page, pages)
    article.name = "div"
    article.attrs = {"id": ident(page)}
    return article, take_answers(article)


def words_of(heading: Tag) -> str:
    """Return a heading's text, formulas as their TeX.

    >>> words_of(build("h2", "Two ", build("b", "words")))
    'Two words'
    """
    return " ".join(heading.get_text().split())


def contents(body: Tag) -> Tag:
    """Return the table of contents: parts, pages and their sections, each with an empty page number."""
    table = build("nav", build("div", "Contents", class_="contents-title"), class_="paper-contents")
    for count, heading in enumerate(body.find_all(["h1", "h2", "h3"])):
        place = str(heading.attrs.setdefault("id", f"heading-{count}"))
        number = build("span", "000", data_page="")
        text = build("span", words_of(heading))
        table.append(build("a", text, number, class_=f"contents-{heading.name}", href=f"#{place}"))
    return table


def answers_part(answers: dict[str, list[Tag]]) -> list[Tag]:
    """Return the elements of the last part: for each page with a quiz its title and the answers."""
    parts: list[Tag] = []
    for title, items in answers.items():
        if items:
            parts += [build("h2", title), build("ol", *items, class_="answers")]
    return [build("h1", "Answers to the quizzes"), *parts] if parts else []


def book_body(title: str, parts: list[Part], pictures: dict[str, list[Path]]) -> Tag:
    """Return the body of the one page: title, contents, all pages, answers."""
    pages = {page for part in parts for page in part.pages}
    body = build("main", class_="bd-article")
    answers = {}
    for part in parts:
        body.append(build("h1", part.caption))
        for page in part.pages:
            article, found = paper_article(page, pages, pictures.get(page, []))
            answers[words_of(article.select("h2")[0])] = found
            body.append(article)
    body.extend(answers_part(answers))
    body.insert(0, contents(body))
    body.insert(0, build("div", title, class_="book-title"))
    return body


def document(title: str, body: Tag, kind: str) -> str:
    """Return a page that Chromium can print, with the styles and the MathJax of the built book."""
    static = HTML / "_static"
    sheets = [path for name in SHEETS for path in static.glob(name)]
    links = "".join(f'<link rel="stylesheet" href="{path.as_uri()}">' for path in [*sheets, STYLE])
    mathjax = (static / "vendor" / "mathjax" / "tex-mml-chtml.js").as_uri()
    return (
        f'<!doctype html><html lang="en" data-theme="light" data-mode="light"><head><meta charset="utf-8">'
        f"<title>{title}</title>{links}<script>window.MathJax = {MATHJAX}</script>"
        f'<script defer src="{mathjax}"></script></head><body class="{kind}">'
        f"{body}</body></html>"
    )


def photograph(browser: Browser, page: str, folder: Path) -> list[Path]:
    """Return pictures of a page's interactive figures, as they start."""
    if "widget-view+json" not in (HTML / f"{page}.html").read_text(encoding="utf-8"):
        return []
    tab = browser.new_page(viewport={"width": 1280, "height": 900}, device_scale_factor=2)
    tab.goto((HTML / f"{page}.html").as_uri())
    views = tab.locator('script[type$="widget-view+json"]')
    pictures = []
    for count in range(views.count()):
        place = tab.locator(".cell_output:has(script[type$='widget-view+json'])").nth(count)
        place.scroll_into_view_if_needed()
        figure = tab.locator(".widget-subarea").nth(count)
        figure.locator(".tc-widget").wait_for(timeout=PATIENCE)
        pictures.append(folder / f"{ident(page, str(count))}.png")
        figure.screenshot(path=pictures[-1])
    tab.close()
    return pictures


def printed(tab: Page, path: Path, **options: Any) -> None:
    """Print what the tab shows."""
    tab.pdf(path=path, format="A4", print_background=True, **options)


def open_for_print(browser: Browser, text: str, source: Path) -> Page:
    """Open a document in a new tab, and wait until its formulas are set."""
    source.write_text(text, encoding="utf-8")
    tab = browser.new_page()
    tab.set_default_timeout(PATIENCE)
    tab.goto(source.as_uri(), timeout=PATIENCE)
    tab.evaluate("MathJax.startup.promise")
    return tab


def page_numbers(reader: PdfReader, body: Tag) -> list[int]:
    """Return the number of the page on which each heading of the contents stands.

    Raises: KeyError if Chromium lost the place of one.
    """
    places = reader.named_destinations
    links = [str(link["href"]) for link in body.select(".paper-contents a")]
    return [(reader.get_destination_page_number(places[f"/{link[1:]}"]) or 0) + 1 for link in links]


def print_book(browser: Browser, parts: list[Part], target: Path) -> None:
    """Write the book: once to learn the numbers of its pages, once with them."""
    folder = target.parent
    pages = [page for part in parts for page in part.pages]
    pictures = {page: photograph(browser, page, folder) for page in pages}
    title = str(yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["title"])
    body = book_body(title, parts, pictures)
    tab = open_for_print(browser, document(title, body, "book"), folder / "book.html")
    layout = {
        "display_header_footer": True,
        "header_template": "<span></span>",
        "footer_template": FOOT,
        "margin": {"top": "18mm", "bottom": "18mm", "left": "20mm", "right": "20mm"},
    }
    printed(tab, target, **layout)
    tab.evaluate(FILL, page_numbers(PdfReader(target), body))
    printed(tab, target, **layout, outline=True, tagged=True)
    tab.close()


def print_sheet(browser: Browser, target: Path) -> None:
    """Write the cheat sheet by itself, in two columns."""
    article, _ = paper_article(SHEET, {SHEET}, [])
    body = build("main", article, class_="bd-article")
    tab = open_for_print(
        browser, document("Cheat sheet", body, "sheet"), target.with_suffix(".html")
    )
    margin = dict.fromkeys(("top", "bottom", "left", "right"), "9mm")
    printed(tab, target, margin=margin, tagged=True)
    tab.close()


@contextmanager
def browser_of_the_system() -> Iterator[Browser]:
    """A headless Chromium; SystemExit with a sentence where there is none."""
    path = chromium()
    if path is None:
        sys.exit(MISSING)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


def main() -> None:
    """Write both PDFs."""
    parser = argparse.ArgumentParser(description="Print the built web book and its cheat sheet.")
    parser.add_argument("page", nargs="*", help="print only these, such as book/intro")
    parser.add_argument("--into", type=Path, default=TARGET, help="a folder")
    given = parser.parse_args()
    if not (HTML / f"{SHEET}.html").is_file():
        sys.exit("The web book is not built: run `make book` first.")
    given.into.mkdir(parents=True, exist_ok=True)
    parts = parts_of(yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8")))
    with browser_of_the_system() as browser:
        print_sheet(browser, given.into / "cheat_sheet.pdf")
        print_book(
            browser, only(parts, given.page) if given.page else parts, given.into / "book.pdf"
        )
    for name in ("cheat_sheet.pdf", "book.pdf"):
        print(f"{given.into / name}: {len(PdfReader(given.into / name).pages)} pages")


if __name__ == "__main__":
    main()
