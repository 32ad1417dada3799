"""Exercise: find three mistakes in the loss of a small language model."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases

Array = NDArray[Any]


def _loss(
    *,
    shift: int = 1,
    padding: bool = False,
    by_sentence: bool = False,
    backwards: bool = False,
    start_counted: bool = False,
    end_left_out: bool = False,
    real_by_read: bool = False,
    counted: bool = False,
    zero: bool = False,
) -> Any:
    """Return the function of the exercise with the mistakes asked for."""

    def loss(table: Array, tgt: Array, pad_id: int) -> float:
        read, said = tgt[:, : tgt.shape[1] - shift], tgt[:, shift:]
        if backwards:
            read, said = said, read
        logits = table[read]  # (batch, tgt_len - 1, vocab_size)
        shifted = logits - logits.max(axis=-1, keepdims=True)
        log_probs = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
        surprise = -np.take_along_axis(log_probs, said[..., None], axis=-1)[..., 0]
        real = np.ones_like(said, dtype=bool) if padding else said != (0 if zero else pad_id)
        real = read != pad_id if real_by_read else real
        if end_left_out:
            last = tgt[:, 2:] if shift == 1 else tgt[:, 1:]
            follows = np.concatenate([last != pad_id, np.zeros((len(tgt), 1), bool)], axis=1)
            real = real & follows[:, : real.shape[1]]
        if by_sentence:
            means = (surprise * real).sum(axis=1) / np.maximum(real.sum(axis=1), 1)
            return float(means.mean())
        count = real.size if counted else real.sum() + (len(tgt) if start_counted else 0)
        return float((surprise * real).sum() / max(count, 1))

    return loss


def reference(table: Array, tgt: Array, pad_id: int) -> float:
    """Return the mean loss per real guess."""
    return float(_loss()(table, tgt, pad_id))


def draw(rng: np.random.Generator) -> tuple[Array, Array, int]:
    """Return a table of logits and a padded batch of targets of different lengths."""
    words, batch, width = int(rng.integers(4, 8)), int(rng.integers(2, 5)), int(rng.integers(5, 9))
    tgt = rng.integers(3, words, size=(batch, width)) if words > 3 else np.full((batch, width), 3)
    lengths = rng.integers(3, width + 1, size=batch)
    lengths[0], lengths[-1] = 3, width
    tgt[:, 0] = 1
    tgt[np.arange(batch), lengths - 1] = 2
    pad_id = int(rng.choice([0, 0, words]))
    tgt[np.arange(width) >= lengths[:, None]] = pad_id
    return rng.normal(size=(words + 1, words + 1)) * 2, tgt, pad_id


_KNOWS = np.full((5, 5), -9.0)
for _before, _after in ((1, 3), (3, 4), (4, 2)):
    _KNOWS[_before, _after] = 9.0

table_loss = Exercise(
    name="table_loss",
    kind="spot the bug",
    difficulty=2,
    minutes=20,
    statement=(
        "The function below is the training loss of the smallest language model there is: table[i] holds the "
        "logits of the next token after token i. tgt is a padded batch, (batch, tgt_len); each row is `<s>`, "
        "the tokens, `</s>`, then padding. The function runs, its loss falls in training, and it holds three "
        "mistakes. Write it without them: the mean loss over all guesses of the batch. Return a number."
    ),
    returns=("loss",),
    reference=reference,
    cases=(
        Case("a model that knows its sentence", (_KNOWS, np.array([[1, 3, 4, 2]]), 0)),
        Case("the same with padding", (_KNOWS, np.array([[1, 3, 4, 2, 0, 0]]), 0)),
        Case("a model that guesses", (np.zeros((5, 5)), np.array([[1, 3, 4, 2], [1, 3, 2, 0]]), 0)),
        Case(
            "two sentences of different lengths",
            (np.diag([0.0, 1.0, 2.0, 3.0, 4.0]), np.array([[1, 3, 3, 4, 2], [1, 4, 2, 0, 0]]), 0),
        ),
        Case("padding with another number", (_KNOWS, np.array([[1, 3, 2, 4, 4]]), 4)),
        *random_cases(draw, 8),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "nothing is mended yet",
            _loss(shift=0, padding=True, by_sentence=True),
            "This gives the same numbers as the function with the mistakes. Compare by hand: what is read, and "
            "what must be said?",
        ),
        Misconception(
            "one mistake is left: what is compared with what",
            _loss(shift=0),
            "A model that repeats what it reads has a loss near 0 in your function. Should it?",
        ),
        # While padding counts, all rows have equally many guesses: the mean by sentence changes nothing.
        Misconception(
            "the padding is left, perhaps the mean as well",
            _loss(padding=True),
            "Append ten columns of padding. Does your number change?",
        ),
        Misconception(
            "one mistake is left: what the mean is over",
            _loss(by_sentence=True),
            "A guess in a short sentence counts more than one in a long sentence. All should count the same.",
        ),
        Misconception(
            "two mistakes are left: the comparison and the mean",
            _loss(shift=0, by_sentence=True),
            "You have found one of the three. Which lines have you not looked at yet? Try a model that knows "
            "its sentence.",
        ),
        Misconception(
            "padding by what is read, not by what must be said",
            _loss(real_by_read=True),
            "After </s> nothing has to be said, but one such guess counts in your mean. In which of the two "
            "arrays do you look for padding?",
        ),
        Misconception(
            "padded guesses in the count",
            _loss(counted=True),
            "Padded guesses add nothing to your sum. By how many guesses do you divide it?",
        ),
        Misconception(
            "0 taken for padding, whatever its id is",
            _loss(zero=True),
            "Padding has another id in some cases. Where do you use `pad_id`?",
        ),
        Misconception(
            "the shift in the wrong direction",
            _loss(backwards=True),
            "In your function the model reads a token and must say the one *before* it.",
        ),
        Misconception(
            "a shift by two",
            _loss(shift=2),
            "Which token must be said after the first one that is read?",
        ),
        Misconception(
            "the end left out",
            _loss(end_left_out=True),
            "Who teaches this model to stop?",
        ),
        Misconception(
            "the start mark in the count",
            _loss(start_counted=True),
            "By how many guesses do you divide? Nobody guesses the start mark.",
        ),
    ),
)
