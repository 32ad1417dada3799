"""The plots of chapter 11: the masks of the families, what labels are worth, and which method wins."""

import textwrap
from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import MaxNLocator, NullLocator
from numpy.typing import NDArray

from transformer_course.families.objectives import prefix_mask
from transformer_course.figures.palette import (
    HATCH,
    INK,
    KEY,
    KEY_TEXT,
    LINE,
    MASK,
    QUERY,
    QUIET,
    VALUE,
    VALUE_TEXT,
    WEIGHTS,
    drawn,
)
from transformer_course.figures.plots import hatched
from transformer_course.masking import causal_mask

SEEN = 0.42  # place of "may attend" on the colour map of weights, as in chapter 03
# Colour, colour of its name, line and mark of each curve.
STROKES = (
    (QUERY, QUERY, "-", "o"),
    (KEY, KEY_TEXT, "-", "s"),
    (VALUE, VALUE_TEXT, "-", "^"),
    (INK, INK, "--", "D"),
    (QUIET, QUIET, ":", "v"),
)


@drawn
def four_masks(source: Sequence[str], target: Sequence[str]) -> Figure:
    """Draw who sees whom in four families, for one source and its target: four grids, two by two.

    Blue where a query may attend to a key, hatched where it may not. Between encoder and decoder, frames show
    the three attentions; where there is none, the paper stays white.

    Args:
        source: tokens of the source.
        target: tokens that the decoder reads; the first one, the start of the answer, belongs to the prompt
            of the family with a prefix.

    Returns:
        The figure.

    Raises:
        ValueError: if source or target is empty.

    >>> figure = four_masks(["cat"], ["⇒", "chat"])
    >>> [axes.get_title() for axes in figure.axes]
    ['encoder–decoder', 'encoder only', 'decoder only', 'prefix']
    """
    if not source or not target:
        raise ValueError(
            f"source ({len(source)} tokens) and target ({len(target)}) must not be empty"
        )
    tokens, n = [*source, *target], len(source)
    figure, panels = plt.subplots(2, 2, figsize=(5.3, 6.6), sharey=True)
    for place, (title, mask) in enumerate(_family_masks(n, len(target)).items()):
        axes = panels.flat[place]
        for row, column in np.ndindex(mask.shape):
            if title == "encoder–decoder" and row < n <= column:
                continue
            if mask[row, column]:
                colour = plt.get_cmap(WEIGHTS)(SEEN)
                square = Rectangle((column, row), 1, 1, facecolor=colour, edgecolor="white")
                axes.add_patch(square)
            else:
                hatched(axes, column, row)
        axes.set_title(title, fontweight="bold", y=-0.13)
        axes.xaxis.tick_top()
        axes.set_xticks(np.arange(len(tokens)) + 0.5, tokens)
        for name in axes.get_xticklabels():
            name.set_rotation(90 if len(name.get_text()) > 1 else 0)
        axes.set_yticks(np.arange(len(tokens)) + 0.5, tokens)
        axes.set(xlim=(-0.06, len(tokens) + 0.06), ylim=(len(tokens) + 0.06, -0.06), aspect="equal")
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        if place < 2:
            axes.xaxis.set_label_position("top")
            axes.set_xlabel("keys", color=KEY_TEXT, fontweight="bold")
        if place % 2 == 0:
            axes.set_ylabel("queries", color=QUERY, fontweight="bold")
    both = len(target)
    _frame(panels[0, 0], "encoder", (0, 0), (n, n))
    _frame(panels[0, 0], "cross", (0, n), (n, both))
    _frame(panels[0, 0], "decoder", (n, n), (both, both))
    _frame(panels[1, 1], "prompt", (0, 0), (n + 1, n + 1))
    nowhere = (n + both / 2, n / 2)
    said = {"ha": "center", "va": "center", "color": QUIET, "fontsize": 10}
    panels[0, 0].annotate("no such\nattention", nowhere, **said)
    keys = [
        Patch(label="sees", facecolor=plt.get_cmap(WEIGHTS)(SEEN)),
        Patch(label="may not see", facecolor="#eeeeee", edgecolor=MASK, hatch=HATCH, lw=0),
    ]
    figure.legend(handles=keys, loc="outside lower center", ncols=2, fontsize=11)
    return figure


def _family_masks(n_source: int, n_target: int) -> dict[str, NDArray[np.bool_]]:
    """The mask of each family over source and target in one row; True = may attend."""
    n = n_source + n_target
    full, causal = np.ones((n, n), dtype=bool), causal_mask(n)[0, 0].numpy()
    prefix = prefix_mask(torch.ones(1, n, dtype=torch.int64), torch.tensor([n_source + 1]))
    blocks = causal.copy()
    blocks[:n_source, :n_source] = True
    masks = (blocks, full, causal, prefix[0, 0].numpy())
    return dict(
        zip(("encoder–decoder", "encoder only", "decoder only", "prefix"), masks, strict=True)
    )


def _frame(axes: Axes, name: str, corner: tuple[int, int], size: tuple[int, int]) -> None:
    """Frame and name a block of a mask: `corner` is its first column and row, `size` columns and rows."""
    axes.add_patch(Rectangle(corner, *size, facecolor="none", edgecolor=INK, lw=1.6))
    paper = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
    middle = (corner[0] + size[0] / 2, corner[1] + size[1] / 2)
    axes.annotate(name, middle, ha="center", va="center", fontsize=10, bbox=paper)


@drawn
def learning_from_labels(
    labels: Sequence[int],
    curves: Mapping[str, Sequence[Sequence[float]]],
    chance: float,
) -> Figure:
    """Draw how right models are after so many labelled examples: the mean of the seeds, and their range.

    Args:
        labels: how many labelled examples there were, growing.
        curves: for each of at most five models a list for each seed, in %, as many numbers as labels.
        chance: what guessing gets right, in %.

    Returns:
        The figure.

    Raises:
        ValueError: if there are more than five models, or a list has another length than `labels`.

    >>> figure = learning_from_labels([16, 64], {"fresh": [[50, 60], [54, 70]]}, 50)
    >>> figure.axes[0].lines[1].get_ydata().tolist()
    [52.0, 65.0]
    """
    if len(curves) > len(STROKES):
        raise ValueError(f"curves ({len(curves)}) must be {len(STROKES)} or fewer")
    figure, axes = plt.subplots(figsize=(5.3, 4.4))
    axes.axhline(chance, color=MASK, lw=1.4, ls="--", zorder=0)
    ends = {}
    for (name, seeds), (colour, _, dashes, mark) in zip(curves.items(), STROKES, strict=False):
        for values in seeds:
            if len(values) != len(labels):
                raise ValueError(
                    f"curves[{name!r}] has {len(values)} values for {len(labels)} labels"
                )
        mean = np.mean(seeds, 0)
        axes.fill_between(labels, np.min(seeds, 0), np.max(seeds, 0), color=colour, alpha=0.2, lw=0)
        axes.plot(labels, mean, dashes, marker=mark, ms=5, color=colour)
        ends[name] = float(mean[-1])
    axes.set_xscale("log", base=2)
    axes.set_xticks(labels, [f"{n:,}" for n in labels])
    axes.xaxis.set_minor_locator(NullLocator())
    lowest = min([chance, *(value for seeds in curves.values() for s in seeds for value in s)])
    low = 10 * np.floor((lowest - 1) / 10)
    axes.set(xlim=(labels[0] / 1.25, labels[-1] * 1.12), ylim=(low, 101))
    axes.set_xlabel("labelled examples")
    count = len(next(iter(curves.values())))
    axes.set_ylabel(f"right on held-out sentences, in %\n(mean and range of {count} seeds)")
    axes.yaxis.grid(True, color=LINE)
    _names_at_the_end(axes, ends, chance, (low, 101.0))
    return figure


def _names_at_the_end(
    axes: Axes, ends: Mapping[str, float], chance: float, limits: tuple[float, float]
) -> None:
    """Write each curve's name beside its end, moved up or down where two would overlap."""
    inks = {name: ink for name, (_, ink, _, _) in zip(ends, STROKES, strict=False)}
    wanted = dict(ends) | {"guessing": chance}
    order = sorted(wanted, key=lambda name: wanted[name])
    least = (limits[1] - limits[0]) * 0.062
    places = [wanted[name] for name in order]
    for _ in range(200):  # push neighbours apart, little by little
        for i in range(len(places) - 1):
            gap = places[i + 1] - places[i]
            if gap < least:
                places[i] -= (least - gap) / 2
                places[i + 1] += (least - gap) / 2
        places = [
            min(max(p, limits[0] + i * least), limits[1] - (len(places) - 1 - i) * least)
            for i, p in enumerate(places)
        ]
    for name, place in zip(order, places, strict=True):
        ink = inks.get(name, QUIET)
        axes.annotate(
            name,
            (1, wanted[name]),
            (1.05, place),
            xycoords=axes.get_yaxis_transform(),
            textcoords=axes.get_yaxis_transform(),
            va="center",
            color=ink,
            fontweight="normal" if name == "guessing" else "bold",
            fontsize=11,
            arrowprops={
                "arrowstyle": "-",
                "color": ink,
                "lw": 0.9,
                "shrinkA": 1,
                "relpos": (0, 0.5),
            },
        )


@drawn
def bars_with_seeds(
    values: Mapping[str, Sequence[float]],
    label: str = "right on held-out images, in %",
    start: float = 0.0,
) -> Figure:
    """Draw a bar for the mean of each method, a dot for each of its seeds, and the mean as a number.

    Args:
        values: for each method a number for each seed, in the order in which the bars are drawn.
        label: what the numbers are.
        start: where the axis begins. If not at 0, each bar is cut through, and the axis says so.

    Returns:
        The figure.

    Raises:
        ValueError: if there is no method, or a number isn't above `start`.

    >>> figure = bars_with_seeds({"patches": [97, 98, 99]}, start=80)
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['98.0', 'the axis starts at 80']
    """
    found = [value for seeds in values.values() for value in seeds]
    if not found or min(found) <= start:
        raise ValueError(f"values ({found}) must be one or more, all above start ({start})")
    wide, places = max(found) - start, 1 if max(found) >= 10 else 2
    figure, axes = plt.subplots(figsize=(5.3, 1.1 + 0.46 * len(values)))
    for row, seeds in enumerate(values.values()):
        mean = float(np.mean(seeds))
        axes.barh(row, mean - start, left=start, height=0.62, color=plt.get_cmap(WEIGHTS)(SEEN))
        axes.plot(seeds, [row] * len(seeds), "o", ms=5, color=QUERY, mec="white", mew=0.7)
        right = max(*seeds, mean) + 0.03 * wide
        axes.text(right, row, f"{mean:.{places}f}", va="center", fontsize=11)
        if start:
            _cut(axes, start + 0.045 * wide, row, 0.016 * wide)
    axes.set_yticks(range(len(values)), [textwrap.fill(name, 19) for name in values])
    axes.set(xlim=(start, max(found) + 0.16 * wide), ylim=(len(values) - 0.45, -0.55))
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    count = len(next(iter(values.values())))
    axes.set_xlabel(f"{label}\n(dots: {count} seeds; number: their mean)", loc="right")
    if start:
        axes.text(
            0, 1.0, f"the axis starts at {start:g}", transform=axes.transAxes, va="bottom",
            color=QUIET, fontsize=11,
        )  # fmt: skip
    return figure


def _cut(axes: Axes, x: float, row: int, wide: float) -> None:
    """Cut a bar through: two slanted lines with paper between them."""
    ys = np.array([row + 0.42, row - 0.42])
    lower, upper = np.array([x - wide, x]), np.array([x, x + wide])
    axes.fill_betweenx(ys, lower, upper, color="white", lw=0, zorder=3)
    for xs in (lower, upper):
        axes.plot(xs, ys, color=QUIET, lw=1.2, zorder=4, solid_capstyle="butt")
