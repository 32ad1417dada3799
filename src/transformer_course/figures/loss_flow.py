"""From logits to a loss and back to its gradient, as a picture in which numbers flow, drawn for chapter 08."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from transformer_course.figures import flow
from transformer_course.figures.palette import QUERY, QUIET, VALUE, VALUE_TEXT, drawn

LEFT = 4.6  # of the squares; the names stand before them


@drawn
def loss_flow(
    words: Sequence[str], logits: ArrayLike, probabilities: ArrayLike, wanted: ArrayLike
) -> Figure:
    """Draw how logits become probabilities, a loss, and a gradient.

    Args:
        words: the vocabulary, (vocab_size,).
        logits: (vocab_size,).
        probabilities: (vocab_size,), the softmax of the logits.
        wanted: (vocab_size,), the target: one-hot or smoothed.

    Returns:
        The figure.

    Raises:
        ValueError: if there aren't as many of each as words.

    >>> figure = loss_flow("ab", [0, 0], [0.5, 0.5], [1, 0])
    >>> [text.get_text() for text in figure.axes[0].texts if "loss" in text.get_text()]
    ['loss 0.69']
    """
    rows = [np.asarray(row, dtype=float) for row in (logits, probabilities, wanted)]
    sizes = [len(words), *map(len, rows)]
    if len(set(sizes)) > 1:
        raise ValueError(f"words, logits, probabilities, wanted ({sizes}) must be equally many")
    z, p, q = rows
    size, wide = len(words), 2.2
    figure, axes = flow.canvas(LEFT + wide * size + 3.7, 10.6)
    for place, word in enumerate(words):
        flow.words(axes, (LEFT + wide * (place + 0.5), 0.5), word)
    for top, name, row, colour in (
        (1.1, "logits z", z, QUIET),
        (4.1, "predicted p", p, QUERY),
        (6.0, "wanted q", q, VALUE),
        (9.4, "gradient p − q", p - q, QUIET),
    ):
        flow.words(
            axes, (LEFT, top + 0.5), f"{name} ({size})", align=("right", "center"), bold=True
        )
        for place, number in enumerate(row):
            at = (LEFT + wide * place + (wide - 1) / 2, top)
            flow.numbers(axes, at, [[number]], colour, 2, [[0.1 + 0.5 * min(abs(number), 1)]])
    middle = LEFT + wide * size / 2
    _step(axes, (middle, 2.2), (middle, 4.0), "softmax", wide * size)
    _step(axes, (middle, 7.1), (middle, 9.3), "subtract", wide * size)
    right = LEFT + wide * size - 0.3
    price = float(-(q * np.log(p)).sum())
    flow.path(axes, [(right, 4.6), (right + 1.9, 4.6), (right + 1.9, 5.0)], QUERY)
    flow.path(axes, [(right, 6.5), (right + 1.9, 6.5), (right + 1.9, 6.0)], VALUE)
    flow.box(axes, (right + 1.9, 5.5), (3.9, 0.8), "sum of −q ln p")
    flow.words(axes, (right + 1.9, 7.2), f"loss {price:.2f}", VALUE_TEXT, bold=True)
    return figure


def _step(axes: Axes, start: flow.Point, end: flow.Point, name: str, wide: float) -> None:
    """An arrow into a box, and one out of it."""
    x, middle = start[0], (start[1] + end[1]) / 2
    flow.arrow(axes, start, (x, middle - 0.4))
    flow.box(axes, (x, middle), (wide * 0.6, 0.8), name)
    flow.arrow(axes, (x, middle + 0.4), end)
