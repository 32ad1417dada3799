"""One step of a beam search as a picture in which numbers flow, drawn for chapter 09."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from transformer_course.figures import flow
from transformer_course.figures.palette import QUERY, QUIET, VALUE, VALUE_TEXT, drawn

WIDE, LEFT, TOP = 2.1, 3.2, 2.6


@drawn
def beam_flow(
    words: Sequence[str],
    drafts: Sequence[str],
    totals: ArrayLike,
    kept: Sequence[tuple[int, int]],
    ended: Sequence[tuple[int, int]],
) -> Figure:
    """Draw how the drafts of one step become those of the next.

    Args:
        words: the vocabulary, (vocab_size,).
        drafts: what is written so far, (beam,).
        totals: sum of log-probabilities of each draft with each next word, (beam, vocab_size).
        kept: (draft, word) of the candidates that go on, best first.
        ended: (draft, word) of those that are put aside.

    Returns:
        The figure.

    Raises:
        ValueError: if `totals` doesn't fit drafts and words.

    >>> figure = beam_flow("ab", ["x"], [[-1.0, -2.0]], [(0, 0)], [(0, 1)])
    >>> [text.get_text() for text in figure.axes[0].texts if "reorder" in text.get_text()]
    ['reorder [0]']
    """
    sums = np.asarray(totals, dtype=float)
    if sums.shape != (len(drafts), len(words)):
        raise ValueError(
            f"totals {sums.shape} must be ({len(drafts)}, {len(words)}): a row for each of the drafts, a "
            "column for each of the words"
        )
    right = LEFT + WIDE * len(words)
    foot = TOP + 1.3 * len(drafts)
    figure, axes = flow.canvas(right + 0.3, foot + 3.2 + 1.1 * len(kept))
    flow.words(axes, (LEFT - 0.3, TOP - 0.8), "open drafts", align=("right", "center"), bold=True)
    shape = f"last tokens ({len(drafts)}) + cache → logits {sums.shape} → sums"
    flow.words(axes, (right, 0.6), shape, QUIET, ("right", "center"))
    for column, word in enumerate(words):
        flow.words(axes, (LEFT + WIDE * (column + 0.5), TOP - 0.8), word, size=10)
    for row, draft in enumerate(drafts):
        y = TOP + 1.3 * row
        flow.words(axes, (LEFT - 0.3, y + 0.5), f"{row}: {draft}", align=("right", "center"))
        for column, total in enumerate(sums[row]):
            place = (row, column)
            colour = QUERY if place in kept else VALUE if place in ended else QUIET
            strength = 0.12 if colour == QUIET else 0.45
            at = (LEFT + WIDE * column + (WIDE - 1) / 2, y)
            flow.numbers(axes, at, [[total]], colour, 1, [[strength]])
    flow.arrow(axes, (LEFT / 2 + right / 2, foot + 0.1), (LEFT / 2 + right / 2, foot + 1.1))
    flow.words(axes, (LEFT / 2 + right / 2 + 0.3, foot + 0.6), "the best", align=("left", "center"))
    for line, (row, column) in enumerate(kept):
        text = f"{drafts[row]} {words[column]}  {sums[row, column]:.2f}"
        flow.words(
            axes, (LEFT, foot + 1.7 + 1.1 * line), f"{line}: {text}", align=("left", "center")
        )
    for line, (row, column) in enumerate(ended):
        text = f"put aside: {drafts[row]} {words[column]}  {sums[row, column]:.2f}"
        at = (LEFT, foot + 1.8 + 1.1 * (len(kept) + line))
        flow.words(axes, at, text, VALUE_TEXT, ("left", "center"))
    parents = [row for row, _ in kept]
    flow.words(
        axes, (LEFT - 0.3, foot + 1.7), f"reorder {parents}", align=("right", "center"), bold=True
    )
    return figure
