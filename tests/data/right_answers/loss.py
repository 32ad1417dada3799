"""Chapter 08: right answers by loops, by ready-made functions, with NumPy and with torch."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor


def log_softmax__ready_made(logits: Tensor):
    return F.log_softmax(logits, -1)


def log_softmax__logsumexp(logits: Tensor):
    return logits - logits.logsumexp(-1, keepdim=True)


def log_softmax__logaddexp(logits):
    return logits - np.logaddexp.reduce(logits, axis=-1)[..., None]


def log_softmax__loops(logits):
    rows = []
    for row in logits.reshape(-1, logits.shape[-1]):
        top = max(row)
        total = math.log(sum(math.exp(z - top) for z in row))
        rows.append([z - top - total for z in row])
    return np.array(rows).reshape(logits.shape)


def predict__computed(question):
    return {
        "a": -math.log(0.25),
        "b": math.exp(math.log(50)),
        "c": -math.log(0.5 * 0.2 * 0.1) / 3,
        "d": 0.01 ** (-1 / 3),
        "e": 0.3 - 1,
        "f": 1 - 0.2 + 0.2 / 5,
        "g": 0.2 / 5,
        "h": 0.0,
    }[question]


def predict__by_place_in_a_list(question):
    return [1.386, 50, 1.535, 4.642, -0.7, 0.84, 0.04, 0]["abcdefgh".index(question)]


def predict__numpy(question):
    answers = np.array([math.log(4), 50, math.log(100) / 3, np.cbrt(100), -0.7, 0.84, 0.04, 0])
    return answers["abcdefgh".index(question)]


def smoothed_targets__filled(labels, n_words, smoothing):
    targets = np.full((len(labels), n_words), smoothing / n_words)
    targets[np.arange(len(labels)), labels] += 1 - smoothing
    return targets


def smoothed_targets__torch(labels: Tensor, n_words: int, smoothing: float):
    return torch.lerp(
        F.one_hot(labels, n_words).double(), torch.tensor(1 / n_words).double(), smoothing
    )


def smoothed_targets__loops(labels, n_words, smoothing):
    return np.array(
        [
            [smoothing / n_words + (1 - smoothing if k == label else 0) for k in range(n_words)]
            for label in labels
        ]
    )


def cross_entropy__ready_made(logits: Tensor, labels: Tensor, pad_id=0, label_smoothing=0.0):
    if (labels == pad_id).all():
        return 0.0
    return F.cross_entropy(
        logits.flatten(0, 1),
        labels.flatten(),
        ignore_index=pad_id,
        label_smoothing=label_smoothing,
    )


def cross_entropy__loops(logits, labels, pad_id, label_smoothing):
    total, count = 0.0, 0
    for sentence, words in zip(logits, labels, strict=True):
        for z, y in zip(sentence, words, strict=True):
            if y != pad_id:
                log_p = z - z.max() - np.log(np.exp(z - z.max()).sum())
                total -= (1 - label_smoothing) * log_p[y] + label_smoothing * log_p.mean()
                count += 1
    return total / count if count else 0.0


def cross_entropy__whole_target(logits, labels, pad_id, label_smoothing):
    n_words = logits.shape[-1]
    target = (1 - label_smoothing) * np.eye(n_words)[labels] + label_smoothing / n_words
    log_p = logits - np.logaddexp.reduce(logits, axis=-1)[..., None]
    losses = -np.einsum("btk,btk->bt", target, log_p)[labels != pad_id]
    return losses.mean() if losses.size else 0.0


def loss_gradient__autograd(logits: Tensor, labels: Tensor, label_smoothing: float):
    z = logits.clone().requires_grad_()
    F.cross_entropy(z, labels, label_smoothing=label_smoothing).backward()
    return z.grad


def loss_gradient__subtracted_in_place(logits, labels, label_smoothing):
    shifted = logits - logits.max(axis=-1, keepdims=True)
    gradient = np.exp(shifted) / np.exp(shifted).sum(axis=-1, keepdims=True)
    gradient -= label_smoothing / logits.shape[-1]
    gradient[np.arange(len(labels)), labels] -= 1 - label_smoothing
    return gradient / len(labels)


def loss_gradient__loops(logits, labels, label_smoothing):
    n, n_words = logits.shape
    gradient = np.zeros((n, n_words))
    for i in range(n):
        powers = [math.exp(z - max(logits[i])) for z in logits[i]]
        for k in range(n_words):
            wanted = label_smoothing / n_words + (1 - label_smoothing) * (k == labels[i])
            gradient[i, k] = (powers[k] / sum(powers) - wanted) / n
    return gradient


def batch_perplexity__ready_made(logits: Tensor, labels: Tensor, pad_id: int):
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id).exp()


def batch_perplexity__geometric_mean(logits, labels, pad_id):
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    probs = powers / powers.sum(axis=-1, keepdims=True)
    right = [probs[i][y] for i, y in np.ndenumerate(labels) if y != pad_id]
    return np.prod(np.array(right) ** (-1 / len(right)))


def batch_perplexity__base_two_throughout(logits, labels, pad_id):
    real = labels != pad_id
    log_p = logits - np.logaddexp.reduce(logits, axis=-1)[..., None]
    right = np.take_along_axis(log_p, labels[..., None], -1)[..., 0] / np.log(2)
    return 2 ** -right[real].mean()


def calibration_error__digitize(sure, is_right, n_bins):
    place = np.digitize(sure, np.linspace(0, 1, n_bins + 1)[1:-1], right=True)
    return sum(abs((sure - is_right)[place == i].sum()) for i in range(n_bins)) / len(sure)


def calibration_error__bincount(sure, is_right, n_bins):
    place = np.clip(np.ceil(sure * n_bins).astype(int) - 1, 0, n_bins - 1)
    return np.abs(np.bincount(place, weights=sure - is_right)).sum() / len(sure)


def calibration_error__torch(sure: Tensor, is_right: Tensor, n_bins: int):
    place = torch.bucketize(sure, torch.linspace(0, 1, n_bins + 1).double()[1:-1])
    gaps = torch.zeros(n_bins, dtype=torch.double)
    gaps.index_add_(0, place, (sure - is_right).double())
    return gaps.abs().sum() / len(sure)


def judge_loss__set_of_right_ones(statement):
    return statement in {"a", "c", "f", "h"}


def judge_loss__list(statement):
    return [True, False, True, False, False, True, False, True][ord(statement) - ord("a")]


def judge_loss__numpy(statement):
    return np.array([1, 0, 1, 0, 0, 1, 0, 1], bool)["abcdefgh".index(statement)]
