"""Exercise: the length penalty."""

from collections.abc import Callable

import numpy as np

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases


def reference(length: int, alpha: float) -> float:
    """Return what a sum of log-probabilities is divided by."""
    return float(((5 + length) / 6) ** alpha)


def _with(formula: Callable[[int, float], float]) -> Callable[[int, float], float]:
    """Return another formula as a function."""
    return lambda length, alpha: float(formula(length, alpha))


def draw(rng: np.random.Generator) -> tuple[int, float]:
    """Return a length and a strength."""
    return int(rng.integers(1, 60)), round(float(rng.uniform(0, 2)), 2)


length_penalty = Exercise(
    name="length_penalty",
    kind="implement",
    difficulty=1,
    minutes=10,
    statement=(
        "Write the length penalty of the chapter, ((5 + length) / 6)^alpha: the number by which the sum of "
        "log-probabilities of a hypothesis is divided. length is the number of its tokens, alpha the strength "
        "of the penalty."
    ),
    returns=("penalty",),
    reference=reference,
    cases=(
        Case("seven tokens, strength 1", (7, 1.0)),
        Case("one token", (1, 0.6)),
        Case("strength 0", (9, 0.0)),
        Case("strength 2", (4, 2.0)),
        *random_cases(draw, 5),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "alpha as a factor",
            _with(lambda length, alpha: (5 + length) / 6 * alpha),
            "With alpha = 0 there should be no penalty: dividing by it must change nothing. What does "
            "yours do?",
        ),
        Misconception(
            "the plain length",
            _with(lambda length, alpha: length**alpha),
            "That is another rule, and a harsher one for short sentences. Look for the two numbers "
            "in the formula.",
        ),
        Misconception(
            "alpha for the numerator only",
            _with(lambda length, alpha: (5 + length) ** alpha / 6),
            "For one token, the formula of the chapter gives 1 whatever alpha is. What does yours give?",
        ),
        Misconception(
            "upside down",
            _with(lambda length, alpha: 1 / reference(length, alpha)),
            "Log-probabilities are negative, and a long sentence should be helped. What must grow with length?",
        ),
        Misconception(
            "the division before the sum",
            _with(lambda length, alpha: (5 + length / 6) ** alpha),
            "Division binds more tightly than addition. Where are brackets missing?",
        ),
        Misconception(
            "alpha left out",
            _with(lambda length, alpha: (5 + length) / 6),
            "With alpha = 1 all is right. Where do you use alpha?",
        ),
        Misconception(
            "without the 5",
            _with(lambda length, alpha: (length / 6) ** alpha),
            "For one token, dividing by the penalty should change nothing. What does yours do there?",
        ),
        Misconception(
            "6 + length in place of 5 + length",
            _with(lambda length, alpha: ((6 + length) / 6) ** alpha),
            "For one token the penalty should be 1, whatever alpha is. What does yours give?",
        ),
        Misconception(
            "the logarithm of the penalty",
            _with(lambda length, alpha: alpha * np.log((5 + length) / 6)),
            "The sum is divided by the penalty itself. Which step is one too many?",
        ),
    ),
)
