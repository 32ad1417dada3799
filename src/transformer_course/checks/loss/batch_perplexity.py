"""Exercise: find three mistakes in a perplexity."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases
from transformer_course.checks.loss.numbers import log_probs_of

Array = NDArray[Any]


def _perplexity(
    *, softened: bool = False, padding: bool = False, base_2: bool = False, zero: bool = False
) -> Callable[..., float]:
    """Return the function with some of its three mistakes, or with 0 as the id of padding, whatever it is."""

    def found(logits: Array, labels: Array, pad_id: int) -> float:
        real = labels != (0 if zero else pad_id)
        log_probs = log_probs_of(logits)
        if softened:
            log_probs = np.log(np.exp(log_probs) + 0.01)
        right = np.take_along_axis(log_probs, (labels * real)[..., None], axis=-1)[..., 0]
        mean = -(right * real).sum() / (labels.size if padding else real.sum())
        return float(2.0**mean if base_2 else np.exp(mean))

    return found


def reference(logits: Array, labels: Array, pad_id: int) -> float:
    """Return the perplexity per real token."""
    return _perplexity(softened=False, padding=False, base_2=False)(logits, labels, pad_id)


def _mean_of_perplexities(logits: Array, labels: Array, pad_id: int) -> float:
    real = labels != pad_id
    right = np.take_along_axis(log_probs_of(logits), (labels * real)[..., None], axis=-1)[..., 0]
    return float(np.exp(-right[real]).mean())


def _mean_of_sentences_perplexities(logits: Array, labels: Array, pad_id: int) -> float:
    real = labels != pad_id
    right = np.take_along_axis(log_probs_of(logits), (labels * real)[..., None], axis=-1)[..., 0]
    return float(np.exp(-(right * real).sum(axis=-1) / real.sum(axis=-1)).mean())


def _inverse_mean(logits: Array, labels: Array, pad_id: int) -> float:
    real = labels != pad_id
    right = np.take_along_axis(log_probs_of(logits), (labels * real)[..., None], axis=-1)[..., 0]
    return float(1 / np.exp(right[real]).mean())


def _loss_itself(logits: Array, labels: Array, pad_id: int) -> float:
    return float(np.log(reference(logits, labels, pad_id)))


def draw(rng: np.random.Generator) -> tuple[Array, Array, int]:
    """Return logits, padded labels with at least one real token in each row, and the id of padding."""
    batch, length, n_words = (int(n) for n in rng.integers(2, 6, size=3))
    labels = rng.integers(1, n_words + 1, size=(batch, length))
    lengths = rng.integers(1, length + 1, size=batch)
    lengths[0] = 1  # something is padded
    pad_id = int(rng.choice([0, 0, n_words]))
    labels -= pad_id > 0  # the ids of real words: all but that of padding
    labels[np.arange(length) >= lengths[:, None]] = pad_id
    middle = float(rng.choice([0.0, 0.0, 500.0]))
    return rng.normal(size=(batch, length, n_words + 1)) * 2 + middle, labels, pad_id


def _mean_of_sentences(logits: Array, labels: Array, pad_id: int) -> float:
    real = labels != pad_id
    right = np.take_along_axis(log_probs_of(logits), (labels * real)[..., None], axis=-1)[..., 0]
    sums = -(right * real).sum(axis=-1) / np.maximum(real.sum(axis=-1), 1)
    return float(np.exp(sums.mean()))


_HALVES = np.log(np.array([[[0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]]))
_SENTENCES = np.log(np.full((2, 3, 4), [0.5, 0.25, 0.125, 0.125]))
_SOME = "two mistakes are left: "
_TWO = "You have found one of the three. Which lines have you not looked at yet?"

batch_perplexity = Exercise(
    name="batch_perplexity",
    kind="spot the bug",
    difficulty=2,
    minutes=20,
    statement=(
        "The function below computes the perplexity per token of a padded batch, the exponential of the mean "
        "loss in nats: logits is (batch, tgt_len, vocab_size), labels (batch, tgt_len), and pad_id is the "
        "label of padding. It runs, its numbers look good, and it holds three mistakes. Write it without "
        "them. Return a number."
    ),
    returns=("perplexity",),
    reference=reference,
    cases=(
        Case("two words, each with probability 1/2", (_HALVES, np.array([[1, 2]]), 0)),
        Case("one real word of two", (_HALVES, np.array([[1, 0]]), 0)),
        Case(
            "a sure model, once wrong",
            (np.array([[[0.0, 9.0, 0.0], [0.0, 9.0, 0.0]]]), np.array([[1, 2]]), 0),
        ),
        Case(
            "a model that is sure, and far from right",
            (np.array([[[0.0, 60.0, 0.0], [0.0, 60.0, 0.0]]]), np.array([[1, 2]]), 0),
        ),
        Case("all words alike", (np.zeros((2, 3, 5)), np.array([[1, 2, 3], [4, 0, 0]]), 0)),
        Case("padding with the id 2", (_HALVES, np.array([[0, 2]]), 2)),
        Case(
            "two sentences, padding with the id 3",
            (_SENTENCES, np.array([[0, 3, 3], [1, 0, 2]]), 3),
        ),
        Case("large logits", (_HALVES + 1000, np.array([[1, 2]]), 0)),
        *random_cases(draw, 5),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "one mistake is left: the small number in the logarithm",
            _perplexity(softened=True, padding=False, base_2=False),
            "What does your function say when the right word has a probability of 0.000 01?",
        ),
        Misconception(
            "one mistake is left: the count",
            _perplexity(softened=False, padding=True, base_2=False),
            "Append ten columns of padding. Does your number change?",
        ),
        Misconception(
            "one mistake is left: the base",
            _perplexity(softened=False, padding=False, base_2=True),
            "Anyone who guesses among five words has the perplexity 5. What does your function say?",
        ),
        Misconception(
            _SOME + "count and base",
            _perplexity(softened=False, padding=True, base_2=True),
            _TWO + " Try a batch in which all words are equally likely.",
        ),
        Misconception(
            _SOME + "logarithm and base",
            _perplexity(softened=True, padding=False, base_2=True),
            _TWO + " Try a model that is sure and wrong.",
        ),
        Misconception(
            _SOME + "logarithm and count",
            _perplexity(softened=True, padding=True, base_2=False),
            _TWO + " Try a batch with much padding.",
        ),
        Misconception(
            "nothing is mended yet",
            _perplexity(softened=True, padding=True, base_2=True),
            "This gives the same numbers as the function with the mistakes. Take it line by line: which "
            "numbers would you expect for a model that guesses?",
        ),
        Misconception(
            "0 taken for padding, whatever its id is",
            _perplexity(zero=True),
            "Padding has another id in some cases. Where do you use `pad_id`?",
        ),
        Misconception(
            "the mean of the sentences' perplexities",
            _mean_of_sentences_perplexities,
            "You take the exponential once for each sentence. The mean over all real words comes first.",
        ),
        Misconception(
            "one divided by the mean probability",
            _inverse_mean,
            "A single word with a probability near 0 should weigh heavily, and in your mean it doesn't. Of "
            "what is the mean taken?",
        ),
        Misconception(
            "the loss instead of the perplexity",
            _loss_itself,
            "That is the loss in nats. A model that guesses among five words should get 5.",
        ),
        Misconception(
            "the mean of the words' perplexities",
            _mean_of_perplexities,
            "The mean comes before the exponential, not after it.",
        ),
        Misconception(
            "the mean of the sentences' means",
            _mean_of_sentences,
            "A word of a short sentence counts more than one of a long sentence. All should count the same.",
        ),
    ),
)
