"""Exercise: a leak test of your own, which measures how each token moves each output."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases

Array = NDArray[Any]
N_IDS, WIDTH = 9, 2


class Model:
    """A model to be tested: each output is a mix of vectors of the tokens that it sees.

    It takes ids, (length,), as an array or a tensor, and returns (length, 2) of the same kind.

    Args:
        sees: how much of each token each output takes, (length, length).
        seed: of the tokens' vectors.
    """

    def __init__(self, sees: Array, seed: int = 0) -> None:
        self.sees = np.array(sees, dtype=float)
        self.vectors = np.random.default_rng(seed).normal(size=(N_IDS, WIDTH))

    def __call__(self, ids: Any) -> Any:
        """Return the outputs."""
        numbers = np.asarray(ids).astype(int)
        outputs = np.tanh(self.sees @ self.vectors[numbers])  # (length, 2)
        return torch.tensor(outputs) if isinstance(ids, torch.Tensor) else outputs

    def __repr__(self) -> str:
        """The same text in every run."""
        return f"<a model that was given for {len(self.sees)} tokens>"


def _influence(
    model: Any, ids: Array, other: int, *, restored: bool = True, how: Any = None
) -> Array:
    """Return the table, with ways to go wrong."""
    how = how or (lambda after, before: np.abs(after - before).max(-1))
    before, table, changed = np.asarray(model(ids)), [], ids.copy()
    for source in range(len(ids)):
        if restored:
            changed = ids.copy()
        changed[source] = other
        table.append(how(np.asarray(model(changed)), before))
    return np.stack(table, axis=1)


def reference(model: Any, ids: Array, other: int) -> Array:
    """Return [position, source]: the largest change of an output when one token becomes `other`."""
    return _influence(model, ids, other)


def _by_gap(model: Any, ids: Array, other: int) -> Array:
    before, table = np.asarray(model(ids)), []
    for source in range(len(ids)):
        changed = ids.copy()
        changed[source] = (ids[source] + 1) % N_IDS
        table.append(np.abs(np.asarray(model(changed)) - before).max(-1))
    return np.stack(table, axis=1)


def _step_by_step(model: Any, ids: Array, other: int) -> Array:
    before, table, changed = np.asarray(model(ids)), [], ids.copy()
    for source in range(len(ids)):
        changed[source] = other
        after = np.asarray(model(changed))
        table.append(np.abs(after - before).max(-1))
        before = after
    return np.stack(table, axis=1)


def _all_later(model: Any, ids: Array, other: int) -> Array:
    before, table = np.asarray(model(ids)), []
    for source in range(len(ids)):
        changed = ids.copy()
        changed[source:] = other
        table.append(np.abs(np.asarray(model(changed)) - before).max(-1))
    return np.stack(table, axis=1)


def draw(rng: np.random.Generator) -> tuple[Model, Array, int]:
    """Return a model that leaks or doesn't, a sentence, and another id."""
    length = int(rng.integers(3, 7))
    sees = rng.normal(size=(length, length)) * (rng.random((length, length)) < 0.7)
    if rng.random() < 0.5:
        sees = np.tril(sees)
    ids = rng.integers(1, N_IDS, size=length)
    return Model(sees, int(rng.integers(9))), ids, 0


influence = Exercise(
    name="influence",
    kind="experiment",
    difficulty=3,
    minutes=25,
    statement=(
        "Write a leak test that measures. `model` takes ids, shape (length,), and returns numbers, shape "
        "(length, d). Change one token at a time into the id `other`, all other tokens as they were. Return "
        "one array of shape (length, length): in row t and column s, the largest absolute change among the d "
        "numbers of output t when token s is changed."
    ),
    returns=("table",),
    reference=reference,
    cases=(
        Case("one token", (Model(np.array([[1.0]])), np.array([3]), 0)),
        Case(
            "two tokens, no leak", (Model(np.array([[1.0, 0.0], [0.5, 1.0]])), np.array([3, 4]), 0)
        ),
        Case(
            "two tokens, a leak", (Model(np.array([[1.0, 2.0], [0.5, 1.0]])), np.array([3, 4]), 0)
        ),
        Case("three tokens, causal", (Model(np.tri(3), 1), np.array([5, 2, 7]), 0)),
        Case("the same token three times", (Model(np.ones((3, 3)), 2), np.array([4, 4, 4]), 1)),
        *random_cases(draw, 6),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "rows and columns exchanged",
            lambda model, ids, other: reference(model, ids, other).T,
            "A row belongs to an output, a column to the token that is changed.",
        ),
        Misconception(
            "changed tokens not put back",
            lambda model, ids, other: _influence(model, ids, other, restored=False),
            "After the first change, more and more tokens are changed at once. One at a time: what "
            "must happen before the next?",
        ),
        Misconception(
            "compared with the run before",
            _step_by_step,
            "Each run has one more changed token than the one before. Compare with the sentence as "
            "it was, and put each token back.",
        ),
        Misconception(
            "all later tokens changed too",
            _all_later,
            "You change the token and everything after it. Only one token may change at a time.",
        ),
        Misconception(
            "changes with their sign",
            lambda model, ids, other: _influence(
                model, ids, other, how=lambda after, before: (after - before).max(-1)
            ),
            "An output can fall as well as rise. What makes both count?",
        ),
        Misconception(
            "changes added up",
            lambda model, ids, other: _influence(
                model, ids, other, how=lambda after, before: np.abs(after - before).sum(-1)
            ),
            "The task asks for the largest change among the numbers of an output, not for their sum.",
        ),
        Misconception(
            "the mean of the changes",
            lambda model, ids, other: _influence(
                model, ids, other, how=lambda after, before: np.abs(after - before).mean(-1)
            ),
            "The task asks for the largest change among the numbers of an output, not for the mean.",
        ),
        Misconception(
            "the length of the change",
            lambda model, ids, other: _influence(
                model,
                ids,
                other,
                how=lambda after, before: np.sqrt(((after - before) ** 2).sum(-1)),
            ),
            "That is the distance of two vectors. The task asks for the largest change of one number.",
        ),
        Misconception(
            "the outputs after the change, not their change",
            lambda model, ids, other: _influence(
                model, ids, other, how=lambda after, before: np.abs(after).max(-1)
            ),
            "What was the output before? Only the difference tells whether a token was seen.",
        ),
        Misconception(
            "True and False instead of sizes",
            lambda model, ids, other: reference(model, ids, other) > 0,
            "You say whether something changed. The task asks how much.",
        ),
        Misconception(
            "another id than the one given",
            _by_gap,
            "You change each token into the next id. Into which id does the task change it?",
        ),
    ),
)
