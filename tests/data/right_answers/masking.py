"""Chapter 03: right answers by loops, by einsum, by torch's own functions, by additive masks."""

import math

import numpy as np
import torch
from torch import Tensor

from transformer_course import masking


def decoder_mask__loops(ids, pad_id=0):
    batch, length = ids.shape
    mask = np.zeros((batch, 1, length, length), dtype=bool)
    for b, t, k in np.ndindex(batch, length, length):
        mask[b, 0, t, k] = k <= t and ids[b, k] != pad_id
    return mask


def decoder_mask__torch(ids: Tensor, pad_id: int = 0):
    length = ids.shape[1]
    causal = torch.ones(length, length).tril().bool()
    return (ids != pad_id).unsqueeze(1).unsqueeze(1) & causal


def decoder_mask__the_package(ids: Tensor, pad_id: int = 0):
    return masking.decoder_mask(ids, pad_id)


def decoder_mask__places_compared(ids, pad_id=0):
    places = np.arange(ids.shape[1])
    later = places[None, :] > places[:, None]
    hidden = later[None] | (ids == pad_id)[:, None, :]
    return ~hidden.reshape(len(ids), 1, len(places), len(places))


def scaled_dot_product_attention__minus_infinity_then_nan_to_zero(q, k, v, mask=None):
    scores = np.einsum("...qd,...kd->...qk", q, k) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores + np.where(mask, 0.0, -np.inf)
    with np.errstate(invalid="ignore"):
        powers = np.exp(scores - scores.max(-1, keepdims=True))
        weights = np.nan_to_num(powers / powers.sum(-1, keepdims=True))
    return weights @ v, weights


def scaled_dot_product_attention__torch(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
):
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is None:
        weights = scores.softmax(-1)
    else:
        weights = scores.masked_fill(~mask, -math.inf).softmax(-1).nan_to_num(0.0)
    return weights @ v, weights


def _all(mask):
    return True if mask is None else mask


def scaled_dot_product_attention__powers_of_hidden_keys_left_out(q, k, v, mask=None):
    scores = q @ np.swapaxes(k, -1, -2) * q.shape[-1] ** -0.5
    powers = np.exp(scores - scores.max(-1, keepdims=True, initial=-1e30, where=_all(mask)))
    if mask is not None:
        powers = np.where(mask, powers, 0)
    sums = powers.sum(-1, keepdims=True)
    weights = np.divide(powers, sums, out=np.zeros_like(powers), where=sums > 0)
    return weights @ v, weights


def scaled_dot_product_attention__loops(q, k, v, mask=None):
    weights = np.zeros((*q.shape[:-1], k.shape[-2]))
    seen = np.ones(weights.shape, bool) if mask is None else np.broadcast_to(mask, weights.shape)
    for place in np.ndindex(weights.shape[:-1]):
        keys = k[place[:-1]]
        scores = [q[place] @ key / math.sqrt(q.shape[-1]) for key in keys]
        highest = max((x for x, s in zip(scores, seen[place], strict=True) if s), default=0.0)
        powers = [
            math.exp(x - highest) if s else 0.0 for x, s in zip(scores, seen[place], strict=True)
        ]
        if sum(powers):
            weights[place] = np.array(powers) / sum(powers)
    return weights @ v, weights


def predict__computed(question):
    src, tgt = torch.ones(3, 9, dtype=torch.int64), torch.ones(3, 7, dtype=torch.int64)
    scores = torch.zeros(3, 4, 7, 9)
    three = torch.tensor([math.log(2), 0.0, -math.inf])
    return {
        "a": masking.padding_mask(src).shape,
        "b": masking.decoder_mask(tgt).shape,
        "c": scores.masked_fill(~masking.padding_mask(src), -math.inf).softmax(-1).shape,
        "d": int((~masking.causal_mask(6)).sum()),
        "e": float(three.softmax(-1)[0]),
        "f": float(
            torch.zeros(5, 5).masked_fill(~masking.causal_mask(5)[0, 0], -1e9).softmax(-1)[0, 0]
        ),
        "g": float(torch.full((4,), -1e9).softmax(-1)[0]),
        "h": 2 + 4,
    }[question]


def predict__by_place_in_a_list(question):
    answers = [(3, 1, 1, 9), (3, 1, 7, 7), (3, 4, 7, 9), 15, 0.67, 1, 0.25, 6]
    return answers["abcdefgh".index(question)]


def predict__lists_and_arrays(question):
    if question in "abc":
        return {"a": [3, 1, 1, 9], "b": [3, 1, 7, 7], "c": [3, 4, 7, 9]}[question]
    return np.array({"d": 15.0, "e": 0.6667, "f": 1.0, "g": 0.25, "h": 6.0}[question])


def causal_weights__torch(scores: Tensor):
    causal = torch.ones_like(scores, dtype=torch.bool).tril()
    return torch.softmax(scores.masked_fill(~causal, -math.inf), -1)


def causal_weights__triangle_of_powers(scores):
    powers = np.tril(np.exp(scores))
    return powers / powers.sum(-1, keepdims=True)


def causal_weights__row_by_row(scores):
    weights = np.zeros(scores.shape)
    for i, row in enumerate(scores):
        powers = np.exp(row[: i + 1] - row[: i + 1].max())
        weights[i, : i + 1] = powers / powers.sum()
    return weights


def causal_weights__running_sums(scores):
    powers = np.exp(scores)
    return np.tril(powers) / np.diag(np.cumsum(powers, axis=1))[:, None]


def largest_errors__torch(
    x: Tensor, w_key: Tensor, keys: Tensor, scores: Tensor, weights: Tensor, output: Tensor
):
    causal = torch.ones_like(scores, dtype=torch.bool).tril()
    soft = torch.softmax((scores / x.shape[1] ** 0.5).masked_fill(~causal, -math.inf), -1)
    pairs = ((keys, x @ w_key), (scores, x @ keys.T), (weights, soft), (output, weights @ x))
    return tuple(float((p - r).abs().max()) for p, r in pairs)


def largest_errors__norms(x, w_key, keys, scores, weights, output):
    powers = np.tril(np.exp(scores * x.shape[1] ** -0.5))
    gaps = [keys - x @ w_key, scores - x @ keys.T]
    gaps += [weights - powers / powers.sum(1)[:, None], output - weights @ x]
    return [np.linalg.norm(gap.ravel(), np.inf) for gap in gaps]


def largest_errors__einsum_and_loops(x, w_key, keys, scores, weights, output):
    right = np.zeros(scores.shape)
    for i in range(len(x)):
        powers = [math.exp(s / math.sqrt(x.shape[1])) for s in scores[i, : i + 1]]
        right[i, : i + 1] = [power / sum(powers) for power in powers]
    steps = {
        "keys": (keys, np.einsum("nd,dk->nk", x, w_key)),
        "scores": (scores, np.einsum("qd,kd->qk", x, keys)),
        "weights": (weights, right),
        "output": (output, np.einsum("qk,kd->qd", weights, x)),
    }
    return tuple(max(abs(p - r).max(), 0.0) for p, r in steps.values())


def influence__one_batch_of_copies(model, ids, other):
    length = len(ids)
    copies = np.tile(ids, (length, 1))
    np.fill_diagonal(copies, other)
    before = np.asarray(model(ids))
    return np.array([np.abs(model(copy) - before).max(-1) for copy in copies]).T


def influence__torch(model, ids: Tensor, other: int):
    table = torch.zeros(len(ids), len(ids))
    for source in range(len(ids)):
        changed = torch.cat([ids[:source], torch.tensor([other]), ids[source + 1 :]])
        table[:, source] = (model(changed) - model(ids)).abs().amax(-1)
    return table


def influence__number_by_number(model, ids, other):
    before, n = model(ids), len(ids)
    table = np.zeros((n, n))
    for s in range(n):
        after = model(np.array([other if place == s else ids[place] for place in range(n)]))
        for t in range(n):
            table[t, s] = max(abs(a - b) for a, b in zip(after[t], before[t], strict=True))
    return table


def influence__put_back(model, ids, other):
    ids = ids.copy()
    before, columns = model(ids), []
    for source, token in enumerate(ids.tolist()):
        ids[source] = other
        columns.append(np.max(np.abs(model(ids) - before), axis=1))
        ids[source] = token
    return np.column_stack(columns)


def judge_statements__set_of_the_true_ones(statement):
    return statement in {"e", "f", "g", "i"}


def judge_statements__by_place(statement):
    return [False, False, False, False, True, True, True, False, True][ord(statement) - ord("a")]


def judge_statements__one_after_another(statement):
    if statement in "abcd":
        return False
    return bool(np.bool_(statement != "h"))
