"""Exercise: put the outputs of all heads side by side again."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases

Array = NDArray[Any]


def reference(heads: Array) -> Array:
    """Return (batch, q_len, heads * d_v) from (batch, heads, q_len, d_v)."""
    batch, n_heads, q_len, d_v = heads.shape
    return heads.swapaxes(1, 2).reshape(batch, q_len, n_heads * d_v)


def _reshape_alone(heads: Array) -> Array:
    batch, n_heads, q_len, d_v = heads.shape
    return heads.reshape(batch, q_len, n_heads * d_v)


def _interleaved(heads: Array) -> Array:
    batch, n_heads, q_len, d_v = heads.shape
    return heads.transpose(0, 2, 3, 1).reshape(batch, q_len, d_v * n_heads)


def _one_under_the_other(heads: Array) -> Array:
    batch, n_heads, q_len, d_v = heads.shape
    return heads.reshape(batch, n_heads * q_len, d_v)


def _summed(heads: Array) -> Array:
    return heads.sum(axis=1)


def _mean(heads: Array) -> Array:
    return heads.mean(axis=1)


def _heads_behind_the_length(heads: Array) -> Array:
    return heads.swapaxes(1, 2)


def draw(rng: np.random.Generator) -> tuple[Array]:
    """Return the outputs of several heads."""
    return (rng.normal(size=rng.integers(1, 6, size=4)),)


def _numbered(*shape: int) -> Array:
    return np.arange(1.0, np.prod(shape) + 1).reshape(shape)


merge_heads = Exercise(
    name="merge_heads",
    kind="implement",
    difficulty=1,
    minutes=10,
    statement=(
        "The way back. From the outputs of all heads, (batch, heads, q_len, d_v), return one long row for "
        "each query: shape (batch, q_len, heads * d_v), head 1 first, then head 2, and so on."
    ),
    returns=("rows",),
    reference=reference,
    cases=(
        Case("2 heads, 1 query, width 2", (_numbered(1, 2, 1, 2),)),
        Case("2 heads, 2 queries, width 2", (_numbered(1, 2, 2, 2),)),
        Case("2 heads, 3 queries, width 2", (_numbered(1, 2, 3, 2),)),
        Case("2 sentences, 3 heads, 4 queries, width 2", (_numbered(2, 3, 4, 2),)),
        Case("1 head", (_numbered(2, 1, 3, 2),)),
        Case("width 1", (_numbered(1, 3, 2, 1),)),
        *random_cases(draw, 5),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "reshaped without a transpose",
            _reshape_alone,
            "One row of your result holds several queries of the same head. It must hold one query of all "
            "heads. What has to be beside d_v before you join two axes?",
        ),
        Misconception(
            "numbers of the heads mixed one by one",
            _interleaved,
            "The output of one head stays together. Which of the two axes that you join comes first?",
        ),
        Misconception(
            "heads one under the other",
            _one_under_the_other,
            "There is one row for each query, however many heads there are.",
        ),
        Misconception(
            "heads added",
            _summed,
            "Adding comes later, inside the product with the output matrix. Here no number is lost.",
        ),
        Misconception(
            "heads averaged",
            _mean,
            "The mean forgets which head said what. Here no number is lost.",
        ),
        Misconception(
            "transposed, but not joined",
            _heads_behind_the_length,
            "The axes are in the right order now. Two of them become one.",
        ),
    ),
)
