"""The figures of chapter 11: masks as the package has them, numbers as given, the widget's state."""

from __future__ import annotations

import itertools

import matplotlib as mpl

mpl.use("agg")

import numpy as np
import pytest
import torch
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Rectangle
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from transformer_course import figures
from transformer_course.families import prefix_mask
from transformer_course.figures import family_masks
from transformer_course.masking import causal_mask

SOURCE, TARGET = ["the", "cat", "sleeps"], ["⇒", "le", "chat", "dort"]
SEVEN = [0, 0, 3, 9, 16, 12, 0, 0] * 8


def squares(axes: Axes) -> dict[tuple[int, int], bool]:
    """Whether the square at each (row, column) is open; frames are left out."""
    found = [p for p in axes.patches if isinstance(p, Rectangle) and p.get_facecolor()[3] > 0]
    return {(int(p.get_y()), int(p.get_x())): not p.get_hatch() for p in found}


def texts(axes: Axes) -> list[str]:
    """All that is written."""
    return [text.get_text() for text in axes.texts]


def boxes(figure: Figure) -> list[tuple[str, Bbox]]:
    """Where each text lies in the drawn figure, without the arrow that it may have."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    written = [text for axes in figure.axes for text in axes.texts if text.get_text()]
    return [(t.get_text(), Text.get_window_extent(t, canvas.get_renderer())) for t in written]


def overlapping(figure: Figure) -> list[tuple[str, str]]:
    """Pairs of texts that lie on each other."""
    pairs = itertools.combinations(boxes(figure), 2)
    return [(one, other) for (one, a), (other, b) in pairs if a.overlaps(b)]


def test_four_masks_are_the_packages() -> None:
    figure = figures.four_masks(SOURCE, TARGET)
    both, encoder, decoder, prefix = (squares(axes) for axes in figure.axes)
    every = set(np.ndindex(7, 7))
    assert set(encoder) == set(decoder) == set(prefix) == every
    assert all(encoder.values())
    assert {place for place, seen in decoder.items() if seen} == {
        tuple(place) for place in causal_mask(7)[0, 0].nonzero().tolist()
    }
    prompt = prefix_mask(torch.ones(1, 7, dtype=torch.int64), torch.tensor([4]))[0, 0]
    assert {place for place, seen in prefix.items() if seen} == {
        tuple(place) for place in prompt.nonzero().tolist()
    }
    nowhere = {(row, column) for row, column in every if row < 3 <= column}
    assert set(both) == every - nowhere
    future = {(row, column) for row, column in every if 3 <= row < column}
    assert {place for place, seen in both.items() if not seen} == future
    names = [axes.get_title() for axes in figure.axes]
    assert names == list(family_masks.FAMILIES)
    assert [t.get_text() for t in figure.axes[0].get_xticklabels()] == [*SOURCE, *TARGET]
    assert [t.get_text() for t in figure.axes[2].get_yticklabels()] == [*SOURCE, *TARGET]
    assert overlapping(figure) == []


def test_frames_name_the_attentions_and_the_prompt() -> None:
    figure = figures.four_masks(SOURCE, TARGET)
    frames = {
        text.get_text(): text.xy
        for axes in figure.axes
        for text in axes.texts
        if "such" not in text.get_text()
    }
    middles = {"encoder": (1.5, 1.5), "cross": (1.5, 5), "decoder": (5, 5), "prompt": (2, 2)}
    assert frames == middles
    assert "no such\nattention" in texts(figure.axes[0])


@pytest.mark.parametrize(("source", "target"), [([], ["a"]), (["a"], [])])
def test_four_masks_refuses_an_empty_side(source: list[str], target: list[str]) -> None:
    with pytest.raises(ValueError, match=r"source \(\d tokens\) and target \(\d\) must not be"):
        figures.four_masks(source, target)


LABELS = [16, 64, 256, 1024, 4096]
CURVES = {
    "pre-trained": [[55.0, 80, 92, 96, 98], [57, 82, 94, 97, 99]],
    "from scratch": [[50.0, 52, 60, 80, 97], [52, 54, 64, 84, 98]],
    "bag of words": [[51.0, 51, 50, 52, 51], [50, 50, 52, 51, 53]],
}


def test_learning_from_labels_draws_means_ranges_and_chance() -> None:
    figure = figures.learning_from_labels(LABELS, CURVES, 50)
    axes = figure.axes[0]
    chance, *means = axes.lines
    assert list(chance.get_ydata()) == [50, 50]
    for line, seeds in zip(means, CURVES.values(), strict=True):
        assert list(line.get_xdata()) == LABELS
        assert line.get_ydata().tolist() == np.mean(seeds, 0).tolist()
    for band, seeds in zip(axes.collections, CURVES.values(), strict=True):
        corners = {tuple(point) for point in band.get_paths()[0].vertices}
        assert set(zip(LABELS, np.min(seeds, 0), strict=True)) <= corners
        assert set(zip(LABELS, np.max(seeds, 0), strict=True)) <= corners
    assert axes.get_xscale() == "log"
    assert [t.get_text() for t in axes.get_xticklabels()] == ["16", "64", "256", "1,024", "4,096"]
    assert axes.get_ylim()[0] < 50
    assert "range of 2 seeds" in axes.get_ylabel()
    assert set(texts(axes)) == {*CURVES, "guessing"}


@pytest.mark.parametrize("end", [98.0, 50.0, 75.0])
def test_names_beside_the_curves_do_not_overlap(end: float) -> None:
    """Five curves that end at one place, wherever it is."""
    curves = {f"model {i}": [[60.0, end + i / 10]] for i in range(5)}
    figure = figures.learning_from_labels([16, 64], curves, 50)
    assert overlapping(figure) == []
    inside = figure.axes[0].get_window_extent()
    for _, box in boxes(figure):  # at most half a line above or below the axes
        assert inside.y0 - 12 <= box.y0 < box.y1 <= inside.y1 + 12


def test_learning_from_labels_refuses_what_does_not_fit() -> None:
    with pytest.raises(ValueError, match=r"curves \(6\) must be 5 or fewer"):
        figures.learning_from_labels([1], {str(i): [[1.0]] for i in range(6)}, 50)
    with pytest.raises(ValueError, match=r"curves\['a'\] has 2 values for 1 labels"):
        figures.learning_from_labels([1], {"a": [[1.0, 2.0]]}, 50)


def test_bars_show_means_seeds_and_where_the_axis_starts() -> None:
    values = {"neighbours": [98.0, 99.0, 98.5], "no positions": [90.0, 93.0, 93.0]}
    axes = figures.bars_with_seeds(values, start=85).axes[0]
    bars = [p for p in axes.patches if isinstance(p, Rectangle)]
    assert [p.get_x() + p.get_width() for p in bars] == [98.5, 92.0]
    assert axes.get_xlim()[0] == 85
    assert texts(axes) == ["98.5", "92.0", "the axis starts at 85"]
    dots = [line for line in axes.lines if line.get_marker() == "o"]
    assert [list(line.get_xdata()) for line in dots] == list(values.values())
    assert len(axes.lines) == 2 + 2 * 2  # each bar is cut by two lines
    assert [t.get_text() for t in axes.get_yticklabels()] == list(values)
    assert axes.get_ylim()[0] > axes.get_ylim()[1]  # the first on top
    assert "3 seeds" in axes.get_xlabel()


def test_bars_from_zero_are_whole() -> None:
    axes = figures.bars_with_seeds({"decoder": [1.25, 1.25]}, "bits per character").axes[0]
    assert texts(axes) == ["1.25"]
    assert len(axes.lines) == 1
    assert axes.get_xlabel().startswith("bits per character")


@pytest.mark.parametrize(("values", "start"), [({}, 0.0), ({"a": [85.0, 90.0]}, 85.0)])
def test_bars_refuse_what_would_not_be_seen(values: dict[str, list[float]], start: float) -> None:
    with pytest.raises(ValueError, match=rf"must be one or more, all above start \({start}\)"):
        figures.bars_with_seeds(values, start=start)


def test_written_digits_stand_below_what_was_asked_for() -> None:
    rows = [[0] * 64, [16] * 64, list(range(17)) * 3 + [0] * 13]
    axes = figures.written_digits(rows, [3, 0, 3]).axes[0]
    for image, row, (digit, line) in zip(axes.images, rows, [(3, 0), (0, 0), (3, 1)], strict=True):
        assert image.get_array().flatten().tolist() == row
        left, _, _, top = image.get_extent()
        assert (left, top) == pytest.approx((1.12 * digit, 1.12 * line))
        assert image.get_clim() == (0, 16)
        assert image.cmap(0.0)[:3] == (1.0, 1.0, 1.0)  # 0 is paper
    names = {t.get_text(): t.xy[0] for t in axes.texts if t.get_text().isdigit()}
    assert names == {str(d): pytest.approx(1.12 * d + 0.5) for d in range(10)}


@pytest.mark.parametrize(
    ("rows", "digits", "words"),
    [
        ([[0] * 63], [1], r"rows \(1, 63\) must be 64 levels for each of the 1 digits"),
        ([[0] * 64], [1, 2], r"rows \(1, 64\) must be 64 levels for each of the 2 digits"),
        ([[0] * 64], [10], r"digits \(\[10\]\) must be from 0 to 9"),
    ],
)
def test_written_digits_refuses_what_does_not_fit(
    rows: list[list[int]], digits: list[int], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        figures.written_digits(rows, digits)


@pytest.mark.parametrize("size", [2, 4])
def test_patches_are_those_of_the_vision_transformer(size: int) -> None:
    image = np.arange(64).reshape(8, 8) % 17
    axes = figures.patches_of(image, size).axes[0]
    whole, *parts = (i.get_array() for i in axes.images)
    assert (whole == image).all()
    cut = torch.nn.functional.unfold(torch.tensor(image)[None, None].double(), size, stride=size)
    assert [part.flatten().tolist() for part in parts] == cut[0].T.tolist()
    count = len(parts)
    numbers = [text for text in texts(axes) if text.isdigit()]
    assert numbers == [str(i + 1) for i in range(count) for _ in range(2)]
    assert f"{count} patches,\n{size} × {size} = {size * size} numbers each" in texts(axes)


@pytest.mark.parametrize(("shape", "size"), [((8, 8), 3), ((8, 6), 2), ((4, 4), 0)])
def test_patches_refuse_what_cannot_be_cut(shape: tuple[int, int], size: int) -> None:
    words = rf"image \({shape[0]}, {shape[1]}\) must be a square whose side size \({size}\) divides"
    with pytest.raises(ValueError, match=words):
        figures.patches_of(np.zeros(shape), size)


def flowing(hidden: int = 1, patch_size: int = 4) -> Figure:
    """The way of a sentence and of an image through the stack."""
    image = np.reshape(SEVEN, (8, 8))
    return figures.family_flow(SOURCE, hidden, image, patch_size, "7", 64, 1200)


def test_family_flow_has_the_shapes_of_each_way() -> None:
    axes = flowing().axes[0]
    shapes = [text for text in texts(axes) if text.startswith("(")]
    before, inside = ["(3)", "(3)", "(4, 16)"], ["(3, 64)", "(3, 64)", "(5, 64)"]
    after = ["(3, 1200)", "(3, 1200)", "(10)"]
    assert shapes == [*before, *inside, *inside, *after]
    assert "(17, 64)" in texts(flowing(patch_size=2).axes[0])
    assert overlapping(flowing()) == []


def test_family_flow_hides_guesses_and_marks_what_they_come_from() -> None:
    axes = flowing(hidden=2).axes[0]
    words = texts(axes)
    assert words.count("[MASK]") == 1
    assert (
        words.count("sleeps") == 1 + 1 + 1
    )  # hidden on the way in of the first, its answer; read; guessed
    assert words.count("</s>") == 1
    green = [
        p
        for p in axes.patches
        if isinstance(p, Rectangle) and to_hex(p.get_edgecolor()) == figures.VALUE
    ]
    assert len(green) == 1 + 3 + 1  # the hidden one, every one, the first
    hatched = [p for p in axes.patches if p.get_hatch()]
    assert len([p for p in hatched if isinstance(p, Rectangle)]) == 3  # above the diagonal of 3 × 3
    assert len([p for p in hatched if isinstance(p, FancyBboxPatch)]) == 1


@pytest.mark.parametrize(
    ("tokens", "hidden", "size", "words"),
    [
        (["a"], 0, 2, r"tokens \(1\) must be 2 to 4, hidden \(0\) one of their places"),
        (list("abcde"), 0, 2, r"tokens \(5\) must be 2 to 4"),
        (["a", "b"], 2, 2, r"hidden \(2\) one of their places"),
        (["a", "b"], 0, 3, r"image \(8, 8\) must be a square whose side patch_size \(3\) divides"),
    ],
)
def test_family_flow_refuses_what_it_cannot_draw(
    tokens: list[str], hidden: int, size: int, words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        figures.family_flow(tokens, hidden, np.zeros((8, 8)), size, "7", 64, 1200)


def test_the_interactive_figure_keeps_its_state_and_a_fixed_text() -> None:
    first, second = figures.FamilyMasks(), figures.FamilyMasks()
    said = "Interactive figure: the masks of 4 families over 7 tokens"
    assert repr(first) == repr(second) == said
    state = figures.FamilyMasks("prefix", "hidden", layers=1, spared=True, token=0).get_state()
    assert (state["family"], state["objective"], state["layers"]) == ("prefix", "hidden", 1)
    assert (state["spared"], state["token"]) == (True, 0)
    assert state["tokens"] == [*SOURCE, *TARGET]
    assert (state["start"], state["hidden"], state["end"]) == (3, [1, 5], "</s>")
    assert state["tokens"][state["start"]] == "⇒"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            {"family": "both"},
            "family ('both') must be one of encoder–decoder, encoder only, decoder only, prefix",
        ),
        ({"objective": "all"}, "objective ('all') must be one of next, hidden"),
        ({"layers": 3}, "layers (3) must be 1 or 2"),
        ({"token": 7}, "token (7) must be from 0 to 6"),
        ({"token": -1}, "token (-1) must be from 0 to 6"),
    ],
)
def test_the_interactive_figure_refuses_what_it_cannot_draw(
    arguments: dict[str, object], words: str
) -> None:
    with pytest.raises(ValueError) as error:  # noqa: PT011 - compared in full below
        figures.FamilyMasks(**arguments)  # type: ignore[arg-type]
    assert str(error.value) == words
