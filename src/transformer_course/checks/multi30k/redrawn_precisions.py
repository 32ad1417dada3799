"""Exercise: the scores of redrawn test sets."""

import numpy as np

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases
from transformer_course.checks.multi30k.corpora import Array, some_counts, some_draws


def reference(found: Array, total: Array, draws: Array) -> Array:
    """Return the precision of each draw."""
    return np.asarray(found[draws].sum(axis=1) / total[draws].sum(axis=1))


def _once(found: Array, total: Array, draws: Array) -> Array:
    rows = [np.unique(row) for row in draws]
    return np.array([found[row].sum() / total[row].sum() for row in rows])


def _running(found: Array, total: Array, draws: Array) -> Array:
    return np.asarray(found[draws].sum(axis=1).cumsum() / total[draws].sum(axis=1).cumsum())


def _as_counts(found: Array, total: Array, draws: Array) -> Array:
    return np.asarray((draws * found).sum(axis=1) / (draws * total).sum(axis=1))


def draw(rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Return the counts of a few sentences, and draws of them."""
    n_sentences = int(rng.integers(3, 8))
    return *some_counts(rng, n_sentences), some_draws(rng, int(rng.integers(2, 7)), n_sentences)


_FOUND, _TOTAL = np.array([1, 6, 3]), np.array([2, 8, 5])

redrawn_precisions = Exercise(
    name="redrawn_precisions",
    kind="implement",
    difficulty=2,
    minutes=10,
    statement=(
        "Score redrawn test sets. found and total are as in exercise 15.1. draws is (n_draws, "
        "n_sentences): each row holds the indices of the sentences of one redrawn test set. An index can be "
        "there several times, and then its sentence is there several times. Return an array (n_draws,): the "
        "word precision of each redrawn test set."
    ),
    returns=("precisions",),
    reference=reference,
    cases=(
        Case("one draw, one sentence drawn twice", (_FOUND, _TOTAL, np.array([[0, 0, 1]]))),
        Case("two draws", (_FOUND, _TOTAL, np.array([[0, 2, 2], [1, 1, 0]]))),
        Case(
            "each sentence once, in two orders", (_FOUND, _TOTAL, np.array([[0, 1, 2], [2, 0, 1]]))
        ),
        Case("always the same sentence", (_FOUND, _TOTAL, np.array([[2, 2, 2], [1, 1, 1]]))),
        Case(
            "as many draws as sentences",
            (_FOUND, _TOTAL, np.array([[1, 2, 1], [0, 1, 0], [2, 2, 1]])),
        ),
        *random_cases(draw, 5),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "each sentence counted once, however often it was drawn",
            _once,
            "A sentence that was drawn three times is in this test set three times. How often do you count it?",
        ),
        Misconception(
            "the mean of the sentences' own precisions",
            lambda found, total, draws: (found / total)[draws].mean(axis=1),
            "A redrawn test set is a corpus like any other. How did you score a corpus in exercise 15.1?",
        ),
        Misconception(
            "summed along the wrong axis",
            lambda found, total, draws: found[draws].sum(axis=0) / total[draws].sum(axis=0),
            "How many numbers do you return, and how many draws are there? A row is one draw.",
        ),
        Misconception(
            "divided by the words of the original test set",
            lambda found, total, draws: found[draws].sum(axis=1) / total.sum(),
            "Other sentences were drawn, with other lengths. How many words does the redrawn test set have?",
        ),
        Misconception(
            "the found words of the original test set",
            lambda found, total, draws: found.sum() / total[draws].sum(axis=1),
            "You redraw one of the two counts. Which sentences does the other one belong to?",
        ),
        Misconception(
            "one number for all draws together",
            lambda found, total, draws: found[draws].sum() / total[draws].sum(),
            "We want to see how the score differs from draw to draw. How many scores do you need for that?",
        ),
        Misconception(
            "the draws not used",
            lambda found, total, draws: np.full(len(draws), found.sum() / total.sum()),
            "All your scores are equal. Do all draws hold the same sentences?",
        ),
        Misconception(
            "upside down",
            lambda found, total, draws: total[draws].sum(axis=1) / found[draws].sum(axis=1),
            "A precision is a share. Can yours be larger than 1?",
        ),
        Misconception(
            "nothing summed",
            lambda found, total, draws: found[draws] / total[draws],
            "That is the precision of each sentence of each draw. What makes one score of a row?",
        ),
        Misconception(
            "divided by the number of sentences",
            lambda found, total, draws: found[draws].mean(axis=1),
            "That is how many words are found in a sentence on average. Found out of how many?",
        ),
        Misconception(
            "sentences counted from 1",
            lambda found, total, draws: reference(found, total, draws - 1),
            "Which sentence has the index 0?",
        ),
        Misconception(
            "sums that go on from draw to draw",
            _running,
            "The first draw is right. What is in your sums when the second one begins?",
        ),
        Misconception(
            "in percent",
            lambda found, total, draws: 100 * reference(found, total, draws),
            "A precision is a share. How large is it when every word is found?",
        ),
        Misconception(
            "indices taken for counts",
            _as_counts,
            "A 2 in a row says which sentence was drawn. Does it say how often?",
        ),
    ),
)
