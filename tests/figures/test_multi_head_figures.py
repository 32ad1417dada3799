"""The figures of chapter 04: numbers that are drawn as given, and the state of the explorer of heads."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl

mpl.use("agg")

import numpy as np
import pytest
import torch
from matplotlib.colors import to_hex
from matplotlib.patches import FancyArrowPatch, Rectangle

from transformer_course import figures
from transformer_course.translator import AttentionMaps

SRC, TGT, LAYERS, HEADS = 5, 3, 2, 7
KINDS = ["encoder, self-attention", "decoder, self-attention", "decoder, cross-attention"]


def reading() -> AttentionMaps:
    """Maps with numbers of their own, of a source of five and a target of three subwords."""
    torch.manual_seed(0)
    sizes = {
        "encoder_layers.{}.self_attention": (SRC, SRC),
        "decoder_layers.{}.self_attention": (TGT, TGT),
        "decoder_layers.{}.cross_attention": (TGT, SRC),
    }
    maps = {
        name.format(layer): torch.rand(HEADS, *size).softmax(-1)
        for layer in range(LAYERS)
        for name, size in sizes.items()
    }
    return AttentionMaps(["▁a", "▁s", "mall", "▁cat", "</s>"], ["<s>", "▁un", "▁chat"], maps)


def test_head_links_writes_every_weight_and_draws_a_line_for_it() -> None:
    looks = {"one": [0.5, 0.2, 0.3, 0.0], "two": [0.1, 0.6, 0.1, 0.2]}
    figure = figures.head_links(["a", "b", "c", "d"], 1, looks)
    for axes, (name, weights) in zip(figure.axes, looks.items(), strict=True):
        assert axes.get_title(loc="left") == name
        numbers = [t.get_text() for t in axes.texts if t.get_text()[0].isdigit()]
        assert numbers == [f"{weight:.2f}" for weight in weights]
        lines = [p for p in axes.patches if isinstance(p, FancyArrowPatch)]
        widths = [line.get_linewidth() for line in lines]
        drawn = [w for w in weights if w > 0]
        assert len(lines) == len(drawn)  # its own weight, too: a loop
        assert np.argsort(widths).tolist() == np.argsort(drawn).tolist()
    blue = [t.get_text() for t in figure.axes[0].texts if t.get_color() == figures.QUERY]
    assert blue == ["b"]


def test_reshape_grids_keeps_every_number_and_the_colour_of_its_column() -> None:
    x = np.arange(12).reshape(3, 4)
    cut, mixed = x.reshape(3, 2, 2).swapaxes(0, 1), x.reshape(2, 3, 2)
    axes = figures.reshape_grids(x, cut, mixed, ["a", "b", "c"]).axes[0]
    squares = [p for p in axes.patches if isinstance(p, Rectangle)]
    shown = {
        (p.get_x(), p.get_y()): to_hex(p.get_facecolor())  # type: ignore[attr-defined]
        for p in squares
    }
    numbers = [t for t in axes.texts if t.get_text().isdigit()]
    assert len(squares) == len(numbers) == 36
    for text in numbers:
        left, top = text.xy  # type: ignore[attr-defined]
        column = int(text.get_text()) % 4
        assert shown[left - 0.5, top - 0.5] == figures.HEADS[column // 2]
    third = [int(t.get_text()) for t in numbers if t.xy[0] > 12]  # type: ignore[attr-defined]
    assert third == list(range(12))  # view alone: nothing has moved


def test_head_maps_shows_each_head_with_its_words() -> None:
    maps = np.random.default_rng(0).random((3, 2, 4))
    figure = figures.head_maps(maps, ["q", "r"], ["k", "l", "m", "n"])
    assert [axes.get_title() for axes in figure.axes] == ["head 1", "head 2", "head 3", ""]
    for axes, grid in zip(figure.axes, maps, strict=False):
        assert np.array_equal(axes.images[0].get_array(), grid)
        assert [t.get_text() for t in axes.get_yticklabels()] == ["q", "r"]
        assert [t.get_text() for t in axes.get_xticklabels()] == ["k", "l", "m", "n"]


def test_head_curves_draws_mean_and_range_of_the_seeds() -> None:
    curves = {"1 head": [[3.0, 1.0], [4.0, 2.0]], "2 heads": [[2.0, 0.5], [2.5, 0.7]]}
    axes = figures.head_curves([10, 20], curves).axes[0]
    drawn = [list(line.get_ydata()) for line in axes.lines]
    assert drawn == [[3.5, 1.5], [2.25, 0.6]]
    bands = [path.get_paths()[0].vertices[:, 1] for path in axes.collections]
    assert [(band.min(), band.max()) for band in bands] == [(1.0, 4.0), (0.5, 2.5)]
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == list(curves)


def test_head_removals_draws_a_dot_for_each_seed() -> None:
    losses = {"whole": {"2 heads": [0.1, 0.2], "8 heads": [0.3, 0.15]}}
    losses["changed"] = {"2 heads": [0.5, 0.4], "8 heads": [0.9, 0.8]}
    axes = figures.head_removals(losses).axes[0]
    dots = [line for line in axes.lines if len(line.get_xdata()) == 2 and line.get_marker() != ""]
    drawn = [list(line.get_xdata()) for line in dots if line.get_marker() not in ("", "None")]
    assert drawn == [seeds for found in losses.values() for seeds in found.values()]
    assert [t.get_text().strip() for t in axes.texts] == ["whole", "changed"]


def test_explorer_stores_words_and_weights_of_every_head() -> None:
    given = reading()
    figure = figures.HeadExplorer([given, given], sentence=1, kind=2, layer=1, head=6, word=2)
    state: dict[str, Any] = figure.get_state()
    chosen = [state[name] for name in ("sentence", "kind", "layer", "head", "word")]
    assert chosen == [1, 2, 1, 6, 2]
    stored = state["sentences"][0]
    assert stored["title"] == "a s mall cat"
    source, written = ["a", "s", "mall", "cat", "</s>"], ["un", "chat", "</s>"]
    words = [(source, source), (written, ["<s>", "un", "chat"]), (written, source)]
    assert [kind["name"] for kind in stored["kinds"]] == KINDS
    names = [name.split(".")[0] + "." + name.split(".")[2] for name in given.maps][:3]
    for kind, name, (rows, columns) in zip(stored["kinds"], names, words, strict=True):
        assert (kind["rows"], kind["columns"]) == (rows, columns)
        for layer, maps in enumerate(kind["layers"]):
            expected = given.maps[name.replace(".", f".{layer}.")]
            assert np.allclose(maps, expected, atol=5.1e-4)
        assert len(kind["layers"]) == LAYERS
    assert "export default { render }" in state["_esm"]


def test_explorer_has_a_fixed_text() -> None:
    one, two = figures.HeadExplorer([reading()]), figures.HeadExplorer([reading()] * 2, head=1)
    assert repr(one) == "Interactive figure: 1 sentence in 2 + 2 + 2 layers of 7 heads"
    assert repr(two) == "Interactive figure: 2 sentences in 2 + 2 + 2 layers of 7 heads"


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ({"sentence": 1}, r"sentence \(1\) must be from 0 to 0"),
        ({"kind": 3}, r"kind \(3\) must be from 0 to 2"),
        ({"layer": 2}, r"layer \(2\) must be from 0 to 1"),
        ({"head": 7}, r"head \(7\) must be from 0 to 6"),
        ({"word": 5}, r"word \(5\) must be from 0 to 4"),
        ({"kind": 1, "word": 3}, r"word \(3\) must be from 0 to 2"),
        ({"head": -1}, r"head \(-1\) must be from 0 to 6"),
    ],
)
def test_explorer_refuses_what_there_is_not(choice: dict[str, int], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        figures.HeadExplorer([reading()], **choice)


def test_explorer_refuses_no_sentence() -> None:
    with pytest.raises(ValueError, match="readings is empty; there must be at least one sentence"):
        figures.HeadExplorer([])
