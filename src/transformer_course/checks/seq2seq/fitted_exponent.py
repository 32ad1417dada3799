"""Exercise: with which power of the length does a cost grow?"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases

Array = NDArray[Any]


def _slope(x: Array, y: Array) -> float:
    return float(((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum())


def reference(lengths: Array, costs: Array) -> float:
    """Return the slope of the line through the logarithms."""
    return _slope(np.log(lengths), np.log(costs))


def _without_logarithms(lengths: Array, costs: Array) -> float:
    return _slope(lengths, costs)


def _only_costs(lengths: Array, costs: Array) -> float:
    return _slope(lengths, np.log(costs))


def _only_lengths(lengths: Array, costs: Array) -> float:
    return _slope(np.log(lengths), costs)


def _exchanged(lengths: Array, costs: Array) -> float:
    return 1 / reference(lengths, costs)


def _two_ends(lengths: Array, costs: Array) -> float:
    return float(np.log(costs[-1] / costs[0]) / np.log(lengths[-1] / lengths[0]))


def _intercept(lengths: Array, costs: Array) -> float:
    x, y = np.log(lengths), np.log(costs)
    return float(y.mean() - _slope(x, y) * x.mean())


def _through_zero(lengths: Array, costs: Array) -> float:
    x, y = np.log(lengths), np.log(costs)
    return float((x * y).sum() / (x**2).sum())


def _mean_of_steps(lengths: Array, costs: Array) -> float:
    return float((np.diff(np.log(costs)) / np.diff(np.log(lengths))).mean())


def draw(rng: np.random.Generator) -> tuple[Array, Array]:
    """Return lengths, and costs that grow with a power of them, with some noise."""
    lengths = 8.0 * np.cumprod(rng.integers(2, 4, size=int(rng.integers(4, 7))))
    costs = 3.0 * lengths ** rng.uniform(0.5, 2.5) * np.exp(rng.normal(size=len(lengths)) / 4)
    return lengths, costs


LENGTHS = np.array([32.0, 64.0, 128.0, 512.0])

fitted_exponent = Exercise(
    name="fitted_exponent",
    kind="experiment",
    difficulty=2,
    minutes=20,
    statement=(
        "A cost that grows like n^p is a straight line of slope p on two logarithmic axes. Given lengths and "
        "costs, both (m,) and positive, return the slope of the line that fits the logarithms best: the mean "
        "squared distance between the line and the log costs is smallest."
    ),
    returns=("exponent",),
    reference=reference,
    cases=(
        Case("costs that grow like n", (LENGTHS, 5 * LENGTHS)),
        Case("costs that grow like n squared", (LENGTHS, 2 * LENGTHS**2)),
        Case("with noise", (LENGTHS, np.array([100.0, 150.0, 800.0, 2000.0]))),
        Case("4 n d² + 2 n² d, for d = 64", (LENGTHS, 4 * LENGTHS * 64**2 + 2 * LENGTHS**2 * 64)),
        *random_cases(draw, 5),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "no logarithms",
            _without_logarithms,
            "That is the slope on plain axes: cost for each further word. Which axes has the picture?",
        ),
        Misconception(
            "the logarithm of the costs only",
            _only_costs,
            "The upright axis of your picture is logarithmic. What about the other one?",
        ),
        Misconception(
            "the logarithm of the lengths only",
            _only_lengths,
            "The level axis of your picture is logarithmic. What about the other one?",
        ),
        Misconception(
            "one divided by the exponent",
            _exchanged,
            "Which of the two grows because of the other, and so belongs on the upright axis?",
        ),
        Misconception(
            "the two ends only",
            _two_ends,
            "Your line goes through the first and the last point. What about those between?",
        ),
        Misconception(
            "where the line begins, not how steep it is",
            _intercept,
            "A line has two numbers. Which one is the power?",
        ),
        Misconception(
            "a line through the origin",
            _through_zero,
            "A cost of 5 n has the power 1, whatever the 5 is. Must your line go through zero?",
        ),
        Misconception(
            "the mean of the slopes from point to point",
            _mean_of_steps,
            "Every step counts the same in your mean, a short one as much as a long one. Which "
            "line is nearest to "
            "all points together?",
        ),
    ),
)
