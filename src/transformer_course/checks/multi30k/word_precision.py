"""Exercise: the word precision of a corpus."""

from collections.abc import Callable

import numpy as np

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases
from transformer_course.checks.multi30k.corpora import Array, some_counts


def reference(found: Array, total: Array) -> float:
    """Return the share of all words that are found in the references."""
    return float(found.sum() / total.sum())


def _number(of_counts: Callable[[Array, Array], Array]) -> Callable[[Array, Array], float]:
    """Return another number made of the counts."""
    return lambda found, total: float(of_counts(found, total))


def draw(rng: np.random.Generator) -> tuple[Array, Array]:
    """Return the counts of a few sentences."""
    return some_counts(rng, int(rng.integers(2, 9)))


word_precision = Exercise(
    name="word_precision",
    kind="implement",
    difficulty=1,
    minutes=3,
    statement=(
        "Write the word precision of a corpus. found and total are (n_sentences,): for each sentence, the "
        "number of words of its translation that are found in the reference, and the number of all words of "
        "its translation. Each translation has at least one word. Of all words that the program wrote, return "
        "the share that is found: a number from 0 to 1."
    ),
    returns=("precision",),
    reference=reference,
    cases=(
        Case("a short sentence and a long one", (np.array([1, 6]), np.array([2, 8]))),
        Case("one sentence", (np.array([3]), np.array([4]))),
        Case("nothing is found", (np.array([0, 0, 0]), np.array([3, 2, 5]))),
        Case("everything is found", (np.array([4, 7]), np.array([4, 7]))),
        Case("one sentence all right, one all wrong", (np.array([9, 0]), np.array([9, 3]))),
        *random_cases(draw, 6),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "the mean of the sentences' own precisions",
            _number(lambda found, total: (found / total).mean()),
            "A sentence of two words counts as much as one of twenty here. What does the whole corpus count?",
        ),
        Misconception(
            "upside down",
            _number(lambda found, total: total.sum() / found.sum()),
            "A precision is a share. Can yours be larger than 1?",
        ),
        Misconception(
            "one number for each sentence",
            lambda found, total: found / total,
            "Those are the sentences' precisions. The corpus has one number: what do you add up for it, and "
            "when do you divide?",
        ),
        Misconception(
            "in percent",
            _number(lambda found, total: 100 * found.sum() / total.sum()),
            "The task asks for a share. How large is it when every word is found?",
        ),
        Misconception(
            "the share of words that aren't found",
            _number(lambda found, total: 1 - found.sum() / total.sum()),
            "Which number should a perfect translation get?",
        ),
        Misconception(
            "the found words counted twice, in the number of all words too",
            _number(lambda found, total: found.sum() / (found.sum() + total.sum())),
            "Are the found words part of all words, or are they extra?",
        ),
        Misconception(
            "divided by the number of sentences",
            _number(lambda found, total: found.sum() / len(found)),
            "That is how many words are found in a sentence on average. Found out of how many?",
        ),
        Misconception(
            "the share of sentences that are all right",
            _number(lambda found, total: (found == total).mean()),
            "A translation with one wrong word is worth something too. What do you count: sentences, or words?",
        ),
    ),
)
