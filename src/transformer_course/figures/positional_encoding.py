"""The plots of chapter 05. Numbers come from the notebook; nothing is computed here but places on paper."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from transformer_course.figures.palette import (
    INK,
    LINE,
    POSITION,
    QUIET,
    WEIGHTS,
    drawn,
    legend_name,
)

SIGNED = LinearSegmentedColormap.from_list("signed", ["#2f3942", "#ffffff", "#b0417f"])
"""Below 0 dark grey, 0 white, above 0 purple: the colour of positions."""


@drawn
def position_map(table: ArrayLike, marked: int | None = None) -> Figure:
    """Draw a table of positions as a heat map: a row for each position, a column for each dimension.

    Args:
        table: (length, d_model), numbers from -1 to 1.
        marked: a row to point at.

    Returns:
        The figure.
    """
    grid = np.asarray(table, dtype=float)
    figure, axes = plt.subplots(figsize=(6.0, 3.8))
    image = axes.imshow(grid, cmap=SIGNED, vmin=-1, vmax=1, aspect="auto", interpolation="nearest")
    axes.set(xlabel="dimension", ylabel="position")
    axes.spines[:].set_visible(False)
    if marked is not None:
        axes.axhline(marked, color=INK, lw=1, ls="--")
        axes.annotate(
            f"position {marked}",
            (grid.shape[1] - 1, marked),
            xytext=(0, 6),
            textcoords="offset points",
            ha="right",
            color=INK,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
        )
    bar = figure.colorbar(image, ax=axes, ticks=[-1, 0, 1], fraction=0.04)
    bar.ax.set_yticklabels(["−1", "0", "1"])
    bar.outline.set_visible(False)
    return figure


@drawn
def position_waves(waves: Mapping[str, ArrayLike], marked: Sequence[int]) -> Figure:
    """Draw one wave under the other, with dots at the positions and a value at the marked ones.

    Args:
        waves: for each wave its name and its height at positions 0, 1, 2, …
        marked: positions whose heights are written beside them.

    Returns:
        The figure.

    Raises:
        IndexError: if a marked position is beyond the end of a wave.
    """
    figure, panels = plt.subplots(len(waves), 1, figsize=(5.8, 1.5 * len(waves)), sharex=True)
    for axes, (name, heights) in zip(np.atleast_1d(panels), waves.items(), strict=True):
        values = np.asarray(heights, dtype=float)
        axes.axhline(0, color=LINE, lw=1)
        axes.plot(values, "-", color=POSITION, lw=1.6)
        axes.plot(values, "o", color=POSITION, ms=3.5)
        for place in marked:
            axes.axvline(place, color=QUIET, lw=1, ls=":")
            axes.plot(place, values[place], "o", color=INK, ms=6)
            axes.annotate(
                f"{values[place]:.2f}", (place, values[place]), xytext=(8, -3),
                textcoords="offset points", color=INK,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8, "alpha": 0.8},
            )  # fmt: skip
        axes.set(ylim=(-1.35, 1.35), yticks=[-1, 0, 1])
        axes.set_title(name, loc="left", fontsize=11)
    np.atleast_1d(panels)[-1].set_xlabel("position")
    return figure


@drawn
def position_products(products: ArrayLike, rows: Mapping[str, ArrayLike]) -> Figure:
    """Draw dot products of positions: all of them as a map, and some rows against the offset.

    Args:
        products: (length, length).
        rows: for each name at most three lists of dot products, for offsets 0, 1, 2, …

    Returns:
        The figure.
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=(6.8, 3.6))
    left.imshow(np.asarray(products, dtype=float), cmap=WEIGHTS, interpolation="nearest")
    left.set(xlabel="position", ylabel="position")
    left.set_title("dot products", loc="left")
    left.spines[:].set_visible(False)
    marks = (("o", 9, "none"), ("s", 5, "none"), (".", 4, POSITION))
    for (name, values), (mark, size, face) in zip(rows.items(), marks, strict=False):
        line = "-" if mark == "." else ""
        right.plot(
            np.asarray(values),
            line,
            marker=mark,
            ms=size,
            mfc=face,
            lw=1,
            color=POSITION,
            label=legend_name(name),
        )
    right.set(xlabel="offset k")
    right.set_title("PE(p) · PE(p + k)", loc="left")
    right.legend()
    return figure


@drawn
def score_grid(
    scores: ArrayLike,
    rows: Sequence[str],
    columns: Sequence[str],
    label: str = "",
    headings: Mapping[int, str] | None = None,
) -> Figure:
    """Draw a table of shares, 0 to 1, as coloured squares with percentages.

    Args:
        scores: (rows, columns).
        rows: a name for each row.
        columns: a name for each column.
        label: what the columns are.
        headings: for the first row of each group, counted from 0, what the group has in common.

    Returns:
        The figure.

    Raises:
        ValueError: if a heading belongs to a row that doesn't exist.
    """
    headings = headings or {}
    for first in headings:
        if first not in range(len(rows)):
            raise ValueError(f"headings ({first}) must be rows, 0 to {len(rows) - 1}")
    places = [row + sum(first <= row for first in headings) for row in range(len(rows))]
    letters = max(len(line) for name in columns for line in name.split("\n"))
    width = max(0.62, 0.1 + 0.075 * letters)  # of a column, in inches: no wider than its name
    lines = len(rows) + len(headings)
    figure, axes = plt.subplots(figsize=(1.8 + width * len(columns), 1.3 + 0.44 * lines))
    _shares(axes, np.asarray(scores, dtype=float), places, lines)
    axes.set_xticks(range(len(columns)), columns, fontsize=10)
    axes.set_yticks(places, rows, fontsize=11)
    axes.set_xlabel(label)
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    for first, heading in headings.items():
        axes.text(-0.48, places[first] - 0.8, heading, va="center", color=INK, fontweight="bold")
    return figure


def _shares(axes: Axes, grid: NDArray[np.float64], places: Sequence[int], lines: int) -> None:
    """Draw each row of shares at its place; the other lines stay white."""
    colours = np.full((lines, grid.shape[1]), np.nan)
    colours[list(places)] = grid
    axes.imshow(colours, cmap=WEIGHTS, vmin=0, vmax=1.15, aspect="auto")
    for row, column in np.ndindex(grid.shape):
        share = float(grid[row, column])
        ink = "white" if share > 0.65 else "black"
        axes.text(column, places[row], f"{share:.0%}", ha="center", va="center", color=ink)
