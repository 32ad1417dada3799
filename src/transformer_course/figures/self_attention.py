"""The plots of chapter 02. Numbers come from the notebook; nothing is computed here but places on paper."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch
from numpy.typing import ArrayLike

from transformer_course.figures.palette import (
    INK,
    KEY,
    KEY_TEXT,
    LINE,
    QUERY,
    QUIET,
    VALUE,
    VALUE_TEXT,
    WEIGHTS,
    drawn,
)

LINE_WIDTH = 11.5  # of a line of words, in the units of `word_focus`


@drawn
def word_focus(sentences: Sequence[tuple[Sequence[str], Sequence[float], int]]) -> Figure:
    """Draw sentences; the darker a word, the more weight the word in the blue frame gives it.

    Args:
        sentences: for each the words, a weight for each word, and the place of the word that asks. A long
            sentence is broken into lines.

    Returns:
        The figure.

    Raises:
        ValueError: if a sentence hasn't one weight for each word.
    """
    figure, axes = plt.subplots()
    top = 0.0
    for words, weights, asking in sentences:
        left = 0.0
        for place, (word, weight) in enumerate(zip(words, weights, strict=True)):
            width = 0.55 + 0.235 * len(word)
            if left + width > LINE_WIDTH:
                left, top = 0.0, top - 1.6
            _word(axes, (left, top), width, word, weight, asks=place == asking)
            left += width + 0.12
        top -= 2.1
    axes.set(xlim=(-0.1, LINE_WIDTH), ylim=(top + 1.2, 1.05))
    axes.set_axis_off()
    figure.set_size_inches(6.2, 0.47 * (1.05 - top))
    return figure


def _word(
    axes: Axes, corner: tuple[float, float], width: float, word: str, weight: float, *, asks: bool
) -> None:
    """Draw one word in a box as dark as its weight; the word that asks has a blue frame."""
    shade = plt.get_cmap(WEIGHTS)(0.9 * weight)
    style = "round,pad=0.02,rounding_size=0.08"
    patch = FancyBboxPatch(corner, width, 0.85, boxstyle=style, facecolor=shade)
    patch.set(edgecolor=QUERY if asks else LINE, lw=3 if asks else 1)
    axes.add_patch(patch)
    colour = "white" if weight > 0.6 else "black"
    middle = corner[0] + width / 2
    axes.annotate(word, (middle, corner[1] + 0.42), ha="center", va="center", color=colour)
    axes.annotate(
        f"{weight:.2f}", (middle, corner[1] - 0.1), ha="center", va="top", fontsize=11, color=QUIET
    )


@drawn
def projections(
    words: Sequence[str],
    x: ArrayLike,
    queries: ArrayLike,
    keys: ArrayLike,
    values: ArrayLike,
) -> Figure:
    """Draw X and the three matrices made from it, a row for each word, every number written out.

    Args:
        words: a name for each row.
        x: (n, d_model).
        queries: (n, d_k).
        keys: (n, d_k).
        values: (n, d_v).

    Returns:
        The figure.
    """
    parts = [np.asarray(part, dtype=float) for part in (x, queries, keys, values)]
    titles = ("X, the words", "Q, looks for", "K, offers", "V, passes on")
    colours = ((LINE, INK), (QUERY, QUERY), (KEY, KEY_TEXT), (VALUE, VALUE_TEXT))
    widths = [part.shape[1] for part in parts]
    figure, panels = plt.subplots(
        1, 4, figsize=(7.4, 0.9 + 0.5 * len(words)), width_ratios=widths, sharey=True
    )
    for axes, part, title, (edge, ink) in zip(panels, parts, titles, colours, strict=True):
        for row, column in np.ndindex(part.shape):
            box = (column - 0.44, row - 0.4)
            style = "round,pad=0,rounding_size=0.12"
            patch = FancyBboxPatch(box, 0.88, 0.8, boxstyle=style, facecolor="white")
            patch.set(edgecolor=edge, lw=1.8)
            axes.add_patch(patch)
            axes.text(column, row, f"{part[row, column]:g}", ha="center", va="center")
        axes.set_title(title, color=ink, fontweight="bold", fontsize=11)
        axes.set(xlim=(-0.6, part.shape[1] - 0.4), ylim=(len(words) - 0.45, -0.55), xticks=[])
        axes.set_yticks(range(len(words)), words)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
    return figure


@drawn
def where_they_come_from(cases: Mapping[str, tuple[str, str]]) -> Figure:
    """Draw, for each kind of attention, where its queries come from and where its keys and values do.

    Args:
        cases: for each kind, the name of what gives the queries, and of what gives keys and values.

    Returns:
        The figure.
    """
    figure, panels = plt.subplots(1, len(cases), figsize=(6.4, 2.6), squeeze=False)
    for axes, (kind, (asks, gives)) in zip(panels[0], cases.items(), strict=True):
        axes.set_title(kind, fontweight="bold")
        if asks == gives:
            _box(axes, (0.0, 0.2), 8.8, asks)
        else:
            _box(axes, (0.0, 0.2), 3.4, asks)
            _box(axes, (4.2, 0.2), 4.6, gives)
        _box(axes, (0.0, 5.2), 8.8, "attention")
        starts = {"Q": 1.6, "K": 5.3, "V": 7.3}
        for (name, left), colour in zip(starts.items(), (QUERY, KEY, VALUE), strict=True):
            style = {"arrowstyle": "-|>", "color": colour, "lw": 2.4, "shrinkA": 0, "shrinkB": 0}
            axes.annotate("", xy=(left, 5.1), xytext=(left, 1.9), arrowprops=style)
            axes.text(left + 0.2, 3.3, name, fontweight="bold", va="center")
        axes.set(xlim=(-0.2, 9.2), ylim=(0, 7))
        axes.set_axis_off()
    return figure


def _box(axes: Axes, corner: tuple[float, float], width: float, words: str) -> None:
    """Draw a box with words in its middle."""
    style = "round,pad=0,rounding_size=0.25"
    patch = FancyBboxPatch(corner, width, 1.6, boxstyle=style, facecolor="#f3f3f3", edgecolor=QUIET)
    axes.add_patch(patch)
    middle = (corner[0] + width / 2, corner[1] + 0.8)
    axes.annotate(words, middle, ha="center", va="center", fontsize=11)


@drawn
def scores_by_layers(found: Mapping[str, Sequence[float]], bound: tuple[float, str]) -> Figure:
    """Draw, for each number of layers, the share of right answers in every run, beside a bound.

    Args:
        found: for each kind of model, one share for each run.
        bound: a share that is drawn as a line, and its name.

    Returns:
        The figure.
    """
    figure, axes = plt.subplots(figsize=(6.4, 0.9 + 0.6 * len(found)))
    for row, shares in enumerate(found.values()):
        axes.barh(row, np.mean(shares), height=0.55, color=LINE)
        axes.plot(shares, np.full(len(shares), row), "o", color=INK, ms=6, alpha=0.6)
    axes.axvline(bound[0], color="#d55e00", ls="--")
    axes.annotate(
        bound[1],
        (bound[0], -0.62),
        xytext=(-6, 0),
        textcoords="offset points",
        ha="right",
        color="#a34700",
    )
    axes.set_yticks(range(len(found)), list(found))
    axes.set(xlim=(0, 1.02), ylim=(len(found) - 0.5, -0.8), xlabel="share of right answers")
    axes.tick_params(axis="y", length=0)
    return figure
