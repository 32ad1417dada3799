"""Exercise: what each head adds to the output."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases

Array = NDArray[Any]


def reference(heads: Array, w_output: Array) -> Array:
    """Return the part of each head, (heads, q_len, d_model)."""
    n_heads, _, d_v = heads.shape
    return heads @ w_output.reshape(n_heads, d_v, -1)


def _columns(heads: Array, w_output: Array) -> Array:
    n_heads, _, d_v = heads.shape
    parts = np.zeros((n_heads, heads.shape[1], w_output.shape[1]))
    rows = np.concatenate(list(heads), -1)  # all heads, (q_len, heads * d_v)
    for i in range(n_heads):
        own = slice(i * d_v, (i + 1) * d_v)
        parts[i][:, own] = rows @ w_output[:, own]
    return parts


def _every_nth_row(heads: Array, w_output: Array) -> Array:
    n_heads = len(heads)
    return np.stack([head @ w_output[i::n_heads] for i, head in enumerate(heads)])


def _first_block(heads: Array, w_output: Array) -> Array:
    return heads @ w_output[: heads.shape[2]]


def _shared_out(heads: Array, w_output: Array) -> Array:
    return reference(heads, w_output) / len(heads)


def _summed(heads: Array, w_output: Array) -> Array:
    return reference(heads, w_output).sum(axis=0)


def _without_each(heads: Array, w_output: Array) -> Array:
    parts = reference(heads, w_output)
    return parts.sum(axis=0) - parts


def _reversed(heads: Array, w_output: Array) -> Array:
    return reference(heads[::-1], w_output)[::-1]


def draw(rng: np.random.Generator) -> tuple[Array, Array]:
    """Return the outputs of some heads and an output matrix."""
    n_heads, q_len, d_v, width = (int(n) for n in rng.integers(1, 6, size=4))
    w_output = rng.normal(size=(n_heads * d_v, n_heads * width))
    return rng.normal(size=(n_heads, q_len, d_v)), w_output


def _random(about: str, n_heads: int, q_len: int, d_v: int, d_model: int = 0) -> Case:
    """Return a case with random numbers; d_model is heads * d_v unless it is given."""
    rng = np.random.default_rng(5)
    width = n_heads * d_v
    w_output = rng.integers(-3, 4, size=(width, d_model or width)).astype(float)
    return Case(about, (rng.integers(-2, 5, size=(n_heads, q_len, d_v)).astype(float), w_output))


head_parts = Exercise(
    name="head_parts",
    kind="implement",
    difficulty=2,
    minutes=15,
    statement=(
        "Concatenated and projected is the same as projected and added. Write the part of the sum that each "
        "head adds: from heads, (heads, q_len, d_v), and w_output, (heads * d_v, d_model), return an array "
        "of shape (heads, q_len, d_model). The sum over the heads is the output of multi-head attention."
    ),
    returns=("parts",),
    reference=reference,
    cases=(
        _random("2 heads, 1 query, width 1", 2, 1, 1),
        _random("2 heads, 1 query, width 2", 2, 1, 2),
        _random("2 heads, 3 queries, width 2", 2, 3, 2),
        _random("3 heads, 2 queries, width 2", 3, 2, 2),
        _random("1 head", 1, 2, 3),
        _random("2 heads of width 2, but d_model is 6", 2, 3, 2, 6),
        *random_cases(draw, 5),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "columns of the output matrix instead of rows",
            _columns,
            "Your parts do add up to the output, but each of them holds numbers of all heads. Head 1 fills "
            "the first numbers of the long row: which rows of the matrix do they meet?",
        ),
        Misconception(
            "every n-th row of the output matrix",
            _every_nth_row,
            "The numbers of one head are side by side in the long row. Which rows of the matrix meet them?",
        ),
        Misconception(
            "the same block for every head",
            _first_block,
            "Each head has a block of its own in the output matrix.",
        ),
        Misconception(
            "divided by the number of heads",
            _shared_out,
            "The parts are added, not averaged.",
        ),
        Misconception(
            "already added up",
            _summed,
            "That is the output of all heads together. Keep the parts of the heads apart.",
        ),
        Misconception(
            "the output without each head",
            _without_each,
            "That is what is left when a head is taken out. Asked is what the head itself adds.",
        ),
        Misconception(
            "blocks in reverse order",
            _reversed,
            "Head 1 comes first in the long row. Which block of the matrix does it meet?",
        ),
    ),
)
