"""Exercise: one update of IBM model 1 (Brown et al. 1993): shares, counts, and a new table."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, random_cases
from transformer_course.checks.tables import with_tables

Array = NDArray[Any]
Rule = Callable[[Array], Array]
Add = Callable[[Array, Array, Array, Array], None]


def _by_source(weights: Array) -> Array:
    return weights / weights.sum(0)


def _row_by_row(counts: Array) -> Array:
    return counts / counts.sum(1, keepdims=True)


def _each(counts: Array, x: Array, y: Array, shares: Array) -> None:
    np.add.at(counts, (x[:, None], y), shares)


def _once(counts: Array, x: Array, y: Array, shares: Array) -> None:
    counts[x[:, None], y] += shares


def _written_over(counts: Array, x: Array, y: Array, shares: Array) -> None:
    counts[x[:, None], y] = shares


def _step(
    share: Rule = _by_source,
    table: Rule = _row_by_row,
    add: Add = _each,
    *,
    rows: Callable[[Array], Array] = lambda t: t,
    start: float = 0.0,
    first: int = 0,
) -> Callable[[Array, Array, Array], Array]:
    """Return an update.

    Args:
        share: (src_len, tgt_len), entries of the old table → what each link counts.
        table: counts → the new table.
        add: adds what the links of a pair count.
        rows: the old table → what the shares are made of.
        start: how often the old table is in the counts from the beginning.
        first: the first source word of a pair that takes part.
    """

    def em_step(t: Array, src: Array, tgt: Array) -> Array:
        counts, shared = start * t, rows(t)
        for x, y in zip(src[:, first:], tgt, strict=True):
            add(counts, x, y, share(shared[x][:, y]))
        with np.errstate(all="ignore"):
            return table(counts)

    return em_step


def reference(t: Array, src: Array, tgt: Array) -> Array:
    """Return the new table, (n_source, n_target)."""
    return _step()(t, src, tgt)


def _best_only(weights: Array) -> Array:
    return (np.arange(len(weights))[:, None] == weights.argmax(0)).astype(float)


def draw(rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Return a table, and pairs in which every source word stands."""
    pairs, src_len, tgt_len = (int(n) for n in rng.integers((3, 2, 2), (6, 4, 5)))
    n_source, n_target = pairs * src_len // 2 + 1, int(rng.integers(3, 6))
    words = 1 + rng.permutation(np.arange(pairs * src_len) % (n_source - 1))
    src = np.concatenate([np.zeros((pairs, 1), int), words.reshape(pairs, src_len)], 1)
    t = rng.integers(1, 20, size=(n_source, n_target)).astype(float)
    return t / t.sum(1, keepdims=True), src, rng.integers(n_target, size=(pairs, tgt_len))


def _case(about: str, t: list[list[float]], src: list[list[int]], tgt: list[list[int]]) -> Case:
    return Case(about, (np.array(t), np.array(src), np.array(tgt)))


CASES = (
    _case("one pair, one word and the null word", [[0.5, 0.5], [0.25, 0.75]], [[0, 1]], [[0, 1]]),
    _case(
        "two pairs",
        [[0.4, 0.4, 0.2], [0.2, 0.3, 0.5], [0.1, 0.8, 0.1]],
        [[0, 1], [0, 2]],
        [[0, 1], [0, 2]],
    ),
    _case("a source word that comes twice", [[0.5, 0.5], [0.2, 0.8]], [[0, 1, 1]], [[0, 1]]),
    _case("a target word that comes twice", [[0.5, 0.5], [0.2, 0.8]], [[0, 1]], [[0, 0, 1]]),
    _case("a target word that never comes", [[0.2, 0.4, 0.4], [0.4, 0.4, 0.2]], [[0, 1]], [[0, 1]]),
)
_mistake = with_tables(reference, CASES, ("table",))

em_step = Exercise(
    name="em_step",
    kind="implement",
    difficulty=3,
    minutes=25,
    statement=(
        "Write one update of IBM model 1. The table t, (n_source, n_target), has a row for each source word: "
        "how probable each target word is as its translation. src, (pairs, src_len), and tgt, (pairs, "
        "tgt_len), hold the words of sentence pairs as whole numbers; a row of src begins with 0, the null "
        "word. Each target word of a pair is shared out among all source words of its pair, the null word too: "
        "a source word's share is its entry in the table, divided by the sum of the entries of all of them. "
        "Count the shares of all pairs, by source word and target word. Then make a new table of the counts: "
        "each row divided by its sum. A word that comes twice in a sentence takes part twice. Return the new "
        "table. Each source word is in some pair.\n\n"
        "An example: t = [[0.5, 0.5], [0.25, 0.75]], and one pair: the source 0, 1 and the target 0, 1. Target "
        "word 0 is shared 0.5 to 0.25, so 2/3 and 1/3. Target word 1 is shared 0.5 to 0.75, so 0.4 and 0.6. "
        "Row 0 of the counts is 2/3, 0.4; divided by its sum it is 0.625, 0.375."
    ),
    returns=("table",),
    reference=reference,
    cases=(*CASES, *random_cases(draw, 6, "more pairs")),
    draw=draw,
    misconceptions=(
        _mistake(
            "each source word shared out among the target words",
            _step(lambda weights: weights / weights.sum(1, keepdims=True)),
            "Who chooses whom? In this model each target word was written by one source word.",
        ),
        _mistake(
            "nothing shared out",
            _step(lambda weights: weights),
            "You count the entries of the table themselves. How much should the shares of one target word be "
            "together?",
        ),
        _mistake(
            "divided by the sum of the whole pair",
            _step(lambda weights: weights / weights.sum()),
            "Each target word has to be explained in full. What do the shares of one target word sum to?",
        ),
        _mistake(
            "divided by the sum over all source words of the table",
            _step(lambda weights: weights, rows=_by_source),
            "You divide by the entries of all source words of the table, once each. Which of them stand in the "
            "pair, and how often?",
        ),
        _mistake(
            "the best source word gets all, and rows without counts are 0",
            _step(
                _best_only, table=lambda counts: counts / np.maximum(counts.sum(1), 1e-12)[:, None]
            ),
            "You count only the likeliest source word: others get nothing, and a row may stay empty. How sure "
            "is the old table of the likeliest one?",
        ),
        _mistake(
            "the best source word gets all",
            _step(_best_only),
            "You take the likeliest source word and forget the others. How sure is the old table of it?",
        ),
        _mistake(
            "equal shares",
            _step(lambda weights: np.full(weights.shape, 1 / len(weights))),
            "That is the first guess, before anything is known. What does the old table say?",
        ),
        _mistake(
            "each column divided by its sum",
            _step(table=lambda counts: counts / counts.sum(0)),
            "The counts are right. Each row of the table is a distribution. Of what?",
        ),
        _mistake(
            "the counts themselves",
            _step(table=lambda counts: counts),
            "The counts are right. What is still to be done, so that a row is a distribution?",
        ),
        _mistake(
            "divided by the sum of all counts",
            _step(table=lambda counts: counts / counts.sum()),
            "Your whole table sums to 1. What should each row sum to?",
        ),
        _mistake(
            "a share lost of a word that comes twice",
            _step(add=_once),
            "With an array of indices, `counts[rows, columns] += shares` adds only once where an index comes "
            "twice. Which function adds each time?",
        ),
        _mistake(
            "the last share written over the others",
            _step(add=_written_over),
            "A word is in several pairs, or twice in one. What becomes of what was counted before?",
        ),
        _mistake(
            "counts begin with the old table",
            _step(start=1.0),
            "The old table decides the shares. Is it itself a count?",
        ),
        _mistake(
            "the null word left out",
            _step(first=1),
            "Row 0 has nothing to count. Does the null word write words, too?",
        ),
        _mistake(
            "softmax of the entries",
            _step(lambda weights: np.exp(weights) / np.exp(weights).sum(0)),
            "The entries are probabilities already. What makes a share of them: exponentials, or a division?",
        ),
        _mistake(
            "softmax of the counts",
            _step(table=lambda counts: np.exp(counts) / np.exp(counts).sum(1, keepdims=True)),
            "A word that was never counted gets a probability in your table. Should it?",
        ),
        _mistake(
            "the table as it was",
            lambda t, src, tgt: t,
            "Where do you use src and tgt?",
        ),
    ),
)
