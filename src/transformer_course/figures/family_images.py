"""Images as sequences, drawn for chapter 11: digits that a model wrote, and an image cut into patches."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.patheffects import Normal, Stroke
from numpy.typing import ArrayLike, NDArray

from transformer_course.figures.palette import POSITION, QUIET, drawn

INK_LEVEL = 16  # the largest grey level; paper is 0


@drawn
def written_digits(rows: Sequence[Sequence[int]], digits: Sequence[int]) -> Figure:
    """Draw small images of digits, each below the digit that was asked for: a column for each, 0 to 9.

    Args:
        rows: 64 grey levels an image, row by row, from 0, paper, to 16, ink.
        digits: which digit each image should show.

    Returns:
        The figure.

    Raises:
        ValueError: if an image hasn't 64 levels, a digit isn't from 0 to 9, or there isn't one for each image.

    >>> figure = written_digits([[0] * 64, [16] * 64], [3, 3])
    >>> len(figure.axes[0].images)
    2
    """
    images = np.asarray(rows)
    if images.ndim != 2 or images.shape[1] != 64 or len(digits) != len(images):
        raise ValueError(
            f"rows {images.shape} must be 64 levels for each of the {len(digits)} digits"
        )
    if not set(digits) <= set(range(10)):
        raise ValueError(f"digits ({sorted(set(digits))}) must be from 0 to 9")
    tall = max(list(digits).count(digit) for digit in digits)
    figure, axes = plt.subplots(figsize=(5.3, 0.75 + 0.5 * tall))
    below = dict.fromkeys(range(10), 0)
    for image, digit in zip(images, digits, strict=True):
        _picture(axes, image.reshape(8, 8), (1.12 * digit, 1.12 * below[digit]), 1.0)
        below[digit] += 1
    for digit in range(10):
        at = (1.12 * digit + 0.5, -0.12)
        axes.annotate(str(digit), at, ha="center", va="bottom", fontweight="bold")
    axes.annotate("digit asked for", (0, -0.72), va="bottom", color=QUIET, fontsize=11)
    axes.set(xlim=(-0.1, 11.2), ylim=(1.12 * tall, -1.15), aspect="equal")
    axes.set_axis_off()
    return figure


def _picture(
    axes: Axes, levels: NDArray[np.int64], corner: tuple[float, float], side: float
) -> None:
    """Draw grey levels, 0 white and 16 black, with a thin frame; `corner` is the upper left one."""
    x, y = corner
    axes.imshow(
        levels, cmap="Greys", vmin=0, vmax=INK_LEVEL, interpolation="nearest",
        extent=(x, x + side, y + side, y), zorder=1,
    )  # fmt: skip
    axes.add_patch(
        Rectangle(corner, side, side, facecolor="none", edgecolor=QUIET, lw=0.8, zorder=2)
    )


@drawn
def patches_of(image: ArrayLike, size: int) -> Figure:
    """Draw an image, where it is cut into patches, and below them the patches in the order of reading.

    Args:
        image: grey levels from 0, paper, to 16, ink, (side, side).
        size: side of a patch, in pixels.

    Returns:
        The figure.

    Raises:
        ValueError: if the image isn't a square that `size` divides.

    >>> figure = patches_of([[0, 16], [16, 0]], 1)
    >>> [text.get_text() for text in figure.axes[0].texts if text.get_text().isdigit()]
    ['1', '1', '2', '2', '3', '3', '4', '4']
    """
    levels = np.asarray(image)
    side = len(levels)
    if levels.shape != (side, side) or size < 1 or side % size:
        raise ValueError(f"image {levels.shape} must be a square whose side size ({size}) divides")
    across = side // size
    total, in_row = across**2, min(across**2, 8)
    lines = -(-total // in_row)
    large, top, step, deep, wide = 4.8, 6.3, 1.14, 1.75, 9.1  # in sides of a patch in the sequence
    one, first = large / across, (wide - step * in_row) / 2
    figure, axes = plt.subplots(figsize=(5.3, 5.3 * (top + deep * lines) / wide))
    _picture(axes, levels, ((wide - large) / 2, 0), large)
    for number in range(total):
        row, column = divmod(number, across)
        x, y = (wide - large) / 2 + column * one, row * one
        axes.add_patch(
            Rectangle((x, y), one, one, fill=False, edgecolor=POSITION, lw=2.5, zorder=3)
        )
        _number(axes, (x + one / 2, y + one / 2), number + 1)
        part = levels[row * size : (row + 1) * size, column * size : (column + 1) * size]
        x, y = first + step * (number % in_row), top + deep * (number // in_row)
        _picture(axes, part, (x, y), 1.0)
        axes.add_patch(Rectangle((x, y), 1, 1, fill=False, edgecolor=POSITION, lw=2.5, zorder=3))
        _number(axes, (x + 0.5, y + 1.3), number + 1)
    tip = {"arrowstyle": "-|>", "color": QUIET, "lw": 1.6, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", (wide / 2, top - 0.25), (wide / 2, large + 0.2), arrowprops=tip)
    said = f"{total} patches,\n{size} × {size} = {size * size} numbers each"
    axes.annotate(said, (wide / 2 + 0.3, (top + large) / 2), va="center", fontsize=11)
    axes.set(xlim=(-0.1, wide), ylim=(top + deep * lines, -0.1), aspect="equal")
    axes.set_axis_off()
    return figure


def _number(axes: Axes, at: tuple[float, float], number: int) -> None:
    """Write a patch's number, with a white rim, so that it can be read on any grey."""
    rim = [Stroke(linewidth=3.5, foreground="white"), Normal()]
    axes.annotate(
        str(number), at, ha="center", va="center", zorder=4, fontweight="bold", path_effects=rim
    )
