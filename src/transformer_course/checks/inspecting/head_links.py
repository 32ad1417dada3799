"""Exercise: from a map of cross-attention to links between words."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases

Array = NDArray[Any]


def reference(weights: Array) -> Array:
    """Return the source word of each target word."""
    return np.asarray(weights[:-1, :-1].argmax(-1))


def _columns(weights: Array) -> Array:
    return np.asarray(weights[:-1, :-1].argmax(0))


def draw(rng: np.random.Generator) -> tuple[Array]:
    """Return a map with rows that sum to 1."""
    n_words, src_len = (int(n) for n in rng.integers(2, 7, size=2))
    return (rng.dirichlet(np.full(src_len, 0.6), size=n_words + 1).round(3),)


_TWO = np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.2, 0.3, 0.5]])
_END = np.array([[0.1, 0.3, 0.6], [0.5, 0.1, 0.4], [0.1, 0.2, 0.7]])
_LONG = np.array(
    [
        [0.1, 0.2, 0.6, 0.0, 0.1],
        [0.3, 0.3, 0.2, 0.1, 0.1],
        [0.0, 0.1, 0.1, 0.5, 0.3],
        [0.6, 0.1, 0.1, 0.1, 0.1],
    ]
)

head_links = Exercise(
    name="head_links",
    kind="implement",
    difficulty=1,
    minutes=10,
    statement=(
        "Read an alignment off a map of cross-attention. weights is (n_words + 1, src_len + 1): row 0 is the "
        "step that read `<s>`, row t the step that read target word t, counted from 1. The last column is "
        "`</s>` of the source, which is no word. For each of the n_words target words, return the index of "
        "the source word (counted from 0) that got most weight at the step that *predicted* it: an array "
        "(n_words,) of whole numbers. Of equal weights, take the first."
    ),
    returns=("links",),
    reference=reference,
    cases=(
        Case("two target words, two source words and </s>", (_TWO,)),
        Case("most weight on </s>", (_END,)),
        Case("three target words, four source words", (_LONG,)),
        Case("one target word", (_LONG[:2],)),
        *random_cases(draw, 6),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "the row of the step that reads the word",
            lambda weights: weights[1:, :-1].argmax(-1),
            "Row 0 read <s>. Which word did the model predict there?",
        ),
        Misconception(
            "</s> counted as a word",
            lambda weights: weights[:-1].argmax(-1),
            "The last column is no word. What should happen where most weight lies there?",
        ),
        Misconception(
            "the row of the step that reads the word, and </s> counted as a word",
            lambda weights: weights[1:].argmax(-1),
            "Row 0 read <s>. Which word did the model predict there? And is </s> a word?",
        ),
        Misconception(
            "a link for each source word",
            _columns,
            "You found where each column is largest. Whose link does the task ask for?",
        ),
        Misconception(
            "a link for the last step, too",
            lambda weights: weights[:, :-1].argmax(-1),
            "There are as many links as target words. What does the last row predict?",
        ),
        Misconception(
            "the least weight",
            lambda weights: weights[:-1, :-1].argmin(-1),
            "These are the words that the head looks at least.",
        ),
        Misconception(
            "words counted from 1",
            lambda weights: weights[:-1, :-1].argmax(-1) + 1,
            "The first source word has the index 0.",
        ),
        Misconception(
            "the first source word left out",
            lambda weights: weights[:-1, 1:].argmax(-1),
            "The source has no <s>: its first column is a word. Which column isn't one?",
        ),
    ),
)
