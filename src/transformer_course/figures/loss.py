"""The plots of chapter 08. Numbers come from the notebook; nothing is computed here but places on paper."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike

from transformer_course.figures.palette import INK, LINE, QUIET, WEIGHTS, drawn, legend_name

PREDICTED, WANTED = "#56b4e9", "#d55e00"
SHADES = ("#1f2328", "#d55e00", "#56b4e9")  # three models side by side
MARKS = ("o", "s", "D")


@drawn
def distribution_bars(
    words: Sequence[str], panels: Mapping[str, Sequence[float]], places: int = 2
) -> Figure:
    """Draw distributions over the same words, one under the other: a bar and a number for each word.

    Args:
        words: the vocabulary.
        panels: for each title a number for each word; bars below zero hang down.
        places: decimals of the numbers.

    Returns:
        The figure.

    Raises:
        ValueError: if a panel hasn't one number for each word.
    """
    figure, rows = plt.subplots(
        len(panels), 1, figsize=(6.4, 1.75 * len(panels) + 0.3), squeeze=False, sharex=True
    )
    for axes, (title, numbers) in zip(rows[:, 0], panels.items(), strict=True):
        colour = WANTED if title.startswith("wanted") else PREDICTED
        axes.bar(range(len(words)), numbers, width=0.7, color=colour, edgecolor=INK, lw=0.8)
        axes.axhline(0, color=QUIET, lw=1)
        for place, number in enumerate(numbers):
            text = f"{number:.{places}f}".replace("-", "−")
            shift = (0, 3 if number >= 0 else -3)
            axes.annotate(
                text, (place, number), shift, textcoords="offset points", ha="center",
                va="bottom" if number >= 0 else "top",
            )  # fmt: skip
        low, high = min(0.0, *numbers), max(0.0, *numbers)
        room = 0.28 * (high - low)
        axes.set_ylim(low - room * (low < 0), high + room)
        axes.set_title(title, loc="left", fontweight="bold")
        axes.set(yticks=[], xticks=range(len(words)), xticklabels=words)
        axes.spines["left"].set_visible(False)
        axes.tick_params(length=0, labelbottom=True)
    return figure


@drawn
def distribution_grids(
    rows: Sequence[str], columns: Sequence[str], panels: Mapping[str, ArrayLike]
) -> Figure:
    """Draw distributions as grids: a row for each position, a column for each word of the vocabulary.

    Args:
        rows: what each position has to say.
        columns: the vocabulary.
        panels: for each title numbers from 0 to 1, (rows, columns).

    Returns:
        The figure.

    Raises:
        IndexError: if a panel has more rows or columns than there are names.
    """
    figure, places = plt.subplots(
        len(panels), 1, squeeze=False,
        figsize=(1.2 + 0.85 * len(columns), len(panels) * (1.0 + 0.42 * len(rows))),
    )  # fmt: skip
    for axes, (title, numbers) in zip(places[:, 0], panels.items(), strict=True):
        grid = np.asarray(numbers, dtype=float)
        axes.imshow(grid, cmap=WEIGHTS, vmin=0, vmax=1, aspect="auto")
        axes.set_title(title, loc="left", fontweight="bold")
        axes.set_xticks(range(len(columns)), columns)
        axes.set_yticks(range(len(rows)), rows)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        for (row, column), number in np.ndenumerate(grid):
            right = rows[row] == columns[column]
            axes.text(
                column, row, f"{number:.2f}", ha="center", va="center",
                color="white" if number > 0.72 else "black",
                fontweight="bold" if right else "normal",
            )  # fmt: skip
            if right:
                corner = (column - 0.48, row - 0.46)
                axes.add_patch(Rectangle(corner, 0.96, 0.92, fill=False, ec=WANTED, lw=2.2))
    return figure


@drawn
def surprise_curve(probabilities: Sequence[float]) -> Figure:
    """Draw −ln p against p, with marked points.

    Args:
        probabilities: where to mark the curve, above 0 and at most 1.

    Returns:
        The figure.
    """
    figure, axes = plt.subplots(figsize=(6.4, 3.6))
    p = np.linspace(0.004, 1, 400)
    axes.plot(p, -np.log(p), color=INK)
    for mark in probabilities:
        loss = -np.log(mark)
        axes.plot(mark, loss, "o", ms=8, color=WANTED)
        axes.annotate(
            f"p = {mark:g}: {abs(loss):.2f}", (mark, loss), (9, 6), textcoords="offset points"
        )
    axes.set(xlabel="probability of the right word", ylabel="−ln p, in nats", xlim=(0, 1.22))
    axes.set(xticks=np.linspace(0, 1, 6), ylim=(-0.15, 5.3))
    axes.yaxis.grid(True, color=LINE)
    return figure


@drawn
def pull_curves(
    probabilities: ArrayLike, pulls: Mapping[str, ArrayLike], across: str, up: str
) -> Figure:
    """Draw how hard each of at most three losses pulls, against a probability.

    Args:
        probabilities: the places on the x axis.
        pulls: for each loss a number at each place.
        across: name of the x axis.
        up: name of the y axis.

    Returns:
        The figure.

    Raises:
        ValueError: if a loss hasn't one number for each place.
    """
    figure, axes = plt.subplots(figsize=(6.4, 3.6))
    for (name, values), colour, dashes in zip(
        pulls.items(), SHADES, ("-", "--", ":"), strict=False
    ):
        axes.plot(
            np.asarray(probabilities),
            np.asarray(values),
            dashes,
            color=colour,
            label=legend_name(name),
        )
    axes.axhline(0, color=QUIET, lw=1)
    axes.set(xlabel=across, ylabel=up)
    axes.legend()
    return figure


@drawn
def reliability_diagrams(panels: Mapping[str, ArrayLike], least: int = 1) -> Figure:
    """Draw reliability diagrams side by side: how often it is right, against how sure the model is.

    Guo et al. 2017 draw such diagrams. The line from corner to corner is perfect calibration. A dot's area
    grows with the tokens in its bin.

    Args:
        panels: for each title the bins, (bins, 3): tokens, mean confidence, share that is right.
        least: bins with fewer tokens are left out.

    Returns:
        The figure.

    Raises:
        ValueError: if a bin hasn't three numbers.
    """
    columns = min(2, len(panels))  # no more: the letters must be read on a telephone
    lines = -(-len(panels) // columns)
    size = (2.9 * columns + 0.5 if columns > 1 else 4.6, 3.2 * lines if columns > 1 else 4.3)
    figure, places = plt.subplots(
        lines, columns, figsize=size, squeeze=False, sharex=True, sharey=True
    )
    for axes in places.flat[len(panels) :]:
        axes.set_axis_off()
    for axes, (title, bins) in zip(places.flat, panels.items(), strict=False):
        found = np.asarray(bins, dtype=float)
        share = found[:, 0] / found[:, 0].sum()
        kept = found[:, 0] >= least
        _, sure, right = found[kept].T
        axes.plot([0, 1], [0, 1], color=QUIET, lw=1.2, ls="--")
        axes.vlines(sure, sure, right, color=WANTED, lw=2)
        area = 30 + 400 * share[kept]
        axes.scatter(sure, right, s=area, color=PREDICTED, edgecolor=INK, lw=0.8, zorder=3)
        axes.set_title(title, fontsize=11)
        axes.set(xlim=(-0.03, 1.05), ylim=(-0.03, 1.05), aspect="equal")
        axes.set(xticks=(0, 0.5, 1), yticks=(0, 0.5, 1))
    figure.supxlabel("how sure: the highest probability", fontsize=12)
    figure.supylabel("share that is right", fontsize=12)
    return figure


@drawn
def smoothing_dots(panels: Mapping[str, Mapping[str, Mapping[str, Sequence[float]]]]) -> Figure:
    """Draw what models trained with different ε score: a panel for each score, a dot for each seed.

    Args:
        panels: for each score, for each group of models, for each of at most three models a number a seed.

    Returns:
        The figure.

    Raises:
        IndexError: if a group has more than three models.
    """
    figure, rows = plt.subplots(
        len(panels), 1, figsize=(6.4, 1.9 * len(panels) + 0.4), squeeze=False
    )
    for axes, (title, groups) in zip(rows[:, 0], panels.items(), strict=True):
        for row, models in enumerate(groups.values()):
            for place, (name, numbers) in enumerate(models.items()):
                height = row + 0.26 * (place - (len(models) - 1) / 2)
                label = legend_name(name) if row == 0 else None
                axes.plot(
                    numbers, [height] * len(numbers), MARKS[place], ms=7, mfc="none", mew=1.6,
                    color=SHADES[place], label=label,
                )  # fmt: skip
            axes.axhline(row - 0.5, color=LINE, lw=1)
        _names(axes, title, list(groups))
    handles, labels = rows[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    return figure


def _names(axes: Axes, title: str, groups: Sequence[str]) -> None:
    """Name a panel of dots, its rows, and let its axis begin at zero."""
    axes.set_title(title, loc="left", fontweight="bold")
    axes.set_yticks(range(len(groups)), groups)
    axes.set_ylim(len(groups) - 0.5, -0.5)
    axes.set_xlim(left=min(0.0, axes.get_xlim()[0]))
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
