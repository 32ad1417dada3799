"""The plots of chapter 13: copies, passes and front are what they should be; no word lies on another."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl

mpl.use("agg")

import pytest
import torch
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.pyplot import get_cmap
from test_figures_long_context import beyond_the_edge, overlapping, texts

from transformer_course import figures
from transformer_course.corpus.vocabulary import Vocabulary
from transformer_course.encoder_decoder import TransformerConfig
from transformer_course.figures.non_autoregressive import front
from transformer_course.figures.pass_explorer import films_of
from transformer_course.non_autoregressive import FertilityTransformer, MaskPredict
from transformer_course.translator import Translator

SOURCE = ["you", "do", "not", "see", "the", "tired", "animal", "."]
TARGET = ["vous", "ne", "voyez", "pas", "l'", "animal", "fatigué", "."]
COUNTS = [1, 0, 2, 1, 1, 1, 1, 1]
TOKENS = [["il", "est", "est", "."], ["il", "est", "fatigué", "."], ["il", "était", "fatigué", "."]]
PROBABILITIES = [[0.9, 0.6, 0.3, 0.99], [0.9, 0.6, 0.7, 0.99], [0.9, 0.8, 0.7, 0.99]]
WRITTEN = [[True] * 4, [False, False, True, False], [False, True, False, False]]


def test_each_copy_stands_below_its_word_and_is_joined_to_it() -> None:
    axes = figures.fertility_copies(SOURCE, COUNTS, TARGET).axes[0]
    written = texts(axes)
    assert written[:16] == [
        text for pair in zip(SOURCE, map(str, COUNTS), strict=True) for text in pair
    ]
    copies = ["you", "not", "not", "see", "the", "tired", "animal", "."]
    below = [text for text in written[16:-4] if text]
    assert below == [text for pair in zip(copies, TARGET, strict=True) for text in pair]
    starts = [line.get_xdata()[0] for line in axes.lines]
    assert starts == [0.5, 2.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5]
    assert [line.get_xdata()[1] for line in axes.lines] == [j + 0.5 for j in range(8)]


@pytest.mark.parametrize(
    ("fertilities", "target"),
    [
        ([1], ["a", "b"]),
        ([1, -1, 2], ["a", "b"]),
        ([1, 1], ["a"]),
        ([0, 0], []),
        ([13, 0], ["a"] * 13),
    ],
)
def test_fertilities_that_do_not_fit_are_refused(fertilities: list[int], target: list[str]) -> None:
    with pytest.raises(ValueError, match="must"):
        figures.fertility_copies(["x", "y"], fertilities, target)


def squares(figure: Figure) -> list[Rectangle]:
    return [patch for patch in figure.axes[0].patches if isinstance(patch, Rectangle)]


def test_a_strip_shows_what_each_pass_wrote_and_what_is_guessed_again() -> None:
    figure = figures.pass_strip(TOKENS, PROBABILITIES, WRITTEN)
    grounds = [square for square in squares(figure) if not square.get_hatch()]
    corners = [square for square in squares(figure) if square.get_hatch()]
    flat = [p for row in PROBABILITIES for p in row]
    assert [to_hex(square.get_facecolor()) for square in grounds] == [
        to_hex(get_cmap("Blues")(p)) for p in flat
    ]
    thick = [square.get_linewidth() > 2 for square in grounds]
    assert thick == [new for row in WRITTEN for new in row]
    places = {(int(corner.get_x()), int(corner.get_y())) for corner in corners}
    assert places == {(0, 2), (1, 1)}  # a place of pass t is written by pass t + 1
    shown = texts(figure.axes[0])
    assert shown[:9] == ["pass 0", "il", "0.90", "est", "0.60", "est", "0.30", ".", "0.99"]


@pytest.mark.parametrize(
    "given",
    [
        (TOKENS, PROBABILITIES, WRITTEN[:2]),
        ([["a", "b"], ["a"]], [[0.1, 0.2], [0.1]], [[True, True], [True]]),
        ([], [], []),
        ([[]], [[]], [[]]),
        ([["a"] * 13], [[0.5] * 13], [[True] * 13]),
    ],
)
def test_a_strip_refuses_rows_that_do_not_fit(given: tuple[Any, Any, Any]) -> None:
    with pytest.raises(ValueError, match="tokens"):
        figures.pass_strip(*given)


def test_the_front_is_what_no_system_beats_in_both() -> None:
    points = [
        (29.0, 88.0),
        (41.0, 90.0),
        (20.0, 87.0),
        (24.0, 78.0),
        (7.0, 70.0),
        (7.0, 60.0),
        (43.0, 90.0),
    ]
    assert front(points) == [(7.0, 70.0), (20.0, 87.0), (29.0, 88.0), (41.0, 90.0)]
    for time, quality in points:
        beaten = any(t <= time and q >= quality and (t, q) != (time, quality) for t, q in points)
        assert beaten != ((time, quality) in front(points))


def test_quality_and_time_show_every_system_once() -> None:
    systems = {"a": {"one": (5.0, 60.0)}, "b": {"T = 4": (20.0, 70.0), "T = 1": (6.0, 55.0)}}
    axes = figures.quality_and_time(systems).axes[0]
    lines = {str(line.get_label()): line.get_xydata().tolist() for line in axes.lines}
    assert lines["a"] == [[5, 60]]
    assert lines["b"] == [[6, 55], [20, 70]]  # from the fastest to the slowest
    assert lines["front"] == [[5, 60], [20, 70]]
    assert sorted(texts(axes)) == ["T = 1", "T = 4", "one"]
    assert axes.get_xscale() == "log"


@pytest.mark.parametrize(
    "systems",
    [{}, {"a": {}}, {"a": {"b": (0.0, 1.0)}}, {key: {"b": (1.0, 1.0)} for key in "abcdefg"}],
)
def test_quality_and_time_refuse_what_cannot_be_drawn(systems: Any) -> None:
    with pytest.raises(ValueError, match="systems"):
        figures.quality_and_time(systems)


@pytest.mark.parametrize(
    "figure",
    [
        figures.fertility_copies(SOURCE, COUNTS, TARGET),
        figures.fertility_copies(["unbelievable"] * 12, [1] * 12, ["incompréhensible"] * 12),
        figures.pass_strip(TOKENS, PROBABILITIES, WRITTEN),
        figures.pass_strip([["incompréhensible"] * 12], [[0.5] * 12], [[True] * 12]),
    ],
)
def test_no_word_lies_on_another_one(figure: Figure) -> None:
    assert overlapping(figure) == []
    assert beyond_the_edge(figure) == []


# The film of passes


def film(length: int, passes: int, prob: float) -> dict[str, Any]:
    frame = {"pieces": ["a"] * length, "probs": [0.5] * length, "written": [True] * length}
    return {"length": length, "prob": prob, "passes": passes, "frames": [frame] * passes}


FILMS = [film(length, passes, 1 / length) for length in (3, 2) for passes in (1, 4)]


def test_the_figure_begins_with_the_likeliest_length_and_all_passes() -> None:
    state = figures.PassExplorer("the cat", FILMS).get_state()
    assert [state[name] for name in ("passes", "length", "step")] == [4, 2, 0]
    assert (state["films"], state["source"]) == (FILMS, "the cat")
    chosen = figures.PassExplorer("the cat", FILMS, passes=4, length=3, step=3).get_state()
    assert [chosen[name] for name in ("passes", "length", "step")] == [4, 3, 3]
    said = 'Interactive figure: "the cat" in 1, 4 passes, for 2 lengths'
    assert repr(figures.PassExplorer("the cat", FILMS)) == said


@pytest.mark.parametrize(
    ("films", "chosen", "message"),
    [
        ([], {}, "films"),
        (FILMS[:3], {}, r"one for each length and number of passes"),
        ([*FILMS, FILMS[0]], {}, "one for each"),
        ([FILMS[0] | {"passes": 2}], {}, "must have 2 frames"),
        ([FILMS[0] | {"length": 4}], {}, "a film of length 4"),
        (FILMS, {"passes": 2}, r"passes \(2\) and length \(2\)"),
        (FILMS, {"length": 5}, r"length \(5\)"),
        (FILMS, {"step": 4}, r"step \(4\) must be from 0 to 3"),
        (FILMS, {"step": -1}, r"step \(-1\)"),
    ],
)
def test_films_that_do_not_fit_are_refused(films: Any, chosen: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        figures.PassExplorer("the cat", films, **chosen)


def translator(kind: Any) -> Translator:
    vocabulary = Vocabulary.train(["le chat voit l'arbre", "the cat sees the tree"], 290)
    torch.manual_seed(0)
    config = TransformerConfig(len(vocabulary), d_model=16, n_heads=2, d_ff=32, max_len=12)
    return Translator(kind(config).eval(), vocabulary)


def test_films_are_what_the_model_does() -> None:
    model = translator(MaskPredict)
    films = films_of(model, "the cat", (1, 3), 2)
    assert [(film["passes"], len(film["frames"])) for film in films] == [(1, 1), (3, 3)] * 2
    assert films[0]["prob"] >= films[2]["prob"]
    assert model.model.passes == 10  # as it was
    model.model.passes = 3
    (ids,) = model.vocabulary.encode(["the cat"])
    memory, src_mask, logits = model.model.read(torch.tensor([[*ids, 2]]))
    length = films[1]["length"]
    assert length == logits[0, 1:].argmax() + 1
    passes = [*model.model.go_over(torch.tensor([length]), memory, src_mask)]
    for frame, one in zip(films[1]["frames"], passes, strict=True):
        assert frame["written"] == one.written[0].tolist()
        assert frame["probs"] == pytest.approx(one.log_probs[0].exp().tolist(), abs=1e-4)
        pieces = [model.vocabulary.piece(i).strip("▁") for i in one.tokens[0].tolist()]
        assert frame["pieces"] == pieces
    figures.PassExplorer("the cat", films)


def test_films_of_other_models_or_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="MaskPredict, not a FertilityTransformer"):
        films_of(translator(FertilityTransformer), "the cat")
    for passes, lengths in (((0,), 1), ((), 1), ((2,), 0)):
        with pytest.raises(ValueError, match=r"lengths \(\d\) must be 1 or more"):
            films_of(translator(MaskPredict), "the cat", passes, lengths)
