"""The map of the model: by mouse, finger and keyboard, without a kernel; numbers are those of the package."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from playwright.sync_api import Locator, Page

from transformer_course.encoder_decoder import Transformer, TransformerConfig

from .conftest import HTML, settle, watch
from .conftest import Visit as Seen

Open = Callable[..., Page]
NAME = "chapters/06_encoder_decoder.html"
STATE = "application/vnd.jupyter.widget-state+json"


def stored() -> dict[str, Any]:
    """The state of the figure that the page carries."""
    text = (HTML / NAME).read_text(encoding="utf-8")
    found = re.search(rf'<script type="{re.escape(STATE)}">(.*?)</script>', text, re.S)
    assert found
    models = json.loads(found[1])["state"].values()
    states = [model["state"] for model in models if "sizes" in model["state"]]
    assert len(states) == 1
    return dict(states[0])


def opened(page: Page, address: str) -> Locator:
    """Open the chapter and return its figure, in view."""
    page.goto(address)
    settle(page)
    figure = page.locator(".tc-model-map")
    assert figure.count() == 1
    figure.scroll_into_view_if_needed()
    return figure


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


@pytest.mark.parametrize("where", ["http", "file"])
def test_it_starts_as_stored(where: str, site: str, new_page: Open) -> None:
    """With no kernel and nothing from elsewhere, over http and from the disk."""
    page, seen = new_page(), Seen()
    own = site if where == "http" else HTML.as_uri()
    watch(page, seen, own)
    figure = opened(page, f"{own}/{NAME}")
    assert figure.locator('[aria-pressed="true"]').get_attribute("data-part") == stored()["part"]
    assert (seen.foreign, seen.missing, seen.errors) == ([], [], [])


def test_the_total_is_the_packages_for_every_size(site: str, new_page: Open) -> None:
    figure = opened(new_page(), f"{site}/{NAME}")
    for size in stored()["sizes"]:
        figure.get_by_label("Model", exact=True).select_option(label=size["name"])
        total = sum(p.numel() for p in model_of(size).parameters())
        assert f"{total:,} numbers to learn" in figure.locator(".tc-total").inner_text()


def test_parts_learn_what_the_packages_parts_learn(site: str, new_page: Open) -> None:
    figure = opened(new_page(), f"{site}/{NAME}")
    size = next(s for s in stored()["sizes"] if "base" in s["name"])
    figure.get_by_label("Model", exact=True).select_option(label=size["name"])
    model = model_of(size)
    encoder, decoder = model.encoder_layers[0], model.decoder_layers[0]
    parts = {
        "encoder-attention": encoder.self_attention,
        "encoder-feed-forward": encoder.feed_forward,
        "encoder-norm-2": encoder.residuals[1].norm,
        "decoder-attention": decoder.self_attention,
        "decoder-cross": decoder.cross_attention,
        "decoder-norm-3": decoder.residuals[2].norm,
    }
    for name, part in parts.items():
        one = sum(p.numel() for p in part.parameters())
        assert press(figure, name)["learns"] == f"{one:,} each, {6 * one:,} in 6 layers"
    assert press(figure, "encoder-embedding")["learns"] == "18,944,000"
    shared = "nothing (shares the table of the source embedding)"
    assert press(figure, "linear")["learns"] == press(figure, "decoder-embedding")["learns"]
    assert facts(figure)["learns"] == shared


def test_shapes_are_those_of_the_lengths(site: str, new_page: Open) -> None:
    figure = opened(new_page(), f"{site}/{NAME}")
    src, tgt = stored()["lengths"]
    figure.get_by_label("Model", exact=True).select_option(index=0)
    size = stored()["sizes"][0]
    d, heads = size["d_model"], size["n_heads"]
    assert press(figure, "memory")["comes out"] == f"(1, {src}, {d})"
    assert press(figure, "decoder-cross")["maps"] == f"(1, {heads}, {tgt}, {src})"
    assert press(figure, "decoder-attention")["maps"] == f"(1, {heads}, {tgt}, {tgt})"
    assert press(figure, "encoder-feed-forward")["inside"] == f"(1, {src}, {size['d_ff']})"
    assert press(figure, "softmax")["comes out"] == f"(1, {tgt}, {size['vocab_size']})"


def test_every_part_leads_to_its_chapters(site: str, new_page: Open) -> None:
    """Each link opens a page or a section that is there; a chapter without a page says so."""
    page = new_page()
    figure = opened(page, f"{site}/{NAME}")
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


def test_training_and_translating_use_different_parts(site: str, new_page: Open) -> None:
    figure = opened(new_page(), f"{site}/{NAME}")
    for task, off in (("training", ["next"]), ("translating", ["training", "loss"])):
        figure.get_by_label("What happens", exact=True).select_option(label=task)
        shown = figure.locator(".tc-off").all()
        assert [button.get_attribute("data-part") for button in shown] == off
        press(figure, off[0])
        assert "(Only when" in figure.locator(".tc-said").inner_text()


def test_a_finger_presses_and_nothing_is_too_small(site: str, new_page: Open) -> None:
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    figure = opened(page, f"{site}/{NAME}")
    figure.locator('[data-part="softmax"]').tap()
    assert figure.locator('[aria-pressed="true"]').get_attribute("data-part") == "softmax"
    small = "e => e.filter((b) => b.getBoundingClientRect().height < 24).length"
    assert figure.locator("button, select").evaluate_all(small) == 0
    wide = "e => e.scrollWidth <= e.clientWidth + 1"
    assert figure.evaluate(wide)
    assert figure.locator(".tc-part").evaluate_all(
        "e => e.every((b) => b.scrollWidth <= b.clientWidth + 1)"
    )


def test_the_keyboard_does_all_the_mouse_can(site: str, new_page: Open) -> None:
    page = new_page(viewport={"width": 1280, "height": 900})
    figure = opened(page, f"{site}/{NAME}")
    figure.get_by_label("Model", exact=True).focus()
    for _ in range(4):  # what happens, source, embedding, positions
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    chosen = figure.locator('[data-part="encoder-positions"]')
    assert chosen.get_attribute("aria-pressed") == "true"
    assert chosen.evaluate("e => e === document.activeElement && e.matches(':focus-visible')")


def test_without_scripts_there_are_words(site: str, new_page: Open) -> None:
    page = new_page(java_script_enabled=False)
    page.goto(f"{site}/{NAME}")
    assert page.locator(".tc-model-map").count() == 0
    page.get_by_role("link", name="picture at the top").click()
    assert page.locator("#map-06 img").is_visible()
