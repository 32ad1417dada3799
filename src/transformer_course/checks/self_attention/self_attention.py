"""Exercise: self-attention for sentences with any axes in front."""

from collections.abc import Callable
from typing import Any

import numpy as np

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases
from transformer_course.checks.self_attention.numbers import (
    Array,
    Results,
    attend,
    cat_eats_fish,
    large_words,
    matrices,
    overflowing_softmax,
    softmax,
)


def reference(x: Array, w_query: Array, w_key: Array, w_value: Array) -> Results:
    """Return the output and the weights."""
    return attend(x @ w_query, x @ w_key, x @ w_value)


def _weighed(
    scores: Callable[[Array, Array], Array] = lambda q, k: q @ k.swapaxes(-2, -1),
    divisor: Callable[[Array, Array], float] = lambda x, k: float(np.sqrt(k.shape[-1])),
    axis: int = -1,
    weigh: Callable[[Array, Any], Array] = softmax,
) -> Any:
    """Return self-attention with other scores, another divisor, or another softmax."""

    def wrong(x: Array, w_query: Array, w_key: Array, w_value: Array) -> Results:
        q, k, v = x @ w_query, x @ w_key, x @ w_value
        weights = weigh(scores(q, k) / divisor(x, k), axis)
        return weights @ v, weights

    return wrong


def _turned(x: Array, w_query: Array, w_key: Array, w_value: Array) -> Results:
    weights = reference(x, w_query, w_key, w_value)[1]
    return weights.swapaxes(-2, -1) @ (x @ w_value), weights


def _value_added(x: Array, w_query: Array, w_key: Array, w_value: Array) -> Results:
    output, weights = reference(x, w_query, w_key, w_value)
    return output + x @ w_value, weights


def _no_softmax(x: Array, w_query: Array, w_key: Array, w_value: Array) -> Results:
    scores = (x @ w_query) @ (x @ w_key).swapaxes(-2, -1) / np.sqrt(w_key.shape[-1])
    return scores @ (x @ w_value), scores


def draw(rng: np.random.Generator) -> tuple[Array, ...]:
    """Return sentences with none, one or two axes in front, at times of large numbers, and three matrices."""
    front = tuple(int(size) for size in rng.integers(1, 4, size=rng.integers(0, 3)))
    n, d_model, d_k, d_v = (int(size) for size in rng.integers(2, 6, size=4))
    x, found = rng.normal(size=(*front, n, d_model)), matrices(rng, d_model, d_k, d_v)
    return large_words(rng) if rng.random() < 0.1 else (x, *found)


def _random(about: str, shape: tuple[int, ...], d_k: int, d_v: int) -> Case:
    rng = np.random.default_rng(5)
    return Case(about, (rng.normal(size=shape), *matrices(rng, shape[-1], d_k, d_v)))


self_attention = Exercise(
    name="self_attention",
    kind="implement",
    difficulty=2,
    minutes=20,
    statement=(
        "Write self-attention for all words at once. x has shape (..., n, d_model); the dots "
        "stand for any axes in front, such as the sentences of a batch, or none. w_query and "
        "w_key have shape (d_model, d_k), w_value (d_model, d_v). Return the output, shape (..., "
        "n, d_v), and the weights, shape (..., n, n). Large scores must work as well."
    ),
    returns=("output", "weights"),
    reference=reference,
    cases=(
        Case("cat eats fish", cat_eats_fish()),
        _random("two words, width 2", (2, 2), 2, 2),
        _random("four words, width 5", (4, 5), 3, 2),
        _random("three of everything", (3, 3, 3), 3, 3),
        _random("four of everything", (4, 4, 4), 4, 4),
        _random("a batch of 2", (2, 3, 4), 2, 5),
        _random("two axes in front", (2, 3, 4, 5), 3, 7),
        *random_cases(draw, 4, "random sentences"),
        Case("large numbers", (np.eye(3) * 40, np.eye(3), np.eye(3), np.eye(3))),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "one matrix for queries and keys",
            lambda x, w_query, w_key, w_value: reference(x, w_query, w_query, w_value),
            "Your table of scores is a mirror image of itself. Which matrix makes the keys?",
        ),
        Misconception(
            "the keys' matrix for queries too",
            lambda x, w_query, w_key, w_value: reference(x, w_key, w_key, w_value),
            "Your table of scores is a mirror image of itself. Which matrix makes the queries?",
        ),
        Misconception(
            "one matrix for all three",
            lambda x, w_query, w_key, w_value: reference(x, w_query, w_query, w_query),
            "You use one of the three matrices only. Same source, but three different views.",
        ),
        Misconception(
            "queries and keys exchanged",
            lambda x, w_query, w_key, w_value: reference(x, w_key, w_query, w_value),
            "The words that ask are the rows of the scores, those that are asked the columns.",
        ),
        Misconception(
            "keys and values exchanged",
            lambda x, w_query, w_key, w_value: reference(x, w_query, w_value, w_key),
            "Which of the two is compared with the queries, and which is averaged?",
        ),
        Misconception(
            "the words themselves averaged",
            lambda x, w_query, w_key, w_value: attend(x @ w_query, x @ w_key, x),
            "What is averaged is what the words pass on, not the words. Where is the third matrix?",
        ),
        Misconception(
            "no projection at all",
            lambda x, w_query, w_key, w_value: attend(x, x, x),
            "You use none of the matrices. Step 1 makes three views of each word.",
        ),
        Misconception(
            "keys averaged instead of values",
            lambda x, w_query, w_key, w_value: attend(x @ w_query, x @ w_key, x @ w_key),
            "The weights are right. A key is only for being found; what is passed on?",
        ),
        Misconception(
            "scale left out",
            _weighed(divisor=lambda x, k: 1.0),
            "Step 3 is missing: what are the scores divided by?",
        ),
        Misconception(
            "scaled by d_k",
            _weighed(divisor=lambda x, k: float(k.shape[-1])),
            "Your divisor is too large: something is missing around the width.",
        ),
        Misconception(
            "scaled by the width of the words",
            _weighed(divisor=lambda x, k: float(np.sqrt(x.shape[-1]))),
            "A score is a sum over the numbers of one query. How many are these, after the "
            "projection?",
        ),
        Misconception(
            "scaled by the number of words",
            _weighed(divisor=lambda x, k: float(np.sqrt(x.shape[-2]))),
            "A score doesn't grow with the number of words. Over what does one score sum?",
        ),
        Misconception(
            "softmax over the words that ask",
            _weighed(axis=-2),
            "Each word shares out a weight of 1 among all words. In your table, do rows or "
            "columns sum to 1?",
        ),
        Misconception(
            "axis 1, which is right for one sentence only",
            _weighed(axis=1),
            "For one sentence your weights are right. With axes in front, axis 1 is another one: "
            "count from the end.",
        ),
        Misconception(
            "all axes of the keys turned round",
            _weighed(scores=lambda q, k: q @ k.T),
            "For one sentence your scores are right. `.T` turns round all axes, those in front "
            "too. Which two should change places?",
        ),
        Misconception(
            "softmax that overflows",
            _weighed(weigh=overflowing_softmax),
            "Small scores work. For large ones the exponential becomes infinite; chapter 01 has a "
            "cure.",
        ),
        Misconception(
            "softmax left out",
            _no_softmax,
            "Your weights can be negative, and don't sum to 1. Step 4 is missing.",
        ),
        Misconception(
            "the weights turned round before the average",
            _turned,
            "The weights are right. In the average, a row of the weights belongs to the word "
            "that asks.",
        ),
        Misconception(
            "the values added once more",
            _value_added,
            "Your output is the average plus the word's own value. Is a sum with what came in part of this "
            "equation?",
        ),
        Misconception(
            "all three matrices transposed",
            lambda x, w_query, w_key, w_value: reference(x, w_query.T, w_key.T, w_value.T),
            "With square matrices no error tells you. Which axis of a matrix meets the numbers of a word?",
        ),
        Misconception(
            "results in the wrong order",
            lambda x, w_query, w_key, w_value: reference(x, w_query, w_key, w_value)[::-1],
            "Both results are right. Read again which of them is to come first.",
        ),
    ),
)
