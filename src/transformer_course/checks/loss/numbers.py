"""What several exercises of chapter 08 are made of."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def log_probs_of(logits: Array) -> Array:
    """Return the logarithms of softmax along the last axis, without overflow."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)))


def targets_of(labels: Array, n_words: int, smoothing: float) -> Array:
    """Return the smoothed targets, (..., n_words)."""
    return np.asarray((1 - smoothing) * np.eye(n_words)[labels] + smoothing / n_words)


def some_logits(rng: np.random.Generator, *shape: int) -> Array:
    """Return logits of usual size, sometimes huge ones.

    Huge ones lie near multiples of 2000: what overflows in double precision overflows in single precision too.
    """
    far = rng.integers(-1, 2, size=shape) * rng.choice([0.0, 0.0, 0.0, 2000.0])
    return rng.normal(size=shape) * rng.choice([1.0, 3.0]) + far
