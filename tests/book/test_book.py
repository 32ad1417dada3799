"""The book as files: its notebooks as stored, its table of contents, its built pages."""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
HTML = Path(os.environ.get("BOOK_HTML", ROOT / "_build" / "html"))
FOLDERS = ("book", "chapters", "exercises")
UNSEEN = {"vendor", "_generated", ".ipynb_checkpoints"}  # no pages; the last one is JupyterLab's
NOTEBOOKS = sorted(
    path.relative_to(ROOT).as_posix()
    for folder in FOLDERS
    for path in (ROOT / folder).rglob("*.ipynb")
    if ".ipynb_checkpoints" not in path.parts
)
PAGES = sorted(
    path.relative_to(HTML).as_posix()
    for path in HTML.rglob("*.html")
    if "_static" not in path.parts
)
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:home|root|tmp|work|Users|usr|opt|var)/\w|[A-Z]:\\\\")
IGNORED_CELLS = {"07_training.ipynb": 6}  # elsewhere 3
LOADED_LINKS = {"stylesheet", "icon", "preload", "modulepreload"}
every_notebook = pytest.mark.parametrize("name", NOTEBOOKS)
every_page = pytest.mark.parametrize("page", PAGES)


def code_cells(name: str) -> list[dict[str, Any]]:
    """Return the code cells of a notebook."""
    notebook = json.loads((ROOT / name).read_text(encoding="utf-8"))
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def listed(node: Any) -> Iterator[str]:
    """Yield every file that `_toc.yml` names."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield from [value] if key in {"root", "file"} else listed(value)
    elif isinstance(node, list):
        for item in node:
            yield from listed(item)


def is_for_learners(name: str) -> bool:
    """True for the exercise notebooks that are handed out empty."""
    return name.startswith("exercises/") and not name.startswith("exercises/solutions/")


def test_there_are_notebooks() -> None:
    """The tests below look at something."""
    assert NOTEBOOKS


@every_notebook
def test_outputs_are_stored(name: str) -> None:
    """Every code cell was executed, in order, from a fresh kernel, and none stored an error."""
    cells = code_cells(name)
    if not is_for_learners(name):
        assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    errors = [out["ename"] for cell in cells for out in cell["outputs"] if "ename" in out]
    assert errors == []


@every_notebook
def test_notebook_is_small(name: str) -> None:
    """A notebook has less than a million bytes."""
    assert (ROOT / name).stat().st_size < 1_000_000


@every_notebook
def test_notebook_tells_nothing_of_a_machine(name: str) -> None:
    """No path of the machine, no time of execution, no random id of a widget is stored."""
    text = (ROOT / name).read_text(encoding="utf-8")
    stored = [line for line in text.splitlines() if '"image/png"' not in line]
    assert [found[0] for line in stored for found in [MACHINE_PATH.search(line)] if found] == []
    assert "ExecuteTime" not in text
    assert '"iopub.' not in text
    states = re.findall(r'"([0-9a-f]{32})"', text)
    assert [ident for ident in states if not ident.startswith("0" * 24)] == []


@every_notebook
def test_hardly_a_cell_escapes_comparison(name: str) -> None:
    """No cell is skipped, and at most three (six in chapter 07) ignore their output."""
    tags = [tag for cell in code_cells(name) for tag in cell["metadata"].get("tags", [])]
    assert "nbval-skip" not in tags
    assert "raises-exception" not in tags
    limit = IGNORED_CELLS.get(Path(name).name, 3)
    assert tags.count("nbval-ignore-output") <= limit
    source = "".join("".join(cell["source"]) for cell in code_cells(name))
    assert "NBVAL_SKIP" not in source
    assert "NBVAL_IGNORE_OUTPUT" not in source


@every_notebook
def test_cell_ids_are_stable(name: str) -> None:
    """Every cell has an id of its own, so a second run changes none."""
    notebook = json.loads((ROOT / name).read_text(encoding="utf-8"))
    ids = [cell.get("id") for cell in notebook["cells"]]
    assert None not in ids
    assert len(ids) == len(set(ids))


@every_notebook
def test_pictures_are_png_with_words(name: str) -> None:
    """Pictures are PNG, and each says in words what is to be seen."""
    for cell in code_cells(name):
        kinds = {kind for out in cell["outputs"] for kind in out.get("data", {})}
        assert not kinds & {"image/jpeg", "image/svg+xml", "application/pdf"}
        if "image/png" in kinds:
            words = cell["metadata"].get("mystnb", {}).get("image", {}).get("alt", "")
            assert len(words.split()) >= 5, f"cell {cell['id']} has no alt text"


def test_every_file_is_in_the_book() -> None:
    """`_toc.yml` names every page and notebook, once, and nothing that does not exist."""
    toc = list(listed(yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))))
    assert len(toc) == len(set(toc))
    named = {name.removesuffix(".md").removesuffix(".ipynb") for name in toc}
    found = {
        path.relative_to(ROOT).with_suffix("").as_posix()
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".md", ".ipynb"} and not UNSEEN & set(path.parts)
    }
    assert named - found == set()
    assert {name for name in found - named if not name.startswith("exercises/")} == set()


class Parsed(HTMLParser):
    """Links, addresses, ids and pictures of a built page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.pictures: list[tuple[str, str | None]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what the tag names."""
        values = dict(attrs)
        self.ids |= {value for key in ("id", "name") if (value := values.get(key))}
        if tag == "a" and values.get("href"):
            self.links.append(values["href"] or "")
        if tag in {"script", "img", "iframe", "source", "video", "audio"} and values.get("src"):
            self.loaded.append(values["src"] or "")
        if tag == "link" and set((values.get("rel") or "").split()) & LOADED_LINKS:
            self.loaded.append(values.get("href") or "")
        if tag == "img":
            self.pictures.append((values.get("src") or "", values.get("alt")))


@functools.cache
def parsed(page: str) -> Parsed:
    """Return what is in a built page."""
    return Parsed((HTML / page).read_text(encoding="utf-8"))


def test_the_book_is_built() -> None:
    """The built book is there: in CI its absence fails, elsewhere the test says how to build it."""
    if not PAGES and not os.environ.get("CI"):
        pytest.skip("The web book is not built: run `make book` first.")
    assert "book/intro.html" in PAGES


@every_page
def test_page_loads_nothing_foreign(page: str) -> None:
    """Scripts, styles, fonts and pictures come from the book itself, and exist."""
    for address in parsed(page).loaded:
        parts = urlsplit(address)
        assert (parts.scheme, parts.netloc) in {("", ""), ("data", "")}, address
        if not parts.scheme:
            assert ((HTML / page).parent / unquote(parts.path)).is_file(), address


def test_no_page_shows_where_an_object_lies_in_memory() -> None:
    """As in "<OptionInfo object at 0x7f…>": it tells nobody anything, and every build would differ."""
    texts = {p: re.sub(r"<[^>]+>", "", (HTML / p).read_text(encoding="utf-8")) for p in PAGES}
    shown = [page for page, text in texts.items() if " object at 0x" in text]
    assert shown == []


def test_signatures_have_no_default_that_is_no_code() -> None:
    """As in "<built-in function print>": Sphinx then writes the signature with full names, in one line."""
    texts = {page: (HTML / page).read_text(encoding="utf-8") for page in PAGES if "api" in page}
    shown = [page for page, text in texts.items() if re.search("&lt;(built-in|function)", text)]
    assert shown == []


def test_no_page_shows_the_markup_of_a_box() -> None:
    """A box whose title has backquotes isn't one: its source stands on the page, and no build warns."""
    shown = [page for page in PAGES if "```{" in (HTML / page).read_text(encoding="utf-8")]
    assert shown == []


def test_styles_load_nothing_foreign() -> None:
    """No style sheet of the book asks another host."""
    sheets = list(HTML.rglob("*.css"))
    assert sheets or not PAGES
    for sheet in sheets:
        text = sheet.read_text(encoding="utf-8", errors="replace")
        assert not re.search(r"(?:url\(|@import)\s*['\"]?(?:https?:)?//", text), sheet.name


@every_page
def test_links_lead_somewhere(page: str) -> None:
    """Every link inside the book has its page, and every anchor its place."""
    for link in parsed(page).links:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = (HTML / page).parent / unquote(parts.path) if parts.path else HTML / page
        assert target.exists(), link
        if parts.fragment and target.suffix == ".html":
            there = parsed(target.resolve().relative_to(HTML.resolve()).as_posix())
            assert unquote(parts.fragment) in there.ids, link


@every_page
def test_pictures_have_words(page: str) -> None:
    """Every picture has an alt text that is not just the name of its file."""
    for source, words in parsed(page).pictures:
        if "logo" in source:
            continue  # an ornament beside its words
        assert words, source
        assert not re.search(r"\.(png|svg|jpe?g|gif)$", words), source


def test_the_book_brings_the_chinese_signs_that_it_writes() -> None:
    """No page asks the reader's computer, or a server, for a font that has them."""
    script = (ROOT / "tools" / "fetch_vendor.py").read_text(encoding="utf-8")
    brought = re.findall(r'^SIGNS = "(.*?)"', script, re.MULTILINE)[0]
    marked = re.compile(r'<span lang=\\?"zh\\?">([\u4e00-\u9fff]+)</span>')
    written, in_spans = "", ""
    for folder in ("book", "chapters"):
        for path in (ROOT / folder).glob("*"):
            if path.suffix in (".md", ".ipynb"):
                text = path.read_text(encoding="utf-8")
                written += "".join(re.findall(r"[\u4e00-\u9fff]", text))
                in_spans += "".join(marked.findall(text))
    assert set(brought) == set(written)
    assert sorted(written) == sorted(in_spans)  # each says that it is Chinese
