"""Exercise: cross-attention, where the queries come from one sequence, keys and values from another."""

from typing import Any

import numpy as np

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases
from transformer_course.checks.self_attention.numbers import (
    Array,
    Results,
    attend,
    large_words,
    matrices,
    overflowing_softmax,
    softmax,
)


def reference(x: Array, memory: Array, w_query: Array, w_key: Array, w_value: Array) -> Results:
    """Return the output and the weights."""
    return attend(x @ w_query, memory @ w_key, memory @ w_value)


def _from(queries: int, keys: int, values: int) -> Any:
    """Return attention with each of the three from x (0) or the memory (1)."""

    def wrong(x: Array, memory: Array, w_query: Array, w_key: Array, w_value: Array) -> Results:
        both = (x, memory)
        return attend(both[queries] @ w_query, both[keys] @ w_key, both[values] @ w_value)

    return wrong


def _weighed(divisor: Any, axis: int = -1, weigh: Any = softmax) -> Any:
    """Return cross-attention with another divisor, or another softmax."""

    def wrong(x: Array, memory: Array, w_query: Array, w_key: Array, w_value: Array) -> Results:
        scores = (x @ w_query) @ (memory @ w_key).swapaxes(-2, -1)
        weights = weigh(scores / divisor(x.shape[-1], w_key.shape[-1]), axis)
        return weights @ (memory @ w_value), weights

    return wrong


def draw(rng: np.random.Generator) -> tuple[Array, ...]:
    """Return a target and a source, with none or one axis in front, and three matrices.

    At times their numbers are large.
    """
    front = tuple(int(size) for size in rng.integers(1, 4, size=rng.integers(0, 2)))
    q_len, k_len, d_model, d_k, d_v = (int(size) for size in rng.integers(2, 6, size=5))
    x, memory = (rng.normal(size=(*front, length, d_model)) for length in (q_len, k_len))
    found = (memory, *matrices(rng, d_model, d_k, d_v))
    if rng.random() < 0.1:
        found = large_words(rng)
        x = rng.permutation(found[0])[:-1]
    return x, *found


def _random(about: str, q_shape: tuple[int, ...], k_len: int, d_k: int, d_v: int) -> Case:
    rng = np.random.default_rng(8)
    memory = rng.normal(size=(*q_shape[:-2], k_len, q_shape[-1]))
    return Case(about, (rng.normal(size=q_shape), memory, *matrices(rng, q_shape[-1], d_k, d_v)))


def _hotpot(times: float = 1.0) -> tuple[Array, ...]:
    chinese = times * np.array([[2.0, 0, 0], [0, 2, 0], [0, 0, 2], [0, 0, 2]])
    return 3 * times * np.eye(3)[:2], chinese, np.eye(3), np.eye(3), np.eye(3)[:, :2]


cross_attention = Exercise(
    name="cross_attention",
    kind="implement",
    difficulty=2,
    minutes=15,
    statement=(
        "Write cross-attention, as it is used by a decoder. x has shape (..., q_len, d_model): "
        "the words that are being written. memory has shape (..., k_len, d_model): what was read. "
        "w_query and w_key have shape (d_model, d_k), w_value (d_model, d_v). Return the output, "
        "shape (..., q_len, d_v), and the weights, shape (..., q_len, k_len). Large scores must work as well."
    ),
    returns=("output", "weights"),
    reference=reference,
    cases=(
        Case("I love, from four Chinese signs", _hotpot()),
        _random("one word written, two read", (1, 3), 2, 2, 2),
        _random("three written, three read", (3, 4), 3, 2, 5),
        _random("two written, five read", (2, 3), 5, 4, 2),
        _random("a batch of 2", (2, 3, 4), 5, 2, 3),
        _random("a batch of 2, as many written as read", (2, 4, 3), 4, 5, 2),
        _random("a single word to read", (3, 2), 1, 2, 3),
        *random_cases(draw, 4, "random sequences"),
        Case("large numbers", _hotpot(20.0)),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "the memory ignored",
            _from(0, 0, 0),
            "This is self-attention: nothing of what was read comes in. Where do you use `memory`?",
        ),
        Misconception(
            "only the memory, nothing of x",
            _from(1, 1, 1),
            "The memory looks at itself. Who is it that asks?",
        ),
        Misconception(
            "the wrong side asks",
            _from(1, 0, 0),
            "You have one result for each word that was read. Who asks, the one who writes or "
            "what was read?",
        ),
        Misconception(
            "keys from the side that writes",
            _from(0, 0, 1),
            "The words that are written look at each other, and then read at those places. What "
            "should they be compared with?",
        ),
        Misconception(
            "values from the side that writes",
            _from(0, 1, 0),
            "Keys and values belong together, entry by entry. Where do the keys come from?",
        ),
        Misconception(
            "one matrix for queries and keys",
            lambda x, memory, w_query, w_key, w_value: reference(
                x, memory, w_query, w_query, w_value
            ),
            "The sources are right. Which matrix makes the keys?",
        ),
        Misconception(
            "queries and keys made by each other's matrix",
            lambda x, memory, w_query, w_key, w_value: reference(
                x, memory, w_key, w_query, w_value
            ),
            "The sources are right. Look at which matrix goes with which of them.",
        ),
        Misconception(
            "what was read averaged without its projection",
            lambda x, memory, w_query, w_key, w_value: attend(x @ w_query, memory @ w_key, memory),
            "The weights are right. The values need their matrix too.",
        ),
        Misconception(
            "scale left out",
            _weighed(lambda d_model, d_k: 1.0),
            "Step 3 is missing: what are the scores divided by?",
        ),
        Misconception(
            "scaled by the width of the words",
            _weighed(lambda d_model, d_k: np.sqrt(d_model)),
            "A score is a sum over the numbers of one query. How many are these, after the "
            "projection?",
        ),
        Misconception(
            "scaled by d_k",
            _weighed(lambda d_model, d_k: d_k),
            "Your divisor is too large: something is missing around the width.",
        ),
        Misconception(
            "softmax over the words that ask",
            _weighed(lambda d_model, d_k: np.sqrt(d_k), axis=-2),
            "Each word that is written shares out a weight of 1 among those that were read. Do "
            "your rows sum to 1?",
        ),
        Misconception(
            "softmax that overflows",
            _weighed(lambda d_model, d_k: np.sqrt(d_k), weigh=overflowing_softmax),
            "Small scores work. For large ones the exponential becomes infinite; chapter 01 has a cure.",
        ),
        Misconception(
            "right without a batch only",
            _weighed(lambda d_model, d_k: np.sqrt(d_k), axis=1),
            "For one pair of sequences you are right. With a batch in front, axis 1 is another one. Can you "
            "count axes from the end?",
        ),
        Misconception(
            "results in the wrong order",
            lambda x, memory, w_query, w_key, w_value: reference(
                x, memory, w_query, w_key, w_value
            )[::-1],
            "Both results are right. Read again which of them is to come first.",
        ),
    ),
)
