"""The plots of chapter 01. Numbers come from the notebook; nothing is computed here but places on paper."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike

from transformer_course.figures.palette import (
    INK,
    KEY,
    KEY_TEXT,
    LINE,
    QUERY,
    QUIET,
    VALUE,
    WEIGHTS,
    drawn,
    legend_name,
)

PAGE = {  # the parts of a newspaper's front page: left, bottom, width, height
    "headline": (0.0, 8.0, 10.0, 2.0),
    "first lines": (0.0, 5.4, 5.8, 2.3),
    "picture": (6.1, 3.6, 3.9, 4.1),
    "long report": (0.0, 0.0, 5.8, 5.1),
    "tide table": (6.1, 0.0, 3.9, 3.3),
}
LOG_TICKS = (1, 4, 16, 64, 256, 1024)


@drawn
def front_page(questions: Mapping[str, Sequence[float]]) -> Figure:
    """Draw one front page for each question; the darker a part, the more weight the question gives it.

    Args:
        questions: for each question, one weight for each of the five parts in `PAGE`, in that order.

    Returns:
        The figure.

    Raises:
        ValueError: if a question hasn't five weights.
    """
    figure, panels = plt.subplots(1, len(questions), figsize=(6.6, 3.9), squeeze=False)
    for axes, (question, weights) in zip(panels[0], questions.items(), strict=True):
        axes.set_title(question, color=QUERY, fontweight="bold")
        for (name, (x, y, width, height)), weight in zip(PAGE.items(), weights, strict=True):
            shade = plt.get_cmap(WEIGHTS)(0.9 * weight)
            axes.add_patch(Rectangle((x, y), width, height, facecolor=shade, edgecolor=QUIET, lw=1))
            colour = "white" if weight > 0.6 else "black"
            middle = (x + width / 2, y + height / 2)
            axes.annotate(f"{name}\n{weight:.2f}", middle, ha="center", va="center", color=colour)
        axes.set(xlim=(-0.2, 10.2), ylim=(-0.2, 10.2), xticks=[], yticks=[])
        axes.spines[:].set_visible(False)
    return figure


@drawn
def kernel_fits(
    places: ArrayLike,
    observed: ArrayLike,
    grid: ArrayLike,
    truth: ArrayLike,
    fits: Mapping[str, ArrayLike],
    asked: float,
    weights: ArrayLike,
) -> Figure:
    """Draw observations with several weighted averages; below, the weights of one query.

    Args:
        places: (n,), where something was observed: the keys.
        observed: (n,), what was observed there: the values.
        grid: (m,), places to draw at.
        truth: (m,), the curve without noise.
        fits: for each of three labels a curve, (m,).
        asked: the place of one query.
        weights: (n,), what that query gives to each observation.

    Returns:
        The figure.

    Raises:
        ValueError: if there aren't three fits, or a list hasn't the length above.
    """
    places = np.asarray(places)
    figure, (top, bottom) = plt.subplots(
        2, 1, figsize=(6.4, 5.4), sharex=True, height_ratios=[2.4, 1]
    )
    top.plot(grid, truth, color=LINE, lw=7, label="truth, without noise")
    top.plot(places, observed, "o", color=VALUE, ms=6, label="observed (values)")
    styles = ((":", INK), ("-", "#d55e00"), ("--", "#56b4e9"))
    for (label, curve), (style, colour) in zip(fits.items(), styles, strict=True):
        top.plot(grid, np.asarray(curve), style, color=colour, label=legend_name(label))
    top.set_ylabel("height of the water (m)")
    top.set_ylim(-2.1, 4.1)
    top.legend(ncols=2, loc="upper center", fontsize=11)
    tallest = np.asarray(weights).max()
    bottom.bar(places, np.asarray(weights), width=0.1, color=QUERY)
    bottom.vlines(places, -0.2 * tallest, -0.03 * tallest, color=KEY, lw=2.5)
    bottom.axhline(0, color=QUIET, lw=1)
    bottom.annotate(
        "keys",
        (places[-1], -0.11 * tallest),
        xytext=(8, 0),
        textcoords="offset points",
        color=KEY_TEXT,
        fontweight="bold",
        va="center",
        annotation_clip=False,
    )
    bottom.set(xlabel="hour", ylabel="weight", ylim=(-0.25 * tallest, 1.08 * tallest))
    bottom.set(xticks=range(0, 25, 6), xlim=(-0.5, 25))
    top.plot([asked, asked], [-2.1, 2.1], color=QUERY, lw=1.4, zorder=0)
    bottom.annotate(
        f"query: hour {asked:g}",
        (asked, bottom.get_ylim()[1]),
        xytext=(6, -4),
        textcoords="offset points",
        color=QUERY,
        fontweight="bold",
        va="top",
    )
    return figure


@drawn
def scaling_curves(
    widths: Sequence[int],
    as_is: Mapping[str, Sequence[float]],
    scaled: Mapping[str, Sequence[float]],
) -> Figure:
    """Draw quantities against d_k, without and with the division by its square root.

    Args:
        widths: the values of d_k.
        as_is: two or more quantities without the division, one number for each width.
        scaled: the same quantities with it.

    Returns:
        The figure, one panel for each quantity.

    Raises:
        KeyError: if `scaled` lacks a quantity.
        ValueError: if a quantity hasn't one number for each width.
    """
    figure, panels = plt.subplots(len(as_is), 1, figsize=(6.0, 2.2 * len(as_is)), sharex=True)
    for axes, name in zip(panels, as_is, strict=True):
        axes.plot(widths, as_is[name], "s--", color="#d55e00")
        axes.plot(widths, scaled[name], "o-", color=INK)
        axes.set_xscale("log", base=2)
        axes.set_title(name, loc="left", fontweight="bold")
        if max(as_is[name]) > 100:
            axes.set_yscale("log")
        else:
            axes.set_ylim(0, 1.25 * max([*as_is[name], *scaled[name]]))
        for values, label, colour in (
            (as_is[name], "not scaled", "#a34700"),
            (scaled[name], r"divided by $\sqrt{d_k}$", INK),
        ):
            axes.annotate(
                label,
                (widths[-1], values[-1]),
                xytext=(9, 0),
                textcoords="offset points",
                color=colour,
                va="center",
                annotation_clip=False,
                parse_math=True,
            )
    panels[-1].set_xticks(LOG_TICKS, [str(width) for width in LOG_TICKS])
    panels[-1].set_xlabel("$d_k$, the width of queries and keys", parse_math=True)
    return figure
