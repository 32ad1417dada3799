"""Exercise: three mistakes in one short function."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases

Array = NDArray[Any]
Results = tuple[Array, Array]
Scale = Callable[[Array], float]


def _right_scale(queries: Array) -> float:
    return float(np.sqrt(queries.shape[-1]))


def _embedding_scale(queries: Array) -> float:
    return float(np.sqrt(queries.shape[0] * queries.shape[-1]))


def _variant(*, reshaped: bool = False, scale: Scale = _right_scale, axis: int = -1) -> Any:
    """Return the function of the exercise with the mistakes asked for."""

    def attention(queries: Array, keys: Array, values: Array) -> Results:
        n_heads, _, d_k = queries.shape
        turned = keys.reshape(n_heads, d_k, -1) if reshaped else keys.swapaxes(1, 2)
        powers = np.exp(queries @ turned / scale(queries))
        weights = powers / powers.sum(axis, keepdims=True)
        return weights @ values, weights

    return attention


def reference(queries: Array, keys: Array, values: Array) -> Results:
    """Return the output and the weights of each head."""
    result: Results = _variant()(queries, keys, values)
    return result


def draw(rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Return the queries, keys and values of several heads."""
    n_heads, q_len, k_len, d_k, d_v = (int(n) for n in rng.integers(1, 6, size=5))
    shapes = ((n_heads, q_len, d_k), (n_heads, k_len, d_k), (n_heads, k_len, d_v))
    return tuple(rng.normal(size=shape) for shape in shapes)  # type: ignore[return-value]


def _random(about: str, n_heads: int, q_len: int, k_len: int, d_k: int, d_v: int) -> Case:
    rng = np.random.default_rng(11)
    shapes = ((n_heads, q_len, d_k), (n_heads, k_len, d_k), (n_heads, k_len, d_v))
    return Case(about, tuple(rng.normal(size=shape).round(1) for shape in shapes))


_RESHAPED = (
    "After `reshape` the numbers are in the same order as before, only cut into other rows: "
    "keys get mixed."
)
_SCALED = (
    "With heads, a score is a sum over the width of one head, not over the width of all heads "
    "together."
)
_AXIS = (
    "With a heads axis in front, the axes have other numbers. For which axis must the weights sum "
    "to 1?"
)

attention_of_heads = Exercise(
    name="attention_of_heads",
    kind="spot the bug",
    difficulty=2,
    minutes=15,
    statement=(
        "A head is one attention with queries, keys and values of its own; a model computes several "
        "heads side by side (chapter 04). The function below is meant to do this; all arrays have "
        "a heads axis in front: queries (n_heads, q_len, d_k), keys (n_heads, k_len, d_k), values "
        "(n_heads, k_len, d_v). It runs, and it holds three mistakes. Write it without them. "
        "Return output and weights. Scores are small here."
    ),
    returns=("output", "weights"),
    reference=reference,
    cases=(
        _random("2 heads, 1 query, 2 keys, width 1", 2, 1, 2, 1, 1),
        _random("2 heads, 1 query, 2 keys, width 2", 2, 1, 2, 2, 1),
        _random("1 head, 2 queries, 2 keys, width 2", 1, 2, 2, 2, 2),
        _random("2 heads, 2 queries, 3 keys, width 2", 2, 2, 3, 2, 2),
        _random("3 heads, 4 queries, 5 keys, width 2", 3, 4, 5, 2, 7),
        _random("2 of everything", 2, 2, 2, 2, 2),
        _random("3 of everything", 3, 3, 3, 3, 3),
        *random_cases(draw, 4),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "all three mistakes still there",
            _variant(reshaped=True, scale=_embedding_scale, axis=1),
            "These are the results of the function as given. Take two heads, and write the shape "
            "beside each line.",
        ),
        Misconception("keys reshaped instead of transposed", _variant(reshaped=True), _RESHAPED),
        Misconception("scaled by the embedding size", _variant(scale=_embedding_scale), _SCALED),
        Misconception("softmax over the queries", _variant(axis=1), _AXIS),
        Misconception(
            "one mistake found: keys and scale are still wrong",
            _variant(reshaped=True, scale=_embedding_scale),
            "The softmax is right now. Look at how the keys are turned round, and at what is "
            "divided.",
        ),
        Misconception(
            "one mistake found: keys and softmax are still wrong",
            _variant(reshaped=True, axis=1),
            "The scale is right now. Look at how the keys are turned round, and along which axis "
            "the weights sum to 1.",
        ),
        Misconception(
            "one mistake found: scale and softmax are still wrong",
            _variant(scale=_embedding_scale, axis=1),
            "The keys are right now. Look at the scale, and along which axis the weights sum to 1.",
        ),
        Misconception(
            "scaled by the number of heads",
            _variant(scale=lambda queries: float(np.sqrt(queries.shape[0]))),
            "Heads work side by side and don't add to one another's scores. Over what does one "
            "score sum?",
        ),
        Misconception(
            "scale left out",
            _variant(scale=lambda queries: 1.0),
            "The scale was wrong, but none at all is wrong too.",
        ),
        Misconception(
            "scaled by d_k",
            _variant(scale=lambda queries: float(queries.shape[-1])),
            "The size is right, but the square root is missing: a score's typical size grows more "
            "slowly than its variance.",
        ),
        Misconception(
            "softmax over the heads",
            _variant(axis=0),
            "Heads don't compete with each other. Each query of each head has a weight of 1 to "
            "share out.",
        ),
    ),
)
