"""Exercise: scaled dot-product attention (Vaswani et al. 2017, eq. 1)."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases

Array = NDArray[Any]
Results = tuple[Array, Array]


def _softmax(scores: Array, axis: Any = -1) -> Array:
    powers = np.exp(scores - scores.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def _scores(queries: Array, keys: Array) -> Array:
    return queries @ keys.swapaxes(-2, -1)


def reference(queries: Array, keys: Array, values: Array) -> Results:
    """Return the output and the weights."""
    weights = _softmax(_scores(queries, keys) / np.sqrt(queries.shape[-1]))
    return weights @ values, weights


def _weighted(scores: Callable[[Array, Array, Array], Array], axis: Any = -1) -> Any:
    """Return attention with other scores, or with softmax along another axis."""

    def wrong(queries: Array, keys: Array, values: Array) -> Results:
        weights = _softmax(scores(queries, keys, values), axis)
        return weights @ values, weights

    return wrong


def _scaled(queries: Array, keys: Array, *_: Array) -> Array:
    return _scores(queries, keys) / np.sqrt(queries.shape[-1])


def _no_softmax(queries: Array, keys: Array, values: Array) -> Results:
    return _scaled(queries, keys) @ values, _scaled(queries, keys)


def _no_shift(queries: Array, keys: Array, values: Array) -> Results:
    powers = np.exp(_scaled(queries, keys))
    weights = powers / powers.sum(-1, keepdims=True)
    return weights @ values, weights


def _global_maximum(queries: Array, keys: Array, values: Array) -> Results:
    scores = _scaled(queries, keys)
    powers = np.exp(scores - scores.max())
    weights = powers / powers.sum(-1, keepdims=True)
    return weights @ values, weights


def _scaled_late(queries: Array, keys: Array, values: Array) -> Results:
    weights = _softmax(_scores(queries, keys)) / np.sqrt(queries.shape[-1])
    return weights @ values, weights


def _average_of_keys(queries: Array, keys: Array, values: Array) -> Results:
    weights = reference(queries, keys, values)[1]
    return weights @ keys, weights


def _scores_returned(queries: Array, keys: Array, values: Array) -> Results:
    return reference(queries, keys, values)[0], _scaled(queries, keys)


def _unit(x: Array) -> Array:
    return x / np.sqrt((x**2).sum(-1, keepdims=True))


def draw(rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Return queries, keys and values with none, one or two axes in front, at times with huge scores."""
    front = tuple(int(n) for n in rng.integers(1, 4, size=rng.integers(0, 3)))
    q_len, k_len, d_k, d_v = (int(n) for n in rng.integers(1, 6, size=4))
    size = rng.choice([1.0, 1.0, 2.0, 120.0])
    queries, keys = rng.normal(size=(*front, q_len, d_k)), rng.normal(size=(*front, k_len, d_k))
    return queries * size, keys * size, rng.normal(size=(*front, k_len, d_v))


def _random(about: str, q: tuple[int, ...], k: tuple[int, ...], v: tuple[int, ...]) -> Case:
    rng = np.random.default_rng(7)
    return Case(about, tuple(rng.normal(size=shape).round(1) for shape in (q, k, v)))


scaled_dot_product_attention = Exercise(
    name="scaled_dot_product_attention",
    kind="implement",
    difficulty=2,
    minutes=20,
    statement=(
        "Write equation (1.1), softmax(Q Kᵀ / √d_k) V. Queries have shape (..., q_len, d_k), keys (..., k_len, "
        "d_k), values (..., k_len, d_v); the dots stand for any axes in front, such as batch and heads, or "
        "none. Return the output, (..., q_len, d_v), and the weights, (..., q_len, k_len). Huge scores must "
        "work as well."
    ),
    returns=("output", "weights"),
    reference=reference,
    cases=(
        Case(
            "one query, two keys",
            tuple(map(np.array, ([[1.0, 0]], [[1.0, 2], [0, 1]], [[1.0], [3]]))),
        ),
        # No larger than the case of huge scores: a wrong shape is shown here, not there.
        _random("two queries, two keys, width 1", (2, 1), (2, 1), (2, 2)),
        Case(
            "two queries, two keys",
            tuple(map(np.array, ([[1.0, 2], [0, 1]], [[2.0, 1], [1, -1]], [[1.0, 0], [0, 2]]))),
        ),
        _random("one query, three keys, width 4", (1, 4), (3, 4), (3, 2)),
        _random("two queries, three keys, width 5", (2, 5), (3, 5), (3, 4)),
        _random("three of everything", (3, 3, 3), (3, 3, 3), (3, 3, 3)),
        _random("a batch of 2, one query, two keys", (2, 1, 2), (2, 2, 2), (2, 2, 1)),
        _random("a batch of 2", (2, 3, 5), (2, 4, 5), (2, 4, 7)),
        _random("a batch of 2 with 3 heads", (2, 3, 4, 5), (2, 3, 6, 5), (2, 3, 6, 2)),
        *random_cases(draw, 3),
        Case(
            "huge scores",
            tuple(map(np.array, ([[900.0], [-900]], [[2.0], [1], [-3]], [[1.0], [2], [4]]))),
        ),
        _random("a single key", (3, 4), (1, 4), (1, 2)),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "scale left out",
            _weighted(lambda q, k, v: _scores(q, k)),
            "Wider queries and keys give scores that lie farther apart. What does equation (1.1) do "
            "against it?",
        ),
        Misconception(
            "scaled by d_k",
            _weighted(lambda q, k, v: _scores(q, k) / q.shape[-1]),
            "The variance of a score grows like d_k. How does its typical size grow?",
        ),
        Misconception(
            "scaled by the values' width",
            _weighted(lambda q, k, v: _scores(q, k) / np.sqrt(v.shape[-1])),
            "A score is a sum of products over one axis. Whose axis is it? The values play no "
            "part in it.",
        ),
        Misconception(
            "scaled by the number of keys",
            _weighted(lambda q, k, v: _scores(q, k) / np.sqrt(k.shape[-2])),
            "A score is a sum over the width of the vectors. Which axis is the width, and which "
            "one counts the keys?",
        ),
        Misconception(
            "scaled by the number of queries",
            _weighted(lambda q, k, v: _scores(q, k) / np.sqrt(q.shape[-2])),
            "A score is a sum over the width of the vectors. Which axis is the width, and which "
            "counts the queries?",
        ),
        Misconception(
            "scaled by the length of the queries' first axis",
            _weighted(lambda q, k, v: _scores(q, k) / np.sqrt(len(q))),
            "`len` counts along the first axis: queries, or examples of a batch. A score is a sum "
            "over the width, which is another axis.",
        ),
        Misconception(
            "scaled by the length of the keys' first axis",
            _weighted(lambda q, k, v: _scores(q, k) / np.sqrt(len(k))),
            "`len` counts along the first axis: keys, or examples of a batch. A score is a sum over "
            "the width, which is another axis.",
        ),
        Misconception(
            "scaled by the queries' second axis from the front",
            _weighted(lambda q, k, v: _scores(q, k) / np.sqrt(q.shape[1])),
            "Without a batch this is the width. With a batch in front, which axis do you count? "
            "Which axis is the width, counted from the end?",
        ),
        Misconception(
            "scaled by the keys' second axis from the front",
            _weighted(lambda q, k, v: _scores(q, k) / np.sqrt(k.shape[1])),
            "Without a batch this is the width. With a batch in front, it counts the keys. Which "
            "axis is the width, counted from the end?",
        ),
        Misconception(
            "multiplied by the scale",
            _weighted(lambda q, k, v: _scores(q, k) * np.sqrt(q.shape[-1])),
            "Your scores lie farther apart than before scaling. They should come closer together.",
        ),
        Misconception(
            "scaled after the softmax",
            _scaled_late,
            "Your weights no longer sum to 1. At which step are large scores harmful?",
        ),
        Misconception(
            "the sign turned round",
            _weighted(lambda q, k, v: -_scaled(q, k)),
            "The key that fits best gets the smallest weight. Look for a minus sign.",
        ),
        Misconception(
            "softmax over the queries",
            _weighted(_scaled, axis=-2),
            "Your weights sum to 1 down a column. For each query they should sum to 1 over the "
            "keys.",
        ),
        Misconception(
            "softmax over the batch",
            _weighted(_scaled, axis=0),
            "You count axes from the front, where the batch may be. Which axis are the keys, "
            "counted from the end?",
        ),
        Misconception(
            "softmax along the second axis from the front",
            _weighted(_scaled, axis=1),
            "This is right without a batch only. With axes in front, counting from the end is "
            "safer.",
        ),
        Misconception(
            "softmax over the whole table",
            _weighted(_scaled, axis=(-2, -1)),
            "All weights together sum to 1. Each query should have a weight of 1 of its own to "
            "share out.",
        ),
        Misconception(
            "no softmax",
            _no_softmax,
            "Your weights can be negative and don't sum to 1. What turns scores into weights?",
        ),
        Misconception(
            "no shift before the exponential",
            _no_shift,
            "Small scores work. With huge ones the exponential overflows: remember your softmax.",
        ),
        Misconception(
            "one shift for the whole table",
            _global_maximum,
            "A row of scores far below the largest one of all becomes 0/0. Each row can have a "
            "shift of its own.",
        ),
        Misconception(
            "keys not transposed",
            _weighted(lambda q, k, v: q @ k / np.sqrt(q.shape[-1])),
            "A score compares a whole query with a whole key. Which axis of the keys must meet "
            "the queries' last axis?",
        ),
        Misconception(
            "torch's `transpose(-2, -1)` on a NumPy array",
            _weighted(lambda q, k, v: q @ k.transpose(-2, -1) / np.sqrt(q.shape[-1])),
            "In NumPy, `transpose` wants the new order of all axes: for two axes, (-2, -1) is the "
            "order they have already. NumPy's word for exchanging two axes is `swapaxes`.",
        ),
        Misconception(
            "all axes of the keys reversed",
            _weighted(lambda q, k, v: q @ k.T / np.sqrt(q.shape[-1])),
            "`.T` turns round all axes, the batch too. Only two of them should change places.",
        ),
        Misconception(
            "cosine instead of the dot product",
            _weighted(lambda q, k, v: _scores(_unit(q), _unit(k))),
            "Your scores are always between -1 and 1. Equation (1.1) doesn't divide by the lengths "
            "of the vectors.",
        ),
        Misconception(
            "keys averaged instead of values",
            _average_of_keys,
            "The weights are right. What is averaged with them: what a place offers as a label, "
            "or what it passes on?",
        ),
        Misconception(
            "scores returned as weights",
            _scores_returned,
            "The output is right. The second result should be what the values are averaged with.",
        ),
        Misconception(
            "results in the wrong order",
            lambda queries, keys, values: reference(queries, keys, values)[::-1],
            "Both results are right. Read again which of them is to come first.",
        ),
    ),
)
