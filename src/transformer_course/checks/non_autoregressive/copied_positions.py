"""Exercise: which source token stands at each place that the decoder reads (fertilities; Gu et al. 2018)."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, random_cases
from transformer_course.checks.tables import with_tables

Array = NDArray[Any]
Row = Callable[[Array], Array]


def _plain(row: Array) -> Array:
    return np.repeat(np.arange(len(row)), row)


def _rows(one: Row = _plain, *, fill: int = -1, in_front: bool = False) -> Callable[[Array], Array]:
    """Return a function by what it does to one sentence.

    Args:
        one: fertilities of a sentence → the places that are copied.
        fill: what shorter rows are filled up with.
        in_front: whether they are filled up in front.
    """

    def copied_positions(fertilities: Array) -> Array:
        found = [one(row) for row in fertilities]
        width = max(map(len, found))
        result = np.full((len(found), width), fill)
        for row, places in zip(result, found, strict=True):
            row[width - len(places) if in_front else 0 :][: len(places)] = places
        return result

    return copied_positions


def reference(fertilities: Array) -> Array:
    """Return the places, (batch, tgt_len)."""
    return _rows()(fertilities)


def _in_rounds(row: Array) -> Array:
    rounds = [np.flatnonzero(row > done) for done in range(int(row.max()))]
    return np.concatenate(rounds)


def _evenly(row: Array) -> Array:
    return np.arange(row.sum()) * len(row) // row.sum()


def _cut(fertilities: Array) -> Array:
    return reference(fertilities)[:, : int(fertilities.sum(1).min())]


def draw(rng: np.random.Generator) -> tuple[Array]:
    """Return fertilities; each sentence has one above 0."""
    batch, src_len = (int(n) for n in rng.integers((2, 4), (5, 9)))
    fertilities = rng.integers(4, size=(batch, src_len)) * rng.integers(2, size=(batch, src_len))
    fertilities[np.arange(batch), rng.integers(src_len, size=batch)] = rng.integers(
        1, 4, size=batch
    )
    return (fertilities,)


CASES = (
    Case("fertilities 2, 0, 1, 3", (np.array([[2, 0, 1, 3]]),)),
    Case("each word once", (np.array([[1, 1, 1]]),)),
    Case("two sentences", (np.array([[1, 2, 0], [0, 1, 0]]),)),
    Case("the second sentence is longer", (np.array([[0, 2], [3, 1]]),)),
    Case("one word writes all", (np.array([[0, 0, 3]]),)),
)
_mistake = with_tables(reference, CASES, ("positions",))

copied_positions = Exercise(
    name="copied_positions",
    kind="implement",
    difficulty=2,
    minutes=15,
    statement=(
        "A model with fertilities gives its decoder the source, with each token copied as often as its "
        "fertility says. Find out which source token is at each place. fertilities, (batch, src_len), are "
        "whole numbers, 0 or more; each row has one above 0. Return whole numbers, (batch, tgt_len): at each "
        "place the position of the source token that is copied there, counted from 0. The copies of a token "
        "are side by side, and the tokens keep their order. tgt_len is the largest sum of a row; shorter "
        "rows are filled up at their end with −1.\n\n"
        "An example: fertilities = [[1, 2, 0], [0, 1, 0]]. The first sentence copies token 0 once and token 1 "
        "twice: 0 1 1. The second one copies token 1 once: 1, filled up to 1 −1 −1."
    ),
    returns=("positions",),
    reference=reference,
    cases=(*CASES, *random_cases(draw, 6, "longer sentences")),
    draw=draw,
    misconceptions=(
        _mistake(
            "filled up with 0",
            _rows(fill=0),
            "Which source token does a 0 stand for? What should be written where nothing is copied?",
        ),
        _mistake(
            "counted from 1",
            lambda fertilities: np.where(
                reference(fertilities) < 0, -1, reference(fertilities) + 1
            ),
            "What is the position of the first source token?",
        ),
        _mistake(
            "filled up in front",
            _rows(in_front=True),
            "All copies are there. Where do shorter rows end?",
        ),
        _mistake(
            "one copy of each token, then the next round",
            _rows(_in_rounds),
            "Your row begins again and again. Where should the copies of one token be?",
        ),
        _mistake(
            "the source spread evenly",
            _rows(_evenly),
            "The lengths are right, but each token is copied about as often as any other. What do the "
            "fertilities say?",
        ),
        _mistake(
            "every token at least once",
            _rows(lambda row: _plain(np.maximum(row, 1))),
            "How often is a token of fertility 0 copied?",
        ),
        _mistake(
            "every token at most once",
            _rows(lambda row: np.flatnonzero(row)),
            "How often is a token of fertility 2 copied?",
        ),
        _mistake(
            "one copy too many",
            _rows(lambda row: _plain(row + 1)),
            "You count the token itself beside its copies. What is the length of the row?",
        ),
        _mistake(
            "the last token first",
            _rows(lambda row: _plain(row)[::-1]),
            "The tokens keep their order. Which one comes first?",
        ),
        _mistake(
            "fertilities in the place of positions",
            _rows(lambda row: np.repeat(row, row)),
            "Your numbers say how often a token is copied. Which token is it?",
        ),
        _mistake(
            "cut to the shortest sentence",
            _cut,
            "Which sentence decides how long the rows are?",
        ),
        _mistake(
            "the length of the source",
            lambda fertilities: np.resize(
                np.pad(
                    reference(fertilities), ((0, 0), (0, fertilities.shape[1])), constant_values=-1
                )[:, : fertilities.shape[1]],
                fertilities.shape,
            ),
            "Your rows are as long as the source. How long is the translation?",
        ),
        _mistake(
            "where each token's copies end",
            lambda fertilities: fertilities.cumsum(1),
            "A running sum is a good beginning: it says where the copies of each token end. Which token "
            "covers each place?",
        ),
    ),
)
