"""The plots of chapter 12: who sees whom in a long text, what it costs, and what it brings."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator
from matplotlib.transforms import blended_transform_factory
from torch import Tensor

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
)
from transformer_course.long_context import global_mask, local_mask, reach, strided_mask

SEEN = 0.42  # place of "may attend" on the colour map of weights, as in chapter 03
# Colour, colour of its name, line and mark of each curve.
STROKES = (
    (QUERY, QUERY, "-", "o"),
    ("#d55e00", "#a34700", "-", "s"),
    (VALUE, VALUE_TEXT, "-", "^"),
    (INK, INK, "--", "D"),
    (KEY, KEY_TEXT, "-.", "v"),
    (POSITION, "#8f3a66", "--", "P"),
    (QUIET, QUIET, ":", "X"),
)
NEVER = "some pairs never meet"


@drawn
def attention_patterns(
    length: int = 16, window: int = 4, stride: int = 4, n_global: int = 1, causal: bool = True
) -> Figure:
    """Draw five masks: full, local, strided, local + strided, local + global.

    Blue where a query may attend to a key, hatched where it may not. A dot marks what the second of two
    patterns adds. Below stands how many pairs there are, and how many layers it takes until every token knows
    of all that a full mask shows it.

    Args:
        length: number of tokens, 2 to 32.
        window: of the local mask, see `local_mask`.
        stride: of the strided mask, see `strided_mask`.
        n_global: of the global mask, see `global_mask`.
        causal: whether what follows is hidden.

    Returns:
        The figure.

    Raises:
        ValueError: if there are too few or too many tokens, or another number is below 1.

    >>> figure = attention_patterns(length=8, window=2, stride=2)
    >>> [axes.get_title() for axes in figure.axes][:3]
    ['full', 'local, window 2', 'strided, stride 2']
    """
    if not 2 <= length <= 32:
        raise ValueError(f"length ({length}) must be from 2 to 32")
    full = local_mask(length, length, causal)
    local, strided = local_mask(length, window, causal), strided_mask(length, stride, causal)
    first = global_mask(length, n_global, causal)
    masks = {
        "full": (full, full),
        f"local, window {window}": (local, local),
        f"strided, stride {stride}": (strided, strided),
        "local + strided": (local, local | strided),
        "local + global": (local, local | first),
    }
    figure, panels = plt.subplots(3, 2, figsize=(5.3, 8.9))
    for axes, (title, (base, mask)) in zip(panels.flat, masks.items(), strict=False):
        _pattern(axes, base, mask)
        axes.set_title(title, fontweight="bold", y=-0.13)
        layers = _layers_needed(mask, full)
        steps = f"{layers} layer{'s' * (layers > 1)} to reach all" if layers else NEVER
        axes.set_xlabel(f"{int(mask.sum())} pairs\n{steps}", fontsize=11, labelpad=20)
    for axes in panels[:, 0]:
        axes.set_ylabel("queries", color=QUERY, fontweight="bold")
    for axes in panels[0]:
        axes.annotate("keys", (0.5, 1), (0, 4), "axes fraction", "offset points",
                      ha="center", color=KEY_TEXT, fontweight="bold")  # fmt: skip
    _signs(panels[2, 1])
    return figure


def _pattern(axes: Axes, base: Tensor, mask: Tensor) -> None:
    """Draw one mask; what `base` hasn't gets a dot."""
    n = mask.shape[-1]
    ground = Rectangle((0, 0), n, n, facecolor="#eeeeee", edgecolor=MASK, hatch=HATCH, lw=0)
    axes.add_patch(ground)
    for row, column in mask[0, 0].nonzero().tolist():
        colour = plt.get_cmap(WEIGHTS)(SEEN)
        square = Rectangle((column, row), 1, 1, facecolor=colour, edgecolor="white", lw=0.7)
        axes.add_patch(square)
    added = (mask & ~base)[0, 0].nonzero().numpy() + 0.5
    axes.plot(added[:, 1], added[:, 0], "o", ms=2.6, color=INK)
    axes.set(xlim=(0, n), ylim=(n, 0), aspect="equal", xticks=[], yticks=[])
    axes.spines[:].set_visible(False)


def _signs(axes: Axes) -> None:
    """Say in an empty panel what the signs mean."""
    seen = plt.get_cmap(WEIGHTS)(SEEN)
    square = Line2D([], [], ls="", marker="s", ms=14, mfc=seen, mec=seen, label="sees")
    more = Line2D([], [], ls="", marker="o", ms=4, color=INK, label="added to the window")
    hidden = Patch(label="may not see", facecolor="#eeeeee", edgecolor=MASK, hatch=HATCH, lw=0)
    axes.legend(handles=[square, more, hidden], loc="center", fontsize=11)
    axes.set_axis_off()


def _layers_needed(mask: Tensor, full: Tensor) -> int:
    """Layers until every token knows of all that the full mask shows it; 0 if it never does."""
    found, layers = reach([mask]), 1
    while not bool((found | ~full[0, 0]).all()):
        layers += 1
        further = reach([mask] * layers)
        if bool((further == found).all()):
            return 0
        found = further
    return layers


@drawn
def accuracy_by_distance(
    distances: Sequence[float],
    systems: Mapping[str, Sequence[Sequence[float]]],
    window: float | None = None,
    chance: float | None = None,
    label: str = "answered right, in %",
    xlabel: str = "tokens from the fact to the question",
) -> Figure:
    """Draw how right answers are, by how far back what is asked for was told.

    Args:
        distances: middle of each bin, growing, above 0.
        systems: for each of at most seven systems a list for each seed, in %, a number for each distance.
        window: the distance beyond which a window shows nothing, marked by a line.
        chance: what guessing gets right, in %.
        label: what the numbers are, on which data.
        xlabel: what the distances are.

    Returns:
        The figure.

    Raises:
        ValueError: if there are too many systems, or a list has another length than `distances`.

    >>> figure = accuracy_by_distance([8, 16], {"full": [[90, 80], [94, 84]]}, window=12)
    >>> figure.axes[0].lines[2].get_ydata().tolist()
    [92.0, 82.0]
    """
    figure, axes = plt.subplots(figsize=(5.3, 4.6))
    ends = _curves(axes, distances, systems, "systems", marked=True)
    axes.set_xscale("log", base=2)
    axes.set_xticks(distances, [f"{distance:,g}" for distance in distances])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set(ylim=(-2, 103), yticks=range(0, 101, 20))
    axes.set(xlabel=xlabel, ylabel=_with_seeds(label, systems))
    axes.yaxis.grid(True, color=LINE)
    if chance is not None:
        axes.axhline(chance, color=QUIET, lw=1.4, ls=(0, (2, 2)), zorder=0)
        ends["guessing"] = (distances[-1], chance, QUIET)
    if window is not None:
        _edge(axes, window, "window ends")
    _direct_names(axes, ends, 3.5)
    return figure


@drawn
def loss_by_position(
    positions: Sequence[float],
    schemes: Mapping[str, Sequence[Sequence[float]]],
    trained: int,
    highest: float | None = None,
    label: str = "loss of a token, in nats",
) -> Figure:
    """Draw the loss of single tokens by their position, far beyond the length of the training.

    Args:
        positions: middle of each bin, growing, above 0.
        schemes: for each of at most seven schemes a list for each seed, a number for each position.
        trained: length of the texts in training.
        highest: where the axis ends; curves above it leave the picture, and their names stand at the top. By
            default all is shown.
        label: what the numbers are, on which data.

    Returns:
        The figure.

    Raises:
        ValueError: if there are too many schemes, or a list has another length than `positions`.

    >>> figure = loss_by_position([8, 16, 32], {"none": [[2, 1, 3]]}, trained=16)
    >>> [tick.get_text() for tick in figure.axes[0].get_xticklabels()]
    ['8', '16', '32']
    """
    figure, axes = plt.subplots(figsize=(5.3, 5.2))
    ends = _curves(axes, positions, schemes, "schemes", marked=False)
    axes.set_xscale("log", base=2)
    first, last = np.floor(np.log2([positions[0] / trained, 1.1 * positions[-1] / trained]))
    ticks = [trained * 2**power for power in np.arange(first, last + 1)]
    axes.set_xticks(ticks, [f"{tick:,g}" for tick in ticks])
    axes.xaxis.set_minor_locator(NullLocator())
    found = [value for seeds in schemes.values() for seed in seeds for value in seed]
    axes.set_ylim(0, highest or 1.05 * max(found))
    axes.set(xlabel="position of the token", ylabel=_with_seeds(label, schemes))
    axes.yaxis.grid(True, color=LINE)
    axes.set_xlim(positions[0], positions[-1])
    axes.axvspan(positions[0], trained, color=LINE, alpha=0.4, lw=0, zorder=-1)
    _edge(axes, trained, "training ends")
    _direct_names(axes, ends, 4.2)
    return figure


@drawn
def time_and_memory(
    lengths: Sequence[float],
    seconds: Mapping[str, Sequence[float | None]],
    mebibytes: Mapping[str, Sequence[float | None]],
) -> Figure:
    """Draw measured time and memory against the length, on logarithmic axes: straight lines are powers of n.

    Args:
        lengths: where it was measured, growing.
        seconds: for each of at most seven kinds of attention a number for each length; None where there is
            none.
        mebibytes: the same for memory.

    Returns:
        The figure, time above, memory below.

    Raises:
        ValueError: if there are too many kinds, or a list has another length than `lengths` or no number.

    >>> figure = time_and_memory([64, 128], {"full": [1, 4]}, {"full": [2, 8]})
    >>> [axes.get_ylabel() for axes in figure.axes]
    ['time, in seconds', 'memory, in MiB']
    """
    figure, panels = plt.subplots(2, 1, figsize=(5.3, 7.4), sharex=True)
    titles = ("time, in seconds", "memory, in MiB")
    for axes, title, kinds in zip(panels, titles, (seconds, mebibytes), strict=True):
        curves = {
            name: [[np.nan if value is None else value for value in values]]
            for name, values in kinds.items()
        }
        ends = _curves(axes, lengths, curves, "kinds", marked=True)
        axes.set(xscale="log", yscale="log", ylabel=title)
        axes.yaxis.set_major_locator(LogLocator())
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.yaxis.grid(True, color=LINE)
        _direct_names(axes, ends, 3.1)
    panels[1].set_xscale("log", base=2)
    panels[1].set_xticks(lengths, [_short(n) for n in lengths])
    panels[1].xaxis.set_minor_locator(NullLocator())
    panels[1].set_xlabel("length n, in tokens")
    return figure


def _short(n: float) -> str:
    """A length with few letters: 2048 becomes 2k, as 1k is 1024."""
    return f"{n / 1024:g}k" if n >= 1024 and n % 1024 == 0 else f"{n:g}"


def _with_seeds(label: str, curves: Mapping[str, Sequence[Sequence[float]]]) -> str:
    """The name of an axis, with what the lines are."""
    count = max(len(seeds) for seeds in curves.values())
    if count == 1:
        return f"{label}\n(one seed)"
    return f"{label}\n(thick: mean; thin: each of {count} seeds)"


def _curves(
    axes: Axes,
    places: Sequence[float],
    curves: Mapping[str, Sequence[Sequence[float]]],
    name_of_all: str,
    marked: bool,
) -> dict[str, tuple[float, float, str]]:
    """Draw each seed thin and their mean thick; return where each mean ends, and the colour of its name."""
    if len(curves) > len(STROKES):
        raise ValueError(f"{name_of_all} ({len(curves)}) must be {len(STROKES)} or fewer")
    ends = {}
    for (name, seeds), (colour, ink, dashes, mark) in zip(curves.items(), STROKES, strict=False):
        for values in seeds:
            if len(values) != len(places):
                raise ValueError(
                    f"{name_of_all}[{name!r}] has {len(values)} values for {len(places)} places"
                )
            if len(seeds) > 1:
                axes.plot(places, values, color=colour, lw=0.9, alpha=0.45)
        mean = np.mean(np.asarray(seeds, dtype=float), 0)
        axes.plot(places, mean, dashes, marker=mark if marked else "", ms=6, color=colour)
        if np.isnan(mean).all():
            raise ValueError(f"{name_of_all}[{name!r}] must have a number at one place or more")
        last = int(np.flatnonzero(~np.isnan(mean))[-1])
        ends[name] = (places[last], float(mean[last]), ink)
    return ends


def _edge(axes: Axes, x: float, text: str) -> None:
    """Mark a place on the axis of lengths."""
    axes.axvline(x, color=QUIET, lw=1.4, ls=(0, (1, 1.5)), zorder=0)
    place = blended_transform_factory(axes.transData, axes.transAxes)
    axes.annotate(text, (x, 1), (0, 4), place, "offset points", ha="center", fontsize=11)


def _direct_names(axes: Axes, ends: Mapping[str, tuple[float, float, str]], tall: float) -> None:
    """Write each curve's name at the right, moved up or down where two would overlap, and a line to its end.

    `tall` is the height of the axes in inches, about.
    """
    to_axes = axes.transData + axes.transAxes.inverted()
    found = {}
    for name, (x, y, _) in ends.items():
        across, up = to_axes.transform((x, y))
        found[name] = (float(across), float(up))
    order = sorted(found, key=lambda name: found[name][1])
    places = _apart([min(found[name][1], 1.0) for name in order], 0.21 / tall)
    for name, place in zip(order, places, strict=True):
        ink, beyond = ends[name][2], found[name][1] > 1
        leader = {"arrowstyle": "-", "color": ink, "lw": 1, "ls": (0, (1, 2)), "relpos": (0, 0.5)}
        axes.annotate(
            f"{name} ↑" if beyond else name, found[name], (1.06, place), "axes fraction",
            va="center", color=ink, fontweight="bold", fontsize=11,
            arrowprops=None if beyond else leader, annotation_clip=False,
        )  # fmt: skip


def _apart(wanted: Sequence[float], least: float) -> list[float]:
    """Heights from 0 to 1, close to those that are wanted, growing, and at least so far apart."""
    places = list(wanted)
    last = len(places) - 1
    for _ in range(200):  # push neighbours apart, little by little
        for i in range(last):
            push = max(0.0, least - (places[i + 1] - places[i])) / 2
            places[i], places[i + 1] = places[i] - push, places[i + 1] + push
        places = [min(max(p, i * least), 1 - (last - i) * least) for i, p in enumerate(places)]
    return places
