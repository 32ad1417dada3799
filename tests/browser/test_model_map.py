"""The map of the model: by mouse, finger and keyboard, without a kernel; numbers are those of the package."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import torch
from playwright.sync_api import Locator

from transformer_course.encoder_decoder import Transformer, TransformerConfig

from .conftest import HTML, TELEPHONE

Open = Callable[..., Locator]
FIGURE = ("chapters/06_encoder_decoder.html", ".tc-model-map")
STATE = "application/vnd.jupyter.widget-state+json"


def stored() -> dict[str, Any]:
    """The state of the figure that the page carries."""
    text = (HTML / FIGURE[0]).read_text(encoding="utf-8")
    found = re.search(rf'<script type="{re.escape(STATE)}">(.*?)</script>', text, re.S)
    assert found
    models = json.loads(found[1])["state"].values()
    states = [model["state"] for model in models if "sizes" in model["state"]]
    assert len(states) == 1
    return dict(states[0])


def facts(figure: Locator) -> dict[str, str]:
    """What the panel says of the part that is pressed."""
    rows = figure.locator(".tc-said tr").all()
    return {row.locator("th").inner_text(): row.locator("td").inner_text() for row in rows}


def press(figure: Locator, part: str) -> dict[str, str]:
    figure.locator(f'[data-part="{part}"]').click()
    assert figure.locator('[aria-pressed="true"]').get_attribute("data-part") == part
    return facts(figure)


def model_of(size: dict[str, Any]) -> Transformer:
    """The package's model of a stored size, without its numbers."""
    with torch.device("meta"):
        return Transformer(TransformerConfig(**{k: v for k, v in size.items() if k != "name"}))


def test_the_mouse_presses_every_part(open_figure: Open) -> None:
    """Each link opens a page or a section that is there; a chapter without a page says so."""
    figure = open_figure(*FIGURE)
    page = figure.page
    assert figure.locator('[aria-pressed="true"]').get_attribute("data-part") == stored()["part"]
    size = stored()["sizes"][1]
    figure.get_by_label("Model", exact=True).select_option(label=size["name"])
    total = sum(p.numel() for p in model_of(size).parameters())
    assert f"{total:,} numbers to learn" in figure.locator(".tc-total").inner_text()
    for task, off in (("training", ["next"]), ("translating", ["training", "loss"])):
        figure.get_by_label("What happens", exact=True).select_option(label=task)
        shown = figure.locator(".tc-off").all()
        assert [button.get_attribute("data-part") for button in shown] == off
    assert (
        press(figure, "memory")["comes out"] == f"(1, {stored()['lengths'][0]}, {size['d_model']})"
    )
    pages, names = stored()["pages"], figure.locator(".tc-part").all()
    for name in [button.get_attribute("data-part") or "" for button in names]:
        press(figure, name)
        badges = figure.locator(f'[data-part="{name}"] .tc-badge').all_inner_texts()
        targets = [a.get_attribute("href") or "" for a in figure.locator(".tc-open a").all()]
        assert len(targets) == len([badge for badge in badges if badge in pages])
        coming = figure.locator(".tc-open span").all_inner_texts()
        assert coming == [f"Chapter {b} (coming)" for b in badges if b not in pages]
        for target in targets:
            if target.startswith("#"):
                assert page.locator(target).count() == 1, target
            else:
                assert (HTML / "chapters" / target).exists(), target
    press(figure, "encoder-attention")
    figure.locator(".tc-open a").first.click()
    page.wait_for_url("**/01_attention.html")


def test_a_finger_presses_and_nothing_is_too_small(open_figure: Open) -> None:
    figure = open_figure(*FIGURE, **TELEPHONE)
    figure.locator('[data-part="softmax"]').tap()
    assert figure.locator('[aria-pressed="true"]').get_attribute("data-part") == "softmax"
    small = "e => e.filter((b) => b.getBoundingClientRect().height < 24).length"
    assert figure.locator("button, select").evaluate_all(small) == 0
    wide = "e => e.scrollWidth <= e.clientWidth + 1"
    assert figure.evaluate(wide)
    assert figure.locator(".tc-part").evaluate_all(
        "e => e.every((b) => b.scrollWidth <= b.clientWidth + 1)"
    )


def test_the_keyboard_does_all_the_mouse_can(open_figure: Open) -> None:
    figure = open_figure(*FIGURE)
    page = figure.page
    figure.get_by_label("Model", exact=True).focus()
    for _ in range(4):  # what happens, source, embedding, positions
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    chosen = figure.locator('[data-part="encoder-positions"]')
    assert chosen.get_attribute("aria-pressed") == "true"
    assert chosen.evaluate("e => e === document.activeElement && e.matches(':focus-visible')")
