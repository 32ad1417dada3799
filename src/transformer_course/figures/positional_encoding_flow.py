"""How words get their places, as a picture in which vectors flow, drawn for chapter 05."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from transformer_course.figures import flow
from transformer_course.figures.palette import INK, POSITION, QUIET, drawn

AT_END, OVER = ("right", "center"), ("center", "bottom")
LEFT, GAP = 1.5, 2.3  # edge of the words' vectors, and how far the positions are from them
POSITION_TEXT = "#8f3a66"  # the purple of positions, dark enough for words on white


@drawn
def position_flow(embeddings: Mapping[str, Sequence[float]], table: ArrayLike) -> Figure:
    """Draw how embeddings and the codes of their places become the input of the first layer.

    Args:
        embeddings: (d_model,) for each word; they are multiplied by the root of d_model.
        table: (length, d_model), the codes of positions 0, 1, 2, …

    Returns:
        The figure.

    Raises:
        ValueError: if there aren't as many rows in the table as words.

    >>> figure = position_flow({"I": [0.5, 0, 0, 0.2]}, [[0, 1, 0, 1]])
    >>> [text.get_text() for text in figure.axes[0].texts][-4:]
    ['1.00', '1.00', '.00', '1.40']
    """
    codes = np.asarray(table, dtype=float)
    words = np.array(list(embeddings.values()), dtype=float)
    if len(codes) != len(words):
        raise ValueError(
            f"table ({len(codes)} rows) must have one row for each word ({len(words)})"
        )
    length, d_model = codes.shape
    shape, right = f"({length}, {d_model})", LEFT + d_model + GAP
    figure, axes = flow.canvas(right + d_model + 0.2, 3 * length + 6.8)
    scaled = words * d_model**0.5
    for row, name in enumerate(embeddings):
        flow.words(axes, (LEFT - 0.2, row + 1.5), name, align=AT_END)
    centre = right + (d_model - 1) / 2
    _column(axes, LEFT, (LEFT, words), scaled, r"$\times\sqrt{d_\mathrm{model}}$", QUIET)
    places = np.arange(float(length))[:, None]
    _column(axes, right, (centre, places), codes, "sin, cos", POSITION)
    for x, y, text, colour in (
        (LEFT + d_model / 2, 0.8, f"embeddings {shape}", INK),
        (centre + 0.5, 0.8, f"places ({length})", POSITION_TEXT),
        (LEFT + d_model / 2, length + 3.6, f"words {shape}", INK),
        (right + d_model / 2, length + 3.6, f"positions {shape}", POSITION_TEXT),
    ):
        flow.words(axes, (x, y), text, colour, OVER, bold=True)
    _sum(axes, right, scaled + codes)
    return figure


def _column(
    axes: Axes,
    left: float,
    start: tuple[float, NDArray[np.float64]],
    end: NDArray[np.float64],
    does: str,
    colour: str,
) -> None:
    """Draw what comes in, the box that changes it, and what comes out."""
    length, d_model = end.shape
    middle = left + d_model / 2
    flow.numbers(axes, (start[0], 1), start[1], colour, 2 if start[1].shape == end.shape else 0)
    flow.arrow(axes, (middle, length + 1.1), (middle, length + 1.6), colour)
    flow.box(axes, (middle, length + 2.1), (d_model, 0.9), does, formula=True)
    flow.arrow(axes, (middle, length + 2.6), (middle, length + 3.1), colour)
    flow.numbers(axes, (left, length + 3.7), end, colour, 2)


def _sum(axes: Axes, right: float, total: NDArray[np.float64]) -> None:
    """Draw the addition below both columns."""
    length, d_model = total.shape
    top, middle = 2 * length + 3.8, (LEFT + right + d_model) / 2
    for left, side, colour in ((LEFT, -0.5, QUIET), (right, 0.5, POSITION)):
        corner = (left + d_model / 2, top + 0.8)
        flow.path(axes, [(corner[0], top), corner, (middle + side, top + 0.8)], colour)
    flow.box(axes, (middle, top + 0.8), (0.9, 0.9), "+")
    flow.arrow(axes, (middle, top + 1.3), (middle, top + 1.8), INK)
    name = f"input of layer 1 ({length}, {d_model})"
    flow.words(axes, (middle, top + 2.5), name, INK, OVER, bold=True)
    flow.numbers(axes, (middle - d_model / 2, top + 2.6), total, INK, 2)
