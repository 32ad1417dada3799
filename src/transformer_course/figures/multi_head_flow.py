"""Multi-head attention for one word, as a picture in which numbers flow, drawn for chapter 04."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from transformer_course.figures import flow
from transformer_course.figures.palette import QUERY, QUIET, VALUE, VALUE_TEXT, drawn

LEFT, APART = 3.4, 1.6  # of the first head's squares; between two heads
AT_END = ("right", "center")


@drawn
def multi_head_flow(
    names: Sequence[str], vector: ArrayLike, weights: ArrayLike, heads: ArrayLike, output: ArrayLike
) -> Figure:
    """Draw what becomes of one word: a look of each head, side by side, then one projection.

    Args:
        names: the words that are looked at, (k_len,).
        vector: of the word that asks, (d_model,).
        weights: (n_heads, k_len).
        heads: output of each head, (n_heads, d_v).
        output: (d_model,).

    Returns:
        The figure.

    Raises:
        ValueError: if there isn't a weight for each name, or an output for each head.

    >>> figure = multi_head_flow("ab", [1, 2], [[1, 0], [0, 1]], [[3], [4]], [3, 4])
    >>> [text.get_text() for text in figure.axes[0].texts if "head" in text.get_text()]
    ['head 1', 'head 2']
    """
    maps, parts = np.asarray(weights, dtype=float), np.asarray(heads, dtype=float)
    if maps.shape != (len(parts), len(names)):
        raise ValueError(
            f"weights {maps.shape} must be one for each of the heads ({len(parts)}) and names "
            f"({len(names)})"
        )
    x, y = np.asarray(vector, dtype=float), np.asarray(output, dtype=float)
    wide = max(len(names), parts.shape[1])
    lefts = [LEFT + head * (wide + APART) for head in range(len(parts))]
    right = lefts[-1] + wide
    figure, axes = flow.canvas(right + 0.3, 14.6)
    middle = (LEFT + right) / 2
    _row(axes, middle, 0.3, "word", x, QUIET, 0)
    for number, (left, share, part) in enumerate(zip(lefts, maps, parts, strict=True), 1):
        at = left + wide / 2
        flow.arrow(axes, (middle, 1.4), (at, 2.6))
        flow.box(axes, (at, 3.3), (wide, 1.2), f"head {number}")
        flow.arrow(axes, (at, 4.0), (at, 5.0))
        for place, name in enumerate(names):
            flow.words(axes, (left + place + 0.5, 5.4), name, size=9)
        flow.numbers(axes, (left, 5.8), [share], QUERY, 2, [0.15 + 0.6 * share])
        flow.arrow(axes, (at, 6.9), (at, 7.8), VALUE)
        flow.numbers(axes, (at - len(part) / 2, 7.9), [part], VALUE, 2)
        flow.arrow(axes, (at, 9.0), (middle + (at - middle) / 2, 10.0), VALUE)
    flow.words(axes, (LEFT - 0.4, 6.3), f"weights ({len(names)})", align=AT_END)
    flow.words(axes, (LEFT - 0.4, 8.4), f"output ({parts.shape[1]})", VALUE_TEXT, align=AT_END)
    _row(axes, middle, 10.1, "side by side", parts.flatten(), VALUE, 2)
    flow.arrow(axes, (middle, 11.2), (middle, 11.6))
    flow.box(axes, (middle, 12.1), (3.0, 0.9), "$W^O$", formula=True)
    flow.arrow(axes, (middle, 12.6), (middle, 13.2))
    _row(axes, middle, 13.3, "output", y, VALUE, 2)
    return figure


def _row(
    axes: Axes,
    middle: float,
    top: float,
    name: str,
    row: NDArray[np.float64],
    colour: str,
    digits: int,
) -> None:
    """A vector under the middle, its name and shape before it."""
    left = middle - len(row) / 2
    flow.numbers(axes, (left, top), [row], colour, digits)
    flow.words(axes, (LEFT - 0.4, top + 0.5), f"{name} ({len(row)})", align=AT_END, bold=True)
