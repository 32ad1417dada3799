"""Exercise: what becomes of output and weights when the words are put in another order."""

from typing import Any

import numpy as np

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases
from transformer_course.checks.self_attention.numbers import (
    Array,
    Results,
    attend,
    cat_eats_fish,
    matrices,
)


def reference(output: Array, weights: Array, order: list[int]) -> Results:
    """Return output and weights of the sentence in its new order."""
    return output[order], weights[order][:, order]


def _back(order: list[int]) -> list[int]:
    return [int(place) for place in np.argsort(order)]


def draw(rng: np.random.Generator) -> tuple[Any, ...]:
    """Return output and weights of a random sentence, and a new order."""
    n, d_model, d_k, d_v = (int(size) for size in rng.integers(3, 6, size=4))
    x, (w_query, w_key, w_value) = rng.normal(size=(n, d_model)), matrices(rng, d_model, d_k, d_v)
    order = [int(place) for place in rng.permutation(n)]
    return *attend(x @ w_query, x @ w_key, x @ w_value), order


def _of_the_cat(order: list[int]) -> tuple[Any, ...]:
    x, w_query, w_key, w_value = cat_eats_fish()
    return *attend(x @ w_query, x @ w_key, x @ w_value), order


shuffled = Exercise(
    name="shuffled",
    kind="implement",
    difficulty=2,
    minutes=15,
    statement=(
        "Self-attention without a mask was computed for a sentence: output (n, d_v) and weights "
        "(n, n). Now its words are put in another order: word number `order[0]` comes first, then "
        "word number `order[1]`, and so on; `order` is a list of n numbers. Return output and "
        "weights of the new sentence, without computing attention again."
    ),
    returns=("output", "weights"),
    reference=reference,
    cases=(
        Case("cat eats fish becomes fish cat eats", _of_the_cat([2, 0, 1])),
        Case("cat eats fish becomes fish eats cat", _of_the_cat([2, 1, 0])),
        Case("the order stays", _of_the_cat([0, 1, 2])),
        *random_cases(draw, 6, "a random sentence"),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "nothing changes",
            lambda output, weights, order: (output.copy(), weights.copy()),
            "Each result belongs to its word. When the word moves, where does its result go?",
        ),
        Misconception(
            "only the rows of the weights moved",
            lambda output, weights, order: (output[order], weights[order]),
            "The words that ask have moved. Those that are asked are the same words: they have "
            "moved too.",
        ),
        Misconception(
            "only the columns of the weights moved",
            lambda output, weights, order: (output[order], weights[:, order]),
            "The words that are asked have moved. Those that ask are the same words: they have "
            "moved too.",
        ),
        Misconception(
            "weights as they were",
            lambda output, weights, order: (output[order], weights.copy()),
            "The output is right. Whose weights are in row 0 now?",
        ),
        Misconception(
            "output as it was",
            lambda output, weights, order: (output.copy(), weights[order][:, order]),
            "The weights are right. The output of a word moves with its word, like its weights.",
        ),
        Misconception(
            "moved the other way round",
            lambda output, weights, order: reference(output, weights, _back(order)),
            "You put word number i at place order[i]. Read again: which word comes first?",
        ),
        Misconception(
            "the columns of the weights moved the other way round",
            lambda output, weights, order: (output[order], weights[order][:, _back(order)]),
            "Rows are right. Those who are asked are in the same new order as those who ask.",
        ),
        Misconception(
            "single weights picked instead of rows and columns",
            lambda output, weights, order: (output[order], weights[order, order]),
            "With two lists in one pair of brackets, NumPy picks pairs: only the diagonal. Move "
            "rows first, then columns.",
        ),
        Misconception(
            "the weights turned round",
            lambda output, weights, order: (output[order], weights[order][:, order].T),
            "The numbers are the right ones, but rows and columns are exchanged.",
        ),
        Misconception(
            "the order of the words reversed, whatever was asked",
            lambda output, weights, order: (output[::-1], weights[::-1, ::-1]),
            "You always turn the sentence round. Where do you use `order`?",
        ),
    ),
)
