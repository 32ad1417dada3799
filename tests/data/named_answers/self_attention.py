"""Chapter 02: misconceptions in the spellings of learners."""

import numpy as np

from tests.data.wrong_answers.self_attention import _softmax


def six_steps__counted_from_one(x, place, w_query, w_key, w_value):
    """the place counted from 1"""
    scores = x @ w_key @ (x[place - 1] @ w_query) / np.sqrt(w_key.shape[1])
    return scores, _softmax(scores), _softmax(scores) @ x @ w_value


def six_steps__the_best_value_only(x, place, w_query, w_key, w_value):
    """only the value of the best word"""
    scores = x @ w_key @ (x[place] @ w_query) / np.sqrt(w_key.shape[1])
    return scores, _softmax(scores), (x @ w_value)[scores.argmax()]


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
