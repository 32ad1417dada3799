"""The slides in a browser, from the disk: no request to elsewhere, keys, notes, light and dark, two widths."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from .conftest import AXE, AXE_RUN, LOOKS, ROOT, WIDE, Visit, lacking, watch

sys.path.append(str(ROOT / "tools"))

from make_slides import REVEAL, make


@pytest.fixture(scope="module")
def slides(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All slides, fresh."""
    if not REVEAL.is_dir():
        lacking("reveal.js is not here: run `python tools/fetch_vendor.py`.")
    out = tmp_path_factory.mktemp("built") / "slides"
    make(out)
    return out


@pytest.fixture
def deck(browser: Browser, slides: Path) -> Iterator[Page]:
    """The slides of chapter 01; at the end nothing may have come from elsewhere, been missing or failed."""
    page = browser.new_page(viewport=WIDE, color_scheme="light", reduced_motion="reduce")
    seen = Visit()
    watch(page, seen, slides.as_uri())
    page.goto((slides / "01_attention.html").as_uri())
    page.wait_for_selector(".reveal.ready")
    page.evaluate("window.MathJax.startup.promise")
    yield page
    assert (seen.foreign, seen.missing, seen.errors) == ([], [], [])
    page.close()


def current(page: Page) -> str:
    """The heading of the slide that is shown."""
    return page.locator("section.present :is(h1, h2)").inner_text()


def go_to(page: Page, selector: str) -> None:
    """Show the first slide that has such an element."""
    number = page.evaluate(
        "(s) => [...document.querySelectorAll('section')].findIndex((e) => e.querySelector(s))",
        selector,
    )
    page.evaluate("(n) => { location.hash = `/${n}`; }", number)
    page.wait_for_selector(f"section.present {selector}", state="attached")


def test_keys_lead_on_and_back_and_answers_come_first(deck: Page) -> None:
    assert current(deck) == "01 Attention"
    deck.keyboard.press("ArrowRight")
    assert current(deck) == "Where this part sits"
    deck.keyboard.press("ArrowLeft")
    assert current(deck) == "01 Attention"
    go_to(deck, ".answer")
    title, answer = current(deck), deck.locator("section.present .answer")
    assert not answer.is_visible()
    deck.keyboard.press("Space")
    assert current(deck) == title
    deck.wait_for_selector("section.present .answer.visible")
    deck.keyboard.press("Space")
    assert current(deck) != title


def test_notes_are_shown_below_by_a_key(deck: Page) -> None:
    notes = deck.locator("section.present aside.notes")
    assert not notes.is_visible()
    deck.keyboard.press("t")
    assert "softmax over the queries" in notes.inner_text()
    deck.keyboard.press("t")
    assert not notes.is_visible()


def test_notes_open_in_a_window_of_their_own(deck: Page) -> None:
    with deck.expect_popup() as opened:
        deck.keyboard.press("s")
    window = opened.value
    window.wait_for_function("document.body.innerText.includes('softmax over the queries')")
    window.close()


def test_formulas_are_drawn(deck: Page) -> None:
    go_to(deck, ".display")
    assert deck.locator("section.present .display mjx-container").is_visible()
    assert deck.locator("mjx-merror").count() == 0


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_slides_are_accessible_and_fit(deck: Page, width: int, scheme: str) -> None:
    deck.set_viewport_size({"width": width, "height": 760})
    deck.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    deck.add_script_tag(path=AXE)
    for selector in ("h1", "img", ".display", ".answer", "ul"):
        go_to(deck, selector)
        deck.evaluate(LOOKS)
        assert deck.evaluate(AXE_RUN, None) == []
        wide = "(e) => e.scrollWidth - e.clientWidth"
        assert deck.locator("section.present").evaluate(wide) <= 1
        image = deck.locator("section.present img")
        if image.count():
            assert image.evaluate("(e) => e.naturalWidth > 0 && e.clientHeight > 150")
