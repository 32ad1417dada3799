"""The figures of chapter 02: words shaded by weight, numbers as given, the state of the six steps."""

from __future__ import annotations

import matplotlib as mpl

mpl.use("agg")

import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Rectangle

from transformer_course import figures
from transformer_course.figures import self_attention_steps as steps
from transformer_course.figures.widget import joined


def boxes(figure: Figure, panel: int = 0) -> list[FancyBboxPatch]:
    """The boxes of one panel."""
    return [p for p in figure.axes[panel].patches if isinstance(p, FancyBboxPatch)]


def test_word_focus_shades_by_weight_and_frames_who_asks() -> None:
    figure = figures.word_focus([(["it", "was", "tired"], [0.1, 0.3, 0.6], 0)])
    drawn = boxes(figure)
    grey = [float(np.dot(to_rgb(box.get_facecolor()), [0.3, 0.6, 0.1])) for box in drawn]
    assert grey == sorted(grey, reverse=True)
    framed = [to_hex(box.get_edgecolor()) == figures.QUERY for box in drawn]
    assert framed == [True, False, False]
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert texts == ["it", "0.10", "was", "0.30", "tired", "0.60"]


def test_word_focus_breaks_long_sentences_and_shows_every_word() -> None:
    words = [f"word{i:02}" for i in range(20)]
    figure = figures.word_focus([(words, [0.05] * 20, 3), (["short"], [1.0], 0)])
    axes = figure.axes[0]
    corners = [(box.get_x(), box.get_y()) for box in boxes(figure)]
    assert len(set(corners)) == 21
    assert len({y for _, y in corners}) > 3
    right = [box.get_x() + box.get_width() for box in boxes(figure)]
    assert max(right) <= axes.get_xlim()[1]
    assert min(y for _, y in corners) > axes.get_ylim()[0]


def test_word_focus_wants_a_weight_for_each_word() -> None:
    with pytest.raises(ValueError, match="zip"):
        figures.word_focus([(["it", "was"], [1.0], 0)])


def test_projections_write_every_number_in_its_colour() -> None:
    x, q = [[1.0, 2.0], [3.0, 4.0]], [[5.0], [6.0]]
    figure = figures.projections(["a", "b"], x, q, [[7.0], [8.0]], [[9.0, 0.5], [10.0, 11.0]])
    for panel, part in enumerate((x, q, [[7.0], [8.0]], [[9.0, 0.5], [10.0, 11.0]])):
        shown = {
            (round(t.get_position()[1]), round(t.get_position()[0])): float(t.get_text())
            for t in figure.axes[panel].texts
        }
        assert shown == dict(np.ndenumerate(np.array(part)))
    edges = [{to_hex(box.get_edgecolor()) for box in boxes(figure, i)} for i in (1, 2, 3)]
    assert edges == [{figures.QUERY}, {figures.KEY}, {figures.VALUE}]
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["a", "b"]


def test_where_they_come_from_has_one_source_or_two() -> None:
    cases = {"self": ("X", "X"), "cross": ("target", "source")}
    figure = figures.where_they_come_from(cases)
    texts = [[t.get_text() for t in axes.texts if t.get_text()] for axes in figure.axes]
    assert sorted(texts[0]) == sorted(["X", "attention", "Q", "K", "V"])
    assert sorted(texts[1]) == sorted(["target", "source", "attention", "Q", "K", "V"])
    assert [axes.get_title() for axes in figure.axes] == ["self", "cross"]


def test_scores_by_layers_draws_every_run_and_the_bound() -> None:
    figure = figures.scores_by_layers({"one": [0.8, 0.9], "two": [1.0]}, (0.875, "7 of 8"))
    axes = figure.axes[0]
    runs = [line.get_xdata().tolist() for line in axes.lines if line.get_marker() == "o"]
    assert runs == [[0.8, 0.9], [1.0]]
    means = [bar.get_width() for bar in axes.patches]
    assert means == pytest.approx([0.85, 1.0])
    dashed = [line.get_xdata()[0] for line in axes.lines if line.get_linestyle() == "--"]
    assert dashed == [0.875]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["one", "two"]


def test_six_steps_keep_their_state_and_a_fixed_text() -> None:
    first, second = figures.SelfAttentionSteps(chosen=1), figures.SelfAttentionSteps(chosen=1)
    assert repr(first) == repr(second)
    assert "the cat eats fish" in repr(first)
    state = first.get_state()
    assert state["vectors"] == [list(row) for row in steps.X]
    assert state["w_query"] == [list(row) for row in steps.W_QUERY]
    assert state["w_key"] == [list(row) for row in steps.W_KEY]
    assert state["w_value"] == [list(row) for row in steps.W_VALUE]
    assert (state["chosen"], state["order"], state["shared"]) == (1, [0, 1, 2, 3], False)
    assert state["_esm"] == joined("self_attention_steps", "js")
    assert state["_css"] == joined("self_attention_steps", "css")


def test_six_steps_have_no_word_that_looks_most_at_itself() -> None:
    """What the page says about the sentence; the numbers are its own."""
    x = np.array(steps.X)
    scores = (x @ steps.W_QUERY) @ (x @ steps.W_KEY).T
    assert (scores.argmax(1) != np.arange(4)).all()
    assert not np.array_equal(scores, scores.T)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"chosen": 4}, r"chosen \(4\) must be the place of one of the 4 words"),
        ({"chosen": -1}, r"chosen \(-1\) must be"),
        ({"x": steps.X[:3]}, "x must have a row for each of the 4 words, got 3"),
        ({"w_key": steps.W_KEY[:2]}, r"w_key must have d_model \(4\) rows, got 2"),
        ({"w_key": steps.W_VALUE}, "the same width d_k, got 2 and 3"),
    ],
)
def test_six_steps_refuse_what_does_not_fit(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        figures.SelfAttentionSteps(**arguments)  # type: ignore[arg-type]


FLOW_WORDS = ["cat", "eats"]
FLOW = {
    "x": [[2.0, 0.0, 3.0], [0.0, 1.0, 0.0]],
    "queries": [[5.0, 7.0], [9.0, 11.0]],
    "keys": [[13.0, 17.0], [19.0, 23.0]],
    "values": [[29.0], [31.0]],
    "weights": [[0.25, 0.75], [0.6, 0.4]],
    "output": [[30.5], [29.8]],
}


def flow(**changed: list[list[float]]) -> Figure:
    """The sentence of two words that flows, with some matrices changed."""
    parts = FLOW | changed
    views = (parts["queries"], parts["keys"], parts["values"])
    return figures.self_attention_flow(
        FLOW_WORDS, parts["x"], views, parts["weights"], parts["output"], asks=1
    )


def test_the_flow_names_every_matrix_with_its_shape_and_writes_every_number() -> None:
    texts = [text.get_text() for text in flow().axes[0].texts if text.get_text()]
    shapes = ["X (2, 3)", "Q (2, 2)", "K (2, 2)", "V (2, 1)", "weights (2, 2)", "output (2, 1)"]
    assert [text for text in texts if "(" in text] == shapes
    assert {"5", "7", "13", "23", "29", "31", ".25", ".75", "30.50", "29.80"} <= set(texts)
    assert texts.count("cat") == texts.count("eats") == 2


def test_the_flow_darkens_the_row_that_asks_and_no_key_or_value() -> None:
    dark = [
        to_hex(square.get_edgecolor())
        for square in flow().axes[0].patches
        if isinstance(square, Rectangle) and min(to_rgb(square.get_facecolor())) < 0.75
    ]
    counted = {colour: dark.count(colour) for colour in set(dark)}
    assert counted[figures.QUERY] == 2 + 2  # its query, its weights
    assert counted[figures.VALUE] == 1  # its output
    assert figures.KEY not in counted


@pytest.mark.parametrize(
    ("name", "word"),
    [("x", "X"), ("queries", "Q"), ("keys", "K"), ("values", "V"), ("weights", "weights")],
)
def test_the_flow_wants_a_row_for_each_word(name: str, word: str) -> None:
    message = rf"^{word} must have a row for each of the 2 words, got 1$"
    with pytest.raises(ValueError, match=message):
        flow(**{name: FLOW[name][:1]})


def test_the_same_step_says_which_sums_are_right() -> None:
    figure = figures.same_step(
        {"dog street": (-0.5, 1.5), "bee field": (0.5, 2.5)},
        {"dog street": (-1, 1), "bee field": (1, -1)},
        ["tired", "wide"],
        ("il", "elle"),
    )
    texts = [text.get_text() for text in figure.axes[0].texts if text.get_text()]
    assert texts.count("+2") == 2
    assert [text.replace("\n", ": ") for text in texts if "\n" in text] == [
        "tired: il, right",
        "wide: elle, right",
        "tired: elle, right",
        "wide: elle, wrong",
    ]
    places = [line.get_xdata()[0] for line in figure.axes[0].lines if line.get_marker() in "oX"]
    assert places == [-0.5, 1.5, 0.5, 2.5]


@pytest.mark.parametrize(
    ("sums", "wanted", "error"),
    [
        ({"a": (1.0, 2.0)}, {}, KeyError),
        ({"a": (1.0, 2.0)}, {"a": (1,)}, ValueError),
        ({"a": (1.0, 2.0, 3.0)}, {"a": (1, 1)}, ValueError),
    ],
)
def test_the_same_step_refuses_what_does_not_fit(
    sums: dict[str, tuple[float, ...]], wanted: dict[str, tuple[int, ...]], error: type[Exception]
) -> None:
    with pytest.raises(error):
        figures.same_step(sums, wanted, ["tired", "wide"], ("il", "elle"))
