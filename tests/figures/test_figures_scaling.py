"""The figure of chapter 14: its state, its errors, and its script."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from transformer_course import figures
from transformer_course.figures.ring_explorer import PARTS

ROWS = [list(part) for part in PARTS]


def test_the_explorer_keeps_its_state_and_a_fixed_text() -> None:
    said = "Interactive figure: ring all-reduce with 2 to 6 workers"
    assert repr(figures.RingExplorer()) == repr(figures.RingExplorer(workers=6, step=10)) == said
    state = figures.RingExplorer(3, 4).get_state()
    assert (state["parts"], state["workers"], state["step"]) == (ROWS, 3, 4)
    assert "export default { render }" in state["_esm"]
    assert ".tc-ringsum" in state["_css"]


def test_the_explorer_stores_arrays_as_plain_numbers() -> None:
    given: Any = np.arange(36).reshape(6, 6)
    stored = figures.RingExplorer(parts=given).get_state()["parts"]
    assert stored == given.tolist()
    assert {type(number) for part in stored for number in part} == {int}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"workers": 1}, "workers (1) must be from 2 to 6"),
        ({"workers": 7}, "workers (7) must be from 2 to 6"),
        ({"step": -1}, "step (-1) must be from 0 to 6"),
        ({"workers": 2, "step": 3}, "step (3) must be from 0 to 2"),
        ({"parts": ROWS[:5]}, "parts must be 6 rows of 6 numbers"),
        ({"parts": [[1] * 5] * 6}, "parts must be 6 rows of 6 numbers"),
        (
            {"parts": [[100] * 6] * 6},
            "parts has the number 100; it must be a whole number from 0 to 99",
        ),
        (
            {"parts": [[0.5] * 6] * 6},
            "parts has the number 0.5; it must be a whole number from 0 to 99",
        ),
    ],
)
def test_the_explorer_refuses_what_it_cannot_show(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError) as error:  # noqa: PT011 - compared in full below
        figures.RingExplorer(**arguments)
    assert str(error.value) == words


def test_the_ring_as_a_picture_has_whole_sums_where_the_package_has_them() -> None:
    axes = figures.ring_flow([[1, 2, 3], [4, 1, 2], [2, 5, 1]]).axes[0]
    said = [text.get_text() for text in axes.texts]
    assert said[0] == "chunks (3), one column each"
    assert said[-9:] == ["7", "8", "6"] * 3
    assert "2 steps: send, and add" in said
    with pytest.raises(ValueError, match=r"parts \(1, 2\)"):
        figures.ring_flow([[1, 2]])


def test_the_law_is_drawn_through_all_but_the_last() -> None:
    sizes, losses = [10.0, 100.0, 1000.0], [[4.0, 2.0, 1.5], [4.0, 2.0, 1.1]]
    axes = figures.law_and_prediction({"weights": (sizes, losses)}).axes[0]
    line, *rest = axes.lines
    assert [float(y) for y in line.get_ydata()] == pytest.approx([4.0, 2.0, 1.0])  # type: ignore[union-attr]
    ends = [float(mark.get_ydata()[0]) for mark in rest if len(mark.get_ydata()) == 1]  # type: ignore[index, arg-type]
    assert ends == pytest.approx([1.5, 1.1, 1.0])
    assert [text.get_text() for text in axes.texts] == ["foretold", "measured", "law of 2 sizes"]
    with pytest.raises(ValueError, match="three sizes or more"):
        figures.law_and_prediction({"weights": ([1, 2], [[1, 2]])})
    with pytest.raises(ValueError, match="measured is empty"):
        figures.law_and_prediction({})
