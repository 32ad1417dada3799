"""Plots that several chapters use."""

from collections.abc import Mapping, Sequence
from typing import Literal

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike

from transformer_course.figures.palette import (
    HATCH,
    INK,
    KEY_TEXT,
    LINE,
    MASK,
    QUERY,
    QUIET,
    WEIGHTS,
    drawn,
    legend_name,
)

STROKES = ((INK, "-"), (QUIET, "--"), (INK, ":"))


@drawn
def weight_map(
    weights: ArrayLike,
    queries: Sequence[str],
    keys: Sequence[str],
    mask: ArrayLike | None = None,
) -> Figure:
    """Draw attention weights as a grid: a row for each query, a column for each key.

    Every square carries its number, so that no colour has to be read exactly.

    Args:
        weights: (q_len, k_len), numbers from 0 to 1; a torch tensor or an array.
        queries: a name for each row.
        keys: a name for each column.
        mask: boolean, (q_len, k_len), True = may attend; what is hidden is hatched and has no number.

    Returns:
        The figure.

    Raises:
        ValueError: if names, or the mask, don't fit the weights.

    >>> figure = weight_map([[0.9, 0.1]], ["chat"], ["cat", "mat"])
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['0.90', '0.10']
    """
    grid = np.asarray(weights, dtype=float)
    allowed = np.ones(grid.shape, bool) if mask is None else np.asarray(mask)
    if grid.shape != (len(queries), len(keys)) or allowed.shape != grid.shape:
        raise ValueError(
            f"weights must have a row for each of the {len(queries)} queries, a column for each of the "
            f"{len(keys)} keys, and the mask's shape, got {grid.shape} and mask {allowed.shape}"
        )
    figure, axes = plt.subplots(figsize=(1.35 + 0.76 * len(keys), 1.3 + 0.62 * len(queries)))
    axes.imshow(np.where(allowed, grid, 0.0), cmap=WEIGHTS, vmin=0, vmax=1, aspect="auto")
    axes.set_xticks(range(len(keys)), keys)
    axes.set_yticks(range(len(queries)), queries)
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.set_xlabel("keys", color=KEY_TEXT, fontweight="bold")
    axes.set_ylabel("queries", color=QUERY, fontweight="bold")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    for row, column in np.ndindex(grid.shape):
        _square(axes, row, column, float(grid[row, column]), bool(allowed[row, column]))
    return figure


def _square(axes: Axes, row: int, column: int, weight: float, allowed: bool) -> None:
    """Write the number of one square, or hatch it."""
    if allowed:
        colour = "white" if weight > 0.72 else "black"  # whichever stands out more
        axes.text(column, row, f"{weight:.2f}", ha="center", va="center", color=colour)
    else:
        hatched(axes, column - 0.5, row - 0.5)


def hatched(axes: Axes, x: float, y: float) -> None:
    """Draw the square of a pair that a mask hides, one unit wide.

    Args:
        axes: where to draw.
        x: left edge, in the units of the axes.
        y: the corner's other coordinate.
    """
    square = Rectangle((x, y), 1, 1, facecolor="#eeeeee", edgecolor=MASK, hatch=HATCH, lw=0)
    axes.add_patch(square)


@drawn
def learning_curves(
    steps: Sequence[float],
    curves: Mapping[str, Sequence[Sequence[float]]],
    legend: Literal["lower right", "center right"] = "lower right",
) -> Figure:
    """Draw how scores grew in training: a thin line for each seed, a thick one for their mean.

    Args:
        steps: updates at which the scores were taken.
        curves: for each of at most three scores, a list for each seed: numbers from 0 to 1, as many as steps.
        legend: where the names stand, in matplotlib's words.

    Returns:
        The figure.

    Raises:
        ValueError: if there are more than three scores, or a list has another length than `steps`.

    >>> figure = learning_curves([100, 200], {"right": [[0.1, 0.9], [0.3, 0.7]]})
    >>> [line.get_ydata().tolist() for line in figure.axes[0].lines]
    [[0.1, 0.9], [0.3, 0.7], [0.2, 0.8]]
    """
    if len(curves) > len(STROKES):
        raise ValueError(f"curves ({len(curves)}) must be {len(STROKES)} or fewer")
    figure, axes = plt.subplots(figsize=(6.6, 3.9))
    for (name, seeds), (colour, dashes) in zip(curves.items(), STROKES, strict=False):
        for values in seeds:
            if len(values) != len(steps):
                raise ValueError(
                    f"curves[{name!r}] has {len(values)} values for {len(steps)} steps"
                )
            axes.plot(steps, values, color=colour, linestyle=dashes, linewidth=0.8, alpha=0.6)
        axes.plot(
            steps, np.mean(seeds, axis=0), color=colour, linestyle=dashes, label=legend_name(name)
        )
    axes.set(xlabel="updates", ylabel="share that is right", xlim=(0, max(steps)), ylim=(0, 1.02))
    axes.yaxis.grid(True, color=LINE)
    axes.legend(loc=legend)
    return figure
