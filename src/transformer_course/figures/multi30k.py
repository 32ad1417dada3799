"""The plots of chapter 15. Numbers come from the notebook; nothing is computed here but places on paper."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from transformer_course.figures.loss import MARKS, SHADES
from transformer_course.figures.palette import INK, KEY_TEXT, LINE, QUERY, QUIET, WEIGHTS, drawn


@drawn
def redrawn_histograms(panels: Mapping[str, Mapping[str, ArrayLike]], across: str) -> Figure:
    """Draw how often each score came up when a test set was drawn again, on one axis for all panels.

    A bar below each histogram spans the middle 95 %.

    Args:
        panels: for each title, for each of at most three names, the scores of all draws.
        across: name of the x axis.

    Returns:
        The figure.

    >>> figure = redrawn_histograms({"a": {"ours": [0.5, 0.6, 0.7]}}, "precision")
    >>> figure.axes[0].get_title(loc="left")
    'a'
    """
    figure, rows = plt.subplots(
        len(panels), 1, figsize=(6.4, 2.0 * len(panels) + 0.6), squeeze=False, sharex=True
    )
    every = [np.asarray(s, dtype=float) for kinds in panels.values() for s in kinds.values()]
    lowest, highest = min(s.min() for s in every), max(s.max() for s in every)
    bins = np.linspace(lowest, highest, 61)
    for axes, (title, kinds) in zip(rows[:, 0], panels.items(), strict=True):
        top = 0.0
        for (name, scores), colour in zip(kinds.items(), SHADES, strict=False):
            counts, _, _ = axes.hist(
                scores, bins, histtype="stepfilled", color=colour, alpha=0.45, ec=colour, label=name
            )
            top = max(top, float(np.max(counts)))
        for row, (scores, colour) in enumerate(zip(kinds.values(), SHADES, strict=False), 1):
            ends = np.quantile(np.asarray(scores, dtype=float), [0.025, 0.975])
            axes.plot(ends, [-0.1 * row * top] * 2, color=colour, lw=5, solid_capstyle="butt")
        if lowest < 0 < highest:
            axes.axvline(0, color=QUIET, lw=1.5, ls="--")
        axes.set_title(title, loc="left", fontweight="bold")
        axes.set(ylim=(-0.1 * (len(kinds) + 1) * top, 1.12 * top), yticks=[])
        axes.spines["left"].set_visible(False)
        axes.tick_params(labelbottom=True)
        if len(kinds) > 1:
            axes.legend(loc="upper right")
    rows[-1, 0].set_xlabel(across)
    return figure


@drawn
def bleu_by_minutes(
    curves: Mapping[str, Sequence[tuple[Sequence[float], Sequence[float]]]],
) -> Figure:
    """Draw how BLEU grew in training: a line for each seed.

    Args:
        curves: for each of at most three language pairs, for each seed, minutes and BLEU.

    Returns:
        The figure.

    Raises:
        ValueError: if a seed has not as many minutes as scores.
    """
    figure, axes = plt.subplots(figsize=(6.6, 3.9))
    for (name, seeds), colour, mark in zip(curves.items(), SHADES, MARKS, strict=False):
        for minutes, scores in seeds:
            if len(minutes) != len(scores):
                raise ValueError(f"{name}: {len(minutes)} minutes for {len(scores)} scores")
            axes.plot(minutes, scores, "-", marker=mark, ms=5, color=colour, lw=1.6)
        _name_below(axes, name, (seeds[0][0][-1], seeds[0][1][-1]), colour)
    axes.set(xlabel="minutes of training", ylabel="BLEU, validation", ylim=(0, None))
    axes.set_xlim(0, None)
    axes.yaxis.grid(True, color=LINE)
    return figure


def _name_below(axes: Axes, name: str, end: tuple[float, float], colour: str) -> None:
    """Write a line's name below its end, in its colour."""
    axes.annotate(
        name, end, (0, -32), textcoords="offset points", ha="right", color=colour, fontweight="bold"
    )


@drawn
def bleu_by_words(groups: Mapping[str, Mapping[str, Sequence[float]]]) -> Figure:
    """Draw BLEU for short and long sentences: a mark for each seed.

    Args:
        groups: for each of at most three language pairs, for each group of sentences, a number for each seed.

    Returns:
        The figure.
    """
    figure, axes = plt.subplots(figsize=(6.4, 3.6))
    for (name, table), colour, mark in zip(groups.items(), SHADES, MARKS, strict=False):
        places = np.arange(len(table))
        means = [float(np.mean(scores)) for scores in table.values()]
        axes.plot(places, means, "-", color=colour, lw=1.2)
        _name_below(axes, name, (float(places[-1]), means[-1]), colour)
        for place, scores in zip(places, table.values(), strict=True):
            axes.plot([place] * len(scores), scores, mark, ms=7, mfc="none", mew=1.6, color=colour)
    names = next(iter(groups.values()))
    axes.set_xticks(range(len(names)), list(names))
    axes.set(xlabel="words of the source", ylabel="BLEU, test", ylim=(0, None))
    axes.yaxis.grid(True, color=LINE)
    return figure


@drawn
def reading_map(source: Sequence[str], target: Sequence[str], weights: ArrayLike) -> Figure:
    """Draw where a translator read: a row for each written piece, a column for each piece of the source.

    Args:
        source: the pieces that were read.
        target: the pieces that were written.
        weights: (target, source), numbers from 0 to 1.

    Returns:
        The figure.

    Raises:
        ValueError: if the weights don't have the shape of the pieces.
    """
    grid = np.asarray(weights, dtype=float)
    if grid.shape != (len(target), len(source)):
        raise ValueError(
            f"weights {grid.shape} must be (target, source), ({len(target)}, {len(source)})"
        )
    figure, axes = plt.subplots(figsize=(1.5 + 0.36 * len(source), 1.4 + 0.36 * len(target)))
    axes.imshow(grid, cmap=WEIGHTS, vmin=0, vmax=1)
    axes.set_xticks(range(len(source)), source, rotation=90, color=KEY_TEXT)
    axes.set_yticks(range(len(target)), target, color=QUERY)
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.set_xlabel("read", color=INK)
    axes.set_ylabel("written", color=INK)
    axes.tick_params(length=0)
    axes.spines[:].set(visible=True, color=LINE)
    return figure
