"""The figures of chapter 09: what is drawn is what was given, and the states of the two explorers."""

from __future__ import annotations

import inspect
from itertools import pairwise
from pathlib import Path

import matplotlib as mpl

mpl.use("agg")

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from transformer_course import figures
from transformer_course.figures.decoding import BEST, COMPUTED, INK, KEPT, MASK

FOLDER = Path(inspect.getfile(figures)).parent
TREE = {
    "name": "tiny",
    "right": "oui",
    "max_len": 2,
    "branches": {"": {"▁oui": -0.1, "▁non": -2.5}, "▁oui": {"</s>": -0.2, "▁oui": -1.7}},
}


def test_a_search_tree_has_a_box_for_each_beginning() -> None:
    sums = {("a",): -0.5, ("b",): -1.0, ("c",): -3.0, ("a", "x"): -2.0, ("b", "y"): -1.25}
    axes = figures.search_tree(sums, [("a",), ("b",)], ("b", "y")).axes[0]
    boxes = {text.get_text(): text for text in axes.texts}
    assert set(boxes) == {"<s>", "a\n−0.50", "b\n−1.00", "c\n−3.00", "x\n−2.00", "y\n−1.25"}
    places = {name: tuple(map(float, text.get_position())) for name, text in boxes.items()}
    assert len(set(places.values())) == 6
    columns = [places[name][0] for name in ("<s>", "a\n−0.50", "b\n−1.00", "x\n−2.00", "y\n−1.25")]
    assert columns == [0, 1, 1, 2, 2]
    assert places["a\n−0.50"][1] < places["b\n−1.00"][1] < places["c\n−3.00"][1]
    patches = {name: text.get_bbox_patch() for name, text in boxes.items()}
    edges = {name: to_hex(patch.get_edgecolor()) for name, patch in patches.items() if patch}
    assert [edges[name] for name in ("<s>", "b\n−1.00", "y\n−1.25")] == [BEST] * 3
    assert [edges["a\n−0.50"], edges["c\n−3.00"], edges["x\n−2.00"]] == [INK, MASK, MASK]


def test_edges_of_a_search_tree_lead_from_beginning_to_beginning() -> None:
    sums = {("a",): -0.5, ("b",): -1.0, ("a", "x"): -2.0, ("b", "y"): -1.25}
    axes = figures.search_tree(sums, [("a",), ("b",)], ("b", "y")).axes[0]
    places = {t.get_text().split("\n")[0]: tuple(map(float, t.get_position())) for t in axes.texts}
    drawn = [tuple(zip(line.get_xdata(), line.get_ydata(), strict=True)) for line in axes.lines]
    wanted = [("<s>", "a"), ("<s>", "b"), ("a", "x"), ("b", "y")]
    assert drawn == [(places[start], places[end]) for start, end in wanted]
    assert [line.get_linestyle() for line in axes.lines] == ["-", "-", "--", "-"]  # x is dropped
    widths = [float(line.get_linewidth()) for line in axes.lines]
    assert widths[1] == widths[3] > widths[0] == widths[2]


def test_cache_grids_mark_what_is_computed() -> None:
    without, with_cache = figures.cache_grids(4).axes
    for axes, count in ((without, 10), (with_cache, 4)):
        assert axes.get_title(loc="left").endswith(f": {count}")
        squares = [p for p in axes.patches if isinstance(p, Rectangle)]
        assert [square.get_xy() for square in squares] == [
            (position, step) for step in range(4) for position in range(step + 1)
        ]
        fresh = [square for square in squares if to_hex(square.get_facecolor()) == COMPUTED]
        assert len(fresh) == count
        assert sum(text.get_text() == "•" for text in axes.texts) == count  # not by colour alone
    kept = {p.get_xy() for p in with_cache.patches if to_hex(p.get_facecolor()) == KEPT}
    assert kept == {(p, s) for s in range(4) for p in range(s)}


def test_scores_by_beam_have_a_mark_for_each_seed() -> None:
    kinds = {"α = 0": [[1.0, 2.0], [3.0, 6.0]], "α = 0.6": [[0.5, 0.7], [0.7, 0.9]]}
    figure = figures.scores_by_beam([1, 4], {"right": kinds, "tokens": kinds})
    for axes, title in zip(figure.axes, ("right", "tokens"), strict=True):
        assert axes.get_title(loc="left") == title
        lines = [[float(y) for y in line.get_ydata()] for line in axes.lines]
        assert lines[:3] == [[1, 2], [3, 6], [2, 4]]
        assert lines[3:5] == [[0.5, 0.7], [0.7, 0.9]]
        assert lines[5] == pytest.approx([0.6, 0.8])
        assert {line.get_marker() for line in axes.lines[:2]} == {"o"}
        assert {line.get_marker() for line in axes.lines[3:5]} == {"s"}
    across = figure.axes[1].lines[2].get_xdata()
    assert np.allclose(np.asarray(across, float), [1, 4], rtol=0.05)
    assert [label.get_text() for label in figure.axes[1].get_xticklabels()] == ["1", "4"]


def test_ratio_by_length_draws_the_median_of_the_seeds() -> None:
    seeds = [[1.0, 4.0], [2.0, 8.0], [9.0, 9.0]]
    axes = figures.ratio_by_length([16, 32], seeds, "times").axes[0]
    drawn = [list(line.get_ydata()) for line in axes.lines]
    assert drawn == [*seeds, [2.0, 8.0], [1, 1]]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "linear")
    assert axes.get_ylim()[0] == 0
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("tokens written", "times")


def test_the_beam_explorer_keeps_its_state_and_a_fixed_text() -> None:
    first, second = figures.BeamExplorer([TREE]), figures.BeamExplorer([TREE])
    assert repr(first) == repr(second) == "Interactive figure: beam search as a tree, 1 sentence"
    assert repr(figures.BeamExplorer([TREE, TREE])).endswith("2 sentences")
    state = figures.BeamExplorer([TREE], 3, 1.0, 2).get_state()
    assert (state["beam"], state["alpha"], state["step"], state["tree"]) == (3, 1.0, 2, 0)
    (tree,) = state["trees"]
    assert (tree["name"], tree["right"], tree["max_len"]) == ("tiny", "oui", 2)
    assert tree["branches"][""] == [["▁oui", -0.1], ["▁non", -2.5]]
    assert tree["branches"]["▁oui"] == [["</s>", -0.2], ["▁oui", -1.7]]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"trees": []}, "trees is empty"),
        ({"trees": [TREE | {"branches": {"▁oui": {}}}]}, "branches of 'tiny' must hold the empty"),
        ({"trees": [TREE], "beam": 0}, r"beam \(0\) must be from 1 to 5"),
        ({"trees": [TREE], "beam": 6}, r"beam \(6\) must be from 1 to 5"),
        ({"trees": [TREE], "alpha": -0.1}, r"alpha \(-0.1\) must be from 0 to 2"),
        ({"trees": [TREE], "alpha": 2.1}, r"alpha \(2.1\) must be from 0 to 2"),
        ({"trees": [TREE], "step": -1}, r"step \(-1\) must be 0 or more"),
    ],
)
def test_the_beam_explorer_refuses_what_it_cannot_draw(
    arguments: dict[str, object], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        figures.BeamExplorer(**arguments)  # type: ignore[arg-type]


def test_the_sampling_explorer_keeps_its_state_and_a_fixed_text() -> None:
    first, second = (figures.SamplingExplorer([0.0, -1.0], ["▁le"]) for _ in range(2))
    assert (
        repr(first)
        == repr(second)
        == "Interactive figure: temperature, top-k and top-p over 2 tokens"
    )
    state = figures.SamplingExplorer([0.0, -1.0], ["▁le"], "je …", 0.5, 3, 0.9).get_state()
    assert (state["logits"], state["pieces"], state["context"]) == ([0.0, -1.0], ["▁le"], "je …")
    assert (state["temperature"], state["top_k"], state["top_p"]) == (0.5, 3, 0.9)
    assert state["seed"] == 0


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"logits": [0.0]}, r"logits \(1 numbers\) must be 2 or more"),
        ({"logits": [0.0, 1.0]}, "must not rise"),
        ({"pieces": []}, r"pieces \(0\) must be 1 or more"),
        ({"pieces": ["a", "b", "c"]}, r"no more than logits \(2\)"),
        ({"temperature": 0.05}, r"temperature \(0.05\) must be from 0.1 to 3"),
        ({"temperature": 3.1}, r"temperature \(3.1\) must be from 0.1 to 3"),
        ({"top_k": -1}, r"top_k \(-1\) must be 0, for all, or more"),
        ({"top_p": 0.0}, r"top_p \(0.0\) must be above 0 and at most 1"),
        ({"top_p": 1.1}, r"top_p \(1.1\) must be above 0 and at most 1"),
    ],
)
def test_the_sampling_explorer_refuses_what_it_cannot_draw(
    changes: dict[str, object], words: str
) -> None:
    arguments = {"logits": [0.0, -1.0], "pieces": ["▁le"]} | changes
    with pytest.raises(ValueError, match=words):
        figures.SamplingExplorer(**arguments)  # type: ignore[arg-type]


def test_the_heads_of_a_steps_columns_stand_apart() -> None:
    words = ["a", "am", "i", "thanks", "student", "</s>"]
    figure = figures.beam_flow(words, ["i am"], [[-1.0] * 6], [(0, 0)], [(0, 5)])
    renderer = FigureCanvasAgg(figure).get_renderer()
    boxes = {text.get_text(): text.get_window_extent(renderer) for text in figure.axes[0].texts}
    gaps = [boxes[right].x0 - boxes[left].x1 for left, right in pairwise(words)]
    assert min(gaps) > 0.04 * figure.dpi  # inches
