"""Chapter 07: misconceptions in the spellings of learners."""

import numpy as np
from torch import Tensor

from tests.data.wrong_answers.training import _counts, _starts, _surprise


def merge_places__places(symbols, left, right):
    """the numbers of the places instead of a value for each symbol"""
    return np.flatnonzero(_starts(symbols, left, right)).astype(float)


def merge_places__one_too_short(symbols, left, right):
    """no answer for the last symbol"""
    return _starts(symbols, left, right)[:-1]


def padded_share__full_last_batch(src_len, tgt_len, size):
    """the last batch filled up with empty rows"""
    _, src, tgt, filled = _counts(src_len, tgt_len, size)
    return float(1 - filled.sum() / (size * (src + tgt)).sum())


def table_loss__real_by_what_is_read(table, tgt, pad_id):
    """padding by what is read, not by what must be said"""
    read = tgt[:, :-1]
    return float(_surprise(table, read, tgt[:, 1:])[read != pad_id].mean())


def table_loss__padding_zero_whatever_pad_id(table, tgt, pad_id):
    """0 taken for padding, whatever its id is"""
    said = tgt[:, 1:]
    real = said != 0
    return float((_surprise(table, tgt[:, :-1], said) * real).sum() / real.sum())


def adam_step__epsilon_under_the_root(weight, gradient, m, v, step, rate):
    """epsilon under the root"""
    m, v = 0.9 * m + 0.1 * gradient, 0.98 * v + 0.02 * gradient**2
    top, low = m / (1 - 0.9**step), v / (1 - 0.98**step)
    return weight - rate * top / (low + 1e-9) ** 0.5, m, v


def adam_step__root_corrected(weight, gradient, m, v, step, rate):
    """v corrected outside the root"""
    m, v = 0.9 * m + 0.1 * gradient, 0.98 * v + 0.02 * gradient * gradient
    size = v**0.5 / (1 - 0.98**step) + 1e-9
    return weight - rate * m / (1 - 0.9**step) / size, m, v


def adam_step__times(weight, gradient, m, v, step, rate):
    """beta times the step"""
    m, v = 0.9 * m + 0.1 * gradient, 0.98 * v + 0.02 * gradient**2
    top, low = m / (1 - 0.9 * step), v / (1 - 0.98 * step)
    return weight - rate * top / (low**0.5 + 1e-9), m, v


def adam_step__epsilon_of_torch(weight, gradient, m, v, step, rate):
    """the usual epsilon, 1e-8"""
    m, v = 0.9 * m + 0.1 * gradient, 0.98 * v + 0.02 * gradient * gradient
    return weight - rate * m / (1 - 0.9**step) / ((v / (1 - 0.98**step)) ** 0.5 + 1e-8), m, v


def adam_step__rate_corrected(weight: Tensor, gradient: Tensor, m, v, step, rate):
    """epsilon before the correction"""
    m, v = 0.9 * m + 0.1 * gradient, 0.98 * v + 0.02 * gradient**2
    rate = rate * (1 - 0.98**step) ** 0.5 / (1 - 0.9**step)
    return weight - rate * m / (v.sqrt() + 1e-9), m, v
