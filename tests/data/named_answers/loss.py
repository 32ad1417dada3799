"""Chapter 08: misconceptions in the spellings of learners."""

import numpy as np
import torch
from torch import Tensor

from tests.data.wrong_answers.loss import _log_softmax, _losses, _right


def log_softmax__only_shifted(logits):
    """only the largest logit subtracted"""
    return logits - logits.max(axis=-1, keepdims=True)


def log_softmax__small_number_added(logits):
    """1e-09 added inside the logarithm"""
    return np.log(np.exp(_log_softmax(logits)) + 1e-9)


def smoothed_targets__labels_from_one(labels, n_words, smoothing):
    """words counted from 1"""
    return (1 - smoothing) * np.eye(n_words)[labels - 1] + smoothing / n_words


def cross_entropy__softmax_twice(logits, labels, pad_id, label_smoothing):
    """softmax twice"""
    losses, real = _losses(np.exp(_log_softmax(logits)), labels, pad_id, label_smoothing)
    return losses.sum() / max(real.sum(), 1)


def cross_entropy__one_minus_p(logits, labels, pad_id, label_smoothing):
    """1 minus the probability"""
    real = labels != pad_id
    return ((1 - np.exp(_right(logits, labels))) * real).sum() / max(real.sum(), 1)


def batch_perplexity__the_loss(logits, labels, pad_id):
    """the loss instead of the perplexity"""
    return -_right(logits, labels)[labels != pad_id].mean()


def batch_perplexity__mean_probability(logits, labels, pad_id):
    """one divided by the mean probability"""
    return 1 / np.exp(_right(logits, labels))[labels != pad_id].mean()


def calibration_error__other_edge(sure, is_right, n_bins):
    """a bin holds its lower edge"""
    place = np.clip((sure * n_bins).astype(int), 0, n_bins - 1)
    return abs(np.bincount(place, weights=sure - is_right)).sum() / len(sure)


def cross_entropy__mean_of_means_with_nan(logits: Tensor, labels, pad_id=0, label_smoothing=0.0):
    """the mean of the sentences' means, and 0/0 in a sentence of padding"""
    losses = _smoothed(logits, labels, label_smoothing) * (labels != pad_id)
    return (losses.sum(1) / (labels != pad_id).sum(1)).mean()


def cross_entropy__mean_of_means_in_a_loop(logits: Tensor, labels, pad_id=0, label_smoothing=0.0):
    """the mean of the sentences' means, sentences of padding skipped"""
    losses, means = _smoothed(logits, labels, label_smoothing), []
    for row, real in zip(losses, labels != pad_id, strict=True):
        if real.any():
            means.append(row[real].mean())
    return torch.stack(means).mean() if means else torch.tensor(0.0)


def _smoothed(logits, labels, smoothing):
    log_probs = torch.log_softmax(logits, -1)
    right = log_probs.gather(-1, labels[..., None])[..., 0]
    return -(1 - smoothing) * right - smoothing * log_probs.mean(-1)


def cross_entropy__divergence(logits: Tensor, labels, pad_id=0, label_smoothing=0.0):
    """the divergence: the entropy of the target subtracted"""
    n_words = logits.shape[-1]
    wanted = torch.full(logits.shape, label_smoothing / n_words)
    wanted.scatter_add_(-1, labels[..., None], torch.full((*labels.shape, 1), 1 - label_smoothing))
    apart = torch.xlogy(wanted, wanted) - wanted * torch.log_softmax(logits, -1)
    real = labels != pad_id
    return (apart.sum(-1) * real).sum() / real.sum().clamp(min=1)


def log_softmax__torch_in_two_steps(logits: Tensor):
    """stable softmax, but then the logarithm of 0"""
    return torch.log(torch.softmax(logits, -1))


def batch_perplexity__zero_is_padding(logits, labels, pad_id):
    """0 taken for padding, whatever its id is"""
    return np.exp(-_right(logits, labels)[labels != 0].mean())


def cross_entropy__pad_id_always_0(logits, labels, pad_id, label_smoothing):
    """0 taken for padding, whatever its id is"""
    losses, real = _losses(logits, labels, 0, label_smoothing)
    return losses.sum() / max(real.sum(), 1)


def log_softmax__dim_1(logits: Tensor):
    """along the second axis, whatever the shape"""
    return torch.log_softmax(logits, dim=1)


def log_softmax__dim_1_where_there_is_one(logits: Tensor):
    """along the second axis, where there is one"""
    dim = 1 if logits.dim() > 1 else 0
    return logits - torch.logsumexp(logits, dim, keepdim=True)
