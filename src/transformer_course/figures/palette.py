"""The course's colours, by what they mean, and how every plot is drawn.

The hues are those of Okabe and Ito 2008, which colour-blind readers can tell apart. The same values stand in
the book's style sheet, `book/static/course.css`; a test compares them.
"""

import functools
from collections.abc import Callable
from typing import Any, ParamSpec

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatter

QUERY = "#0072b2"
"""Queries are blue."""
KEY = "#e69f00"
"""Keys are orange."""
VALUE = "#009e73"
"""Values are green."""
POSITION = "#cc79a7"
"""Positions are purple."""
MASK = "#999999"
"""What a mask hides is grey and hatched."""
HEADS = ("#56b4e9", "#d55e00", "#f0e442", "#b8b8b8")
"""Heads, where a plot tells several apart; the number of a head stands beside its colour."""
WEIGHTS = "Blues"
"""The colour map of weights. Light is 0, dark is 1, in grey print too."""

KEY_TEXT, VALUE_TEXT = "#8f6200", "#00664b"  # dark enough for words on white
INK, QUIET, LINE = "#1f2328", "#59636e", "#d9dee3"
HATCH = "////"
STYLE: dict[str, Any] = {
    "figure.dpi": 120,
    "figure.facecolor": "white",
    "figure.constrained_layout.use": True,
    "font.family": "DejaVu Sans",
    "font.size": 12,
    "axes.titlesize": 12,
    "axes.labelsize": 12,
    "axes.edgecolor": QUIET,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": False,
    "grid.color": LINE,
    "text.color": INK,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "lines.linewidth": 2.2,
    "hatch.color": MASK,
    "hatch.linewidth": 1.5,
    "legend.frameon": False,
    "text.parse_math": False,  # a name is shown as it is, with its $; formulas of ours say so
}

P = ParamSpec("P")


def drawn(plot: Callable[P, Figure]) -> Callable[P, Figure]:
    """Draw in the course's style, whatever the reader's settings are, and show the figure only once.

    pyplot would show every open figure at the end of a cell; a closed one that is returned is shown as the
    cell's result.

    Args:
        plot: a function that draws with pyplot and returns its figure.

    Returns:
        The same function, which does so.
    """

    @functools.wraps(plot)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> Figure:
        before = set(plt.get_fignums())
        try:
            with plt.style.context(["default", STYLE]):
                return _with_powers(plot(*args, **kwargs))
        finally:  # also if the plot refuses its numbers half-way
            for number in set(plt.get_fignums()) - before:
                plt.close(number)

    return wrapped


def _with_powers(figure: Figure) -> Figure:
    """Let matplotlib write the powers along a logarithmic axis, which are formulas."""
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            major = isinstance(axis.get_major_formatter(), LogFormatter)
            minor = isinstance(axis.get_minor_formatter(), LogFormatter)
            for tick in (*(axis.majorTicks if major else ()), *(axis.minorTicks if minor else ())):
                tick.label1.set_parse_math(True)
                tick.label2.set_parse_math(True)
    return figure


def legend_name(name: str) -> str:
    """A name as a legend shows it: matplotlib leaves out those that start with an underscore.

    Args:
        name: any text.

    Returns:
        The same, with a space before an underscore at its start.

    >>> legend_name("_low"), legend_name("high")
    (' _low', 'high')
    """
    return f" {name}" if name.startswith("_") else name
