"""Chapter 01: misconceptions in the spellings of learners."""

import numpy as np


def softmax__shifted_by_the_mean(scores, axis=-1):
    """a shift that isn't the largest score"""
    powers = np.exp(scores - scores.mean(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)
