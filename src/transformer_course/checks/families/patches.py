"""Exercise: cut an image into patches, which a vision transformer reads like words."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases

Array = NDArray[Any]


def _cut(image: Array, size: int) -> Array:
    """Return (rows of patches, rows in a patch, columns of patches, columns in a patch)."""
    height, width = image.shape
    return image.reshape(height // size, size, width // size, size)


def _patches(*axes: int) -> Any:
    """Return the function of the exercise with the axes of `_cut` in this order."""
    return lambda image, size: _cut(image, size).transpose(axes).reshape(-1, size * size)


def reference(image: Array, size: int) -> Array:
    """Return the patches, row by row, (n_patches, size · size)."""
    return np.asarray(_patches(0, 2, 1, 3)(image, size))


def _overlapping(image: Array, size: int) -> Array:
    windows = np.lib.stride_tricks.sliding_window_view(image, (size, size))
    return np.asarray(windows.reshape(-1, size * size))


def _spread(image: Array, size: int) -> Array:
    """Take every so many-th pixel instead of neighbours."""
    height, width = image.shape
    cut = image.reshape(size, height // size, size, width // size)
    return np.asarray(cut.transpose(1, 3, 0, 2).reshape(-1, size * size))


def _upwards(image: Array, size: int) -> Array:
    return np.asarray(_cut(image, size)[::-1].transpose(0, 2, 1, 3).reshape(-1, size * size))


def draw(rng: np.random.Generator) -> tuple[Array, int]:
    """Return an image that isn't square, and a size that divides its height and its width."""
    size, rows, columns = (int(n) for n in rng.integers((2, 2, 2), (4, 5, 5)))
    columns += columns == rows
    return rng.random((rows * size, columns * size)).round(3), size


def _image(height: int, width: int) -> Array:
    return np.arange(height * width).reshape(height, width) / 10


patches = Exercise(
    name="patches",
    kind="implement",
    difficulty=2,
    minutes=15,
    statement=(
        "Cut a grey image into patches. image is (height, width); size divides both. A patch is a square of "
        "size × size pixels, and no two patches have a pixel in common. Return an array (n_patches, size · "
        "size), one patch a row. The patches follow each other as words in a text: first the top row of "
        "patches from left to right, then the row below it. The pixels inside a patch follow each other in "
        "the same way."
    ),
    returns=("patches",),
    reference=reference,
    cases=(
        Case("one patch", (_image(2, 2), 2)),
        Case("two patches side by side", (_image(2, 4), 2)),
        Case("two patches one below the other", (_image(4, 2), 2)),
        Case("patches of one pixel", (_image(2, 3), 1)),
        Case("four patches", (_image(4, 4), 2)),
        Case("two rows of three patches", (_image(4, 6), 2)),
        *random_cases(draw, 5, "a random image"),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "the image cut in one long line",
            lambda image, size: image.reshape(-1, size * size),
            "A reshape alone goes along a whole row of the image. Are its first four pixels a square?",
        ),
        Misconception(
            "the patches column by column",
            _patches(2, 0, 1, 3),
            "Each patch is right. Which patch comes second: the one to the right, or the one below?",
        ),
        Misconception(
            "the pixels column by column",
            _patches(0, 2, 3, 1),
            "The patches come in the right order. In which order come the pixels of one patch?",
        ),
        Misconception(
            "patches and pixels column by column",
            _patches(2, 0, 3, 1),
            "You go down first, everywhere. In which direction does a text go?",
        ),
        Misconception(
            "overlapping patches",
            _overlapping,
            "How many patches hold a pixel in the middle? How far is it from one patch to the next?",
        ),
        Misconception(
            "pixels that aren't neighbours",
            _spread,
            "Your patch takes pixels from all over the image, at equal distances. A patch is a square.",
        ),
        Misconception(
            "rows and columns of the result exchanged",
            lambda image, size: reference(image, size).T,
            "What is a row of your result: one patch, or one place in all patches?",
        ),
        Misconception(
            "from the bottom to the top",
            _upwards,
            "Row 0 of an image is its top. With which row of patches do you begin?",
        ),
        Misconception(
            "the mean of each patch",
            lambda image, size: reference(image, size).mean(axis=1),
            "You have one number a patch. What the patch shows is lost.",
        ),
        Misconception(
            "each patch left as a square",
            lambda image, size: reference(image, size).reshape(-1, size, size),
            "Your patches are right. A linear map wants one row of numbers for each: what shape is asked for?",
        ),
    ),
)
