"""The knobs of sampling: the package's numbers, by mouse, finger and keyboard, without a kernel."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import torch
from playwright.sync_api import Locator, Page

from transformer_course.decoding import next_token_distribution

from .conftest import ROOT, TELEPHONE

Open = Callable[..., Locator]
FIGURE = ("chapters/09_decoding.html", ".tc-sampling")
SHOWN = 12


def stored() -> dict[str, Any]:
    """What the notebook stores of the figure."""
    text = (ROOT / "chapters" / "09_decoding.ipynb").read_text(encoding="utf-8")
    widgets = json.loads(text)["metadata"]["widgets"]
    states = widgets["application/vnd.jupyter.widget-state+json"]["state"].values()
    return next(dict(s["state"]) for s in states if "top_p" in s["state"])


def column(figure: Locator, place: int) -> list[float]:
    """The numbers of a column of the table."""
    cells = figure.locator(f"tbody tr > :nth-child({place})").all_inner_texts()
    return [float(cell) for cell in cells]


def agrees(figure: Locator, temperature: float = 1.0, k: int | None = None, p: float = 1.0) -> None:
    """The table shows the model's probabilities, and what the package draws from."""
    logits = torch.tensor(stored()["logits"], dtype=torch.float64)
    wanted = next_token_distribution(logits, temperature=temperature, top_k=k, top_p=p)
    for place, probs in ((2, logits.softmax(-1)), (3, wanted)):
        expected = [*probs[:SHOWN].tolist(), float(probs[SHOWN:].sum())]
        assert column(figure, place) == pytest.approx(expected, abs=6e-4)
    kept = int((wanted > 0).sum())
    said = figure.locator(".tc-result").inner_text()
    if p < 1 or k:
        assert said.startswith(f"{kept} of" if kept > 1 else "1 token is left")
    bars = figure.locator("td.tc-bars").evaluate_all(
        "cells => cells.map((c) => Number(c.style.getPropertyValue('--is')))"
    )
    assert bars[:SHOWN] == pytest.approx(wanted[:SHOWN].tolist(), abs=1e-6)
    cut = figure.locator("tbody tr").evaluate_all(
        "rows => rows.map((r) => r.classList.contains('tc-cut'))"
    )
    assert cut[:SHOWN] == (wanted[:SHOWN] == 0).tolist()


def press(page: Page, figure: Locator, name: str, key: str, times: int) -> None:
    """Press a key on a slider."""
    figure.get_by_label(name).focus()
    for _ in range(times):
        page.keyboard.press(key)


def test_the_keyboard_turns_each_knob(open_figure: Open) -> None:
    """Temperature, top-k and top-p alone and together, by the arrow keys."""
    figure = open_figure(*FIGURE)
    page = figure.page
    press(page, figure, "temperature", "ArrowLeft", 5)
    agrees(figure, 0.5)
    press(page, figure, "temperature", "ArrowRight", 15)
    agrees(figure, 2.0)
    press(page, figure, "top-k", "Home", 1)
    agrees(figure, 2.0, 1)
    press(page, figure, "top-k", "ArrowRight", 4)
    agrees(figure, 2.0, 5)
    press(page, figure, "top-p", "ArrowLeft", 8)
    agrees(figure, 2.0, 5, 0.6)
    figure.get_by_role("button", name="Start again").click()
    agrees(figure)
    press(page, figure, "top-p", "ArrowLeft", 2)
    agrees(figure, p=0.9)


def test_a_finger_draws(open_figure: Open) -> None:
    """A hundred draws; other ones the next time; none from what is cut; gone when a knob is turned."""
    figure = open_figure(*FIGURE, **TELEPHONE)
    page = figure.page
    press(page, figure, "top-k", "Home", 1)
    press(page, figure, "top-k", "ArrowRight", 3)
    draw = figure.get_by_role("button", name="Draw 100")
    draw.tap()
    first = column(figure, 5)
    assert sum(first) == 100
    assert sum(first[:4]) == 100
    draw.tap()
    second = column(figure, 5)
    assert sum(second) == 100
    assert first != second
    probs = column(figure, 3)
    shares = [(a + b) / 200 for a, b in zip(first, second, strict=True)]
    assert shares == pytest.approx(probs, abs=0.12)
    assert figure.evaluate("e => e.scrollWidth <= e.clientWidth + 1")
    press(page, figure, "temperature", "ArrowLeft", 1)
    assert set(figure.locator("tbody td:last-child").all_inner_texts()) == {""}


def test_a_mouse_moves_a_knob(open_figure: Open) -> None:
    """A click at the left end of a slider."""
    figure = open_figure(*FIGURE)
    page = figure.page
    agrees(figure)  # nothing is cut, and nothing drawn
    assert stored()["context"] in figure.inner_text()
    assert set(figure.locator("tbody td:last-child").all_inner_texts()) == {""}
    box = figure.get_by_label("temperature").bounding_box()
    assert box
    page.mouse.click(box["x"] + 3, box["y"] + box["height"] / 2)
    agrees(figure, 0.1)
