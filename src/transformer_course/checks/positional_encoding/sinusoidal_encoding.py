"""Exercise: write the table of positions."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases
from transformer_course.checks.positional_encoding.waves import right_exponents, waves

Array = NDArray[Any]


def reference(length: int, d_model: int) -> Array:
    """Return the table of positions, (length, d_model)."""
    return waves(length, d_model)


def _from_one(length: int, d_model: int) -> Array:
    return waves(length, d_model, first=1)


def _own_angles(length: int, d_model: int) -> Array:
    return waves(length, d_model, odd_exponents=np.arange(1, d_model, 2) / d_model)


def _halves(length: int, d_model: int) -> Array:
    table = waves(length, d_model)
    return np.concatenate([table[:, 0::2], table[:, 1::2]], axis=1)


def _exponent_halved(length: int, d_model: int) -> Array:
    return waves(length, d_model, exponents=right_exponents(d_model) / 2)


def _exponent_doubled(length: int, d_model: int) -> Array:
    return waves(length, d_model, exponents=right_exponents(d_model) * 2)


def _number_of_the_dimension(length: int, d_model: int) -> Array:
    doubled = 2 * np.arange(d_model) / d_model
    return waves(length, d_model, exponents=doubled[0::2], odd_exponents=doubled[1::2])


def _multiplied(length: int, d_model: int) -> Array:
    return waves(length, d_model, exponents=-right_exponents(d_model))


def _exchanged(length: int, d_model: int) -> Array:
    table = waves(length, d_model)
    return table.reshape(length, -1, 2)[:, :, ::-1].reshape(length, d_model)


def _to_the_end(length: int, d_model: int) -> Array:
    pairs = d_model // 2
    return waves(length, d_model, exponents=np.arange(pairs) / max(pairs - 1, 1))


def _to_the_end_in_halves(length: int, d_model: int) -> Array:
    table = _to_the_end(length, d_model)
    return np.concatenate([table[:, 0::2], table[:, 1::2]], axis=1)


def _sines_only(length: int, d_model: int) -> Array:
    angles = np.arange(length)[:, None] / 10_000.0 ** right_exponents(d_model)
    return np.repeat(np.sin(angles), 2, axis=1)


def _transposed(length: int, d_model: int) -> Array:
    return waves(length, d_model).T


def _degrees(length: int, d_model: int) -> Array:
    angles = np.radians(np.arange(length)[:, None] / 10_000.0 ** right_exponents(d_model))
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(length, d_model)


def draw(rng: np.random.Generator) -> tuple[int, int]:
    """Return a length and an even width."""
    # Single precision keeps the sine of a large angle less well, and then mistakes go unrecognised.
    return int(rng.integers(3, 80)), 2 * int(rng.integers(2, 60))


sinusoidal_encoding = Exercise(
    name="sinusoidal_encoding",
    kind="implement",
    difficulty=2,
    minutes=15,
    statement=(
        "Write the table of positions of the paper, shape (length, d_model). Position 0 comes first. The "
        "even dimensions 2i hold sin(pos / 10000^(2i/d_model)), the odd dimensions 2i + 1 the cosine of the "
        "same angle. d_model is even."
    ),
    returns=("table",),
    reference=reference,
    cases=(
        Case("1 position, 2 dimensions", (1, 2)),
        Case("2 positions, 2 dimensions", (2, 2)),
        Case("3 positions, 4 dimensions", (3, 4)),
        Case("5 positions, 6 dimensions", (5, 6)),
        Case("4 positions, 4 dimensions", (4, 4)),
        Case("30 positions, 8 dimensions", (30, 8)),
        # With one pair the angles are whole numbers, which single precision keeps: mistakes are recognised.
        Case("a long table: 1200 positions, 2 dimensions", (1200, 2)),
        *random_cases(draw, 5, "another length and width"),
    ),
    draw=draw,
    tolerance=1e-3,  # of single precision, too
    misconceptions=(
        Misconception(
            "positions counted from 1",
            _from_one,
            "Which position has the first word? What are sine and cosine there?",
        ),
        Misconception(
            "each dimension with an angle of its own",
            _own_angles,
            "Your sines are right. Write down the exponents of dimension 2 and of dimension 3, and compare "
            "them with the equation.",
        ),
        Misconception(
            "all sines first, then all cosines",
            _halves,
            "The numbers are right, the columns are in another order. Which dimensions are the cosines?",
        ),
        Misconception(
            "exponent i / d, not 2i / d",
            _exponent_halved,
            "Your waves are too fast at the right end. Which exponent should the last pair have, nearly?",
        ),
        Misconception(
            "exponent twice as large",
            _exponent_doubled,
            "Your waves become slow too early. Is your i the number of a pair, or of a dimension?",
        ),
        Misconception(
            "2j / d with j the number of the dimension",
            _number_of_the_dimension,
            "The i of the equation counts pairs. Which i have dimensions 2 and 3, and which exponent do the "
            "two share?",
        ),
        Misconception(
            "1000 in place of 10000",
            lambda length, d_model: waves(length, d_model, base=1000.0),
            "Count the zeros of the equation.",
        ),
        Misconception(
            "multiplied where the equation divides",
            _multiplied,
            "Should the pairs become faster or slower from left to right?",
        ),
        Misconception(
            "sine and cosine exchanged",
            _exchanged,
            "Look at position 0: which of its numbers are 0?",
        ),
        Misconception(
            "divided by the number of pairs minus 1",
            _to_the_end,
            "Your last pair is too slow: the paper's slowest wave doesn't reach 10000 times 2π. What does "
            "the equation divide 2i by?",
        ),
        Misconception(
            "all sines first, and divided by the number of pairs minus 1",
            _to_the_end_in_halves,
            "That is the table of tensor2tensor, the program of the paper's authors. In which two things does "
            "the paper's equation differ from it?",
        ),
        Misconception(
            "sines only",
            _sines_only,
            "What should the odd dimensions hold?",
        ),
        Misconception(
            "positions across, dimensions downwards",
            _transposed,
            "A row should be the code of one position.",
        ),
        Misconception(
            "angles in degrees",
            _degrees,
            "Sine and cosine take radians: from one position to the next, pair 0 turns by 1 of them.",
        ),
    ),
)
