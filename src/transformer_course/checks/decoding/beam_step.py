"""Exercise: one step of beam search."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases

Array = NDArray[Any]
Step = tuple[Array, Array, Array]


def _best(grid: Array, count: int) -> Step:
    """Return rows, columns and values of the largest numbers of a grid, best first."""
    order = (-grid).ravel().argsort(kind="stable")[:count]
    rows, columns = np.divmod(order, grid.shape[1])
    return rows, columns, grid[rows, columns]


def reference(scores: Array, log_probs: Array) -> Step:
    """Return parents, tokens and new scores."""
    return _best(scores[:, None] + log_probs, len(scores))


def _one_each(scores: Array, log_probs: Array) -> Step:
    total = scores[:, None] + log_probs
    tokens = total.argmax(axis=1)
    values = total[np.arange(len(scores)), tokens]
    order = (-values).argsort(kind="stable")
    return order, tokens[order], values[order]


def _one_each_unsorted(scores: Array, log_probs: Array) -> Step:
    total = scores[:, None] + log_probs
    tokens = total.argmax(axis=1)
    parents = np.arange(len(scores))
    return parents, tokens, total[parents, tokens]


def _only_the_best_parent(scores: Array, log_probs: Array) -> Step:
    total = scores[:, None] + log_probs
    parent = int(scores.argmax())
    tokens = (-total[parent]).argsort(kind="stable")[: len(scores)]
    return np.full(len(tokens), parent), tokens, total[parent, tokens]


def _past_forgotten(scores: Array, log_probs: Array) -> Step:
    return _best(log_probs, len(scores))


def _past_forgotten_in_the_choice(scores: Array, log_probs: Array) -> Step:
    parents, tokens, values = _best(log_probs, len(scores))
    return parents, tokens, scores[parents] + values


def _multiplied(scores: Array, log_probs: Array) -> Step:
    return _best(scores[:, None] * log_probs, len(scores))


def _probabilities_added(scores: Array, log_probs: Array) -> Step:
    return _best(np.exp(scores)[:, None] + np.exp(log_probs), len(scores))


def _least(scores: Array, log_probs: Array) -> Step:
    rows, columns, values = _best(-(scores[:, None] + log_probs), len(scores))
    return rows, columns, -values


def _exchanged(scores: Array, log_probs: Array) -> Step:
    parents, tokens, values = reference(scores, log_probs)
    return tokens, parents, values


def _worst_first(scores: Array, log_probs: Array) -> Step:
    parents, tokens, values = reference(scores, log_probs)
    return parents[::-1], tokens[::-1], values[::-1]


def _as_probabilities(scores: Array, log_probs: Array) -> Step:
    parents, tokens, values = reference(scores, log_probs)
    return parents, tokens, np.exp(values)


def _wrong_divisor(scores: Array, log_probs: Array) -> Step:
    total = scores[:, None] + log_probs
    order = (-total).ravel().argsort(kind="stable")[: len(scores)]
    parents, tokens = np.divmod(order, len(scores))
    return parents, tokens, total.ravel()[order]


def draw(rng: np.random.Generator) -> tuple[Array, Array]:
    """Return the sums of the open beginnings, best first, and log-probabilities of their next tokens."""
    beam, n_words = int(rng.integers(2, 5)), int(rng.integers(5, 9))
    log_probs = np.log(rng.dirichlet(np.full(n_words, 0.5), size=beam) + 1e-6)
    return -np.sort(rng.uniform(0.2, 4.0, size=beam)), log_probs


_BY_HAND = np.log(np.array([[0.55, 0.35, 0.1], [0.9, 0.06, 0.04]]))
Wrong = Callable[[Array, Array], Step]

beam_step = Exercise(
    name="beam_step",
    kind="implement",
    difficulty=2,
    minutes=20,
    statement=(
        "Write one step of beam search. scores (beam,) holds the summed log-probability of each open "
        "beginning, log_probs (beam, vocab_size) those of every next token after each of them. Of all beam "
        "times vocab_size continuations choose the beam best. Return three arrays, each (beam,), best first: "
        "which beginning each one continues (parents), with which token (tokens), and the new sum (scores)."
    ),
    returns=("parents", "tokens", "scores"),
    reference=reference,
    cases=(
        Case("two beginnings, three tokens", (np.log(np.array([0.5, 0.4])), _BY_HAND)),
        Case(
            "both continue the same beginning",
            (np.log(np.array([0.6, 0.1])), np.log(np.array([[0.5, 0.4, 0.1], [0.4, 0.35, 0.25]]))),
        ),
        Case(
            "the second beginning is the better one",
            (np.log(np.array([0.1, 0.6])), np.log(np.array([[0.8, 0.12, 0.08], [0.2, 0.5, 0.3]]))),
        ),
        Case("a beam of one", (np.array([-1.0]), np.log(np.array([[0.2, 0.7, 0.1]])))),
        Case(
            "a sure token after a bad beginning",
            (
                np.array([-0.5, -6.0]),
                np.log(np.array([[0.3, 0.4, 0.2, 0.1], [0.005, 0.97, 0.015, 0.01]])),
            ),
        ),
        *random_cases(draw, 7),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "the best token of each beginning",
            _one_each,
            "All continuations compete with one another. Can one beginning go on twice, and another one die?",
        ),
        Misconception(
            "the best token of each beginning, in their old order",
            _one_each_unsorted,
            "The old order is gone after a step: what are the new ones sorted by? And who competes with whom?",
        ),
        Misconception(
            "only the best beginning goes on",
            _only_the_best_parent,
            "The second beginning was kept because it may overtake the first. Does it get a chance?",
        ),
        Misconception(
            "the past forgotten",
            _past_forgotten,
            "A sure token after a bad beginning is still a bad sentence. What belongs to the new sum?",
        ),
        Misconception(
            "the past forgotten when choosing",
            _past_forgotten_in_the_choice,
            "Your sums are right, but you chose by something else. What should be compared?",
        ),
        Misconception(
            "logarithms multiplied",
            _multiplied,
            "Probabilities multiply. What do their logarithms do?",
        ),
        Misconception(
            "probabilities added",
            _probabilities_added,
            "Probabilities of one sentence multiply; their logarithms add.",
        ),
        Misconception(
            "the smallest sums",
            _least,
            "Log-probabilities are negative. Is the best one the smallest, or the one closest to 0?",
        ),
        Misconception(
            "parents and tokens exchanged",
            _exchanged,
            "Rows are beginnings, columns are tokens. Which of the two comes first in the answer?",
        ),
        Misconception(
            "worst first",
            _worst_first,
            "The right ones, in the wrong order. Which one comes first?",
        ),
        Misconception(
            "probabilities instead of their logarithms",
            _as_probabilities,
            "The next step will add logarithms to your scores. So what must they be?",
        ),
        Misconception(
            "the flat index divided by the beam",
            _wrong_divisor,
            "In the flattened grid, how many places does each beginning have?",
        ),
    ),
)
