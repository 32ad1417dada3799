"""The figures of chapter 03: masks drawn as given, leaks marked, the interactive figure's state."""

import inspect
from pathlib import Path

import matplotlib as mpl

mpl.use("agg")

import numpy as np
import pytest
import torch
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from transformer_course import figures
from transformer_course.figures import mask_explorer
from transformer_course.masking import causal_mask

FOLDER = Path(inspect.getfile(figures)).parent


def squares(axes: mpl.axes.Axes) -> dict[tuple[int, int], Rectangle]:
    """The square at each (row, column)."""
    found = [p for p in axes.patches if isinstance(p, Rectangle)]
    return {(int(p.get_y()), int(p.get_x())): p for p in found}


def test_mask_grids_hatches_what_is_hidden() -> None:
    cross = np.array([[True, True, False], [True, True, False]])
    masks = {"decoder": causal_mask(3)[0, 0], "cross": cross}
    figure = figures.mask_grids(masks, ["abc", "de"], ["abc", "xyz"])
    for axes, mask, rows, columns in zip(
        figure.axes, masks.values(), ("abc", "de"), ("abc", "xyz"), strict=True
    ):
        drawn = squares(axes)
        assert set(drawn) == set(np.ndindex(len(rows), len(columns)))
        for place, square in drawn.items():
            assert bool(square.get_hatch()) == (not mask[place])
        assert [label.get_text() for label in axes.get_yticklabels()] == list(rows)
        assert [label.get_text() for label in axes.get_xticklabels()] == list(columns)
        assert axes.get_ylim() == (len(rows), 0)  # the first query on top
    assert [axes.texts[0].get_text() for axes in figure.axes] == ["decoder", "cross"]


def test_mask_grids_marks_leaks_wherever_they_are() -> None:
    leaks = [(0, 1), (1, 2)]
    figure = figures.mask_grids({"": causal_mask(3)[0, 0]}, ["abc"], ["abc"], [leaks])
    axes = figure.axes[0]
    marks = {tuple(t.get_position()) for t in axes.texts if t.get_text() == "!"}
    assert marks == {(column + 0.5, row + 0.5) for row, column in leaks}
    red = {place for place, s in squares(axes).items() if to_hex(s.get_facecolor()) == "#d55e00"}
    assert red == set(leaks)


def test_mask_grids_refuses_names_that_do_not_fit() -> None:
    words = r"mask 'x' must have a row for each of the 2 queries.*the 3 keys, got \(3, 3\)"
    with pytest.raises(ValueError, match=words):
        figures.mask_grids({"x": np.ones((3, 3))}, ["ab"], ["abc"])


def test_short_names_of_a_single_mask_are_not_turned() -> None:
    names = ["I", "have"]
    for count, turned in ((1, 0), (2, 90)):
        masks = {str(i): np.ones((2, 2)) for i in range(count)}
        axes = figures.mask_grids(masks, [names] * count, [names] * count).axes[0]
        assert {label.get_rotation() for label in axes.get_xticklabels()} == {turned}


def test_exam_bars_are_as_high_as_the_scores() -> None:
    figure = figures.exam_bars({"with": (0.8, 0.75), "without": (1.0, 0.25)}, best=0.83)
    axes = figure.axes[0]
    bars = sorted((p.get_x(), p.get_height()) for p in axes.patches if isinstance(p, Rectangle))
    assert [height for _, height in bars] == [0.8, 0.75, 1.0, 0.25]
    assert {"80 %", "75 %", "100 %", "25 %"} <= {t.get_text() for t in axes.texts}
    names = [label.get_text() for label in axes.get_xticklabels()]
    assert names == ["in training", "in use"] * 2
    assert axes.lines[0].get_ydata()[0] == 0.83
    assert any("on average" in text.get_text() for text in axes.texts)  # a sample may lie above it


def test_the_explorer_keeps_its_state_and_a_fixed_text() -> None:
    first, second = figures.MaskExplorer(), figures.MaskExplorer()
    assert repr(first) == repr(second) == "Interactive figure: the masks of a batch of 3 sentences"
    state = figures.MaskExplorer("cross", padding=False, causal=False, sentence=2).get_state()
    assert (state["place"], state["padding"], state["causal"]) == ("cross", False, False)
    assert (state["inverted"], state["left"], state["safe"]) == (False, False, False)
    assert state["sentence"] == 2
    assert state["sources"] == [list(words) for words in mask_explorer.SOURCES]
    assert state["targets"] == [list(words) for words in mask_explorer.TARGETS]
    for word, (query, key) in mask_explorer.VECTORS.items():
        assert state["vectors"][word] == [list(query), list(key)]


def test_every_word_of_the_explorer_has_its_vectors() -> None:
    words = {word for row in (*mask_explorer.SOURCES, *mask_explorer.TARGETS) for word in row}
    assert words | {mask_explorer.PAD} == set(mask_explorer.VECTORS)
    assert next(iter(mask_explorer.VECTORS)) == mask_explorer.PAD  # so that its id is 0
    assert torch.tensor(list(mask_explorer.VECTORS.values())).shape == (len(words) + 1, 2, 2)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"place": "middle"}, "place ('middle') must be one of encoder, cross, decoder"),
        ({"sentence": 3}, "sentence (3) must be from 0 to 2"),
        ({"sentence": -1}, "sentence (-1) must be from 0 to 2"),
    ],
)
def test_the_explorer_refuses_what_it_cannot_draw(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError) as error:  # noqa: PT011 - compared in full below
        figures.MaskExplorer(**arguments)  # type: ignore[arg-type]
    assert str(error.value) == words
