"""Exercise: the loss of a padded batch, from logits, with label smoothing."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases
from transformer_course.checks.loss.numbers import log_probs_of, some_logits, targets_of

Array = NDArray[Any]
Target = Callable[[Array, int, float], Array]


def _losses(
    logits: Array,
    labels: Array,
    pad_id: int,
    label_smoothing: float,
    target: Target = targets_of,
    log_probs: Callable[[Array], Array] = log_probs_of,
) -> tuple[Array, Array]:
    """Return the loss of each position, 0 at padding, and which positions are real."""
    real = labels != pad_id
    wanted = target(labels * real, logits.shape[-1], label_smoothing)
    losses = -(wanted * log_probs(logits)).sum(axis=-1)
    return np.where(real, losses, 0.0), real


def reference(logits: Array, labels: Array, pad_id: int, label_smoothing: float) -> float:
    """Return the mean loss per real token; 0 if there is none."""
    losses, real = _losses(logits, labels, pad_id, label_smoothing)
    return float(losses.sum() / max(real.sum(), 1))


def _mean_of(target: Target) -> Callable[..., float]:
    """Return the loss with other targets."""

    def wrong(logits: Array, labels: Array, pad_id: int, label_smoothing: float) -> float:
        losses, real = _losses(logits, labels, pad_id, label_smoothing, target)
        return float(losses.sum() / max(real.sum(), 1))

    return wrong


def _padding_in_the_count(
    logits: Array, labels: Array, pad_id: int, label_smoothing: float
) -> float:
    return float(_losses(logits, labels, pad_id, label_smoothing)[0].mean())


def _padding_kept(logits: Array, labels: Array, pad_id: int, label_smoothing: float) -> float:
    n_words = logits.shape[-1]
    wanted = targets_of(labels % n_words, n_words, label_smoothing)
    return float(-(wanted * log_probs_of(logits)).sum(axis=-1).mean())


def _summed(logits: Array, labels: Array, pad_id: int, label_smoothing: float) -> float:
    return float(_losses(logits, labels, pad_id, label_smoothing)[0].sum())


def _mean_of_sentences(logits: Array, labels: Array, pad_id: int, label_smoothing: float) -> float:
    losses, real = _losses(logits, labels, pad_id, label_smoothing)
    return float((losses.sum(axis=-1) / np.maximum(real.sum(axis=-1), 1)).mean())


def _sum_of_a_sentence(logits: Array, labels: Array, pad_id: int, label_smoothing: float) -> float:
    return float(_losses(logits, labels, pad_id, label_smoothing)[0].sum(axis=-1).mean())


def _rounded_to_zero(logits: Array, labels: Array, pad_id: int, label_smoothing: float) -> float:
    def in_two_steps(z: Array) -> Array:
        powers = np.exp(z - z.max(axis=-1, keepdims=True))
        return np.log(powers / powers.sum(axis=-1, keepdims=True))

    losses, real = _losses(logits, labels, pad_id, label_smoothing, targets_of, in_two_steps)
    return float(losses.sum() / max(real.sum(), 1))


def _mean_of_means(skipped: bool) -> Callable[..., float]:
    """Return the mean of the sentences' means, an empty one skipped, or giving 0/0."""

    def wrong(logits: Array, labels: Array, pad_id: int, label_smoothing: float) -> float:
        losses, real = _losses(logits, labels, pad_id, label_smoothing)
        means = losses.sum(axis=-1) / real.sum(axis=-1)
        if skipped:
            means = means[real.any(axis=-1)]
            return float(means.mean()) if len(means) else 0.0
        return float(means.mean())

    return wrong


def _of_logits(change: Callable[[Array], Array]) -> Callable[..., float]:
    """Return the loss of other logits, or with another function in the place of the log-probabilities."""

    def wrong(logits: Array, labels: Array, pad_id: int, label_smoothing: float) -> float:
        losses, real = _losses(logits, labels, pad_id, label_smoothing, targets_of, change)
        return float(losses.sum() / max(real.sum(), 1))

    return wrong


def _right_words(number: Callable[[Array], Array]) -> Callable[..., float]:
    """Return the mean of a number made of the right words' probabilities; smoothing plays no part."""

    def wrong(logits: Array, labels: Array, pad_id: int, label_smoothing: float) -> float:
        real = labels != pad_id
        probs = np.take_along_axis(_probs(logits), (labels * real)[..., None], axis=-1)[..., 0]
        return float((number(probs) * real).sum() / max(real.sum(), 1))

    return wrong


def _wrong_guesses(logits: Array, labels: Array, pad_id: int, label_smoothing: float) -> float:
    real = labels != pad_id
    return float(((logits.argmax(axis=-1) != labels) & real).sum() / max(real.sum(), 1))


def _squares(logits: Array, labels: Array, pad_id: int, label_smoothing: float) -> float:
    real = labels != pad_id
    wanted = targets_of(labels * real, logits.shape[-1], label_smoothing)
    return float((((_probs(logits) - wanted) ** 2).sum(axis=-1) * real).sum() / max(real.sum(), 1))


def _probs(logits: Array) -> Array:
    return np.exp(log_probs_of(logits))


def _divergence(logits: Array, labels: Array, pad_id: int, label_smoothing: float) -> float:
    wanted = targets_of(np.array([0]), logits.shape[-1], label_smoothing)[0]
    wanted = wanted[wanted > 0]
    entropy = -(wanted * np.log(wanted)).sum()
    loss = reference(logits, labels, pad_id, label_smoothing)
    return float(loss - entropy * bool((labels != pad_id).any()))


def _never_empty(logits: Array, labels: Array, pad_id: int, label_smoothing: float) -> float:
    losses, real = _losses(logits, labels, pad_id, label_smoothing)
    return float(losses.sum() / real.sum())


def _bits(logits: Array, labels: Array, pad_id: int, label_smoothing: float) -> float:
    return reference(logits, labels, pad_id, label_smoothing) / float(np.log(2))


def _all_words_each(labels: Array, n_words: int, smoothing: float) -> Array:
    one_hot = np.eye(n_words)[labels]
    return (1 - smoothing) * one_hot + smoothing * (1 - one_hot)


def _wrong_words_only(labels: Array, n_words: int, smoothing: float) -> Array:
    one_hot = np.eye(n_words)[labels]
    return (1 - smoothing) * one_hot + smoothing / (n_words - 1) * (1 - one_hot)


def _right_word_keeps_all(labels: Array, n_words: int, smoothing: float) -> Array:
    return np.eye(n_words)[labels] + smoothing / n_words


def _summed_over_words(labels: Array, n_words: int, smoothing: float) -> Array:
    return (1 - smoothing) * np.eye(n_words)[labels] + smoothing


def draw(rng: np.random.Generator) -> tuple[Array, Array, int, float]:
    """Return a batch of logits, padded labels, the id of padding, and ε."""
    batch, length, n_words = (
        int(rng.integers(1, 4)),
        int(rng.integers(2, 6)),
        int(rng.integers(3, 7)),
    )
    pad_id = int(rng.choice([0, 1]))
    labels = (pad_id + rng.integers(1, n_words, size=(batch, length))) % n_words
    lengths = rng.integers(0, length + 1, size=batch)
    labels[np.arange(length) >= lengths[:, None]] = pad_id
    smoothing = float(rng.choice([0.0, 0.1, 0.3]))
    return some_logits(rng, batch, length, n_words), labels, pad_id, smoothing


_ONE = np.log(np.array([[[0.5, 0.25, 0.25]]]))
_TINY = np.log(np.array([[[0.25, 0.25, 0.5], [0.25, 0.5, 0.25]]]))
_RAGGED = np.log(
    np.array(
        [
            [[0.25, 0.5, 0.25], [0.5, 0.25, 0.25], [0.5, 0.25, 0.25]],
            [[0.125, 0.125, 0.75], [0.25, 0.25, 0.5], [0.25, 0.5, 0.25]],
        ]
    )
)

cross_entropy = Exercise(
    name="cross_entropy",
    kind="implement",
    difficulty=3,
    minutes=30,
    statement=(
        "Write the loss of a batch. logits is (batch, tgt_len, vocab_size), labels (batch, tgt_len) holds the "
        "ids of the right words. Positions with the label pad_id don't count. Return the mean over all other "
        "positions of the batch, a single number; 0 if there is none. The loss of a position is -Σ q log p "
        "over the vocabulary: p is softmax of the logits, q is 1 - ε for the right word, plus ε / vocab_size "
        "for every word, with label_smoothing as ε. Logits of 2000 must work."
    ),
    returns=("loss",),
    reference=reference,
    cases=(
        Case("one position, three words", (_ONE, np.array([[2]]), 0, 0.0)),
        Case("one position, with smoothing", (_ONE, np.array([[2]]), 0, 0.3)),
        Case("two positions, three words", (_TINY, np.array([[2, 2]]), 0, 0.0)),
        Case("one real position of two", (_TINY, np.array([[2, 0]]), 0, 0.0)),
        Case(
            "two sentences of different lengths",
            (_RAGGED, np.array([[1, 0, 0], [2, 2, 1]]), 0, 0.0),
        ),
        Case("with smoothing", (_TINY, np.array([[2, 2]]), 0, 0.3)),
        Case("with smoothing and padding", (_RAGGED, np.array([[1, 0, 0], [2, 2, 1]]), 0, 0.1)),
        Case("another id for padding", (_RAGGED, np.array([[0, 2, 2], [0, 1, 1]]), 2, 0.1)),
        Case("logits far apart", (np.array([[[0.0, 2000.0, -2000.0]]]), np.array([[2]]), 0, 0.0)),
        Case("nothing but padding", (_TINY, np.array([[0, 0]]), 0, 0.1)),
        *random_cases(draw, 8),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "padding in the count",
            _padding_in_the_count,
            "Padded positions add nothing to your sum. By how many positions do you divide it?",
        ),
        Misconception(
            "padding in the sum and in the count",
            _padding_kept,
            "Where do you use `pad_id`? Nobody asks what is at a padded position.",
        ),
        Misconception(
            "the sum instead of the mean",
            _summed,
            "Twice as many sentences would have twice your loss. What is the loss per token?",
        ),
        Misconception(
            "the mean of the sentences' means",
            _mean_of_sentences,
            "A word of a short sentence counts more than one of a long sentence. All should count the same.",
        ),
        Misconception(
            "the mean of the sentences' means, and 0/0 in a sentence of padding",
            _mean_of_means(False),
            "A word of a short sentence counts more than one of a long sentence, and a sentence without a real "
            "token spoils everything. What is the mean over?",
        ),
        Misconception(
            "the mean of the sentences' means, sentences of padding skipped",
            _mean_of_means(True),
            "You skip sentences without a real token, which is well. But a word of a short sentence counts "
            "more than one of a long sentence: what is the mean over?",
        ),
        Misconception(
            "the loss per sentence",
            _sum_of_a_sentence,
            "You divide by the number of sentences. The loss is per token.",
        ),
        Misconception(
            "the logarithm of a probability that was rounded to 0",
            _rounded_to_zero,
            "Logits of 2000 and -2000 give a probability of 0 for a computer. Use your `log_softmax`.",
        ),
        Misconception(
            "0 taken for padding, whatever its id is",
            lambda logits, labels, pad_id, label_smoothing: reference(
                logits, labels, 0, label_smoothing
            ),
            "Padding has another id in some cases. Where do you use `pad_id`?",
        ),
        Misconception(
            "0/0 without real tokens",
            _never_empty,
            "A batch may hold nothing but padding. What should be divided by then, so that 0 comes out?",
        ),
        Misconception(
            "no smoothing",
            _mean_of(lambda labels, n_words, smoothing: targets_of(labels, n_words, 0.0)),
            "Without smoothing all is right. Where do you use `label_smoothing`?",
        ),
        Misconception(
            "ε for every wrong word",
            _mean_of(_all_words_each),
            "Add up the smoothed target of one position. Is it a distribution?",
        ),
        Misconception(
            "ε shared by the wrong words only",
            _mean_of(_wrong_words_only),
            "Some programs smooth like this. Here all words share ε, the right one included.",
        ),
        Misconception(
            "the right word keeps all",
            _mean_of(_right_word_keeps_all),
            "What the others get must be taken from the right word. Add up one target.",
        ),
        Misconception(
            "the others' logarithms added instead of averaged",
            _mean_of(_summed_over_words),
            "How large is the share of *one* word, when all of them share ε?",
        ),
        Misconception(
            "bits instead of nats",
            _bits,
            "Your logarithm has another base. The chapter counts in nats.",
        ),
        Misconception(
            "softmax twice",
            _of_logits(lambda logits: log_probs_of(_probs(logits))),
            "Your probabilities go through softmax once more, which flattens them. Which step wants logits?",
        ),
        Misconception(
            "1 minus the probability",
            _right_words(lambda p: 1 - p),
            "A word with the probability 0.001 is hardly worse than one with 0.1 in your function. Which curve "
            "of the page goes on rising?",
        ),
        Misconception(
            "the probability without its logarithm",
            _right_words(lambda p: -p),
            "You average probabilities. What is taken of each before the mean?",
        ),
        Misconception(
            "the logits without softmax",
            _of_logits(lambda logits: logits),
            "Your loss uses the logits themselves. What turns them into log-probabilities?",
        ),
        Misconception(
            "the divergence: the entropy of the target subtracted",
            _divergence,
            "Without smoothing all is right. With it, a perfect model has a loss of 0 in your function: which "
            "number of the page does that, and which one is asked for?",
        ),
        Misconception(
            "ε and 1 - ε exchanged",
            _mean_of(lambda labels, n_words, smoothing: targets_of(labels, n_words, 1 - smoothing)),
            "With ε = 0 nothing should be smoothed. What does your function return for it?",
        ),
        Misconception(
            "the share of wrong guesses",
            _wrong_guesses,
            "You count right and wrong. Should a model that was nearly right have the same loss as one that "
            "was sure of something else?",
        ),
        Misconception(
            "squared errors",
            _squares,
            "That is a loss too, but it hardly pulls where the model is most wrong. Which one is the chapter "
            "about?",
        ),
        Misconception(
            "the sign left out",
            lambda *arguments: -reference(*arguments),
            "A loss gets smaller in training, and it is never negative. Which sign has a log-probability?",
        ),
        Misconception(
            "the perplexity",
            lambda *arguments: float(np.exp(min(reference(*arguments), 700.0))),
            "That is the exponential of the loss. The task asks for the loss.",
        ),
    ),
)
