"""The plots of chapter 07. Numbers come from the notebook; nothing is computed here but places on paper."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Patch, Rectangle
from matplotlib.ticker import MaxNLocator, NullFormatter
from numpy.typing import ArrayLike

from transformer_course.figures.palette import HATCH, INK, LINE, MASK, QUIET, drawn, legend_name

SOURCE, TARGET = "#56b4e9", "#d55e00"
LINES = ((INK, "-"), ("#d55e00", "--"), ("#56b4e9", "-."), (QUIET, ":"))


@drawn
def shift_picture(target: Sequence[str]) -> Figure:
    """Draw what the decoder reads and what it has to say: the same tokens, shifted by one.

    Args:
        target: all tokens of the target, the start and the end mark among them.

    Returns:
        The figure.
    """
    read, said = target[:-1], target[1:]
    figure, axes = plt.subplots(figsize=(1.55 * len(read) + 1.3, 2.6))
    for row, (name, tokens, colour) in enumerate(
        (("must say", said, TARGET), ("reads", read, SOURCE))
    ):
        axes.text(-0.75, row, name, ha="right", va="center", fontweight="bold")
        for place, token in enumerate(tokens):
            box = FancyBboxPatch(
                (place - 0.42, row - 0.2), 0.84, 0.4, boxstyle="round,pad=0.02",
                facecolor="white", edgecolor=colour, lw=2,
            )  # fmt: skip
            axes.add_patch(box)
            axes.text(place, row, token, ha="center", va="center")
    for place in range(len(read)):
        axes.annotate(
            "", (place, 0.26), (place, 0.74), arrowprops={"arrowstyle": "->", "color": QUIET}
        )
        axes.text(place, 1.42, f"position {place}", ha="center", color=QUIET, fontsize=10)
    axes.set(xlim=(-1.75, len(read) - 0.4), ylim=(1.6, -0.35))
    axes.set_axis_off()
    return figure


@drawn
def padded_batches(panels: Mapping[str, Sequence[Sequence[tuple[int, int]]]]) -> Figure:
    """Draw batches as rows of squares: source tokens, target tokens, and padding, grey and hatched.

    Args:
        panels: for each title some batches; a batch is a list of (source length, target length), special
            tokens included.

    Returns:
        The figure.

    Raises:
        ValueError: if there is no batch, or one is empty.
    """
    widest = max(_width(batch) for batches in panels.values() for batch in batches)
    rows = max(sum(len(batch) + 1 for batch in batches) for batches in panels.values())
    figure, columns = plt.subplots(
        1, len(panels), figsize=(3.6 * len(panels), 0.6 + 0.16 * rows), squeeze=False
    )
    for axes, (title, batches) in zip(columns[0], panels.items(), strict=True):
        top = 0
        for batch in batches:
            _draw_batch(axes, batch, top)
            top += len(batch) + 1
        axes.set_title(title, loc="left", fontweight="bold")
        axes.set(xlim=(-0.2, widest + 0.2), ylim=(rows, -0.4))
        axes.set_axis_off()
    patches = [
        Patch(label="source", facecolor=SOURCE),
        Patch(label="target", facecolor=TARGET),
        Patch(label="padding", facecolor="#eeeeee", edgecolor=MASK, hatch=HATCH),
    ]
    figure.legend(handles=patches, loc="lower center", ncols=3, bbox_to_anchor=(0.5, -0.06))
    return figure


def _width(batch: Sequence[tuple[int, int]]) -> int:
    """Positions of one row of a batch, with a gap between source and target."""
    return max(src for src, _ in batch) + max(tgt for _, tgt in batch) + 1


def _draw_batch(axes: Axes, batch: Sequence[tuple[int, int]], top: int) -> None:
    """Draw one batch, a row for each pair."""
    sides = [max(lengths) for lengths in zip(*batch, strict=True)]
    for row, lengths in enumerate(batch, start=top):
        left = 0
        for length, side, colour in zip(lengths, sides, (SOURCE, TARGET), strict=True):
            for place in range(side):
                filled = place < length
                axes.add_patch(
                    Rectangle(
                        (left + place + 0.06, row + 0.1), 0.88, 0.8, lw=0,
                        facecolor=colour if filled else "#eeeeee",
                        edgecolor=None if filled else MASK, hatch=None if filled else HATCH,
                    )
                )  # fmt: skip
            left += side + 1


@drawn
def rate_curves(steps: ArrayLike, rates: Mapping[str, ArrayLike]) -> Figure:
    """Draw learning rates over the steps of training.

    Args:
        steps: the places on the x axis.
        rates: for each of at most four names a rate at each step.

    Returns:
        The figure.

    Raises:
        ValueError: if a name hasn't one rate for each step.
    """
    figure, axes = plt.subplots(figsize=(6.4, 3.6))
    for (name, values), (colour, dashes) in zip(rates.items(), LINES, strict=False):
        axes.plot(
            np.asarray(steps), np.asarray(values), dashes, color=colour, label=legend_name(name)
        )
    axes.set(xlabel="step", ylabel="learning rate", ylim=(0, None))
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.yaxis.grid(True, color=LINE)
    axes.legend()
    return figure


@drawn
def loss_curves(
    panels: Mapping[str, Mapping[str, tuple[Sequence[float], Sequence[Sequence[float]]]]],
    levels: Mapping[str, float] | None = None,
    log: bool = False,
) -> Figure:
    """Draw losses over the steps of training: a panel for each title, in it some curves, each with its seeds.

    Two panels are side by side; more are below each other, so that a narrow page can show them.

    Args:
        panels: for each title, for each of at most four names, the steps and a list of losses for each seed.
        levels: losses to compare with, by name: horizontal lines in each panel.
        log: a logarithmic axis, on which small losses can be told apart.

    Returns:
        The figure.

    Raises:
        ValueError: if a list of losses has another length than its steps.

    >>> figure = loss_curves({"a": {"training": ([1, 2], [[3.0, 2.0]])}})
    >>> figure.axes[0].get_title(loc="left")
    'a'
    """
    tall = len(panels) > 2
    rows, columns = (len(panels), 1) if tall else (1, len(panels))
    figure, grid = plt.subplots(
        rows, columns, figsize=(6.4, 1.3 + 2.4 * rows), squeeze=False, sharey=True, sharex=tall
    )
    for axes, (title, curves) in zip(grid.flat, panels.items(), strict=True):
        for (name, (steps, seeds)), (colour, dashes) in zip(curves.items(), LINES, strict=False):
            for number, losses in enumerate(seeds):
                if len(losses) != len(steps):
                    raise ValueError(f"{name!r} has {len(losses)} losses for {len(steps)} steps")
                label = legend_name(name) if number == 0 else None
                axes.plot(steps, losses, dashes, color=colour, lw=1.7, alpha=0.85, label=label)
        for name, level in (levels or {}).items():
            axes.axhline(level, color=MASK, lw=1.2)
            axes.annotate(name, (0.98, level), (0, 3), ha="right", color=QUIET, fontsize=10,
                          xycoords=("axes fraction", "data"), textcoords="offset points")  # fmt: skip
        axes.set_title(title, loc="left", fontweight="bold", fontsize=11)
        axes.set(**{"yscale": "log"} if log else {"ylim": (0, None)})
        axes.yaxis.grid(True, color=LINE)
    if log:
        grid[0, 0].yaxis.set_major_formatter("{x:g}")
    for axes in grid[:, 0]:
        axes.set_ylabel("loss, in nats")
    for axes in grid[-1]:
        axes.set_xlabel("step")
    grid[-1, -1].legend(fontsize=10)
    return figure


@drawn
def norm_bars(panels: Mapping[str, Mapping[str, float]]) -> Figure:
    """Draw the size of the gradient of each part of a model, a panel for each model, on one logarithmic axis.

    Args:
        panels: for each title, for each part, a norm; one that is 0 has no bar but the word "none".

    Returns:
        The figure.

    Raises:
        ValueError: if no norm is above 0.
    """
    parts = list(next(iter(panels.values())))
    figure, columns = plt.subplots(
        1, len(panels), squeeze=False, sharey=True, sharex=True,
        figsize=(2.1 + 2.7 * len(panels), 0.9 + 0.38 * len(parts)),
    )  # fmt: skip
    found = [n for norms in panels.values() for n in norms.values() if n > 0]
    lowest, highest = 10 ** np.floor(np.log10(min(found))), 10 ** np.ceil(np.log10(max(found)))
    for axes, (title, norms) in zip(columns[0], panels.items(), strict=True):
        for row, norm in enumerate(norms.values()):
            if norm > 0:
                axes.barh(row, norm, height=0.62, color=SOURCE, edgecolor=INK, lw=0.8)
            else:
                axes.text(lowest * 1.3, row, "none", va="center", color=TARGET, fontweight="bold")
        axes.set_xscale("log")
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set(yticks=range(len(parts)), yticklabels=parts, xlim=(lowest, highest))
        axes.set_ylim(len(parts) - 0.4, -0.6)
        axes.set_title(title, loc="left", fontweight="bold", fontsize=11)
        axes.set_xlabel("norm of the gradient")
        axes.tick_params(axis="y", length=0)
    return figure
