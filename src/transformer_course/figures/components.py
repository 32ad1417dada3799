"""Plots of trained models that lack a part, drawn for chapter 06."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from transformer_course.figures.palette import INK, KEY, LINE, QUERY, VALUE, drawn, legend_name

STROKES = ((INK, ":"), (KEY, "--"), (QUERY, "-."), (VALUE, "-"))  # colour and line of each model


@drawn
def component_losses(losses: Mapping[str, Sequence[float]]) -> Figure:
    """Draw how far each model's mean loss lies from that of the first: a bar, its seeds as dots, its number.

    Rows are sorted, the least loss on top.

    Args:
        losses: for each model a loss for each seed; the first model is the one that others are compared with.

    Returns:
        The figure.

    Raises:
        ValueError: if there is no model.

    >>> figure = component_losses({"whole": [0.1, 0.1], "half": [0.2, 0.4]})
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['0.10', '0.30, 3 times']
    """
    if not losses:
        raise ValueError(f"losses ({dict(losses)}) must hold a model or more")
    means = {name: float(np.mean(found)) for name, found in losses.items()}
    first, whole = next(iter(means.items()))
    order = sorted(losses, key=lambda name: means[name])
    figure, axes = plt.subplots(figsize=(6.2, 0.9 + 0.55 * len(losses)))
    axes.axvline(whole, color=INK, lw=1.2, zorder=0)
    for row, name in enumerate(order):
        axes.plot([whole, means[name]], [row, row], color=LINE, lw=9, solid_capstyle="butt")
        axes.plot(losses[name], [row] * len(losses[name]), "o", ms=5, color=QUERY)
        times = "" if name == first else f", {means[name] / whole:.2g} times"
        right = max(*losses[name], whole) * 1.12
        axes.text(right, row, f"{means[name]:.2f}{times}", va="center", fontsize=11)
    axes.set_yticks(range(len(order)), order)
    axes.set(xscale="log", ylim=(len(order) - 0.5, -0.5))
    axes.set(xlim=(0.7 * min(map(min, losses.values())), 8 * max(map(max, losses.values()))))
    axes.set_xlabel("loss on held-out sentences (dots: seeds; number: mean)", loc="right")
    _plain_numbers(axes, "x")
    return figure


@drawn
def component_curves(
    steps: Sequence[int], curves: Mapping[str, Sequence[Sequence[float]]]
) -> Figure:
    """Draw the loss during training: for each model a line, the mean, and a band from the least to the largest.

    Args:
        steps: where the loss was measured.
        curves: for each model, at most four, a curve for each seed.

    Returns:
        The figure.

    Raises:
        ValueError: if there are more than four models, or a curve hasn't as many numbers as there are steps.
    """
    if len(curves) > len(STROKES):
        raise ValueError(f"curves ({len(curves)}) must be {len(STROKES)} or fewer")
    figure, axes = plt.subplots(figsize=(6.2, 4.0))
    for (name, seeds), (colour, dashes) in zip(curves.items(), STROKES, strict=False):
        axes.fill_between(steps, np.min(seeds, 0), np.max(seeds, 0), color=colour, alpha=0.18, lw=0)
        axes.plot(steps, np.mean(seeds, 0), dashes, color=colour, label=legend_name(name))
    count = len(next(iter(curves.values())))
    axes.set(xlabel="updates of the weights", yscale="log")
    axes.set_ylabel(f"loss on held-out sentences\n(mean and range of {count} seeds)")
    _plain_numbers(axes, "y")
    axes.grid(True, axis="y", color=LINE)
    axes.legend(loc="lower center", bbox_to_anchor=(0.45, 1), ncols=2)
    return figure


def _plain_numbers(axes: Axes, which: str) -> None:
    """Write 0.1, 0.2, 0.5 along a logarithmic axis, and no powers of ten."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())
