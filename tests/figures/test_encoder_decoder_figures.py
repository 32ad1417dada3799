"""The figures of chapter 06: numbers that are drawn as given, and the state of the map of the model."""

from __future__ import annotations

import re
from dataclasses import replace

import matplotlib as mpl

mpl.use("agg")

import numpy as np
import pytest
from matplotlib.patches import FancyBboxPatch, Rectangle

from transformer_course import figures
from transformer_course.encoder_decoder import TransformerConfig
from transformer_course.figures.model_map import PARTS
from transformer_course.figures.widget import joined

TINY = TransformerConfig.tiny(100)
PAGES = {"05": "05_positional_encoding", "06": "06_encoder_decoder"}


def test_sub_layers_has_a_box_and_a_plus_for_each_and_one_arrow_from_the_memory() -> None:
    layers = {"one": ["self", "net"], "two": ["self", "cross-\nattention", "net"]}
    figure = figures.sub_layers(layers)
    for axes, (name, parts) in zip(figure.axes, layers.items(), strict=True):
        assert axes.get_title(loc="left") == name
        texts = [text.get_text() for text in axes.texts]
        assert [text for text in texts if text in parts] == parts
        assert texts.count("+") == len(parts)
        boxes = [patch for patch in axes.patches if isinstance(patch, FancyBboxPatch)]
        assert len(boxes) == len(parts)
        assert texts.count("memory") == (name == "two")


def test_stack_losses_draws_every_seed_and_names_each_kind_once() -> None:
    losses = {"a": [[3.0, 2.0], [2.5, 1.0]], "b": [[3.0, 2.9]], "c": [[1.0, 0.1]]}
    axes = figures.stack_losses(losses).axes[0]
    drawn = [list(line.get_ydata()) for line in axes.lines]
    assert drawn == [found for seeds in losses.values() for found in seeds]
    assert all(list(line.get_xdata()) == [1, 2] for line in axes.lines)
    assert len({(line.get_color(), line.get_linestyle()) for line in axes.lines}) == 3
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a", "b", "c"]
    assert axes.get_yscale() == "log"


def test_loss_valleys_draws_the_path_and_counts_its_steps() -> None:
    path = np.array([[1.0, 1.0], [0.5, -0.5], [0.0, 0.1]])
    surfaces = {"narrow": (np.diag([9.0, 1.0]), path), "round": (np.eye(2), path[:2])}
    figure = figures.loss_valleys(surfaces)
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == ["narrow: 2 steps", "round: 1 step"]
    drawn = figure.axes[0].lines[0].get_xydata()
    assert np.asarray(drawn).tolist() == path.tolist()


def test_loss_valleys_are_narrow_where_the_loss_is_steep() -> None:
    path = np.zeros((1, 2))
    (axes,) = figures.loss_valleys({"narrow": (np.diag([9.0, 1.0]), path)}).axes
    lowest = np.concatenate([p.vertices for p in axes.collections[0].get_paths()[:1]])
    wide, high = np.ptp(lowest, axis=0)
    assert high == pytest.approx(3 * wide, rel=0.1)


def test_parameter_bars_are_sorted_and_carry_their_numbers() -> None:
    counts = {"small": 500_000, "large": 4_000_000, "middle": 1_250_000}
    axes = figures.parameter_bars(counts).axes[0]
    widths = [patch.get_width() for patch in axes.patches if isinstance(patch, Rectangle)]
    assert widths == [4.0, 1.25, 0.5]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["large", "middle", "small"]
    assert [text.get_text() for text in axes.texts] == ["4.00", "1.25", "0.50"]


def test_component_losses_are_sorted_and_compared_with_the_first_model() -> None:
    losses = {"whole": [0.1, 0.3], "without": [2.0, 3.0], "better": [0.1, 0.1]}
    axes = figures.component_losses(losses).axes[0]
    line, *rows = axes.lines
    assert line.get_xdata()[0] == pytest.approx(0.2)  # the mean of the first
    assert [label.get_text() for label in axes.get_yticklabels()] == ["better", "whole", "without"]
    bars, dots = rows[::2], rows[1::2]
    assert [list(bar.get_xdata()) for bar in bars] == [
        pytest.approx([0.2, mean]) for mean in (0.1, 0.2, 2.5)
    ]
    assert [list(row.get_xdata()) for row in dots] == [[0.1, 0.1], [0.1, 0.3], [2.0, 3.0]]
    texts = [text.get_text() for text in axes.texts]
    assert texts == ["0.10, 0.5 times", "0.20", "2.50, 12 times"]


def test_component_curves_draw_the_mean_and_the_range_of_the_seeds() -> None:
    axes = figures.component_curves([10, 20], {"a": [[1.0, 0.5], [3.0, 0.7]], "b": [[1.0, 2.0]]})
    axes = axes.axes[0]
    assert [list(line.get_ydata()) for line in axes.lines] == [[2.0, pytest.approx(0.6)], [1, 2]]
    band = axes.collections[0].get_paths()[0].vertices
    assert {tuple(point) for point in band} == {(10, 1.0), (10, 3.0), (20, 0.5), (20, 0.7)}
    assert "2 seeds" in axes.get_ylabel()


def test_feed_forward_flow_shows_every_number_and_leaves_silent_squares_white() -> None:
    vectors = ([2, -1], [3, -4, -2], [3, 0, 0], [5, 6], [7, 8], [9, -9])
    axes = figures.feed_forward_flow(*vectors).axes[0]
    texts = [text.get_text() for text in axes.texts]
    flat = [f"{number}" for vector in vectors for number in vector]
    assert [text for text in texts if text.lstrip("-").isdigit()] == flat
    faces = [patch.get_facecolor() for patch in axes.patches if isinstance(patch, Rectangle)]
    white = [number for number, face in zip(flat, faces, strict=True) if face == (1, 1, 1, 1)]
    assert white == ["0", "0"]
    assert {"token (2)", "inside (3)", "output (2)"} <= set(texts)


def test_the_map_stores_sizes_pages_and_what_is_chosen() -> None:
    sizes = {"tiny": TINY, "post": replace(TINY, norm="post")}
    figure = figures.ModelMap(
        sizes, PAGES, src_len=3, tgt_len=5, size=1, task="training", part="loss"
    )
    assert [size["name"] for size in figure.sizes] == ["tiny", "post"]
    assert figure.sizes[1]["norm"] == "post"
    assert figure.sizes[0]["d_model"] == 128
    assert figure.pages == PAGES
    assert figure.lengths == [3, 5]
    assert (figure.size, figure.task, figure.part) == (1, "training", "loss")
    assert repr(figure) == "Interactive figure: the map of the Transformer, 22 parts"


def test_the_parts_in_python_are_those_of_the_script() -> None:
    found = re.findall(r'^  "?([a-z0-9-]+)"?: \{ at: "', joined("model_map", "js"), re.M)
    assert tuple(found) == PARTS


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"size": 1}, r"size \(1\) must be one of the 1 sizes, counted from 0"),
        ({"size": -1}, r"size \(-1\) must be one of the 1 sizes"),
        ({"task": "resting"}, r"task \('resting'\) must be one of translating, training"),
        ({"part": "engine"}, r"part \('engine'\) must be one of source, encoder-embedding"),
        ({"src_len": 0}, r"src_len \(0\) must be 1 or more"),
        ({"tgt_len": -2}, r"tgt_len \(-2\) must be 1 or more"),
    ],
)
def test_the_map_refuses_what_is_not_there(changes: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        figures.ModelMap({"tiny": TINY}, PAGES, **changes)  # type: ignore[arg-type]
