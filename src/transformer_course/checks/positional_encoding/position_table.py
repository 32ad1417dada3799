"""Exercise: the widespread worked example as code, with three mistakes."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases
from transformer_course.checks.positional_encoding.waves import waves

Array = NDArray[Any]


def reference(n_words: int, d_model: int) -> Array:
    """Return the codes of the words of a sentence, (n_words, d_model)."""
    return waves(n_words, d_model)


def _with(from_one: bool, own_angles: bool, doubled: bool) -> Callable[[int, int], Array]:
    """The function with some of the three mistakes."""

    def mistaken(n_words: int, d_model: int) -> Array:
        factor = 2 if doubled else 1
        dimensions = np.arange(d_model)
        odd = dimensions[1::2] if own_angles else dimensions[0::2]
        return waves(
            n_words,
            d_model,
            first=int(from_one),
            exponents=factor * dimensions[0::2] / d_model,
            odd_exponents=factor * odd / d_model,
        )

    return mistaken


PARTS = ("where the positions begin", "the angle of the odd dimensions", "the exponent")
HINTS = (
    "Which position does the first word have, and what are its numbers?",
    "Dimensions 2 and 3 are a pair. What do the two share?",
    "For d_model = 4, dimension 2 should be divided by 100. By what does the function divide it?",
)


def _left(left: tuple[bool, ...]) -> Misconception:
    """What is said when these of the three mistakes are left."""
    places = [place for place in range(3) if left[place]]
    number = ("one mistake", "two mistakes", "all three mistakes")[len(places) - 1]
    names = ", ".join(PARTS[place] for place in places)
    hints = " ".join(HINTS[place] for place in places)
    return Misconception(f"{number} left: {names}", _with(*left), hints)


def draw(rng: np.random.Generator) -> tuple[int, int]:
    """Return a number of words and an even width."""
    return int(rng.integers(3, 300)), 2 * int(rng.integers(2, 40))


def _sines_alone(n_words: int, d_model: int) -> Array:
    angles = np.arange(n_words)[:, None] / 10_000.0 ** (np.arange(0, d_model, 2) / d_model)
    return np.repeat(np.sin(angles), 2, axis=1)


def _odd_moved_down(n_words: int, d_model: int) -> Array:
    odd = np.arange(2, d_model + 1, 2) / d_model
    return waves(n_words, d_model, odd_exponents=odd)


def _in_halves(n_words: int, d_model: int) -> Array:
    table = waves(n_words, d_model)
    return np.concatenate([table[:, 0::2], table[:, 1::2]], axis=1)


def _exponent_halved(first: int) -> Callable[[int, int], Array]:
    return lambda n_words, d_model: waves(
        n_words, d_model, first=first, exponents=np.arange(d_model // 2) / d_model
    )


position_table = Exercise(
    name="position_table",
    kind="spot the bug",
    difficulty=2,
    minutes=15,
    statement=(
        "The function below computes the positional encoding of a sentence, much as a widespread worked "
        "example does. It runs, and it holds three mistakes. Write it without them. Return the table, "
        "(n_words, d_model), of the paper's equation."
    ),
    returns=("table",),
    reference=reference,
    cases=(
        Case("1 word, 2 dimensions", (1, 2)),
        Case("3 words, 4 dimensions: I love AI", (3, 4)),
        Case("3 words, 6 dimensions", (3, 6)),
        Case("40 words, 8 dimensions", (40, 8)),
        *random_cases(draw, 5, "another length and width"),
    ),
    draw=draw,
    misconceptions=(
        *(_left(left) for left in itertools.product((False, True), repeat=3) if any(left)),
        Misconception(
            "the odd dimensions rounded up",
            _odd_moved_down,
            "Now the odd dimensions have the angle of the next pair. With which even dimension do they belong?",
        ),
        Misconception(
            "divided by the root of the right number",
            _exponent_halved(0),
            "The pairs share an angle now. For d_model = 4, dimension 2 should be divided by 100. By what do "
            "you divide it?",
        ),
        Misconception(
            "divided by the root of the right number, and the positions still begin too late",
            _exponent_halved(1),
            f"{HINTS[0]} Then look at the exponent: for d_model = 4, dimension 2 should be divided by 100.",
        ),
        Misconception(
            "all sines first, then all cosines",
            _in_halves,
            "The numbers are right, in another order. Which dimension has the cosine of pair 0 in the paper?",
        ),
        Misconception(
            "cosines lost",
            _sines_alone,
            "The angles are right. What should the odd dimensions make of them?",
        ),
    ),
)
