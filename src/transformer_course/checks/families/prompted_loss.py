"""Exercise: three mistakes in the loss of a language model that answers a prompt."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases
from transformer_course.checks.loss.numbers import log_probs_of
from transformer_course.checks.mixtures import mixtures

Array = NDArray[Any]


def _loss(
    *,
    shift: int = 1,
    late: int = 0,
    padding: bool = False,
    whose: str = "continuation",
    divide: str = "counted",
    zero: bool = False,
    one_prompt: bool = False,
    real_by_read: bool = False,
) -> Any:
    """Return the function of the exercise with the mistakes asked for."""

    def prompted_loss(logits: Array, ids: Array, n_prompt: Array, pad_id: int) -> float:
        at = np.arange(ids.shape[1])
        scores = np.roll(
            log_probs_of(logits), shift, axis=1
        )  # moved to the place of what they score
        losses = -np.take_along_axis(scores, ids[..., None], axis=-1)[..., 0]  # (batch, length)
        starts = np.full_like(n_prompt, n_prompt[0]) if one_prompt else n_prompt
        answer = (at >= starts[:, None] + late) & (at > 0)  # nothing scores the first token
        real = ids != (0 if zero else pad_id)
        real = np.roll(real, 1, axis=1) if real_by_read else real
        kinds = {"continuation": answer, "all": at > 0, "prompt": ~answer & (at > 0)}
        counted = kinds[whose] & (padding | real)
        losses = losses * counted
        if divide == "rows":
            return float((losses.sum(axis=1) / counted.sum(axis=1)).mean())
        below = {
            "counted": counted.sum(),
            "padding, too": answer.sum(),
            "real": (real & (at > 0)).sum(),
            "places": counted[:, 1:].size,
            "batch": len(ids),
            "nothing": 1,
        }
        with np.errstate(all="ignore"):  # NaN where nothing is counted
            return float(losses.sum() / below[divide])

    return prompted_loss


def reference(logits: Array, ids: Array, n_prompt: Array, pad_id: int) -> float:
    """Return the mean loss per token of the continuations."""
    return float(_loss()(logits, ids, n_prompt, pad_id))


PARTS = {
    "shift": ("what is compared with what", "Which token do the logits of place t score?"),
    "late": (
        "where the continuation begins",
        "Places count from 0, and the first target is the second token. Which target is the first one after "
        "the prompt?",
    ),
    "padding": ("the padding", "Append ten columns of padding. Does your number change?"),
}


def _left(shift: bool, late: bool, padding: bool) -> Any:
    """Return the function with those mistakes that are still there."""
    return _loss(shift=0 if shift else 1, late=1 if late else 0, padding=padding)


def _still_wrong() -> tuple[Misconception, ...]:
    """Return every mixture of the three mistakes: which are still there, and what to look at."""
    return tuple(Misconception(name, _left(**there), hint) for there, name, hint in mixtures(PARTS))


def draw(rng: np.random.Generator) -> tuple[Array, Array, Array, int]:
    """Return logits and ids of a padded batch, the lengths of its prompts, and the id of padding."""
    batch, length, words = (int(n) for n in rng.integers((2, 6, 4), (4, 9, 7)))
    pad_id = int(rng.choice([0, 0, words - 1]))
    ids = (pad_id + rng.integers(1, words, size=(batch, length))) % words
    lengths = rng.integers(4, length + 1, size=batch)
    lengths[0], lengths[-1] = 5, length
    n_prompt = rng.integers(1, lengths - 1)  # two tokens follow, or more
    n_prompt[0], n_prompt[-1] = 3, 2
    ids[np.arange(length) >= lengths[:, None]] = pad_id
    return rng.normal(size=(batch, length, words)).round(2), ids, n_prompt, pad_id


def _knows(ids: list[int]) -> Array:
    """Return the logits of a model that is sure of each next token."""
    follows = [*ids[1:], ids[0]]
    return np.asarray(9.0 * np.eye(max(ids) + 1)[follows][None])


_SURE = [1, 2, 3, 1]
_GUESS = np.log(
    np.array([[[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5], [0.5, 0.25, 0.25]]])
)

prompted_loss = Exercise(
    name="prompted_loss",
    kind="spot the bug",
    difficulty=2,
    minutes=20,
    statement=(
        "The function below is meant to be the loss of a language model that continues prompts. ids is (batch, "
        "length): each row is a prompt, its continuation, then padding, which has the id pad_id. n_prompt, "
        "(batch,), says how many tokens of each row are the prompt: 1 or more. logits is (batch, length, "
        "vocab_size); those of place t score the token at place t + 1. The function runs, the loss falls in "
        "training, and it holds three mistakes. Write it without them: the mean of −log p over all tokens of "
        "the continuations in the batch. Prompt and padding aren't guessed. Return a number."
    ),
    returns=("loss",),
    reference=reference,
    cases=(
        Case(
            "a prompt of one token, three follow",
            (_GUESS, np.array([[1, 2, 2, 1]]), np.array([1]), 0),
        ),
        Case(
            "a prompt of two tokens, two follow",
            (_GUESS, np.array([[1, 1, 1, 2]]), np.array([2]), 0),
        ),
        Case("a model that is sure", (_knows(_SURE), np.array([_SURE]), np.array([1]), 0)),
        Case("a padding at the end", (_GUESS, np.array([[1, 2, 1, 0]]), np.array([1]), 0)),
        Case("padding has the id 2", (_GUESS, np.array([[1, 0, 1, 2]]), np.array([1]), 2)),
        *random_cases(draw, 7, "a random batch"),
    ),
    draw=draw,
    misconceptions=(
        *_still_wrong(),
        Misconception(
            "the prompt guessed, too",
            _loss(whose="all"),
            "A user writes the prompt. Where do you use `n_prompt`?",
        ),
        Misconception(
            "the last token of the prompt guessed, too",
            _loss(late=-1),
            "Where a prompt has two tokens or more, you have one guess too many. Logits and what they score "
            "are at different places: which of the two do you compare with `n_prompt`?",
        ),
        Misconception(
            "the first two tokens of the continuation left out",
            _loss(late=2),
            "Of two tokens after a prompt, your function counts none, and the mean of nothing is NaN. Your "
            "places count from 0. Which token is the first of those that are guessed?",
        ),
        Misconception(
            "the first two tokens of the continuation left out, and the padding guessed",
            _loss(late=2, padding=True),
            "Write down the places of the tokens that your function counts, for a prompt of one token and a "
            "padding at the end. Where do they begin, and where do they end?",
        ),
        Misconception(
            "padding by what is read, not by what must be said",
            _loss(real_by_read=True),
            "After the last token nothing has to be said, but one such guess counts in your mean. Of which "
            "tokens do you ask whether they are padding?",
        ),
        Misconception(
            "the prompt guessed, not the continuation",
            _loss(whose="prompt"),
            "You count exactly what shouldn't count.",
        ),
        Misconception(
            "the shift in the wrong direction",
            _loss(shift=-1),
            "In your function the logits score the token *before* their place.",
        ),
        Misconception(
            "padding in the count",
            _loss(divide="padding, too"),
            "Padding adds nothing to your sum. By how many tokens do you divide it?",
        ),
        Misconception(
            "the prompt in the count",
            _loss(divide="real"),
            "The prompt adds nothing to your sum. By how many tokens do you divide it?",
        ),
        Misconception(
            "the mean over all places",
            _loss(divide="places"),
            "Prompt and padding add nothing to your sum. Should they make the loss smaller?",
        ),
        Misconception(
            "the mean of the rows' means",
            _loss(divide="rows"),
            "A token of a short continuation counts more than one of a long one. All should count the same.",
        ),
        Misconception(
            "the loss per row",
            _loss(divide="batch"),
            "You divide by the number of rows. The loss is per token.",
        ),
        Misconception(
            "the sum instead of the mean",
            _loss(divide="nothing"),
            "Twice as many rows would have about twice your loss.",
        ),
        Misconception(
            "0 taken for padding, whatever its id is",
            _loss(zero=True),
            "Padding has another id in some cases. Where do you use `pad_id`?",
        ),
        Misconception(
            "the prompt of the first row for all",
            _loss(one_prompt=True),
            "Each row has a prompt of its own length. Which one do you use?",
        ),
        Misconception(
            "the sign left out",
            lambda *arguments: -reference(*arguments),
            "A loss is never negative. Which sign has a log-probability?",
        ),
    ),
)
