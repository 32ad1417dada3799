"""Chapter 08: wrong answers as learners write them, none of them among the misconceptions."""

import math

import numpy as np
import torch
from torch import Tensor


def _log_softmax(z):
    shifted = z - z.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def _right(logits, labels):
    return np.take_along_axis(_log_softmax(logits), labels[..., None], axis=-1)[..., 0]


def log_softmax__mean_instead_of_sum(logits):
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).mean(axis=-1, keepdims=True))


def log_softmax__plus_the_logarithm(logits):
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted + np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def log_softmax__one_number_a_row(logits):
    return _log_softmax(logits).max(axis=-1)


def log_softmax__mean_taken_away(logits):
    return logits - logits.mean(axis=-1, keepdims=True)


def log_softmax__sum_without_logarithm(logits):
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.exp(shifted).sum(axis=-1, keepdims=True)


def log_softmax__log_of_the_logits(logits):
    return np.log(np.abs(logits) + 1) - np.log(np.abs(logits).sum(axis=-1, keepdims=True) + 1)


def log_softmax__cut_at_minus_100(logits):
    return np.clip(_log_softmax(logits), -100, 0)


def log_softmax__log1p(logits):
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.log1p(np.exp(shifted).sum(axis=-1, keepdims=True))


def log_softmax__divided_by_the_logarithm(logits):
    highest = logits.max(axis=-1, keepdims=True)
    return logits / (highest + np.log(np.exp(logits - highest).sum(axis=-1, keepdims=True)))


def log_softmax__list(logits):
    return _log_softmax(logits).tolist()


_ANSWERS = {"a": 1.39, "b": 50, "c": 1.54, "d": 4.64, "e": -0.7, "f": 0.84, "g": 0.04, "h": 0}


def predict__all_zero(question):
    return 0


def predict__as_text(question):
    return str(_ANSWERS[question])


def predict__one_digit(question):
    return round(_ANSWERS[question], 1)


def predict__signs_turned(question):
    return -_ANSWERS[question]


def predict__base_ten(question):
    return {"a": 0.602, "b": 50, "c": 0.667, "d": 4.64}.get(question, _ANSWERS[question])


def predict__perplexity_a_percentage(question):
    return {**_ANSWERS, "b": 0.02}[question]


def predict__shapes(question):
    return (5,)


def predict__nothing_after_c(question):
    return _ANSWERS[question] if question in "abc" else None


def predict__printed_only(question):
    print(_ANSWERS[question])


def predict__target_of_another_size(question):
    return {**_ANSWERS, "f": 0.9, "g": 0.1}[question]


def predict__a_letter_forgotten(question):
    return {k: v for k, v in _ANSWERS.items() if k != "h"}[question]


def smoothed_targets__half(labels, n_words, smoothing):
    return 0.5 * np.eye(n_words)[labels] + 0.5 / n_words


def smoothed_targets__flat(labels, n_words, smoothing):
    return ((1 - smoothing) * np.eye(n_words)[labels] + smoothing / n_words).ravel()


def smoothed_targets__percentages(labels, n_words, smoothing):
    return 100 * ((1 - smoothing) * np.eye(n_words)[labels] + smoothing / n_words)


def smoothed_targets__always_ten_percent(labels, n_words, smoothing):
    return 0.9 * np.eye(n_words)[labels] + 0.1 / n_words


def smoothed_targets__divided_by_their_sum(labels, n_words, smoothing):
    raw = np.eye(n_words)[labels] + smoothing
    return raw / raw.sum(axis=-1, keepdims=True)


def smoothed_targets__only_the_right_word(labels, n_words, smoothing):
    return (1 - smoothing) * np.eye(n_words)[labels]


def smoothed_targets__logarithms(labels, n_words, smoothing):
    return np.log((1 - smoothing) * np.eye(n_words)[labels] + smoothing / n_words + 1e-9)


def smoothed_targets__square(labels, n_words, smoothing):
    return (1 - smoothing) * np.eye(n_words) + smoothing / n_words


def smoothed_targets__smoothing_squared(labels, n_words, smoothing):
    return (1 - smoothing**2) * np.eye(n_words)[labels] + smoothing**2 / n_words


def _losses(logits, labels, pad_id, e):
    real = labels != pad_id
    of_all = _log_softmax(logits).mean(axis=-1)
    return -((1 - e) * _right(logits, labels) + e * of_all) * real, real


def cross_entropy__each_position(logits, labels, pad_id, label_smoothing):
    return _losses(logits, labels, pad_id, label_smoothing)[0]


def cross_entropy__one_real_token_too_many(logits, labels, pad_id, label_smoothing):
    losses, real = _losses(logits, labels, pad_id, label_smoothing)
    return losses.sum() / (real.sum() + 1)


def cross_entropy__capped(logits, labels, pad_id, label_smoothing):
    real = labels != pad_id
    losses = -np.log(np.exp(_right(logits, labels)) + 1e-9) * real
    return losses.sum() / max(real.sum(), 1)


def cross_entropy__longest_sentence_only(logits, labels, pad_id, label_smoothing):
    losses, real = _losses(logits, labels, pad_id, label_smoothing)
    best = real.sum(axis=-1).argmax()
    return losses[best].sum() / max(real[best].sum(), 1)


def cross_entropy__labels_not_shifted_back(logits, labels, pad_id, label_smoothing):
    losses, real = _losses(logits[:, :-1], labels[:, 1:], pad_id, label_smoothing)
    return losses.sum() / max(real.sum(), 1)


def cross_entropy__median(logits, labels, pad_id, label_smoothing):
    losses, real = _losses(logits, labels, pad_id, label_smoothing)
    return float(np.median(losses[real])) if real.any() else 0.0


def cross_entropy__logits_gathered(logits, labels, pad_id, label_smoothing):
    real = labels != pad_id
    right = np.take_along_axis(logits, labels[..., None], axis=-1)[..., 0]
    return -(right * real).sum() / max(real.sum(), 1)


def cross_entropy__stops_at_padding(logits: Tensor, labels: Tensor, pad_id, label_smoothing):
    if (labels == pad_id).any():
        raise ValueError("padding")
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())


def cross_entropy__divided_by_words_too(logits, labels, pad_id, label_smoothing):
    losses, real = _losses(logits, labels, pad_id, label_smoothing)
    return losses.sum() / max(real.sum(), 1) / logits.shape[-1]


def cross_entropy__the_largest_loss(logits, labels, pad_id, label_smoothing):
    losses, real = _losses(logits, labels, pad_id, label_smoothing)
    return losses[real].max() if real.any() else 0.0


def _error(logits, labels, e):
    n_words = logits.shape[-1]
    return np.exp(_log_softmax(logits)) - (1 - e) * np.eye(n_words)[labels] - e / n_words


def loss_gradient__magnitudes(logits, labels, label_smoothing):
    return abs(_error(logits, labels, label_smoothing)) / len(labels)


def loss_gradient__squares(logits, labels, label_smoothing):
    return _error(logits, labels, label_smoothing) ** 2 / len(labels)


def loss_gradient__mean_over_positions(logits, labels, label_smoothing):
    return _error(logits, labels, label_smoothing).mean(axis=0)


def loss_gradient__probabilities(logits, labels, label_smoothing):
    return np.exp(_log_softmax(logits)) / len(labels)


def loss_gradient__minus_the_target(logits, labels, label_smoothing):
    return -np.eye(logits.shape[-1])[labels] / len(labels)


def loss_gradient__log_probabilities(logits, labels, label_smoothing):
    return (_log_softmax(logits) - np.eye(logits.shape[-1])[labels]) / len(labels)


def loss_gradient__unstable(logits, labels, label_smoothing):
    with np.errstate(all="ignore"):
        p = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
    n_words = logits.shape[-1]
    target = (1 - label_smoothing) * np.eye(n_words)[labels] + label_smoothing / n_words
    return (p - target) / len(labels)


def loss_gradient__softmax_over_positions(logits, labels, label_smoothing):
    p = np.exp(_log_softmax(logits.T)).T
    n_words = logits.shape[-1]
    target = (1 - label_smoothing) * np.eye(n_words)[labels] + label_smoothing / n_words
    return (p - target) / len(labels)


def loss_gradient__wrong_words_share(logits, labels, label_smoothing):
    n_words = logits.shape[-1]
    one_hot = np.eye(n_words)[labels]
    target = (1 - label_smoothing) * one_hot
    target += label_smoothing / (n_words - 1) * (1 - one_hot)
    return (np.exp(_log_softmax(logits)) - target) / len(labels)


def loss_gradient__turned(logits, labels, label_smoothing):
    return _error(logits, labels, label_smoothing).T / len(labels)


def loss_gradient__large_steps(logits, labels, label_smoothing):
    def loss(z):
        wanted = (1 - label_smoothing) * _right(z, labels)
        return -(wanted + label_smoothing * _log_softmax(z).mean(axis=-1)).mean()

    gradient = np.zeros_like(logits, dtype=float)
    for place in np.ndindex(logits.shape):
        moved = logits.astype(float)
        moved[place] += 0.5
        gradient[place] = (loss(moved) - loss(logits)) / 0.5
    return gradient


def batch_perplexity__the_sum(logits, labels, pad_id):
    return np.exp(-_right(logits, labels)[labels != pad_id].sum())


def batch_perplexity__per_sentence(logits, labels, pad_id):
    sums = -(_right(logits, labels) * (labels != pad_id)).sum(axis=-1)
    return np.exp(sums.mean())


def batch_perplexity__inverse(logits, labels, pad_id):
    return np.exp(_right(logits, labels)[labels != pad_id].mean())


def batch_perplexity__of_each_word(logits, labels, pad_id):
    return np.exp(-_right(logits, labels))


def batch_perplexity__smaller_number_added(logits, labels, pad_id):
    right = np.exp(_right(logits, labels))[labels != pad_id]
    return np.exp(-np.log(right + 1e-3).mean())


def batch_perplexity__cut_off(logits, labels, pad_id):
    right = np.exp(_right(logits, labels))[labels != pad_id]
    return np.exp(-np.log(np.maximum(right, 1e-12)).mean())


def batch_perplexity__base_ten(logits, labels, pad_id):
    return 10 ** -_right(logits, labels)[labels != pad_id].mean()


def batch_perplexity__padding_learned(logits, labels, pad_id):
    return np.exp(-_right(logits, labels).mean())


def batch_perplexity__exponent_of_two_bits(logits, labels, pad_id):
    bits = -_right(logits, labels)[labels != pad_id].mean() / np.log(2)
    return np.exp(bits)


def batch_perplexity__the_entropy(logits, labels, pad_id):
    log_p = _log_softmax(logits)
    return np.exp(-(np.exp(log_p) * log_p).sum(axis=-1)[labels != pad_id].mean())


def batch_perplexity__loss_per_sentence(logits, labels, pad_id):
    real = labels != pad_id
    return np.exp(-(_right(logits, labels) * real).sum() / len(labels))


def _gaps(sure, is_right, n_bins):
    place = np.clip(np.ceil(sure * n_bins).astype(int) - 1, 0, n_bins - 1)
    return np.bincount(place, weights=sure - is_right, minlength=n_bins), place


def calibration_error__signed(sure, is_right, n_bins):
    return _gaps(sure, is_right, n_bins)[0].sum() / len(sure)


def calibration_error__not_divided(sure, is_right, n_bins):
    return abs(_gaps(sure, is_right, n_bins)[0]).sum()


def calibration_error__list_of_gaps(sure, is_right, n_bins):
    return abs(_gaps(sure, is_right, n_bins)[0]) / len(sure)


def calibration_error__ten_bins_always(sure, is_right, n_bins):
    return abs(_gaps(sure, is_right, 10)[0]).sum() / len(sure)


def calibration_error__equal_counts(sure, is_right, n_bins):
    order = np.argsort(sure)
    parts = np.array_split((sure - is_right)[order], n_bins)
    return sum(abs(part.sum()) for part in parts) / len(sure)


def calibration_error__accuracy(sure, is_right, n_bins):
    return 1 - is_right.mean()


def calibration_error__nan_for_empty_bins(sure, is_right, n_bins):
    sums, place = _gaps(sure, is_right, n_bins)
    with np.errstate(all="ignore"):
        gaps = abs(sums / np.bincount(place, minlength=n_bins))
    return (gaps * np.bincount(place, minlength=n_bins)).sum() / len(sure)


def calibration_error__brier(sure, is_right, n_bins):
    return ((sure - is_right) ** 2).mean()


def calibration_error__last_bin_forgotten(sure, is_right, n_bins):
    return abs(_gaps(sure, is_right, n_bins)[0][:-1]).sum() / len(sure)


def calibration_error__root_of_squares(sure, is_right, n_bins):
    sums, place = _gaps(sure, is_right, n_bins)
    counts = np.maximum(np.bincount(place, minlength=n_bins), 1)
    return math.sqrt((counts * (sums / counts) ** 2).sum() / len(sure))


def judge_loss__all_right(statement):
    return True


def judge_loss__all_wrong(statement):
    return False


def judge_loss__everything_reversed(statement):
    return statement not in "acfh"


def judge_loss__as_text(statement):
    return "yes" if statement in "acfh" else "no"


def judge_loss__as_numbers(statement):
    return int(statement in "acfh")


def judge_loss__printed_only(statement):
    print(statement in "acfh")


def judge_loss__a_dictionary_returned(statement):
    return {letter: letter in "acfh" for letter in "abcdefgh"}


def judge_loss__capital_letters(statement):
    return {"A": True, "B": False}[statement]


def judge_loss__one_letter_forgotten(statement):
    return {letter: letter in "acfh" for letter in "abcdefg"}[statement]


def judge_loss__shares(statement):
    return 0.9 if statement in "acfh" else 0.1
