"""Exercise: the most probable sentence, found by trying all of them."""

from itertools import pairwise, product

import numpy as np

from transformer_course.checks.decoding.tables import Array, search, some_table
from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases


def _total(table: Array, ids: tuple[int, ...]) -> float:
    """Return the summed log-probability of a sentence."""
    return float(sum(table[i, j] for i, j in zip((0, *ids), ids, strict=False)))


def _sentences(table: Array, max_len: int) -> list[tuple[int, ...]]:
    """Return every sentence of at most max_len words that ends, and ends once."""
    words = range(1, len(table))
    return [(*ids, 0) for n in range(max_len) for ids in product(words, repeat=n)]


def reference(table: Array, max_len: int) -> Array:
    """Return the ids of the most probable sentence."""
    return np.array(max(_sentences(table, max_len), key=lambda ids: _total(table, ids)))


def _of_full_length(table: Array, max_len: int) -> Array:
    full = [ids for ids in _sentences(table, max_len) if len(ids) == max_len]
    return np.array(max(full, key=lambda ids: _total(table, ids)))


def _never_alone(table: Array, max_len: int) -> Array:
    longer = _sentences(table, max_len)[1:]
    return np.array(max(longer, key=lambda ids: _total(table, ids)))


def _one_word_less(table: Array, max_len: int) -> Array:
    return reference(table, max(1, max_len - 1))


def _one_word_more(table: Array, max_len: int) -> Array:
    return reference(table, max_len + 1)


def _without_the_end(table: Array, max_len: int) -> Array:
    return reference(table, max_len)[:-1]


def _end_not_counted(table: Array, max_len: int) -> Array:
    found = _sentences(table, max_len)[1:]
    return np.array(max(found, key=lambda ids: _total(table, ids[:-1])))


def _end_free(table: Array, max_len: int) -> Array:
    return np.array(max(_sentences(table, max_len), key=lambda ids: _total(table, ids[:-1])))


def _start_not_counted(table: Array, max_len: int) -> Array:
    def total(ids: tuple[int, ...]) -> float:
        return float(sum(table[i, j] for i, j in pairwise(ids)))

    found = _sentences(table, max_len)[1:]
    return np.array(max(found, key=total))


def _mean(table: Array, max_len: int) -> Array:
    return np.array(max(_sentences(table, max_len), key=lambda ids: _total(table, ids) / len(ids)))


def _greedy(table: Array, max_len: int) -> Array:
    return search(table, 1, max_len, 0.0)


def _least(table: Array, max_len: int) -> Array:
    return np.array(min(_sentences(table, max_len), key=lambda ids: _total(table, ids)))


def draw(rng: np.random.Generator) -> tuple[Array, int]:
    """Return a model and the most words of a sentence; in some models the end alone is likely."""
    table, max_len = some_table(rng, int(rng.integers(3, 6))), int(rng.integers(3, 5))
    if rng.random() < 0.3:
        table[0, 0] = np.log(rng.uniform(0.3, 2))
        table[0] -= np.log(np.exp(table[0]).sum())
    return table, max_len


_THREE = np.log(np.array([[0.001, 0.6, 0.399], [0.2, 0.4, 0.4], [0.9, 0.05, 0.05]]))
_LONG = np.log(np.array([[0.001, 0.9, 0.099], [0.02, 0.03, 0.95], [0.9, 0.05, 0.05]]))
_EMPTY = np.log(np.array([[0.5, 0.3, 0.2], [0.4, 0.3, 0.3], [0.5, 0.25, 0.25]]))
_NEVER_ENDS = np.log(np.array([[0.001, 0.5, 0.499], [0.1, 0.2, 0.7], [0.15, 0.8, 0.05]]))

best_by_trying = Exercise(
    name="best_by_trying",
    kind="experiment",
    difficulty=2,
    minutes=25,
    statement=(
        "Find the most probable sentence without any search: try all. table is as in the exercise before. A "
        "sentence has 1 to max_len words, the 0 at its end counted; there is no other 0 in it. So the 0 alone "
        "is a sentence too. Return the ids of the one with the highest summed log-probability, its 0 included, "
        "as an array. No length penalty."
    ),
    returns=("ids",),
    reference=reference,
    cases=(
        Case("greedy would miss it", (_THREE, 3)),
        Case("three words", (_LONG, 3)),
        Case("two words at most", (_LONG, 2)),
        Case("the end alone is best", (_EMPTY, 3)),
        Case("it would rather go on", (_NEVER_ENDS, 4)),
        *random_cases(draw, 10),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "only sentences of full length",
            _of_full_length,
            "A shorter sentence may be more probable. Which lengths do you try?",
        ),
        Misconception(
            "the 0 alone left out",
            _never_alone,
            "May a sentence end before it has begun? Read in the task which sentences there are.",
        ),
        Misconception(
            "the longest sentences left out",
            _one_word_less,
            "How many words has your longest sentence, the end included?",
        ),
        Misconception(
            "sentences that are too long",
            _one_word_more,
            "The end counts as a word. How many words has your longest sentence?",
        ),
        Misconception(
            "without the end", _without_the_end, "The end of the sentence belongs to its ids."
        ),
        Misconception(
            "the end not counted in the sum",
            _end_not_counted,
            "To end a sentence is a choice with a probability, as every other word is.",
        ),
        Misconception(
            "the 0 alone, whatever the table says",
            _end_free,
            "Your answer is always the 0 alone. Do you compare it with longer sentences? What does the first "
            "word cost in your sum, and what does the end cost?",
        ),
        Misconception(
            "the first word not counted in the sum",
            _start_not_counted,
            "Which row of the table says how probable the first word is?",
        ),
        Misconception(
            "the highest mean per word",
            _mean,
            "A mean forgives long sentences their length. The task asks for the sum.",
        ),
        Misconception(
            "greedy decoding",
            _greedy,
            "That is the best word at each step. Have you tried all sentences?",
        ),
        Misconception(
            "the least probable sentence",
            _least,
            "Log-probabilities are negative. Is the best one the smallest, or the one closest to 0?",
        ),
    ),
)
