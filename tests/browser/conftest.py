"""The built book, a browser, and what is seen on a visit to each page."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Locator,
    Page,
    Route,
    TimeoutError,
    sync_playwright,
)

from tools.chromium import FLAGS, MISSING, chromium

ROOT = Path(__file__).resolve().parents[2]
HTML = Path(os.environ.get("BOOK_HTML", ROOT / "_build" / "html"))
AXE = ROOT / "tools" / "node_modules" / "axe-core" / "axe.min.js"
CODE = re.compile(r"<pre>.*?</pre>", re.DOTALL)
PAGES = sorted(
    path.relative_to(HTML).as_posix()
    for path in HTML.rglob("*.html")
    if "_static" not in path.parts and path != HTML / "index.html"  # that one only leads on
)
PATIENCE = (
    120_000  # milliseconds; long pages take their time on a computer that does other work too
)
WIDE = {"width": 1280, "height": 900}
TELEPHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def lacking(sentence: str) -> None:
    """Stop because something is not there: a failure in CI, elsewhere a skip that says how to get it."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(sentence)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One headless Chromium for all tests of this worker."""
    if not PAGES or not AXE.is_file():
        lacking("The web book is not built: run `make book` first.")
    path = chromium()
    if path is None:
        lacking(MISSING)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield started
        started.close()


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves the built book without a line for each request."""

    def log_message(self, *arguments: Any) -> None:
        """Print nothing."""


@pytest.fixture(scope="session")
def site() -> Iterator[str]:
    """The address on this machine at which the built book is served."""
    handler = functools.partial(QuietHandler, directory=str(HTML))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@dataclass
class Visit:
    """What was seen on one page, wide and light, then narrow and dark."""

    loaded: set[str] = field(default_factory=set)
    before: set[str] = field(default_factory=set)  # loaded before anybody touched the page
    foreign: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    mathematics: dict[str, Any] = field(default_factory=dict)
    widgets: dict[str, int] = field(default_factory=dict)
    icons: list[str] = field(default_factory=list)  # those that the small font doesn't have
    themes: list[list[str]] = field(default_factory=list)
    axe: dict[str, list[str]] = field(default_factory=dict)
    narrow: dict[str, Any] = field(default_factory=dict)


def watch(page: Page, visit: Visit, own: str) -> None:
    """Note every request to elsewhere, every missing file and every error of the page."""
    page.on(
        "request",
        lambda r: (
            None if r.url.startswith((own, "data:", "blob:")) else visit.foreign.append(r.url)
        ),
    )
    page.on("request", lambda r: visit.loaded.add(r.url.partition("?")[0]))
    # What a page no longer waits for when it goes is cut off, not missing.
    cut_off = "net::ERR_ABORTED"
    page.on(
        "requestfailed",
        lambda r: None if r.failure == cut_off else visit.missing.append(f"{r.url}: {r.failure}"),
    )
    page.on("response", lambda r: visit.missing.append(r.url) if r.status >= 400 else None)
    page.on("console", lambda m: visit.errors.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda error: visit.errors.append(str(error)))


def rest(page: Page) -> None:
    """Wait until everything is loaded that comes by itself."""
    page.wait_for_load_state("load")
    page.evaluate("window.MathJax?.startup?.promise")
    page.evaluate("document.fonts.ready")


def settle(page: Page) -> None:
    """Wait until everything is loaded and MathJax is done; bring the widgets near and wait for them."""
    rest(page)
    page.evaluate(COME_NEAR)
    with contextlib.suppress(TimeoutError):  # the tests say which widget is not shown
        page.wait_for_function(
            f"""() => {{
            const seen = ({WIDGETS})();
            return seen.shown >= seen.stored;
        }}""",
            timeout=20_000,
        )


def finger_on(page: Page) -> Callable[..., None]:
    """A function that puts a finger on a touch screen, moves it to a place, or (without a place) lifts it."""
    session = page.context.new_cdp_session(page)

    def touch(kind: str, place: tuple[float, float] | None = None) -> None:
        points = [{"x": place[0], "y": place[1]}] if place else []
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    return touch


MATHEMATICS = """() => {
  const all = [...document.querySelectorAll('.math, .mathjax_process')];
  return {
    total: all.length,
    raw: all.filter((e) => !e.querySelector('mjx-container')).map((e) => e.textContent),
    wrong: [...document.querySelectorAll('mjx-merror')].map((e) => e.textContent),
  };
}"""
COME_NEAR = """() => {
  const view = document.querySelector('script[type$="widget-view+json"]'), { scrollX, scrollY } = window;
  view?.parentElement.scrollIntoView();
  return new Promise((resolve) => requestAnimationFrame(() => setTimeout(() => {
    if (view) window.scrollTo(scrollX, scrollY);
    resolve();
  }, 50)));
}"""
WIDGETS = """() => ({
  stored: document.querySelectorAll('script[type$="widget-view+json"]').length,
  shown: document.querySelectorAll('.widget-subarea .tc-widget').length,
})"""
ICONS = """() => {
  const small = [...document.fonts].find(
    (font) => font.family.includes('Font Awesome') && font.unicodeRange !== 'U+0-10FFFF');
  const has = new Set(small.unicodeRange.match(/[0-9a-f]{4}/gi).map((code) => parseInt(code, 16)));
  const missing = new Set();
  for (const element of document.querySelectorAll('i, a, summary, .admonition-title, .toc-entry')) {
    for (const part of ['::before', '::after']) {
      const style = getComputedStyle(element, part), code = style.content.codePointAt(1);
      if (style.fontFamily.includes('Font Awesome') && code > 0x7f && !has.has(code)) {
        missing.add(element.className + ' ' + code.toString(16));
      }
    }
  }
  return [...missing];
}"""
THEME = """() => [document.documentElement.dataset.theme,
                getComputedStyle(document.body).backgroundColor]"""
OVERFLOW = """() => {
  const width = document.documentElement.clientWidth;
  const sticksOut = (e) => e.getBoundingClientRect().right > width + 1;
  return {
    inside: width, whole: document.documentElement.scrollWidth,
    elements: [...document.querySelectorAll('article *')].filter(sticksOut)
      .slice(0, 5).map((e) => e.outerHTML.slice(0, 90)),
  };
}"""
SCROLLABLE_REACHED = """() => [...document.querySelectorAll('article pre')].every(
  (pre) => pre.scrollWidth <= pre.clientWidth || pre.tabIndex === 0)"""
# The colours of code are the same in every block; axe takes much time for their thousands of spans.
PLAIN_CODE = """() => [...document.querySelectorAll('.highlight pre')].slice(4)
  .forEach((pre) => { pre.textContent = pre.textContent; })"""
# Contrast takes axe most of its time: one element of each look will do (class, colours, and all above).
LOOKS = """() => {
  const numbers = new Map(), looks = new Map(), chosen = new Set();
  for (const e of document.body.querySelectorAll('*')) {
    const {color, backgroundColor} = getComputedStyle(e);
    const above = looks.get(e.parentElement);
    const look = [above, e.tagName, e.getAttribute('class'), color, backgroundColor].join();
    if (!numbers.has(look)) numbers.set(look, numbers.size);
    const number = numbers.get(look);
    looks.set(e, number);
    const speaks = [...e.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.data.trim());
    const taken = speaks && !chosen.has(number) && e.checkVisibility();
    if (taken) chosen.add(number);
    e.toggleAttribute('data-look', taken);
  }
}"""
AXE_RUN = """async (rules) => {
  axe.configure({rules: [{id: 'color-contrast', selector: '[data-look]'}]});
  const options = {preload: false, resultTypes: ['violations'], ...(rules ? {runOnly: rules} : {})};
  return (await axe.run(options)).violations.flatMap(
    (v) => v.nodes.map((n) => `${v.id}: ${n.target}: ${n.html.slice(0, 120)}`));
}"""
# What colours and width can change.
CHANGING_RULES = ["color-contrast", "scrollable-region-focusable", "target-size"]


def looked_at(page: Page, scheme: Literal["light", "dark"], rules: list[str] | None) -> list[str]:
    """Put the page into a colour scheme and tell what axe finds."""
    page.emulate_media(color_scheme=scheme)
    with contextlib.suppress(TimeoutError):  # a test says which page stayed as it was
        page.wait_for_function(
            "(scheme) => document.documentElement.dataset.theme === scheme",
            arg=scheme,
            timeout=2000,
        )
    page.evaluate(LOOKS)
    found: list[str] = page.evaluate(AXE_RUN, rules)
    return found


@pytest.fixture(scope="session")
def visit(browser: Browser) -> Callable[[str], Visit]:
    """A function that opens a page from the disk, once, and tells what was seen.

    The figures' tests open theirs over http.
    """
    context = browser.new_context(
        viewport={"width": 1280, "height": 900}, color_scheme="light", reduced_motion="reduce"
    )
    context.set_default_timeout(PATIENCE)

    @functools.cache
    def go(name: str) -> Visit:
        seen = Visit()
        page = context.new_page()
        watch(page, seen, HTML.as_uri())
        page.goto((HTML / name).as_uri())
        rest(page)
        page.wait_for_timeout(300)  # what a script asks for a little later
        seen.before = set(seen.loaded)
        settle(page)
        seen.icons = page.evaluate(ICONS)
        seen.mathematics = page.evaluate(MATHEMATICS)
        seen.widgets = page.evaluate(WIDGETS)
        page.add_style_tag(content="* { transition: none !important; }")
        page.add_script_tag(path=AXE)
        page.evaluate(PLAIN_CODE)
        seen.axe["light"] = looked_at(page, "light", None)
        seen.themes.append(page.evaluate(THEME))
        page.set_viewport_size({"width": 390, "height": 844})
        page.wait_for_timeout(400)  # the theme lets wide tables take the focus 0.3 s after a resize
        with contextlib.suppress(TimeoutError):  # the theme lets the tab key reach what scrolls
            page.wait_for_function(SCROLLABLE_REACHED, timeout=2000)
        seen.axe["dark and narrow"] = looked_at(page, "dark", CHANGING_RULES)
        seen.themes.append(page.evaluate(THEME))
        seen.narrow = page.evaluate(OVERFLOW)
        page.close()
        return seen

    return go


@pytest.fixture(scope="session")
def contexts(browser: Browser) -> Callable[..., BrowserContext]:
    """A function that gives the context with these settings: one for all tests, so that scripts stay cached.

    Its pages have no code, formulas, icons or pictures: they take most of the time, and `visit` looks at them.
    """

    def without_code(route: Route) -> None:
        """The page with empty blocks of code: half of its size, most of its elements."""
        response = route.fetch()
        route.fulfill(response=response, body=re.sub(CODE, "<pre></pre>", response.text()))

    @functools.cache
    def with_settings(settings: str) -> BrowserContext:
        context = browser.new_context(**json.loads(settings))
        context.set_default_timeout(PATIENCE)
        for left_out in ("**/vendor/mathjax/*.js*", "**/fontawesome.js*", "**/_images/*.png"):
            context.route(left_out, lambda route: route.fulfill(body=""))
        context.route(re.compile(r"^http://[^/]+/(book|chapters)/\w+\.html$"), without_code)
        return context

    return lambda **settings: with_settings(json.dumps(settings, sort_keys=True))


@pytest.fixture
def new_page(contexts: Callable[..., BrowserContext]) -> Iterator[Callable[..., Page]]:
    """A function that opens an empty page with its own settings; after the test it is closed, and forgotten."""
    pages: list[Page] = []

    def open_page(**settings: Any) -> Page:
        pages.append(contexts(**settings).new_page())
        return pages[-1]

    yield open_page
    for page in pages:
        page.evaluate(
            "try { localStorage.clear(); } catch { }"
        )  # a page without an address has none
        page.close()


@pytest.fixture
def open_figure(site: str, new_page: Callable[..., Page]) -> Iterator[Callable[..., Locator]]:
    """A function that opens a page and returns its figure, in view; its page is `figure.page`.

    At the end nothing may have come from elsewhere, been missing or failed.
    """
    visits: list[Visit] = []

    def open_page(name: str, selector: str, **settings: Any) -> Locator:
        page = new_page(**({"viewport": WIDE} | settings))
        visits.append(Visit())
        watch(page, visits[-1], site)
        page.goto(f"{site}/{name}")
        settle(page)
        figure = page.locator(selector)
        assert figure.count() == 1
        figure.scroll_into_view_if_needed()
        return figure

    yield open_page
    for seen in visits:
        assert (seen.foreign, seen.missing, seen.errors) == ([], [], [])
