"""Exercise: the gradient of the loss with respect to the logits, by hand."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases
from transformer_course.checks.loss.numbers import log_probs_of, some_logits, targets_of

Array = NDArray[Any]


def reference(logits: Array, labels: Array, label_smoothing: float) -> Array:
    """Return the gradient of the mean loss, (n, vocab_size)."""
    wanted = targets_of(labels, logits.shape[-1], label_smoothing)
    return (np.exp(log_probs_of(logits)) - wanted) / len(logits)


def _of_the_sum(logits: Array, labels: Array, label_smoothing: float) -> Array:
    return reference(logits, labels, label_smoothing) * len(logits)


def _divided_by_the_size(logits: Array, labels: Array, label_smoothing: float) -> Array:
    return reference(logits, labels, label_smoothing) / logits.shape[-1]


def _one_hot(logits: Array, labels: Array, label_smoothing: float) -> Array:
    return reference(logits, labels, 0.0)


def _only_the_right_word(logits: Array, labels: Array, label_smoothing: float) -> Array:
    return reference(logits, labels, label_smoothing) * np.eye(logits.shape[-1])[labels]


def _through_softmax_once_more(logits: Array, labels: Array, label_smoothing: float) -> Array:
    p = np.exp(log_probs_of(logits))
    return reference(logits, labels, label_smoothing) * p * (1 - p)


def _of_squares(logits: Array, labels: Array, label_smoothing: float) -> Array:
    p = np.exp(log_probs_of(logits))
    error = 2 * (p - targets_of(labels, logits.shape[-1], label_smoothing))
    return p * (error - (p * error).sum(axis=-1, keepdims=True)) / len(logits)


def _by_the_probabilities(logits: Array, labels: Array, label_smoothing: float) -> Array:
    p = np.exp(log_probs_of(logits))
    return -targets_of(labels, logits.shape[-1], label_smoothing) / p / len(logits)


def _logits_minus_target(logits: Array, labels: Array, label_smoothing: float) -> Array:
    return (logits - targets_of(labels, logits.shape[-1], label_smoothing)) / len(logits)


def draw(rng: np.random.Generator) -> tuple[Array, Array, float]:
    """Return logits, labels and ε."""
    n, n_words = int(rng.integers(2, 6)), int(rng.integers(2, 7))
    labels = rng.integers(0, n_words, size=n)
    return some_logits(rng, n, n_words), labels, float(rng.choice([0.0, 0.1, 0.3]))


loss_gradient = Exercise(
    name="loss_gradient",
    kind="implement",
    difficulty=2,
    minutes=15,
    statement=(
        "Write the gradient by hand, without autograd. logits is (n, vocab_size), labels (n,); nothing is "
        "padded. The loss is the mean over the n positions, with label smoothing. Return its gradient with "
        "respect to the logits, (n, vocab_size)."
    ),
    returns=("gradient",),
    reference=reference,
    cases=(
        Case("one position, two words", (np.log([[1.0, 3.0]]), np.array([0]), 0.0)),
        Case("one position, three words", (np.log([[1.0, 2.0, 3.0]]), np.array([1]), 0.0)),
        Case("two positions", (np.log([[1.0, 2.0, 3.0], [2.0, 1.0, 1.0]]), np.array([1, 0]), 0.0)),
        Case("with smoothing", (np.log([[1.0, 2.0, 3.0]]), np.array([1]), 0.3)),
        Case(
            "two positions, with smoothing",
            (np.log([[1.0, 2.0, 3.0], [2.0, 1.0, 1.0]]), np.array([1, 0]), 0.3),
        ),
        Case("huge logits", (np.array([[1000.0, 1001.0, 0.0]]), np.array([2]), 0.1)),
        Case(
            "positions far apart", (np.array([[0.0, 1.0], [3000.0, 3001.0]]), np.array([1, 0]), 0.1)
        ),
        *random_cases(draw, 6),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "the gradient of the sum",
            _of_the_sum,
            "For one position all is right. The loss is a mean: what does this do to each gradient?",
        ),
        Misconception(
            "divided by the number of words as well",
            _divided_by_the_size,
            "The mean is taken over the positions. Over what else do you divide?",
        ),
        Misconception(
            "wanted minus predicted",
            lambda *arguments: -reference(*arguments),
            "A step goes against the gradient. Would it make the right word more likely, or less?",
        ),
        Misconception(
            "no smoothing",
            _one_hot,
            "Without smoothing all is right. What is wanted when there is smoothing?",
        ),
        Misconception(
            "only the right word's logit",
            _only_the_right_word,
            "The other logits are in the loss as well: in the sum below the fraction of softmax.",
        ),
        Misconception(
            "softmax's own slope multiplied once more",
            _through_softmax_once_more,
            "The slope of softmax has already cancelled that of the logarithm. Do the derivation again.",
        ),
        Misconception(
            "the gradient of the squared error",
            _of_squares,
            "This is the gradient of another loss, which hardly pulls where the model is most wrong.",
        ),
        Misconception(
            "the gradient with respect to the probabilities",
            _by_the_probabilities,
            "One link of the chain is missing: how do the probabilities depend on the logits?",
        ),
        Misconception(
            "logits in the place of probabilities",
            _logits_minus_target,
            "A logit is no probability yet. What lies between the two?",
        ),
    ),
)
