"""Chapter 04: right answers by einsum, by loops, by ready-made functions, with NumPy and with torch."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor


def split_heads__loops(x, n_heads):
    batch, length, d_model = x.shape
    d_k = d_model // n_heads
    result = np.zeros((batch, n_heads, length, d_k))
    for b in range(batch):
        for head in range(n_heads):
            for t in range(length):
                result[b, head, t] = x[b, t, head * d_k : (head + 1) * d_k]
    return result


def split_heads__split_and_stack(x, n_heads):
    return np.stack(np.split(x, n_heads, axis=-1), axis=1)


def split_heads__torch_unflatten(x: Tensor, n_heads: int):
    return x.unflatten(-1, (n_heads, -1)).movedim(2, 1)


def split_heads__einsum(x, n_heads):
    cut = x.reshape(*x.shape[:-1], n_heads, x.shape[-1] // n_heads)
    return np.einsum("blhd->bhld", cut)


def merge_heads__concatenate(heads):
    return np.concatenate([heads[:, i] for i in range(heads.shape[1])], axis=-1)


def merge_heads__torch(heads: Tensor):
    return heads.permute(0, 2, 1, 3).flatten(2)


def merge_heads__loops(heads):
    batch, n_heads, q_len, d_v = heads.shape
    rows = np.empty((batch, q_len, n_heads * d_v))
    for head in range(n_heads):
        rows[..., head * d_v : (head + 1) * d_v] = heads[:, head]
    return rows


def merge_heads__einsum(heads):
    turned = np.einsum("bhqd->bqhd", heads)
    return np.ascontiguousarray(turned).reshape(*turned.shape[:2], -1)


def predict__computed(question):
    x, memory, layer = torch.zeros(2, 5, 512), torch.zeros(2, 7, 512), torch.nn.Linear(512, 512)
    q, k = (layer(t).unflatten(-1, (8, -1)).transpose(1, 2) for t in (x, memory))
    maps = q @ k.transpose(-2, -1)
    numbers = torch.tensor([[[11, 12, 13, 14], [21, 22, 23, 24], [31, 32, 33, 34]]])
    return {
        "a": maps.shape,
        "b": (maps @ k).transpose(1, 2).flatten(-2).shape,
        "c": math.sqrt(q.shape[-1]),
        "d": layer.weight.numel() / 8,
        "e": layer.weight.numel(),
        "f": maps.numel(),
        "g": numbers.view(1, 2, 3, 2)[0, 0, 1, 0],
    }[question]


def predict__one_question_after_another(question):
    if question in ("a", "b"):
        return [2, 8, 5, 7] if question == "a" else [2, 5, 512]
    if question == "c":
        return np.sqrt(64)
    if question == "g":
        return 13
    return {"d": 2**15, "e": 2**18, "f": 16 * 35}[question]


def predict__by_place_in_a_list(question):
    answers = [(2, 8, 5, 7), (2, 5, 512), 8, 512 * 64, 512.0**2, 560, 13.0]
    return answers["abcdefg".index(question)]


def multi_head_attention__torch_in_one_call(
    x: Tensor, memory: Tensor, w_query, w_key, w_value, w_output, n_heads: int, mask=None
):
    mask = None if mask is None else mask.bool()
    q, k, v = (
        t.unflatten(-1, (n_heads, -1)).transpose(1, 2)
        for t in (x @ w_query, memory @ w_key, memory @ w_value)
    )
    outputs = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    ones = torch.eye(k.shape[-2]).expand(*k.shape[:-2], -1, -1)
    weights = F.scaled_dot_product_attention(q, k, ones, attn_mask=mask)
    return outputs.transpose(1, 2).flatten(2) @ w_output, weights


def multi_head_attention__loops(x, memory, w_query, w_key, w_value, w_output, n_heads, mask=None):
    d_k = x.shape[-1] // n_heads
    output = np.zeros(x.shape)
    weights = np.zeros((len(x), n_heads, x.shape[1], memory.shape[1]))
    for head in range(n_heads):
        own = slice(head * d_k, (head + 1) * d_k)
        for b in range(len(x)):
            scores = x[b] @ w_query[:, own] @ (memory[b] @ w_key[:, own]).T / math.sqrt(d_k)
            if mask is not None:
                seen = np.broadcast_to(mask, weights.shape)[b, head]
                scores = np.where(seen, scores, -1e9)
            powers = np.exp(scores - scores.max(1, keepdims=True))
            weights[b, head] = powers / powers.sum(1, keepdims=True)
            output[b] += weights[b, head] @ memory[b] @ w_value[:, own] @ w_output[own]
    return output, weights


def multi_head_attention__einsum(x, memory, w_query, w_key, w_value, w_output, n_heads, mask=None):
    d_model = x.shape[-1]
    by_head = [w.reshape(d_model, n_heads, -1) for w in (w_query, w_key, w_value)]
    q, k, v = (
        np.einsum("btm,mhd->bhtd", t, w) for t, w in zip((x, memory, memory), by_head, strict=True)
    )
    scores = np.einsum("bhqd,bhkd->bhqk", q, k) * q.shape[-1] ** -0.5
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True))
    out = w_output.reshape(n_heads, -1, d_model)
    return np.einsum("bhqk,bhkd,hdm->bqm", weights, v, out), weights


def head_parts__loops(heads, w_output):
    width = heads.shape[2]
    parts = []
    for i, head in enumerate(heads):
        parts.append(head @ w_output[i * width : (i + 1) * width])
    return np.array(parts)


def head_parts__einsum(heads, w_output):
    blocks = np.stack(np.split(w_output, len(heads)))
    return np.einsum("hqd,hdm->hqm", heads, blocks)


def head_parts__others_set_to_zero(heads: Tensor, w_output: Tensor):
    parts = []
    for i in range(len(heads)):
        only = torch.zeros_like(heads)
        only[i] = heads[i]
        parts.append(only.transpose(0, 1).flatten(1) @ w_output)
    return torch.stack(parts)


def heads_in_parallel__one_wide_product(x, w_query, w_key, w_value, w_output):
    n_heads, d_model, d_k = w_query.shape
    q, k, v = (
        (x @ w.swapaxes(0, 1).reshape(d_model, -1)).reshape(len(x), n_heads, d_k).swapaxes(0, 1)
        for w in (w_query, w_key, w_value)
    )
    scores = q @ k.swapaxes(1, 2) / math.sqrt(d_k)
    weights = np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True))
    return (weights @ v).swapaxes(0, 1).reshape(len(x), -1) @ w_output


def heads_in_parallel__torch(x: Tensor, w_query, w_key, w_value, w_output):
    heads = F.scaled_dot_product_attention(x @ w_query, x @ w_key, x @ w_value)
    return torch.cat(list(heads), dim=-1) @ w_output


def heads_in_parallel__projected_and_added(x, w_query, w_key, w_value, w_output):
    total = np.zeros(x.shape)
    blocks = np.split(w_output, len(w_query))
    for w_q, w_k, w_v, block in zip(w_query, w_key, w_value, blocks, strict=True):
        powers = np.exp((x @ w_q) @ (x @ w_k).T / w_q.shape[1] ** 0.5)
        total += powers / powers.sum(1, keepdims=True) @ (x @ w_v) @ block
    return total


def head_distances__loops(maps):
    distances = np.zeros((len(maps), len(maps)))
    for i, first in enumerate(maps):
        for j, second in enumerate(maps):
            rows = [abs(a - b).sum() / 2 for a, b in zip(first, second, strict=True)]
            distances[i, j] = np.mean(rows)
    return distances


def head_distances__what_one_has_more(maps):
    more = np.maximum(maps[:, None] - maps[None], 0)
    return more.sum(-1).mean(-1)


def head_distances__what_both_have(maps):
    return 1 - np.minimum(maps[:, None], maps).sum((-2, -1)) / maps.shape[1]


def head_distances__torch(maps: Tensor):
    flat = maps.flatten(1)
    return torch.cdist(flat, flat, p=1) / 2 / maps.shape[1]


def why_heads__set_of_right_ones(statement):
    return statement in {"c", "e", "g"}


def why_heads__list(statement):
    return [False, False, True, False, True, False, True][ord(statement) - ord("a")]


def why_heads__numpy(statement):
    return np.array([0, 0, 1, 0, 1, 0, 1], bool)["abcdefg".index(statement)]
