"""Exercise: the paired bootstrap of two programs."""

from collections.abc import Callable

import numpy as np

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases
from transformer_course.checks.multi30k.corpora import Array, some_counts, some_draws
from transformer_course.checks.multi30k.redrawn_precisions import reference as precisions

Share = Callable[[Array, Array, Array, Array, Array], float]


def reference(
    found_a: Array, total_a: Array, found_b: Array, total_b: Array, draws: Array
) -> float:
    """Return the share of the draws in which A's precision is higher."""
    return float((precisions(found_a, total_a, draws) > precisions(found_b, total_b, draws)).mean())


def _of_scores(share: Callable[[Array, Array], Array]) -> Share:
    """Return another number made of the two programs' scores of the draws."""
    return lambda found_a, total_a, found_b, total_b, draws: float(
        share(precisions(found_a, total_a, draws), precisions(found_b, total_b, draws))
    )


def _other_draws_for_b(order: Callable[[Array], Array]) -> Share:
    """Return the share when B is scored on other rows of the draws."""
    return lambda found_a, total_a, found_b, total_b, draws: float(
        (precisions(found_a, total_a, draws) > precisions(found_b, total_b, order(draws))).mean()
    )


def _without_ties(a: Array, b: Array) -> Array:
    with np.errstate(invalid="ignore"):  # 0 of 0 draws
        return np.asarray((a > b).sum() / (a != b).sum())


def _only_a_redrawn(
    found_a: Array, total_a: Array, found_b: Array, total_b: Array, draws: Array
) -> float:
    return float((precisions(found_a, total_a, draws) > found_b.sum() / total_b.sum()).mean())


def _only_b_redrawn(
    found_a: Array, total_a: Array, found_b: Array, total_b: Array, draws: Array
) -> float:
    return float((found_a.sum() / total_a.sum() > precisions(found_b, total_b, draws)).mean())


def _once(found_a: Array, total_a: Array, found_b: Array, total_b: Array, draws: Array) -> float:
    rows = [np.unique(row)[None] for row in draws]
    return float(np.mean([reference(found_a, total_a, found_b, total_b, row) for row in rows]))


def _not_redrawn(
    found_a: Array, total_a: Array, found_b: Array, total_b: Array, draws: Array
) -> float:
    return float(found_a.sum() / total_a.sum() > found_b.sum() / total_b.sum())


def _words_found(
    found_a: Array, total_a: Array, found_b: Array, total_b: Array, draws: Array
) -> float:
    return float((found_a[draws].sum(axis=1) > found_b[draws].sum(axis=1)).mean())


def _sentences(
    found_a: Array, total_a: Array, found_b: Array, total_b: Array, draws: Array
) -> float:
    return float((found_a / total_a > found_b / total_b)[draws].mean())


def _means_of_sentences(
    found_a: Array, total_a: Array, found_b: Array, total_b: Array, draws: Array
) -> float:
    of_a = (found_a / total_a)[draws].mean(axis=1)
    return float((of_a > (found_b / total_b)[draws].mean(axis=1)).mean())


def draw(rng: np.random.Generator) -> tuple[Array, Array, Array, Array, Array]:
    """Return the counts of two programs, alike in some sentences, and draws of the sentences.

    At times the sentences are long, and A finds one word more than B in each of them.
    """
    n_sentences = int(rng.integers(3, 5))
    found_a, total_a = some_counts(rng, n_sentences)
    found_b, total_b = some_counts(rng, n_sentences)
    alike = rng.random(n_sentences) < 0.5
    found_b, total_b = np.where(alike, found_a, found_b), np.where(alike, total_a, total_b)
    draws = some_draws(rng, int(rng.integers(4, 7)), n_sentences)
    if rng.random() < 0.2:
        total_a = total_b = 10_000 * total_a + 1
        found_a, found_b = 10_000 * found_a + 1, 10_000 * found_a
    return found_a, total_a, found_b, total_b, draws


_A = np.array([4, 2, 5]), np.array([5, 4, 10])
_B = np.array([4, 3, 2]), np.array([5, 4, 8])
_DRAWS = np.array([[0, 0, 1], [2, 2, 0], [0, 0, 0], [1, 2, 2]])
_CLOSE = (
    np.array([6, 5, 4]),
    np.array([6, 7, 6]),
    np.array([7, 2, 5]),
    np.array([8, 2, 5]),
    np.array([[0, 1, 0], [2, 2, 1], [0, 1, 0]]),
)
_ONE_WORD_APART = (
    np.array([30_001, 42_001]),
    np.array([45_000, 63_000]),
    np.array([30_000, 42_000]),
    np.array([45_000, 63_000]),
    np.array([[0, 1], [0, 0], [1, 1]]),
)
_LONG_A = np.array([4, 4]), np.array([8, 8])
_SHORT_B = np.array([3, 3]), np.array([4, 4])

share_of_wins = Exercise(
    name="share_of_wins",
    kind="implement",
    difficulty=2,
    minutes=15,
    statement=(
        "Compare two programs, A and B, by a paired bootstrap. found_a and total_a hold the counts of A, "
        "found_b and total_b those of B, each (n_sentences,); both programs translated the same sentences. "
        "draws is (n_draws, n_sentences), as before. Score A and B on each draw, both on the same one. Return "
        "the share of the draws in which the precision of A is higher than that of B: a number from 0 to 1. "
        "A tie is no win."
    ),
    returns=("share",),
    reference=reference,
    cases=(
        Case("three sentences, four draws", (*_A, *_B, _DRAWS)),
        Case("the same with A and B exchanged", (*_B, *_A, _DRAWS)),
        Case(
            "A says more, and B is more precise", (*_LONG_A, *_SHORT_B, np.array([[0, 1], [1, 1]]))
        ),
        Case("two equal programs", (*_A, *_A, _DRAWS)),
        Case(
            "A always wins",
            (np.array([3, 4]), np.array([4, 4]), *_LONG_A, np.array([[0, 1], [0, 0]])),
        ),
        Case("three draws, two of them close", _CLOSE),
        Case("one draw", (*_A, *_B, np.array([[0, 1, 1]]))),
        Case("two very long sentences, A finds one word more in each", _ONE_WORD_APART),
        *random_cases(draw, 6),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "another draw for B: the next one",
            _other_draws_for_b(lambda draws: np.roll(draws, -1, axis=0)),
            "If B gets easier sentences than A, what does its higher score tell you? Which draw should B get?",
        ),
        Misconception(
            "another draw for B: the one before",
            _other_draws_for_b(lambda draws: np.roll(draws, 1, axis=0)),
            "If A gets easier sentences than B, what does its higher score tell you? Which draw should B get?",
        ),
        Misconception(
            "another draw for B: the draws in reverse order",
            _other_draws_for_b(lambda draws: draws[::-1]),
            "When A is scored on the first draw, on which one is B scored? Are its sentences as easy?",
        ),
        Misconception(
            "only A is redrawn",
            _only_a_redrawn,
            "A is scored on a redrawn test set. On which sentences is B scored?",
        ),
        Misconception(
            "only B is redrawn",
            _only_b_redrawn,
            "B is scored on a redrawn test set. On which sentences is A scored?",
        ),
        Misconception(
            "each draw of A compared with all draws of B",
            _of_scores(lambda a, b: (a[:, None] > b).mean()),
            "In most of your comparisons, A and B have other sentences. Which score of B fits a score of A?",
        ),
        Misconception(
            "sorted scores compared",
            _of_scores(lambda a, b: (np.sort(a) > np.sort(b)).mean()),
            "The lowest score of A and the lowest one of B: do they belong to the same draw?",
        ),
        Misconception(
            "each sentence counted once, however often it was drawn",
            _once,
            "A sentence that was drawn three times is in this test set three times. How often do you count it?",
        ),
        Misconception(
            "in percent",
            _of_scores(lambda a, b: 100 * (a > b).mean()),
            "The task asks for a share. How large is it when A always wins?",
        ),
        Misconception(
            "the draws not used",
            _not_redrawn,
            "That says who wins on this test set. We ask how often A would win on others.",
        ),
        Misconception(
            "ties counted as wins",
            _of_scores(lambda a, b: (a >= b).mean()),
            "Compare a program with itself: how often should it win?",
        ),
        Misconception(
            "ties left out",
            _of_scores(_without_ties),
            "Four draws, one win, three ties: what does your function say? Of how many draws is that a share?",
        ),
        Misconception(
            "a tie counted as half a win",
            _of_scores(lambda a, b: ((a > b) + 0.5 * (a == b)).mean()),
            "Compare a program with itself: how often should it win? The task says what a tie is.",
        ),
        Misconception(
            "compared after rounding",
            _of_scores(lambda a, b: (a.round(4) > b.round(4)).mean()),
            "A has one word more than B. Do your two numbers still show it?",
        ),
        Misconception(
            "compared after rounding to two decimals",
            _of_scores(lambda a, b: (a.round(2) > b.round(2)).mean()),
            "Two scores may be closer than 0.01. Do your two numbers still show which one is higher?",
        ),
        Misconception(
            "A and B exchanged",
            _of_scores(lambda a, b: (a < b).mean()),
            "Whose wins do you count?",
        ),
        Misconception(
            "the mean difference of the scores",
            _of_scores(lambda a, b: (a - b).mean()),
            "That says by how much A is better. The task asks how often.",
        ),
        Misconception(
            "the mean scores compared",
            _of_scores(lambda a, b: a.mean() > b.mean()),
            "One comparison has two answers only. How many comparisons can you make with these draws?",
        ),
        Misconception(
            "the number of wins",
            _of_scores(lambda a, b: (a > b).sum()),
            "With more draws your number grows. What share of the draws is it?",
        ),
        Misconception(
            "as if both programs wrote equally many words",
            _words_found,
            "Let B say ten more words, all of them wrong. Does your answer change? Should it?",
        ),
        Misconception(
            "sentence by sentence",
            _sentences,
            "A draw is one test set with one score for each program. How many comparisons are there in a draw?",
        ),
        Misconception(
            "sentences compared, the draws not used",
            lambda found_a, total_a, found_b, total_b, draws: float(
                (found_a / total_a > found_b / total_b).mean()
            ),
            "You compare sentence by sentence. What is compared here, and where do you use `draws`?",
        ),
        Misconception(
            "the mean of the sentences' own precisions",
            _means_of_sentences,
            "A redrawn test set is a corpus like any other. How did you score a corpus in exercise 15.1?",
        ),
    ),
)
