"""Pictures in which vectors flow through a mechanism: rows of numbers, boxes with what they do, arrows between.

One unit is one number's square. `y` grows downwards, as one reads. What flows has the colour of its meaning
and its shape beside it; what computes is a grey box with round corners.
"""

from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Rectangle
from numpy import asarray
from numpy.typing import ArrayLike

from transformer_course.figures.palette import INK, LINE, QUIET

UNIT = 0.36  # inches: on a telephone a number is still large enough to read
Point = tuple[float, float]


def canvas(width: float, height: float) -> tuple[Figure, Axes]:
    """Open a sheet without axes.

    Args:
        width: in units; up to 14 stay readable on a telephone.
        height: in units.

    Returns:
        The figure, and the axes to draw on; (0, 0) is the upper left corner.
    """
    figure, axes = plt.subplots(figsize=(UNIT * width, UNIT * height))
    axes.set(xlim=(0, width), ylim=(height, 0), aspect="equal")
    axes.set_axis_off()
    return figure, axes


def tint(colour: str, strength: float) -> tuple[float, ...]:
    """Mix a colour with white.

    Args:
        colour: any that matplotlib knows.
        strength: from 0, white, to 1, the colour itself.

    Returns:
        Red, green and blue.

    >>> tint("black", 0.0)
    (1.0, 1.0, 1.0)
    """
    return tuple(1 - strength * (1 - part) for part in to_rgb(colour))


def numbers(
    axes: Axes,
    corner: Point,
    rows: ArrayLike,
    colour: str,
    digits: int = 0,
    strengths: ArrayLike | None = None,
) -> None:
    """Draw a vector or a matrix, a square for each number.

    Args:
        axes: where to draw.
        corner: left and upper edge.
        rows: (n_rows, n_columns).
        colour: of its meaning.
        digits: after the point, of numbers below 1; by default three digits in all.
        strengths: as `rows`, how strong each square's colour is, 0 to 1; by default all are light.
    """
    grid = asarray(rows, dtype=float)
    strong = asarray(0 * grid + 0.2 if strengths is None else strengths, dtype=float)
    for row, line in enumerate(grid):
        for column, number in enumerate(line):
            x, y = corner[0] + column, corner[1] + row
            face = tint(colour, float(strong[row, column]))
            axes.add_patch(Rectangle((x, y), 1, 1, facecolor=face, edgecolor=colour, lw=1.2))
            text = f"{number:.{digits}f}" if digits else f"{number:.3g}"
            if digits and abs(number) < 1:
                text = text.replace("0.", ".", 1)  # a square has room for four letters
            text = text.replace("-inf", "−∞")
            light = strong[row, column] > 0.6
            size = 12 if len(text) < 4 else 10
            words(axes, (x + 0.5, y + 0.5), text, "white" if light else INK, size=size)


def words(
    axes: Axes,
    at: Point,
    text: str,
    colour: str = INK,
    align: tuple[str, str] = ("center", "center"),
    bold: bool = False,
    size: float = 12,
    upright: bool = False,
    formula: bool = False,
) -> None:
    """Write a name or a shape.

    Args:
        axes: where to write.
        at: where the text is put, see `align`.
        text: what to write.
        colour: dark enough to be read on white.
        align: which part of the text lies at that place, across and down, in matplotlib's words.
        bold: for the names of what flows.
        size: in points.
        upright: written from below to above.
        formula: whether what stands between dollar signs is a formula; else all is shown as it is.
    """
    axes.text(
        *at,
        text,
        color=colour,
        ha=align[0],
        va=align[1],
        fontweight="bold" if bold else "normal",
        fontsize=size,
        rotation=90 if upright else 0,
        parse_math=formula,
    )


def arrow(axes: Axes, start: Point, end: Point, colour: str = QUIET, width: float = 1.6) -> None:
    """Draw where something flows.

    Args:
        axes: where to draw.
        start: where it comes from.
        end: where it goes.
        colour: of what flows; grey by default.
        width: of the line, in points.
    """
    style = {"arrowstyle": "-|>", "color": colour, "lw": width, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", xy=end, xytext=start, arrowprops=style)


def path(axes: Axes, corners: Sequence[Point], colour: str = QUIET, width: float = 1.6) -> None:
    """Draw an arrow that turns corners.

    Args:
        axes: where to draw.
        corners: two or more; the last is the tip.
        colour: of what flows; grey by default.
        width: of the line, in points.
    """
    xs, ys = zip(*corners[:-1], strict=True)
    axes.plot(xs, ys, color=colour, lw=width, solid_joinstyle="round")
    arrow(axes, corners[-2], corners[-1], colour, width)


def box(
    axes: Axes,
    middle: Point,
    size: tuple[float, float],
    text: str,
    upright: bool = False,
    edge: str = QUIET,
    face: str = LINE,
    formula: bool = False,
) -> None:
    """Draw a box that computes something.

    Args:
        axes: where to draw.
        middle: of the box.
        size: width and height.
        text: what it does.
        upright: written from below to above, for a narrow box.
        edge: colour of its line; grey for what computes.
        face: colour of its inside.
        formula: as for `words`.
    """
    left, upper = middle[0] - size[0] / 2, middle[1] - size[1] / 2
    shape = FancyBboxPatch(
        (left, upper), *size, "round,pad=0,rounding_size=0.3", fc=face, ec=edge, lw=1
    )
    axes.add_patch(shape)
    words(axes, middle, text, upright=upright, formula=formula)
