"""Chapter 02: misconceptions in the spellings of learners."""

import numpy as np
import torch
from torch import Tensor

from tests.data.wrong_answers.self_attention import _softmax


def six_steps__counted_from_one(x, place, w_query, w_key, w_value):
    """the place counted from 1"""
    scores = x @ w_key @ (x[place - 1] @ w_query) / np.sqrt(w_key.shape[1])
    return scores, _softmax(scores), _softmax(scores) @ x @ w_value


def six_steps__the_best_value_only(x, place, w_query, w_key, w_value):
    """only the value of the best word"""
    scores = x @ w_key @ (x[place] @ w_query) / np.sqrt(w_key.shape[1])
    return scores, _softmax(scores), (x @ w_value)[scores.argmax()]


def six_steps__as_attention_returns_them(x, place, w_query, w_key, w_value):
    """results in the wrong order: from the last to the first"""
    scores = x @ w_key @ (x[place] @ w_query) / np.sqrt(w_key.shape[1])
    return _softmax(scores) @ x @ w_value, _softmax(scores), scores


def six_steps__last_made_first_returned(x: Tensor, place, w_query, w_key, w_value):
    """results in the wrong order: weights, output, scores"""
    scores = x @ w_key @ (x[place] @ w_query) / w_key.shape[1] ** 0.5
    weights = scores.softmax(0)
    return weights, weights @ x @ w_value, scores


def six_steps__output_and_weights_last_but_turned(x, place, w_query, w_key, w_value):
    """results in the wrong order: the output before the weights"""
    scores = x @ w_key @ (x[place] @ w_query) / np.sqrt(w_key.shape[1])
    return scores, _softmax(scores) @ (x @ w_value), _softmax(scores)


def _plain_exponentials(queries, keys):
    powers = np.exp(queries @ keys.swapaxes(-2, -1) / np.sqrt(keys.shape[-1]))
    return powers / powers.sum(-1, keepdims=True)


def self_attention__plain_exponentials(x, w_query, w_key, w_value):
    """softmax that overflows"""
    weights = _plain_exponentials(x @ w_query, x @ w_key)
    return weights @ (x @ w_value), weights


def self_attention__plain_exponentials_in_torch(x: Tensor, w_query, w_key, w_value):
    """softmax that overflows"""
    powers = torch.exp((x @ w_query) @ (x @ w_key).mT / w_key.shape[-1] ** 0.5)
    weights = powers / powers.sum(-1, keepdim=True)
    return weights @ (x @ w_value), weights


def cross_attention__plain_exponentials(x, memory, w_query, w_key, w_value):
    """softmax that overflows"""
    weights = _plain_exponentials(x @ w_query, memory @ w_key)
    return weights @ (memory @ w_value), weights


def cross_attention__plain_exponentials_in_torch(x: Tensor, memory, w_query, w_key, w_value):
    """softmax that overflows"""
    powers = torch.exp((x @ w_query) @ (memory @ w_key).mT / w_key.shape[-1] ** 0.5)
    weights = powers / powers.sum(-1, keepdim=True)
    return weights @ (memory @ w_value), weights


def shuffled__columns_by_the_inverse(output, weights, order):
    """the columns of the weights moved the other way round"""
    columns = [order.index(i) for i in range(len(order))]
    return output[order], weights[order][:, columns]


def own_score__better_than_usual(x, w_query, w_key):
    """above the mean of the row, not the highest"""

    def share(one, other):
        scores = (x @ one) @ (x @ other).T
        return float(np.mean([scores[i, i] > scores[i].mean() for i in range(len(x))]))

    return share(w_query, w_key), share(w_query, w_query)


def self_attention_of_batch__reshape(x, w_query, w_key, w_value):
    """keys reshaped instead of transposed"""
    q, k, v = x @ w_query, x @ w_key, x @ w_value
    b, n, d_k = k.shape
    weights = _softmax(q @ k.reshape(b, d_k, n) / np.sqrt(d_k))
    return weights @ v, weights


def self_attention_of_batch__view_and_nothing_else(x: Tensor, w_query, w_key, w_value):
    """keys reshaped instead of transposed; still wrong: the keys' matrix and the axis of the softmax"""
    q, k, v = x @ w_query, x @ w_query, x @ w_value
    b, n, d_k = k.shape
    weights = torch.softmax(q @ k.view(b, d_k, n) / d_k**0.5, dim=1)
    return weights @ v, weights


def self_attention_of_batch__last_axis_of_the_turned_keys(x, w_query, w_key, w_value):
    """scaled by the number of words"""
    q, k, v = x @ w_query, (x @ w_key).transpose(0, 2, 1), x @ w_value
    weights = _softmax(q @ k / np.sqrt(k.shape[-1]))
    return weights @ v, weights


def self_attention_of_batch__last_axis_of_the_turned_keys_and_dim_1(
    x: Tensor, w_query, w_key, w_value
):
    """scaled by the number of words; still wrong: the axis of the softmax"""
    q, k, v = x @ w_query, (x @ w_key).mT, x @ w_value
    weights = torch.softmax(q @ k / k.shape[-1] ** 0.5, dim=1)
    return weights @ v, weights


def six_steps__key_of_the_word_that_asks(x, place, w_query, w_key, w_value):
    """the query made by the keys' matrix"""
    keys = x @ w_key
    scores = keys @ keys[place] / np.sqrt(keys.shape[1])
    return scores, _softmax(scores), _softmax(scores) @ (x @ w_value)


def self_attention_of_batch__one_sum(x, w_query, w_key, w_value):
    """one softmax for all words of a sentence"""
    weights = []
    for sentence in x:
        q, k = sentence @ w_query, sentence @ w_key
        p = np.exp(q @ k.T / np.sqrt(k.shape[-1]))
        weights.append(p / p.sum())
    return np.stack(weights) @ (x @ w_value), np.stack(weights)
