"""The plots of chapter 03: masks as grids, leaks marked in them, and the exam that was too easy."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike, NDArray

from transformer_course.figures.palette import INK, KEY_TEXT, QUERY, QUIET, WEIGHTS, drawn
from transformer_course.figures.plots import hatched

SEEN = 0.42  # place of "may attend" on the colour map of weights
LEAK, USED = "#d55e00", "#56b4e9"


@drawn
def mask_grids(
    masks: Mapping[str, ArrayLike],
    queries: Sequence[Sequence[str]],
    keys: Sequence[Sequence[str]],
    leaks: Sequence[Sequence[tuple[int, int]]] = (),
) -> Figure:
    """Draw masks side by side: blue where a query may attend to a key, hatched where it may not.

    Args:
        masks: a boolean grid (q_len, k_len) for each title, True = may attend.
        queries: for each mask, a name for each row.
        keys: for each mask, a name for each column.
        leaks: for each mask, pairs (query, key) to be marked as leaks; none if left out.

    Returns:
        The figure, one panel for each mask.

    Raises:
        ValueError: if names or leaks don't fit the masks.

    >>> figure = mask_grids({"causal": [[True, False], [True, True]]}, ["ab"], ["xy"])
    >>> len(figure.axes[0].patches)
    4
    """
    grids = {title: np.asarray(mask, dtype=bool) for title, mask in masks.items()}
    for (title, grid), rows, columns in zip(grids.items(), queries, keys, strict=True):
        if grid.shape != (len(rows), len(columns)):
            raise ValueError(
                f"mask {title!r} must have a row for each of the {len(rows)} queries and a column for "
                f"each of the {len(columns)} keys, got {grid.shape}"
            )
    widest = max(grid.shape[1] for grid in grids.values())
    tallest = max(grid.shape[0] for grid in grids.values())
    size = (min(6.6, len(grids) * (0.7 + 0.45 * widest)), 1.35 + 0.36 * tallest)
    figure, panels = plt.subplots(1, len(grids), figsize=size, squeeze=False)
    marked = leaks or [()] * len(grids)
    for axes, title, rows, columns, pairs in zip(
        panels[0], grids, queries, keys, marked, strict=True
    ):
        _grid(axes, grids[title], set(pairs))
        axes.annotate(
            title,
            (0.5, 0),
            xycoords="axes fraction",
            xytext=(0, -6),
            textcoords="offset points",
            ha="center",
            va="top",
            fontweight="bold",
        )
        room = 4 if len(grids) == 1 else 2  # letters; an "I" that is turned looks like a dash
        slant = {"rotation": 90} if max(map(len, columns)) > room else {}
        axes.xaxis.tick_top()
        axes.xaxis.set_label_position("top")
        axes.set_xticks(np.arange(len(columns)) + 0.5, columns, **slant)
        axes.set_yticks(np.arange(len(rows)) + 0.5, rows)
        axes.set_xlabel("keys", color=KEY_TEXT, fontweight="bold", labelpad=8)
    panels[0, 0].set_ylabel("queries", color=QUERY, fontweight="bold")
    return figure


def _grid(axes: Axes, mask: NDArray[np.bool_], leaks: set[tuple[int, int]]) -> None:
    """Draw the squares of one mask."""
    for row, column in np.ndindex(mask.shape):
        if (row, column) in leaks:
            middle = (column + 0.5, row + 0.5)
            axes.add_patch(Rectangle((column, row), 1, 1, facecolor=LEAK, edgecolor="white"))
            axes.annotate("!", middle, ha="center", va="center", color="white", fontweight="bold")
        elif mask[row, column]:
            colour = plt.get_cmap(WEIGHTS)(SEEN)
            axes.add_patch(Rectangle((column, row), 1, 1, facecolor=colour, edgecolor="white"))
        else:
            hatched(axes, column, row)
    axes.set(xlim=(0, mask.shape[1]), ylim=(mask.shape[0], 0), aspect="equal")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


@drawn
def exam_bars(scores: Mapping[str, tuple[float, float]], best: float) -> Figure:
    """Draw how many words each model gets right in training, and when it is used.

    Args:
        scores: for each model its two shares of right words, from 0 to 1: in training, in use.
        best: the largest share that is possible on average without seeing the answer; a sample may be above.

    Returns:
        The figure.

    Raises:
        ValueError: if a model hasn't two shares.
    """
    figure, axes = plt.subplots(figsize=(6.0, 3.4))
    names = []
    for i, (model, values) in enumerate(scores.items()):
        for j, (value, colour) in enumerate(zip(values, (QUIET, USED), strict=True)):
            axes.bar(place := 2.4 * i + j, value, width=0.85, color=colour)
            axes.annotate(
                f"{100 * value:.0f} %",
                (place, value),
                xytext=(0, 4),
                textcoords="offset points",
                ha="center",
            )
            names.append((place, ("in training", "in use")[j]))
        axes.annotate(
            model,
            (2.4 * i + 0.5, 0),
            xytext=(0, -26),
            textcoords="offset points",
            ha="center",
            va="top",
            fontweight="bold",
        )
    axes.axhline(best, color=INK, ls="--", lw=1.2)
    axes.annotate(
        "best possible on average,\nwithout seeing the answer",
        (2.4 * len(scores) - 1.8, best),
        xytext=(0, -6),
        textcoords="offset points",
        va="top",
        annotation_clip=False,
    )
    axes.set_xticks(*zip(*names, strict=True))
    axes.set(ylim=(0, 1.15), yticks=[0, 0.5, 1], ylabel="words predicted right")
    axes.set_yticklabels(["0 %", "50 %", "100 %"])
    return figure
