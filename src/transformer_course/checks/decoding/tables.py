"""Beam search in a model of one table: what several exercises of chapter 09 are made of.

The next word depends on the last one only: row = last word, column = next word, entries are log-probabilities.
Word 0 is the end of a sentence; its row says how sentences begin.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Hypothesis = tuple[tuple[int, ...], float]


def search(
    table: Array,
    beam: int,
    max_len: int,
    alpha: float,
    *,
    one_each: bool = False,
    first_only: bool = False,
    by_sum: bool = False,
    multiplied: bool = False,
    plain_length: bool = False,
    end_free: bool = False,
    refilled: bool = False,
    fewer: bool = False,
    at_least_one: bool = False,
    hasty: bool = False,
) -> Array:
    """Return the ids of the best hypothesis, with some of the mistakes.

    Args:
        table: log-probabilities, (n_words, n_words).
        beam: beginnings kept at each step.
        max_len: most words, the end included.
        alpha: strength of the length penalty.
        one_each: mistake: each beginning is continued by its best words only as often as the beam has room.
        first_only: mistake: of the kept ones, only the first may end; others that do are lost.
        by_sum: mistake: the length penalty is left out.
        multiplied: mistake: the sum is multiplied by the length penalty, not divided.
        plain_length: mistake: the penalty is length ** alpha.
        end_free: mistake: the 0 at the end isn't counted as a word.
        refilled: mistake: the place of a finished one goes to another beginning.
        fewer: mistake: each beginning is continued by its beam - 1 best words.
        at_least_one: with `fewer`: but by one, if beam is 1.
        hasty: mistake: the search stops as soon as one is finished.
    """
    open_ones: list[Hypothesis] = [((), 0.0)]
    finished: list[Hypothesis] = []
    for _ in range(max_len):
        candidates = []
        for ids, total in open_ones:
            row = table[ids[-1] if ids else 0]
            words = np.argsort(-row, kind="stable")
            if one_each and ids:
                words = words[:1]
            if fewer:
                words = words[: max(beam - 1, 1) if at_least_one else beam - 1]
            candidates += [((*ids, int(word)), total + float(row[word])) for word in words]
        candidates.sort(key=lambda candidate: -candidate[1])
        kept = candidates[:beam]
        finished += [c for c in kept[: 1 if first_only else beam] if c[0][-1] == 0]
        open_ones = [c for c in (candidates if refilled else kept) if c[0][-1] != 0][:beam]
        if not open_ones or (hasty and finished):
            break

    def score(hypothesis: Hypothesis) -> float:
        ids, total = hypothesis
        length = len(ids) - (end_free and ids[-1] == 0)
        penalty = float(length if plain_length else (5 + length) / 6) ** alpha
        if multiplied:
            return total * penalty
        return total if by_sum else total / penalty

    return np.array(max(finished or open_ones, key=score)[0])


def some_table(rng: np.random.Generator, n_words: int) -> Array:
    """Return the log-probabilities of a random model; no sentence is empty."""
    probs = rng.dirichlet(np.full(n_words, 0.7), size=n_words) + 1e-4
    probs[0, 0] = 1e-9
    return np.asarray(np.log(probs / probs.sum(axis=1, keepdims=True)))
