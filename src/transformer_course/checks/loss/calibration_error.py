"""Exercise: measure how well a model knows how sure it may be."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases

Array = NDArray[Any]


def _bins(sure: Array, n_bins: int) -> Array:
    """Return the bin of each prediction: above its lower edge, up to its upper edge."""
    return np.clip(np.ceil(sure * n_bins).astype(int) - 1, 0, n_bins - 1)


def _rows(sure: Array, is_right: Array, n_bins: int) -> Array:
    """Return for each bin that isn't empty: its share of all, and confidence minus share that is right."""
    place = _bins(sure, n_bins)
    inside = [place == i for i in range(n_bins) if (place == i).any()]
    return np.array([(m.mean(), sure[m].mean() - is_right[m].mean()) for m in inside])


def reference(sure: Array, is_right: Array, n_bins: int) -> float:
    """Return the expected calibration error."""
    rows = _rows(sure, is_right, n_bins)
    return float((rows[:, 0] * abs(rows[:, 1])).sum())


def _from(of_rows: Callable[[Array], Any]) -> Callable[..., float]:
    """Return a number made of the bins' shares and gaps in another way."""
    return lambda sure, is_right, n_bins: float(of_rows(_rows(sure, is_right, n_bins)))


def _lower_edge(one_kept: bool) -> Callable[..., float]:
    """Return the error when a bin holds its lower edge; a probability of 1 is kept in the last bin, or lost."""

    def wrong(sure: Array, is_right: Array, n_bins: int) -> float:
        place = np.floor(sure * n_bins + 1e-9).astype(int)
        place = np.minimum(place, n_bins - 1) if one_kept else place
        inside = [place == i for i in range(n_bins) if (place == i).any()]
        return float(sum(m.mean() * abs(sure[m].mean() - is_right[m].mean()) for m in inside))

    return wrong


def _empty_bins_counted(sure: Array, is_right: Array, n_bins: int) -> float:
    return float(abs(_rows(sure, is_right, n_bins)[:, 1]).sum() / n_bins)


def _middle_of_the_bin(sure: Array, is_right: Array, n_bins: int) -> float:
    return reference((_bins(sure, n_bins) + 0.5) / n_bins, is_right, n_bins)


def draw(rng: np.random.Generator) -> tuple[Array, Array, int]:
    """Return how sure a model was, whether it was right (1.0 or 0.0), and the number of bins."""
    sure = rng.uniform(0.02, 0.98, size=int(rng.integers(8, 40)))
    is_right = (rng.random(len(sure)) < sure ** rng.choice([0.5, 2.0])).astype(float)
    if rng.random() < 0.3:  # on the edges of four bins, exactly
        return np.ceil(8 * sure) / 8, is_right, 4
    return sure, is_right, int(rng.integers(3, 8))


calibration_error = Exercise(
    name="calibration_error",
    kind="experiment",
    difficulty=2,
    minutes=20,
    statement=(
        "Write the expected calibration error. sure holds the highest probability of each of n predictions, "
        "is_right 1.0 where the prediction was right and 0.0 where not. Cut the range from 0 to 1 into n_bins "
        "bins of equal width; a bin holds what is above its lower edge, up to its upper edge. For each bin "
        "take |mean of sure - mean of is_right|, and average over the bins, each weighted by its number of "
        "predictions. Empty bins don't count."
    ),
    returns=("error",),
    reference=reference,
    cases=(
        Case("three predictions, two bins", (np.array([0.8, 0.9, 0.3]), np.array([1.0, 0, 0]), 2)),
        Case("one empty bin", (np.array([0.8, 0.9, 0.1]), np.array([1.0, 0.0, 1.0]), 3)),
        Case(
            "too sure in one bin, too unsure in the other",
            (np.array([0.9, 0.9, 0.4, 0.4]), np.array([1.0, 0.0, 1.0, 0.0]), 2),
        ),
        Case("on the edge of a bin", (np.array([0.5, 0.6, 1.0]), np.array([1.0, 1.0, 0.0]), 2)),
        *random_cases(draw, 5),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "one bin for everything",
            lambda sure, is_right, n_bins: float(abs(sure.mean() - is_right.mean())),
            "Too sure here and too unsure there must not cancel. What are the bins for?",
        ),
        Misconception(
            "all bins with the same weight",
            _from(lambda rows: abs(rows[:, 1]).mean()),
            "A bin with one prediction counts as much as one with a thousand. How should they be weighted?",
        ),
        Misconception(
            "all bins with the same weight, the empty ones too",
            _empty_bins_counted,
            "Each bin should count by its number of predictions. How much does an empty one count then?",
        ),
        Misconception(
            "the largest gap",
            _from(lambda rows: abs(rows[:, 1]).max()),
            "That is the worst bin. The task asks for a weighted mean.",
        ),
        Misconception(
            "squared gaps",
            _from(lambda rows: (rows[:, 0] * rows[:, 1] ** 2).sum()),
            "The task asks for magnitudes, not for squares.",
        ),
        Misconception(
            "gaps not weighted at all",
            _from(lambda rows: abs(rows[:, 1]).sum()),
            "With more bins your number grows. It should be a mean.",
        ),
        Misconception(
            "the middle of the bin in the place of its mean",
            _middle_of_the_bin,
            "A bin's predictions may all lie near one edge. How sure were they on average?",
        ),
        Misconception(
            "a bin holds its lower edge",
            _lower_edge(True),
            "A prediction that lies on an edge belongs to one of two bins. To which one, in the task?",
        ),
        Misconception(
            "a bin holds its lower edge, and 1 is in no bin",
            _lower_edge(False),
            "A model that is 100 % sure falls through your bins. Which edge belongs to a bin, in the task?",
        ),
        Misconception(
            "one prediction at a time",
            lambda sure, is_right, n_bins: float(abs(sure - is_right).mean()),
            "A guess of 70 % is never exactly right in one case, only in many. First average in each bin.",
        ),
    ),
)
