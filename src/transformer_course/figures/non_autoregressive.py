"""The plots of chapter 13: who wrote how many words, a translation in several passes, quality against time."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from transformer_course.figures.palette import (
    HATCH,
    INK,
    KEY,
    KEY_TEXT,
    LINE,
    MASK,
    POSITION,
    QUERY,
    QUIET,
    VALUE,
    VALUE_TEXT,
    WEIGHTS,
    drawn,
    legend_name,
)

LONGEST = 12  # words in a row that can be read
STROKES = (
    (QUERY, "o"),
    ("#d55e00", "s"),
    (VALUE, "^"),
    (KEY_TEXT, "D"),
    (POSITION, "v"),
    (INK, "P"),
)


@drawn
def fertility_copies(
    source: Sequence[str], fertilities: Sequence[int], target: Sequence[str]
) -> Figure:
    """Draw how the source becomes what the decoder reads: each word copied as often as its fertility says.

    Above stand the source words with their fertilities, below them the copies, and below these the translation
    that replaces them, all at once.

    Args:
        source: words, 1 to 12.
        fertilities: a number for each of them, 0 or more.
        target: the words of the translation, as many as the fertilities' sum, 1 to 12.

    Returns:
        The figure.

    Raises:
        ValueError: if there are too few or too many words, a fertility is below 0, or the numbers don't fit.

    >>> figure = fertility_copies(["not", "here"], [2, 1], ["pas", "du tout", "ici"])
    >>> [text.get_text() for text in figure.axes[0].texts][:2]
    ['not', '2']
    """
    if not 1 <= len(source) <= LONGEST or not 1 <= len(target) <= LONGEST:
        raise ValueError(
            f"source ({len(source)} words) and target ({len(target)}) must have 1 to {LONGEST}"
        )
    if len(fertilities) != len(source) or min(fertilities) < 0 or sum(fertilities) != len(target):
        raise ValueError(
            f"fertilities {[*fertilities]} must be {len(source)} numbers, 0 or more, with the sum "
            f"{len(target)}"
        )
    n = max(len(source), len(target))
    width = max(4.5, 0.95 * n + 1.1)
    if n <= 8:
        width = min(width, 7.6)  # as wide as a telephone can show
    size = _letters([*source, *target], width / (n + 1.2))
    figure, axes = plt.subplots(figsize=(width, 3.7))
    owners = [i for i, number in enumerate(fertilities) for _ in range(number)]
    left, below = (n - len(source)) / 2, (n - len(target)) / 2
    for i, (word, number) in enumerate(zip(source, fertilities, strict=True)):
        _box(axes, (left + i, 3.1), word, KEY if number else LINE, size)
        axes.text(left + i + 0.5, 3.83, str(number), ha="center", color=KEY_TEXT, fontweight="bold")
    for j, (owner, word) in enumerate(zip(owners, target, strict=True)):
        start, end = (left + owner + 0.5, 3.1), (below + j + 0.5, 2.3)
        axes.plot(*zip(start, end, strict=True), color=KEY, lw=1.4)
        _box(axes, (below + j, 1.75), source[owner], KEY, size)
        axes.annotate(
            "", (below + j + 0.5, 0.6), (below + j + 0.5, 1.7),
            arrowprops={"arrowstyle": "->", "color": QUIET},
        )  # fmt: skip
        _box(axes, (below + j, 0.0), word, VALUE, size)
    for y, text, colour in (
        (3.37, "source", KEY_TEXT),
        (2.02, "copies", KEY_TEXT),
        (0.27, "translation", VALUE_TEXT),
    ):
        axes.text(-0.15, y, text, ha="right", va="center", color=colour, fontsize=11)
    axes.text(-0.15, 3.83, "fertility", ha="right", color=KEY_TEXT, fontsize=11)
    axes.set(xlim=(-1.6, n + 0.1), ylim=(-0.1, 4.2), xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    return figure


def _letters(names: Sequence[str], box: float) -> float:
    """The size at which the longest of some words fits into a box of so many inches."""
    return float(np.clip(86 * box / max(map(len, names)), 6, 11.5))


def _box(axes: Axes, place: tuple[float, float], word: str, colour: str, size: float) -> None:
    """Draw a word in a frame."""
    x, y = place
    frame = Rectangle((x + 0.04, y), 0.92, 0.55, facecolor="white", edgecolor=colour, lw=1.8)
    axes.add_patch(frame)
    axes.text(x + 0.5, y + 0.27, word, ha="center", va="center", fontsize=size)


@drawn
def pass_strip(
    tokens: Sequence[Sequence[str]],
    probabilities: Sequence[Sequence[float]],
    written: Sequence[Sequence[bool]],
) -> Figure:
    """Draw a translation in several passes, as a film strip: a column for each pass.

    The darker a word's ground, the more probable the word was in the pass that wrote it. What a pass has
    written has a thick frame; a hatched corner says that the word is a gap before the next pass.

    Args:
        tokens: for each pass the words that stand there after it; at most 12 words, each row as many.
        probabilities: of these words, 0 to 1.
        written: whether this pass wrote it.

    Returns:
        The figure.

    Raises:
        ValueError: if the rows aren't equally many and equally long, there is none, or one is too long.

    >>> figure = pass_strip([["a", "a"], ["a", "b"]], [[0.9, 0.4], [0.9, 0.8]], [[True] * 2, [False, True]])
    >>> [text.get_text() for text in figure.axes[0].texts][:3]
    ['pass 0', 'a', '0.90']
    """
    sizes = {len(row) for rows in (tokens, probabilities, written) for row in rows}
    if len({len(tokens), len(probabilities), len(written)}) > 1 or len(sizes) != 1:
        raise ValueError(
            "tokens, probabilities and written must have as many rows, all equally long; "
            f"they have {len(tokens)}, {len(probabilities)} and {len(written)} rows of {sorted(sizes)}"
        )
    (n,) = sizes
    if not 1 <= n <= LONGEST:
        raise ValueError(f"tokens ({n} a row) must be 1 to {LONGEST}")
    size = _letters([word for row in tokens for word in row], 1.2)
    figure, axes = plt.subplots(figsize=(max(3.0, 1.3 * len(tokens)), 0.52 * n + 0.5))
    for t, rows in enumerate(zip(tokens, probabilities, written, strict=True)):
        axes.text(t + 0.5, -0.1, f"pass {t}", ha="center", va="bottom", fontsize=11)
        gaps = written[t + 1] if t + 1 < len(tokens) else [False] * n
        for j, (word, p, new) in enumerate(zip(*rows, strict=True)):
            _frame(axes, (t, j), p, new, gaps[j])
            ink = "white" if p > 0.62 else INK
            axes.text(t + 0.5, j + 0.32, word, ha="center", va="center", color=ink, fontsize=size)
            axes.text(t + 0.5, j + 0.7, f"{p:.2f}", ha="center", va="center", color=ink, fontsize=8)
    axes.set(xlim=(-0.02, len(tokens) + 0.02), ylim=(n, -0.6), xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    return figure


def _frame(axes: Axes, place: tuple[int, int], p: float, new: bool, gap: bool) -> None:
    """Draw the ground and the frame of one word."""
    x, y = place
    ground = plt.get_cmap(WEIGHTS)(p)
    edge, width = (INK, 2.4) if new else (LINE, 1.0)
    axes.add_patch(
        Rectangle((x + 0.05, y + 0.05), 0.9, 0.82, facecolor=ground, edgecolor=edge, lw=width)
    )
    if gap:
        corner = Rectangle((x + 0.72, y + 0.05), 0.23, 0.2, facecolor="white", edgecolor=MASK)
        corner.set(hatch=2 * HATCH, lw=1.0)
        axes.add_patch(corner)


@drawn
def quality_and_time(
    systems: Mapping[str, Mapping[str, tuple[float, float]]],
    ylabel: str = "exact match in %",
    xlabel: str = "milliseconds for one sentence",
) -> Figure:
    """Draw quality against time, a dot for each system: up is better, left is faster.

    Systems of one kind have one colour and one mark, and are joined by a line. The grey steps are the front:
    no system is both faster and better than one of those on it.

    Args:
        systems: kind → name of the system → its time, above 0, and its quality; at most six kinds.
        ylabel: what quality is.
        xlabel: what time is.

    Returns:
        The figure.

    Raises:
        ValueError: if there is no system, there are too many kinds, or a time isn't above 0.

    >>> figure = quality_and_time({"one pass": {"argmax": (5, 60)}, "passes": {"T = 4": (20, 70)}})
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['front', 'one pass', 'passes']
    """
    points = [point for kind in systems.values() for point in kind.values()]
    if not points or len(systems) > len(STROKES):
        raise ValueError(
            f"systems ({len(systems)} kinds, {len(points)} systems) must be 1 to {len(STROKES)} kinds "
            "and at least one system"
        )
    if min(time for time, _ in points) <= 0:
        raise ValueError(f"systems must have times above 0, got {min(points)[0]}")
    figure, axes = plt.subplots(figsize=(6.2, 4.6))
    best = front(points)
    axes.step(
        *zip(*best, strict=True),
        where="post",
        color=MASK,
        alpha=0.45,
        lw=5,
        zorder=0,
        label="front",
    )
    for (kind, found), (colour, mark) in zip(systems.items(), STROKES, strict=False):
        axes.plot(
            *zip(*sorted(found.values()), strict=True),
            color=colour, marker=mark, ms=7, lw=1.2, label=legend_name(kind),
        )  # fmt: skip
        for name, place in found.items():
            axes.annotate(name, place, (0, 7), textcoords="offset points", ha="center",
                          fontsize=9, color=QUIET)  # fmt: skip
    axes.set(xscale="log", xlabel=xlabel, ylabel=ylabel)
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda time, _: f"{time:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.margins(0.12)
    axes.grid(True)
    figure.legend(loc="outside lower center", ncols=3, fontsize=10)
    return figure


def front(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The points that none beats in both: none is as fast and better, or faster and as good (Pareto front).

    Args:
        points: time and quality.

    Returns:
        Those on the front, the fastest first.

    >>> front([(2, 5), (1, 3), (3, 4), (2, 4)])
    [(1, 3), (2, 5)]
    """
    order = sorted(points, key=lambda point: (point[0], -point[1]))
    best = np.maximum.accumulate([quality for _, quality in order])
    rises = [True, *(one < other for one, other in pairwise(best))]
    return [point for point, rise in zip(order, rises, strict=True) if rise]
