"""Exercise: Kendall's tau, how much two rankings agree."""

from collections.abc import Callable
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases

Array = NDArray[Any]


def _signs(a: Array, b: Array) -> list[float]:
    """For each pair of places: 1 for the same order, −1 for the opposite one, 0 if two are equal."""
    places = combinations(range(len(a)), 2)
    return [float(np.sign(a[i] - a[j]) * np.sign(b[i] - b[j])) for i, j in places]


def reference(a: Array, b: Array) -> float:
    """Return Kendall's tau, equal numbers counting for neither."""
    return float(np.mean(_signs(a, b)))


def _of_signs(number: Callable[[Array], float]) -> Callable[..., float]:
    return lambda a, b: number(np.array(_signs(a, b)))


def _alike(a: Array, b: Array) -> float:
    """Compare the two signs of each pair: two words that are equal in a and in b have the same one, 0."""
    places = combinations(range(len(a)), 2)
    signs = [(np.sign(a[i] - a[j]), np.sign(b[i] - b[j])) for i, j in places]
    return float(np.mean([1.0 if x == y else x * y for x, y in signs]))


def _neighbours(a: Array, b: Array) -> float:
    steps = [np.sign(a[j] - a[i]) * np.sign(b[j] - b[i]) for i, j in pairwise(range(len(a)))]
    return float(np.mean(steps))


def _correlation(a: Array, b: Array) -> float:
    x, y = a - a.mean(), b - b.mean()
    return float((x * y).sum() / max(1e-9, np.sqrt((x**2).sum() * (y**2).sum())))


def _ranks(a: Array) -> Array:
    return a.argsort(kind="stable").argsort(kind="stable").astype(float)


def draw(rng: np.random.Generator) -> tuple[Array, Array]:
    """Return two rows of numbers, some of them equal."""
    n = int(rng.integers(3, 8))
    return rng.integers(0, 9, size=n) / 10, rng.normal(size=n).round(1)


_A = np.array([0.1, 0.2, 0.7])

rank_agreement = Exercise(
    name="rank_agreement",
    kind="implement",
    difficulty=2,
    minutes=15,
    statement=(
        "Measure how much two rankings agree: Kendall's tau. a and b are (n,), n at least 2: for example the "
        "weights of n words, and by how much the answer falls without each of them. Look at all pairs of "
        "words. A pair counts 1 if both order it alike, −1 if they order it in opposite ways, and 0 if the two "
        "words are equal in a or in b. Return the mean over all pairs, equal ones included."
    ),
    returns=("tau",),
    reference=reference,
    cases=(
        Case("two words, same order", (np.array([0.2, 0.8]), np.array([1.0, 5.0]))),
        Case("two words, opposite order", (np.array([0.2, 0.8]), np.array([5.0, 1.0]))),
        Case("three words, one pair exchanged", (_A, np.array([1.0, 5.0, 3.0]))),
        Case("same order, other distances", (_A, np.array([-4.0, 0.5, 0.6]))),
        Case("two equal numbers", (_A, np.array([2.0, 2.0, 3.0]))),
        Case("two words equal in both", (np.array([1.0, 1.0, 2.0]), np.array([3.0, 3.0, 4.0]))),
        Case("four words", (np.array([0.4, 0.1, 0.3, 0.2]), np.array([1.0, 2.0, 4.0, 3.0]))),
        *random_cases(draw, 6),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "the share of pairs that agree",
            _of_signs(lambda signs: float((signs > 0).mean())),
            "For opposite orders, your number is 0. What does the task ask for there?",
        ),
        Misconception(
            "pairs that agree minus pairs that don't, not divided",
            _of_signs(lambda signs: float(signs.sum())),
            "How many pairs are there? The result lies between −1 and 1.",
        ),
        Misconception(
            "neighbours only",
            _neighbours,
            "The first and the last word are a pair, too. How many pairs do three words have?",
        ),
        Misconception(
            "the numbers correlated, not their order",
            _correlation,
            "Double the largest number of a. The order stays, but does your result?",
        ),
        Misconception(
            "the ranks correlated",
            lambda a, b: _correlation(_ranks(a), _ranks(b)),
            "That is Spearman's measure. Kendall's counts pairs.",
        ),
        Misconception(
            "divided by n² pairs",
            lambda a, b: reference(a, b) * (len(a) - 1) / len(a),
            "A word paired with itself is no pair. What do you get for two equal rankings?",
        ),
        Misconception(
            "each pair counted twice",
            lambda a, b: 2 * reference(a, b),
            "(i, j) and (j, i) are one pair. What do you get for two equal rankings?",
        ),
        Misconception(
            "each pair divided by twice as many",
            lambda a, b: reference(a, b) / 2,
            "For two equal rankings your result is 0.5. How many pairs do you look at, and by how many do you "
            "divide?",
        ),
        Misconception(
            "equal pairs counted as agreement",
            _of_signs(lambda signs: float(np.where(signs >= 0, 1, -1).mean())),
            "Where two words are equal, there is no order to agree on.",
        ),
        Misconception(
            "equal in both counted as agreement",
            _alike,
            "Two words may be equal in a and in b at once. Does either row put them in an order?",
        ),
        Misconception(
            "equal pairs counted as disagreement",
            _of_signs(lambda signs: float(np.where(signs > 0, 1, -1).mean())),
            "Where two words are equal, there is no order to disagree on.",
        ),
        Misconception(
            "equal pairs left out of the mean",
            _of_signs(lambda signs: float(signs.sum() / max(1, (signs != 0).sum()))),
            "The task divides by the number of all pairs.",
        ),
    ),
)
