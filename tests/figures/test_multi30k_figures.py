"""The figures of chapter 15: what is drawn is what was given."""

import matplotlib as mpl

mpl.use("agg")

import numpy as np
import pytest
from matplotlib.axes import Axes

from transformer_course import figures
from transformer_course.figures.multi30k import SHADES


def lines_of(axes: Axes) -> list[tuple[list[float], list[float]]]:
    return [
        (np.asarray(line.get_xdata()).tolist(), np.asarray(line.get_ydata()).tolist())
        for line in axes.lines
    ]


def test_histograms_share_an_axis_and_bars_span_the_middle() -> None:
    a, b = np.linspace(0, 1, 401), np.linspace(0.4, 0.6, 401)
    figure = figures.redrawn_histograms({"both": {"a": a, "b": b}, "one": {"": b}}, "score")
    both, one = figure.axes
    assert both.get_xlim() == one.get_xlim()
    assert one.get_xlabel() == "score"
    ends = [line[0] for line in lines_of(both)]
    assert np.allclose(ends, [[0.025, 0.975], [0.405, 0.595]])
    assert {line.get_color() for line in one.lines} == {SHADES[0]}
    legend = both.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["a", "b"]
    assert one.get_legend() is None


def test_zero_is_marked_only_where_it_matters() -> None:
    def dashed(low: float) -> int:
        axes = figures.redrawn_histograms({"d": {"": np.linspace(low, 1, 50)}}, "x").axes[0]
        return sum(line.get_linestyle() == "--" for line in axes.lines)

    assert dashed(-0.5) == 1
    assert dashed(0.1) == 0


def test_bleu_by_updates_has_a_line_for_each_training() -> None:
    curves = {"de": [[10.0, 20.0], [11.0, 19.0]], "fr": [[30.0, 31.0]]}
    axes = figures.bleu_by_updates(curves, [500, 1000]).axes[0]
    steps = [500, 1000]
    assert lines_of(axes) == [(steps, [10, 20]), (steps, [11, 19]), (steps, [30, 31])]
    assert [text.get_text() for text in axes.texts] == ["de", "fr"]
    with pytest.raises(ValueError, match="de: 1 scores for 2 updates"):
        figures.bleu_by_updates({"de": [[10.0]]}, [500, 1000])


def test_the_flow_of_a_draw_shows_what_was_drawn_and_its_sums() -> None:
    counts = [[0, 1], [9, 10], [8, 8]]
    axes = figures.redraw_flow(counts, [0, 0, 1], [9, 12], 0.75).axes[0]
    said = [text.get_text() for text in axes.texts]
    assert {"counts (3, 2)", "draw (3)", "drawn (3, 2)", "sums (2)", "12", ".75"} <= set(said)
    assert said.count("10") == 2  # sentence 1: once in the table, once drawn
    assert said.count("8") == 2  # sentence 2 was not drawn
    with pytest.raises(
        ValueError, match=r"draw \(2\) must have one index for each of counts \(3\)"
    ):
        figures.redraw_flow(counts, [0, 0], [9, 12], 0.75)
    with pytest.raises(IndexError):
        figures.redraw_flow(counts, [0, 0, 3], [9, 12], 0.75)


def test_paired_differences_have_a_mark_for_each_training_and_a_bar_for_the_interval() -> None:
    gains = {"beam": [0.5, 1.0], "penalty": [-0.2, 0.1]}
    ends = {"beam": (0.6, 0.9), "penalty": (-0.1, 0.05)}
    axes = figures.paired_differences(gains, ends).axes[0]
    across = [line[0] for line in lines_of(axes)]
    assert across == [[0.5, 1.0], [0.6, 0.9], [-0.2, 0.1], [-0.1, 0.05], [0, 0]]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["beam", "penalty"]
    with pytest.raises(KeyError, match="penalty"):
        figures.paired_differences(gains, {"beam": (0.6, 0.9)})


def test_bleu_by_words_has_a_mark_for_each_training_and_a_line_through_the_means() -> None:
    axes = figures.bleu_by_words({"de": {"1 to 9": [40.0, 42.0], "10 or more": [38.0, 38.0]}}).axes[
        0
    ]
    assert lines_of(axes) == [([0, 1], [41, 38]), ([0, 0], [40, 42]), ([1, 1], [38, 38])]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1 to 9", "10 or more"]


def test_reading_map_shows_the_weights_and_refuses_another_shape() -> None:
    weights = np.array([[0.7, 0.2, 0.1], [0.0, 0.0, 1.0]])
    axes = figures.reading_map(["a", "b", "c"], ["x", "y"], weights).axes[0]
    assert np.allclose(np.asarray(axes.images[0].get_array()), weights)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["x", "y"]
    with pytest.raises(ValueError, match=r"weights \(2, 3\) must be \(target, source\), \(3, 2\)"):
        figures.reading_map(["x", "y"], ["a", "b", "c"], weights)
