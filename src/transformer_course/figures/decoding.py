"""The plots of chapter 09. Numbers come from the notebook; nothing is computed here but places on paper."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike

from transformer_course.figures.palette import INK, LINE, MASK, QUIET, drawn, legend_name

BEST, COMPUTED, KEPT = "#d55e00", "#56b4e9", "#e8f4fb"
MARKS = (("o", INK, "-"), ("s", BEST, "--"))
Beginning = tuple[str, ...]


@drawn
def search_tree(
    sums: Mapping[Beginning, float], kept: Sequence[Beginning], best: Beginning
) -> Figure:
    """Draw beginnings of sentences as a tree: one column for each step, the first word on the left.

    Args:
        sums: for each beginning the number that is written below its last word; in the order in which they
            shall stand, from top to bottom within a column. Each beginning's own beginning must be there too.
        kept: the beginnings that the search keeps; all others are grey and dashed.
        best: the sentence that wins; its path is drawn thick.

    Returns:
        The figure.

    Raises:
        KeyError: if a beginning's own beginning is missing.
        ValueError: if there is no beginning.
    """
    steps = max(map(len, sums))
    columns = [[b for b in sums if len(b) == step] for step in range(1, steps + 1)]
    rows = max(map(len, columns))
    places: dict[tuple[str, ...], tuple[float, float]] = {(): (0.0, (rows - 1) / 2)}
    for step, column in enumerate(columns, 1):
        gap = (rows - 1) / max(len(column) - 1, 1) if len(column) > 1 else 0.0
        for i, beginning in enumerate(column):
            places[beginning] = (step, i * gap if len(column) > 1 else (rows - 1) / 2)
    figure, axes = plt.subplots(figsize=(1.05 * (steps + 1), 0.95 * rows + 0.4))
    for beginning, (x, y) in places.items():
        wins = best[: len(beginning)] == beginning
        alive = wins or beginning in kept
        colour = BEST if wins else INK if alive else MASK
        style: dict[str, Any] = {
            "color": colour,
            "lw": 3.2 if wins else 1.4,
            "ls": "-" if alive else "--",
        }
        if beginning:
            from_x, from_y = places[beginning[:-1]]
            axes.plot([from_x, x], [from_y, y], zorder=1, **style)  # the boxes cover its ends
            total = f"{sums[beginning]:.2f}".replace("-", "−")
            text = f"{beginning[-1]}\n{total}"
        else:
            text = "<s>"
        frame = {"boxstyle": "round,pad=0.3", "fc": "white", "ec": colour, "lw": style["lw"]}
        ink = INK if alive else QUIET
        axes.text(x, y, text, ha="center", va="center", color=ink, bbox=frame, fontsize=12)
    axes.set(xlim=(-0.45, steps + 0.5), ylim=(rows - 0.45, -0.55))
    axes.set_axis_off()
    return figure


@drawn
def cache_grids(length: int) -> Figure:
    """Draw at which positions the decoder computes at each step, without a cache and with one.

    Args:
        length: how many tokens are written.

    Returns:
        The figure.
    """
    figure, panels = plt.subplots(1, 2, figsize=(7.2, 3.7), sharey=True)
    for axes, title in zip(panels, ("without a cache", "with a cache"), strict=True):
        for step in range(length):
            for position in range(step + 1):
                fresh = position == step or title.startswith("without")
                colour = COMPUTED if fresh else KEPT
                square = Rectangle((position, step), 1, 1, fc=colour, ec="white", lw=2)
                axes.add_patch(square)
                mark = "•" if fresh else ""
                axes.text(position + 0.5, step + 0.5, mark, ha="center", va="center")
        count = length * (length + 1) // 2 if title.startswith("without") else length
        axes.set_title(f"{title}: {count}", loc="left", fontweight="bold")
        axes.set(xlim=(0, length), ylim=(length, 0), aspect="equal", xlabel="position")
        axes.set_xticks(np.arange(length) + 0.5, [str(i + 1) for i in range(length)])
        axes.set_yticks(np.arange(length) + 0.5, [str(i + 1) for i in range(length)])
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
    panels[0].set_ylabel("step")
    return figure


@drawn
def scores_by_beam(
    beams: Sequence[int], panels: Mapping[str, Mapping[str, Sequence[Sequence[float]]]]
) -> Figure:
    """Draw scores against the width of the beam: a panel for each score, a mark for each seed.

    Args:
        beams: the widths.
        panels: for each score, for each of at most two kinds of search a list for each seed, as many numbers
            as widths.

    Returns:
        The figure.

    Raises:
        ValueError: if a seed hasn't as many numbers as there are widths.
    """
    figure, rows = plt.subplots(
        len(panels), 1, figsize=(6.4, 2.0 * len(panels) + 0.6), squeeze=False, sharex=True
    )
    for axes, (title, kinds) in zip(rows[:, 0], panels.items(), strict=True):
        for (name, seeds), (mark, colour, dashes) in zip(kinds.items(), MARKS, strict=False):
            shift = 0.97 if mark == "o" else 1.03  # so that marks don't hide one another
            places = np.asarray(beams, dtype=float) * shift
            for numbers in seeds:
                axes.plot(places, numbers, mark, ms=6, mfc="none", mew=1.4, color=colour)
            axes.plot(places, np.mean(seeds, axis=0), dashes, color=colour, label=legend_name(name))
        axes.set_title(title, loc="left", fontweight="bold")
        axes.set_xscale("log", base=2)
        axes.set_xticks(list(beams), [str(beam) for beam in beams])
        axes.yaxis.grid(True, color=LINE)
        axes.axhline(0, color=QUIET, lw=1.2)
    rows[-1, 0].set_xlabel("beam")
    handles, labels = rows[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    return figure


@drawn
def ratio_by_length(lengths: Sequence[float], ratios: Sequence[ArrayLike], label: str) -> Figure:
    """Draw how many times faster one way is than another, against the length of what is written.

    Args:
        lengths: numbers of tokens.
        ratios: a list for each seed, as many numbers as lengths.
        label: of the axis.

    Returns:
        The figure: a mark for each seed, a line through the medians, and a line at 1.

    Raises:
        ValueError: if a seed hasn't as many numbers as there are lengths.
    """
    figure, axes = plt.subplots(figsize=(6.4, 3.6))
    mark, colour, dashes = MARKS[0]
    for numbers in ratios:
        axes.plot(lengths, np.asarray(numbers), mark, ms=6, mfc="none", mew=1.4, color=colour)
    axes.plot(lengths, np.median(np.asarray(ratios, dtype=float), axis=0), dashes, color=colour)
    axes.axhline(1, color=QUIET, lw=1.2)
    axes.annotate(
        "equally fast", (lengths[-1], 1), (0, 4), "data", textcoords="offset points", ha="right"
    )
    axes.set_xscale("log", base=2)
    axes.set_xticks(list(lengths), [f"{length:g}" for length in lengths])
    axes.set(xlabel="tokens written", ylabel=label, ylim=(0, None))
    axes.yaxis.grid(True, color=LINE)
    return figure
