"""Exercise: the lengths that mask-predict tries side by side (Ghazvininejad et al. 2019)."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, random_cases
from transformer_course.checks.tables import with_tables

Array = NDArray[Any]
Two = tuple[Array, Array]
Candidates = Callable[[Array, int], Two]


def _log_softmax(logits: Array) -> Array:
    shifted = logits - logits.max(-1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(-1, keepdims=True)))


def _taken(
    scores: Callable[[Array], Array] = _log_softmax,
    *,
    least: int = 1,
    sign: int = -1,
    shift: int = 0,
    in_order: bool = False,
) -> Candidates:
    """Return a choice.

    Args:
        scores: logits → what is told of each length.
        least: the shortest length that may be chosen.
        sign: −1 for the most probable lengths, 1 for the least probable ones.
        shift: added to the lengths.
        in_order: whether the lengths are sorted.
    """

    def length_candidates(logits: Array, n: int) -> Two:
        lengths = least + np.argsort(sign * logits[:, least:], axis=-1)[:, :n]
        lengths = np.sort(lengths, -1) if in_order else lengths
        told = scores(logits)
        return lengths + shift, np.take_along_axis(
            told, lengths - (logits.shape[1] - told.shape[1]), -1
        )

    return length_candidates


def reference(logits: Array, n: int) -> Two:
    """Return the lengths, (batch, n), and their log-probabilities."""
    return _taken()(logits, n)


def _round_the_best(logits: Array, n: int) -> Two:
    best = 1 + logits[:, 1:].argmax(-1)
    lengths = np.clip(best[:, None] + np.arange(n) - n // 2, 1, logits.shape[1] - 1)
    return lengths, np.take_along_axis(_log_softmax(logits), lengths, -1)


def _best_dropped(logits: Array, n: int) -> Two:
    lengths = np.argsort(-logits, axis=-1)[:, 1 : n + 1]
    return lengths, np.take_along_axis(_log_softmax(logits), lengths, -1)


def _of_all_rows(logits: Array, n: int) -> Two:
    order = np.argsort(-logits[:, 1:].sum(0))[:n] + 1
    lengths = np.broadcast_to(order, (len(logits), n)).copy()
    return lengths, np.take_along_axis(_log_softmax(logits), lengths, -1)


def draw(rng: np.random.Generator) -> tuple[Array, int]:
    """Return logits without ties, and a number of lengths."""
    batch, max_len = (int(n) for n in rng.integers((2, 6), (4, 10)))
    logits = rng.normal(size=(batch, max_len)).round(2) + rng.uniform(0, 0.004, (batch, max_len))
    logits[rng.integers(batch), 0] = 3.0  # the length 0, which may not be chosen
    return logits, int(rng.integers(2, 5))


CASES = (
    Case("lengths 0 to 3, one candidate", (np.array([[0.0, 1.0, 3.0, 2.0]]), 1)),
    Case("two candidates", (np.array([[0.0, 1.0, 3.0, 2.0]]), 2)),
    Case("the length 0 scores best", (np.array([[4.0, 1.0, 0.0, 2.0]]), 2)),
    Case("the best two aren't neighbours", (np.array([[0.0, 3.0, 1.0, 2.5, 2.0]]), 3)),
    Case("two sentences", (np.array([[0.0, 2.0, 1.0], [1.0, 0.5, 1.5]]), 2)),
)
_mistake = with_tables(reference, CASES, ("lengths", "log_probs"))

length_candidates = Exercise(
    name="length_candidates",
    kind="implement",
    difficulty=1,
    minutes=10,
    statement=(
        "Mask-predict has to know how long a translation is before it writes a word, so it tries several "
        "lengths. logits, (batch, max_len), has a score for each length 0, 1, …, max_len − 1 of each "
        "sentence. Return two arrays, both (batch, n): the n most probable lengths, the best one first, as "
        "whole numbers; and their log-probabilities, in nats. A translation has at least one word, so 0 is "
        "never among them; but the log-probabilities are those of a softmax over all lengths, 0 included. n is "
        "at most max_len − 1, and no two scores are equal.\n\n"
        "An example: logits = [[0, 1, 3, 2]] and n = 2. The lengths are 2 and 3, their log-probabilities −0.44 "
        "and −1.44."
    ),
    returns=("lengths", "log_probs"),
    reference=reference,
    cases=(*CASES, *random_cases(draw, 6, "more lengths")),
    draw=draw,
    misconceptions=(
        _mistake(
            "the length 0 may be chosen",
            _taken(least=0),
            "Which translation has no words? What is it that scores best in this case?",
        ),
        _mistake(
            "the best length dropped, whichever it is",
            _best_dropped,
            "You take one length more, and drop the most probable one. Is that always the length 0?",
        ),
        _mistake(
            "lengths one too small",
            _taken(shift=-1),
            "You cut off the length 0. Which length is then the first one?",
        ),
        _mistake(
            "lengths one too large",
            _taken(shift=1),
            "Which length does the first score belong to?",
        ),
        _mistake(
            "the least probable lengths",
            _taken(sign=1),
            "In which order does your sort put the numbers?",
        ),
        _mistake(
            "the shortest length first",
            _taken(in_order=True),
            "These are the right lengths. Which one comes first?",
        ),
        _mistake(
            "scores in the place of log-probabilities",
            _taken(lambda logits: logits),
            "The lengths are right. Is a score a logarithm of a probability?",
        ),
        _mistake(
            "probabilities in the place of their logarithms",
            _taken(lambda logits: np.exp(_log_softmax(logits))),
            "The lengths are right, and the other numbers are probabilities. What is asked for?",
        ),
        _mistake(
            "a softmax without the length 0",
            _taken(lambda logits: _log_softmax(logits[:, 1:])),
            "The lengths are right. Over which lengths is the softmax?",
        ),
        _mistake(
            "a softmax over the sentences",
            _taken(lambda logits: _log_softmax(logits.T).T),
            "The lengths are right. Which scores compete with each other: those of one sentence, or those of "
            "one length?",
        ),
        _mistake(
            "the neighbours of the best length",
            _round_the_best,
            "Models with one guess and its neighbours are built like this. Here the scores decide each one.",
        ),
        _mistake(
            "the same lengths for all sentences",
            _of_all_rows,
            "Your sentences share their lengths. Does each one have scores of its own?",
        ),
    ),
)
