"""Exercise: softmax along any axis, for scores of any size."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases

Array = NDArray[Any]
Shift = Callable[[Array, int], Any]


def reference(scores: Array, axis: int) -> Array:
    """Return the weights, which sum to 1 along `axis`."""
    powers = np.exp(scores - scores.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def _global_maximum(scores: Array, axis: int) -> Array:
    powers = np.exp(scores - scores.max())
    return powers / powers.sum(axis, keepdims=True)


def _cut_off(scores: Array, axis: int) -> Array:
    powers = np.exp(np.clip(scores, -100, 100))
    result: Array = powers / powers.sum(axis, keepdims=True)
    return result


def _axis_lost(shift: Shift, *, kept: bool = False) -> Callable[[Array, int], Array]:
    """Return softmax with another shift; the sum loses its axis unless it is `kept`."""

    def wrong(scores: Array, axis: int) -> Array:
        powers = np.exp(scores - shift(scores, axis))
        return powers / powers.sum(axis, keepdims=kept)

    return wrong


def _divided(divisor: Shift) -> Callable[[Array, int], Array]:
    """Return softmax with scores divided by something, in place of a shift."""

    def wrong(scores: Array, axis: int) -> Array:
        powers = np.exp(scores / divisor(scores, axis))
        return powers / powers.sum(axis, keepdims=True)

    return wrong


def _one_hot(scores: Array, axis: int) -> Array:
    largest = scores == scores.max(axis, keepdims=True)
    return largest / largest.sum(axis, keepdims=True)


def draw(rng: np.random.Generator) -> tuple[Array, int]:
    """Return scores with one to three axes, sometimes huge, and an axis."""
    shape = tuple(int(n) for n in rng.integers(1, 6, size=rng.integers(1, 4)))
    size = rng.choice([1.0, 1.0, 3.0, 30000.0])
    return rng.normal(size=shape) * size + rng.normal(), int(rng.integers(-len(shape), len(shape)))


softmax = Exercise(
    name="softmax",
    kind="implement",
    difficulty=2,
    minutes=15,
    statement=(
        "Write softmax. The scores may have any shape; the weights have the same shape, and sum "
        "to 1 along the given axis. Scores such as 1000 must work as well. (A ready-made softmax "
        "would pass the check, but writing it is the exercise.)"
    ),
    returns=("weights",),
    reference=reference,
    cases=(
        Case("two scores", (np.array([0.0, 1.0]), -1)),
        Case("one score", (np.array([-2.0]), 0)),
        Case("two rows, weights along a row", (np.array([[0.0, 1.0], [2.0, 0.5]]), 1)),
        Case("two rows, weights along a column", (np.array([[0.0, 1.0], [2.0, 0.5]]), 0)),
        Case("two rows of three", (np.array([[0.0, 1.0, -1.0], [2.0, 0.5, 3.0]]), -1)),
        Case("two rows of three, along a column", (np.array([[0, 1.0, -1], [2, 0.5, 3]]), -2)),
        *random_cases(draw, 6),
        Case("whole numbers", (np.array([0, 1, 3]), 0), floats=True),
        Case("huge scores", (np.array([1000.0, 1000.5, 999.0]), 0)),
        Case("hugely negative scores", (np.array([-1000.0, -1000.5, -999.0]), 0)),
        Case("two scores far apart", (np.array([-500.0, 500.0]), -1)),
        Case("rows far apart", (np.array([[-1000.0, -1000.5], [1000.0, 1000.5]]), -1)),
        Case("three axes, the middle one", (np.linspace(-2, 2, 24).reshape(2, 3, 4) ** 3, 1)),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "no shift before the exponential",
            lambda scores, axis: np.exp(scores) / np.exp(scores).sum(axis, keepdims=True),
            "The exponential of 1000 is too large for a float. Adding one number to all scores "
            "changes no weight: which number keeps the exponentials small?",
        ),
        Misconception(
            "large scores cut off",
            _cut_off,
            "Two scores above your limit get the same weight, however far apart they are. Which "
            "number can be subtracted from all scores of a row and change no weight?",
        ),
        Misconception(
            "scores divided by the largest",
            _divided(lambda scores, axis: scores.max(axis, keepdims=True)),
            "Weights depend on how far apart the scores are. What does your division do to a distance?",
        ),
        Misconception(
            "scores divided by the largest of all",
            _divided(lambda scores, axis: scores.max()),
            "A division by the largest score brings the others nearer to it, or farther away. What can be done "
            "to all scores that keeps their distances?",
        ),
        Misconception(
            "scores divided by the largest magnitude",
            _divided(lambda scores, axis: np.abs(scores).max(axis, keepdims=True)),
            "Divided, your scores lie between -1 and 1, whatever they were. What keeps their distances?",
        ),
        Misconception(
            "one shift for the whole array",
            _global_maximum,
            "A row far below the largest score of all becomes 0/0. Each row can have a shift of "
            "its own.",
        ),
        Misconception(
            "the axis ignored",
            lambda scores, axis: reference(scores, -1),
            "Your weights sum to 1 along the last axis, whatever axis is asked for. Where do you "
            "use `axis`?",
        ),
        Misconception(
            "the first axis instead of the one asked for",
            lambda scores, axis: reference(scores, 0),
            "Your weights sum to 1 along the first axis, whatever axis is asked for. Where do you "
            "use `axis`?",
        ),
        Misconception(
            "the sum over all scores",
            lambda scores, axis: (
                np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()
            ),
            "Now all weights together sum to 1. Each row, or column, should do so on its own.",
        ),
        Misconception(
            "the axis of the sum lost",
            _axis_lost(lambda scores, axis: scores.max(axis, keepdims=True)),
            "A sum along an axis removes that axis, so NumPy lines up the division with the wrong "
            "one. How can the sum keep an axis of length 1?",
        ),
        Misconception(
            "the axis of the maximum lost",
            _axis_lost(lambda scores, axis: scores.max(axis), kept=True),
            "A maximum along an axis removes that axis, so NumPy lines up the subtraction with the "
            "wrong one. How can it keep an axis of length 1?",
        ),
        Misconception(
            "the axis lost in the maximum and in the sum",
            _axis_lost(lambda scores, axis: scores.max(axis)),
            "Two rows have two largest scores and two sums: shape (2,). To line up with rows, they "
            "must have shape (2, 1). How can an axis of length 1 stay?",
        ),
        Misconception(
            "one shift for the whole array, and the axis of the sum lost",
            _axis_lost(lambda scores, axis: scores.max()),
            "Begin with the sum: along an axis it removes that axis, and NumPy divides by the "
            "wrong numbers. Then ask which largest score each row should subtract.",
        ),
        Misconception(
            "no shift before the exponential, and the axis of the sum lost",
            _axis_lost(lambda scores, axis: 0.0),
            "Begin with the sum: along an axis it removes that axis, and NumPy divides by the "
            "wrong numbers. Then try scores of 1000.",
        ),
        Misconception(
            "divided by the sum, without the exponential",
            lambda scores, axis: scores / scores.sum(axis, keepdims=True),
            "A score may be negative or 0, a weight may not. What makes every score positive "
            "first?",
        ),
        Misconception(
            "each score on its own (the logistic function)",
            lambda scores, axis: 1 / (1 + np.exp(-scores)),
            "Your weights don't depend on each other. If one score grows, what must happen to the "
            "other weights?",
        ),
        Misconception(
            "only the largest score counts",
            _one_hot,
            "The largest score should get the largest weight, but the others get a share as well. "
            "How large is it?",
        ),
        Misconception(
            "exponentials not divided by their sum",
            lambda scores, axis: np.exp(scores - scores.max(axis, keepdims=True)),
            "The weights are positive now. What makes them sum to 1?",
        ),
        Misconception(
            "a shift that isn't the largest score",
            lambda scores, axis: (
                np.exp(scores - scores.min(axis, keepdims=True))
                / np.exp(scores - scores.min(axis, keepdims=True)).sum(axis, keepdims=True)
            ),
            "Any shift gives the same weights on paper. After yours, how large can the exponentials of a "
            "row still become?",
        ),
        Misconception(
            "logistic functions, divided by their sum",
            lambda scores, axis: (
                1 / (1 + np.exp(-scores)) / (1 / (1 + np.exp(-scores))).sum(axis, keepdims=True)
            ),
            "Your weights sum to 1, but two large scores get nearly the same. By which factor does a weight "
            "grow when its score grows by 1?",
        ),
        Misconception(
            "the logarithm of the weights",
            lambda scores, axis: np.log(reference(scores, axis)),
            "Weights lie between 0 and 1. Yours are their logarithms: is there one step too many?",
        ),
        Misconception(
            "the sign turned round",
            lambda scores, axis: reference(-scores, axis),
            "The largest score should get the largest weight. Yours gets the smallest. Look for a "
            "minus sign.",
        ),
    ),
)
