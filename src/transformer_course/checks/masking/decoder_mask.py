"""Exercise: the mask of the decoder's self-attention, causal and padding."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases

Array = NDArray[Any]


def _causal(length: int, shift: int = 0) -> Array:
    return np.tri(length, k=shift, dtype=bool)


def _real(ids: Array, pad_id: int) -> Array:
    """Return True for each key that isn't padding, (batch, 1, k_len)."""
    return (ids != pad_id)[:, None, :]


def reference(ids: Array, pad_id: int = 0) -> Array:
    """Return the mask, True = may attend, (batch, 1, length, length)."""
    return (_real(ids, pad_id) & _causal(ids.shape[1]))[:, None]


def _mask(of: Callable[[Array, Array], Array], shift: int = 0) -> Callable[[Array, int], Array]:
    """Return a wrong mask made from the padding's and the causal one; it gets an axis for the heads."""

    def wrong(ids: Array, pad_id: int = 0) -> Array:
        real, causal = _real(ids, pad_id), _causal(ids.shape[1], shift)
        table = of(real, causal)
        return np.broadcast_to(table, (*ids.shape, ids.shape[1]))[:, None].copy()

    return wrong


def _first_ones(real: Array) -> Array:
    """Return True for as many keys as are real, but the first ones of each row."""
    return np.arange(real.shape[-1]) < real.sum(-1, keepdims=True)


def _rows(real: Array) -> Array:
    return real.swapaxes(1, 2)


def draw(rng: np.random.Generator) -> tuple[Array, int]:
    """Return ids of a batch, padded at the right or at the left, and the id of padding."""
    pad_id = int(rng.choice([0, 0, 9]))
    batch, length = (int(n) for n in rng.integers(2, 7, size=2))
    ids = rng.integers(1, 9, size=(batch, length))
    for row in ids:
        n_real = int(rng.integers(1, length + 1))
        row[n_real:] = pad_id
        if rng.random() < 0.3:
            row[:] = row[::-1]
    return ids, pad_id


decoder_mask = Exercise(
    name="decoder_mask",
    kind="implement",
    difficulty=2,
    minutes=15,
    statement=(
        "Write the mask of the decoder's self-attention. The function gets token ids, shape (batch, "
        "length), and the id of padding. It returns True and False, shape (batch, 1, length, length), "
        "True = may attend: no query may attend to a key that comes later, nor to a key that is "
        "padding."
    ),
    returns=("mask",),
    reference=reference,
    cases=(
        Case("one token", (np.array([[5]]), 0)),
        Case("two tokens", (np.array([[1, 5]]), 0)),
        Case("a token and a padding", (np.array([[1, 0]]), 0)),
        Case("three tokens", (np.array([[1, 5, 6]]), 0)),
        Case("two sentences, one padded", (np.array([[1, 5, 6], [1, 7, 0]]), 0)),
        Case("padded at the left", (np.array([[0, 1, 5], [0, 0, 1]]), 0)),
        Case("as many sentences as tokens", (np.array([[1, 0, 0], [1, 5, 0], [1, 7, 9]]), 0)),
        Case("padding has the id 7", (np.array([[7, 0, 5], [0, 5, 7]]), 7)),
        *random_cases(draw, 6),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "the current token hidden too",
            _mask(lambda real, causal: real & causal, shift=-1),
            "Your diagonal is False. The input is shifted by one: is the current input the answer "
            "of its row?",
        ),
        Misconception(
            "one column too many",
            _mask(lambda real, causal: real & causal, shift=1),
            "Each row sees one token of the future. Where exactly does the future begin?",
        ),
        Misconception(
            "the lower triangle hidden",
            _mask(lambda real, causal: real & causal.T),
            "Your rows see what comes later. Rows are queries, columns are keys: on which side of "
            "the diagonal is the future?",
        ),
        Misconception(
            "the polarity turned round",
            _mask(lambda real, causal: ~(real & causal)),
            "Every answer is the opposite of what is asked for. What does True mean in this course?",
        ),
        Misconception(
            "the padding turned round",
            _mask(lambda real, causal: ~real & causal),
            "The future is hidden, but of the rest only padding may be seen. What does True mean?",
        ),
        Misconception(
            "padding not hidden",
            _mask(lambda real, causal: causal),
            "The future is hidden. What about the tokens with id 0?",
        ),
        Misconception(
            "the future not hidden",
            _mask(lambda real, causal: real),
            "Padding is hidden. What about the tokens that come later?",
        ),
        Misconception(
            "one of the two masks is enough",
            _mask(lambda real, causal: real | causal),
            "You let a key through if one mask allows it. Must not both allow it?",
        ),
        Misconception(
            "the rows of padding hidden, not the columns",
            _mask(lambda real, causal: _rows(real) & causal),
            "Your padded queries see nothing, but padding before a token is still seen. Whom must the "
            "mask keep from being looked at?",
        ),
        Misconception(
            "rows and columns of padding hidden",
            _mask(lambda real, causal: real & _rows(real) & causal),
            "Columns are right. The rows of padding may look at real tokens: nobody reads them, and "
            "a row that sees nothing is trouble.",
        ),
        Misconception(
            "0 taken for padding, whatever its id is",
            lambda ids, pad_id=0: reference(ids),
            "Padding has another id in some cases. Where do you use `pad_id`?",
        ),
        Misconception(
            "padding taken to be at the right",
            _mask(lambda real, causal: _first_ones(real) & causal),
            "You count the real tokens well, and show the first places. Where does padding stand in each row?",
        ),
        Misconception(
            "the padding of the first sentence for all",
            _mask(lambda real, causal: real[:1] & causal),
            "Each sentence of the batch has its own padding. Whose do you use?",
        ),
        Misconception(
            "the sentences of the batch in reverse order",
            lambda ids, pad_id=0: reference(ids[::-1], pad_id),
            "The sentences have changed places on the way.",
        ),
        Misconception(
            "the axis of the heads forgotten",
            lambda ids, pad_id=0: reference(ids, pad_id)[:, 0],
            "Scores have the shape (batch, heads, q_len, k_len). Where does your mask have an axis "
            "for the heads?",
        ),
        Misconception(
            "a mask to be added",
            lambda ids, pad_id=0: np.where(reference(ids, pad_id), 0.0, -np.inf),
            "These are numbers to add to the scores. The task asks for True and False.",
        ),
    ),
)
