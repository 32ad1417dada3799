"""Exercise: kernel regression, an early attention."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases

Array = NDArray[Any]


def _softmax(scores: Array, axis: int = -1) -> Array:
    powers = np.exp(scores - scores.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def _squares(queries: Array, keys: Array) -> Array:
    return (queries[:, None] - keys[None, :]) ** 2


def reference(queries: Array, keys: Array, values: Array, bandwidth: float) -> Array:
    """Return the prediction for each query (Nadaraya 1964; Watson 1964)."""
    return _softmax(-_squares(queries, keys) / (2 * bandwidth**2)) @ values


def _unstable(divisor: Callable[[float], float]) -> Callable[..., Array]:
    """Return the regression without softmax's shift, its squares divided by something made of the bandwidth."""

    def wrong(queries: Array, keys: Array, values: Array, bandwidth: float) -> Array:
        powers = np.exp(-_squares(queries, keys) / divisor(bandwidth))
        return powers @ values / powers.sum(-1)

    return wrong


def _not_divided(queries: Array, keys: Array, values: Array, bandwidth: float) -> Array:
    return np.exp(-_squares(queries, keys) / (2 * bandwidth**2)) @ values


def draw(rng: np.random.Generator) -> tuple[Array, Array, Array, float]:
    """Return queries, keys and values on a line, and a bandwidth."""
    far = rng.choice([0.0, 0.0, 80.0])
    # Far away many answers are NaN, which tells little: such cases are larger than those that give numbers.
    q_len, k_len = rng.integers(3 if far else 1, 6), rng.integers(3 if far else 1, 7)
    keys, values = rng.normal(size=k_len), rng.normal(size=k_len)
    return rng.normal(size=q_len) * 2 + far, keys, values, float(rng.uniform(0.3, 2.0))


def _case(about: str, *arguments: Any) -> Case:
    *arrays, bandwidth = arguments
    return Case(about, (*(np.array(x, dtype=float) for x in arrays), bandwidth))


kernel_regression = Exercise(
    name="kernel_regression",
    kind="implement",
    difficulty=2,
    minutes=15,
    statement=(
        "Points are given: keys (where) and values (how high), both of shape (k_len,). For each "
        "query, shape (q_len,), predict a height: the average of the values, weighted by softmax "
        "over the scores -(query - key)² / (2 bandwidth²). Return an array of shape (q_len,). It "
        "must also work far away from all keys."
    ),
    returns=("predictions",),
    reference=reference,
    cases=(
        _case("one query, two keys", [0.5], [0, 2], [1, 3], 1.0),
        _case("one query, one key", [3], [1], [5], 0.5),
        _case("two queries, two keys", [0, 1.5], [0, 2], [1, 3], 0.5),
        _case("two queries, three keys", [-1, 1], [-1, 0, 2], [2, -1, 4], 2.0),
        *random_cases(draw, 5),
        _case("far away from all keys", [100, -60], [0, 2], [1, 3], 0.5),
        _case("four queries, four keys", [0, 1, 2, 3], [0.5, 1, 2.5, 4], [1, -2, 3, 0], 0.7),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "weights not divided by their sum",
            _not_divided,
            "With all values equal to 5, an average must be 5. Is yours?",
        ),
        Misconception(
            "weights that vanish far away",
            _unstable(lambda bandwidth: 2 * bandwidth**2),
            "Far from all keys each exponential becomes 0, and 0/0 is no number. Softmax has a "
            "cure for large scores.",
        ),
        Misconception(
            "the bandwidth not squared, and weights that vanish far away",
            _unstable(lambda bandwidth: 2 * bandwidth),
            "If all places and the bandwidth are twice as large, nothing should change. Mend this "
            "first; far from all keys you get 0/0 besides.",
        ),
        Misconception(
            "the factor 2 left out, and weights that vanish far away",
            _unstable(lambda bandwidth: bandwidth**2),
            "Compare the denominator of your scores with the one in the task, symbol by symbol. "
            "Mend this first; far from all keys you get 0/0 besides.",
        ),
        Misconception(
            "the bandwidth not squared",
            lambda queries, keys, values, bandwidth: (
                _softmax(-_squares(queries, keys) / (2 * bandwidth)) @ values
            ),
            "If all places and the bandwidth are twice as large, nothing should change. Does it "
            "in your formula?",
        ),
        Misconception(
            "the factor 2 left out",
            lambda queries, keys, values, bandwidth: (
                _softmax(-_squares(queries, keys) / bandwidth**2) @ values
            ),
            "Compare the denominator of your scores with the one in the task, symbol by symbol.",
        ),
        Misconception(
            "multiplied by one half of the bandwidth squared",
            lambda queries, keys, values, bandwidth: (
                _softmax(-_squares(queries, keys) / 2 * bandwidth**2) @ values
            ),
            "In Python, a / b * c means (a / b) * c. Which part belongs below the line?",
        ),
        Misconception(
            "the distance not squared",
            lambda queries, keys, values, bandwidth: (
                _softmax(-np.sqrt(_squares(queries, keys)) / (2 * bandwidth**2)) @ values
            ),
            "A key twice as far away should have a score four times as negative. Is it so?",
        ),
        Misconception(
            "the minus sign left out",
            lambda queries, keys, values, bandwidth: (
                _softmax(_squares(queries, keys) / (2 * bandwidth**2)) @ values
            ),
            "In your function the key farthest away counts most. Which sign should a large "
            "distance give?",
        ),
        Misconception(
            "softmax over the queries",
            lambda queries, keys, values, bandwidth: (
                _softmax(-_squares(queries, keys) / (2 * bandwidth**2), 0) @ values
            ),
            "Each query shares out a weight of 1 among the keys. Along which axis of your scores "
            "lie the keys?",
        ),
        Misconception(
            "only the nearest key counts",
            lambda queries, keys, values, bandwidth: values[_squares(queries, keys).argmin(-1)],
            "The nearest key should count most, but not alone. What does the bandwidth do in your "
            "function?",
        ),
        Misconception(
            "the plain average",
            lambda queries, keys, values, bandwidth: np.full(len(queries), values.mean()),
            "Your prediction is the same for each query. It should follow the keys near the query.",
        ),
        Misconception(
            "divided by the number of keys",
            lambda queries, keys, values, bandwidth: (
                _not_divided(queries, keys, values, bandwidth) / len(keys)
            ),
            "The weights should sum to 1. Dividing by how many there are does this only if each "
            "is 1.",
        ),
    ),
)
