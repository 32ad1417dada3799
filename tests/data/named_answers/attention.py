"""Chapter 01: misconceptions in the spellings of learners."""

import numpy as np


def softmax__shifted_by_the_mean(scores, axis=-1):
    """a shift that isn't the largest score"""
    powers = np.exp(scores - scores.mean(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def softmax__scores_kept_in_a_range(scores, axis=-1):
    """large scores cut off"""
    powers = np.exp(np.minimum(np.maximum(scores, -50), 50))
    return powers / powers.sum(axis, keepdims=True)


def kernel_regression__bandwidth_as_it_is(queries, keys, values, bandwidth):
    """the bandwidth not squared, and weights that vanish far away"""
    powers = np.exp(-((queries[:, None] - keys) ** 2) / (2 * bandwidth))
    return (powers / powers.sum(1, keepdims=True)) @ values


def kernel_regression__without_two(queries, keys, values, bandwidth):
    """the factor 2 left out, and weights that vanish far away"""
    powers = np.exp(-(((queries[:, None] - keys) / bandwidth) ** 2))
    return (powers * values).sum(1) / powers.sum(1)


def softmax__divided_by_the_largest_score(scores, axis=-1):
    """scores divided by the largest"""
    powers = np.exp(scores / np.max(scores, axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def softmax__divided_by_the_largest_magnitude(scores, axis=-1):
    """scores divided by the largest magnitude"""
    powers = np.exp(scores / np.abs(scores).max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def softmax__divided_by_the_largest_of_all(scores, axis=-1):
    """scores divided by the largest of all"""
    powers = np.exp(scores / scores.max())
    return powers / powers.sum(axis=axis, keepdims=True)
