"""Exercise: one vector for a whole sequence, in a batch with padding."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases

Array = NDArray[Any]
Pool = Callable[[Array, Array], Array]


def _first(states: Array, real: Array) -> Array:
    return states[:, 0]


def _mean(states: Array, real: Array) -> Array:
    return np.asarray((states * real[..., None]).sum(axis=1) / real.sum(axis=1)[:, None])


def _last(states: Array, real: Array) -> Array:
    return np.asarray(states[np.arange(len(states)), real.sum(axis=1) - 1])


def _pool(first: Pool = _first, mean: Pool = _mean, last: Pool = _last) -> Any:
    """Return the function of the exercise with other ways for some of the three names."""

    def pool(states: Array, real: Array, how: str) -> Array:
        return {"first": first, "mean": mean, "last": last}[how](states, real)

    return pool


def reference(states: Array, real: Array, how: str) -> Array:
    """Return one vector a row, (batch, d_model)."""
    return np.asarray(_pool()(states, real, how))


def _moved(step: int) -> Pool:
    """Return a way that takes a neighbour of the last token."""
    return lambda states, real: states[np.arange(len(states)), real.sum(axis=1) - 1 + step]


def _without_first(states: Array, real: Array) -> Array:
    return _mean(states, real & (np.arange(real.shape[1]) > 0))


def _largest(states: Array, real: Array) -> Array:
    return np.asarray(np.where(real[..., None], states, -np.inf).max(axis=1))


def _of_longest(states: Array, real: Array) -> Array:
    return states[:, real.sum(axis=1).max() - 1]


def _always(how: str) -> Any:
    return lambda states, real, _: reference(states, real, how)


def draw(rng: np.random.Generator) -> tuple[Array, Array, str]:
    """Return states, which of them are real, and a way; the first row is shorter than the longest by two."""
    batch, length, d_model = (int(n) for n in rng.integers((2, 4, 1), (5, 8, 5)))
    lengths = rng.integers(2, length + 1, size=batch)
    lengths[0], lengths[-1] = length - 2, length
    real = np.arange(length) < lengths[:, None]
    states = rng.normal(size=(batch, length, d_model)).round(2)
    return states, real, str(rng.choice(["first", "mean", "last"]))


_STATES = np.array([[[2.0, 1.0], [4.0, 7.0], [9.0, 5.0]]])
_TWO = np.array([[True, True, False]])
_BATCH = np.array([[[2.0], [4.0], [9.0], [8.0]], [[3.0], [5.0], [1.0], [7.0]]])
_RAGGED = np.array([[True, True, False, False], [True, True, True, True]])

pool = Exercise(
    name="pool",
    kind="implement",
    difficulty=2,
    minutes=15,
    statement=(
        "Make one vector of a whole sequence. states is (batch, length, d_model), what a model made of each "
        "token; real is boolean, (batch, length), False for padding, which is on the right. Each row has "
        'at least one real token. how is a text: "first" takes the vector of the first token, "last" that of '
        'the last real token, "mean" the mean of all real tokens. Return an array (batch, d_model).'
    ),
    returns=("pooled",),
    reference=reference,
    cases=(
        *(
            Case(f"{how} of two tokens, one padding", (_STATES, _TWO, how))
            for how in ("first", "mean", "last")
        ),
        *(
            Case(f"{how} of one token", (_STATES[:, :1], _TWO[:, :1], how))
            for how in ("mean", "last")
        ),
        *(
            Case(f"{how}, a short row and a long one", (_BATCH, _RAGGED, how))
            for how in ("first", "mean", "last")
        ),
        *random_cases(draw, 9),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "the last place instead of the last token",
            _pool(last=lambda states, real: states[:, -1]),
            "In a short row, padding is at the last place. Where is the last real token?",
        ),
        Misconception(
            "one place behind the last token",
            _pool(last=_moved(1)),
            "A row with two real tokens has them at the places 0 and 1. Which one do you take?",
        ),
        Misconception(
            "one place before the last token",
            _pool(last=_moved(-1)),
            "You take the token before the last one.",
        ),
        Misconception(
            "the place of the longest row for all",
            _pool(last=_of_longest),
            "Each row of the batch has its own length. Whose do you use?",
        ),
        Misconception(
            "padding in the mean",
            _pool(mean=lambda states, real: states.mean(axis=1)),
            "Change a vector at a padded place. Does your mean change?",
        ),
        Misconception(
            "padding in the count",
            _pool(mean=lambda states, real: (states * real[..., None]).mean(axis=1)),
            "Padding adds nothing to your sum. By how many tokens do you divide it?",
        ),
        Misconception(
            "the sum instead of the mean",
            _pool(mean=lambda states, real: (states * real[..., None]).sum(axis=1)),
            "A row of twice as many tokens would have about twice your vector. What is still missing?",
        ),
        Misconception(
            "divided by the tokens of the whole batch",
            _pool(mean=lambda states, real: (states * real[..., None]).sum(axis=1) / real.sum()),
            "With one row you are right. By the tokens of which rows do you divide?",
        ),
        Misconception(
            "the mean of the padding",
            _pool(mean=lambda states, real: _mean(states, ~real)),
            "True in `real` means: this is a token.",
        ),
        Misconception(
            "the first token left out of the mean",
            _pool(mean=_without_first),
            "Some leave out the first token, because it is a mark. The task takes the mean of all real tokens.",
        ),
        Misconception(
            "the largest instead of the mean",
            _pool(mean=_largest),
            "You take the largest of each number. That is a way of pooling too, but which one is asked for?",
        ),
        Misconception(
            "first and last exchanged",
            _pool(first=_last, last=_first),
            "The mean is right. Which of the other two is which?",
        ),
        Misconception("always the mean", _always("mean"), "Where do you use `how`?"),
        Misconception(
            "always the first token",
            _always("first"),
            "Three names are possible. You always do the same.",
        ),
        Misconception(
            "always the last token",
            _always("last"),
            "You do the same for all three names. What is `how` for?",
        ),
        Misconception(
            "an axis of length 1 left",
            lambda states, real, how: reference(states, real, how)[:, None],
            "One vector a row: how many axes should the result have?",
        ),
    ),
)
