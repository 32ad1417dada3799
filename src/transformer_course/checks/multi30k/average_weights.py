"""Exercise: the mean of several checkpoints."""

from collections.abc import Callable
from typing import Any

import numpy as np

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases
from transformer_course.checks.multi30k.corpora import Array

Weights = dict[str, Array]


def _each(combine: Callable[[Array], Any]) -> Callable[[list[Weights]], dict[str, Any]]:
    """Return a function that combines the arrays of each name, stacked along a new first axis."""
    return lambda checkpoints: {
        name: combine(np.stack([weights[name] for weights in checkpoints]))
        for name in checkpoints[0]
    }


def reference(checkpoints: list[Weights]) -> Weights:
    """Return the mean of each array."""
    return _each(lambda stacked: stacked.mean(axis=0))(checkpoints)


def _running(stacked: Array) -> Array:
    mean = stacked[0]
    for array in stacked[1:]:
        mean = (mean + array) / 2
    return mean


def _by_the_number_of_names(checkpoints: list[Weights]) -> Weights:
    return {
        name: array * len(checkpoints) / len(checkpoints[0])
        for name, array in reference(checkpoints).items()
    }


def _by_place(checkpoints: list[Weights]) -> Weights:
    rows = zip(*(weights.values() for weights in checkpoints), strict=True)
    return {name: np.mean(row, axis=0) for name, row in zip(checkpoints[0], rows, strict=True)}


def draw(rng: np.random.Generator) -> tuple[list[Weights]]:
    """Return a few checkpoints of a tiny model; with equal shapes, each has its own order of names."""
    names = ["embedding", "w_query", "bias"][: int(rng.integers(1, 4))]
    count = int(rng.integers(1, 6))
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(names, (2, 2))
    if rng.random() < 0.5:
        orders = [[str(name) for name in rng.permutation(names)] for _ in range(count)]
    else:
        shapes |= {"embedding": (3, 2), "bias": (2,)}
        orders = [names] * count
    return ([{n: np.round(rng.normal(size=shapes[n]), 2) for n in order} for order in orders],)


average_weights = Exercise(
    name="average_weights",
    kind="implement",
    difficulty=2,
    minutes=10,
    statement=(
        "Average the weights of several checkpoints. checkpoints is a list of one or more dictionaries, name "
        "to array; all have the same names, and under each name arrays of the same shape. Return a "
        "dictionary: under each name the mean of the arrays, in their shape. The checkpoints must stay as "
        "they are."
    ),
    returns=("averaged",),
    reference=reference,
    cases=(
        Case(
            "two checkpoints, one name",
            ([{"w": np.array([1.0, 4.0])}, {"w": np.array([3.0, 8.0])}],),
        ),
        Case(
            "three checkpoints, one name", ([{"w": np.array([x, 2.0])} for x in (1.0, 4.0, 10.0)],)
        ),
        Case("one checkpoint", ([{"w": np.array([[1.5, -4.0]]), "b": np.array([5.0])}],)),
        Case(
            "two names",
            (
                [
                    {"w": np.array([[1.0, 0.0], [2.0, -3.0]]), "b": np.array([0.5])},
                    {"w": np.array([[2.0, 4.0], [0.0, 1.0]]), "b": np.array([1.5])},
                    {"w": np.array([[6.0, -1.0], [1.0, 5.0]]), "b": np.array([4.0])},
                ],
            ),
        ),
        Case(
            "the names in another order in the second checkpoint",
            (
                [
                    {"w": np.array([1.0, 4.0]), "b": np.array([5.0, -2.0])},
                    {"b": np.array([7.0, 0.0]), "w": np.array([2.0, -4.0])},
                ],
            ),
        ),
        *random_cases(draw, 8),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "joined by place, not by name",
            _by_place,
            "Do all checkpoints list their names in the same order? Which arrays belong together?",
        ),
        Misconception(
            "the sum",
            _each(lambda stacked: stacked.sum(axis=0)),
            "If all checkpoints were equal, what should come out?",
        ),
        Misconception(
            "each new one averaged with the mean so far",
            _each(_running),
            "Which part of the result comes from the last checkpoint in yours, and which from the first one?",
        ),
        Misconception(
            "the last checkpoint only",
            _each(lambda stacked: stacked[-1]),
            "Change a number in the first checkpoint. Does your result change?",
        ),
        Misconception(
            "the first checkpoint only",
            _each(lambda stacked: stacked[0]),
            "Change a number in the last checkpoint. Does your result change?",
        ),
        Misconception(
            "the first and the last checkpoint only",
            _each(lambda stacked: (stacked[0] + stacked[-1]) / 2),
            "Change a number in a checkpoint in the middle. Does your result change?",
        ),
        Misconception(
            "one number for a whole array",
            _each(lambda stacked: stacked.mean()),
            "Each weight has a job of its own in the model. Over what is the mean: weights, or checkpoints?",
        ),
        Misconception(
            "the mean along the wrong axis",
            _each(lambda stacked: stacked.mean(axis=-1)),
            "Compare the shape of your array with that of one checkpoint. Which axis should be gone?",
        ),
        Misconception(
            "the first checkpoint counted twice",
            _each(lambda stacked: (stacked[0] + stacked.sum(axis=0)) / len(stacked)),
            "If all checkpoints were equal, what should come out? How many arrays do you add up?",
        ),
        Misconception(
            "divided by the number of names",
            _by_the_number_of_names,
            "How many arrays do you add up under one name? What does the length of a dictionary count?",
        ),
        Misconception(
            "the median",
            _each(lambda stacked: np.median(stacked, axis=0)),
            "The checkpoint in the middle decides alone here. Which ones should have a part in the result?",
        ),
    ),
)
