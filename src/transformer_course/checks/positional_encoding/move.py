"""Exercise: from the code of a place to the code of another place, without knowing the place."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases
from transformer_course.checks.positional_encoding.waves import right_exponents, waves

Array = NDArray[Any]


def _turned(row: Array, angles: Array) -> Array:
    """Return the row with each pair turned by its angle."""
    sine, cosine = row[0::2], row[1::2]
    turned = np.empty(row.shape)
    turned[0::2] = sine * np.cos(angles) + cosine * np.sin(angles)
    turned[1::2] = cosine * np.cos(angles) - sine * np.sin(angles)
    return turned


def _speeds(row: Array) -> Array:
    return 10_000.0 ** -right_exponents(len(row))


def reference(row: Array, k: int) -> Array:
    """Return the code of the place k positions further, (d_model,)."""
    return _turned(row, k * _speeds(row))


def _backwards(row: Array, k: int) -> Array:
    return _turned(row, -k * _speeds(row))


def _new_sine_used(row: Array, k: int) -> Array:
    """The cosines made of the sines that have been overwritten."""
    angles = k * _speeds(row)
    turned = row.copy()
    turned[0::2] = turned[0::2] * np.cos(angles) + turned[1::2] * np.sin(angles)
    turned[1::2] = turned[1::2] * np.cos(angles) - turned[0::2] * np.sin(angles)
    return turned


def _position_from_arcsine(row: Array, k: int) -> Array:
    place = np.arcsin(np.clip(row[0], -1, 1))
    angles = (place + k) * _speeds(row)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).ravel()


def _sum_of_codes(row: Array, k: int) -> Array:
    return row + waves(1, len(row), first=k)[0]


def _same_angle(row: Array, k: int) -> Array:
    return _turned(row, np.full(len(row) // 2, float(k)))


def _exponent_doubled(row: Array, k: int) -> Array:
    return _turned(row, k * _speeds(row) ** 2)


def _code_of_k(row: Array, k: int) -> Array:
    return waves(1, len(row), first=k)[0]


def _products(row: Array, k: int) -> Array:
    return row * waves(1, len(row), first=k)[0]


def _both_added(row: Array, k: int) -> Array:
    angles = k * _speeds(row)
    turned = _turned(row, angles)
    turned[1::2] = row[1::2] * np.cos(angles) + row[0::2] * np.sin(angles)
    return turned


def _one_step(row: Array, k: int) -> Array:
    return _turned(row, _speeds(row))


def _rolled(row: Array, k: int) -> Array:
    return np.roll(row, k)


def draw(rng: np.random.Generator) -> tuple[Array, int]:
    """Return the code of some place, and how far to go."""
    width, place = 2 * int(rng.integers(2, 7)), int(rng.integers(1, 200))
    return waves(1, width, first=place)[0], int(rng.integers(-9, 40))


def _case(about: str, place: int, width: int, k: int) -> Case:
    return Case(about, (waves(1, width, first=place)[0], k))


move = Exercise(
    name="move",
    kind="implement",
    difficulty=3,
    minutes=20,
    statement=(
        "row is the code of some position p, (d_model,): PE(p). Nobody tells you p. Return the code of the "
        "position k further on, PE(p + k), of the same shape. k may be negative. Compute it by rotation: the "
        "pair (sine, cosine) in the dimensions 2i and 2i + 1 turns by the angle k / 10000^(2i/d_model)."
    ),
    returns=("code",),
    reference=reference,
    cases=(
        _case("from 0 to 1, 2 dimensions", 0, 2, 1),
        _case("from 1 to 3, 2 dimensions", 1, 2, 2),
        _case("from 2 to 5, 4 dimensions", 2, 4, 3),
        _case("from 1 to 5, 4 dimensions", 1, 4, 4),
        _case("no step", 3, 4, 0),
        _case("back from 5 to 2, 4 dimensions", 5, 4, -3),
        _case("from 40 to 140, 6 dimensions", 40, 6, 100),
        *random_cases(draw, 5, "another place and another step"),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "turned backwards",
            _backwards,
            "You arrive k positions *before* the place. Look at the signs, and at which of a pair is the sine.",
        ),
        Misconception(
            "the new sines used for the cosines",
            _new_sine_used,
            "The sines are right. When you come to the cosines, which numbers do you use for the "
            "sines: old or new ones?",
        ),
        Misconception(
            "the position worked out by an arcsine",
            _position_from_arcsine,
            "An arcsine lies between -π/2 and π/2, and a sine comes back again and again. Can you do without "
            "knowing p?",
        ),
        Misconception(
            "codes added",
            _sum_of_codes,
            "Angles add up, but a sine of a sum isn't the sum of the sines. Your row left the circle.",
        ),
        Misconception(
            "all pairs turned by the same angle",
            _same_angle,
            "Pair 0 is right. How far does the next pair turn in the same time?",
        ),
        Misconception(
            "exponent twice as large",
            _exponent_doubled,
            "Pair 0 is right, the others turn too little. Is your i the number of a pair, or of a dimension?",
        ),
        Misconception(
            "the code of k itself",
            _code_of_k,
            "You start at position 0. The row says where the walk begins.",
        ),
        Misconception(
            "codes multiplied number by number",
            _products,
            "Each new number needs *two* products: sine and cosine of a pair work together.",
        ),
        Misconception(
            "a sign lost in the cosine",
            _both_added,
            "The sines are right. The four products are right as well. Compare the two lines of trigonometry.",
        ),
        Misconception(
            "one step only",
            _one_step,
            "You always go one position further. What does k do to the angle?",
        ),
        Misconception(
            "numbers moved along the row",
            _rolled,
            "The row has dimensions, not positions. Each number stays in its column and changes.",
        ),
    ),
)
