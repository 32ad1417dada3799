"""The figures of chapter 00: numbers that are drawn as given, and the state of the figure of ways."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import matplotlib as mpl

mpl.use("agg")

import pytest

from transformer_course import figures
from transformer_course.checks.seq2seq.explore import memory_table
from transformer_course.checks.seq2seq.gru_step import reference


def numbers(data: Any) -> list[float]:
    """The numbers of a line."""
    return [float(number) for number in data]


def test_one_vector_or_all_draws_every_word_twice_numbered_in_the_order_of_reading() -> None:
    weights = [[0.7, 0.2, 0.1], [0.05, 0.05, 0.9]]
    axes = figures.one_vector_or_all(["a", "b", "c"], ["x", "y"], weights).axes[0]
    texts = [t.get_text() for t in axes.texts if t.get_text()]
    row = ["a", "1", "b", "2", "c", "3", "x", "4", "y", "5"]
    assert texts == ["one vector", "a look back before each word", *row, *row, "one vector"]
    arrows = [t for t in axes.texts if not t.get_text()]
    assert len(arrows) == 2 * (2 + 1) + 1 + 2  # along the rows, into the vector, to each word
    looks = [line for line in axes.lines if line.get_color() == figures.QUERY]
    flat = [weight for row in weights for weight in row]
    widths = [line.get_linewidth() for line in looks]
    assert widths == pytest.approx([0.5 + 5 * weight for weight in flat])
    places = [0.3 + 3.3 * (place + 0.5) for place in range(3)]
    ends = [numbers(line.get_xdata()) for line in looks]
    assert ends == [pytest.approx([places[j], places[i]]) for i in range(2) for j in range(3)]


def test_shares_by_kind_puts_a_mark_for_each_model_on_the_line_of_its_example() -> None:
    rows = {"They run.": {"one": 0.2, "two": 0.9}, "She sees it.": {"one": 0.4, "two": 0.7}}
    figure = figures.shares_by_kind(rows, "right, greedy")
    axes = figure.axes[0]
    assert [t.get_text() for t in axes.texts] == list(rows)
    marks = {line.get_label(): line for line in axes.lines if line.get_linestyle() == "None"}
    assert {name: numbers(line.get_xdata()) for name, line in marks.items()} == {
        "one": [0.2, 0.4],
        "two": [0.9, 0.7],
    }
    assert all(numbers(line.get_ydata()) == [0, 1] for line in marks.values())
    assert [t.get_text() for t in figure.legends[0].get_texts()] == ["one", "two"]


def test_look_back_flow_shows_the_numbers_and_their_shapes() -> None:
    states = [[1, 0], [0, 1], [1, 1]]
    figure = figures.look_back_flow(0.743, states, [2, 0, 1], [0.665, 0.09, 0.245], [0.91, 0.335])
    texts = [t.get_text() for t in figure.axes[0].texts if t.get_text()]
    assert texts.count("memory\n(3, 2)") == 2
    assert {"scores\n(3)", "weights\n(3)", "context $c_i$ (2)", "softmax", "GRU"} <= set(texts)
    assert texts.count(".743") == 2  # it asks, and the GRU reads it
    shares = [t for t in texts if t.startswith(".") and len(t) == 3]
    assert shares == [".67", ".09", ".24"]
    assert {".910", ".335"} <= set(texts)


def test_curves_by_length_draws_what_it_is_given() -> None:
    panels = {
        "seconds": {"one": [1.0, 2.0, 4.0], "two": [3.0, 3.0, 3.0]},
        "MB": {"one": [1.0, 1.0, 2.0]},
    }
    axes = figures.curves_by_length(panels, [8, 16, 32], "words").axes
    assert [a.get_ylabel() for a in axes] == ["seconds", "MB"]
    assert axes[-1].get_xlabel() == "words"
    for found, curves in zip(axes, panels.values(), strict=True):
        assert found.get_xscale() == found.get_yscale() == "log"
        assert {line.get_label(): numbers(line.get_ydata()) for line in found.lines} == curves
        assert all(numbers(line.get_xdata()) == [8, 16, 32] for line in found.lines)
        assert [t.get_text() for t in found.get_xticklabels()] == ["8", "16", "32"]
    assert len({line.get_color() for line in axes[0].lines}) == 2


def test_accuracy_by_length_draws_means_and_a_dot_for_each_seed() -> None:
    models = {"one": [[1.0, 0.5], [0.5, 0.0]], "two": [[1.0, 1.0], [0.8, 0.6]]}
    axes = figures.accuracy_by_length([4.0, 9.0], models, 6.5).axes[0]
    means = {
        line.get_label(): numbers(line.get_ydata())
        for line in axes.lines
        if line.get_label() in models
    }
    assert means == {"one": [0.75, 0.25], "two": [0.9, 0.8]}
    dots = [numbers(line.get_ydata()) for line in axes.lines if line.get_linestyle() == "None"]
    marked = [numbers(line.get_ydata()) for line in axes.lines if line.get_marker() in ("o", "s")]
    assert (dots or marked) == [row for rows in models.values() for row in rows]
    assert [numbers(line.get_xdata()) for line in axes.lines][-1] == [6.5, 6.5]


def test_word_paths_keeps_what_is_chosen() -> None:
    figure = figures.WordPaths(kind="self-attention", n=7, start=6, end=2, kernel_size=5)
    state: dict[str, Any] = figure.get_state()
    names = ("kind", "n", "start", "end", "kernel_size")
    assert [state[name] for name in names] == ["self-attention", 7, 6, 2, 5]
    assert repr(figure) == "Interactive figure: from word 6 to word 2 of 7"
    assert "export default { render }" in state["_esm"]


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ({"kind": "magic"}, r"kind \('magic'\) must be one of recurrent, convolution, dilated"),
        ({"n": 1}, r"n \(1\) must be from 2 to 16"),
        ({"n": 17}, r"n \(17\) must be from 2 to 16"),
        ({"start": 0}, r"start \(0\) must be from 1 to n \(10\)"),
        ({"end": 11}, r"end \(11\) must be from 1 to n \(10\)"),
        ({"kernel_size": 4}, r"kernel_size \(4\) must be 3, 5 or 7"),
    ],
)
def test_word_paths_refuses_what_there_is_not(choice: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        figures.WordPaths(**choice)


def test_memory_table_follows_the_learners_step(capsys: pytest.CaptureFixture[str]) -> None:
    memory_table(reference, keep=8, noise=0)
    kept = [float(line.split()[3]) for line in capsys.readouterr().out.splitlines()]
    assert len(kept) == 8
    assert kept[0] == pytest.approx(0.96, abs=0.005)
    assert kept[-1] > 0.95
    memory_table(reference, keep=-4, noise=1)
    noisy = [float(line.split()[3]) for line in capsys.readouterr().out.splitlines()]
    assert all(a * b < 0 for a, b in pairwise(noisy[1:]))  # signs alternate


@pytest.mark.parametrize("step", [lambda *_: None, lambda *_: [1.0, 2.0], 3])
def test_an_unfinished_step_gets_a_sentence(step: Any, capsys: pytest.CaptureFixture[str]) -> None:
    memory_table(step)
    assert capsys.readouterr().out == "The sliders come to life when gru_step passes its check.\n"
