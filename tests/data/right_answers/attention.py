"""Chapter 01: right answers by einsum, by loops, by ready-made functions, with NumPy and with torch."""

import math
from fractions import Fraction

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor


def similarities__einsum(query, keys):
    dots = np.einsum("d,kd->k", query, keys)
    squares = np.einsum("kd,kd->k", keys, keys) * np.einsum("d,d->", query, query)
    return dots, dots * squares**-0.5


def similarities__loops(query, keys):
    dots, cosines = np.zeros(len(keys)), np.zeros(len(keys))
    for i, key in enumerate(keys):
        dots[i] = sum(q * k for q, k in zip(query, key, strict=True))
        cosines[i] = dots[i] / (math.hypot(*query) * math.hypot(*key))
    return dots, cosines


def similarities__torch(query: Tensor, keys: Tensor):
    return keys @ query, F.cosine_similarity(query[None], keys, dim=-1, eps=1e-12)


def similarities__unit_vectors_as_a_list(query, keys):
    unit = keys / np.linalg.norm(keys, axis=1)[:, None]
    return [np.dot(keys, query), unit @ (query / np.sqrt(query @ query))]


def softmax__logsumexp(scores, axis=-1):
    return np.exp(scores - np.logaddexp.reduce(scores, axis=axis, keepdims=True))


def softmax__torch(scores: Tensor, axis: int = -1):
    return torch.softmax(scores, axis)


def softmax__loop_over_rows(scores, axis=-1):
    rows = np.moveaxis(scores, axis, -1)
    result = np.empty(rows.shape)
    for index in np.ndindex(rows.shape[:-1]):
        powers = [math.exp(score - max(rows[index])) for score in rows[index]]
        result[index] = np.array(powers) / sum(powers)
    return np.moveaxis(result, -1, axis)


def softmax__one_over_a_sum_of_differences(scores, axis=-1):
    rows = np.moveaxis(scores, axis, -1)
    with np.errstate(over="ignore"):
        shares = 1 / np.exp(rows[..., None, :] - rows[..., :, None]).sum(-1)
    return np.moveaxis(shares, -1, axis)


def predict__computed(question):
    q, k, v = np.ones((2, 3, 4)), np.ones((2, 5, 4)), np.ones((2, 5, 6))
    weights = q @ k.swapaxes(1, 2)
    second = 1 / (1 + math.exp(-math.log(3)))
    return {
        "a": weights.shape,
        "b": (weights @ v).shape,
        "c": second,
        "d": second,
        "e": 1 / 5,
        "f": np.float32(1 / (1 + math.exp(-60 / 8))),
        "g": np.mean([1, 2, 3, 4, 10]),
    }[question]


def predict__one_question_after_another(question):
    if question == "a":
        return [2, 3, 5]
    if question == "b":
        return torch.empty(2, 3, 6).shape
    if question in "cd":
        return Fraction(3, 4)
    if question == "e":
        return torch.tensor(0.2)
    return 1 if question == "f" else 4


def predict__by_place_in_a_list(question):
    answers = [(2, 3, 5), (2, 3, 6), 0.75, 0.75, 0.20, 1.00, 4]
    return answers[ord(question) - ord("a")]


def kernel_regression__loops(queries, keys, values, bandwidth):
    predictions = []
    for query in queries:
        squares = [(query - key) ** 2 for key in keys]
        shares = [math.exp(-(s - min(squares)) / (2 * bandwidth**2)) for s in squares]
        total = sum(share * value for share, value in zip(shares, values, strict=True))
        predictions.append(total / sum(shares))
    return np.array(predictions)


def kernel_regression__torch(queries: Tensor, keys: Tensor, values: Tensor, bandwidth: float):
    squares = torch.cdist(queries[:, None], keys[:, None]).square()
    return torch.softmax(-squares / (2 * bandwidth**2), dim=1).mv(values)


def kernel_regression__squares_written_out(queries, keys, values, bandwidth):
    scores = (np.outer(queries, keys) - keys**2 / 2) / bandwidth**2
    weights = np.exp(scores - np.logaddexp.reduce(scores, axis=1)[:, None])
    return np.einsum("qk,k->q", weights, values)


def kernel_regression__one_query_after_another_as_attention(queries, keys, values, bandwidth):
    features = np.stack([keys, keys**2], axis=1)
    asks = np.stack([queries, np.full_like(queries, -0.5)], axis=1) / bandwidth**2
    result = np.empty(queries.shape)
    for place, ask in enumerate(asks):
        scores = features @ ask
        powers = np.exp(scores - scores.max())
        result[place] = powers @ values / powers.sum()
    return result


def scaled_dot_product_attention__einsum(queries, keys, values):
    scores = np.einsum("...qd,...kd->...qk", queries, keys) * queries.shape[-1] ** -0.5
    weights = np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True))
    return np.einsum("...qk,...kv->...qv", weights, values), weights


def scaled_dot_product_attention__torch_in_one_call(q: Tensor, k: Tensor, v: Tensor):
    ones = torch.eye(k.shape[-2]).expand(*k.shape[:-2], -1, -1)
    return (
        F.scaled_dot_product_attention(q, k, v),
        F.scaled_dot_product_attention(q, k, ones),
    )


def scaled_dot_product_attention__loops(queries, keys, values):
    q_len, k_len, d_k = queries.shape[-2], keys.shape[-2], queries.shape[-1]
    weights = np.zeros((*queries.shape[:-2], q_len, k_len))
    output = np.zeros((*queries.shape[:-1], values.shape[-1]))
    for front in np.ndindex(queries.shape[:-2]):
        for i in range(q_len):
            scores = [queries[front][i] @ key / math.sqrt(d_k) for key in keys[front]]
            shares = [math.exp(score - max(scores)) for score in scores]
            for j in range(k_len):
                weights[(*front, i, j)] = shares[j] / sum(shares)
                output[(*front, i)] += weights[(*front, i, j)] * values[front][j]
    return output, weights


def scaled_dot_product_attention__both_sides_scaled(q: Tensor, k: Tensor, v: Tensor):
    root = q.shape[-1] ** 0.25
    weights = ((q / root) @ (k / root).mT).softmax(-1)
    return weights.matmul(v), weights


def attention_of_heads__one_head_after_another(queries, keys, values):
    outputs, tables = [], []
    for q, k, v in zip(queries, keys, values, strict=True):
        powers = np.exp(q @ k.T / q.shape[1] ** 0.5)
        tables.append(powers / powers.sum(1)[:, None])
        outputs.append(tables[-1] @ v)
    return np.stack(outputs), np.stack(tables)


def attention_of_heads__einsum(queries, keys, values):
    powers = np.exp(np.einsum("hqd,hkd->hqk", queries, keys) / math.sqrt(keys.shape[2]))
    weights = np.einsum("hqk,hq->hqk", powers, 1 / np.einsum("hqk->hq", powers))
    return np.einsum("hqk,hkv->hqv", weights, values), weights


def attention_of_heads__torch_bmm(queries: Tensor, keys: Tensor, values: Tensor):
    scores = torch.bmm(queries, keys.permute(0, 2, 1)).div(queries.size(2) ** 0.5)
    weights = F.softmax(scores, dim=2)
    return torch.bmm(weights, values), weights


def measure_scores__torch(queries: Tensor, keys: Tensor):
    scores = queries @ keys.T
    result = []
    for table in (scores, scores / queries.shape[-1] ** 0.5):
        entropies = torch.distributions.Categorical(logits=table).entropy() / math.log(2)
        result.append((table.var(correction=0), entropies.mean()))
    (variance, entropy), (scaled_variance, scaled_entropy) = result
    return variance, scaled_variance, entropy, scaled_entropy


def measure_scores__logarithm_of_softmax(queries, keys):
    def bits(scores):
        logs = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
        return -(np.exp(logs) * logs).sum() / len(scores) / np.log(2)

    scores = np.einsum("qd,kd->qk", queries, keys)
    width = queries.shape[1]
    return np.var(scores), np.var(scores) / width, bits(scores), bits(scores / np.sqrt(width))


def measure_scores__loops(queries, keys):
    def measured(scale):
        scores = [[sum(q * k) / scale for k in keys] for q in queries]
        flat = [score for row in scores for score in row]
        mean = sum(flat) / len(flat)
        entropies = []
        for row in scores:
            shares = [math.exp(score - max(row)) for score in row]
            weights = [share / sum(shares) for share in shares]
            entropies.append(-sum(w * math.log2(w) for w in weights if w > 0))
        variance = sum((score - mean) ** 2 for score in flat) / len(flat)
        return variance, sum(entropies) / len(entropies)

    plain, scaled = measured(1), measured(math.sqrt(len(queries[0])))
    return [plain[0], scaled[0], plain[1], scaled[1]]


def why_scale__the_true_ones(statement):
    return statement in {"a", "c", "f"}


def why_scale__a_string_of_letters(statement):
    return bool(np.isin(statement, list("acf")))


def why_scale__numpy_bools(statement):
    return np.array([1, 0, 1, 0, 0, 1, 0], dtype=bool)["abcdefg".index(statement)]
