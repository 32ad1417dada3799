"""Exercise: three mistakes in two loops."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases

Array = NDArray[Any]


def _variant(
    *, reused: bool = False, all_keys: bool = False, strict: bool = False
) -> Callable[[Array], Array]:
    """Return the function of the exercise with the mistakes asked for."""

    def weights_of(scores: Array) -> Array:
        n = len(scores)
        weights = np.zeros((n, n))
        for i in range(n):
            for j in range(n):
                seen = range(n) if all_keys else range(i if strict else i + 1)
                total = sum(np.exp(scores[i, k]) for k in seen)
                place = (seen[-1] if len(seen) else j) if reused else j
                if place < i or (place == i and not strict):
                    weights[i, place] = np.exp(scores[i, place]) / total
        return weights

    return weights_of


def reference(scores: Array) -> Array:
    """Return the causal weights."""
    return _variant()(scores)


def _doubled(scores: Array) -> Array:
    powers = np.tril(np.exp(scores))
    return powers / (powers.sum(-1, keepdims=True) + np.exp(np.diag(scores))[:, None])


def _hidden_as_zero(scores: Array) -> Array:
    powers = np.exp(np.tril(scores))
    return powers / powers.sum(-1, keepdims=True)


def _own_key_not_in_the_sum(scores: Array) -> Array:
    powers = np.tril(np.exp(scores))
    seen = np.tri(len(scores), dtype=bool)
    return np.where(seen, powers / np.tril(powers, -1).sum(-1, keepdims=True), 0.0)


def _not_divided(scores: Array) -> Array:
    return np.tril(np.exp(scores))


def _flipped(scores: Array) -> Array:
    powers = np.triu(np.exp(scores))
    return powers / powers.sum(-1, keepdims=True)


def _columns(scores: Array) -> Array:
    powers = np.tril(np.exp(scores))
    return powers / powers.sum(0, keepdims=True)


def draw(rng: np.random.Generator) -> tuple[Array]:
    """Return small scores of a sentence with itself."""
    n = int(rng.integers(1, 7))
    return (rng.normal(size=(n, n)),)


_REUSED = (
    "After the inner loop its letter has the last value, whatever the outer loop says. Which loops "
    "share a letter?"
)
_ALL = "Your rows sum to less than 1: hidden keys have taken a share. Over which keys must the sum run?"
_STRICT = (
    "The current token is hidden, and the first row sees nothing. The diagonal stays open: why?"
)

causal_weights = Exercise(
    name="causal_weights",
    kind="spot the bug",
    difficulty=2,
    minutes=15,
    statement=(
        "The function below computes the causal weights of one sentence, from its scores, shape "
        "(length, length). It runs, and it holds three mistakes. Write it without them: each row is "
        "softmax over the keys up to the query's own, and 0 elsewhere. Scores are small here."
    ),
    returns=("weights",),
    reference=reference,
    cases=(
        Case("one token", (np.array([[0.5]]),)),
        Case("two tokens", (np.array([[0.0, 1.0], [1.0, 0.0]]),)),
        Case("three tokens", (np.array([[0.0, 1.0, 2.0], [1.0, 0.5, 0.0], [0.2, 0.4, 0.6]]),)),
        *random_cases(draw, 6),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "all three mistakes still there",
            _variant(reused=True, all_keys=True, strict=True),
            "These are the results of the function as given. Follow it by hand for a sentence of "
            "two tokens, and write down each letter's value.",
        ),
        Misconception("one letter for two things", _variant(reused=True), _REUSED),
        Misconception("the sum runs over hidden keys too", _variant(all_keys=True), _ALL),
        Misconception("the current token hidden", _variant(strict=True), _STRICT),
        Misconception(
            "one mistake found: the letter and the sum are still wrong",
            _variant(reused=True, all_keys=True),
            "The diagonal is right now. Look at the letters of the two inner loops, and at the keys "
            "that the sum counts.",
        ),
        Misconception(
            "one mistake found: the letter and the diagonal are still wrong",
            _variant(reused=True, strict=True),
            "The sum counts the right keys for your mask. Look at the letters, and at the diagonal.",
        ),
        Misconception(
            "one mistake found: the sum and the diagonal are still wrong",
            _variant(all_keys=True, strict=True),
            "The letters are right now. Look at the keys that the sum counts, and at the diagonal.",
        ),
        Misconception(
            "the sum right, but the diagonal not written",
            lambda scores: np.tril(reference(scores), -1),
            "The sum counts the current token, but its own weight is still 0.",
        ),
        Misconception(
            "the current token counted twice",
            _doubled,
            "Your rows sum to less than 1, though hidden keys are left out. Is one key counted twice "
            "in the sum?",
        ),
        Misconception(
            "hidden scores set to 0",
            _hidden_as_zero,
            "A score of 0 gives a weight like any other: the exponential of 0 is 1. What must a hidden "
            "key add to the sum?",
        ),
        Misconception(
            "the current token has a weight, but no share in the sum",
            _own_key_not_in_the_sum,
            "Your first row divides by 0, and the others sum to more than 1. Which keys does the sum "
            "count, and which get a weight?",
        ),
        Misconception(
            "nothing divided",
            _not_divided,
            "The right places are filled. What should each row sum to?",
        ),
        Misconception(
            "past and future exchanged",
            _flipped,
            "Rows see what comes later. Which index is the query, which the key?",
        ),
        Misconception(
            "the sum over the queries",
            _columns,
            "Your columns sum to 1. Each query shares out its own attention.",
        ),
    ),
)
