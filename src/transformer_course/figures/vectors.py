"""Vectors in a plane, drawn for chapter 01: what scores keys get there, and where queries look."""

import math
from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib import patheffects as path_effects
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from transformer_course.figures.palette import INK, KEY, KEY_TEXT, LINE, QUERY, QUIET, drawn

FloatArray = NDArray[np.floating]


def _arrow(axes: Axes, vector: Sequence[float], colour: str, name: str, words: str) -> None:
    """Draw a vector from the origin; its name stands beyond the tip, where no arrow can be."""
    length = math.hypot(*vector)
    if length:
        style = {"arrowstyle": "-|>", "color": colour, "lw": 2.2, "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", xy=(vector[0], vector[1]), xytext=(0, 0), arrowprops=style)
    else:
        axes.plot(0, 0, "o", color=colour, ms=8, zorder=3)
    across, up = np.array(vector) / length if length else (0.0, -1.0)
    steep = abs(up) > 0.4
    label = axes.annotate(
        name,
        (vector[0], vector[1]),
        xytext=(6 * across, 6 * up),
        textcoords="offset points",
        ha="center" if steep else "left" if across > 0 else "right",
        va="center" if not steep else "bottom" if up > 0 else "top",
        color=words,
        fontweight="bold",
    )
    label.set_path_effects([path_effects.withStroke(linewidth=3, foreground="white")])
    label.set_in_layout(False)  # else a label near the edge would make the plane smaller


def _plane(axes: Axes, limit: float) -> None:
    """Give a plane its axes through the middle."""
    axes.axhline(0, color=LINE, lw=1, zorder=0)
    axes.axvline(0, color=LINE, lw=1, zorder=0)
    ticks = [-round(limit / 2), round(limit / 2)]
    axes.set(xlim=(-limit, limit), ylim=(-limit, limit), aspect="equal", xticks=ticks, yticks=ticks)


@drawn
def score_fields(
    query: Sequence[float], keys: Mapping[str, Sequence[float]], fields: Mapping[str, ArrayLike]
) -> Figure:
    """Draw, for each kind of score, what a key would get at every place of the plane.

    Lines join the places with equal scores; the number on a line is that score.

    Args:
        query: two numbers.
        keys: two numbers for each name.
        fields: for each kind of score, a square grid over -4 … 4 in both directions, row 0 at the bottom.

    Returns:
        The figure, one panel for each kind.
    """
    size = (2.75 * len(fields), 3.1)
    figure, panels = plt.subplots(1, len(fields), figsize=size, sharey=True, squeeze=False)
    for axes, (kind, field) in zip(panels[0], fields.items(), strict=True):
        _field(axes, np.asarray(field, dtype=float), [(0, 0), query, *keys.values()])
        _plane(axes, 4)
        _arrow(axes, query, QUERY, "query", QUERY)
        for name, key in keys.items():
            axes.plot(*key, "o", color=KEY, mec=INK, mew=1, ms=10)
            label = axes.annotate(
                name,
                (key[0], key[1]),
                xytext=(0, -9),
                textcoords="offset points",
                ha="center",
                va="top",
                color=KEY_TEXT,
                fontweight="bold",
            )
            label.set_path_effects([path_effects.withStroke(linewidth=4, foreground="white")])
        axes.set_title(kind)
        axes.set_xlabel("first number")
    panels[0][0].set_ylabel("second number")
    return figure


def _field(axes: Axes, field: FloatArray, taken: Sequence[Sequence[float]]) -> None:
    """Shade a field lightly; write the scores on lines of equal score, far from what is taken."""
    line = np.linspace(-4, 4, len(field))
    top = float(np.abs(field).max()) or 1.0
    levels = np.linspace(-top, top, 9)
    axes.contourf(line, line, field, levels=levels, cmap="Greys", vmin=-top, vmax=2.5 * top)
    if np.ptp(field) == 0:
        return
    lines = axes.contour(line, line, field, levels=levels[1:-1], colors=QUIET, linewidths=0.8)
    lines.set_linestyle("solid")
    places: list[tuple[float, float]] = []
    for path in lines.get_paths()[::2]:
        places += _free_places(np.asarray(path.vertices), [*taken, *places])
    axes.clabel(lines, fmt="%.2g", fontsize=9, colors=INK, manual=places)


def _free_places(points: FloatArray, taken: Sequence[Sequence[float]]) -> list[tuple[float, float]]:
    """Return the point farthest from all that is taken, well inside the plane; none if none is there."""
    inside = points[(np.abs(points) < 3.2).all(axis=1)]
    if not len(inside):
        return []
    distances = np.linalg.norm(inside[:, None] - np.asarray(taken)[None], axis=-1)
    x, y = inside[distances.min(axis=1).argmax()]
    return [(float(x), float(y))]


@drawn
def key_planes(
    queries: Sequence[Sequence[float]],
    keys: Mapping[str, Sequence[float]],
    weights: Sequence[Sequence[float]],
) -> Figure:
    """Draw the plane of the keys for several queries, and beside each what the keys get.

    Args:
        queries: two or more, two numbers each.
        keys: two numbers for each name.
        weights: for each query, one weight for each key.

    Returns:
        The figure, one row for each query: the plane on the left, the weights on the right.

    Raises:
        ValueError: if there aren't as many lists of weights as queries, or as many weights as keys.
    """
    size = (5.0, 2.25 * len(queries))
    figure, panels = plt.subplots(
        len(queries), 2, figsize=size, sharex="col", width_ratios=[1.5, 1], squeeze=False
    )
    for (plane, bars), query, shares in zip(panels, queries, weights, strict=True):
        _plane(plane, 4.4)
        plane.set(xlim=(-4.8, 4.8), ylabel="thing")
        for name, key in keys.items():
            _arrow(plane, key, KEY, name, KEY_TEXT)
        _arrow(plane, query, QUERY, "query", QUERY)
        _weight_bars(bars, list(keys), shares)
    panels[-1][0].set_xlabel("living")
    panels[-1][1].set_xlabel("weight")
    return figure


def _weight_bars(axes: Axes, names: Sequence[str], weights: Sequence[float]) -> None:
    """Draw a bar with its number for each key."""
    if len(names) != len(weights):
        raise ValueError(f"weights ({len(weights)}) must be as many as keys ({len(names)})")
    axes.barh(range(len(names)), weights, color=QUERY, height=0.62)
    axes.set(yticks=range(len(names)), yticklabels=names, xlim=(0, 1.35), xticks=[0, 1])
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)
    for place, weight in enumerate(weights):
        axes.text(weight + 0.05, place, f"{weight:.2f}", va="center")
