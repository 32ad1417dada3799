"""The plots of chapter 04. Numbers come from the notebook; nothing is computed here but places on paper."""

from collections.abc import Mapping, Sequence
from typing import Literal

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Rectangle
from matplotlib.path import Path
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator
from numpy.typing import ArrayLike

from transformer_course.figures.palette import (
    HEADS,
    INK,
    KEY_TEXT,
    LINE,
    QUERY,
    QUIET,
    WEIGHTS,
    drawn,
    legend_name,
)

SHADES = ("#d55e00", "#56b4e9", "#59636e", "#1f2328")  # 1, 2, 4 and 8 heads
LINES = ((":", "o"), ("-.", "s"), ("--", "^"), ("-", "D"))  # line and mark of each of them


@drawn
def head_links(words: Sequence[str], asked: int, heads: Mapping[str, Sequence[float]]) -> Figure:
    """Draw where one word looks, a row for each head: curved lines, thicker for larger weights.

    A line leads from the asking word to each other word, and a loop back to itself. A weight that
    is written as 0.00 gets no line.

    Args:
        words: the sentence.
        asked: the place of the word whose query is drawn.
        heads: for each head its name and the weights of that query, one a word.

    Returns:
        The figure.

    Raises:
        ValueError: if a head hasn't one weight for each word.
    """
    figure, panels = plt.subplots(len(heads), 1, figsize=(6.4, 1.75 * len(heads)), squeeze=False)
    for axes, (name, weights) in zip(panels[:, 0], heads.items(), strict=True):
        axes.set_title(name, loc="left", fontweight="bold")
        for place, (word, weight) in enumerate(zip(words, weights, strict=True)):
            own = place == asked
            axes.text(
                place, 0, word, ha="center", va="center", color=QUERY if own else INK,
                fontweight="bold" if own else "normal",
            )  # fmt: skip
            axes.text(place, -0.42, f"{weight:.2f}", ha="center", va="center", color=QUIET)
            if weight >= 0.005:
                _curve(axes, asked, place, weight)
        axes.set(xlim=(-0.6, len(words) - 0.4), ylim=(-0.65, 1.15), xticks=[], yticks=[])
        axes.spines[:].set_visible(False)
    return figure


def _curve(axes: Axes, start: int, end: int, weight: float) -> None:
    """Draw a curved line above the words, from one to another, or a loop from a word to itself."""
    bend = -0.45 if end > start else 0.45
    ends = {"posA": (start, 0.22), "posB": (end, 0.22), "connectionstyle": f"arc3,rad={bend}"}
    around = [(start, 0.22), (start - 0.45, 1.0), (start + 0.45, 1.0), (start, 0.22)]
    loop = {"path": Path(around, [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4])}
    axes.add_patch(
        FancyArrowPatch(
            **(loop if start == end else ends),
            arrowstyle="-",
            linewidth=0.8 + 8 * weight,
            color=QUERY,
            alpha=0.2 + 0.7 * weight,
            capstyle="round",
        )
    )


@drawn
def reshape_grids(x: ArrayLike, cut: ArrayLike, mixed: ArrayLike, words: Sequence[str]) -> Figure:
    """Draw one sentence's tensor, its cut into heads, and what `view` alone makes of it.

    Every number keeps the colour of the head whose columns it stands in.

    Args:
        x: (length, d_model).
        cut: (heads, length, d_k), as it should be.
        mixed: (heads, length, d_k), as it should not be.
        words: a name for each row of `x`.

    Returns:
        The figure.

    Raises:
        KeyError: if a number of `cut` or `mixed` isn't in `x`.
        IndexError: if there are more than four heads, or fewer words than rows.
    """
    whole, right, wrong = (np.asarray(tensor) for tensor in (x, cut, mixed))
    width = right.shape[2]
    owner = {int(n): column // width for row in whole for column, n in enumerate(row)}
    figure, axes = plt.subplots(figsize=(7.2, 4.0))
    _grid(axes, (0, 0), whole, owner, words, "x (length, d_model)")
    for title, tensor, left in (("view, then transpose", right, 6.4), ("view alone", wrong, 12.6)):
        for head, rows in enumerate(tensor):
            names = words if tensor is right else [""] * len(words)
            heading = f"{title}\nhead {head + 1}" if head == 0 else f"head {head + 1}"
            _grid(axes, (left, head * (len(words) + 1.6)), rows, owner, names, heading)
    bottom = len(right) * (len(words) + 1.6) - 0.6
    axes.set(xlim=(-1.9, 15.6), ylim=(bottom, -2.2), aspect="equal", xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    return figure


def _grid(
    axes: Axes,
    corner: tuple[float, float],
    rows: np.ndarray,
    owner: Mapping[int, int],
    names: Sequence[str],
    title: str,
) -> None:
    """Draw a matrix of whole numbers as coloured squares."""
    left, top = corner
    axes.text(left, top - 0.3, title, va="bottom", fontsize=11, fontweight="bold")
    for i, row in enumerate(rows):
        axes.text(left - 0.2, top + i + 0.5, names[i], ha="right", va="center", fontsize=11)
        for j, number in enumerate(row):
            place = (left + j, top + i)
            colour = HEADS[owner[int(number)]]
            axes.add_patch(Rectangle(place, 1, 1, facecolor=colour, edgecolor="white", lw=1.5))
            middle = (place[0] + 0.5, place[1] + 0.5)
            axes.annotate(f"{number:g}", middle, ha="center", va="center", color="black")


@drawn
def head_maps(
    maps: ArrayLike, queries: Sequence[str], keys: Sequence[str], columns: int = 2
) -> Figure:
    """Draw the maps of several heads side by side.

    Args:
        maps: (heads, q_len, k_len), numbers from 0 to 1.
        queries: a name for each row of a map.
        keys: a name for each column of a map.
        columns: how many maps are side by side.

    Returns:
        The figure.
    """
    grids = np.asarray(maps, dtype=float)
    lines = -(-len(grids) // columns)
    size = (0.6 + columns * (0.7 + 0.22 * len(keys)), lines * (1.1 + 0.22 * len(queries)))
    figure, panels = plt.subplots(lines, columns, figsize=size, squeeze=False)
    for head, axes in enumerate(panels.flat):
        if head >= len(grids):
            axes.set_axis_off()
            continue
        axes.imshow(grids[head], cmap=WEIGHTS, vmin=0, vmax=1)
        axes.set_title(f"head {head + 1}", fontweight="bold", pad=8)
        axes.set_xticks(range(len(keys)), keys, rotation=90, color=KEY_TEXT)
        axes.set_yticks(range(len(queries)), queries, color=QUERY)
        axes.xaxis.tick_top()
        axes.tick_params(length=0)
        axes.spines[:].set(visible=True, color=LINE)
    return figure


@drawn
def head_curves(steps: Sequence[int], curves: Mapping[str, Sequence[Sequence[float]]]) -> Figure:
    """Draw the loss during training: for each model the mean over the seeds, and from lowest to highest.

    Args:
        steps: where the loss was measured.
        curves: for each model, at most four, a curve for each seed.

    Returns:
        The figure.

    Raises:
        ValueError: if a curve hasn't as many numbers as there are steps.
    """
    figure, axes = plt.subplots(figsize=(6.4, 4.0))
    for (name, seeds), (line, mark), shade in zip(curves.items(), LINES, SHADES, strict=False):
        if any(len(curve) != len(steps) for curve in seeds):
            raise ValueError(f"a curve of {name!r} hasn't a number for each of {len(steps)} steps")
        mean = np.mean(seeds, axis=0)
        axes.plot(
            steps, mean, line, marker=mark, ms=5, lw=1.6, color=shade, label=legend_name(name)
        )
        axes.fill_between(
            steps, np.min(seeds, axis=0), np.max(seeds, axis=0), color=shade, alpha=0.15
        )
    label = "loss, held-out sentences\n(mean and range of 3 seeds)"
    axes.set(xlabel="updates of the weights", ylabel=label, yscale="log")
    _plain_ticks(axes, "y")
    axes.legend()
    return figure


@drawn
def head_removals(losses: Mapping[str, Mapping[str, Sequence[float]]]) -> Figure:
    """Draw losses as dots: a row for what was done to the models, a line in it for each model.

    Args:
        losses: for each change and each model, at most four, a loss for each seed.

    Returns:
        The figure.

    Raises:
        KeyError: if a change lacks a model that the first change has.
    """
    models = list(next(iter(losses.values())))
    figure, axes = plt.subplots(figsize=(6.4, 0.6 + 1.05 * len(losses)))
    first = len(LINES) - len(models)
    for row, (change, found) in enumerate(losses.items()):
        axes.axhline(row - 0.5, color=LINE, lw=1)
        for place, name in enumerate(models):
            height = row + 0.12 + 0.22 * (place - (len(models) - 1) / 2)
            mark, shade = LINES[first + place][1], SHADES[first + place]
            heights = [height] * len(found[name])
            label = legend_name(name) if row == 0 else None
            axes.plot(found[name], heights, mark, ms=7, mfc="none", color=shade, label=label)
        axes.text(0.0, row - 0.36, f" {change}", transform=axes.get_yaxis_transform(), va="center")
    axes.set(xscale="log", xlabel="loss, held-out sentences", yticks=[])
    axes.set_ylim(len(losses) - 0.4, -0.6)
    axes.spines["left"].set_visible(False)
    _plain_ticks(axes, "x")
    axes.legend(loc="upper right")
    return figure


def _plain_ticks(axes: Axes, which: Literal["x", "y"]) -> None:
    """Write the numbers of a logarithmic axis as 0.1, 0.2, 0.5, 1, 2."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())
