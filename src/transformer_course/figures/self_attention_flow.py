"""Two pictures of chapter 02: a sentence flows through self-attention, and a step that is always the same."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from transformer_course.figures import flow
from transformer_course.figures.palette import (
    INK,
    KEY,
    KEY_TEXT,
    LINE,
    QUERY,
    QUIET,
    VALUE,
    VALUE_TEXT,
    drawn,
)

Matrix = NDArray[np.float64]
AT_END = ("right", "center")
MIDDLES = (3.6, 7.2, 11.4)  # of queries, keys and values, from left to right
WIDTH = 13.2  # of the sheet
WRONG = "#a34700"


@drawn
def self_attention_flow(
    words: Sequence[str],
    x: ArrayLike,
    views: tuple[ArrayLike, ArrayLike, ArrayLike],
    weights: ArrayLike,
    output: ArrayLike,
    asks: int,
) -> Figure:
    """Draw how a sentence becomes queries, keys and values, and these become its new vectors.

    Args:
        words: a name for each row.
        x: (n, d_model).
        views: queries (n, d_k), keys (n, d_k) and values (n, d_v).
        weights: (n, n).
        output: (n, d_v).
        asks: the row that is drawn darker where it asks and where it receives.

    Returns:
        The figure.

    Raises:
        ValueError: if a matrix hasn't one row for each word.

    >>> one = [[1.0]]
    >>> figure = self_attention_flow(["cat"], one, (one, one, one), one, one, asks=0)
    >>> [text.get_text() for text in figure.axes[0].texts if "(" in text.get_text()]
    ['X (1, 1)', 'Q (1, 1)', 'K (1, 1)', 'V (1, 1)', 'weights (1, 1)', 'output (1, 1)']
    """
    names = ("X", "Q", "K", "V", "weights", "output")
    given = (x, *views, weights, output)
    parts = {name: np.asarray(part, dtype=float) for name, part in zip(names, given, strict=True)}
    for name, part in parts.items():
        if len(part) != len(words):
            raise ValueError(
                f"{name} must have a row for each of the {len(words)} words, got {len(part)}"
            )
    n = len(words)
    figure, axes = flow.canvas(WIDTH, 3 * n + 8.0)
    _matrix(axes, (MIDDLES[1], 1.0), "X", parts["X"], asks, words)
    _views(axes, parts, 1.0 + n, asks)
    _result(axes, parts, 2 * n + 4.7, asks, words)
    return figure


def _matrix(
    axes: Axes,
    top: flow.Point,
    name: str,
    part: Matrix,
    asks: int | None = None,
    words: Sequence[str] = (),
) -> None:
    """Draw a matrix below its name and shape; `top` is the middle of its upper edge."""
    colours = {"X": (QUIET, INK), "K": (KEY, KEY_TEXT), "V": (VALUE, VALUE_TEXT)}
    colours |= {"output": (VALUE, VALUE_TEXT)}
    edge, ink = colours.get(name, (QUERY, QUERY))
    left = top[0] - part.shape[1] / 2
    title = f"{name} {part.shape}"
    flow.words(axes, (top[0], top[1] - 0.1), title, ink, ("center", "bottom"), bold=True)
    strengths = np.full(part.shape, 0.12)
    if asks is not None:
        strengths[asks] = 0.45
    digits = 0 if np.array_equal(part, part.round()) else 2
    flow.numbers(axes, (left, top[1]), part, edge, digits, strengths)
    for row, word in enumerate(words):
        flow.words(axes, (left - 0.2, top[1] + row + 0.5), word, align=AT_END)


def _views(axes: Axes, parts: Mapping[str, Matrix], bottom: float, asks: int) -> None:
    """Draw the three projections below the words, whose lower edge is `bottom`, and what they give."""
    inks = (QUERY, KEY, VALUE)
    for name, middle, colour in zip("QKV", MIDDLES, inks, strict=True):
        start = MIDDLES[1] + (middle > MIDDLES[1]) - (middle < MIDDLES[1])
        level = bottom + 0.5
        corners = [(start, bottom + 0.05), (start, level), (middle, level), (middle, bottom + 1.0)]
        flow.path(axes, corners, QUIET)
        flow.box(axes, (middle, bottom + 1.5), (2.2, 1.0), rf"$\times\, W^{name}$", formula=True)
        flow.arrow(axes, (middle, bottom + 2.0), (middle, bottom + 2.55), colour)
        row = asks if name == "Q" else None
        _matrix(axes, (middle, bottom + 3.5), name, parts[name], row)


def _result(
    axes: Axes, parts: Mapping[str, Matrix], top: float, asks: int, words: Sequence[str]
) -> None:
    """Draw what queries, keys and values become; `top` is below their lower edge."""
    asking, offering, passing = MIDDLES
    middle = (asking + offering) / 2
    for start, colour in ((asking, QUERY), (offering, KEY)):
        flow.arrow(axes, (start, top - 0.15), (start, top + 0.5), colour)
    does = r"dot, $\div\sqrt{d_k}$, softmax"
    flow.box(axes, (middle, top + 1.0), (6.2, 1.0), does, formula=True)
    flow.arrow(axes, (middle, top + 1.5), (middle, top + 2.1), QUERY)
    _matrix(axes, (middle, top + 3.1), "weights", parts["weights"], asks, words)
    flow.box(axes, (passing, top + 1.0), (3.2, 1.0), "average")
    flow.arrow(axes, (passing, top - 0.15), (passing, top + 0.5), VALUE)
    right, level = middle + parts["weights"].shape[1] / 2, top + 3.6 + asks
    turn = middle + 3.5  # between the two boxes
    corners = [(right + 0.1, level), (turn, level), (turn, top + 1.0), (passing - 1.6, top + 1.0)]
    flow.path(axes, corners, QUERY)
    flow.arrow(axes, (passing, top + 1.5), (passing, top + 2.1), VALUE)
    _matrix(axes, (passing, top + 3.1), "output", parts["output"], asks)


@drawn
def same_step(
    sums: Mapping[str, Sequence[float]],
    wanted: Mapping[str, Sequence[int]],
    endings: Sequence[str],
    sides: tuple[str, str],
) -> Figure:
    """Draw sums on a line: from one ending to the other it is the same step, whatever stands before.

    Args:
        sums: for each beginning, the sum with each of the two endings.
        wanted: for each beginning, the sign that each sum should have, -1 or 1.
        endings: names of the two endings.
        sides: what a negative sum means, and what a positive one means.

    Returns:
        The figure.

    Raises:
        KeyError: if a beginning has no wanted signs.
        ValueError: if a beginning hasn't two sums and two wanted signs.
    """
    figure, axes = plt.subplots(figsize=(5.4, 0.8 + 1.3 * len(sums)))
    axes.axvline(0, color=QUIET, lw=1.2)
    reach = 1.4 * max(abs(total) for pair in sums.values() for total in pair)
    for row, (beginning, pair) in enumerate(sums.items()):
        flow.words(axes, (-reach, row - 0.15), beginning, align=("left", "center"), bold=True)
        axes.plot([-reach, reach], [row, row], color=LINE, lw=1, zorder=0)
        flow.arrow(axes, (pair[0], row), (pair[1], row), QUIET, 2.0)
        step = f"{pair[1] - pair[0]:+g}"
        flow.words(axes, (sum(pair) / 2, row - 0.15), step, QUIET, bold=True)
        for ending, total, sign in zip(endings, pair, wanted[beginning], strict=True):
            _answer(axes, (total, row), ending, (sides[int(total > 0)], sides[int(sign > 0)]))
    axes.set(xlim=(-reach, reach), ylim=(len(sums) - 0.4, -0.4))
    axes.set_xlabel(f"sum of the parts: negative {sides[0]}, positive {sides[1]}")
    axes.set_yticks([])
    axes.spines[["left", "right", "top"]].set_visible(False)
    return figure


def _answer(axes: Axes, at: flow.Point, ending: str, said_wanted: tuple[str, str]) -> None:
    """Mark one sum, and write below it what it says and, if that is wrong, what it should say."""
    said, wanted = said_wanted
    right = said == wanted
    colour, ink = (VALUE, VALUE_TEXT) if right else (WRONG, WRONG)
    axes.plot([at[0]], [at[1]], marker="o" if right else "X", color=colour, ms=12)
    verdict = f"{said}, right" if right else f"{said}, wrong"
    place = (at[0], at[1] + 0.13)
    flow.words(axes, place, f"{ending}\n{verdict}", ink, ("center", "top"), size=11)
