"""Exercise: how far did a patch move the answer? A function with two mistakes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases

Array = NDArray[Any]


def _share(*, logs: bool = True, way: str = "whole", turned: bool = False) -> Any:
    """Return the function of the exercise with the mistakes asked for."""

    def share_of_the_way(this: Array, patched: Array, other: Array) -> float:
        a, p, o = (
            float(np.log(x[0]) - np.log(x[1])) if logs else float(x[0] - x[1])
            for x in (this, patched, other)
        )
        below = {"whole": a - o, "this": a, "other": o, "absolute": abs(a) - abs(o)}[way]
        return (p - o if turned else a - p) / (below or 1e-9)

    return share_of_the_way


def reference(this: Array, patched: Array, other: Array) -> float:
    """Return the share of the way."""
    return float(_share()(this, patched, other))


def _il_alone(this: Array, patched: Array, other: Array) -> float:
    a, p, o = (float(np.log(x[0]) - np.log(1 - x[0])) for x in (this, patched, other))
    return (a - p) / ((a - o) or 1e-9)


def draw(rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Return p(il) and p(elle) of three runs, for which il is the answer of the first."""
    firsts = rng.uniform(0.6, 0.9), rng.uniform(0.1, 0.9), rng.uniform(0.1, 0.4)
    rests = rng.uniform(0.5, 1.0, size=3)
    return tuple(
        np.array([p, (1 - p) * rest]).round(3) for p, rest in zip(firsts, rests, strict=True)
    )  # type: ignore[return-value]


def _case(about: str, *values: tuple[float, float]) -> Case:
    return Case(about, tuple(np.array(v) for v in values))


share_of_the_way = Exercise(
    name="share_of_the_way",
    kind="spot the bug",
    difficulty=1,
    minutes=10,
    statement=(
        "The function below is meant to say how far a patch moved the answer, as the chapter defines it. Each "
        "argument is (2,): the probabilities of il and of elle in this run, in the patched run, and in the "
        "other run. It runs, and it holds two mistakes. Write it without them: 0 if the patch changed nothing, "
        "1 if it moved the answer as far as the other run. Preferences are differences of log-probabilities."
    ),
    returns=("share",),
    reference=reference,
    cases=(
        _case("half of the way", (0.9, 0.1), (0.5, 0.5), (0.1, 0.9)),
        _case("nothing moved", (0.8, 0.2), (0.8, 0.2), (0.3, 0.7)),
        _case("all the way", (0.8, 0.2), (0.3, 0.6), (0.3, 0.6)),
        _case("the other run can't decide", (0.9, 0.1), (0.8, 0.2), (0.5, 0.5)),
        _case("pushed the wrong way", (0.8, 0.2), (0.9, 0.1), (0.2, 0.8)),
        _case("a patch that goes too far", (0.7, 0.2), (0.1, 0.8), (0.3, 0.5)),
        *random_cases(draw, 6),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "both mistakes still there",
            _share(logs=False, way="this"),
            "These are the results of the function as given. What is a preference, and how long is the way?",
        ),
        Misconception(
            "one mistake found: probabilities instead of their logarithms",
            _share(logs=False),
            "The way is right now. From 0.98 to 0.99 a probability moves little, a preference much.",
        ),
        Misconception(
            "one mistake found: divided by this run's preference",
            _share(way="this"),
            "The logarithms are right now. Where does the way end? Not where the model can't decide.",
        ),
        Misconception(
            "the part of the way that is left",
            _share(turned=True),
            "If the patch changes nothing, your share is 1. What should it be?",
        ),
        Misconception(
            "divided by the other run's preference",
            _share(way="other"),
            "The way leads from this run to the other one. How long is it?",
        ),
        Misconception(
            "the wrong sign",
            lambda this, patched, other: -reference(this, patched, other),
            "Moving towards the other run should give a positive share.",
        ),
        Misconception(
            "the probability of il alone",
            _il_alone,
            "Where il and elle sum to 1, you are right. But there are other words. What does your function do "
            "with the probability of elle?",
        ),
        Misconception(
            "distances without a sign",
            lambda this, patched, other: abs(reference(this, patched, other)),
            "A patch can move the answer the wrong way. Which sign should the share have then?",
        ),
    ),
)
