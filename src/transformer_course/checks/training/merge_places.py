"""Exercise: where one round of byte-pair encoding joins two symbols."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases

Array = NDArray[Any]


def _places(order: Callable[[int], range], *, overlapping: bool = False, both: bool = False) -> Any:
    """Return the function of the exercise with the mistakes asked for."""

    def found(symbols: Array, left: int, right: int) -> Array:
        starts = np.zeros(len(symbols), dtype=bool)
        used = np.zeros(len(symbols), dtype=bool)
        for i in order(len(symbols)):
            here = (int(symbols[i]), int(symbols[i + 1]))
            matches = here == (left, right) or (both and here == (right, left))
            if matches and (overlapping or not used[i : i + 2].any()):
                starts[i] = True
                used[i : i + 2] = True
        return starts

    return found


def _forwards(length: int) -> range:
    return range(length - 1)


def reference(symbols: Array, left: int, right: int) -> Array:
    """Return True where a joined pair begins, (n,)."""
    result: Array = _places(_forwards)(symbols, left, right)
    return result


def _second(symbols: Array, left: int, right: int) -> Array:
    starts = reference(symbols, left, right)
    return np.concatenate([[False], starts[:-1]])


def _covered(symbols: Array, left: int, right: int) -> Array:
    return reference(symbols, left, right) | _second(symbols, left, right)


def _first_only(symbols: Array, left: int, right: int) -> Array:
    starts = reference(symbols, left, right)
    return starts & (np.cumsum(starts) == 1)


def _as_numbers(symbols: Array, left: int, right: int) -> Array:
    return np.flatnonzero(reference(symbols, left, right))


def _one_entry_less(symbols: Array, left: int, right: int) -> Array:
    return reference(symbols, left, right)[:-1]


def _never_two_neighbours(symbols: Array, left: int, right: int) -> Array:
    """Leave one symbol out after each pair: a step of 3 instead of 2."""
    starts = np.zeros(len(symbols), dtype=bool)
    i = 0
    while i < len(symbols) - 1:
        starts[i] = (int(symbols[i]), int(symbols[i + 1])) == (left, right)
        i += 3 if starts[i] else 1
    return starts


def draw(rng: np.random.Generator) -> tuple[Array, int, int]:
    """Return a sequence of few different symbols, so that pairs are frequent, and a pair."""
    length = int(rng.integers(8, 30))
    pair = rng.integers(0, 3, size=2)
    symbols = rng.choice([0, 1, 2, *pair, *pair], size=length)
    symbols[-2:] = pair  # also at the very end
    return symbols, int(pair[0]), int(pair[1])


merge_places = Exercise(
    name="merge_places",
    kind="implement",
    difficulty=2,
    minutes=15,
    statement=(
        "Find where one round of byte-pair encoding joins two symbols. symbols holds the numbers of n "
        "symbols; the pair to be joined is left followed by right. Go from left to right; a symbol that was "
        "joined can't be joined again. Return an array of n values, True or False: True where a joined pair "
        "begins."
    ),
    returns=("starts",),
    reference=reference,
    cases=(
        Case("one pair", (np.array([7, 1, 2, 5]), 1, 2)),
        Case("two pairs side by side", (np.array([1, 2, 1, 2]), 1, 2)),
        Case("three alike", (np.array([4, 4, 4]), 4, 4)),
        Case("four alike, then another", (np.array([4, 4, 4, 4, 6]), 4, 4)),
        Case("the reverse", (np.array([2, 1, 3]), 1, 2)),
        Case("no pair", (np.array([1, 3, 2, 3]), 1, 2)),
        Case("left at the end, right at the start", (np.array([2, 3, 1]), 1, 2)),
        Case("a single symbol", (np.array([4]), 4, 4)),
        *random_cases(draw, 6),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "a symbol joined twice",
            _places(_forwards, overlapping=True),
            "Look at three equal symbols. If the first two become one, is the second one still there for the "
            "third?",
        ),
        Misconception(
            "from right to left",
            _places(lambda length: range(length - 2, -1, -1)),
            "Of three equal symbols, which two are joined? The order of the search decides.",
        ),
        Misconception(
            "in either order",
            _places(_forwards, both=True),
            "Is the pair 'c, h' the same as 'h, c'?",
        ),
        Misconception(
            "the end of the pair marked",
            _second,
            "You mark the right symbols. The task asks for another place of each pair.",
        ),
        Misconception(
            "both symbols marked",
            _covered,
            "You mark two places for each pair.",
        ),
        Misconception(
            "only the first pair",
            _first_only,
            "One round joins the pair wherever it occurs.",
        ),
        Misconception(
            "one symbol too far after a pair",
            _never_two_neighbours,
            "Look at two pairs side by side. How many symbols does a pair use up?",
        ),
        Misconception(
            "the numbers of the places instead of a value for each symbol",
            _as_numbers,
            "You return where pairs begin, as numbers. The task wants an answer for each of the n symbols.",
        ),
        Misconception(
            "no answer for the last symbol",
            _one_entry_less,
            "No pair begins at the last symbol, but it has an answer too. How many values do you return?",
        ),
        Misconception(
            "a pair across the end",
            lambda symbols, left, right: (
                reference(symbols, left, right)
                | (
                    (np.arange(len(symbols)) == len(symbols) - 1)
                    & (len(symbols) > 1)
                    & (symbols[-1] == left)
                    & (symbols[0] == right)
                )
            ),
            "Is the first symbol of a word the neighbour of its last one?",
        ),
    ),
)
