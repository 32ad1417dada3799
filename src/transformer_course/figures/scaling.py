"""The pictures of chapter 14: sums that go round a ring, and a law with its prediction."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from numpy.typing import ArrayLike

from transformer_course.figures import flow
from transformer_course.figures.palette import INK, QUERY, QUIET, VALUE, VALUE_TEXT, drawn
from transformer_course.scaling import fit_power_law, ring_steps

LEFT, TOP, FALL = 3.4, 1.9, 2.2  # where the numbers begin, and the room between two states


@drawn
def ring_flow(parts: ArrayLike) -> Figure:
    """Draw what workers on a ring have: at first, when each has one whole sum, and when all have all.

    A row is a worker, a column a chunk of one number; whole sums are in a stronger colour.

    Args:
        parts: (workers, workers), 2 to 6 workers; what each has at first.

    Returns:
        The figure.

    Raises:
        ValueError: if there aren't 2 to 6 workers with as many numbers each.

    >>> figure = ring_flow([[1, 2], [10, 20]])
    >>> [text.get_text() for text in figure.axes[0].texts][-4:]
    ['11', '22', '11', '22']
    """
    rows = np.asarray(parts, dtype=float)
    p = len(rows)
    if rows.shape != (p, p) or not 2 <= p <= 6:
        raise ValueError(f"parts {rows.shape} must be (workers, workers), with 2 to 6 workers")
    states = list(ring_steps([torch.tensor(row) for row in rows]))
    sums = rows.sum(0)
    figure, axes = flow.canvas(LEFT + max(p, 4) + 3.4, TOP + 3 * p + 2 * FALL + 0.4)
    flow.words(axes, (LEFT + p / 2, 0.5), f"chunks ({p}), one column each", bold=True)
    steps = "1 step" if p == 2 else f"{p - 1} steps"
    told = (f"{steps}: send, and add", f"{steps}: send, and replace")
    for number, state in enumerate((states[0], states[p - 1], states[-1])):
        top = TOP + number * (p + FALL)
        now = np.array([[chunk.item() for chunk in mine] for mine in state.chunks])
        for worker in range(p):
            flow.words(
                axes,
                (LEFT - 0.3, top + worker + 0.5),
                f"worker {worker}",
                align=("right", "center"),
            )
        if number:
            middle = LEFT + p / 2
            flow.arrow(axes, (middle, top - FALL + 0.2), (middle, top - 0.2))
            flow.words(
                axes, (middle + 0.5, top - FALL / 2), told[number - 1], QUIET, ("left", "center")
            )
        flow.numbers(axes, (LEFT, top), now, VALUE, strengths=np.where(now == sums, 0.5, 0.08))
    return figure


@drawn
def law_and_prediction(
    measured: Mapping[str, tuple[Sequence[float], Sequence[Sequence[float]]]],
) -> Figure:
    """Draw losses against sizes, the power law through all but the last, and where the last one came out.

    The law is fitted to the means over seeds, as `fit_power_law` does (Kaplan et al. 2020). Both axes are
    logarithmic.

    Args:
        measured: name of the size → (sizes, losses of each seed); three sizes or more.

    Returns:
        The figure; a panel for each name.

    Raises:
        ValueError: if there is nothing to draw, too few sizes, or not as many losses.

    >>> figure = law_and_prediction({"weights": ([10, 100, 1000], [[4, 2, 1.5]])})
    >>> figure.axes[0].get_xlabel()
    'weights'
    """
    if not measured:
        raise ValueError("measured is empty; there must be a panel")
    figure, panels = plt.subplots(
        len(measured), 1, figsize=(5.6, 3.1 * len(measured)), squeeze=False, layout="constrained"
    )
    for axes, (name, (sizes, seeds)) in zip(panels[:, 0], measured.items(), strict=True):
        if len(sizes) < 3 or any(len(losses) != len(sizes) for losses in seeds):
            raise ValueError(f"{name!r} must have three sizes or more, and a loss for each")
        means = np.mean(seeds, axis=0)
        law = fit_power_law(sizes[:-1], means[:-1])
        axes.plot(sizes, [law(size) for size in sizes], "--", color=QUIET, lw=1.5)
        for losses in seeds:
            axes.plot(sizes[:-1], losses[:-1], "o", color=QUERY, ms=5)
            axes.plot(sizes[-1:], losses[-1:], "s", color=VALUE, ms=7)
        axes.plot(sizes[-1:], [law(sizes[-1])], "D", mfc="white", mec=INK, ms=8)
        axes.set(xscale="log", yscale="log", xlabel=name, ylabel="held-out loss, in nats")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 1.5, 2, 3, 4, 5, 7)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda loss, _: f"{loss:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.set_xlim(sizes[0] / 1.4, sizes[-1] * 4.5)
        ends = {"foretold": (law(sizes[-1]), INK), "measured": (means[-1], VALUE_TEXT)}
        for text, (loss, colour) in ends.items():
            axes.annotate(
                text,
                (sizes[-1], loss),
                (12, 0),
                textcoords="offset points",
                color=colour,
                va="center",
            )
        axes.annotate(
            f"law of {len(sizes) - 1} sizes", (sizes[1], law(sizes[1])), (10, 8),
            textcoords="offset points", color=QUIET,
        )  # fmt: skip
    return figure
