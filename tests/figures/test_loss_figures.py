"""The figures of chapter 08: numbers that are drawn as given, and the state of the prediction to drag."""

from __future__ import annotations

import inspect
from pathlib import Path

import matplotlib as mpl

mpl.use("agg")

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from transformer_course import figures
from transformer_course.figures import loss_explorer
from transformer_course.figures.loss import PREDICTED, WANTED

FOLDER = Path(inspect.getfile(figures)).parent


def test_distribution_bars_are_as_high_as_the_numbers() -> None:
    panels = {"wanted": [0.0, 1.0], "predicted": [0.25, 0.75], "difference": [0.25, -0.25]}
    figure = figures.distribution_bars(["un", "deux"], panels)
    for axes, (title, numbers) in zip(figure.axes, panels.items(), strict=True):
        assert axes.get_title(loc="left") == title
        bars = [p for p in axes.patches if isinstance(p, Rectangle)]
        assert [bar.get_height() for bar in bars] == numbers
        colour = WANTED if title == "wanted" else PREDICTED
        assert {to_hex(bar.get_facecolor()) for bar in bars} == {colour}
        assert [label.get_text() for label in axes.get_xticklabels()] == ["un", "deux"]
        low, high = axes.get_ylim()
        assert low <= min(numbers)
        assert high > max(numbers)
    shown = [[text.get_text() for text in axes.texts] for axes in figure.axes]
    assert shown == [["0.00", "1.00"], ["0.25", "0.75"], ["0.25", "−0.25"]]


def test_distribution_grids_frame_the_right_word_of_each_row() -> None:
    grid = np.array([[0.1, 0.2, 0.7], [0.6, 0.3, 0.1]])
    figure = figures.distribution_grids(
        ["b", "a"], ["a", "b", "c"], {"one": grid, "two": grid.T[:2]}
    )
    axes = figure.axes[0]
    assert axes.get_title(loc="left") == "one"
    places = {tuple(map(float, t.get_position())): t.get_text() for t in axes.texts}
    assert places == {(float(c), float(r)): f"{n:.2f}" for (r, c), n in np.ndenumerate(grid)}
    corners = {p.get_xy() for p in axes.patches if isinstance(p, Rectangle)}
    assert corners == {(1 - 0.48, 0 - 0.46), (0 - 0.48, 1 - 0.46)}
    bold = {t.get_text() for t in axes.texts if t.get_fontweight() == "bold"}
    assert bold == {"0.20", "0.60"}


def test_surprise_curve_marks_the_points_it_is_given() -> None:
    axes = figures.surprise_curve([0.5, 1]).axes[0]
    curve, *marks = axes.lines
    p = np.asarray(curve.get_xdata(), float)
    assert np.allclose(np.asarray(curve.get_ydata(), float), -np.log(p))
    found = [(float(m.get_xdata()[0]), float(m.get_ydata()[0])) for m in marks]
    assert found == [(0.5, pytest.approx(np.log(2))), (1, 0)]
    assert [t.get_text() for t in axes.texts] == ["p = 0.5: 0.69", "p = 1: 0.00"]


def test_pull_curves_are_the_numbers_given_each_with_its_name() -> None:
    pulls = {"first": [1.0, 2.0], "second": [3.0, 1.0], "third": [0.0, 0.5]}
    axes = figures.pull_curves([0.0, 1.0], pulls, "across", "up").axes[0]
    drawn = {line.get_label(): list(line.get_ydata()) for line in axes.lines[:3]}
    assert drawn == pulls
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("across", "up")
    assert len({line.get_linestyle() for line in axes.lines[:3]}) == 3  # not by colour alone


def test_reliability_diagrams_show_bins_that_have_enough_tokens() -> None:
    bins = np.array([[3, 0.2, 0.4], [50, 0.6, 0.5], [150, 0.9, 0.95]])
    figure = figures.reliability_diagrams(
        {"a": bins, "b": bins[:2], "c": bins, "d": bins}, least=10
    )
    first, second = figure.axes[:2]
    dots = first.collections[1]
    assert dots.get_offsets().tolist() == [[0.6, 0.5], [0.9, 0.95]]
    small, large = dots.get_sizes()
    assert (large - 30) / (small - 30) == pytest.approx(3)  # as the numbers of tokens
    assert second.collections[1].get_offsets().tolist() == [[0.6, 0.5]]
    assert [a.get_title() for a in figure.axes[:4]] == ["a", "b", "c", "d"]
    assert list(first.lines[0].get_xdata()) == list(first.lines[0].get_ydata()) == [0, 1]


def test_smoothing_dots_have_a_mark_for_each_seed() -> None:
    models = {"ε = 0": [1.0, 1.5], "ε = 0.1": [2.0, 2.5]}
    panels = {"lead": {"few": models, "many": {name: [9.0, 8.0] for name in models}}}
    axes = figures.smoothing_dots(panels).axes[0]
    marks = [line for line in axes.lines if line.get_marker() not in ("", "None")]
    drawn = [[float(x) for x in line.get_xdata()] for line in marks]
    assert drawn == [[1.0, 1.5], [2.0, 2.5], [9.0, 8.0], [9.0, 8.0]]
    heights = [float(line.get_ydata()[0]) for line in marks]
    assert [round(height) for height in heights] == [0, 0, 1, 1]
    assert len(set(heights)) == 4
    assert [label.get_text() for label in axes.get_yticklabels()] == ["few", "many"]
    assert axes.get_xlim()[0] <= 0


def test_the_explorer_keeps_its_state_and_a_fixed_text() -> None:
    first, second = figures.LossExplorer(), figures.LossExplorer()
    assert (
        repr(first) == repr(second) == "Interactive figure: the loss of a distribution over 6 words"
    )
    state = figures.LossExplorer((0.25, 0.75), 1, 0.2, ("oui", "non")).get_state()
    assert (state["predicted"], state["words"]) == ([0.25, 0.75], ["oui", "non"])
    assert (state["right"], state["smoothing"]) == (1, 0.2)
    assert first.get_state()["predicted"] == list(loss_explorer.PREDICTED)
    assert sum(loss_explorer.PREDICTED) == pytest.approx(1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            {"predicted": (1.0,)},
            r"predicted \(1 numbers\) must have one for each of the words \(6\)",
        ),
        ({"predicted": (1.0,), "words": ("a",), "right": 0}, "2 or more"),
        ({"predicted": (0.5, 0.6), "words": ("a", "b"), "right": 0}, "must sum to 1"),
        ({"predicted": (-0.5, 1.5), "words": ("a", "b"), "right": 0}, "must not be negative"),
        ({"right": 6}, r"right \(6\) must be from 0 to 5"),
        ({"right": -1}, r"right \(-1\) must be from 0 to 5"),
        ({"smoothing": 0.6}, r"smoothing \(0.6\) must be from 0 to 0.5"),
        ({"smoothing": -0.1}, r"smoothing \(-0.1\) must be from 0 to 0.5"),
    ],
)
def test_the_explorer_refuses_what_it_cannot_draw(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        figures.LossExplorer(**arguments)  # type: ignore[arg-type]
