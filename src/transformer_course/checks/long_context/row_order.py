"""Exercise: the order of rows that carries a checkpoint from one rotary layout to the other."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, random_cases
from transformer_course.checks.tables import with_tables

Array = NDArray[Any]


def _of_a_head(d_k: int) -> Array:
    """Return the order inside one head: all first numbers of the pairs, then all second ones."""
    return np.concatenate([np.arange(0, d_k, 2), np.arange(1, d_k, 2)])


def _per_head(
    inside: Callable[[int], Array],
    start: Callable[[Array, int], Array] = lambda head, d_k: head * d_k,
) -> Callable[[int, int], Array]:
    """Return an order by the one inside a head.

    Args:
        inside: d_k → the order inside a head, (d_k,).
        start: (numbers of the heads, d_k) → what is added in each head.
    """

    def row_order(n_heads: int, d_k: int) -> Array:
        starts = start(np.arange(n_heads), d_k)
        return np.asarray((starts[:, None] + inside(d_k)).ravel())

    return row_order


def reference(n_heads: int, d_k: int) -> Array:
    """Return the order, (n_heads · d_k,)."""
    return _per_head(_of_a_head)(n_heads, d_k)


def _heads_mixed(n_heads: int, d_k: int) -> Array:
    return np.arange(n_heads * d_k).reshape(n_heads, d_k).T.ravel()


def _pair_of_all_heads(n_heads: int, d_k: int) -> Array:
    pairs = np.arange(n_heads * d_k).reshape(n_heads, d_k // 2, 2)
    return pairs.transpose(1, 0, 2).ravel()


def draw(rng: np.random.Generator) -> tuple[int, int]:
    """Return a number of heads, and d_k."""
    return int(rng.integers(2, 100)), 2 * int(rng.integers(4, 120))


CASES = (
    Case("two heads, two pairs", (2, 4)),
    Case("one head, three pairs", (1, 6)),
    Case("one head, one pair", (1, 2)),
    Case("two heads, one pair", (2, 2)),
    Case("two heads, three pairs", (2, 6)),
    Case("three heads, three pairs", (3, 6)),
    Case("three heads, four pairs", (3, 8)),
)
_mistake = with_tables(reference, CASES, ("order",))

row_order = Exercise(
    name="row_order",
    kind="implement",
    difficulty=2,
    minutes=15,
    statement=(
        "A checkpoint was trained with rotary positions in the interleaved layout: the pairs of a head are its "
        "numbers 0 and 1, 2 and 3, and so on. Your model turns halves: its pair j is number j and number j + "
        "d_k/2 of a head. The rows of W_Q and W_K, each (n_heads · d_k, d_model), make these numbers: first "
        "the d_k rows of head 0, then those of head 1. Put the rows into another order, the same for W_Q and "
        "W_K, so that pair j of the checkpoint becomes pair j of your model, in each head, with its first "
        "number first. Return this order: whole numbers, (n_heads · d_k,); row i of the new matrix is row "
        "order[i] of the old one, as in W_Q[order]. d_k is even.\n\n"
        "An example: one head and d_k = 6. The pairs of the checkpoint are 0 1, 2 3, 4 5. In halves, all first "
        "numbers come first: the order is 0 2 4 1 3 5."
    ),
    returns=("order",),
    reference=reference,
    cases=(*CASES, *random_cases(draw, 3, "larger sizes")),
    draw=draw,
    misconceptions=(
        _mistake(
            "the way back",
            _per_head(lambda d_k: _of_a_head(d_k).argsort()),
            "Your order brings a checkpoint in halves to the interleaved layout. Is order[i] the row that "
            "comes to place i, or the place to which row i goes?",
        ),
        _mistake(
            "all heads at once",
            lambda n_heads, d_k: _of_a_head(n_heads * d_k),
            "With one head you are right. With two, rows leave their head: which rows belong to head 0, before "
            "and after?",
        ),
        _mistake(
            "the order of head 0 for all heads",
            _per_head(_of_a_head, lambda head, d_k: 0 * head),
            "Some rows come twice in your order, and others are lost. Where do the rows of head 1 begin?",
        ),
        _mistake(
            "head 0 alone",
            lambda n_heads, d_k: _of_a_head(d_k),
            "With one head you are right. How many rows has the matrix?",
        ),
        _mistake(
            "only head 0 put in order",
            lambda n_heads, d_k: np.concatenate([_of_a_head(d_k), np.arange(d_k, n_heads * d_k)]),
            "Head 0 is right. Are the other heads turned, too?",
        ),
        _mistake(
            "nothing moved",
            _per_head(np.arange),
            "Your order leaves all as it was. Which number is the partner of number 0 before, and which after?",
        ),
        _mistake(
            "the second numbers first",
            _per_head(lambda d_k: np.roll(_of_a_head(d_k), d_k // 2)),
            "The pairs are right, but in each of them the first and the second number have changed places. "
            "Then they turn the other way.",
        ),
        _mistake(
            "each pair turned round",
            _per_head(lambda d_k: np.arange(d_k) ^ 1),
            "You exchange neighbours. In halves, how far apart are the two numbers of a pair?",
        ),
        _mistake(
            "the halves exchanged",
            _per_head(lambda d_k: np.roll(np.arange(d_k), d_k // 2)),
            "Number 0 and its neighbour are a pair of the checkpoint. In your order they are still neighbours.",
        ),
        _mistake(
            "the pairs in reverse order",
            _per_head(
                lambda d_k: np.concatenate([np.arange(0, d_k, 2)[::-1], np.arange(1, d_k, 2)[::-1]])
            ),
            "The partners are right. But each pair has an angle of its own: which pair turns fastest?",
        ),
        _mistake(
            "number by number across the heads",
            _heads_mixed,
            "In your order the first rows are number 0 of each head. The rows of a head stay together.",
        ),
        _mistake(
            "pair by pair across the heads",
            _pair_of_all_heads,
            "Your pairs leave their heads, and inside a pair nothing moves. Which of the two is asked for?",
        ),
        _mistake(
            "counted from 1",
            lambda n_heads, d_k: reference(n_heads, d_k) + 1,
            "What is the index of the first row?",
        ),
    ),
)
