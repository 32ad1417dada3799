"""The plots of chapter 00. Numbers come from the notebook; nothing is computed here but places on paper."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from transformer_course.figures import flow
from transformer_course.figures.palette import INK, LINE, QUERY, QUIET, VALUE, drawn, legend_name

SHADES = ("#d55e00", "#56b4e9", "#59636e", "#1f2328")
MARKS = ("o", "s", "^", "D")
LINES = (":", "--", "-.", "-")
PITCH, WIDE = 3.3, 2.5  # of the words in the first picture: from one to the next, and how wide


@drawn
def one_vector_or_all(
    source: Sequence[str], written: Sequence[str], weights: Sequence[Sequence[float]]
) -> Figure:
    """Draw reading and writing twice: through one vector, and with a look at each word again.

    The words are numbered in the order in which they are read and written.

    Args:
        source: the words that are read.
        written: the words that are written.
        weights: for each written word the weight of each source word.

    Returns:
        The figure.
    """
    n_columns = max(len(source), len(written))
    figure, axes = flow.canvas(0.6 + PITCH * n_columns, 15.3)
    titles = {0.5: "one vector", 9.3: "a look back before each word"}
    for top, title in titles.items():
        flow.words(axes, (0.3, top), title, align=("left", "center"), bold=True)
    lows = []
    for top, drop in ((2.2, 4.4), (11.0, 3.4)):
        _row(axes, source, top, 1, VALUE)
        _row(axes, written, top + drop, 1 + len(source), QUERY)
        lows.append((top + 0.45, top + drop - 0.45))
    _through_one_vector(axes, len(source), len(written), *lows[0])
    for i, row in enumerate(weights):
        for j, weight in enumerate(row):
            (look,) = axes.plot([_middle(j), _middle(i)], lows[1], color=QUERY, zorder=0)
            look.set(linewidth=0.5 + 5 * weight, alpha=0.15 + 0.85 * weight)
    return figure


def _middle(place: int) -> float:
    return 0.3 + PITCH * (place + 0.5)


def _row(axes: Axes, row: Sequence[str], y: float, first: int, colour: str) -> None:
    """Draw words in the order in which they are read or written, numbered, with arrows between them."""
    for place, word in enumerate(row):
        x = _middle(place)
        flow.box(axes, (x, y), (WIDE, 0.9), word, edge=colour, face="white")
        at = (x - WIDE / 2, y - 0.55)
        flow.words(axes, at, str(first + place), colour, ("left", "bottom"), size=10)
        if place:
            flow.arrow(axes, (x - PITCH + WIDE / 2, y), (x - WIDE / 2, y), colour)


def _through_one_vector(axes: Axes, n_read: int, n_written: int, top: float, low: float) -> None:
    """Draw the way from the last word that is read through one box to every word that is written."""
    x, bus = _middle(n_read - 1), low - 0.9
    flow.arrow(axes, (x, top), (x, top + 0.6), VALUE)
    flow.box(axes, (x, top + 1.05), (3.2, 0.9), "one vector", edge=INK, face="white")
    axes.plot([x, x], [top + 1.5, bus], color=QUIET, lw=1.6)
    axes.plot([_middle(0), max(x, _middle(n_written - 1))], [bus, bus], color=QUIET, lw=1.6)
    for place in range(n_written):
        flow.arrow(axes, (_middle(place), bus), (_middle(place), low))


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
    figure, axes = plt.subplots(len(panels), 1, figsize=(5.4, 3.1 * len(panels)), squeeze=False)
    for panel, (title, curves) in zip(axes[:, 0], panels.items(), strict=True):
        for (name, numbers), shade, mark, line in zip(
            curves.items(), SHADES, MARKS, LINES, strict=False
        ):
            panel.plot(
                lengths, numbers, line, marker=mark, ms=6, color=shade, label=legend_name(name)
            )
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
    words: Sequence[float],
    models: Mapping[str, Sequence[Sequence[float]]],
    trained: float,
    ylabel: str = "parts translated right",
) -> Figure:
    """Draw the share of right parts by length: a line for the mean of each model, a mark for each seed.

    Args:
        words: mean length of the source, in words.
        models: for each model, at most four, a row of shares for each seed.
        trained: the longest length of the training, marked by a line.
        ylabel: what is counted, on which data, with which decoding.

    Returns:
        The figure.

    Raises:
        ValueError: if a row hasn't as many shares as there are lengths.
    """
    figure, axes = plt.subplots(figsize=(5.4, 4.9))
    for (name, rows), shade, mark, line in zip(models.items(), SHADES, MARKS, LINES, strict=False):
        means = [sum(column) / len(column) for column in zip(*rows, strict=True)]
        axes.plot(words, means, line, color=shade, label=legend_name(name))
        for row in rows:
            axes.plot(words, row, mark, ms=5, mfc="none", color=shade)
    axes.axvline(trained, color=LINE, lw=2)
    axes.text(trained, 1.03, " longer than\n in training", color=QUIET, va="bottom", fontsize=11)
    axes.set(xlabel="words of the source, mean", ylabel=ylabel, ylim=(-0.03, 1.22))
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
    title = f"lines: mean of {max(map(len, models.values()), default=0)} seeds; marks: one seed"
    figure.legend(loc="outside upper center", ncols=2, title=title)
    return figure


@drawn
def shares_by_kind(rows: Mapping[str, Mapping[str, float]], xlabel: str) -> Figure:
    """Draw one line for each kind of sentence, with a mark for each model.

    Args:
        rows: for each sentence that is an example of its kind, the share of each model, at most four.
        xlabel: what the shares are, of which data, with which decoding.

    Returns:
        The figure.

    Raises:
        KeyError: if the rows haven't the same models.

    >>> figure = shares_by_kind({"The boys are hot.": {"small": 0.5, "large": 0.75}}, "right")
    >>> figure.axes[0].get_xlabel()
    'right'
    """
    figure, axes = plt.subplots(figsize=(5.4, 1.4 + 0.62 * len(rows)))
    for y, example in enumerate(rows):
        axes.plot([0, 1], [y, y], color=LINE, lw=1.2, zorder=0)
        axes.text(0, y - 0.2, example, va="bottom", fontsize=11)
    for place, name in enumerate(next(iter(rows.values()), {})):
        shares = [row[name] for row in rows.values()]
        (marks,) = axes.plot(shares, range(len(rows)), MARKS[place], ms=8, color=SHADES[place])
        marks.set(label=legend_name(name), clip_on=False)
    axes.set(xlim=(0, 1), ylim=(len(rows) - 0.6, -0.8), xlabel=xlabel, yticks=[])
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1])
    axes.spines["left"].set_visible(False)
    figure.legend(loc="outside upper center", ncols=3, columnspacing=1, handletextpad=0.1)
    return figure
