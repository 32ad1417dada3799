"""A mask between scores and weights, as a picture in which numbers flow, drawn for chapter 03."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from transformer_course.figures import flow
from transformer_course.figures.palette import MASK, QUERY, QUIET, drawn

LEFT, TOP, GAP = 1.9, 2.0, 1.2


@drawn
def mask_flow(
    scores: ArrayLike, mask: ArrayLike, weights: ArrayLike, tokens: Sequence[str]
) -> Figure:
    """Draw how scores become weights where a mask hides some keys.

    Args:
        scores: (q_len, k_len), after the division by the root of d_k.
        mask: the same shape, True where a query may attend.
        weights: the same shape.
        tokens: a name for each query.

    Returns:
        The figure.

    Raises:
        ValueError: if the shapes or the number of tokens differ.

    >>> figure = mask_flow([[1, 1], [1, 1]], [[1, 0], [1, 1]], [[1, 0], [0.5, 0.5]], "ab")
    >>> sum(text.get_text() == "−∞" for text in figure.axes[0].texts)
    1
    """
    fits, allowed, shares = np.asarray(scores), np.asarray(mask, dtype=bool), np.asarray(weights)
    if not fits.shape == allowed.shape == shares.shape or len(tokens) != len(fits):
        shapes = f"{fits.shape}, {allowed.shape}, {shares.shape}"
        raise ValueError(
            f"scores, mask and weights ({shapes}) must have one shape, a row for each of the "
            f"tokens ({len(tokens)})"
        )
    q_len, k_len = fits.shape
    lefts = [LEFT + block * (k_len + GAP) for block in range(3)]
    figure, axes = flow.canvas(lefts[2] + k_len + 0.2, TOP + q_len + 1.2)
    for row, token in enumerate(tokens):
        flow.words(axes, (LEFT - 0.2, TOP + row + 0.5), token, align=("right", "center"))
        _row(axes, (lefts[0], TOP + row), fits[row], allowed[row] | True, QUIET)
        _row(axes, (lefts[1], TOP + row), fits[row], allowed[row], QUIET)
        _row(axes, (lefts[2], TOP + row), shares[row], allowed[row] | True, QUERY)
    for left, title in zip(lefts, ("scores", "hidden", "weights"), strict=True):
        flow.words(axes, (left + k_len / 2, TOP - 1.3), title, bold=True)
        flow.words(axes, (left + k_len / 2, TOP - 0.5), f"({q_len}, {k_len})")
    for left, name in ((lefts[1], "mask"), (lefts[2], "softmax")):
        middle = TOP + q_len / 2
        flow.arrow(axes, (left - GAP + 0.15, middle), (left - 0.15, middle))
        flow.words(axes, (left - GAP / 2, TOP + q_len + 0.6), name)
    return figure


def _row(
    axes: Axes,
    corner: flow.Point,
    numbers: NDArray[np.float64],
    shown: NDArray[np.bool_],
    colour: str,
) -> None:
    """A square for each number; hidden ones have the colour of masks."""
    for column, number in enumerate(numbers):
        at = (corner[0] + column, corner[1])
        if shown[column]:
            strength = 0.1 + 0.6 * number if colour == QUERY else 0.1
            flow.numbers(axes, at, [[number]], colour, 2, [[strength]])
        else:
            flow.numbers(axes, at, [[-np.inf]], MASK, 0, [[0.35]])
