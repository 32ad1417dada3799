"""The translator in the page: by mouse, finger and keyboard, from the disk too."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from .conftest import AXE, HTML, PATIENCE, TELEPHONE, looked_at

TIRED = "The animal didn't cross the street because it was too tired."
FRENCH = "L'animal n'a pas traversé la rue parce qu'il était trop fatigué."


@pytest.fixture
def started(site: str, new_page: Callable[..., Page]) -> Callable[..., Locator]:
    """Opens the page and starts the translator."""

    def start(query: str = "", **options: object) -> Locator:
        page = new_page(**options)
        page.goto(f"{site}/book/try_it.html{query}")
        tool = page.locator("#try-it")
        if "text=" not in query:  # a link that brings a sentence starts it
            tool.get_by_role("button", name="Start the translator").click()
        expect(tool.get_by_role("status")).not_to_be_empty(timeout=PATIENCE)
        return tool

    return start


def test_a_sentence_is_translated_and_something_is_broken(started: Callable[..., Locator]) -> None:
    tool = started()
    said = tool.get_by_role("status")
    expect(said).to_have_text(FRENCH)
    tool.get_by_label("An English sentence").fill(TIRED.replace("tired", "wide"))
    expect(said).to_have_text(FRENCH.replace("il était", "elle était").replace("fatigué", "large"))
    tool.get_by_label("no positions").check()
    expect(said).not_to_contain_text("elle était trop large")
    expect(tool).to_contain_text("The whole model says: L'animal n'a pas traversé")
    tool.get_by_label("no positions").uncheck()
    tool.get_by_label("without layer").select_option("decoder 2")
    expect(tool).to_contain_text("The whole model says")
    tool.get_by_label("layer", exact=True).select_option("2")
    expect(tool).to_contain_text("This layer is left out.")


def test_the_keyboard_and_a_finger_do_it_too(started: Callable[..., Locator]) -> None:
    tool = started(**TELEPHONE)
    page = tool.page
    tool.get_by_role("button", name="I would like a coffee, please.").tap()
    expect(tool.get_by_role("status")).to_have_text("Je voudrais un café, s'il vous plaît.")
    word = tool.get_by_role("group", name="Choose a word").get_by_role("button", name="café")
    word.focus()
    page.keyboard.press("Enter")
    expect(word).to_have_attribute("aria-pressed", "true")
    expect(word).to_be_focused()
    assert "coffee" in (tool.locator(".try-map").get_attribute("aria-label") or "")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_words_are_offered_and_unknown_ones_named(started: Callable[..., Locator]) -> None:
    tool = started()
    field = tool.get_by_label("An English sentence")
    field.fill("I have a hamster and a hous")
    expect(tool).to_contain_text("guessed: hamster, hous")
    tool.get_by_role("button", name="house", exact=True).click()
    expect(field).to_have_value("I have a hamster and a house ")
    for text, told in (
        ("", "Type an English"),
        (" .  ", ""),
        ("a " * 90, "too long"),
        ("</s>", ""),
    ):
        field.fill(text)
        expect(tool.get_by_role("status")).to_contain_text(told)


def test_temperature_vectors_and_the_beam_are_shown(started: Callable[..., Locator]) -> None:
    tool = started()
    likeliest = tool.get_by_role("row").first
    expect(likeliest).to_contain_text("100 %")
    tool.get_by_label("temperature").fill("2")
    expect(likeliest).not_to_contain_text("100 %")
    beam = tool.get_by_role("img", name="Beam of 4: the beginnings that were kept in 15 steps")
    assert beam.locator("text").count() == 4 * 15
    words = beam.locator("text.try-best").all_text_contents()
    assert [word.split()[0] for word in words][:3] == ["L'", "animal", "n'"]
    tool.get_by_label("Weights of the").select_option("encoder: looks at the source")
    strips = tool.locator(".try-strips svg")
    expect(strips).to_have_count(3)
    assert strips.first.locator("rect").count() == 128
    tool.get_by_label("no positions").check()
    expect(strips).to_have_count(2)


def test_pointing_at_a_subword_shows_all_heads(started: Callable[..., Locator]) -> None:
    tool = started()
    words = tool.get_by_role("group", name="Choose a word").get_by_role("button")
    words.nth(1).hover()
    expect(words.nth(1)).to_have_attribute("aria-pressed", "true")
    expect(tool.locator(".try-map")).to_have_attribute(
        "aria-label", re.compile("Most weight on animal")
    )
    heads = tool.get_by_role("img", name="Weights of 8 heads, a row each, on 14 subwords")
    drawn = heads.locator("rect:not(.try-none)")
    weights = [float(rect.get_attribute("opacity") or 0) for rect in drawn.all()]
    assert len(weights) == 8 * 14
    assert all(sum(weights[i : i + 14]) == pytest.approx(1) for i in range(0, 8 * 14, 14))
    tool.get_by_label("Weights of the").select_option("decoder: looks back")
    words.nth(2).click()
    expect(
        tool.get_by_role("img", name="Weights of 8 heads, a row each, on 3 subwords")
    ).to_be_visible()
    tool.get_by_label("without layer").select_option("decoder 1")
    expect(tool.get_by_role("img", name="Weights of 4 heads")).to_be_visible()


def test_each_view_links_to_its_chapter(started: Callable[..., Locator]) -> None:
    tool = started("?break=positions&view=encoder&beam=2")
    expect(tool.get_by_role("img", name="Beam of 2")).to_be_visible()
    expect(tool.get_by_label("Weights of the")).to_have_value("2")
    links = [link.get_attribute("href") or "" for link in tool.get_by_role("link").all()]
    tool.get_by_label("Weights of the").select_option("decoder: looks at the source")
    links += [link.get_attribute("href") or "" for link in tool.get_by_role("link").all()]
    pages = {link.rsplit("/", 1)[1] for link in links}
    assert {page[:2] for page in pages} == {"01", "02", "04", "05", "06", "07", "09", "10"}
    assert all((HTML / "chapters" / page).is_file() for page in pages)
    tool.get_by_role("link", name="07").click()
    expect(tool.page).to_have_title(re.compile("^07 "))


def test_markup_in_a_sentence_is_text(started: Callable[..., Locator]) -> None:
    tool = started("?text=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E%20%3Cb%3Ecat%3C%2Fb%3E")
    assert tool.locator("img[src], b").count() == 0
    expect(tool.get_by_label("An English sentence")).to_have_value(
        "<img src=x onerror=alert(1)> <b>cat</b>"
    )


def test_a_link_brings_its_sentence_and_its_switch(started: Callable[..., Locator]) -> None:
    tool = started("?text=The%20cat%20sleeps.&break=layer:decoder%202")
    expect(tool.get_by_label("An English sentence")).to_have_value("The cat sleeps.")
    expect(tool.get_by_label("without layer")).to_have_value("4")
    expect(tool).to_contain_text("The whole model says")


def test_it_works_from_the_disk_and_asks_for_nothing_else(new_page: Callable[..., Page]) -> None:
    page = new_page()
    page.goto((HTML / "book" / "try_it.html").as_uri())
    page.get_by_role("button", name="Start the translator").click()
    expect(page.locator("#try-it").get_by_role("status")).to_have_text(FRENCH)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_started_page_is_accessible(started: Callable[..., Locator], scheme: str) -> None:
    page = started().page
    page.add_style_tag(content="* { transition: none !important; }")
    page.add_script_tag(path=AXE)
    assert looked_at(page, scheme, None) == []  # type: ignore[arg-type]
