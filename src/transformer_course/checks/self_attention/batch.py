"""Exercise: three mistakes that a single sentence hides."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases
from transformer_course.checks.mixtures import mixtures
from transformer_course.checks.self_attention.numbers import Array, Results, matrices


def _variant(
    *,
    shared: bool = False,
    transposed: bool = False,
    reshaped: bool = False,
    axis: int | tuple[int, int] = -1,
    scale: str = "d_k",
    asked: bool = False,
) -> Any:
    """Return the function of the exercise with the mistakes asked for."""

    def attention(x: Array, w_query: Array, w_key: Array, w_value: Array) -> Results:
        queries, keys = x @ w_query, x @ (w_query if shared else w_key)
        turned = keys.T if transposed else keys.swapaxes(-2, -1)
        turned = keys.reshape(turned.shape) if reshaped else turned
        queries, turned = (keys, queries.swapaxes(-2, -1)) if asked else (queries, turned)
        width = {"d_k": keys.shape[-1], "n": len(x[0]), "d_model": x.shape[-1], "none": 1}[scale]
        powers = np.exp(queries @ turned / np.sqrt(width))
        weights = powers / powers.sum(axis, keepdims=True)
        return weights @ (x @ w_value), weights

    return attention


def reference(x: Array, w_query: Array, w_key: Array, w_value: Array) -> Results:
    """Return the output and the weights of each sentence."""
    result: Results = _variant()(x, w_query, w_key, w_value)
    return result


def draw(rng: np.random.Generator) -> tuple[Array, ...]:
    """Return a batch of sentences, at times with all sizes equal, and three matrices."""
    batch, n, d_model, d_k, d_v = (int(size) for size in rng.integers(2, 5, size=5))
    if rng.random() < 0.4:
        batch = d_k = n
    return rng.normal(size=(batch, n, d_model)) * 0.7, *matrices(rng, d_model, d_k, d_v)


def _random(about: str, shape: tuple[int, int, int], d_k: int, d_v: int) -> Case:
    rng = np.random.default_rng(9)
    return Case(about, (rng.normal(size=shape) * 0.7, *matrices(rng, shape[-1], d_k, d_v)))


PARTS = {
    "shared": ("the keys' matrix", "With which matrix are the keys made?"),
    "transposed": ("the turning of the keys", "How are the keys turned round, with 3 axes?"),
    "axis": ("the axis of the softmax", "Along which axis do the weights of a word lie?"),
}


def _left(shared: bool, transposed: bool, axis: bool) -> Any:
    """Return the function with those mistakes that are still there."""
    return _variant(shared=shared, transposed=transposed, axis=1 if axis else -1)


def _still_wrong() -> tuple[Misconception, ...]:
    """Return every mixture of the three mistakes: which are still there, and what to look at."""
    return tuple(
        Misconception(name, _left(**there), hint)
        for there, name, hint in mixtures(PARTS, "all three mistakes still there")
    )


_RESHAPED = "The numbers are in the same order as before, only cut into other rows: keys get mixed."
_SCALE_AFTERWARDS = (
    "A score sums over the numbers of one query. How long is the axis that you took for the scale?"
)


def _half_mended() -> Iterator[Misconception]:
    """Go through two ways to turn the keys wrongly, each with those mistakes that may still be there."""
    for shared, over_queries in product((False, True), repeat=2):
        left = [PARTS["shared"][0]] * shared + [PARTS["axis"][0]] * over_queries
        also = f"; still wrong: {' and '.join(left)}" if left else ""
        then = f" Then look at {' and '.join(left)}." if left else ""
        wrong: dict[str, Any] = {"shared": shared, "axis": 1 if over_queries else -1}
        yield Misconception(
            f"keys reshaped instead of transposed{also}",
            _variant(reshaped=True, **wrong),
            _RESHAPED + then,
        )
        yield Misconception(
            f"scaled by the number of words{also}",
            _variant(scale="n", **wrong),
            _SCALE_AFTERWARDS + then,
        )


self_attention_of_batch = Exercise(
    name="self_attention_of_batch",
    kind="spot the bug",
    difficulty=2,
    minutes=20,
    statement=(
        "The function below is meant for a batch: x (batch, n, d_model), w_query and w_key "
        "(d_model, d_k), w_value (d_model, d_v). It holds three mistakes. Two of them do no harm "
        "to a single sentence without a batch axis, which is how they got through. Write it "
        "without the mistakes. Return output (batch, n, d_v) and weights (batch, n, n). Scores "
        "are small here."
    ),
    returns=("output", "weights"),
    reference=reference,
    cases=(
        _random("a batch of 2, 2 words, d_k 2", (2, 2, 2), 2, 1),
        _random("a batch of 2, 3 words, d_k 4", (2, 3, 2), 4, 3),
        _random("a batch of 1", (1, 3, 4), 2, 2),
        _random("three of everything", (3, 3, 3), 3, 3),
        _random("four of everything", (4, 4, 4), 4, 4),
        _random("two of nearly everything", (2, 2, 3), 2, 4),
        *random_cases(draw, 4, "a random batch"),
    ),
    draw=draw,
    misconceptions=(
        *_still_wrong(),
        *_half_mended(),
        Misconception(
            "one softmax for all words of a sentence",
            _variant(axis=(-2, -1)),
            "All your weights of a sentence sum to 1 together. What should the weights of one word sum to?",
        ),
        Misconception(
            "the keys ask",
            _variant(asked=True),
            "In your scores, a row belongs to a key. Who shares out a weight of 1: the word that asks, or the "
            "word that is asked?",
        ),
        Misconception(
            "softmax over the sentences",
            _variant(axis=0),
            "Sentences don't compete with each other. Each word of each sentence has a weight of 1 "
            "to share out.",
        ),
        Misconception(
            "scaled by the width of the words",
            _variant(scale="d_model"),
            "The scale was right as it was given: a score is a sum over the numbers of one query.",
        ),
        Misconception(
            "scale left out",
            _variant(scale="none"),
            "The scale was right as it was given. Now it is missing.",
        ),
    ),
)
