"""The plots of chapter 15. Numbers come from the notebook; nothing is computed here but places on paper."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from transformer_course.figures import flow
from transformer_course.figures.loss import MARKS, SHADES
from transformer_course.figures.palette import (
    INK,
    KEY_TEXT,
    LINE,
    POSITION,
    QUERY,
    QUIET,
    VALUE,
    VALUE_TEXT,
    WEIGHTS,
    drawn,
    legend_name,
)

POSITION_TEXT = "#8a3a6b"  # the purple of places, dark enough for words on white


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
        len(panels), 1, figsize=(5.4, 2.0 * len(panels) + 0.6), squeeze=False, sharex=True
    )
    every = [np.asarray(s, dtype=float) for kinds in panels.values() for s in kinds.values()]
    lowest, highest = min(s.min() for s in every), max(s.max() for s in every)
    bins = np.linspace(lowest, highest, 61)
    for axes, (title, kinds) in zip(rows[:, 0], panels.items(), strict=True):
        top = 0.0
        for (name, scores), colour in zip(kinds.items(), SHADES, strict=False):
            counts, _, _ = axes.hist(
                scores,
                bins,
                histtype="stepfilled",
                color=colour,
                alpha=0.45,
                ec=colour,
                label=legend_name(name),
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
    rows[-1, 0].xaxis.set_major_locator(MaxNLocator(5))
    return figure


@drawn
def redraw_flow(
    counts: Sequence[Sequence[float]], draw: Sequence[int], sums: Sequence[float], score: float
) -> Figure:
    """Draw how one draw of the bootstrap becomes a score: indices, drawn counts, sums, quotient.

    Args:
        counts: (n_sentences, 2), words found and words written.
        draw: (n_sentences,), the indices that were drawn.
        sums: (2,), of the drawn counts.
        score: the quotient of the sums.

    Returns:
        The figure.

    Raises:
        ValueError: if there aren't as many indices as sentences.
        IndexError: if there is no sentence with a drawn index.

    >>> figure = redraw_flow([[1, 2], [3, 3]], [1, 1], [6, 6], 1.0)
    >>> [text.get_text() for text in figure.axes[0].texts if "(2, 2)" in text.get_text()]
    ['counts (2, 2)', 'drawn (2, 2)']
    """
    if len(draw) != len(counts):
        raise ValueError(
            f"draw ({len(draw)}) must have one index for each of counts ({len(counts)})"
        )
    top, left, index, right = 1.4, 1.2, 6.0, 9.1
    foot = top + 1.3 * len(counts) + 1.3
    figure, axes = flow.canvas(12.2, foot + 3.7)
    names = (left + 1, f"counts ({len(counts)}, 2)"), (right + 1, f"drawn ({len(draw)}, 2)")
    for x, name in names:
        flow.words(axes, (x, top - 0.6), name, bold=True)
    flow.words(axes, (index + 0.5, top - 0.6), f"draw ({len(draw)})", POSITION_TEXT, bold=True)
    for row, (pair, place) in enumerate(zip(counts, draw, strict=True)):
        y = top + 1.3 * row
        flow.words(axes, (left - 0.6, y + 0.5), str(row), POSITION_TEXT)
        flow.numbers(axes, (left, y), [pair], QUIET)
        start = (left + 2.1, top + 1.3 * place + 0.5)
        flow.arrow(axes, start, (index - 0.1, y + 0.5), POSITION)
        flow.numbers(axes, (index, y), [[place]], POSITION)
        flow.numbers(axes, (right, y), [counts[place]], QUIET)
    _flow_foot(axes, (right, foot), sums, score)
    return figure


def _flow_foot(axes: Axes, corner: flow.Point, sums: Sequence[float], score: float) -> None:
    """Draw the sums below the drawn counts, and the score below the sums."""
    left, top = corner
    steps = ((top - 1.3, top, "add up"), (top + 1.1, top + 2.3, "divide"))
    for start, end, name in steps:
        flow.arrow(axes, (left + 1, start), (left + 1, end - 0.1))
        flow.words(axes, (left + 0.7, (start + end) / 2), name, align=("right", "center"))
    flow.numbers(axes, (left, top), [sums], QUIET)
    flow.words(axes, (left - 0.3, top + 0.5), "sums (2)", bold=True, align=("right", "center"))
    flow.numbers(axes, (left + 0.5, top + 2.3), [[score]], VALUE, 2)
    flow.words(
        axes, (left + 0.1, top + 2.8), "score", VALUE_TEXT, bold=True, align=("right", "center")
    )


@drawn
def bleu_by_updates(
    curves: Mapping[str, Sequence[Sequence[float]]], updates: Sequence[int]
) -> Figure:
    """Draw how BLEU grew in training: a line for each seed.

    Args:
        curves: for each of at most three language pairs, for each seed, BLEU.
        updates: after how many updates it was measured.

    Returns:
        The figure.

    Raises:
        ValueError: if a seed has not as many scores as there are updates.
    """
    figure, axes = plt.subplots(figsize=(5.6, 3.7))
    for (name, seeds), colour, mark in zip(curves.items(), SHADES, MARKS, strict=False):
        for scores in seeds:
            if len(updates) != len(scores):
                raise ValueError(f"{name}: {len(scores)} scores for {len(updates)} updates")
            axes.plot(updates, scores, "-", marker=mark, ms=4, color=colour, lw=1.4)
        _name_below(axes, name, (updates[-1], seeds[0][-1]), colour)
    axes.set(xlabel="updates", ylabel="BLEU, validation, greedy", ylim=(0, None), xlim=(0, None))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.grid(True, color=LINE)
    return figure


@drawn
def paired_differences(
    differences: Mapping[str, Sequence[float]], intervals: Mapping[str, tuple[float, float]]
) -> Figure:
    """Draw what a change did in each training, and an interval of the mean: a row for each change.

    Args:
        differences: for each change, a difference of scores for each training.
        intervals: for each change, the ends of an interval.

    Returns:
        The figure.

    Raises:
        KeyError: if a change has no interval.
    """
    figure, axes = plt.subplots(figsize=(5.6, 0.8 * len(differences) + 0.9))
    for row, (name, gains) in enumerate(differences.items()):
        axes.plot(gains, [row] * len(gains), "o", ms=8, mfc="none", mew=1.6, color=QUERY)
        ends = list(intervals[name])
        axes.plot(ends, [row + 0.28] * 2, color=SHADES[1], lw=5, solid_capstyle="butt")
    axes.axvline(0, color=QUIET, lw=1.5, ls="--")
    axes.set_yticks(range(len(differences)), list(differences))
    axes.set(xlabel="difference of BLEU", ylim=(len(differences) - 0.4, -0.5))
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
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
    figure, axes = plt.subplots(figsize=(5.4, 3.6))
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
