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


def _no_shift(scores: Array, axis: int) -> Array:
    """Return weights from plain exponentials, which overflow if scores are large."""
    powers = np.exp(scores)
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
    shifted: bool = True,
) -> tuple[Array, Array]:
    """Return output and weights of attention on the last two axes.

    `low` is what hidden scores are filled with by someone who doesn't look at rows without any key. `shifted`
    says whether the largest score is taken away before the exponential.
    """
    scores = q @ k.swapaxes(-1, -2) / scale(q)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf if low is None else low)
    weigh = _no_shift if not shifted else softmax if low is None else _plain_softmax
    weights = weigh(scores, axis)
    return weights @ v, weights
