"""Exercise: three mistakes in a decoder that looks back."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases
from transformer_course.checks.seq2seq.look_back import softmax

Array = NDArray[Any]


def _variant(
    *, asks_with_h: bool = False, not_divided: bool = False, starts_again: bool = False
) -> Any:
    """Return the function of the exercise with the mistakes asked for."""

    def written_states(y: Array, h: Array, s: Array, a: Array, w: Array) -> Array:
        states = []
        for i, word in enumerate(y):
            asking = h[i] if asks_with_h else s
            scores = h @ a @ asking
            weights = np.exp(scores) if not_divided else softmax(scores)
            states.append(np.tanh(w @ np.concatenate([s, word, weights @ h])))
            s = s if starts_again else states[-1]
        return np.stack(states)

    return written_states


def reference(y: Array, h: Array, s: Array, a: Array, w: Array) -> Array:
    """Return the decoder's states, (tgt_len, d)."""
    result: Array = _variant()(y, h, s, a, w)
    return result


def _one_look(y: Array, h: Array, s: Array, a: Array, w: Array) -> Array:
    context = softmax(h @ a @ s) @ h
    states = []
    for word in y:
        s = np.tanh(w @ np.concatenate([s, word, context]))
        states.append(s)
    return np.stack(states)


def _asks_with_the_word(y: Array, h: Array, s: Array, a: Array, w: Array) -> Array:
    states = []
    for word in y:
        s = np.tanh(w @ np.concatenate([s, word, softmax(h @ a @ word) @ h]))
        states.append(s)
    return np.stack(states)


def _last_only(y: Array, h: Array, s: Array, a: Array, w: Array) -> Array:
    return np.repeat(reference(y, h, s, a, w)[-1:], len(y), axis=0)


def _with_matrices(change: Any) -> Any:
    """Return the decoder with other matrices a and w; `change` gets a, w and d."""

    def wrong(y: Array, h: Array, s: Array, a: Array, w: Array) -> Array:
        return reference(y, h, s, *change(a, w, len(s)))

    return wrong


def draw(rng: np.random.Generator) -> tuple[Array, ...]:
    """Return written words, encoder states, a first state, and two matrices."""
    d, tgt_len, more = (int(n) for n in rng.integers(1, 5, size=3))
    src_len = tgt_len + more  # else asking with h_i would stop with an error
    return (
        rng.normal(size=(tgt_len, d)),
        rng.normal(size=(src_len, d)),
        rng.normal(size=d),
        rng.normal(size=(d, d)),
        rng.normal(size=(d, 3 * d)) / 2,
    )


def _random(about: str, src_len: int, tgt_len: int, d: int = 2) -> Case:
    rng = np.random.default_rng(7)
    return Case(
        about,
        (
            rng.integers(-1, 2, size=(tgt_len, d)) + 0.5,
            rng.integers(-2, 3, size=(src_len, d)) / 2,
            np.ones(d),
            np.eye(d) + rng.integers(0, 2, size=(d, d)),
            rng.integers(-2, 3, size=(d, 3 * d)) / 4,
        ),
    )


def _large() -> tuple[Array, ...]:
    """First scores from 3 to 6: softmax fails if it subtracts their product, not the largest."""
    h = np.column_stack(
        ([2.0, 1.0, 2.0, 1.0, 3.0, 1.5, 2.0, 0.5], [1.0, 1.0, 0.5, 1.5, 1.0, 1.0, 2.0, 1.5])
    )
    w = np.array([[0.5, -0.5, 0.25, 0.0, 0.5, -0.5], [0.0, 0.25, -0.25, 0.5, -0.5, 0.5]])
    return np.array([[0.5, -0.5], [1.5, 0.5]]), h, np.ones(2), np.array([[1.0, 0.0], [1.0, 1.0]]), w


MISTAKES = {
    "asks with the encoder's state i": {"asks_with_h": True},
    "weights that don't sum to 1": {"not_divided": True},
    "every word from the first state": {"starts_again": True},
}
HINTS = {
    "asks with the encoder's state i": (
        "Two of three are mended. Who asks before word i is written, and what is asked?"
    ),
    "weights that don't sum to 1": "Two of three are mended. Add up the weights of one look.",
    "every word from the first state": (
        "Two of three are mended. Word 3 should depend on word 1. Which state goes into each step?"
    ),
}
TWO_LEFT = {  # by the mistake that is mended
    "asks with the encoder's state i": (
        "One of three is mended: the state asks. What do the weights of one look sum to?"
    ),
    "weights that don't sum to 1": (
        "One of three is mended: the weights sum to 1. From which state does the third word start?"
    ),
    "every word from the first state": (
        "One of three is mended: each state comes from the one before. Whose question are the scores?"
    ),
}


def _left() -> tuple[Misconception, ...]:
    """All sets of mistakes that can be left over."""
    names = list(MISTAKES)
    found = [Misconception(n, _variant(**MISTAKES[n]), HINTS[n]) for n in names]
    for gone in reversed(names):
        rest = [n for n in names if n != gone]
        flags = {key: True for n in rest for key in MISTAKES[n]}
        found.append(Misconception(" and ".join(rest), _variant(**flags), TWO_LEFT[gone]))
    everything = {key: True for n in names for key in MISTAKES[n]}
    found.append(
        Misconception(
            "all three mistakes still there",
            _variant(**everything),
            "Nothing is mended yet. Take the four lines of the equation, and find each in the loop.",
        )
    )
    return tuple(found)


written_states = Exercise(
    name="written_states",
    kind="spot the bug",
    difficulty=3,
    minutes=25,
    statement=(
        "The function below is a decoder that looks back. y holds the words written before, (tgt_len, d), h "
        "the encoder's states, (src_len, d), s the decoder's first state, (d,). The score of place j is h_j · "
        "(a s), with a of shape (d, d). The new state is tanh(w [s; y_i; context]), with w of shape (d, 3 * "
        "d). The function runs, and it holds three mistakes. Write it without them. Return all states as one "
        "array, (tgt_len, d)."
    ),
    returns=("states",),
    reference=reference,
    cases=(
        _random("3 words, 3 encoder states", 3, 3),
        _random("3 words, 4 encoder states", 4, 3),
        _random("2 words, 3 encoder states", 3, 2),
        _random("4 words, 5 encoder states, width 3", 5, 4, 3),
        _random("1 word, 2 encoder states", 2, 1),
        Case("2 words, 8 encoder states, large scores", _large()),
        *random_cases(draw, 6),
    ),
    draw=draw,
    misconceptions=(
        *_left(),
        Misconception(
            "the word before the state in the row",
            _with_matrices(
                lambda a, w, d: (
                    a,
                    np.concatenate([w[:, d : 2 * d], w[:, :d], w[:, 2 * d :]], axis=1),
                )
            ),
            "Three vectors are written in a row before the matrix w. In which order?",
        ),
        Misconception(
            "a transposed",
            _with_matrices(lambda a, w, d: (a.T, w)),
            "Does a multiply the state, or the encoder's states? Look at the score in the task.",
        ),
        Misconception(
            "one look for all words",
            _one_look,
            "You look back once, before the first word. How often does the decoder look?",
        ),
        Misconception(
            "asks with the word written before",
            _asks_with_the_word,
            "The word alone doesn't know what was written before it. Which vector does?",
        ),
        Misconception(
            "the last state for every word",
            _last_only,
            "Keep the state of every step, not only the last one.",
        ),
    ),
)
