"""Finding things in the page: a search while one types, and previews of the glossary."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from .conftest import AXE, Visit, looked_at, settle, watch

WIDE: ViewportSize = {"width": 1280, "height": 900}
NARROW: ViewportSize = {"width": 390, "height": 844}


def test_results_come_while_one_types(site: str, new_page: Callable[..., Page]) -> None:
    """With the keyboard alone: open, type, go down, follow. Nothing is fetched before."""
    page, seen = new_page(viewport=WIDE), Visit()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    watch(page, seen, site)
    page.goto(f"{site}/book/notation.html")
    settle(page)
    assert not [url for url in asked if "searchindex" in url or "sections.js" in url]
    page.keyboard.press("Control+k")
    page.keyboard.type("label smoo")
    dialog = page.locator("#pst-search-dialog")
    first = dialog.locator("ol.found a").first
    expect(first).to_have_text("Label smoothing: a few beans on the others")
    expect(dialog.get_by_role("status")).to_contain_text("sections")
    expect(dialog.locator("ol.found mark").first).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(first).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(dialog.locator("input")).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/chapters/08_loss.html#label-smoothing-*")
    assert (seen.foreign, seen.missing, seen.errors) == ([], [], [])


def test_the_page_of_results_shows_all(site: str, new_page: Callable[..., Page]) -> None:
    """Enter leads to a page of its own; it fits a telephone."""
    page = new_page(viewport=NARROW)
    page.goto(f"{site}/search.html?q=teacher+forcing")
    settle(page)
    results = page.locator("#search-results")
    expect(results.locator("a").first).to_have_text("What exactly is guessed?")
    assert (
        results.locator("a").first.get_attribute("href")
        == "./chapters/07_training.html#what-exactly-is-guessed"
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    page.locator(".bd-search-container input").fill("qqqq")
    expect(results.get_by_role("status")).to_have_text("No sections.")


def test_the_search_works_from_the_disk(
    new_page: Callable[..., Page], visit: Callable[[str], Visit]
) -> None:
    """The index is a script, for a page opened as a file may not read others."""
    seen = visit("search.html")
    assert (seen.missing, seen.errors) == ([], [])


def test_a_term_shows_what_it_means(site: str, new_page: Callable[..., Page]) -> None:
    """Under the pointer and with the focus; Escape, or going away, closes it; the pointer may go into it."""
    page = new_page(viewport=WIDE)
    page.goto(f"{site}/chapters/01_attention.html")
    settle(page)
    link = page.locator('article a[href$="glossary.html#term-kernel-regression"]').first
    preview = page.get_by_role("tooltip")
    expect(preview).to_have_count(0)
    link.hover()
    expect(preview).to_contain_text("kernel regression")
    assert link.get_attribute("aria-describedby") == "term-preview"
    preview.hover()
    page.wait_for_timeout(400)
    expect(preview).to_be_visible()
    page.mouse.move(5, 5)
    expect(preview).to_be_hidden()
    link.focus()
    expect(preview).to_be_visible()
    page.keyboard.press("Escape")
    expect(preview).to_be_hidden()
    assert link.get_attribute("aria-describedby") is None


def test_a_preview_stays_inside_a_telephone(site: str, new_page: Callable[..., Page]) -> None:
    """At 390 pixels nothing sticks out."""
    page = new_page(viewport=NARROW)
    page.goto(f"{site}/chapters/01_attention.html")
    settle(page)
    for link in page.locator('article a[href*="glossary.html#term-"]').all()[:6]:
        link.focus()
        box = page.get_by_role("tooltip").bounding_box()
        assert box
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= NARROW["width"]
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_results_and_previews_are_accessible(
    size: ViewportSize, colours: Literal["light", "dark"], site: str, new_page: Callable[..., Page]
) -> None:
    """axe-core finds nothing in the dialog, on the page of results, with a preview; the dialog is opaque."""
    page = new_page(viewport=size, color_scheme=colours)
    page.goto(f"{site}/search.html?q=mask")
    settle(page)
    expect(page.locator("#search-results a").first).to_be_visible()
    page.add_script_tag(path=AXE)
    assert looked_at(page, colours, None) == []
    page.goto(f"{site}/book/notation.html")
    settle(page)
    page.keyboard.press("Control+k")
    page.keyboard.type("beam search")
    dialog = page.locator("#pst-search-dialog")
    expect(dialog.locator("ol.found a").first).to_be_visible()
    ground = "e => getComputedStyle(e).backgroundColor"
    assert dialog.evaluate(ground) == page.locator("body").evaluate(ground)
    page.add_script_tag(path=AXE)
    assert looked_at(page, colours, None) == []
    page.keyboard.press("Escape")
    page.locator('article a[href*="glossary.html#term-"]').first.focus()
    expect(page.get_by_role("tooltip")).to_be_visible()
    assert looked_at(page, colours, None) == []


def test_captions_of_the_side_bar_stay_in_their_column(
    site: str, new_page: Callable[..., Page]
) -> None:
    """Their letters end before the column does, as those of the pages' titles."""
    page = new_page(viewport=WIDE)
    page.goto(f"{site}/book/notation.html")
    settle(page)
    ends = """() => {
      const column = document.querySelector('.bd-sidebar-primary').getBoundingClientRect().right;
      return [...document.querySelectorAll('.bd-sidebar-primary .caption-text')].map((text) => {
        const range = document.createRange();
        range.selectNodeContents(text);
        return column - range.getBoundingClientRect().right;
      });
    }"""
    rooms = page.evaluate(ends)
    assert len(rooms) >= 6
    assert min(rooms) >= 8
