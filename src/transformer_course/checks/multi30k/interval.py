"""Exercise: the interval that holds the middle of the scores."""

from collections.abc import Callable

import numpy as np

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases
from transformer_course.checks.multi30k.corpora import Array

Ends = tuple[float, float]


def reference(scores: Array, one_in: int = 40) -> Ends:
    """Return the lowest and the highest score that remain."""
    ordered = np.sort(scores)
    k = len(scores) // one_in
    return float(ordered[k]), float(ordered[len(scores) - 1 - k])


def _at(places: Callable[[int, int], tuple[int, int]]) -> Callable[..., Ends]:
    """Return the ends at other places of the sorted scores; places(n, k) says which."""

    def wrong(scores: Array, one_in: int = 40) -> Ends:
        ordered, n = np.sort(scores), len(scores)
        low, high = places(n, n // one_in)
        return float(ordered[low]), float(ordered[high])

    return wrong


def _unsorted(scores: Array, one_in: int = 40) -> Ends:
    k = len(scores) // one_in
    return float(scores[k]), float(scores[len(scores) - 1 - k])


def _around_the_mean(width: Callable[[Array], float]) -> Callable[..., Ends]:
    """Return ends that lie as far from the mean as `width` says."""

    def wrong(scores: Array, one_in: int = 40) -> Ends:
        return float(scores.mean() - width(scores)), float(scores.mean() + width(scores))

    return wrong


def _interpolated(scores: Array, one_in: int = 40) -> Ends:
    low, high = np.quantile(scores, [1 / one_in, 1 - 1 / one_in])
    return float(low), float(high)


def _with(count: Callable[[int, int], int]) -> Callable[..., Ends]:
    """Return the ends with another number left out at each end; count(n, one_in) says how many."""

    def wrong(scores: Array, one_in: int = 40) -> Ends:
        ordered, k = np.sort(scores), count(len(scores), one_in)
        return float(ordered[k]), float(ordered[len(scores) - 1 - k])

    return wrong


def _exchanged(scores: Array, one_in: int = 40) -> Ends:
    low, high = reference(scores, one_in)
    return high, low


def draw(rng: np.random.Generator) -> tuple[Array, int]:
    """Return a few scores in any order, and which part of them is left out at each end."""
    one_in = int(rng.integers(3, 7))
    n_draws = int(rng.integers(3, 6 * one_in))
    return np.round(rng.normal(60, 8, size=n_draws), 1), one_in


_EIGHT = np.array([31.0, 38.0, 35.0, 30.0, 42.0, 36.0, 33.0, 37.0])
_FOUR = np.array([34.0, 31.0, 35.0, 32.0])

interval = Exercise(
    name="interval",
    kind="implement",
    difficulty=2,
    minutes=10,
    statement=(
        "Find the interval that holds the middle of the scores. scores is (n_draws,), in any order. Leave out "
        "the k lowest and the k highest scores, where k is n_draws divided by one_in, rounded down. With one "
        "in 40 left out at each end, the middle 95 % remain. Return the lowest and the highest score that "
        "remain. one_in is at least 3."
    ),
    returns=("lowest", "highest"),
    reference=reference,
    cases=(
        Case("four scores, one in four left out at each end", (_FOUR, 4)),
        Case("eight scores, one in four left out at each end", (_EIGHT, 4)),
        Case("eight scores, one in three left out at each end", (_EIGHT, 3)),
        Case("seven scores, one in four left out at each end", (_EIGHT[:7], 4)),
        Case("three scores, one in three left out at each end", (_EIGHT[:3], 3)),
        Case("too few to leave one out", (_EIGHT[:5], 40)),
        Case("one score", (_EIGHT[:1], 40)),
        Case("equal scores", (np.array([32.0, 34.0, 30.0, 32.0, 35.0, 32.0]), 3)),
        Case("a hundred scores, one_in not given", (np.random.default_rng(4).normal(40, 2, 100),)),
        *random_cases(draw, 6),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "not sorted",
            _unsorted,
            "The scores come in any order. Is the first one the lowest?",
        ),
        Misconception(
            "everything left out at the lower end",
            _at(lambda n, k: (2 * k, n - 1)),
            "Your upper end is the highest score of all. How many should lie above it?",
        ),
        Misconception(
            "everything left out at the upper end",
            _at(lambda n, k: (0, n - 1 - 2 * k)),
            "Your lower end is the lowest score of all. How many should lie below it?",
        ),
        Misconception(
            "nothing left out",
            _at(lambda n, k: (0, n - 1)),
            "With more draws, the most extreme ones move further and further out. Where does one_in come in?",
        ),
        Misconception(
            "mean and two standard deviations",
            _around_the_mean(lambda scores: 2 * scores.std()),
            "That needs a bell curve. The task asks for two of the scores themselves.",
        ),
        Misconception(
            "mean and 1.96 standard deviations",
            _around_the_mean(lambda scores: 1.96 * scores.std()),
            "That would do for a bell curve. You have the scores themselves: which two of them do you take?",
        ),
        Misconception(
            "mean and two standard errors",
            _around_the_mean(lambda scores: 2 * scores.std() / len(scores) ** 0.5),
            "With four times as many draws, your interval gets half as wide. Did the test set grow?",
        ),
        Misconception(
            "mean and 1.96 standard errors",
            _around_the_mean(lambda scores: 1.96 * scores.std() / len(scores) ** 0.5),
            "That says how sure the mean of the draws is. The more draws, the narrower. Did the test set grow?",
        ),
        Misconception(
            "quantiles that lie between two scores",
            _interpolated,
            "Are your two numbers among the scores? Count how many scores lie outside of them.",
        ),
        Misconception(
            "the upper end one place too high",
            _at(lambda n, k: (k, n - k)),
            "How many scores lie above your upper end, and how many below your lower end?",
        ),
        Misconception(
            "counted from the end, one off",
            _at(lambda n, k: (k, -k)),
            "In Python, the last place is -1. How many scores lie above your upper end? And what if k is 0?",
        ),
        Misconception(
            "both ends one place too high",
            _at(lambda n, k: (k + 1, n - k)),
            "Write down five sorted scores with their places, and leave out none. Where are yours?",
        ),
        Misconception(
            "the first place counted as 1",
            _at(lambda n, k: (k + 1, n - 1 - k)),
            "How many scores lie below your lower end? Count the places from 0.",
        ),
        Misconception(
            "the scores that should be left out last",
            _at(lambda n, k: (k - 1, n - k)),
            "Your two ends should be scores that remain. Are they?",
        ),
        Misconception(
            "half as many left out at each end",
            _with(lambda n, one_in: n // (2 * one_in)),
            "One in one_in is left out at each end, not at both ends together. How many is that?",
        ),
        Misconception(
            "one_in taken for a number of scores",
            _with(lambda n, one_in: one_in),
            "With twice as many draws, twice as many are left out. Does your function do so?",
        ),
        Misconception(
            "always one in forty left out",
            _with(lambda n, one_in: n // 40),
            "Call your function with one_in=4, and with one_in=40. Does the result change?",
        ),
        Misconception(
            "k rounded up",
            _with(lambda n, one_in: -(-n // one_in)),
            "Seven scores, one in four: 7 / 4 is 1.75. How many does the task leave out?",
        ),
        Misconception(
            "at least one left out at each end",
            _with(lambda n, one_in: max(1, n // one_in)),
            "Five scores, one in forty. How many should be left out?",
        ),
        Misconception(
            "one too many left out at each end",
            _with(lambda n, one_in: n // one_in + 1),
            "Write down four sorted scores, and leave out one at each end. Where are the others?",
        ),
        Misconception(
            "nothing left out at the upper end",
            _at(lambda n, k: (k, n - 1)),
            "The lowest scores are gone. And the highest ones?",
        ),
        Misconception(
            "nothing left out at the lower end",
            _at(lambda n, k: (0, n - 1 - k)),
            "The highest scores are gone. And the lowest ones?",
        ),
        Misconception(
            "highest first",
            _exchanged,
            "The right two, in the wrong order. Which one comes first?",
        ),
    ),
)
