"""Exercise: let a language model go on with a prompt, always with the likeliest token."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases

Array = NDArray[Any]


class Model:
    """A language model in a table: what follows depends on the sum of all tokens so far.

    It takes ids, (length,), as an array or a tensor, and returns logits, (length, n_ids), of the same kind.

    Args:
        table: (n_ids, n_ids); the logits after tokens that sum to s stand in row s % n_ids.
    """

    def __init__(self, table: Array) -> None:
        self.table = table

    def __call__(self, ids: Any) -> Any:
        """Return the scores of the token after each token."""
        sums = np.cumsum(np.asarray(ids).astype(int), axis=-1)
        logits = self.table[sums % len(self.table)]
        return torch.tensor(logits) if isinstance(ids, torch.Tensor) else logits

    def __repr__(self) -> str:
        """The same text in every run."""
        n = len(self.table)
        return f"<after ids that sum to s, the logits are row s % {n} of {self.table.tolist()}>"


def _write(
    *,
    at: int = -1,
    best: Any = np.argmax,
    reads: str = "all",
    stops: bool = True,
    ends: str = "kept",
    extra: int = 0,
    prompt_counts: bool = False,
    prompt_stops: bool = False,
    repeated: bool = False,
    only_one: bool = False,
) -> Any:
    """Return the function of the exercise with the mistakes asked for."""

    def continue_greedily(model: Any, prompt: Array, eos_id: int, max_len: int) -> Array:
        ids = [int(i) for i in prompt]
        n = len(ids)
        limit = 1 if only_one else max_len + extra - (n if prompt_counts else 0)
        if not (prompt_stops and eos_id in ids):
            for _ in range(limit):
                read = {"all": ids, "prompt": ids[:n], "last": ids[-1:], "new": ids[n:] or ids}[
                    reads
                ]
                ids.append(int(best(np.asarray(model(np.array(read)))[at])))
                if stops and ids[-1] == eos_id:
                    break
        new = ids if repeated else ids[n:]
        if ends == "left out" and len(ids) > n and new[-1:] == [eos_id]:
            new = new[:-1]
        if ends == "added" and (len(ids) == n or ids[-1] != eos_id):
            new = [*new, eos_id]
        return np.array(new, dtype=np.int64)

    return continue_greedily


def reference(model: Any, prompt: Array, eos_id: int, max_len: int) -> Array:
    """Return the new tokens."""
    return np.asarray(_write()(model, prompt, eos_id, max_len))


def draw(rng: np.random.Generator) -> tuple[Model, Array, int, int]:
    """Return a model, a prompt, which may hold the end mark, the end mark, and the most new tokens."""
    n_ids = int(rng.integers(4, 9))
    prompt = rng.integers(0, n_ids, size=int(rng.integers(2, 6)))
    eos_id = int(rng.choice([prompt[0], rng.integers(0, n_ids)]))
    table = rng.permuted(np.tile(np.arange(n_ids) / 2 - 1, (n_ids, 1)), axis=1)
    return Model(table), prompt, eos_id, int(rng.integers(2, 9))


_THREE = Model(np.array([[0.1, 0.2, 0.9], [0.3, 0.8, 0.2], [0.7, 0.1, 0.4]]))
_FIVE = Model(
    np.array(
        [
            [0.1, 0.2, 0.3, 0.9, 0.4],
            [0.2, 0.1, 0.8, 0.3, 0.4],
            [0.9, 0.3, 0.1, 0.2, 0.4],
            [0.1, 0.8, 0.2, 0.4, 0.3],
            [0.2, 0.3, 0.4, 0.1, 0.7],
        ]
    )
)

continue_greedily = Exercise(
    name="continue_greedily",
    kind="implement",
    difficulty=2,
    minutes=15,
    statement=(
        "Let a model write. model takes token ids, (length,), and returns logits, (length, vocab_size): row t "
        "scores the token that follows token t. Begin with prompt, an array (n,) of ids, n at least 1. At "
        "each step, append the token with the largest logit. Stop when you have written eos_id, or when there "
        "are max_len new tokens (1 or more). Return the new tokens as an array of ids, without the prompt; "
        "eos_id belongs to them if it was written. eos_id may also be in the prompt: this stops nothing."
    ),
    returns=("written",),
    reference=reference,
    cases=(
        Case("one new token", (_THREE, np.array([1]), 0, 1)),
        Case("the end comes at once", (_THREE, np.array([2]), 0, 4)),
        Case("the end comes later", (_THREE, np.array([1, 1, 1]), 0, 5)),
        Case("no end within max_len", (_FIVE, np.array([1, 2]), 0, 3)),
        Case("the end mark in the prompt", (_FIVE, np.array([0, 1]), 0, 4)),
        Case("a longer prompt", (_FIVE, np.array([4, 2, 2, 3]), 0, 6)),
        *random_cases(draw, 10, "a random model"),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "the scores of the first place",
            _write(at=0),
            "The model returns a row for each token. Which row scores the token that comes next?",
        ),
        Misconception(
            "the prompt repeated in the result",
            _write(repeated=True),
            "The task asks for the new tokens. What does your result begin with?",
        ),
        Misconception(
            "the end mark left out",
            _write(ends="left out"),
            "Anyone who reads your result can't tell whether the model has finished. What belongs to it?",
        ),
        Misconception(
            "an end mark that the model didn't write",
            _write(ends="added"),
            "When max_len is reached, the model hasn't finished. Return what it wrote, and nothing else.",
        ),
        Misconception(
            "never stops before max_len",
            _write(stops=False),
            "Your model goes on after the end. When should it stop?",
        ),
        Misconception(
            "one token too many",
            _write(extra=1),
            "Where no end comes, count your new tokens. How many may there be?",
        ),
        Misconception(
            "one token too few",
            _write(extra=-1),
            "Where no end comes, count your new tokens. How many should there be?",
        ),
        Misconception(
            "the prompt counted in max_len",
            _write(prompt_counts=True),
            "max_len counts the new tokens. Does your model write less after a longer prompt?",
        ),
        Misconception(
            "stopped by an end mark in the prompt",
            _write(prompt_stops=True),
            "A prompt may hold an end mark, say between two sentences. Which tokens should you look at?",
        ),
        Misconception(
            "the model reads the prompt only",
            _write(reads="prompt"),
            "What you have written never comes back to the model, so it says the same again and again.",
        ),
        Misconception(
            "the model reads the latest token only",
            _write(reads="last"),
            "This model keeps nothing between two calls. What does it need, to know what came before?",
        ),
        Misconception(
            "the model forgets the prompt",
            _write(reads="new"),
            "The first new token is right. What does the model read after that?",
        ),
        Misconception(
            "one step only",
            _write(only_one=True),
            "The first new token is right. Where is the loop?",
        ),
        Misconception(
            "the least likely token",
            _write(best=np.argmin),
            "You append the token with the smallest logit.",
        ),
    ),
)
