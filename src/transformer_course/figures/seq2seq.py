"""The plots of chapter 00. Numbers come from the notebook; nothing is computed here but places on paper."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from transformer_course.figures.palette import INK, LINE, QUERY, QUIET, VALUE, drawn

SHADES = ("#d55e00", "#56b4e9", "#59636e", "#1f2328")
MARKS = ("o", "s", "^", "D")
LINES = (":", "--", "-.", "-")


@drawn
def one_vector_or_all(
    source: Sequence[str], written: Sequence[str], weights: Sequence[Sequence[float]]
) -> Figure:
    """Draw reading and writing twice: through one vector, and with a look at each word again.

    Args:
        source: the words that are read.
        written: the words that are written.
        weights: for each written word the weight of each source word.

    Returns:
        The figure.
    """
    figure, panels = plt.subplots(2, 1, figsize=(6.8, 6.0))
    for axes, title in zip(panels, ("one vector", "a look back before each word"), strict=True):
        axes.set_title(title, loc="left", fontweight="bold")
        shift = (len(source) - len(written)) / 2
        for row, words, colour in ((2.0, source, VALUE), (0.0, written, QUERY)):
            for place, word in enumerate(words):
                _box(axes, place + (shift if row == 0 else 0), row, word, colour)
        if title == "one vector":
            middle = (len(source) - 1) / 2
            _box(axes, middle, 1.0, "one vector", INK)
            for place in range(len(source)):
                axes.plot([place, middle], [1.8, 1.2], color=QUIET, lw=1.3)
            for place in range(len(written)):
                axes.plot([middle, place + shift], [0.8, 0.2], color=QUIET, lw=1.3)
        else:
            for i, row_weights in enumerate(weights):
                for j, weight in enumerate(row_weights):
                    style = {"lw": 0.5 + 5 * weight, "alpha": 0.15 + 0.85 * weight}
                    axes.plot([j, i + shift], [1.8, 0.2], color=QUERY, **style)
        axes.set(xlim=(-0.8, len(source) - 0.2), ylim=(-0.4, 2.4), xticks=[], yticks=[])
        axes.spines[:].set_visible(False)
    return figure


def _box(axes: Axes, x: float, y: float, word: str, colour: str) -> None:
    width = 0.2 + 0.12 * len(word)
    corner, style = (x - width / 2, y - 0.2), "round,pad=0,rounding_size=0.08"
    axes.add_patch(
        FancyBboxPatch(corner, width, 0.4, boxstyle=style, facecolor="white", edgecolor=colour)
    )
    axes.text(x, y, word, ha="center", va="center", color=INK)


@drawn
def curves_by_length(
    panels: Mapping[str, Mapping[str, Sequence[float]]],
    lengths: Sequence[float],
    xlabel: str = "number of words n",
) -> Figure:
    """Draw something that grows or falls with the length, on two logarithmic axes.

    Args:
        panels: for each panel its title, and for each line, at most four, its name and its numbers.
        lengths: where they were measured.
        xlabel: what the lengths are.

    Returns:
        The figure.

    Raises:
        ValueError: if a line hasn't as many numbers as there are lengths.
    """
    figure, axes = plt.subplots(len(panels), 1, figsize=(6.4, 3.3 * len(panels)), squeeze=False)
    for panel, (title, curves) in zip(axes[:, 0], panels.items(), strict=True):
        for (name, numbers), shade, mark, line in zip(
            curves.items(), SHADES, MARKS, LINES, strict=False
        ):
            panel.plot(lengths, numbers, line, marker=mark, ms=6, color=shade, label=name)
        panel.set(xscale="log", yscale="log", ylabel=title)
        panel.set_xticks(list(lengths), [f"{n:g}" for n in lengths])
        panel.xaxis.set_minor_locator(NullLocator())
        panel.yaxis.set_major_locator(LogLocator())
        panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        panel.yaxis.set_minor_locator(NullLocator())
        panel.grid(axis="y")
    axes[-1, 0].set_xlabel(xlabel)
    axes[0, 0].legend()
    return figure


@drawn
def accuracy_by_length(
    words: Sequence[float], models: Mapping[str, Sequence[Sequence[float]]], trained: float
) -> Figure:
    """Draw the share of right parts by length: a line for the mean of each model, a dot for each seed.

    Args:
        words: mean length of the source, in words.
        models: for each model, at most four, a row of shares for each seed.
        trained: the longest length of the training, marked by a line.

    Returns:
        The figure.

    Raises:
        ValueError: if a row hasn't as many shares as there are lengths.
    """
    figure, axes = plt.subplots(figsize=(6.8, 4.4))
    for (name, rows), shade, mark, line in zip(models.items(), SHADES, MARKS, LINES, strict=False):
        means = [sum(column) / len(column) for column in zip(*rows, strict=True)]
        axes.plot(words, means, line, color=shade, label=name)
        for row in rows:
            axes.plot(words, row, mark, ms=5, mfc="none", color=shade)
    axes.axvline(trained, color=LINE, lw=2)
    axes.text(trained, 1.03, " longer than in training", color=QUIET, va="bottom", fontsize=11)
    axes.set(
        xlabel="words of the source, mean", ylabel="parts translated right", ylim=(-0.03, 1.12)
    )
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure
