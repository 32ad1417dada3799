"""The figures of chapter 12: masks, sums and reach are the package's, numbers as given, the widget's state."""

from __future__ import annotations

import itertools
from typing import Any

import matplotlib as mpl

mpl.use("agg")

import numpy as np
import pytest
import torch
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle
from matplotlib.text import Text

from transformer_course import figures
from transformer_course.attention import scaled_dot_product_attention
from transformer_course.long_context import global_mask, local_mask, reach, strided_mask

QUERY = [2.0, 0, 0, 0]
KEYS = [[0.0, 1, 0, 0], [1, 0, 0, 1], [3, 0, 1, 0], [0, 0, 0, 0], [2, 0, 0, 0], [1, 0, 0, 0]]
VALUES = [[1.0, 0], [0, 1], [2, 1], [1, 3], [0, 2], [3, 0]]


def texts(axes: Axes) -> list[str]:
    """All that is written."""
    return [text.get_text() for text in axes.texts]


def overlapping(figure: Figure) -> list[tuple[str, str]]:
    """Pairs of texts that lie on each other, in the drawn figure."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    written = [text for axes in figure.axes for text in axes.texts if text.get_text()]
    boxes = [(t.get_text(), Text.get_window_extent(t, canvas.get_renderer())) for t in written]
    pairs = itertools.combinations(boxes, 2)
    return [(one, other) for (one, a), (other, b) in pairs if a.overlaps(b)]


def beyond_the_edge(figure: Figure) -> list[str]:
    """Texts that the edge of the figure cuts."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    written = [text for axes in figure.axes for text in axes.texts if text.get_text()]
    boxes = [(t.get_text(), Text.get_window_extent(t, canvas.get_renderer())) for t in written]
    return [t for t, box in boxes if box.x0 < 0 or box.x1 > figure.bbox.x1 or box.y0 < 0]


def written_numbers(axes: Axes) -> list[float]:
    """Numbers in squares, in the order in which they are drawn."""
    found = []
    for text in texts(axes):
        try:
            found.append(float(text))
        except ValueError:
            continue
    return found


@pytest.mark.parametrize("block", [2, 3, 6])
def test_running_softmax_ends_with_the_output_of_attention(block: int) -> None:
    figure = figures.running_softmax_flow(QUERY, KEYS, VALUES, block)
    q, k, v = (torch.tensor(x)[None] for x in ([QUERY], KEYS, VALUES))
    output, _ = scaled_dot_product_attention(q, k, v)
    axes = figure.axes[0]
    assert written_numbers(axes)[-2:] == pytest.approx(output[0, 0].tolist(), abs=0.006)
    assert [t for t in texts(axes) if t.startswith("block")] == [
        f"block {i + 1}" for i in range(6 // block)
    ]
    assert {"query (4)", "keys\n(6, 4)", "values\n(6, 2)", f"scores ({block})"} <= set(texts(axes))
    assert "output (2)" in texts(axes)


def test_running_softmax_shows_highest_scores_shares_and_factors() -> None:
    figure = figures.running_softmax_flow(QUERY, KEYS, VALUES, 2)
    axes = figure.axes[0]
    factors = [text.split("\n")[0] for text in texts(axes) if text.startswith("× ")]
    assert factors == ["× .14", "× 1.00"]  # exp(1 - 3), exp(3 - 3)
    exact = [1 + np.exp(-1)]
    exact.append(exact[0] * np.exp(-2) + 1 + np.exp(-3))
    exact.append(exact[1] + np.exp(-1) + np.exp(-2))
    for total in exact:
        assert f"{total:.2f}" in texts(axes)
    assert overlapping(figure) == []
    assert beyond_the_edge(figure) == []


@pytest.mark.parametrize(
    ("keys", "values", "block", "words"),
    [
        (KEYS, VALUES, 1, r"block \(1\) must be 2 or more and divide the keys \(6\)"),
        (KEYS, VALUES, 4, r"block \(4\) must be 2 or more and divide the keys \(6\)"),
        (VALUES, VALUES, 2, r"keys \(6, 2\) must be \(k_len, 4\), values \(6, 2\)"),
        (KEYS, VALUES[:4], 2, r"keys \(6, 4\) must be \(k_len, 4\), values \(4, 2\)"),
    ],
)
def test_running_softmax_refuses_what_does_not_fit(
    keys: list[list[float]], values: list[list[float]], block: int, words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        figures.running_softmax_flow(QUERY, keys, values, block)


def known_nodes(axes: Axes) -> list[tuple[float, float]]:
    """Where the filled circles are."""
    found = [p for p in axes.patches if isinstance(p, Circle)]
    return [tuple(p.center) for p in found if to_hex(p.get_facecolor()) == figures.QUERY]


@pytest.mark.parametrize(("length", "memory", "layers"), [(4, 4, 3), (4, 2, 2), (3, 7, 2)])
def test_segments_reach_what_their_masks_reach(length: int, memory: int, layers: int) -> None:
    figure = figures.segment_flow(length, memory, 4, layers)
    n = 4 * length
    expected = []
    for kept in (0, memory):
        seen = torch.zeros(n, n, dtype=torch.bool)
        for i, j in itertools.product(range(n), repeat=2):
            start = i - i % length
            seen[i, j] = max(0, start - kept) <= j <= i
        expected += [int(reach([seen] * (k + 1))[-1].sum()) for k in range(layers)]
    axes = figure.axes[0]
    assert [t for t in texts(axes) if t.endswith(" tokens") and t[0].isdigit()] == [
        f"{count} tokens" for count in expected
    ]
    rows = sorted({y for _, y in known_nodes(axes)})
    counts = [sum(y == row for _, y in known_nodes(axes)) for row in rows]
    tokens_row = (0, layers + 1)  # uppermost of each panel: all that the last token knows of
    assert [counts[row] for row in tokens_row] == [expected[layers - 1], expected[-1]]
    assert overlapping(figure) == []
    assert beyond_the_edge(figure) == []


def test_only_memory_is_dashed() -> None:
    axes = figures.segment_flow(2, 2, 3, 2).axes[0]
    dashed = [line for line in axes.lines if to_hex(line.get_color()) == figures.KEY]
    solid = [line for line in axes.lines if to_hex(line.get_color()) == figures.QUERY]
    assert all(line.get_linestyle() == "--" for line in dashed)
    assert all(line.get_linestyle() == "-" for line in solid)
    # By hand. Alone: 2 ways to the last token, 3 below it. With memory: 2 + 2, below 2 · 3 + 2 · 4.
    assert (len(dashed), len(solid)) == (2 + 8 + 1, (2 + 3) + (2 + 6) + 1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"length": 0}, r"length \(0\) must be 1 or more"),
        ({"memory": 0}, r"memory \(0\) must be 1 or more"),
        ({"n_segments": 1}, r"n_segments \(1\) must be 2 or more"),
        ({"n_layers": 0}, r"n_layers \(0\) must be 1 or more"),
        ({"length": 7, "n_segments": 3}, r"length · n_segments \(21\) must be 20 or less"),
    ],
)
def test_segments_refuse_what_cannot_be_drawn(arguments: dict[str, int], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        figures.segment_flow(**arguments)


@pytest.mark.parametrize("causal", [True, False])
def test_patterns_are_the_packages_and_dots_mark_what_is_added(causal: bool) -> None:
    figure = figures.attention_patterns(12, 3, 4, 2, causal)
    local, strided = local_mask(12, 3, causal), strided_mask(12, 4, causal)
    first = global_mask(12, 2, causal)
    wanted = [local_mask(12, 12, causal), local, strided, local | strided, local | first]
    for axes, mask in zip(figure.axes, wanted, strict=False):
        open_ones = [p for p in axes.patches if isinstance(p, Rectangle) and not p.get_hatch()]
        found = {(int(p.get_y()), int(p.get_x())) for p in open_ones}
        assert found == {tuple(place) for place in mask[0, 0].nonzero().tolist()}
        assert axes.get_xlabel().startswith(f"{int(mask.sum())} pairs\n")
    for axes, added in zip(figure.axes[3:], (strided & ~local, first & ~local), strict=False):
        dots = {(round(y - 0.5), round(x - 0.5)) for x, y in axes.lines[0].get_xydata()}
        assert dots == {tuple(place) for place in added[0, 0].nonzero().tolist()}
    assert all(len(axes.lines[0].get_xdata()) == 0 for axes in figure.axes[:3])


def test_patterns_say_how_many_layers_reach_all() -> None:
    def steps(**arguments: Any) -> list[str]:
        panels = figures.attention_patterns(10, **arguments).axes[:5]
        return [axes.get_xlabel().split("\n")[1].removesuffix(" to reach all") for axes in panels]

    never = "some pairs never meet"
    # A window of 4 goes 3 back in a layer: 3 layers for 9. A causal global token sees itself only.
    assert steps() == ["1 layer", "3 layers", never, "2 layers", "3 layers"]
    assert steps(causal=False) == ["1 layer", "3 layers", never, "2 layers", "2 layers"]
    assert steps(window=1, stride=1) == ["1 layer", never, "1 layer", "1 layer", never]


@pytest.mark.parametrize("length", [1, 33])
def test_patterns_refuse_too_few_or_too_many_tokens(length: int) -> None:
    with pytest.raises(ValueError, match=rf"length \({length}\) must be from 2 to 32"):
        figures.attention_patterns(length)


def test_patterns_refuse_a_window_without_tokens() -> None:
    with pytest.raises(ValueError, match=r"window \(0\) must be 1 or more"):
        figures.attention_patterns(window=0)


DISTANCES = [8, 32, 128]
SYSTEMS = {
    "full": [[99.0, 95, 90], [97, 93, 86]],
    "window": [[98.0, 40, 33], [98, 42, 35]],
    "memory": [[98.0, 90, 34], [96, 92, 32]],
    "local + strided": [[99.0, 92, 84], [99, 90, 80]],
}


def means_of(axes: Axes) -> list[list[float]]:
    """The heights of the thick lines."""
    return [line.get_ydata().tolist() for line in axes.lines if line.get_linewidth() == 2.2]


def test_accuracy_by_distance_draws_seeds_means_and_edges() -> None:
    figure = figures.accuracy_by_distance(DISTANCES, SYSTEMS, window=48, chance=33)
    axes = figure.axes[0]
    assert means_of(axes) == [np.mean(seeds, 0).tolist() for seeds in SYSTEMS.values()]
    thin = [line.get_ydata() for line in axes.lines if line.get_linewidth() == 0.9]
    assert [list(y) for y in thin] == [s for seeds in SYSTEMS.values() for s in seeds]
    marks = [line.get_marker() for line in axes.lines if line.get_linewidth() == 2.2]
    assert len(set(marks)) == 4
    assert set(texts(axes)) == {*SYSTEMS, "guessing", "window ends"}
    edges = [line for line in axes.lines if list(line.get_xdata()) == [48, 48]]
    assert len(edges) == 1
    assert [t.get_text() for t in axes.get_xticklabels()] == ["8", "32", "128"]
    assert "each of 2 seeds" in axes.get_ylabel()
    assert overlapping(figure) == []
    assert beyond_the_edge(figure) == []


def test_accuracy_needs_no_window_and_no_chance() -> None:
    one = {"full": [[99.0, 95, 90]]}
    axes = figures.accuracy_by_distance(DISTANCES, one, label="right", xlabel="sentences").axes[0]
    assert texts(axes) == ["full"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("sentences", "right\n(one seed)")


POSITIONS = [8.0, 16, 32, 64, 128, 256]
SCHEMES = {
    name: [[2.0, 1.5, 1.2, far, 2 * far, 3 * far]]
    for name, far in zip("abcdefg", (1.2, 1.21, 1.22, 1.3, 2.0, 4.0, 9.0), strict=True)
}


@pytest.mark.parametrize("highest", [None, 6.0])
def test_loss_by_position_marks_the_training_and_names_seven_schemes(
    highest: float | None,
) -> None:
    figure = figures.loss_by_position(POSITIONS, SCHEMES, trained=32, highest=highest)
    axes = figure.axes[0]
    assert means_of(axes) == [seeds[0] for seeds in SCHEMES.values()]
    beyond = {"e": " ↑" * (2.0 * 3 > 6), "f": " ↑", "g": " ↑"} if highest else {}
    names = {name + beyond.get(name, "") for name in SCHEMES}
    assert set(texts(axes)) == names | {"training ends"}
    assert [t.get_text() for t in axes.get_xticklabels()] == ["8", "16", "32", "64", "128", "256"]
    assert axes.get_ylim() == (0, highest or 27 * 1.05)
    heights = {t.get_text()[0]: t.get_position()[1] for t in axes.texts if len(t.get_text()) < 4}
    order = [heights[name] for name in SCHEMES]
    assert order == sorted(order)  # names stand in the order of the ends
    assert overlapping(figure) == []
    assert beyond_the_edge(figure) == []


def test_time_and_memory_leaves_out_what_was_not_measured() -> None:
    lengths = [512, 1024, 2048]
    seconds: dict[str, list[float | None]] = {"full": [1, 4, None], "local": [1.5, 3, 6]}
    mebibytes: dict[str, list[float | None]] = {"full": [2, 8, None], "local": [3, 6, 12]}
    figure = figures.time_and_memory(lengths, seconds, mebibytes)
    for axes, kinds in zip(figure.axes, (seconds, mebibytes), strict=True):
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
        for found, values in zip(means_of(axes), kinds.values(), strict=True):
            assert [None if np.isnan(y) else y for y in found] == values
        ends = {text.get_text(): text.xy[0] for text in axes.texts}
        assert ends["full"] < ends["local"]  # the line to the name begins where the curve ends
    assert [t.get_text() for t in figure.axes[1].get_xticklabels()] == ["512", "1k", "2k"]
    assert overlapping(figure) == []
    assert beyond_the_edge(figure) == []


@pytest.mark.parametrize("draw", ["accuracy_by_distance", "loss_by_position", "time_and_memory"])
def test_lines_refuse_what_does_not_fit(draw: str) -> None:
    def call(curves: dict[str, Any]) -> None:
        if draw == "time_and_memory":
            figures.time_and_memory([1, 2], {n: c[0] for n, c in curves.items()}, {})
        elif draw == "loss_by_position":
            figures.loss_by_position([1, 2], curves, trained=1)
        else:
            figures.accuracy_by_distance([1, 2], curves)

    of_all = {"accuracy_by_distance": "systems", "loss_by_position": "schemes"}.get(draw, "kinds")
    with pytest.raises(ValueError, match=rf"{of_all} \(8\) must be 7 or fewer"):
        call({str(i): [[1.0, 2.0]] for i in range(8)})
    with pytest.raises(ValueError, match=rf"{of_all}\['a'\] has 3 values for 2 places"):
        call({"a": [[1.0, 2.0, 3.0]]})


def test_what_was_never_measured_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"kinds\['full'\] must have a number at one place or more"
    ):
        figures.time_and_memory([1, 2], {"full": [None, None]}, {})


def test_the_explorer_keeps_its_state_and_a_fixed_text() -> None:
    said = "Interactive figure: 5 patterns of attention, their reach and their cost"
    assert repr(figures.ContextExplorer()) == repr(figures.ContextExplorer("full")) == said
    given = {
        "pattern": "local + global", "causal": False, "length": 8, "span": 2, "depth": 5, "token": 0,
        "long_length": 1024, "long_span": 32, "layers": 12, "d_model": 256, "heads": 4,
        "key_heads": 2, "bytes_per_number": 2,
    }  # fmt: skip
    state = figures.ContextExplorer(**given).get_state()
    assert {name: state[name] for name in given} == given


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            {"pattern": "sparse"},
            "pattern ('sparse') must be one of full, local, strided, local + strided, local + global",
        ),
        ({"length": 33}, "length (33) must be from 4 to 32"),
        ({"span": 0}, "span (0) must be from 1 to 16"),
        ({"depth": 9}, "depth (9) must be from 1 to 8"),
        ({"token": 24}, "token (24) must be from 0 to 23"),
        ({"token": -1}, "token (-1) must be from 0 to 23"),
        ({"layers": 5}, "layers (5) must be one of 1, 2, 4, 6, 12, 24, 32, 48, 80"),
        ({"bytes_per_number": 8}, "bytes_per_number (8) must be one of 4, 2, 1"),
        ({"heads": 2}, "key_heads (8) must be at most heads (2)"),
    ],
)
def test_the_explorer_refuses_what_it_cannot_show(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError) as error:  # noqa: PT011 - compared in full below
        figures.ContextExplorer(**arguments)
    assert str(error.value) == words
