"""Exercise: dot product and cosine of a query with each key."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases

Array = NDArray[Any]


def reference(query: Array, keys: Array) -> tuple[Array, Array]:
    """Return the dot products and the cosines."""
    dots = keys @ query
    return dots, dots / (_length(keys) * _length(query))


def _length(x: Array) -> Any:
    return np.sqrt((x**2).sum(-1))


def _cosines_by(divisor: Any) -> Any:
    """Return a function whose cosines are the dot products divided by `divisor(query, keys)`."""
    return lambda query, keys: (keys @ query, keys @ query / divisor(query, keys))


def draw(rng: np.random.Generator) -> tuple[Array, Array]:
    """Return a query and keys of random sizes and lengths."""
    d_k, k_len = rng.integers(2, 8), rng.integers(1, 7)
    lengths = np.exp(rng.normal(size=(k_len, 1)))
    return rng.normal(size=d_k), rng.normal(size=(k_len, d_k)) * lengths


similarities = Exercise(
    name="similarities",
    kind="implement",
    difficulty=1,
    minutes=10,
    statement=(
        "Write a function that takes one query, shape (d_k,), and several keys, shape (k_len, "
        "d_k). It returns two arrays of shape (k_len,): the dot product of the query with each "
        "key, and the cosine of the angle between them. No vector is zero."
    ),
    returns=("dot_products", "cosines"),
    reference=reference,
    cases=(
        Case("one key", (np.array([3.0, 4.0]), np.array([[6.0, 8.0]]))),
        Case(
            "three keys: same direction, right angle, opposite",
            (np.array([2.0, 0.0]), np.array([[3.0, 0.0], [0.0, 5.0], [-0.5, 0.0]])),
        ),
        Case("vectors of length 1", (np.array([0.6, 0.8]), np.array([[1.0, 0.0], [0.8, 0.6]]))),
        *random_cases(draw, 5),
        Case("a very short query", (np.array([1e-5, 2e-5]), np.array([[1.0, 3.0], [4.0, -1.0]]))),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "the cosine given as the dot product",
            lambda query, keys: (reference(query, keys)[1],) * 2,
            "The two are the same only for vectors of length 1. What does a key twice as long "
            "change?",
        ),
        Misconception(
            "the dot product given as the cosine",
            lambda query, keys: (keys @ query,) * 2,
            "A cosine lies between -1 and 1, however long the vectors are. Do yours?",
        ),
        Misconception(
            "cosine divided by the keys' lengths only",
            _cosines_by(lambda query, keys: _length(keys)),
            "Make the query twice as long: the angle stays as it is. Does your cosine?",
        ),
        Misconception(
            "cosine divided by the query's length only",
            _cosines_by(lambda query, keys: _length(query)),
            "Make one key twice as long: the angle stays as it is. Does your cosine?",
        ),
        Misconception(
            "cosine divided by squared lengths",
            _cosines_by(lambda query, keys: (_length(query) * _length(keys)) ** 2),
            "A length is a square root. What is the cosine of a vector with itself, here and in "
            "your function?",
        ),
        Misconception(
            "lengths added instead of multiplied",
            _cosines_by(lambda query, keys: _length(query) + _length(keys)),
            "Solve the formula of the dot product (length times length times cosine) for the "
            "cosine.",
        ),
        Misconception(
            "one length for all keys together",
            _cosines_by(lambda query, keys: _length(query) * np.sqrt((keys**2).sum())),
            "Each key has its own length. Over which axis do you add the squares?",
        ),
        Misconception(
            "results in the wrong order",
            lambda query, keys: reference(query, keys)[::-1],
            "Both results are right. Read again which of them is to come first.",
        ),
        Misconception(
            "the angle instead of its cosine",
            lambda query, keys: (
                keys @ query,
                np.arccos(np.clip(reference(query, keys)[1], -1, 1)),
            ),
            "The same direction should give the largest value. What does an angle give there?",
        ),
        Misconception(
            "the sign of the cosine lost",
            lambda query, keys: (keys @ query, np.abs(reference(query, keys)[1])),
            "A key that points away from the query should be less similar than one at a right "
            "angle. Is it?",
        ),
    ),
)
