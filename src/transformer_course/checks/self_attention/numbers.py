"""What the exercises of chapter 02 share: softmax, attention, and random sentences with their matrices."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Results = tuple[Array, Array]


def softmax(scores: Array, axis: Any = -1) -> Array:
    """Return weights that sum to 1 along `axis`, in the stable form."""
    powers = np.exp(scores - scores.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def overflowing_softmax(scores: Array, axis: Any = -1) -> Array:
    """Return weights from plain exponentials: infinite divided by infinite if scores are large."""
    powers = np.exp(scores)
    return np.asarray(powers / powers.sum(axis, keepdims=True))


def attend(queries: Array, keys: Array, values: Array) -> Results:
    """Return output and weights (Vaswani et al. 2017, eq. 1)."""
    scores = queries @ keys.swapaxes(-2, -1) / np.sqrt(keys.shape[-1])
    weights = softmax(scores)
    return weights @ values, weights


def matrices(rng: np.random.Generator, d_model: int, d_k: int, d_v: int) -> tuple[Array, ...]:
    """Return random matrices for queries, keys and values."""
    return tuple(rng.normal(size=(d_model, width)) for width in (d_k, d_k, d_v))


def large_words(rng: np.random.Generator) -> tuple[Array, Array, Array, Array]:
    """Return words with scores far above 709, where an exponential overflows, and three matrices.

    Each word fits itself alone: no rounding of single precision can change a weight.
    """
    n = int(rng.integers(2, 6))
    x = float(rng.integers(45, 90)) * np.eye(n)[rng.permutation(n)]
    return x, np.eye(n), np.eye(n), rng.normal(size=(n, 2))


def cat_eats_fish() -> tuple[Array, Array, Array, Array]:
    """Return the sentence of the page, without "the", and its three matrices."""
    rows = (
        [[2, 0, 0], [0, 0, 1], [1, 2, 0]],  # cat, eats, fish: animal, food, action
        [[0, 1], [0, 1], [2, 0]],
        [[1, 0], [0, 0], [0, 1]],
        [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    )
    x, w_query, w_key, w_value = (np.array(part, dtype=float) for part in rows)
    return x, w_query, w_key, w_value
