"""What the book remembers of its reader: sections, quizzes, the place, the map; and how it forgets."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from .conftest import AXE, HTML, PATIENCE, Visit, looked_at, settle, watch

KEY = "transformer-course-progress"
CHAPTER = "chapters/03_masking.html"
FRONT = "book/intro.html"
MEMORY = {
    "version": 1,
    "pages": {
        CHAPTER: {
            "title": "03 Masking",
            "sections": 3,
            "questions": 1,
            "read": ["a", "b", "c"],
            "right": ["quiz-0"],
        },
        "chapters/04_multi_head.html": {
            "title": "04 Multi-head attention",
            "sections": 4,
            "questions": 4,
            "read": ["a", "b"],
            "right": [],
        },
    },
    "last": {"page": CHAPTER, "title": "03 Masking", "id": "quiz", "section": "Quiz"},
}
WIDTHS = """() => Object.fromEntries([...document.querySelectorAll('#progress-map .map-fill')]
  .map((e) => [e.dataset.chapters, Number(e.getAttribute('width'))]))"""
TICKS = """() => [...new Set([...document.querySelectorAll('#progress-map .map-tick')]
  .filter((e) => e.getAttribute('visibility') === 'visible').map((e) => e.dataset.chapters))]"""
ANSWER = """() => {
  const form = document.querySelector('form.quiz-question');
  for (const choice of form.querySelectorAll('.quiz-choice'))
    choice.querySelector('input').checked = choice.dataset.correct === 'true';
  form.querySelector('button').click();
}"""
START = datetime(2030, 1, 1)
OWN = re.compile(r"(?:progress|quiz)\.js.*")
REFUSE = """Object.defineProperty(window, 'localStorage', {
  get() { throw new DOMException('refused', 'SecurityError'); } });"""


# Before a page's own scripts: what another page stored may not have come to a busy browser's new process.
STORE = """if (location.protocol === 'file:' && localStorage.getItem(%s) === null)
  localStorage.setItem(%s, %s);"""


def remember(page: Page, text: str) -> None:
    """From the next page on, this is kept where nothing is."""
    page.add_init_script(STORE % (json.dumps(KEY), json.dumps(KEY), json.dumps(text)))


@pytest.fixture
def reader(browser: Browser) -> Iterator[Callable[..., Page]]:
    """A function that opens a page with its own memory, from the disk unless told otherwise."""
    contexts = []
    seen = Visit()

    def open_page(
        name: str, memory: Any = None, script: str = "", clock: bool = True, **settings: Any
    ) -> Page:
        context = browser.new_context(**({"viewport": {"width": 1280, "height": 900}} | settings))
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        if script:
            page.add_init_script(script)
        if script == REFUSE:  # the theme complains, too
            page.on("pageerror", lambda e: seen.errors.extend(OWN.findall(e.stack or "")))
        else:
            watch(page, seen, HTML.as_uri())
        if memory is not None:
            remember(page, memory if isinstance(memory, str) else json.dumps(memory))
        if clock:  # time passes by `run_for` alone
            page.clock.install(time=START)
            page.clock.pause_at(START + timedelta(hours=1))
        page.goto((HTML / name).as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert (seen.foreign, seen.missing, seen.errors) == ([], [], [])


def remembered(page: Page) -> Any:
    """What the browser keeps."""
    return json.loads(page.evaluate("(key) => localStorage.getItem(key)", KEY) or "null")


def show(page: Page, section: str) -> None:
    """Bring a section's end into view."""
    page.locator(f"#{section}").evaluate(
        "(e) => e.scrollIntoView({block: 'end', behavior: 'instant'})"
    )


def test_a_section_is_read_when_its_end_was_seen_for_long_enough(
    reader: Callable[..., Page],
) -> None:
    page = reader(CHAPTER)
    show(page, "summary")
    page.clock.run_for(900)
    assert remembered(page) is None  # a glance is no reading
    page.clock.run_for(22_000)  # longer than any section needs
    kept = remembered(page)["pages"][CHAPTER]
    assert "summary" in kept["read"]
    assert "quiz" not in kept["read"]
    assert kept["title"].startswith("03 ")
    assert len(set(kept["read"])) == len(kept["read"]) < kept["sections"]
    mark = page.locator('.page-toc a[href="#summary"] .read-mark')
    expect(mark).to_have_text(" ✓ (read)")
    assert page.locator('.page-toc a[href="#quiz"] .read-mark').count() == 0


def test_a_hidden_page_is_not_read(reader: Callable[..., Page]) -> None:
    hidden = "Object.defineProperty(document, 'visibilityState', {get: () => 'hidden'})"
    page = reader(CHAPTER, script=hidden)
    show(page, "summary")
    page.clock.run_for(30_000)
    assert remembered(page) is None


def test_where_one_stopped_and_the_way_back(reader: Callable[..., Page]) -> None:
    page = reader(CHAPTER)
    page.locator("#quiz").evaluate("(e) => e.scrollIntoView({block: 'start', behavior: 'instant'})")
    page.clock.run_for(7_000)
    assert remembered(page)["last"] | {"title": ""} == {
        "page": CHAPTER,
        "title": "",
        "id": "quiz",
        "section": "Quiz",
    }
    remember(page, json.dumps(remembered(page)))
    page.goto((HTML / FRONT).as_uri())
    page.get_by_text("Continue where you stopped:").get_by_role("link").click()
    page.wait_for_url(f"**/{CHAPTER}#quiz")


def test_an_answered_question_is_kept_and_a_wrong_one_is_not(reader: Callable[..., Page]) -> None:
    page = reader(CHAPTER)
    form = page.locator("form.quiz-question").first
    form.locator('.quiz-choice[data-correct="false"] input').first.check()
    form.locator("button").click()
    assert remembered(page) is None
    page.evaluate(ANSWER)
    assert remembered(page)["pages"][CHAPTER]["right"] == ["quiz-0"]
    expect(form.locator(".quiz-done")).to_have_text(" · ✓ answered right")
    page.reload()
    expect(page.locator(".quiz-done")).to_have_count(1)
    expect(page.locator("form.quiz-question").first.locator(".quiz-done")).to_be_visible()


def test_the_map_fills_in_and_words_say_the_same(reader: Callable[..., Page]) -> None:
    page = reader(FRONT, MEMORY)
    panel = page.get_by_role("region", name="Your progress")
    expect(panel.locator("li")).to_have_count(2)
    expect(page.get_by_text("✓ 3 of 3 sections read")).to_be_visible()  # the map is filled by then
    widths = page.evaluate(WIDTHS)
    assert widths["03 04"] == round(156 * (1 + 0.25) / 2)
    assert widths["02 04"] == round(156 * 0.25 / 2)
    assert widths["06"] == 0
    assert page.evaluate(TICKS) == ["03"]
    expect(panel).to_contain_text("✓ 3 of 3 sections read, 1 of 1 questions answered right")
    expect(panel).to_contain_text("kept in this browser only")
    expect(panel.get_by_role("progressbar", name="04 Multi-head attention: 25 %")).to_be_visible()
    panel.get_by_role("link", name="03 Masking").click()
    page.wait_for_url(f"**/{CHAPTER}")


def test_by_keyboard_one_keeps_it_or_forgets_it(reader: Callable[..., Page]) -> None:
    page = reader(FRONT, MEMORY)
    page.get_by_role("button", name="Forget my progress").focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Forget what you have read")
    expect(dialog.get_by_role("button", name="Keep it")).to_be_focused()
    page.keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    page.keyboard.press("Enter")  # the focus is back on the button
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert remembered(page) == MEMORY
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    assert remembered(page) is None
    said = page.get_by_text("Your progress is forgotten.")
    expect(said).to_be_focused()
    assert set(page.evaluate(WIDTHS).values()) == {0}
    assert page.evaluate(TICKS) == []
    expect(page.get_by_text("Continue where you stopped:")).to_be_hidden()


def test_where_storage_is_refused_all_else_works(reader: Callable[..., Page]) -> None:
    """The page says so; a chapter keeps its marks as long as it is open."""
    page = reader(FRONT, script=REFUSE)
    panel = page.get_by_role("region", name="Your progress")
    told = "This browser lets the page keep nothing, so the map stays empty."
    expect(panel.get_by_role("status")).to_have_text(told)
    expect(panel.get_by_role("button")).to_have_count(0)
    page.goto((HTML / CHAPTER).as_uri())
    page.evaluate(ANSWER)
    expect(page.locator(".quiz-done")).to_have_count(1)


@pytest.mark.parametrize(
    "memory",
    [
        "{",
        "null",
        "[1]",
        '{"version": 2, "pages": {}}',
        '{"version": 1, "pages": {"javascript:alert(1)": {}}, "last": {"page": "javascript:alert(1)"}}',
        '{"version": 1, "pages": [], "last": 3}',
    ],
)
def test_a_memory_that_makes_no_sense_is_none(memory: str, reader: Callable[..., Page]) -> None:
    page = reader(FRONT, memory)
    panel = page.get_by_role("region", name="Your progress")
    expect(panel).to_contain_text("The map fills in as you read and answer.")
    expect(panel.locator("li")).to_have_count(0)
    assert page.get_by_text("Continue where you stopped:").is_hidden()


def test_words_in_the_memory_are_no_markup(reader: Callable[..., Page]) -> None:
    memory = json.loads(json.dumps(MEMORY).replace("Quiz", "<img src=x onerror=fail()>"))
    page = reader(FRONT, memory)
    expect(page.get_by_text("Continue where you stopped:")).to_contain_text("<img src=x")


def test_two_tabs_lose_nothing(reader: Callable[..., Page]) -> None:
    page = reader(CHAPTER)
    other = page.context.new_page()
    other.goto((HTML / "chapters/04_multi_head.html").as_uri())
    other.evaluate(ANSWER)
    for _ in range(250):  # a busy browser takes a moment to show it to the other tab
        if "chapters/04_multi_head.html" in (remembered(page) or {"pages": {}})["pages"]:
            break
        page.wait_for_timeout(20)
    page.evaluate(ANSWER)
    assert set(remembered(page)["pages"]) == {CHAPTER, "chapters/04_multi_head.html"}


def test_pages_that_are_looked_up_are_not_where_one_stopped(reader: Callable[..., Page]) -> None:
    for name in ("book/glossary.html", "book/api/checks.html", "search.html", FRONT):
        page = reader(name)
        page.clock.run_for(30_000)
        assert remembered(page) is None, name


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_panel_is_accessible_and_fits(
    scheme: Any, width: int, reader: Callable[..., Page]
) -> None:
    size = {"width": width, "height": 900}
    page = reader(FRONT, MEMORY, clock=False, viewport=size, color_scheme=scheme)  # axe has timers
    settle(page)
    page.add_style_tag(content="* { transition: none !important; }")
    page.add_script_tag(path=AXE)
    assert looked_at(page, scheme, None) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_role("button", name="Forget my progress").click()
    assert looked_at(page, scheme, None) == []


def test_on_a_dark_page_the_map_has_no_white_card(reader: Callable[..., Page]) -> None:
    page = reader(FRONT, MEMORY, color_scheme="dark")
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    own = tuple(map(int, re.findall(r"\d+", ground)[:3]))
    assert max(own) < 64
    with Image.open(io.BytesIO(page.locator("#progress-map").screenshot())) as picture:
        pixels = picture.convert("RGB")
    assert pixels.getpixel((1, pixels.height // 2)) == own  # the corners would be round
    assert max(high for _, high in pixels.getextrema()) > 180  # the words are light


def test_without_scripts_the_map_is_there(browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((HTML / FRONT).as_uri())
    picture = page.locator("#progress-map")
    assert picture.is_visible()
    assert (picture.get_attribute("aria-label") or "").startswith("Map of the Transformer.")
    assert page.locator("#transformer-map figcaption").is_visible()
    context.close()
