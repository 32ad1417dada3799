"""The plots of chapter 06. Numbers come from the notebook; nothing is computed here but places on paper."""

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
    LINE,
    QUERY,
    QUIET,
    VALUE,
    drawn,
    legend_name,
)

STROKES = ((QUIET, ":"), (KEY, "--"), (QUERY, "-"))  # colour and line of each stack
ARROW = {"arrowstyle": "-|>", "color": QUIET, "lw": 1.5}


@drawn
def sub_layers(layers: Mapping[str, Sequence[str]]) -> Figure:
    """Draw each layer as a line, one token's vector, with a box for each sub-layer that adds to it.

    Args:
        layers: for each layer its name and the names of its sub-layers; one with "cross" in its name gets an
            arrow from the memory.

    Returns:
        The figure.

    Raises:
        ValueError: if there is no layer.
    """
    figure, panels = plt.subplots(len(layers), 1, figsize=(6.8, 2.5 * len(layers)), squeeze=False)
    most = max(len(parts) for parts in layers.values())
    for axes, (name, parts) in zip(panels[:, 0], layers.items(), strict=True):
        axes.set_title(name, loc="left", fontweight="bold")
        axes.annotate(
            "", (2.6 * most + 0.5, 0), (-0.3, 0), arrowprops={**ARROW, "color": INK, "lw": 3}
        )
        for place, part in enumerate(parts):
            _sub_layer(axes, 2.6 * place + 0.3, part)
        axes.set(xlim=(-0.5, 2.6 * most + 0.7), ylim=(-0.5, 2.7), xticks=[], yticks=[])
        axes.spines[:].set_visible(False)
    return figure


def _sub_layer(axes: Axes, left: float, name: str) -> None:
    """Draw a box above the line, an arrow into it, and one from it to a plus sign on the line."""
    box = FancyBboxPatch(
        (left, 0.9), 1.4, 0.8, boxstyle="round,pad=0.08", facecolor="#f3f3f3", edgecolor=QUIET
    )
    axes.add_patch(box)
    axes.text(left + 0.7, 1.3, name, ha="center", va="center", fontsize=11)
    axes.annotate("", (left + 0.25, 0.82), (left + 0.25, 0.03), arrowprops=ARROW)
    axes.plot([left + 1.5, left + 1.9], [1.3, 1.3], color=QUIET, lw=1.5)
    axes.annotate("", (left + 1.9, 0.16), (left + 1.9, 1.3), arrowprops=ARROW)
    axes.plot(left + 1.9, 0, "o", ms=17, mfc="white", mec=INK, zorder=3)
    axes.text(left + 1.9, 0, "+", ha="center", va="center", fontweight="bold", zorder=4)
    if "cross" in name:
        axes.annotate(
            "memory", (left + 0.7, 1.78), (left + 0.7, 2.5), ha="center", color=INK, fontsize=11,
            arrowprops={**ARROW, "color": VALUE},
        )  # fmt: skip


@drawn
def stack_losses(losses: Mapping[str, Sequence[Sequence[float]]]) -> Figure:
    """Draw the training losses of up to three kinds of stacks, a line for each seed, on a logarithmic scale.

    Args:
        losses: for each kind of stack and each seed, a loss for each update of the weights.

    Returns:
        The figure.

    Raises:
        ValueError: if there are more than three kinds.
    """
    if len(losses) > len(STROKES):
        raise ValueError(f"losses ({len(losses)}) must be {len(STROKES)} kinds or fewer")
    figure, axes = plt.subplots(figsize=(6.2, 4.2))
    for (name, seeds), (colour, line) in zip(losses.items(), STROKES, strict=False):
        for number, found in enumerate(seeds):
            label = None if number else legend_name(name)
            axes.plot(range(1, len(found) + 1), found, line, color=colour, lw=2, label=label)
    axes.set(xlabel="updates of the weights", yscale="log", ylim=(1e-4, 4))
    axes.set_ylabel("training loss (a line for each seed)")
    axes.legend(loc="lower left")
    return figure


@drawn
def loss_valleys(surfaces: Mapping[str, tuple[ArrayLike, ArrayLike]]) -> Figure:
    """Draw quadratic losses over two weights as contour lines, with the path of gradient descent.

    Args:
        surfaces: for each loss its name, its second derivatives (2, 2), and the path, (steps + 1, 2), ending
            near the minimum at (0, 0).

    Returns:
        The figure.

    Raises:
        ValueError: if second derivatives aren't (2, 2).
    """
    figure, panels = plt.subplots(1, len(surfaces), figsize=(3.6 * len(surfaces), 3.9))
    side = np.linspace(-1.3, 1.3, 121)
    grid = np.stack(np.meshgrid(side, side), -1)  # (121, 121, 2)
    for axes, (name, (second, steps)) in zip(np.ravel(panels), surfaces.items(), strict=True):
        path = np.asarray(steps)
        height = np.einsum("xyi,ij,xyj->xy", grid, np.asarray(second), grid)
        axes.contour(
            side, side, height, levels=height.max() * np.linspace(0.02, 1, 9) ** 2, colors=LINE
        )
        axes.plot(path[:, 0], path[:, 1], "o-", color=QUERY, ms=4, lw=1.5)
        axes.plot(0, 0, "*", color=KEY, ms=14, mec=INK)
        count = len(path) - 1
        axes.set_title(f"{name}: {count} step{'s' * (count != 1)}")
        axes.set(xlabel="first weight", ylabel="second weight", aspect="equal")
    return figure


@drawn
def parameter_bars(counts: Mapping[str, int]) -> Figure:
    """Draw how many numbers each kind of part holds, in millions, the largest on top.

    Args:
        counts: for each kind of part, its number of parameters.

    Returns:
        The figure.

    Raises:
        ValueError: if there is no part.
    """
    names = sorted(counts, key=lambda name: -counts[name])
    figure, axes = plt.subplots(figsize=(6.6, 0.7 + 0.5 * len(names)))
    axes.barh(range(len(names)), [counts[name] / 1e6 for name in names], color=QUERY, height=0.6)
    axes.set_yticks(range(len(names)), names)
    for row, name in enumerate(names):
        axes.text(counts[name] / 1e6 + 0.3, row, f"{counts[name] / 1e6:.2f}", va="center")
    axes.invert_yaxis()
    axes.set(xlabel="millions of numbers", xlim=(0, max(counts.values()) / 1e6 * 1.15))
    return figure
