"""One stack of layers with three ways in and three ways out, as a picture, drawn for chapter 11."""

from collections.abc import Collection, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Rectangle
from numpy.typing import ArrayLike, NDArray

from transformer_course.figures import flow
from transformer_course.figures.palette import (
    HATCH,
    INK,
    MASK,
    POSITION,
    QUERY,
    QUIET,
    VALUE,
    WEIGHTS,
    drawn,
)
from transformer_course.masking import causal_mask

LANES = (2.4, 7.0, 11.6)  # middle of each way
WIDE, TALL = 2.7, 2.1  # of what has a row for each token
SEEN = 0.42  # place of "may attend" on the colour map of weights, as in chapter 03


@drawn
def family_flow(
    tokens: Sequence[str],
    hidden: int,
    image: ArrayLike,
    patch_size: int,
    label: str,
    d_model: int,
    vocab_size: int,
    n_classes: int = 10,
) -> Figure:
    """Draw how hidden tokens, next tokens and images pass through the same layers, with their shapes.

    Args:
        tokens: a short sentence, of two to four tokens.
        hidden: the place of the token that the first way hides.
        image: grey levels from 0, paper, to 16, ink, (side, side).
        patch_size: side of a patch, in pixels.
        label: what the image shows.
        d_model: width of each vector.
        vocab_size: tokens that there are.
        n_classes: kinds of images.

    Returns:
        The figure.

    Raises:
        ValueError: if tokens are too few or too many, `hidden` isn't one of their places, or the image isn't a
            square that `patch_size` divides.

    >>> figure = family_flow(["a", "b"], 1, [[0, 16], [16, 0]], 1, "7", 5, 11)
    >>> [text.get_text() for text in figure.axes[0].texts if "11" in text.get_text()]
    ['(2, 11)', '(2, 11)']
    """
    levels = np.asarray(image)
    side, n = len(levels), len(tokens)
    if not 2 <= n <= 4 or not 0 <= hidden < n:
        raise ValueError(f"tokens ({n}) must be 2 to 4, hidden ({hidden}) one of their places")
    if levels.shape != (side, side) or patch_size < 1 or side % patch_size:
        raise ValueError(
            f"image {levels.shape} must be a square whose side patch_size ({patch_size}) divides"
        )
    patches = (side // patch_size) ** 2
    lengths = (n, n, patches + 1)
    figure, axes = flow.canvas(14.0, 24.0)
    _titles(axes, 0.4, ("encoder only", "decoder only", "image"), bold=True)
    _tokens(axes, LANES[0], 0.9, ["[MASK]" if i == hidden else t for i, t in enumerate(tokens)])
    _tokens(axes, LANES[1], 0.9, tokens)
    _image(axes, LANES[2], 0.9, levels, patch_size)
    _titles(axes, 3.4, (f"({n})", f"({n})", f"({patches}, {patch_size**2})"))
    steps = ("embedding", "embedding", "linear map")
    _boxes(axes, 3.8, [f"{step},\nplus positions" for step in steps], 1.3)
    _rows(axes, 6.2, lengths, ((), (), [0]), QUIET)
    flow.words(axes, (LANES[2] + 0.3, 6.15), "learned", size=10, align=("left", "bottom"))
    _titles(axes, 8.7, [f"({length}, {d_model})" for length in lengths])
    _stack(axes, 9.6, lengths)
    _rows(axes, 14.9, lengths, ([hidden], range(n), [0]), VALUE)
    _titles(axes, 17.4, [f"({length}, {d_model})" for length in lengths])
    _boxes(axes, 17.8, ["linear map"] * 3, 0.8)
    scores = [f"({n}, {vocab_size})"] * 2 + [f"({n_classes})"]
    _titles(axes, 19.9, scores)
    _tokens(axes, LANES[0], 20.3, [t if i == hidden else "" for i, t in enumerate(tokens)], VALUE)
    _tokens(axes, LANES[1], 20.3, [*tokens[1:], "</s>"], VALUE)
    _tokens(axes, LANES[2], 20.3, [label], VALUE)
    _titles(axes, 22.8, ("hidden token", "next tokens", "class"), bold=True)
    for x, row in zip(LANES, ("its own row", "each row", "the first row"), strict=True):
        flow.words(axes, (x, 23.5), f"from {row}", size=11)
    return figure


def _titles(axes: Axes, y: float, texts: Sequence[str], bold: bool = False) -> None:
    """Write a name, or a shape, in each lane."""
    for x, text in zip(LANES, texts, strict=True):
        flow.words(axes, (x, y), text, INK if bold else QUIET, bold=bold)


def _tokens(axes: Axes, x: float, top: float, names: Sequence[str], colour: str = INK) -> None:
    """Draw tokens one below the other; one that is hidden is hatched, one without a name not drawn."""
    step = TALL / max(len(names), 3)
    start = top + (TALL - step * len(names)) / 2
    for row, name in enumerate(names):
        if name:
            hidden = name == "[MASK]"
            axes.add_patch(
                FancyBboxPatch(
                    (x - WIDE / 2 + 0.1, start + step * (row + 0.08)), WIDE - 0.2, 0.84 * step,
                    "round,pad=0,rounding_size=0.2", fc="#eeeeee" if hidden else "white",
                    ec=MASK if hidden else colour, lw=1.4, hatch=HATCH if hidden else None,
                )
            )  # fmt: skip
            middle = (x, start + step * (row + 0.5))
            paper = {"facecolor": "#eeeeee", "edgecolor": "none", "pad": 0.6} if hidden else None
            axes.annotate(name, middle, ha="center", va="center", fontsize=11, bbox=paper)


def _image(axes: Axes, x: float, top: float, levels: NDArray[np.int64], patch_size: int) -> None:
    """Draw an image and the lines along which it is cut."""
    left, right, bottom = x - TALL / 2, x + TALL / 2, top + TALL
    axes.imshow(
        levels, cmap="Greys", vmin=0, vmax=16, interpolation="nearest",
        extent=(left, right, bottom, top),
    )  # fmt: skip
    across = len(levels) // patch_size
    for line in range(across + 1):
        place = TALL * line / across
        axes.plot([left + place] * 2, [top, bottom], color=POSITION, lw=1.6)
        axes.plot([left, right], [top + place] * 2, color=POSITION, lw=1.6)


def _boxes(axes: Axes, top: float, texts: Sequence[str], tall: float) -> None:
    """Draw what computes in each lane, with an arrow in and an arrow out."""
    for x, text in zip(LANES, texts, strict=True):
        flow.arrow(axes, (x, top), (x, top + 0.45))
        flow.box(axes, (x, top + 0.45 + tall / 2), (4.1, tall), text)
        flow.arrow(axes, (x, top + 0.45 + tall), (x, top + 0.95 + tall))


def _rows(
    axes: Axes,
    top: float,
    lengths: Sequence[int],
    marked: Sequence[Collection[int]],
    strong: str,
) -> None:
    """Draw a vector for each token, one below the other; marked ones in a strong colour."""
    for x, length, chosen in zip(LANES, lengths, marked, strict=True):
        step, edge = TALL / length, 0.9 if length < 9 else 0.0
        for row in range(length):
            colour, strength = (strong, 0.85) if row in chosen else (QUERY, 0.25)
            corner = (x - WIDE / 2, top + step * (row + 0.1))
            face = flow.tint(colour, strength)
            bar = Rectangle(corner, WIDE, 0.8 * step, facecolor=face, edgecolor=colour, lw=edge)
            axes.add_patch(bar)


def _stack(axes: Axes, top: float, lengths: Sequence[int]) -> None:
    """Draw the layers that all three share, and in each lane the mask that they are given."""
    for x in LANES:
        flow.arrow(axes, (x, top - 0.5), (x, top))
        flow.arrow(axes, (x, top + 4.7), (x, top + 5.2))
    flow.box(axes, (7.0, top + 2.35), (13.6, 4.7), "")
    flow.words(axes, (7.0, top + 0.6), "the same stack of layers, three masks", bold=True)
    said = ("each sees all", "each sees\nwhat was before", "each sees all")
    for number, (x, length) in enumerate(zip(LANES, lengths, strict=True)):
        causal = causal_mask(length)[0, 0].numpy()
        _mask(axes, (x - TALL / 2, top + 1.2), causal if number == 1 else causal | True)
        flow.words(axes, (x, top + 4.0), said[number], size=11)


def _mask(axes: Axes, corner: flow.Point, mask: NDArray[np.bool_]) -> None:
    """Draw a mask as a small grid."""
    step = TALL / len(mask)
    for row, column in np.ndindex(mask.shape):
        at = (corner[0] + step * column, corner[1] + step * row)
        square = Rectangle(at, step, step, facecolor="#eeeeee", edgecolor=MASK, hatch=HATCH, lw=0)
        if mask[row, column]:
            thin = 0.9 if len(mask) < 9 else 0.3
            colour = plt.get_cmap(WEIGHTS)(SEEN)
            square = Rectangle(at, step, step, facecolor=colour, edgecolor="white", lw=thin)
        axes.add_patch(square)
