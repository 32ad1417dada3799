"""Exercise: a score as the sum of four questions."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases

Array = NDArray[Any]


def reference(x: Array, p: Array, w_query: Array, w_key: Array) -> Array:
    """Return word-word, word-place, place-word and place-place, (4, length, length)."""
    return np.stack([(a @ w_query) @ (b @ w_key).T for a in (x, p) for b in (x, p)])


def _middle_exchanged(x: Array, p: Array, w_query: Array, w_key: Array) -> Array:
    return reference(x, p, w_query, w_key)[[0, 2, 1, 3]]


def _matrices_exchanged(x: Array, p: Array, w_query: Array, w_key: Array) -> Array:
    return reference(x, p, w_key, w_query)


def _keys_first(x: Array, p: Array, w_query: Array, w_key: Array) -> Array:
    return reference(x, p, w_query, w_key).swapaxes(1, 2)


def _scaled(x: Array, p: Array, w_query: Array, w_key: Array) -> Array:
    return reference(x, p, w_query, w_key) / np.sqrt(w_query.shape[1])


def _whole(x: Array, p: Array, w_query: Array, w_key: Array) -> Array:
    return reference(x, p, w_query, w_key).sum(axis=0)


def _two_terms(x: Array, p: Array, w_query: Array, w_key: Array) -> Array:
    terms = reference(x, p, w_query, w_key)
    terms[1:3] = 0
    return terms


def _same_middle(x: Array, p: Array, w_query: Array, w_key: Array) -> Array:
    return reference(x, p, w_query, w_key)[[0, 1, 1, 3]]


def _query_for_both(x: Array, p: Array, w_query: Array, w_key: Array) -> Array:
    return reference(x, p, w_query, w_query)


def _places_without_matrices(x: Array, p: Array, w_query: Array, w_key: Array) -> Array:
    terms = reference(x, p, w_query, w_key)
    terms[3] = p @ p.T
    return terms


def _word_in_reverse(x: Array, p: Array, w_query: Array, w_key: Array) -> Array:
    return reference(x, p, w_query, w_key)[::-1]


def draw(rng: np.random.Generator) -> tuple[Array, ...]:
    """Return words, places and two matrices."""
    length, width, d_k = (int(n) for n in rng.integers(2, 6, size=3))
    return (*rng.normal(size=(2, length, width)), *rng.normal(size=(2, width, d_k + 1)))


def _numbers(length: int, width: int, d_k: int) -> tuple[Array, ...]:
    """Small whole numbers, so that each product can be checked by hand."""
    rng = np.random.default_rng(length)
    shapes = ((length, width), (length, width), (width, d_k), (width, d_k))
    return tuple(rng.integers(-2, 3, size=shape).astype(float) for shape in shapes)


score_terms = Exercise(
    name="score_terms",
    kind="implement",
    difficulty=2,
    minutes=20,
    statement=(
        "x holds words and p their positions, both (length, d_model). The input of an attention is x + p, "
        "queries are (x + p) @ w_query, keys (x + p) @ w_key, both matrices (d_model, d_k). Split the scores "
        "before scaling, queries times keys, into four parts. Return one array, (4, length, length): word "
        "asks word, word asks place, place asks word, place asks place. A row belongs to the one who asks. "
        "The four sum to the scores."
    ),
    returns=("terms",),
    reference=reference,
    cases=(
        Case(
            "1 token, all of width 1",
            (np.array([[2.0]]), np.array([[3.0]]), np.array([[5.0]]), np.array([[7.0]])),
        ),
        Case("2 tokens, 2 dimensions, d_k 1", _numbers(2, 2, 1)),
        Case("2 tokens, 3 dimensions, d_k 2", _numbers(2, 3, 2)),
        Case("3 tokens, 2 dimensions, d_k 4", _numbers(3, 2, 4)),
        *random_cases(draw, 5),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "the two mixed parts exchanged",
            _middle_exchanged,
            "The first part and the last are right. In the second, who makes the query?",
        ),
        Misconception(
            "matrices of queries and keys exchanged",
            _matrices_exchanged,
            "Which matrix belongs to the one who asks?",
        ),
        Misconception(
            "rows and columns exchanged",
            _keys_first,
            "Your rows belong to the one who is asked.",
        ),
        Misconception(
            "divided by the root of d_k",
            _scaled,
            "The task asks for the scores before scaling.",
        ),
        Misconception(
            "the whole score",
            _whole,
            "That is the sum of the four. The task wants them one by one.",
        ),
        Misconception(
            "mixed parts left out",
            _two_terms,
            "Multiply out (x + p)(x + p): how many products are there?",
        ),
        Misconception(
            "the same mixed part twice",
            _same_middle,
            "A word that asks a place isn't a place that asks a word: their matrices differ.",
        ),
        Misconception(
            "one matrix for queries and keys",
            _query_for_both,
            "There are two matrices. One is still unused.",
        ),
        Misconception(
            "places compared without the matrices",
            _places_without_matrices,
            "Three parts are right. The places go through the same matrices as the words.",
        ),
        Misconception(
            "places before words",
            _word_in_reverse,
            "All four parts are there. In which order does the task want them?",
        ),
    ),
)
