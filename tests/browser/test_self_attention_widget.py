"""The six steps of self-attention: by mouse, finger and keyboard, in a page without a kernel."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest
import torch
from playwright.sync_api import Locator, Page

from transformer_course.figures.self_attention_steps import W_KEY, W_QUERY, W_VALUE, WORDS, X
from transformer_course.self_attention import SelfAttention

from .conftest import HTML, settle, watch
from .conftest import Visit as Seen

Open = Callable[..., Page]
NAME = "chapters/02_self_attention.html"
NUMBER = r"−?\d+(?:\.\d+)?"
FORWARD = list(range(len(WORDS)))


def opened(page: Page, address: str) -> Locator:
    """Open the chapter and return its figure, in view."""
    page.goto(address)
    settle(page)
    figure = page.locator(".tc-steps")
    assert figure.count() == 1
    figure.scroll_into_view_if_needed()
    return figure


def numbers(text: str) -> list[float]:
    """Read the numbers of a text, with real minus signs."""
    return [float(found.replace("−", "-")) for found in re.findall(NUMBER, text)]


@dataclass
class Expected:
    """What the package computes for one word, as float64."""

    x: torch.Tensor
    q: torch.Tensor
    keys: torch.Tensor
    values: torch.Tensor
    weights: torch.Tensor
    output: torch.Tensor


def expected(chosen: int, *, shared: bool) -> Expected:
    """Compute with the package."""
    x = torch.tensor(X, dtype=torch.float64)
    layer = SelfAttention(4, 2, 3).double()
    matrices = [torch.tensor(m, dtype=torch.float64) for m in (W_QUERY, W_KEY, W_VALUE)]
    if shared:
        matrices[1] = matrices[0]
    with torch.no_grad():
        for linear, matrix in zip(layer.children(), matrices, strict=True):
            linear.weight.copy_(matrix.T)  # type: ignore[operator, union-attr]
        output, weights = layer(x[None])
        q, keys, values = (linear(x) for linear in layer.children())
    return Expected(x[chosen], q[chosen], keys, values, weights[0, chosen], output[0, chosen])


def column(figure: Locator, card: int, number: int) -> list[str]:
    """The cells of one column of one card, both counted from 1; column 1 names the words."""
    rows = figure.locator(f".tc-card:nth-child({card}) tbody tr")
    return rows.locator(f"> :nth-child({number})").all_inner_texts()


def agrees(
    figure: Locator, chosen: int, *, shared: bool = False, order: list[int] = FORWARD
) -> None:
    """Everything that is shown is what the package computes, in the order of the sentence."""
    right = expected(chosen, shared=shared)
    words = [WORDS[i] for i in order]
    assert figure.locator(".tc-words label").all_inner_texts() == words
    assert figure.locator(".tc-words :checked").get_attribute("value") == str(chosen)
    for card in range(1, 6):
        assert column(figure, card, 1) == words

    say = figure.locator(".tc-card:nth-child(1) .tc-say").inner_text()
    assert say.startswith(f"{WORDS[chosen]} is")
    assert numbers(say) == pytest.approx([*right.x.tolist(), *right.q.tolist()])
    scores = right.keys @ right.q
    expectations = [
        (1, 2, right.keys, 0.006),
        (1, 3, right.values, 0.006),
        (2, 3, scores[:, None], 0.006),
        (3, 2, scores[:, None] / 2**0.5, 0.006),
        (4, 2, right.weights[:, None], 6e-4),
        (5, 3, right.weights[:, None] * right.values, 0.006),
    ]
    for card, place, wanted, close in expectations:
        shown = [numbers(text) for text in column(figure, card, place)]
        assert shown == [pytest.approx(row, abs=close) for row in wanted[order].tolist()], card
    products = [numbers(text) for text in column(figure, 2, 2)]  # q1 k1 q2 k2
    pairs = [torch.stack([right.q, right.keys[i]], 1).flatten().tolist() for i in order]
    assert products == [pytest.approx(pair) for pair in pairs]
    parts = [numbers(text) for text in column(figure, 5, 2)]
    wanted = [[float(right.weights[i]), *right.values[i].tolist()] for i in order]
    assert parts == [pytest.approx(row, abs=0.006) for row in wanted]
    total = numbers(figure.locator(".tc-sum").inner_text())
    assert total == pytest.approx(right.output.tolist(), abs=0.006)
    bars = figure.locator(".tc-bar").evaluate_all("bars => bars.map((b) => b.clientWidth)")
    longest = bars.index(max(bars))
    assert right.weights[order[longest]] == right.weights.max()
    verdict(figure, chosen, shared=shared)


def verdict(figure: Locator, chosen: int, *, shared: bool) -> None:
    """The sentence on top names the largest weight, and the score in both directions."""
    right = expected(chosen, shared=shared)
    best = int(right.weights.argmax())
    sentence = figure.locator(".tc-result").inner_text()
    assert sentence.startswith(f"“{WORDS[chosen]}” looks most at “{WORDS[best]}”")
    if best == chosen:
        assert sentence.endswith("That is itself.")
        return
    back = expected(best, shared=shared)
    there = float(right.keys[best] @ right.q)
    assert numbers(sentence)[1:] == pytest.approx([there, float(back.keys[chosen] @ back.q)])


@pytest.mark.parametrize("where", ["http", "file"])
def test_it_starts_as_stored(where: str, site: str, new_page: Open) -> None:
    """With no kernel and nothing from elsewhere, over http and from the disk, all numbers are right."""
    page, seen = new_page(), Seen()
    own = site if where == "http" else HTML.as_uri()
    watch(page, seen, own)
    figure = opened(page, f"{own}/{NAME}")
    agrees(figure, WORDS.index("eats"))
    assert (seen.foreign, seen.missing, seen.errors) == ([], [], [])


@pytest.mark.parametrize("width", [1280, 390])
def test_a_click_on_a_word_makes_it_ask(width: int, site: str, new_page: Open) -> None:
    """Each word can be clicked, on its button or its name; all six steps follow."""
    page = new_page(viewport={"width": width, "height": 900})
    figure = opened(page, f"{site}/{NAME}")
    for chosen, word in enumerate(WORDS):
        figure.get_by_text(word, exact=True).first.click()
        agrees(figure, chosen)


def test_a_finger_chooses_a_word(site: str, new_page: Open) -> None:
    """On a touch screen a tap does what a click does, and targets are large enough."""
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    figure = opened(page, f"{site}/{NAME}")
    label = figure.locator(".tc-words label", has_text="fish")
    label.tap()
    agrees(figure, WORDS.index("fish"))
    box = label.bounding_box()
    assert box
    assert box["height"] >= 32
    figure.get_by_role("button").tap()
    agrees(figure, WORDS.index("fish"), order=FORWARD[::-1])


def test_the_keyboard_does_all(site: str, new_page: Open) -> None:
    """Arrow keys choose the word, space ticks the box, enter turns the order; the focus can be seen."""
    page = new_page(viewport={"width": 1280, "height": 900})
    figure = opened(page, f"{site}/{NAME}")
    figure.locator(".tc-words :checked").focus()
    page.keyboard.press("ArrowLeft")
    agrees(figure, 1)
    focused = "document.activeElement"
    assert page.evaluate(f"getComputedStyle({focused}).outlineStyle") != "none"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    agrees(figure, 3)
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    agrees(figure, 3, shared=True)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    agrees(figure, 3, shared=True, order=FORWARD[::-1])
    page.keyboard.press("Enter")
    agrees(figure, 3, shared=True)


def test_turning_the_words_round_changes_no_number(site: str, new_page: Open) -> None:
    """What the page says about order: each word keeps its weights and its new vector."""
    page = new_page()
    figure = opened(page, f"{site}/{NAME}")
    before = dict(zip(column(figure, 4, 1), column(figure, 4, 2), strict=True))
    output = figure.locator(".tc-sum").inner_text()
    figure.get_by_role("button").click()
    assert dict(zip(column(figure, 4, 1), column(figure, 4, 2), strict=True)) == before
    assert figure.locator(".tc-sum").inner_text() == output
    agrees(figure, WORDS.index("eats"), order=FORWARD[::-1])


def test_one_matrix_makes_a_mirror_image(site: str, new_page: Open) -> None:
    """With the box ticked, "eats" looks at itself, and scores are the same in both directions."""
    page = new_page()
    figure = opened(page, f"{site}/{NAME}")
    figure.get_by_label("one for both").check()
    agrees(figure, WORDS.index("eats"), shared=True)
    assert "itself" in figure.locator(".tc-result").inner_text()
    figure.get_by_label("cat").check()
    agrees(figure, WORDS.index("cat"), shared=True)
    _, there, back = numbers(figure.locator(".tc-result").inner_text())
    assert there == back


def test_light_and_dark_differ(site: str, new_page: Open) -> None:
    """The figure follows the colour scheme of the page."""
    page = new_page(color_scheme="light")
    figure = opened(page, f"{site}/{NAME}")
    grounds = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function(
            "(scheme) => document.documentElement.dataset.theme === scheme", arg=scheme
        )
        grounds.append(figure.evaluate("e => getComputedStyle(e).backgroundColor"))
    assert grounds[0] != grounds[1]


def test_without_scripts_there_are_words(site: str, new_page: Open) -> None:
    """Where scripts don't run, a sentence says what is missing and leads to a picture of it."""
    page = new_page(java_script_enabled=False)
    page.goto(f"{site}/{NAME}")
    assert page.locator(".tc-steps").count() == 0
    page.get_by_role("link", name="table of weights").click()
    assert page.locator("#fig-four-words img").is_visible()
