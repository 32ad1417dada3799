"""Exercise: cut the width of a batch of words into heads."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases

Array = NDArray[Any]


def reference(x: Array, n_heads: int) -> Array:
    """Return (batch, heads, length, d_k) from (batch, length, d_model)."""
    batch, length, d_model = x.shape
    return x.reshape(batch, length, n_heads, d_model // n_heads).swapaxes(1, 2)


def _cut_alone(x: Array, n_heads: int) -> Array:
    batch, length, d_model = x.shape
    return x.reshape(batch, n_heads, length, d_model // n_heads)


def _every_nth_column(x: Array, n_heads: int) -> Array:
    batch, length, d_model = x.shape
    return x.reshape(batch, length, d_model // n_heads, n_heads).transpose(0, 3, 1, 2)


def _length_first(x: Array, n_heads: int) -> Array:
    return x.reshape(*x.shape[:2], n_heads, -1)


def _keys_ready_for_the_product(x: Array, n_heads: int) -> Array:
    return reference(x, n_heads).swapaxes(-1, -2)


def _words_cut(x: Array, n_heads: int) -> Array:
    batch, length, d_model = x.shape
    return x.swapaxes(1, 2).reshape(batch, n_heads, length, d_model // n_heads)


def _heads_and_width_exchanged(x: Array, n_heads: int) -> Array:
    return reference(x, x.shape[2] // n_heads)


def _words_cut_apart(x: Array, n_heads: int) -> Array:
    return np.stack(np.split(x, n_heads, axis=1), axis=1)


def _words_in_chunks(x: Array, n_heads: int) -> Array:
    """Cut the words as torch's `chunk` does: fewer parts where words are few; unequal ones can't be stacked."""
    batch, length, d_model = x.shape
    return x.reshape(batch, -1, -(-length // n_heads), d_model)


def _heads_in_front(x: Array, n_heads: int) -> Array:
    return np.stack(np.split(x, n_heads, axis=-1))


def _backwards(x: Array, n_heads: int) -> Array:
    return reference(x, n_heads)[:, ::-1]


def draw(rng: np.random.Generator) -> tuple[Array, int]:
    """Return a batch of words, and how many heads."""
    batch, length, n_heads, d_k = (int(n) for n in rng.integers(1, 6, size=4))
    return rng.normal(size=(batch, length, n_heads * d_k)), n_heads


def _addresses(batch: int, length: int, d_model: int) -> Array:
    """Numbers that say where they are: 123 is sentence 1, word 2, column 3."""
    places = np.indices((batch, length, d_model)) + 1
    return 100.0 * places[0] + 10 * places[1] + places[2]


split_heads = Exercise(
    name="split_heads",
    kind="implement",
    difficulty=1,
    minutes=10,
    statement=(
        "Cut words into heads. From x of shape (batch, length, d_model), return the tensor of shape "
        "(batch, heads, length, d_k). Head 1 gets the first d_k columns of every word, head 2 the next "
        "d_k, and so on. d_model is divisible by n_heads."
    ),
    returns=("heads",),
    reference=reference,
    cases=(
        Case("2 words, 4 columns, 2 heads", (_addresses(1, 2, 4), 2)),
        Case("3 words, 4 columns, 2 heads", (_addresses(1, 3, 4), 2)),
        Case("2 sentences, 3 words, 6 columns, 3 heads", (_addresses(2, 3, 6), 3)),
        Case("1 head", (_addresses(2, 3, 4), 1)),
        Case("as many heads as columns", (_addresses(1, 2, 3), 3)),
        Case("1 word", (_addresses(2, 1, 6), 2)),
        *random_cases(draw, 5),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "cut straight into the last shape, without a transpose",
            _cut_alone,
            "The shape is right, but the numbers never moved: one word fills several rows of head 1. "
            "Cut only the last axis first. Which two axes have to change places then?",
        ),
        Misconception(
            "each head takes every n-th column",
            _every_nth_column,
            "Head 1 gets neighbouring columns. In which order are the two new sizes when you cut "
            "the last axis?",
        ),
        Misconception(
            "heads left behind the length",
            _length_first,
            "The cut is right. Attention works on the last two axes: which ones must they be?",
        ),
        Misconception(
            "length and d_k exchanged",
            _keys_ready_for_the_product,
            "Attention itself turns the keys round. Here each word stays a row.",
        ),
        Misconception(
            "transposed before the cut",
            _words_cut,
            "After the transpose the last axis is the length, so the cut goes through the words. In "
            "which order must the two steps come?",
        ),
        Misconception(
            "the number of heads and their width exchanged",
            _heads_and_width_exchanged,
            "How many heads are there, and how wide is each? Print the shape of your result.",
        ),
        Misconception(
            "the words cut into heads, not the columns",
            _words_cut_apart,
            "Each head gets a part of *every* word. Along which axis do you cut?",
        ),
        Misconception(
            "the words cut into heads, not the columns, and fewer heads where words are few",
            _words_in_chunks,
            "Each head gets some columns of every word. Along which axis do you cut?",
        ),
        Misconception(
            "heads in front of the batch",
            _heads_in_front,
            "The batch stays the first axis: each sentence has its heads.",
        ),
        Misconception(
            "heads in reverse order",
            _backwards,
            "Which columns belong to head 1?",
        ),
    ),
)
