"""Exercise: from scores by distance to scores by key, the shift of Transformer-XL (Dai et al. 2019, app. B)."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, random_cases
from transformer_course.checks.tables import with_tables

Array = NDArray[Any]


def _column(row: Array, key: Array, q_len: int, k_len: int) -> Any:
    """Return where row's score for a key stands: one place further right for each query after it."""
    return key + q_len - 1 - row


def _future(row: Array, key: Array, q_len: int, k_len: int) -> Any:
    return key > k_len - q_len + row


def _variant(
    *,
    column: Callable[[Array, Array, int, int], Any] = _column,
    hidden: Callable[[Array, Array, int, int], Any] = _future,
    fill: float = -np.inf,
) -> Callable[[Array], Array]:
    """Return the function of the exercise with other columns, or another mask.

    Args:
        column: (row, key, q_len, k_len) → the column to read; beyond the ends of a row it goes round.
        hidden: (row, key, q_len, k_len) → where `fill` stands.
        fill: what stands there.
    """

    def relative_shift(by_distance: Array) -> Array:
        q_len, k_len = by_distance.shape[-2:]
        row, key = np.arange(q_len)[:, None], np.arange(k_len)[None]
        columns = np.broadcast_to(column(row, key, q_len, k_len) % k_len, (q_len, k_len))
        moved = by_distance[:, row, columns]
        return np.where(hidden(row, key, q_len, k_len), fill, moved)

    return relative_shift


def reference(by_distance: Array) -> Array:
    """Return the scores by key, −∞ where the key comes after the query."""
    return _variant()(by_distance)


def trick(by_distance: Array) -> Array:
    """Move the rows by one column of zeros and two new shapes; what comes after the query is meaningless.

    >>> trick(np.array([[[2, 1, 0], [12, 11, 10], [22, 21, 20]]]))[0]
    array([[ 0,  0, 12],
           [11, 10,  0],
           [22, 21, 20]])
    """
    heads, q_len, k_len = by_distance.shape
    padded = np.pad(by_distance, ((0, 0), (0, 0), (1, 0)))
    return padded.reshape(heads, k_len + 1, q_len)[:, 1:].reshape(heads, q_len, k_len)


def masked(scores: Array) -> Array:
    """Hide what comes after the query.

    Args:
        scores: (heads, q_len, k_len).
    """
    q_len, k_len = scores.shape[-2:]
    return np.where(np.tri(q_len, k_len, k_len - q_len, dtype=bool), scores, -np.inf)


def draw(rng: np.random.Generator) -> tuple[Array]:
    """Return scores by distance; there may be a memory."""
    heads, q_len, memory = (int(n) for n in rng.integers((1, 1, 0), (4, 6, 5)))
    return ((rng.integers(1, 500, size=(heads, q_len, q_len + memory)) / 100),)


def _case(about: str, heads: int, q_len: int, k_len: int) -> Case:
    """Return a case of numbers that say where they are: 32 is query 3, distance 2 (in head 1)."""
    head, row, column = np.indices((heads, q_len, k_len))
    return Case(about, (100.0 * head + 10 * (row + 1) + k_len - 1 - column,))


CASES = (
    _case("three queries, no memory", 1, 3, 3),
    _case("two queries, a memory of two", 1, 2, 4),
    _case("one query, two keys", 1, 1, 2),
    _case("two queries, no memory", 1, 2, 2),
    _case("one token", 1, 1, 1),
    _case("three queries, a memory of two", 1, 3, 5),
    _case("four queries, a memory of one", 1, 4, 5),
    _case("two heads", 2, 2, 3),
    _case("two heads, a longer memory", 2, 3, 7),
)
_mistake = with_tables(reference, CASES, ("by_key",))

relative_shift = Exercise(
    name="relative_shift",
    kind="implement",
    difficulty=3,
    minutes=25,
    statement=(
        "Turn scores by distance into scores by key: the shift of Transformer-XL. The keys are at the "
        "positions 0, …, k_len − 1, and the queries at the last q_len of these. The distance tells how many "
        "places the key is before the query; a token and itself have the distance 0. by_distance is "
        "(heads, q_len, k_len), floating point: row i belongs to query i, and its columns are the distances, "
        "the furthest first: k_len − 1, …, 1, 0. Return an array of the same shape whose column j belongs to "
        "key j; where the key comes after the query, put −∞. Some numbers aren't needed: no key is so far "
        "away.\n\n"
        "An example: three queries and no memory, one head. Each number says whose it is: 21 is the second "
        "query at distance 1. From the rows 12 11 10, 22 21 20, 32 31 30 comes 10 −∞ −∞, 21 20 −∞, 32 31 30."
    ),
    returns=("by_key",),
    reference=reference,
    cases=(*CASES, *random_cases(draw, 8, "random scores")),
    draw=draw,
    misconceptions=(
        _mistake(
            "not shifted",
            _variant(column=lambda row, key, q_len, k_len: key),
            "Only the last row is right. In the first row, which column holds distance 0, and where is the "
            "key at distance 0?",
        ),
        _mistake(
            "shifted to the right",
            _variant(column=lambda row, key, q_len, k_len: key - (q_len - 1 - row)),
            "Which query needs no shift? Of the others, distance 0 is too far on one side. On which?",
        ),
        _mistake(
            "shifted one place too far",
            _variant(column=lambda row, key, q_len, k_len: key + q_len - row),
            "The last row needs no shift. By how much do you shift it?",
        ),
        _mistake(
            "shifted one place too little",
            _variant(
                column=lambda row, key, q_len, k_len: key + np.maximum(q_len - 2 - row, 0),
            ),
            "The last row is right. Does the one above it have to move?",
        ),
        _mistake(
            "the nearest first",
            _variant(column=lambda row, key, q_len, k_len: k_len - q_len + row - key),
            "You read the columns as 0, 1, 2, …. Which distance does the first column have?",
        ),
        _mistake(
            "all rows shifted alike",
            _variant(column=lambda row, key, q_len, k_len: key + q_len - 1),
            "The first row is right. Is each query at the same place?",
        ),
        _mistake(
            "shifted as if the memory were queries",
            _variant(column=lambda row, key, q_len, k_len: key + k_len - 1 - row),
            "Without a memory you are right. With one, the last row still needs no shift: what does its number "
            "of places depend on?",
        ),
        _mistake(
            "the memory forgotten",
            _variant(
                column=lambda row, key, q_len, k_len: key + k_len - 1 - row,
                hidden=lambda row, key, q_len, k_len: key > row,
            ),
            "Without a memory you are right. With one, at which position is the first query? The shift and the "
            "mask depend on it.",
        ),
        _mistake(
            "the mask forgets the memory",
            _variant(hidden=lambda row, key, q_len, k_len: key > row),
            "The shift is right. At which position is the first query, if there is a memory before it?",
        ),
        _mistake(
            "no mask",
            trick,
            "The shift is right. What slides in from the next row is no score: keys after the query have to be "
            "hidden.",
        ),
        _mistake(
            "no mask, and each row goes round",
            _variant(hidden=lambda row, key, q_len, k_len: key < 0),
            "The shift is right. What goes out on one side of a row comes in on the other, and it is no score "
            "of a key there.",
        ),
        _mistake(
            "the mask before the shift",
            lambda by_distance: trick(masked(by_distance)),
            "Your mask is one of keys, and before the shift the columns are distances. So what you hide moves "
            "to other places.",
        ),
        _mistake(
            "a mask before the shift, too",
            lambda by_distance: masked(trick(masked(by_distance))),
            "The mask after the shift is right. The one before it hides scores that are needed: columns are "
            "distances there.",
        ),
        _mistake(
            "a token doesn't see itself",
            _variant(hidden=lambda row, key, q_len, k_len: key >= k_len - q_len + row),
            "Which distance have a token and itself? Is this key after the query?",
        ),
        _mistake(
            "0 in the place of −∞",
            _variant(fill=0.0),
            "The shift is right. Which weight does softmax give to a score of 0?",
        ),
    ),
)
