"""Folded sections: closed at first, opened by a link, by keyboard and for paper."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page

from .conftest import settle

PAGE = "chapters/01_attention.html"
INSIDE = "#fig-additive img"  # a picture in a folded section


def test_a_link_into_a_folded_section_opens_it(site: str, new_page: Callable[..., Page]) -> None:
    page = new_page()
    page.goto(f"{site}/{PAGE}")
    settle(page)
    assert not page.locator(INSIDE).is_visible()
    page.evaluate("location.hash = 'fig-additive'")
    page.locator(INSIDE).wait_for(state="visible")
    assert page.locator("details.deeper[open]").count() == 1
    page.goto("about:blank")
    page.goto(f"{site}/{PAGE}#fig-additive")
    settle(page)
    assert page.locator(INSIDE).is_visible()


def test_a_link_to_its_heading_opens_it(site: str, new_page: Callable[..., Page]) -> None:
    page = new_page()
    page.goto(f"{site}/{PAGE}")
    settle(page)
    page.get_by_role("link", name="Going deeper: the additive score").first.click()
    page.locator(INSIDE).wait_for(state="visible")


def test_a_link_to_its_label_opens_it(site: str, new_page: Callable[..., Page]) -> None:
    page = new_page()
    page.goto(f"{site}/chapters/00_seq2seq.html")
    settle(page)
    inside = page.locator("section:has(> #seq2seq-gru) table").first
    assert not inside.is_visible()
    page.get_by_role("link", name="A folded part").first.click()
    inside.wait_for(state="visible", timeout=20_000)


def test_it_opens_by_keyboard_and_is_a_heading(site: str, new_page: Callable[..., Page]) -> None:
    page = new_page(java_script_enabled=False)
    page.goto(f"{site}/{PAGE}")
    fold = page.locator("details.deeper", has=page.locator(INSIDE))
    assert fold.locator("summary h3").count() == 1
    fold.locator("> summary").focus()
    page.keyboard.press("Enter")
    assert page.locator(INSIDE).is_visible()


def test_on_paper_all_are_open(site: str, new_page: Callable[..., Page]) -> None:
    page = new_page()
    page.goto(f"{site}/{PAGE}")
    settle(page)
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details.deeper:not([open])").count() == 0
