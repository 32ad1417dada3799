"""The interactive figure of chapter 15: its state, its errors, and its script."""

from __future__ import annotations

import inspect
from pathlib import Path

import numpy as np
import pytest

from transformer_course import figures

FOLDER = Path(inspect.getfile(figures)).parent
FOUR = {"name": "4 sentences", "found": [0, 9, 8, 3], "total": [1, 10, 8, 11]}


def test_the_explorer_keeps_its_state_and_a_fixed_text() -> None:
    first, second = figures.RedrawExplorer([FOUR]), figures.RedrawExplorer([FOUR])
    assert repr(first) == repr(second) == "Interactive figure: 1 test set, drawn again"
    assert repr(figures.RedrawExplorer([FOUR, FOUR])).startswith("Interactive figure: 2 test sets,")
    state = figures.RedrawExplorer([FOUR, FOUR | {"name": "again"}], 7).get_state()
    assert state["sets"] == [FOUR, FOUR | {"name": "again"}]
    assert (state["chosen"], state["seed"], state["draws"]) == (0, 7, 0)
    assert figures.RedrawExplorer([FOUR], draws=3).get_state()["draws"] == 3
    assert "export default { render }" in state["_esm"]
    assert ".tc-redraw" in state["_css"]


def test_the_explorer_stores_arrays_as_plain_numbers() -> None:
    rng = np.random.default_rng(0)
    total = rng.integers(6, 21, 30)
    found = rng.binomial(total, 0.6)
    given = {"name": "30 sentences", "found": found, "total": total}
    (stored,) = figures.RedrawExplorer([given]).get_state()["sets"]
    assert stored["found"] == found.tolist()
    assert stored["total"] == total.tolist()
    assert {type(number) for key in ("found", "total") for number in stored[key]} == {int}


@pytest.mark.parametrize("changes", [{"found": [0, 0, 0, 0]}, {"found": FOUR["total"]}])
def test_the_explorer_takes_a_score_of_nothing_and_of_all(changes: dict[str, object]) -> None:
    (stored,) = figures.RedrawExplorer([FOUR | changes]).get_state()["sets"]
    assert stored["found"] == changes["found"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"found": [1, 2]}, r"found \(2 numbers\) of '4 sentences' must be as many as total \(4\)"),
        ({"found": [], "total": []}, r"found \(0 numbers\) of '4 sentences' .* at least one"),
        ({"total": [1, 10, 8, 0]}, r"total \(0\) of sentence 3 of '4 sentences' .* 1 or more"),
        ({"total": [1, 10.5, 8, 11]}, r"total \(10.5\) of sentence 1 .* must be a whole number"),
        ({"found": [0, 11, 8, 3]}, r"found \(11\) of sentence 1 .* from 0 to its total \(10\)"),
        ({"found": [-1, 9, 8, 3]}, r"found \(-1\) of sentence 0 .* from 0 to its total \(1\)"),
        ({"found": [0, 9, 7.5, 3]}, r"found \(7.5\) of sentence 2 .* must be a whole number"),
    ],
)
def test_the_explorer_refuses_what_it_cannot_draw(changes: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        figures.RedrawExplorer([FOUR, FOUR | changes])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"sets": []}, "sets is empty; there must be at least one"),
        ({"sets": [FOUR], "seed": -1}, r"seed \(-1\) must be 0 or more"),
        ({"sets": [FOUR], "draws": -1}, r"draws \(-1\) must be from 0 to 5000"),
        ({"sets": [FOUR], "draws": 5001}, r"draws \(5001\) must be from 0 to 5000"),
    ],
)
def test_the_explorer_needs_a_set_a_seed_and_a_number_of_draws(
    arguments: dict[str, object], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        figures.RedrawExplorer(**arguments)  # type: ignore[arg-type]
