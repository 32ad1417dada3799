"""The plots of chapter 01. Numbers come from the notebook; nothing is computed here but places on paper."""

import math
from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib import patheffects as path_effects
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike, NDArray

from transformer_course.figures import flow
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

PAGE = {  # the parts of a newspaper's front page: left, bottom, width, height
    "headline": (0.0, 8.0, 10.0, 2.0),
    "first lines": (0.0, 5.4, 5.8, 2.3),
    "picture": (6.1, 3.6, 3.9, 4.1),
    "long report": (0.0, 0.0, 5.8, 5.1),
    "tide table": (6.1, 0.0, 3.9, 3.3),
}
FloatArray = NDArray[np.floating]
AT_END = ("right", "center")
FLOW_KEYS = 1.4  # left edge of the keys in the picture of the flow; their names stand before it
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
        top.plot(grid, np.asarray(curve), style, color=colour, label=label)
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
            )
    panels[-1].set_xticks(LOG_TICKS, [str(width) for width in LOG_TICKS])
    panels[-1].set_xlabel("$d_k$, the width of queries and keys")
    return figure


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


@drawn
def attention_flow(
    query: Sequence[float],
    keys: Mapping[str, Sequence[float]],
    scores: Sequence[float],
    weights: Sequence[float],
    values: Sequence[Sequence[float]],
    output: Sequence[float],
) -> Figure:
    """Draw how one query becomes one output: scores, weights, and the weighted sum of the values.

    Args:
        query: (d_k,).
        keys: (d_k,) for each name.
        scores: (k_len,), after the division by the root of d_k.
        weights: (k_len,).
        values: (k_len, d_v).
        output: (d_v,).

    Returns:
        The figure.

    Raises:
        ValueError: if there aren't as many scores, weights and values as keys.

    >>> figure = attention_flow([2], {"a": [1], "b": [0]}, [2, 0], [0.9, 0.1], [[1], [0]], [0.9])
    >>> [text.get_text() for text in figure.axes[0].texts if text.get_text().startswith(".")]
    ['.90', '.10']
    """
    d_k, k_len = len(query), len(keys)
    columns = (
        FLOW_KEYS + d_k + np.array([0.9, 1.9, 3.8, 4.8, 6.7])
    )  # box, scores, box, weights, values
    compare, score, divide, weight, value = map(float, columns)
    width, foot = value + len(output), 3.5 + 1.3 * k_len
    figure, axes = flow.canvas(width + 0.2, foot + 2.9)
    _flow_names(axes, (score, weight, value), (d_k, k_len, len(output)))
    flow.numbers(axes, (FLOW_KEYS, 0.9), [query], QUERY)
    flow.path(axes, [(FLOW_KEYS + d_k + 0.1, 1.4), (compare, 1.4), (compare, 3.1)], QUERY)
    tall = 1.3 * k_len - 0.1
    flow.box(axes, (compare, 3.2 + tall / 2), (0.9, tall), r"dot, $\div\sqrt{d_k}$", upright=True)
    flow.box(axes, (divide, 3.2 + tall / 2), (0.9, tall), "softmax", upright=True)
    rows = zip(keys.items(), scores, weights, values, strict=True)
    for row, ((name, key), fit, share, content) in enumerate(rows):
        y = 3.3 + 1.3 * row
        flow.words(axes, (FLOW_KEYS - 0.2, y + 0.5), name, align=AT_END)
        flow.numbers(axes, (FLOW_KEYS, y), [key], KEY)
        flow.numbers(axes, (score, y), [[fit]], QUIET)
        flow.numbers(axes, (weight, y), [[share]], QUERY, 2, [[0.15 + 0.85 * share]])
        flow.words(axes, (value - 0.45, y + 0.5), "×")
        flow.numbers(axes, (value, y), [content], VALUE, 0, [[0.1 + 0.5 * share] * len(output)])
        for start in (FLOW_KEYS + d_k, compare + 0.45, score + 1, divide + 0.45):
            flow.arrow(axes, (start + 0.05, y + 0.5), (start + 0.5, y + 0.5))
    middle = value + len(output) / 2
    flow.arrow(axes, (middle, foot - 0.1), (middle, foot + 1.1), VALUE)
    flow.words(axes, (middle - 0.3, foot + 0.5), "add up", align=AT_END)
    flow.numbers(axes, (value, foot + 1.2), [output], VALUE)
    flow.words(axes, (value - 0.3, foot + 1.7), f"output ({len(output)})", VALUE_TEXT, align=AT_END)
    return figure


def _flow_names(axes: Axes, lefts: tuple[float, float, float], sizes: tuple[int, int, int]) -> None:
    """Name query, keys, scores, weights and values, each with its shape."""
    (score, weight, value), (d_k, k_len, d_v) = lefts, sizes
    over_keys = FLOW_KEYS + d_k / 2
    for y, x, text, colour in (
        (0.7, over_keys, f"query ({d_k})", QUERY),
        (3.0, over_keys, f"keys ({k_len}, {d_k})", KEY_TEXT),
        (3.0, score + 0.5, f"scores\n({k_len})", QUIET),
        (3.0, weight + 0.5, f"weights\n({k_len})", QUERY),
        (3.0, value + d_v / 2, f"values\n({k_len}, {d_v})", VALUE_TEXT),
    ):
        flow.words(axes, (x, y), text, colour, ("center", "bottom"), bold=True)
