"""Exercise: the wanted distributions with label smoothing."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases
from transformer_course.checks.loss.numbers import targets_of

Array = NDArray[Any]


def reference(labels: Array, n_words: int, smoothing: float) -> Array:
    """Return (n, n_words)."""
    return targets_of(labels, n_words, smoothing)


def _filled(labels: Array, n_words: int, right: float, wrong: float) -> Array:
    targets = np.full((len(labels), n_words), float(wrong))
    targets[np.arange(len(labels)), labels] = right
    return targets


def draw(rng: np.random.Generator) -> tuple[Array, int, float]:
    """Return labels, the size of the vocabulary, and ε."""
    n_words = int(rng.integers(3, 9))
    labels = rng.integers(0, n_words, size=int(rng.integers(1, 6)))
    return labels, n_words, round(float(rng.uniform(0.02, 0.45)), 3)


smoothed_targets = Exercise(
    name="smoothed_targets",
    kind="implement",
    difficulty=1,
    minutes=10,
    statement=(
        "Write the smoothed targets. labels holds the number of the right word at each of n positions. Return "
        "an array (n, n_words): at each position the wanted distribution, with the share smoothing (ε) spread "
        "over all words: ε / n_words for every word, and 1 - ε more for the right one."
    ),
    returns=("targets",),
    reference=reference,
    cases=(
        Case("one position, four words", (np.array([1]), 4, 0.2)),
        Case("two positions, five words", (np.array([4, 0]), 5, 0.1)),
        Case("no smoothing", (np.array([2, 1]), 3, 0.0)),
        Case("the same word twice", (np.array([1, 1, 0]), 3, 0.3)),
        Case("two words in all", (np.array([1]), 2, 0.1)),
        *random_cases(draw, 5),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "ε for every wrong word",
            lambda labels, n_words, smoothing: _filled(labels, n_words, 1 - smoothing, smoothing),
            "Add up one of your rows. For how many classes would it be a distribution?",
        ),
        Misconception(
            "ε shared by the wrong words only",
            lambda labels, n_words, smoothing: _filled(
                labels, n_words, 1 - smoothing, smoothing / (n_words - 1)
            ),
            "Your rows sum to 1, and some programs do it so. In this chapter all words share ε: is the right "
            "one among them?",
        ),
        Misconception(
            "the right word without its share",
            lambda labels, n_words, smoothing: _filled(
                labels, n_words, 1 - smoothing, smoothing / n_words
            ),
            "Add up one of your rows: something is missing. Who else gets a share of ε?",
        ),
        Misconception(
            "the right word keeps all",
            lambda labels, n_words, smoothing: _filled(labels, n_words, 1.0, smoothing / n_words),
            "What the others get must be taken from somebody. Add up one of your rows.",
        ),
        Misconception(
            "the right word keeps all, and gets its share",
            lambda labels, n_words, smoothing: np.eye(n_words)[labels] + smoothing / n_words,
            "What the others get must be taken from somebody. By which factor does the one-hot part shrink?",
        ),
        Misconception(
            "ε and 1 − ε exchanged",
            lambda labels, n_words, smoothing: targets_of(labels, n_words, 1 - smoothing),
            "With ε = 0 nothing should be smoothed. What does your function return for it?",
        ),
        Misconception(
            "ε added for every word",
            lambda labels, n_words, smoothing: _filled(labels, n_words, 1.0, smoothing),
            "Add up one of your rows. How large is the share of one word, when all of them share ε?",
        ),
        Misconception(
            "shared by the positions",
            lambda labels, n_words, smoothing: (
                np.eye(n_words)[labels] * (1 - smoothing) + smoothing / len(labels)
            ),
            "Add up one of your rows. Among how many is ε shared: among the positions, or among the words?",
        ),
        Misconception(
            "words counted from 1",
            lambda labels, n_words, smoothing: targets_of(labels - 1, n_words, smoothing),
            "The peak is one place too far to the left. Which number has the first word?",
        ),
        Misconception(
            "no smoothing",
            lambda labels, n_words, smoothing: targets_of(labels, n_words, 0.0),
            "These are one-hot targets. Where do you use `smoothing`?",
        ),
        Misconception(
            "words along the first axis",
            lambda labels, n_words, smoothing: targets_of(labels, n_words, smoothing).T,
            "The task asks for a row for each position.",
        ),
    ),
)
