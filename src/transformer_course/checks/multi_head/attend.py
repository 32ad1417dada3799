"""Multi-head attention in NumPy, with a place for each mistake: what several exercises are made of."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Split = Callable[[Array, int], Array]


def right_split(x: Array, n_heads: int) -> Array:
    """Return (batch, heads, length, d_k) from (batch, length, d_model)."""
    return x.reshape(*x.shape[:2], n_heads, -1).swapaxes(1, 2)


def right_merge(heads: Array) -> Array:
    """Return (batch, q_len, heads * d_v) from (batch, heads, q_len, d_v)."""
    batch, n_heads, q_len, d_v = heads.shape
    return heads.swapaxes(1, 2).reshape(batch, q_len, n_heads * d_v)


def right_scale(q: Array) -> float:
    """Return the root of d_k, for queries of shape (..., d_k)."""
    return float(np.sqrt(q.shape[-1]))


def softmax(scores: Array, axis: int = -1) -> Array:
    """Return weights that sum to 1 along an axis; a row without any key gets zeros."""
    highest = scores.max(axis, keepdims=True)
    powers = np.exp(scores - np.where(np.isfinite(highest), highest, 0.0))
    total = powers.sum(axis, keepdims=True)
    return powers / np.where(total == 0, 1.0, total)


def _plain_softmax(scores: Array, axis: int) -> Array:
    """Return weights; NaN where every score is -inf."""
    powers = np.exp(scores - scores.max(axis, keepdims=True))
    total: Array = powers.sum(axis, keepdims=True)
    return powers / total


def attend(
    q: Array,
    k: Array,
    v: Array,
    mask: Array | None = None,
    scale: Callable[[Array], float] = right_scale,
    axis: int = -1,
    low: float | None = None,
) -> tuple[Array, Array]:
    """Return output and weights of attention on the last two axes.

    `low` is what hidden scores are filled with by someone who doesn't look at rows without any key.
    """
    scores = q @ k.swapaxes(-1, -2) / scale(q)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf if low is None else low)
    weights = softmax(scores, axis) if low is None else _plain_softmax(scores, axis)
    return weights @ v, weights
