"""Exercise: the logarithm of softmax, for logits of any size."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases
from transformer_course.checks.loss.numbers import log_probs_of

Array = NDArray[Any]


def reference(logits: Array) -> Array:
    """Return log-probabilities along the last axis."""
    return log_probs_of(logits)


def _two_steps(logits: Array) -> Array:
    return np.log(np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True))


def _rounded_to_zero(logits: Array) -> Array:
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.log(powers / powers.sum(axis=-1, keepdims=True))


def _softened(small: float) -> Callable[[Array], Array]:
    """Return the logarithm of the probability plus a small number."""
    return lambda logits: np.log(np.exp(log_probs_of(logits)) + small)


def _axis_lost(logits: Array) -> Array:
    highest = logits.max(axis=-1, keepdims=True)
    total = np.exp(logits - highest).sum(axis=-1, keepdims=True)
    return logits - (highest + np.log(total))[..., 0]


def _no_shift(logits: Array) -> Array:
    return logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))


def _shift_forgotten_once(logits: Array) -> Array:
    highest = logits.max(axis=-1, keepdims=True)
    return logits - np.log(np.exp(logits - highest).sum(axis=-1, keepdims=True))


def _one_shift_for_all(logits: Array) -> Array:
    shifted = logits - logits.max()
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def _sum_over_all(logits: Array) -> Array:
    shifted = logits - logits.max()
    return shifted - np.log(np.exp(shifted).sum())


def _along(logits: Array, axis: int) -> Array:
    shifted = logits - logits.max(axis=axis, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True)))


def draw(rng: np.random.Generator) -> tuple[Array]:
    """Return logits of two or three axes, some rows far from others."""
    shape = tuple(int(n) for n in rng.integers(1, 6, size=rng.integers(1, 3)))
    whole = (*shape, int(rng.integers(2, 7)))
    logits = rng.normal(size=whole) * rng.choice([1.0, 3.0])
    kind = rng.integers(3)
    if kind == 1:
        logits += rng.choice([-1000.0, 0.0, 1000.0], size=(*shape, 1))
    if kind == 2:  # what is lost in double precision is lost in single precision too
        logits += rng.choice([-1000.0, 0.0], size=whole)
    return (logits,)


log_softmax = Exercise(
    name="log_softmax",
    kind="implement",
    difficulty=1,
    minutes=10,
    statement=(
        "Write the logarithm of softmax along the last axis. The logits may have any shape, and any size: 1000 "
        "and -1000 must work. (A ready-made log-softmax would pass the check, but writing it is the exercise.)"
    ),
    returns=("log_probs",),
    reference=reference,
    cases=(
        Case("two words", (np.array([0.0, 1.0]),)),
        Case("two positions, two words", (np.array([[0.0, 1.0], [2.0, 0.5]]),)),
        Case("two positions, three words", (np.array([[0.0, 1.0, -1.0], [2.0, 0.5, 3.0]]),)),
        Case("huge logits", (np.array([1000.0, 1000.5]),)),
        Case("logits far apart", (np.array([0.0, 1000.0]),)),
        Case("positions far apart", (np.array([[0.0, 1.0], [3000.0, 3001.0]]),)),
        Case("three axes", (np.linspace(-2, 2, 24).reshape(2, 3, 4) ** 3,)),
        *random_cases(draw, 6),
    ),
    draw=draw,
    tolerance=0.01,  # single precision has three digits left of logits of 1000
    misconceptions=(
        Misconception(
            "softmax first, then the logarithm, without a shift",
            _two_steps,
            "For 1000 the exponential is too large, for -1000 it is rounded to 0. Can the logarithm of the "
            "quotient be taken on paper first?",
        ),
        Misconception(
            "stable softmax, but then the logarithm of 0",
            _rounded_to_zero,
            "Your softmax is stable, but a small probability is rounded to 0. Can you go without ever making "
            "the probability?",
        ),
        Misconception(
            "1e-08 added inside the logarithm",
            _softened(1e-08),
            "Nothing becomes infinite, but no probability below 1e-08 can be told from 0 any more. What is "
            "the logarithm of a quotient?",
        ),
        Misconception(
            "1e-09 added inside the logarithm",
            _softened(1e-09),
            "Nothing becomes infinite, but no probability below 1e-09 can be told from 0 any more. What is "
            "the logarithm of a quotient?",
        ),
        Misconception(
            "1e-10 added inside the logarithm",
            _softened(1e-10),
            "Nothing becomes infinite, but no probability below 1e-10 can be told from 0 any more. What is "
            "the logarithm of a quotient?",
        ),
        Misconception(
            "1e-12 added inside the logarithm",
            _softened(1e-12),
            "Nothing becomes infinite, but no probability below 1e-12 can be told from 0 any more. What is "
            "the logarithm of a quotient?",
        ),
        Misconception(
            "the axis of the sum lost",
            _axis_lost,
            "A sum along an axis removes that axis, so the positions line up with the words. How can an axis "
            "of length 1 stay?",
        ),
        Misconception(
            "only the largest logit subtracted",
            lambda logits: logits - logits.max(axis=-1, keepdims=True),
            "That is the shift. What is still missing, so that the exponentials of your numbers sum to 1?",
        ),
        Misconception(
            "no shift before the exponential",
            _no_shift,
            "You never take the logarithm of a quotient, which is good. But which number can leave the sum, so "
            "that no exponential is too large?",
        ),
        Misconception(
            "the shift inside the sum only",
            _shift_forgotten_once,
            "What left the sum must come back: look at both places of the largest logit in the formula.",
        ),
        Misconception(
            "one shift for all positions",
            _one_shift_for_all,
            "In a row that lies far below the largest logit of all, every exponential is 0. Which shift suits "
            "each row?",
        ),
        Misconception(
            "one sum for all positions",
            _sum_over_all,
            "Each position has a distribution of its own. Along which axis are its words?",
        ),
        Misconception(
            "along the first axis",
            lambda logits: _along(logits, 0),
            "Your probabilities sum to 1 over the positions. Along which axis are the words?",
        ),
        Misconception(
            "along the second axis, whatever the shape",
            lambda logits: _along(logits, 1),
            "With two axes you are right. Logits may have one axis, or three: where are their words?",
        ),
        Misconception(
            "along the second axis, where there is one",
            lambda logits: _along(logits, min(1, logits.ndim - 1)),
            "With one or two axes you are right. With three, over what do your probabilities sum to 1?",
        ),
        Misconception(
            "the probabilities instead of their logarithms",
            lambda logits: np.exp(reference(logits)),
            "These are the probabilities, and they are right. Which step is left?",
        ),
        Misconception(
            "logarithms to base 2",
            lambda logits: reference(logits) / np.log(2),
            "The chapter counts in nats. Which base has the natural logarithm?",
        ),
        Misconception(
            "surprises instead of log-probabilities",
            lambda logits: -reference(logits),
            "A probability is at most 1. Which sign has its logarithm?",
        ),
    ),
)
