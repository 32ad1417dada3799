"""Exercise: look back at the source before one word is written."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases

Array = NDArray[Any]


def softmax(scores: Array) -> Array:
    """Return weights that sum to 1, from scores (n,)."""
    powers = np.exp(scores - scores.max())
    result: Array = powers / powers.sum()
    return result


def _scores(s: Array, h: Array, w: Array, u: Array, v: Array) -> Array:
    result: Array = np.tanh(w @ s + h @ u.T) @ v
    return result


def reference(s: Array, h: Array, w: Array, u: Array, v: Array) -> tuple[Array, Array]:
    """Return the context, (d_h,), and the weights, (src_len,)."""
    weights = softmax(_scores(s, h, w, u, v))
    return weights @ h, weights


def _no_tanh(s: Array, h: Array, w: Array, u: Array, v: Array) -> tuple[Array, Array]:
    weights = softmax((w @ s + h @ u.T) @ v)
    return weights @ h, weights


def _no_softmax(s: Array, h: Array, w: Array, u: Array, v: Array) -> tuple[Array, Array]:
    scores = _scores(s, h, w, u, v)
    return scores @ h, scores


def _not_divided(s: Array, h: Array, w: Array, u: Array, v: Array) -> tuple[Array, Array]:
    powers = np.exp(_scores(s, h, w, u, v))
    return powers @ h, powers


def _shares_of_scores(s: Array, h: Array, w: Array, u: Array, v: Array) -> tuple[Array, Array]:
    scores = _scores(s, h, w, u, v)
    total = scores.sum()
    weights = scores / (total if abs(total) > 1e-9 else 1.0)
    return weights @ h, weights


def _only_the_best(s: Array, h: Array, w: Array, u: Array, v: Array) -> tuple[Array, Array]:
    weights = np.zeros(len(h))
    weights[_scores(s, h, w, u, v).argmax()] = 1.0
    return weights @ h, weights


def _query_ignored(s: Array, h: Array, w: Array, u: Array, v: Array) -> tuple[Array, Array]:
    weights = softmax(np.tanh(h @ u.T) @ v)
    return weights @ h, weights


def _scaled(s: Array, h: Array, w: Array, u: Array, v: Array) -> tuple[Array, Array]:
    weights = softmax(_scores(s, h, w, u, v) / np.sqrt(len(v)))
    return weights @ h, weights


def _tanh_at_the_end(s: Array, h: Array, w: Array, u: Array, v: Array) -> tuple[Array, Array]:
    weights = softmax(np.tanh((w @ s + h @ u.T) @ v))
    return weights @ h, weights


def _average_of(what: Callable[..., Array]) -> Callable[..., tuple[Array, Array]]:
    """Return the look back with the average of something else than the encoder's states."""

    def wrong(s: Array, h: Array, w: Array, u: Array, v: Array) -> tuple[Array, Array]:
        weights = softmax(_scores(s, h, w, u, v))
        return weights @ what(s, h, w, u), weights

    return wrong


def draw(rng: np.random.Generator) -> tuple[Array, ...]:
    """Return a decoder's state, encoder states, and the three weights of the score."""
    d_s, d_h, hidden, n = (int(k) for k in rng.integers(2, 6, size=4))
    return (
        rng.normal(size=d_s),
        rng.normal(size=(n, d_h)),
        rng.normal(size=(hidden, d_s)),
        rng.normal(size=(hidden, d_h)),
        rng.normal(size=hidden) * 2,
    )


def _small(n: int) -> tuple[Array, ...]:
    h = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])[:n]
    u = np.array([[1.0, -1.0], [0.0, 2.0]])
    return np.array([0.5]), h, np.array([[1.0], [-1.0]]), u, np.array([2.0, 1.0])


def _large() -> tuple[Array, ...]:
    """Scores from 2 to 7, so many that softmax fails if it subtracts their product, not the largest."""
    h = np.column_stack(
        ([1.0, 2.0, 1.5, 2.0, 1.0, 3.0, 0.5, 1.0], [0.5, 1.0, 0.5, 0.5, 1.0, 1.0, 0.5, 0.0])
    )
    s, _, w, u, _ = _small(1)
    return s, h, w, u, np.array([4.0, 3.0])


look_back = Exercise(
    name="look_back",
    kind="implement",
    difficulty=2,
    minutes=20,
    statement=(
        "Write the look back of the page for one word. s is the decoder's state before the "
        "word, (d_s,), h holds "
        "the encoder's states, (src_len, d_h). The score of place j is v · tanh(w s + u h_j), with w of "
        "shape (hidden, d_s), u of shape (hidden, d_h) and v of shape (hidden,). Return the context, (d_h,), "
        "and the weights, (src_len,)."
    ),
    returns=("context", "weights"),
    reference=reference,
    cases=(
        Case("2 encoder states", _small(2)),
        Case("3 encoder states", _small(3)),
        Case("1 encoder state", _small(1)),
        Case("8 encoder states, large scores", _large()),
        *random_cases(draw, 6),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "tanh left out",
            _no_tanh,
            "Without a curve between the matrices, w s adds the same number to every score. What does "
            "softmax do with such a number?",
        ),
        Misconception(
            "scores taken as weights",
            _no_softmax,
            "Weights are positive and sum to 1. Are yours?",
        ),
        Misconception(
            "powers not divided by their sum",
            _not_divided,
            "All your weights are positive. What do they sum to?",
        ),
        Misconception(
            "each score divided by the sum of the scores",
            _shares_of_scores,
            "A score may be negative, and then so is its share. What makes every number positive first?",
        ),
        Misconception(
            "only the best place",
            _only_the_best,
            "That is a choice, not an average. Which places get a share?",
        ),
        Misconception(
            "the decoder's state changes nothing",
            _query_ignored,
            "Your weights are the same for every word that is written. Is the state used at all, and does it "
            "meet h_j *before* tanh, or only after it?",
        ),
        Misconception(
            "scores divided by a root",
            _scaled,
            (
                "Dividing by a root belongs to another score, that of chapter 01. Is it in the "
                "equation of this page?"
            ),
        ),
        Misconception(
            "the average of u h, not of h",
            _average_of(lambda s, h, w, u: h @ u.T),
            "The weights are right. What is averaged with them: what the score is made of, or what the "
            "encoder wrote?",
        ),
        Misconception(
            "the average of what tanh made",
            _average_of(lambda s, h, w, u: np.tanh(w @ s + h @ u.T)),
            "The weights are right. What is averaged with them: what tanh made for the scores, or what the "
            "encoder wrote?",
        ),
        Misconception(
            "tanh after v instead of before",
            _tanh_at_the_end,
            "Your scores all lie between -1 and 1. Where is tanh in the equation?",
        ),
    ),
)
