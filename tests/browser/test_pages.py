"""Every built page in a browser: complete by itself, correct, readable by everybody."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import Browser, Page

from .conftest import PAGES, WIDE, Visit, settle

See = Callable[[str], Visit]
FIGURES = {  # on each page one part of its interactive figure that takes keys
    "chapters/01_attention.html": ".tc-plane input[type=range]",
    "chapters/02_self_attention.html": ".tc-steps input[type=checkbox]",
    "chapters/03_masking.html": ".tc-masks input[type=radio]",
    "chapters/04_multi_head.html": ".tc-explorer button",
}
PICTURES = {  # each figure, its page, and the link that leads to a picture where no script runs
    ".tc-plane": ("01_attention", "picture further down", "#fig-three-queries img"),
    ".tc-steps": ("02_self_attention", "table of weights", "#fig-four-words img"),
    ".tc-masks": ("03_masking", "picture of the three masks", "#fig-three-masks img"),
    ".tc-families": ("11_families", "picture of the four masks", "#fig-four-masks img"),
    ".tc-explorer": ("04_multi_head", "picture above", "#fig-trained-heads img"),
    ".tc-positions": ("05_positional_encoding", "table as a picture", "#fig-position-map img"),
    ".tc-model-map": ("06_encoder_decoder", "picture at the top", "#map-06 img"),
    ".tc-rate": ("07_training", "picture of the rates", "#fig-rates img"),
    ".tc-loss": ("08_loss", "picture of the price", "#fig-surprise img"),
    ".tc-beam": ("09_decoding", "picture of the tree", "#fig-beam img"),
}
every_page = pytest.mark.parametrize("name", PAGES)


def test_there_is_a_book(browser: Browser) -> None:
    """The built book has its pages: an empty folder does not pass for a clean one."""
    assert {"book/intro.html", "book/first_look.html", "search.html"} <= set(PAGES)


def test_index_leads_to_the_introduction(site: str, new_page: Callable[..., Page]) -> None:
    """Whoever opens the folder's index lands on the first page of the book."""
    page = new_page()
    page.goto(f"{site}/index.html")
    page.wait_for_url("**/book/intro.html")


@every_page
def test_page_is_complete(name: str, visit: See) -> None:
    """Opened from the disk: nothing comes from elsewhere, no file is missing, nothing fails at the start."""
    seen = visit(name)
    assert (seen.foreign, seen.missing, seen.errors) == ([], [], [])


@every_page
def test_page_is_light(name: str, visit: See) -> None:
    """Bytes before anybody touches the page, uncompressed: under 1 MB in front, under 3 MB elsewhere."""
    files = [unquote(urlsplit(url).path) for url in visit(name).before if url.startswith("file:")]
    limit = 1_000_000 if name == "book/intro.html" else 3_000_000
    assert sum(Path(file).stat().st_size for file in files) < limit, sorted(files)


@every_page
def test_what_only_some_readers_need_comes_later(name: str, visit: See) -> None:
    """No page brings the search's index, the icons' whole font or, without formulas, MathJax."""
    files = {unquote(urlsplit(url).path).rpartition("/")[2] for url in visit(name).before}
    assert not files & {"sections.js", "terms.js", "searchindex.js", "fontawesome.js"}
    assert not [file for file in files if file.startswith("fa-")]
    assert ("tex-mml-chtml.js" in files) == (visit(name).mathematics["total"] > 0)


@pytest.mark.parametrize("name", ["book/intro.html", "chapters/09_decoding.html"])
def test_text_does_not_wait_for_scripts(name: str, site: str, browser: Browser) -> None:
    """The text is painted, and can be read, while no script has arrived."""
    page = browser.new_page(viewport=WIDE)
    waiting = []
    page.route("**/*.js*", lambda route: waiting.append(route))  # never answered
    page.goto(f"{site}/{name}", wait_until="commit")
    page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length")
    assert page.locator("article h1").is_visible()
    assert page.locator("article p").first.is_visible()
    assert waiting
    page.close()


def test_figures_come_when_they_are_near(site: str, new_page: Callable[..., Page]) -> None:
    """Their manager isn't loaded at the top of a page; scrolling brings the figure, and so does a link."""
    asked: list[str] = []
    for hash_, near in (("", False), ("#play-masks", True)):
        page = new_page(viewport=WIDE)
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{site}/chapters/03_masking.html{hash_}")
        page.wait_for_load_state("networkidle")
        assert any("embed-amd" in url for url in asked) == near
        if not near:
            page.locator("#play-masks").scroll_into_view_if_needed()
        page.locator(".tc-widget").wait_for()
        asked.clear()


@every_page
def test_icons_are_drawn(name: str, visit: See) -> None:
    """Every icon of a page is in the small font."""
    assert visit(name).icons == []


@every_page
def test_mathematics_is_set(name: str, visit: See) -> None:
    """Every formula became mathematics, and none is an error."""
    seen = visit(name).mathematics
    assert (seen["raw"], seen["wrong"]) == ([], [])


@every_page
def test_widgets_are_alive(name: str, visit: See) -> None:
    """Every widget stored in the page is shown, with no kernel."""
    seen = visit(name).widgets
    assert seen["shown"] == seen["stored"]


@pytest.mark.parametrize("name", FIGURES)
def test_figures_keep_their_keys(name: str, site: str, new_page: Callable[..., Page]) -> None:
    """A page around the figure, such as JupyterLab, doesn't see its arrow keys, but sees Ctrl+S."""
    page = new_page()
    page.goto(f"{site}/{name}")
    settle(page)
    page.evaluate("seen = []; document.addEventListener('keydown', (e) => seen.push(e.code))")
    page.locator(FIGURES[name]).first.focus()
    for key in ("ArrowRight", "Space", "Control+s"):
        page.keyboard.press(key)
    assert page.evaluate("seen") == ["ControlLeft", "KeyS"]


@every_page
def test_page_is_accessible(name: str, visit: See) -> None:
    """axe-core finds nothing: wide and light, narrow and dark."""
    assert visit(name).axe == {"light": [], "dark and narrow": []}


@every_page
def test_light_and_dark(name: str, visit: See) -> None:
    """The page follows the reader's colour scheme."""
    light, dark = visit(name).themes
    assert (light[0], dark[0]) == ("light", "dark")
    assert light[1] != dark[1]


@pytest.mark.parametrize("name", ["book/gallery", "chapters/06_encoder_decoder", "book/walk"])
def test_no_picture_stays_white_on_a_dark_page(
    name: str, site: str, new_page: Callable[..., Page]
) -> None:
    """Pictures are drawn on white: light and dark change places, also in the gallery."""
    page = new_page(color_scheme="dark")
    page.goto(f"{site}/{name}.html")
    settle(page)
    filters = page.locator("article img").evaluate_all(
        "images => images.map(image => getComputedStyle(image).filter)"
    )
    assert filters
    assert all(found.startswith("invert(1)") for found in filters)


@every_page
def test_page_fits_a_telephone(name: str, visit: See) -> None:
    """At 390 pixels nothing is wider than the page; wide things scroll inside themselves."""
    seen = visit(name).narrow
    assert seen["whole"] <= seen["inside"] == 390, seen["elements"]


@pytest.mark.parametrize("figure", PICTURES)
def test_without_scripts_there_are_words(
    figure: str, site: str, new_page: Callable[..., Page]
) -> None:
    """Where scripts don't run, a sentence says what is missing and leads to a picture of it."""
    stem, link, picture = PICTURES[figure]
    page = new_page(java_script_enabled=False)
    page.goto(f"{site}/chapters/{stem}.html")
    assert page.locator(figure).count() == 0
    page.get_by_role("link", name=link).click()
    assert page.locator(picture).is_visible()


def test_figures_follow_the_colours_of_the_page(site: str, new_page: Callable[..., Page]) -> None:
    """Light and dark; the styles that all figures share say so."""
    page = new_page(color_scheme="light")
    page.goto(f"{site}/chapters/02_self_attention.html")
    settle(page)
    grounds = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function(
            "(scheme) => document.documentElement.dataset.theme === scheme", arg=scheme
        )
        ground = "e => getComputedStyle(e).backgroundColor"
        grounds.append(page.locator(".tc-widget").evaluate(ground))
    assert grounds[0] != grounds[1]
