"""Exercise: measure how differently two heads look."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases

Array = NDArray[Any]


def _differences(maps: Array) -> Array:
    return maps[:, None] - maps[None, :]  # (heads, heads, q_len, k_len)


def reference(maps: Array) -> Array:
    """Return the distance of each pair of heads, (heads, heads)."""
    return abs(_differences(maps)).sum(axis=-1).mean(axis=-1) / 2


def _not_halved(maps: Array) -> Array:
    return abs(_differences(maps)).sum(axis=-1).mean(axis=-1)


def _summed_over_queries(maps: Array) -> Array:
    return abs(_differences(maps)).sum(axis=(-1, -2)) / 2


def _mean_over_all(maps: Array) -> Array:
    return abs(_differences(maps)).mean(axis=(-1, -2)) / 2


def _signed(maps: Array) -> Array:
    return _differences(maps).sum(axis=-1).mean(axis=-1) / 2


def _of_mean_rows(maps: Array) -> Array:
    return abs(_differences(maps).mean(axis=-2)).sum(axis=-1) / 2


def _euclidean(maps: Array) -> Array:
    return np.sqrt((_differences(maps) ** 2).sum(axis=-1)).mean(axis=-1)


def _largest(maps: Array) -> Array:
    return abs(_differences(maps)).sum(axis=-1).max(axis=-1) / 2


def _over_queries(maps: Array) -> Array:
    return abs(_differences(maps)).sum(axis=-2).mean(axis=-1) / 2


def draw(rng: np.random.Generator) -> tuple[Array]:
    """Return maps of several heads; each row sums to 1."""
    n_heads, q_len, k_len = (int(n) for n in rng.integers(1, 6, size=3))
    scores = rng.normal(size=(n_heads, q_len, k_len + 1)) * 3
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return (powers / powers.sum(axis=-1, keepdims=True),)


head_distances = Exercise(
    name="head_distances",
    kind="experiment",
    difficulty=2,
    minutes=20,
    statement=(
        "Write the measurement of the page. Given the maps of all heads, (heads, q_len, k_len), return an "
        "array (heads, heads): for two heads, half the sum of |difference| over the keys, averaged over the "
        "queries. It is 0 for equal maps, and 1 for heads that never look at the same key."
    ),
    returns=("distances",),
    reference=reference,
    cases=(
        Case("2 heads, 1 query, 2 keys", (np.array([[[1.0, 0.0]], [[0.25, 0.75]]]),)),
        Case(
            "2 heads, 2 queries, 2 keys",
            (np.array([[[1.0, 0.0], [0.5, 0.5]], [[0.0, 1.0], [0.5, 0.5]]]),),
        ),
        Case(
            "2 heads, 2 queries, 3 keys",
            (np.array([[[1.0, 0, 0], [0, 0.5, 0.5]], [[0, 0.5, 0.5], [1.0, 0, 0]]]),),
        ),
        Case("3 equal heads", (np.full((3, 2, 4), 0.25),)),
        *random_cases(draw, 5),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "not halved",
            _not_halved,
            "What one head has more, the other has less, so each difference counts twice.",
        ),
        Misconception(
            "summed over the queries",
            _summed_over_queries,
            "Your number grows with the length of the sentence. The task asks for the mean over the queries.",
        ),
        Misconception(
            "averaged over the keys too",
            _mean_over_all,
            "Over the keys it is a sum: how much weight has to move?",
        ),
        Misconception(
            "differences without their magnitude",
            _signed,
            "Both rows sum to 1, so their plain differences sum to 0.",
        ),
        Misconception(
            "distance of the averaged rows",
            _of_mean_rows,
            "First the distance for each query, then the mean. In the other order differences cancel.",
        ),
        Misconception(
            "length of the difference instead of the sum of magnitudes",
            _euclidean,
            "The task asks for magnitudes that are added, not for squares.",
        ),
        Misconception(
            "the largest distance instead of the mean",
            _largest,
            "The task asks for the mean over the queries.",
        ),
        Misconception(
            "Euclidean distances, halved",
            lambda maps: _euclidean(maps) / 2,
            "You square before you add, and take a root. Which sum does the task ask for?",
        ),
        Misconception(
            "sum over the queries and mean over the keys",
            _over_queries,
            "A row of a map belongs to one query. Along which axis are its keys?",
        ),
    ),
)
