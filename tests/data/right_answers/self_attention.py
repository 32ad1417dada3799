"""Chapter 02: right answers by einsum, by loops, by ready-made functions, with NumPy and with torch."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from transformer_course.self_attention import SelfAttention


def six_steps__loops(x, place, w_query, w_key, w_value):
    query = [sum(x[place] * column) for column in w_query.T]
    scores = []
    for word in x:
        key = [sum(word * column) for column in w_key.T]
        dot = sum(a * b for a, b in zip(query, key, strict=True))
        scores.append(dot / math.sqrt(len(key)))
    powers = [math.exp(score - max(scores)) for score in scores]
    weights = [power / sum(powers) for power in powers]
    output = sum(weight * (word @ w_value) for weight, word in zip(weights, x, strict=True))
    return np.array(scores), np.array(weights), output


def six_steps__torch(x: Tensor, place: int, w_query: Tensor, w_key: Tensor, w_value: Tensor):
    scores = torch.mv(x @ w_key, w_query.T @ x[place]) * w_key.shape[1] ** -0.5
    weights = torch.softmax(scores, 0)
    return scores, weights, weights @ (x @ w_value)


def six_steps__one_row_of_all_words(x, place, w_query, w_key, w_value):
    scores = np.einsum("id,dk,ek,je->ij", x, w_query, w_key, x) / np.sqrt(w_query.shape[1])
    weights = np.exp(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))
    return scores[place], weights[place], (weights @ x @ w_value)[place]


def self_attention__einsum(x, w_query, w_key, w_value):
    scores = np.einsum("...id,dk,ek,...je->...ij", x, w_query, w_key, x)
    scores /= w_key.shape[-1] ** 0.5
    weights = np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True))
    return np.einsum("...ij,...jd,dv->...iv", weights, x, w_value), weights


def self_attention__loop_over_sentences(x, w_query, w_key, w_value):
    sentences = x.reshape(-1, *x.shape[-2:])
    outputs, squares = [], []
    for sentence in sentences:
        rows = []
        for word in sentence:
            scores = sentence @ w_key @ (word @ w_query) / np.sqrt(w_key.shape[1])
            powers = np.exp(scores - max(scores))
            rows.append(powers / sum(powers))
        squares.append(np.array(rows))
        outputs.append(squares[-1] @ sentence @ w_value)
    front = x.shape[:-1]
    return np.reshape(outputs, (*front, -1)), np.reshape(squares, (*front, -1))


def self_attention__the_class_of_the_package(
    x: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor
):
    layer = SelfAttention(*w_key.shape, w_value.shape[1])
    for linear, matrix in zip(layer.children(), (w_query, w_key, w_value), strict=True):
        linear.weight.data = matrix.T
    return layer(x)


def self_attention__torchs_own_for_the_output(x, w_query, w_key, w_value):
    q, k, v = (torch.from_numpy(x @ matrix) for matrix in (w_query, w_key, w_value))
    eye = torch.eye(x.shape[-2], dtype=v.dtype).expand(*x.shape[:-1], -1)
    output = F.scaled_dot_product_attention(q, k, v)
    return [output, F.scaled_dot_product_attention(q, k, eye)]


def self_attention__matrices_joined(x, w_query, w_key, w_value):
    middle = w_query @ w_key.T / math.sqrt(w_key.shape[1])
    scores = x @ middle @ np.moveaxis(x, -1, -2)
    powers = np.exp(scores - scores.max(-1)[..., None])
    weights = powers / powers.sum(-1)[..., None]
    return (weights @ x) @ w_value, weights


def predict_sizes__computed(question):
    x, matrix = np.ones((10, 512)), np.ones((512, 64))
    views = x @ matrix
    weights = views @ views.T
    return {
        "a": views.shape,
        "b": weights.shape,
        "c": (weights @ views).shape,
        "d": 20**2,
        "e": math.sqrt(64),
        "f": 3 * matrix.size,
        "g": np.float64(1 / 2),
        "h": [3, 7],
    }[question]


def predict_sizes__by_place_in_a_list(question):
    answers = [(10, 64), (10, 10), (10, 64), 400, 8, 98_304, 0.5, (3, 7)]
    return answers["abcdefgh".index(question)]


def predict_sizes__one_question_after_another(question):
    if question in "ac":
        return torch.empty(10, 64).shape
    if question == "b":
        return [10, 10]
    if question == "h":
        return 3, 7
    if question == "d":
        return torch.tensor(400.0)
    return {"e": 8.0, "f": 98304.0, "g": 0.5}[question]


def cross_attention__einsum(x, memory, w_query, w_key, w_value):
    scores = np.einsum("...id,dk,ek,...je->...ij", x, w_query, w_key, memory)
    scores /= w_key.shape[-1] ** 0.5
    weights = np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True))
    return np.einsum("...ij,...jd,dv->...iv", weights, memory, w_value), weights


def cross_attention__torch(
    x: Tensor, memory: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor
):
    keys = memory.matmul(w_key).mT / math.sqrt(w_key.size(1))
    weights = F.softmax(x.matmul(w_query).matmul(keys), dim=-1)
    return weights.matmul(memory.matmul(w_value)), weights


def cross_attention__a_word_at_a_time(x, memory, w_query, w_key, w_value):
    outputs, rows = np.empty((*x.shape[:-1], w_value.shape[1])), []
    for place in np.ndindex(x.shape[:-1]):
        read = memory[place[:-1]]
        scores = (read @ w_key) @ (x[place] @ w_query) / np.sqrt(w_key.shape[1])
        powers = np.exp(scores - scores.max())
        rows.append(powers / powers.sum())
        outputs[place] = rows[-1] @ (read @ w_value)
    return outputs, np.reshape(rows, (*x.shape[:-1], -1))


def shuffled__one_pair_of_brackets(output, weights, order):
    return output[order, :], weights[np.ix_(order, order)]


def shuffled__permutation_matrix(output, weights, order):
    permutation = np.eye(len(order))[order]
    return permutation @ output, permutation @ weights @ permutation.T


def shuffled__loops(output, weights, order):
    new_output, new_weights = np.empty_like(output), np.empty_like(weights)
    for i, before in enumerate(order):
        new_output[i] = output[before]
        for j, other in enumerate(order):
            new_weights[i, j] = weights[before, other]
    return new_output, new_weights


def shuffled__torch(output: Tensor, weights: Tensor, order: list[int]):
    places = torch.tensor(order)
    return output.index_select(0, places), weights.index_select(0, places).index_select(1, places)


def self_attention_of_batch__sentence_by_sentence(x, w_query, w_key, w_value):
    weights = []
    for sentence in x:
        powers = np.exp(sentence @ w_query @ (sentence @ w_key).T / np.sqrt(w_key.shape[1]))
        weights.append(powers / powers.sum(axis=1, keepdims=True))
    return np.array(weights) @ (x @ w_value), np.array(weights)


def self_attention_of_batch__einsum(x, w_query, w_key, w_value):
    scores = np.einsum("bik,bjk->bij", x @ w_query, x @ w_key) / np.sqrt(w_key.shape[-1])
    weights = np.exp(scores - scores.max(2)[:, :, None])
    weights /= weights.sum(2)[:, :, None]
    return np.einsum("bij,bjv->biv", weights, x @ w_value), weights


def self_attention_of_batch__torch(x: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor):
    scores = torch.bmm(x @ w_query, (x @ w_key).transpose(1, 2)) / w_key.shape[1] ** 0.5
    weights = scores.softmax(dim=2)
    return torch.bmm(weights, x @ w_value), weights


def own_score__loops(x, w_query, w_key):
    def share(matrix):
        best = 0
        for i, word in enumerate(x):
            scores = [(word @ w_query) @ (other @ matrix) for other in x]
            best += scores[i] == max(scores)
        return best / len(x)

    return share(w_key), share(w_query)


def own_score__torch(x: Tensor, w_query: Tensor, w_key: Tensor):
    shares = []
    for matrix in (w_key, w_query):
        scores = (x @ w_query) @ (x @ matrix).T / matrix.shape[1] ** 0.5
        shares.append((scores.softmax(1).argmax(1) == torch.arange(len(x))).float().mean())
    return shares


def own_score__diagonal(x, w_query, w_key):
    both = np.stack([(x @ w_query) @ (x @ w).T for w in (w_key, w_query)])  # (2, n, n)
    own = np.diagonal(both, axis1=1, axis2=2)
    return tuple(float(share) for share in (own >= both.max(-1)).mean(-1))


def true_or_false__the_true_ones(statement):
    return statement in {"b", "e", "f"}


def true_or_false__numpy_bools(statement):
    return np.array([0, 1, 0, 0, 1, 1, 0, 0], dtype=bool)["abcdefgh".index(statement)]


def true_or_false__one_after_another(statement):
    if statement == "b":
        return True
    return statement == "e" or statement == "f"
