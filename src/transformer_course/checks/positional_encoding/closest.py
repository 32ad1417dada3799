"""Exercise: measure how close two positions come."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases
from transformer_course.checks.positional_encoding.waves import waves

Array = NDArray[Any]


def _distances(table: Array) -> Array:
    """Return the distance of each two different rows."""
    differences = table[:, None] - table[None, :]
    first, second = np.triu_indices(len(table), k=1)
    return np.sqrt((differences**2).sum(axis=-1))[first, second]


def reference(table: Array) -> float:
    """Return the smallest distance between two different rows."""
    return float(_distances(table).min())


def _itself(table: Array) -> float:
    return 0.0


def _neighbours(table: Array) -> float:
    return float(np.linalg.norm(np.diff(table, axis=0), axis=1).min())


def _squared(table: Array) -> float:
    return reference(table) ** 2


def _sum_of_differences(table: Array) -> float:
    first, second = np.triu_indices(len(table), k=1)
    return float(abs(table[first] - table[second]).sum(axis=1).min())


def _one_dimension(table: Array) -> float:
    first, second = np.triu_indices(len(table), k=1)
    return float(abs(table[first] - table[second]).min())


def _largest(table: Array) -> float:
    return float(_distances(table).max())


def _mean(table: Array) -> float:
    return float(_distances(table).mean())


def _from_the_first(table: Array) -> float:
    return float(np.linalg.norm(table[1:] - table[0], axis=1).min())


def _of_columns(table: Array) -> float:
    return reference(table.T) if table.shape[1] > 1 else 0.5


def _averaged(table: Array) -> float:
    return reference(table) / float(np.sqrt(table.shape[1]))


def draw(rng: np.random.Generator) -> tuple[Array]:
    """Return random rows."""
    return (rng.normal(size=(int(rng.integers(3, 9)), int(rng.integers(2, 7)))),)


closest = Exercise(
    name="closest",
    kind="experiment",
    difficulty=2,
    minutes=15,
    statement=(
        "Write the measurement. Given a table, (length, d_model), with a row for each position, return one "
        "number: the smallest Euclidean distance between two different rows. The length is 2 or more."
    ),
    returns=("distance",),
    reference=reference,
    cases=(
        Case("2 rows, 2 numbers", (np.array([[0.0, 0.0], [3.0, 4.0]]),)),
        Case("3 rows, the first and last equal", (np.array([[1.0, 2.0], [5.0, 5.0], [1.0, 2.0]]),)),
        Case("3 rows, 1 number", (np.array([[0.0], [5.0], [2.0]]),)),
        Case("4 rows, 2 numbers", (np.array([[0.0, 0.0], [9.0, 1.0], [3.0, 4.0], [9.0, 3.0]]),)),
        Case("40 positions, 6 dimensions", (waves(40, 6),)),
        *random_cases(draw, 5, "random rows"),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "each row compared with itself",
            _itself,
            "Two *different* rows are meant. Which of your distances don't count?",
        ),
        Misconception(
            "neighbouring rows only",
            _neighbours,
            "Rows that are far apart in the table may be alike, too.",
        ),
        Misconception(
            "the square of the distance",
            _squared,
            "The last step of a Euclidean distance is missing.",
        ),
        Misconception(
            "absolute differences added up",
            _sum_of_differences,
            "That is another distance. What does Pythagoras do with the differences?",
        ),
        Misconception(
            "one dimension at a time",
            _one_dimension,
            "A row is one point. Two points may agree in one number and be far apart.",
        ),
        Misconception(
            "the largest distance",
            _largest,
            "How far do two rows at least lie apart?",
        ),
        Misconception(
            "the mean distance",
            _mean,
            "The mean hides the worst case: two positions that are nearly the same.",
        ),
        Misconception(
            "distances from the first row only",
            _from_the_first,
            "Every row counts as a start.",
        ),
        Misconception(
            "columns compared",
            _of_columns,
            "A position is a row.",
        ),
        Misconception(
            "averaged over the dimensions",
            _averaged,
            "Add the squares of the differences; don't take their mean.",
        ),
    ),
)
