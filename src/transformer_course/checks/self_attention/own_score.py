"""Exercise: how often does a word fit itself best? Measured."""

from collections.abc import Callable
from typing import Any

import numpy as np

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases
from transformer_course.checks.self_attention.numbers import Array, matrices

Two = tuple[float, float]


def _share(scores: Array) -> float:
    return float((scores.argmax(-1) == np.arange(len(scores))).mean())


def _measured(
    share: Callable[[Array], float] = _share,
    first: Callable[[Array, Array, Array], Array] = lambda x, q, k: (x @ q) @ (x @ k).T,
    second: Callable[[Array, Array, Array], Array] = lambda x, q, k: (x @ q) @ (x @ q).T,
) -> Any:
    """Return the measurement, with other scores or another count."""

    def own_score(x: Array, w_query: Array, w_key: Array) -> Two:
        return share(first(x, w_query, w_key)), share(second(x, w_query, w_key))

    return own_score


def reference(x: Array, w_query: Array, w_key: Array) -> Two:
    """Return the share of words that fit themselves best: with two matrices, and with one for both."""
    result: Two = _measured()(x, w_query, w_key)
    return result


def draw(rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Return a sentence and the matrices of queries and keys."""
    n, d_model, d_k = (int(size) for size in rng.integers(3, 9, size=3))
    w_query, w_key, _ = matrices(rng, d_model, d_k, 1)
    return rng.normal(size=(n, d_model)), w_query, w_key


def _words(*rows: list[float]) -> Array:
    return np.array(rows, dtype=float)


own_score = Exercise(
    name="own_score",
    kind="experiment",
    difficulty=3,
    minutes=25,
    statement=(
        "Does a word always fit itself best? Write the measurement. Given x (n, d_model), w_query "
        "and w_key (d_model, d_k), return two numbers from 0 to 1: the share of words whose own "
        "score is the highest of their row; the same share if the matrix w_query makes the keys "
        "too. There are no ties."
    ),
    returns=("share", "shared_share"),
    reference=reference,
    cases=(
        Case(
            "two words, who look at each other",
            (np.eye(2), np.eye(2), _words([0, 1], [1, 0])),
        ),
        Case(
            "three words, one of them long",
            (_words([1, 0], [0.8, 0.7], [5, 1]), np.eye(2), _words([1, 0], [0, -1])),
        ),
        *random_cases(draw, 8, "a random sentence"),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "counted down the columns",
            _measured(share=lambda s: float((s.argmax(0) == np.arange(len(s))).mean())),
            "The scores of one word that asks are in a row. You look for the highest of a column.",
        ),
        Misconception(
            "the lowest instead of the highest",
            _measured(share=lambda s: float((s.argmin(-1) == np.arange(len(s))).mean())),
            "You count words that fit themselves worst.",
        ),
        Misconception(
            "words counted, no share",
            _measured(share=lambda s: _share(s) * len(s)),
            "That is how many words it is true of. A share is a number from 0 to 1.",
        ),
        Misconception(
            "the opposite share",
            _measured(share=lambda s: 1 - _share(s)),
            "You count the words that fit another word better.",
        ),
        Misconception(
            "the first word asked only",
            _measured(share=lambda s: float(s[0].argmax() == 0)),
            "You look at one row. The share is over all words.",
        ),
        Misconception(
            "one matrix in both",
            _measured(first=lambda x, q, k: (x @ q) @ (x @ q).T),
            "Your two numbers are the same. In the first one, the keys have their own matrix.",
        ),
        Misconception(
            "two matrices in both",
            _measured(second=lambda x, q, k: (x @ q) @ (x @ k).T),
            "Your two numbers are the same. In the second one, the queries' matrix makes the keys.",
        ),
        Misconception(
            "the keys' matrix for both",
            _measured(second=lambda x, q, k: (x @ k) @ (x @ k).T),
            "The second number is for one matrix too, but for the other one of the two.",
        ),
        Misconception(
            "without any projection",
            _measured(first=lambda x, q, k: x @ x.T, second=lambda x, q, k: x @ x.T),
            "You compare the words as they are. Scores are made from queries and keys.",
        ),
        Misconception(
            "above the mean of the row, not the highest",
            _measured(share=lambda s: float((np.diag(s) > s.mean(-1)).mean())),
            "A score can be above the mean of its row, and another one higher still.",
        ),
        Misconception(
            "the mean weight on itself",
            _measured(share=lambda s: _mean_own_weight(s)),
            "That is how much a word looks at itself, on average. Asked is how often its own score "
            "is the highest.",
        ),
        Misconception(
            "results in the wrong order",
            lambda x, w_query, w_key: reference(x, w_query, w_key)[::-1],
            "Both results are right. Read again which of them is to come first.",
        ),
    ),
)


def _mean_own_weight(scores: Array) -> float:
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return float(np.diag(powers / powers.sum(-1, keepdims=True)).mean())
