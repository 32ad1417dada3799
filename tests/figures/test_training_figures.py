"""The figures of chapter 07: numbers that are drawn as given, and the state of the rate to drag."""

from __future__ import annotations

import inspect
from pathlib import Path

import matplotlib as mpl

mpl.use("agg")

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import FancyBboxPatch, Rectangle

from transformer_course import figures
from transformer_course.figures import rate_explorer
from transformer_course.figures.training import SOURCE, TARGET

FOLDER = Path(inspect.getfile(figures)).parent


def test_shift_picture_stands_each_token_over_the_one_before_it() -> None:
    axes = figures.shift_picture(["<s>", "il", "dort", "</s>"]).axes[0]
    places = {t.get_position(): t.get_text() for t in axes.texts if t.get_text()}
    said = [places[(column, 0)] for column in range(3)]
    read = [places[(column, 1)] for column in range(3)]
    assert (read, said) == (["<s>", "il", "dort"], ["il", "dort", "</s>"])
    boxes = [patch for patch in axes.patches if isinstance(patch, FancyBboxPatch)]
    assert [to_hex(box.get_edgecolor()) for box in boxes] == [TARGET] * 3 + [SOURCE] * 3
    names = {text.get_text(): text.get_position()[1] for text in axes.texts}
    assert (names["reads"], names["must say"]) == (1, 0)


def test_padded_batches_have_a_square_for_each_position() -> None:
    batches = [[(3, 4), (2, 5)], [(1, 3)]]
    axes = figures.padded_batches({"one": batches, "two": [[(6, 3)]]}).axes[0]
    squares = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    colours = [to_hex(square.get_facecolor()) for square in squares]
    assert len(squares) == 2 * (3 + 5) + (1 + 3)
    assert colours.count(SOURCE) == 3 + 2 + 1
    assert colours.count(TARGET) == 4 + 5 + 3
    padding = [square for square in squares if square.get_hatch()]
    assert {to_hex(square.get_facecolor()) for square in padding} == {"#eeeeee"}
    found = {(round(s.get_x() - 0.06), round(s.get_y() - 0.1)) for s in padding}
    assert found == {(2, 1), (8, 0)}  # a source of 2 in a width of 3, a target of 4 in a width of 5


def test_rate_curves_are_the_numbers_given() -> None:
    rates = {"a": [0.1, 0.2], "b": [0.3, 0.1]}
    axes = figures.rate_curves([1, 2], rates).axes[0]
    drawn = {line.get_label(): list(line.get_ydata()) for line in axes.lines}
    assert drawn == rates
    assert len({line.get_linestyle() for line in axes.lines}) == 2  # not by colour alone
    assert axes.get_ylim()[0] == 0


def test_loss_curves_have_a_line_for_each_seed_and_a_level() -> None:
    curves = {"training": ([1, 2], [[3.0, 2.0], [3.5, 2.5]]), "held-out": ([2], [[2.2]])}
    figure = figures.loss_curves({"left": curves, "right": curves}, levels={"guessing": 4.0})
    axes = figure.axes[0]
    assert [list(line.get_ydata()) for line in axes.lines[:3]] == [[3, 2], [3.5, 2.5], [2.2]]
    assert list(axes.lines[3].get_ydata()) == [4, 4]
    assert axes.texts[0].get_text() == "guessing"
    assert [a.get_title(loc="left") for a in figure.axes] == ["left", "right"]
    styles = [line.get_linestyle() for line in axes.lines[:3]]
    assert styles[0] == styles[1] != styles[2]
    legend = figure.axes[1].get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["training", "held-out"]


def test_three_panels_of_losses_are_below_each_other() -> None:
    curves = {"training": ([1, 2], [[3.0, 2.0]])}
    figure = figures.loss_curves(dict.fromkeys("abc", curves))
    figure.canvas.draw()
    places = [axes.get_position() for axes in figure.axes]
    assert [place.x0 for place in places] == [places[0].x0] * 3
    assert places[0].y0 > places[1].y0 > places[2].y0
    assert [axes.get_xlabel() for axes in figure.axes] == ["", "", "step"]
    assert {axes.get_ylabel() for axes in figure.axes} == {"loss, in nats"}


def test_loss_curves_refuse_lists_of_another_length() -> None:
    with pytest.raises(ValueError, match="'training' has 3 losses for 2 steps"):
        figures.loss_curves({"a": {"training": ([1, 2], [[3.0, 2.0, 1.0]])}})


def test_norm_bars_say_none_where_there_is_no_gradient() -> None:
    panels = {"healthy": {"encoder": 0.5, "decoder": 2.0}, "sick": {"encoder": 0.0, "decoder": 2.0}}
    healthy, sick = figures.norm_bars(panels).axes
    assert [bar.get_width() for bar in healthy.patches] == [0.5, 2.0]
    assert [bar.get_width() for bar in sick.patches] == [2.0]
    assert [(t.get_text(), t.get_position()[1]) for t in sick.texts] == [("none", 0)]
    assert healthy.texts == [] or not list(healthy.texts)
    assert healthy.get_xscale() == "log"
    assert [label.get_text() for label in healthy.get_yticklabels()] == ["encoder", "decoder"]


def test_the_explorer_keeps_its_state_and_a_fixed_text() -> None:
    first, second = figures.RateExplorer(), figures.RateExplorer(d_model=128)
    assert repr(first) == repr(second) == "Interactive figure: the learning rate over 20000 steps"
    state = figures.RateExplorer("cosine", 256, 2000, 1e-3, 50).get_state()
    names = ("schedule", "d_model", "warmup_steps", "peak_rate", "step")
    assert [state[name] for name in names] == ["cosine", 256, 2000, 1e-3, 50]
    start = first.get_state()
    assert [start[name] for name in names] == ["inverse_sqrt", 512, 4000, 7e-4, 10_000]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"schedule": "linear"}, r"schedule \('linear'\) must be 'inverse_sqrt' or 'cosine'"),
        ({"d_model": 100}, r"d_model \(100\) must be one of 128, 256, 512, 1024"),
        ({"warmup_steps": 999}, r"warmup_steps \(999\) must be from 1000 to 16000"),
        ({"warmup_steps": 16_001}, r"warmup_steps \(16001\) must be from 1000 to 16000"),
        ({"peak_rate": 0.0}, r"peak_rate \(0.0\) must be above 0 and at most 0.0014"),
        ({"peak_rate": 0.002}, r"peak_rate \(0.002\) must be above 0 and at most 0.0014"),
        ({"step": 0}, r"step \(0\) must be from 1 to 20000"),
        ({"step": 20_001}, r"step \(20001\) must be from 1 to 20000"),
    ],
)
def test_the_explorer_refuses_what_it_cannot_draw(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        figures.RateExplorer(**arguments)  # type: ignore[arg-type]


def test_script_and_package_have_the_same_bounds() -> None:
    names = ("rate_explorer_model.js", "rate_explorer.js")
    own = "".join((FOLDER / name).read_text("utf-8") for name in names)
    assert f"const WIDTHS = {list(rate_explorer.WIDTHS)};" in own
    assert np.isclose(rate_explorer.FEWEST, 1000)
    assert "const [FEWEST, MOST] = [1000, 16000]" in own
    assert "const STEPS = 20000;" in own
