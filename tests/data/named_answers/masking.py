"""Chapter 03: misconceptions in the spellings of learners."""

import numpy as np
import torch
from torch import Tensor

from tests.data.wrong_answers.masking import _soft


def causal_weights__softmax_of_the_triangle(scores):
    """hidden scores set to 0"""
    return _soft(np.tril(scores))


def scaled_dot_product_attention__masked_fill_with_the_mask(
    queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None
):
    """the polarity turned round: a row that sees everything becomes NaN"""
    scores = queries @ keys.transpose(-2, -1) / queries.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask, -torch.inf)
    weights = torch.softmax(scores, -1)
    return weights @ values, weights


def scaled_dot_product_attention__where_the_mask_is_true_minus_1e9(q, k, v, mask=None):
    """the polarity turned round: a row that sees everything gets equal shares"""
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    if mask is not None:
        scores = np.where(mask, -1e9, scores)
    weights = _soft(scores)
    return weights @ v, weights


def scaled_dot_product_attention__low_number_added_to_true(q, k, v, mask=None):
    """the polarity turned round: a low number added where the mask is True"""
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores - 1e9 * mask
    weights = _soft(scores)
    return weights @ v, weights


def scaled_dot_product_attention__powers_of_hidden_keys_left_out(q, k, v, mask=None):
    """no shift before the exponential"""
    powers = np.exp(q @ np.swapaxes(k, -1, -2) * q.shape[-1] ** -0.5)
    if mask is not None:
        powers = np.where(mask, powers, 0)
    sums = powers.sum(-1, keepdims=True)
    weights = np.divide(powers, sums, out=np.zeros_like(powers), where=sums > 0)
    return weights @ v, weights


def scaled_dot_product_attention__nan_of_the_output_only(q, k, v, mask=None):
    """a row that sees nothing: the output is 0, the weights are NaN"""
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    weights = _soft(scores if mask is None else np.where(mask, scores, -np.inf))
    return np.nan_to_num(weights @ v), weights


def scaled_dot_product_attention__hidden_after_the_shift(queries, keys, values, mask=None):
    """hidden after the shift, so a huge hidden score counts"""
    scores = queries @ np.swapaxes(keys, -2, -1) / np.sqrt(queries.shape[-1])
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    if mask is not None:
        powers = np.where(mask, powers, 0.0)
    total = powers.sum(axis=-1, keepdims=True)
    weights = powers / np.where(total == 0, 1.0, total)
    return weights @ values, weights


def scaled_dot_product_attention__minus_10000_and_the_mask_again(q, k, v, mask=None):
    """a fill that scores can fall below: a row that may see a key gets zeros"""
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    if mask is None:
        mask = np.ones(scores.shape, bool)
    weights = _soft(np.where(mask, scores, -1e4)) * mask
    return weights @ v, weights


def scaled_dot_product_attention__minus_9999_and_empty_rows_mended(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
):
    """a fill that scores can fall below: the weight goes to a hidden key"""
    scores = torch.einsum("...qd,...kd->...qk", q, k) / k.shape[-1] ** 0.5
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    shares = torch.softmax(scores.masked_fill(~mask, -9999.0), -1)
    weights = shares * mask.any(-1, keepdim=True)
    return weights @ v, weights


def scaled_dot_product_attention__minus_10000_alone(q: Tensor, k, v, mask: Tensor | None = None):
    """a fill that scores can fall below, and equal shares in a row that sees nothing"""
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e4)
    weights = scores.softmax(-1)
    return weights @ v, weights


def scaled_dot_product_attention__scale_in_one_branch(q, k, v, mask=None):
    """scores not scaled where there is a mask"""
    scores = q @ k.swapaxes(-2, -1)
    if mask is None:
        weights = _soft(scores / q.shape[-1] ** 0.5)
    else:
        weights = _soft(np.where(mask, scores, -1e30)) * mask
    return weights @ v, weights


def decoder_mask__from_the_lengths(ids, pad_id=0):
    """padding taken to be at the right"""
    lengths = (ids != pad_id).sum(1)
    places = np.arange(ids.shape[1])
    return ((places < lengths[:, None])[:, None, :] & (places <= places[:, None]))[:, None]
