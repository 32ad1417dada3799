"""The figures of chapter 05: numbers that are drawn as given, and the state of the circle."""

from __future__ import annotations

import matplotlib as mpl

mpl.use("agg")

import numpy as np
import pytest
from oracles import refuses

from transformer_course import figures
from transformer_course.figures.positional_encoding import SIGNED


def test_position_map_draws_rows_downwards_and_marks_one() -> None:
    table = np.linspace(-1, 1, 15).reshape(5, 3)
    axes = figures.position_map(table, marked=2).axes[0]
    (image,) = axes.images
    assert np.array_equal(image.get_array(), table)  # type: ignore[arg-type]
    assert image.get_clim() == (-1, 1)
    assert axes.get_ylim()[0] > axes.get_ylim()[1]  # position 0 on top
    assert [text.get_text() for text in axes.texts] == ["position 2"]
    assert axes.lines[0].get_ydata() == [2, 2]
    assert not figures.position_map(table).axes[0].texts


def test_signed_colours_are_white_at_zero_and_differ_by_sign() -> None:
    low, middle, high = (np.array(SIGNED(x)[:3]) for x in (0.0, 0.5, 1.0))
    assert middle == pytest.approx(1, abs=0.01)
    assert high[0] - low[0] > 0.4  # purple against grey


def test_position_waves_draws_every_height_and_writes_the_marked_ones() -> None:
    waves = {"fast": np.sin(np.arange(9)), "slow": np.sin(np.arange(9) / 5)}
    figure = figures.position_waves(waves, marked=(2, 7))
    for axes, (name, heights) in zip(figure.axes, waves.items(), strict=True):
        assert axes.get_title(loc="left") == name
        drawn = [line.get_ydata() for line in axes.lines if len(line.get_ydata()) == 9]  # type: ignore[arg-type]
        assert all(np.array_equal(values, heights) for values in drawn)
        assert len(drawn) == 2  # the line and the dots
        assert [t.get_text() for t in axes.texts] == [f"{heights[p]:.2f}" for p in (2, 7)]


def test_position_products_draws_the_map_and_every_row() -> None:
    products = np.arange(16.0).reshape(4, 4)
    rows = {"p = 0": [3.0, 2.0, 1.0], "p = 1": [3.0, 2.5, 1.0]}
    left, right = figures.position_products(products, rows).axes
    assert np.array_equal(left.images[0].get_array(), products)  # type: ignore[arg-type]
    assert [list(line.get_ydata()) for line in right.lines] == list(rows.values())  # type: ignore[arg-type]
    legend = right.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == list(rows)


def test_score_grid_writes_every_share_in_its_row_and_column() -> None:
    scores = [[0.0, 0.256, 1.0], [0.5, 0.66, 0.04]]
    axes = figures.score_grid(scores, ["a", "b"], ["x", "y", "z"], "models").axes[0]
    shown = {text.get_position(): text.get_text() for text in axes.texts}
    assert shown == {
        (column, row): f"{scores[row][column]:.0%}" for row in range(2) for column in range(3)
    }
    assert [t.get_text() for t in axes.get_xticklabels()] == ["x", "y", "z"]
    assert [t.get_text() for t in axes.get_yticklabels()] == ["a", "b"]
    assert axes.get_xlabel() == "models"
    dark = {text.get_text() for text in axes.texts if text.get_color() == "white"}
    assert dark == {"100%", "66%"}


def test_score_grid_groups_its_rows_under_headings() -> None:
    scores = [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]
    headings = {0: "one noun", 2: "two nouns"}
    axes = figures.score_grid(scores, ["a", "b", "c"], ["x", "y"], headings=headings).axes[0]
    assert list(axes.get_yticks()) == [1, 2, 4]  # lines 0 and 3 are those of the headings
    shown = {(t.get_position()[1], t.get_text()) for t in axes.texts}
    assert {(1, "10%"), (2, "40%"), (4, "60%")} <= shown
    over = {text: y for y, text in shown}
    assert over["one noun"] < 1
    assert 2 < over["two nouns"] < 4
    (image,) = axes.images
    colours = np.ma.filled(image.get_array(), np.nan)  # type: ignore[arg-type]
    assert np.isnan(colours[[0, 3]]).all()
    assert np.allclose(colours[[1, 2, 4]], scores)
    with refuses("headings (3) must be rows, 0 to 2"):
        figures.score_grid(scores, ["a", "b", "c"], ["x", "y"], headings={3: "none"})


WORDS = {"I": [0.5, 0, 0.1, -0.2], "see": [0, 0.3, 0, 0]}


def test_position_flow_scales_the_words_and_adds_the_codes() -> None:
    table = [[0, 1, 0, 1], [0.84, 0.54, 0.01, 1]]
    texts = [text.get_text() for text in figures.position_flow(WORDS, table).axes[0].texts]
    for name in ("embeddings (2, 4)", "places (2)", "words (2, 4)", "positions (2, 4)"):
        assert name in texts
    assert {"input of layer 1 (2, 4)", "+", "sin, cos", "I", "see"} <= set(texts)
    total = ["1.00", "1.00", ".20", ".60", ".84", "1.14", ".01", "1.00"]
    assert texts[-8:] == total  # words times the root of 4, and the codes
    assert "-.40" in texts  # no room for a zero
    with refuses("table (1 rows) must have one row for each word (2)"):
        figures.position_flow(WORDS, table[:1])


def test_explorer_keeps_its_state_and_a_fixed_text() -> None:
    explorer = figures.PositionExplorer(7, 4, 2, 20, 0.5, 12)
    state = {name: getattr(explorer, name) for name in explorer.trait_names() if name in WANTED}
    assert state == WANTED
    assert repr(explorer) == "Interactive figure: positions of width 12 on the circle"
    assert all(explorer.traits()[name].metadata["sync"] for name in WANTED)


WANTED = {
    "position": 7,
    "dimension": 4,
    "offset": 2,
    "length": 20,
    "amplitude": 0.5,
    "d_model": 12,
}


def test_explorer_refuses_what_the_sliders_cannot_show() -> None:
    for changes, message in (
        ({"d_model": 5}, "d_model (5) must be even and 2 or more"),
        ({"d_model": 0}, "d_model (0) must be even and 2 or more"),
        ({"length": 65}, "length (65) must be from 4 to 64"),
        ({"length": 3}, "length (3) must be from 4 to 64"),
        ({"amplitude": 1.6}, "amplitude (1.6) must be from 0 to 1.5"),
        ({"position": 32}, "position (32) must be from 0 to 31"),
        ({"dimension": 16}, "dimension (16) must be from 0 to 15"),
        ({"offset": 11}, "offset (11) must be from 0 to 10"),
    ):
        with refuses(message):
            figures.PositionExplorer(**changes)  # type: ignore[arg-type]
