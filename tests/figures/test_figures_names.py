"""Names in figures are shown as they are: no dollar sign makes a formula of them, no underscore hides them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import matplotlib as mpl

mpl.use("agg")

import numpy as np
import pytest
from matplotlib.axis import Tick
from matplotlib.figure import Figure
from matplotlib.text import Text
from numpy.typing import ArrayLike

from transformer_course import figures

MARKUP = ["$\\frac$", "_low", "<b>x</b> & {y}", "a^b \\alpha", "50 $ or 60 $"]
N = len(MARKUP)
EYE, ONES = np.eye(N), np.ones((N, 2))
SQUARE = np.full((N, N), 0.2)
A, B, *REST = MARKUP
TITLES = {name: [0.1, 0.9] for name in MARKUP}  # two numbers for each name
SEEDS = {name: [[0.1, 0.9], [0.2, 0.8]] for name in MARKUP}  # two seeds for each name


def first(named: dict[str, Any], n: int) -> dict[str, Any]:
    return dict(list(named.items())[:n])


def each(value: Any) -> dict[str, Any]:
    return dict.fromkeys(MARKUP, value)


# For each figure that shows names: how it is drawn, and the names that must be on it. At most three or four
# where a figure has no more room; then the last ones are shown by a second drawing.
DRAWN: dict[str, list[tuple[Callable[[], Figure], list[str]]]] = {
    "accuracy_by_distance": [
        (
            lambda: figures.accuracy_by_distance([1, 2], first(SEEDS, 4), label=REST[-1], xlabel=A),
            MARKUP,
        )
    ],
    "accuracy_by_length": [
        (lambda: figures.accuracy_by_length([1, 2], first(SEEDS, 4), 1, REST[-1]), MARKUP)
    ],
    "attention_flow": [
        (
            lambda: figures.attention_flow([1], each([1]), [1] * N, [0.2] * N, [[1]] * N, [1]),
            MARKUP,
        )
    ],
    "bars_with_seeds": [(lambda: figures.bars_with_seeds(first(TITLES, 4), REST[-1]), MARKUP)],
    "beam_flow": [
        (lambda: figures.beam_flow(MARKUP, MARKUP, -SQUARE, [(0, 1), (2, 3)], [(4, 4)]), MARKUP)
    ],
    "bleu_by_updates": [(lambda: figures.bleu_by_updates(first(SEEDS, 3), [1, 2]), MARKUP[:3])],
    "bleu_by_words": [(lambda: figures.bleu_by_words({A: TITLES, B: TITLES}), MARKUP)],
    "component_curves": [(lambda: figures.component_curves([1, 2], first(SEEDS, 3)), MARKUP[:3])],
    "component_losses": [(lambda: figures.component_losses(TITLES), MARKUP)],
    "curves_by_length": [
        (lambda: figures.curves_by_length({A: first(TITLES, 4)}, [1, 2], REST[-1]), MARKUP)
    ],
    "distribution_bars": [
        (lambda: figures.distribution_bars(MARKUP, {A: [0.2] * N, B: [0.2] * N}), [*MARKUP, A, B])
    ],
    "distribution_grids": [
        (lambda: figures.distribution_grids(MARKUP, MARKUP, {A: EYE, B: EYE}), [*MARKUP, A, B])
    ],
    "exam_bars": [(lambda: figures.exam_bars(each((0.1, 0.2)), 0.5), MARKUP)],
    "family_flow": [
        (lambda: figures.family_flow(MARKUP[:4], 0, EYE[:2, :2], 1, REST[-1], 4, 9), MARKUP)
    ],
    "fertility_copies": [
        (lambda: figures.fertility_copies(MARKUP, [1] * N, MARKUP), MARKUP * 3),
    ],
    "four_masks": [(lambda: figures.four_masks(MARKUP[:2], MARKUP[2:]), MARKUP)],
    "front_page": [(lambda: figures.front_page(each([0.2] * 5)), MARKUP)],
    "head_curves": [(lambda: figures.head_curves([1, 2], first(SEEDS, 4)), MARKUP[:4])],
    "head_links": [(lambda: figures.head_links(MARKUP, 0, each([0.2] * N)), MARKUP * 2)],
    "head_maps": [(lambda: figures.head_maps([SQUARE], MARKUP, MARKUP), MARKUP * 2)],
    "head_removals": [
        (lambda: figures.head_removals(each(first(TITLES, 4))), [*MARKUP, *MARKUP[:4]])
    ],
    "kernel_fits": [
        (
            lambda: figures.kernel_fits(
                [1, 2], [1, 2], [1, 2], [1, 2], first(TITLES, 3), 1, [0.5, 0.5]
            ),
            MARKUP[:3],
        )
    ],
    "key_planes": [(lambda: figures.key_planes([[1, 2]], TITLES, [[0.2] * N]), MARKUP * 2)],
    "law_and_prediction": [
        (
            lambda: figures.law_and_prediction({n: ([1, 2, 3], [[3, 2, 1]]) for n in MARKUP}),
            MARKUP,
        )
    ],
    "learning_curves": [(lambda: figures.learning_curves([1, 2], first(SEEDS, 3)), MARKUP[:3])],
    "learning_from_labels": [(lambda: figures.learning_from_labels([1, 2], SEEDS, 50), MARKUP)],
    "loss_by_position": [
        (
            lambda: figures.loss_by_position([1, 2], first(SEEDS, 4), 1, label=REST[-1]),
            MARKUP,
        )
    ],
    "loss_curves": [
        (
            lambda log=log: figures.loss_curves(
                {A: {name: ([1, 2], SEEDS[A]) for name in MARKUP[:4]}}, {B: 0.5, REST[-1]: 0.6}, log
            ),
            [*MARKUP, A, B],
        )
        for log in (False, True)
    ],
    "loss_flow": [(lambda: figures.loss_flow(MARKUP, [1] * N, [0.2] * N, EYE[0]), MARKUP)],
    "loss_valleys": [(lambda: figures.loss_valleys(each((np.eye(2), [[1, 1], [0, 0]]))), MARKUP)],
    "mask_flow": [(lambda: figures.mask_flow(SQUARE, EYE, EYE, MARKUP), MARKUP)],
    "mask_grids": [
        (lambda: figures.mask_grids({A: EYE, B: EYE}, [MARKUP] * 2, [MARKUP] * 2), MARKUP * 4)
    ],
    "multi_head_flow": [
        (lambda: figures.multi_head_flow(MARKUP, [1, 2], SQUARE[:2], [[1], [2]], [1, 2]), MARKUP)
    ],
    "norm_bars": [(lambda: figures.norm_bars({A: each(0.1), B: each(0.2)}), [*MARKUP, A, B])],
    "one_vector_or_all": [
        (lambda: figures.one_vector_or_all(MARKUP, MARKUP, SQUARE.tolist()), MARKUP * 4)
    ],
    "padded_batches": [(lambda: figures.padded_batches(each([[(1, 2)]])), MARKUP)],
    "paired_differences": [(lambda: figures.paired_differences(TITLES, each((0, 1))), MARKUP)],
    "parameter_bars": [(lambda: figures.parameter_bars(each(1_000_000)), MARKUP)],
    "pass_strip": [
        (lambda: figures.pass_strip([MARKUP], [[0.5] * N], [[True] * N]), MARKUP),
    ],
    "patching_flow": [
        (lambda: figures.patching_flow(MARKUP, MARKUP[::-1], 0, 1, (A, B)), [*MARKUP * 2, A])
    ],
    "position_flow": [(lambda: figures.position_flow(TITLES, ONES), MARKUP)],
    "position_products": [
        (lambda: figures.position_products(EYE, first(TITLES, 3)), MARKUP[:3]),
    ],
    "position_waves": [(lambda: figures.position_waves(TITLES, [1]), MARKUP)],
    "projections": [(lambda: figures.projections(MARKUP, ONES, ONES, ONES, ONES), MARKUP)],
    "pull_curves": [
        (lambda: figures.pull_curves([1, 2], first(TITLES, 3), *MARKUP[3:]), MARKUP),
    ],
    "quality_and_time": [
        (
            lambda: figures.quality_and_time(each({A: (1, 2)}), ylabel=B, xlabel=REST[-1]),
            [*MARKUP, A, B, REST[-1]],
        )
    ],
    "rate_curves": [(lambda: figures.rate_curves([1, 2], first(TITLES, 4)), MARKUP[:4])],
    "ratio_by_length": [
        (lambda name=name: figures.ratio_by_length([1, 2], [[1, 2]], name), [name])
        for name in MARKUP
    ],
    "reading_map": [(lambda: figures.reading_map(MARKUP, MARKUP, SQUARE), MARKUP * 2)],
    "redrawn_histograms": [
        (
            lambda: figures.redrawn_histograms({B: first(TITLES, 3)}, REST[-1]),
            [*MARKUP[:3], B, REST[-1]],
        )
    ],
    "reliability_diagrams": [(lambda: figures.reliability_diagrams(each([[9, 0.5, 0.4]])), MARKUP)],
    "reshape_grids": [
        (
            lambda: figures.reshape_grids(
                np.arange(N)[:, None], *[np.arange(N).reshape(1, N, 1)] * 2, MARKUP
            ),
            MARKUP * 2,
        )
    ],
    "same_step": [
        (
            lambda: figures.same_step(TITLES, each([1, -1]), MARKUP[:2], tuple(MARKUP[2:4])),
            [*MARKUP, *MARKUP[:4]],
        )
    ],
    "scaling_curves": [(lambda: figures.scaling_curves([1, 2], TITLES, TITLES), MARKUP)],
    "score_fields": [
        (
            lambda: figures.score_fields([1, 2], TITLES, each(np.arange(9.0) * np.ones((9, 1)))),
            MARKUP * 2,
        )
    ],
    "score_grid": [
        (
            lambda: figures.score_grid(SQUARE, MARKUP, MARKUP, label=A, headings={0: B}),
            [*MARKUP * 2, A, B],
        )
    ],
    "scores_by_beam": [
        (lambda: figures.scores_by_beam([1, 2], each({A: [[0, 1]], B: [[0, 1]]})), [*MARKUP, A, B])
    ],
    "scores_by_layers": [(lambda: figures.scores_by_layers(TITLES, (0.5, A)), [*MARKUP, A])],
    "search_tree": [
        (
            lambda: figures.search_tree({(name,): -1.0 for name in MARKUP}, [(A,)], (A,)),
            MARKUP,
        ),
        (lambda: figures.search_tree({("top-k",): -1.0}, [], ("top-k",)), ["top-k\n−1.00"]),
    ],
    "self_attention_flow": [
        (lambda: figures.self_attention_flow(MARKUP, ONES, (ONES,) * 3, EYE, ONES, 0), MARKUP)
    ],
    "shares_by_kind": [
        (lambda: figures.shares_by_kind(each(first(each(0.5), 4)), A), [*MARKUP, *MARKUP[:4], A])
    ],
    "shift_picture": [(lambda: figures.shift_picture(MARKUP), MARKUP)],
    "smoothing_dots": [
        (
            lambda: figures.smoothing_dots({A: each(first(TITLES, 3))}),
            [*MARKUP, *MARKUP[:3], A],
        )
    ],
    "stack_losses": [(lambda: figures.stack_losses(first(SEEDS, 3)), MARKUP[:3])],
    "sub_layers": [(lambda: figures.sub_layers(each(MARKUP)), MARKUP * 6)],
    "time_and_memory": [
        (
            lambda: figures.time_and_memory([1, 2], first(TITLES, 4), {REST[-1]: [0.1, 0.9]}),
            MARKUP,
        )
    ],
    "training_flow": [
        (
            lambda name=name: figures.training_flow(
                dict.fromkeys(
                    ("batch", "logits", "loss", "gradient", "clip", "adam", "weights"), name
                )
            ),
            [name] * 7,
        )
        for name in MARKUP
    ],
    "weight_map": [(lambda: figures.weight_map(SQUARE, MARKUP, MARKUP), MARKUP * 2)],
    "where_they_come_from": [
        (lambda: figures.where_they_come_from(each((A, REST[-1]))), [*MARKUP, *[A, REST[-1]] * N])
    ],
    "word_focus": [(lambda: figures.word_focus([(MARKUP, [0.2] * N, 0)]), MARKUP)],
}


@pytest.mark.parametrize("name", sorted(DRAWN))
def test_names_are_shown_as_they_are(name: str) -> None:
    for draw, names in DRAWN[name]:
        figure = draw()
        figure.draw_without_rendering()  # here a formula that is none would be an error
        shown = [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]
        texts = [text for text in shown if any(part in text.get_text() for part in MARKUP)]
        assert not [text.get_text() for text in texts if text.get_parse_math()]
        found = [part for text in shown for part in {*names} if part in text.get_text()]
        for part in {*names}:
            assert found.count(part) >= names.count(part), part


def test_every_figure_that_takes_words_is_drawn_here() -> None:
    public = {name: getattr(figures, name) for name in figures.__all__}
    plots = {name: plot for name, plot in public.items() if inspect.isfunction(plot)}
    takes_words = {
        name
        for name, plot in plots.items()
        if any(
            word in str(parameter.annotation).replace(str(ArrayLike), "")
            for parameter in inspect.signature(plot).parameters.values()
            for word in ("str", "Beginning")
        )
    }
    assert takes_words == DRAWN.keys()


@pytest.mark.parametrize("scale", ["scaling_curves", "norm_bars", "stack_losses", "loss_curves"])
def test_powers_and_our_own_formulas_are_still_written_as_formulas(scale: str) -> None:
    big = {"a": [1.0, 1e6]}
    draw = {
        "scaling_curves": lambda: figures.scaling_curves(
            [1, 4], big | {"b": [1, 2]}, {**big, "b": [1, 2]}
        ),
        "norm_bars": lambda: figures.norm_bars({"a": {"b": 1e-3, "c": 10.0}}),
        "stack_losses": lambda: figures.stack_losses({"a": [[1.0, 1e-3]]}),
        "loss_curves": lambda: figures.loss_curves({"a": {"b": ([1, 2], [[1.0, 3.0]])}}, log=True),
    }
    figure = draw[scale]()
    figure.draw_without_rendering()
    ticks = [
        tick
        for axes in figure.axes
        for axis in (axes.xaxis, axes.yaxis)
        for tick in axis_ticks(axis)
    ]
    formulas = [t for tick in ticks for t in (tick.label1, tick.label2) if "$" in t.get_text()]
    own = [text for text in figure.findobj(Text) if "$" in text.get_text()]
    assert formulas or scale == "loss_curves"
    assert all(text.get_parse_math() for text in own)


def axis_ticks(axis: Any) -> list[Tick]:
    return [*axis.get_major_ticks(), *axis.get_minor_ticks()]
