"""Chapter 12: misconceptions in the spellings of learners."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor


def add_block__softmax_each(maximum: Tensor, total, weighted, scores: Tensor, values: Tensor):
    """a softmax in each block by itself"""
    average = torch.softmax(scores, 0) @ values
    return torch.maximum(maximum, scores.max()), total + 1, weighted + average


def add_block__plain_exponentials(maximum, total, weighted, scores, values):
    """the maximum isn't subtracted"""
    powers = np.exp(scores)
    return max(maximum, max(scores)), total + sum(powers), weighted + powers @ values


def add_block__torch_forgets_weighted(maximum: Tensor, total, weighted, scores, values):
    """the weighted values keep the old maximum"""
    new = torch.cat([maximum[None], scores]).max()
    powers = (scores - new).exp()
    total = total * (maximum - new).exp()
    return new, total + powers.sum(), weighted + (powers[:, None] * values).sum(0)


def add_block__own_top(maximum, total, weighted, scores, values):
    """the maximum of the newest block"""
    top = np.max(scores)
    shrink = np.exp(maximum - top)
    powers = np.exp(scores - top)
    return top, shrink * total + powers.sum(), shrink * weighted + np.dot(powers, values)


def add_block__output_kept(maximum, total, weighted, scores, values):
    """divided after each block"""
    new = max(maximum, scores.max())
    shrink, powers = np.exp(maximum - new), np.exp(scores - new)
    sums = total * shrink + powers.sum()
    return new, sums, (weighted * shrink + powers @ values) / sums


def window_mask__like_is_causal(q_len, k_len, window):
    """queries counted from the first key"""
    mask = torch.ones(q_len, k_len, dtype=torch.bool)
    return mask.tril().triu(-window + 1)


def window_mask__tri_of_window(q_len, k_len, window):
    """one key too many"""
    whole = np.tri(k_len, dtype=bool) & ~np.tri(k_len, k=-window - 1, dtype=bool)
    return whole[k_len - q_len :]


def window_mask__torchs_convention(q_len, k_len, window):
    """the polarity turned round"""
    places = torch.arange(k_len)
    back = places[k_len - q_len :, None] - places[None]
    return (back < 0) | (back >= window)


def window_mask__band(q_len, k_len, window):
    """a window on both sides"""
    return np.array(
        [[abs(j - i) < window for j in range(k_len)] for i in range(k_len - q_len, k_len)]
    )


def window_mask__memory_as_context(q_len, k_len, window):
    """the memory always open"""
    inside = torch.ones(q_len, q_len, dtype=torch.bool).tril().triu(1 - window)
    return torch.cat([torch.ones(q_len, k_len - q_len, dtype=torch.bool), inside], 1)


def relative_shift__the_trick_alone(by_distance: Tensor):
    """no mask"""
    heads, q_len, k_len = by_distance.shape
    padded = torch.cat([by_distance.new_zeros(heads, q_len, 1), by_distance], -1)
    return padded.view(heads, k_len + 1, q_len)[:, 1:].reshape(heads, q_len, k_len)


def relative_shift__mask_first(by_distance: Tensor):
    """the mask before the shift"""
    _, q_len, k_len = by_distance.shape
    future = torch.ones(q_len, k_len, dtype=torch.bool).triu(k_len - q_len + 1)
    padded = F.pad(by_distance.masked_fill(future, -torch.inf), (1, 0))
    return padded.reshape(-1, k_len + 1, q_len)[:, 1:].reshape(by_distance.shape)


def relative_shift__square_mask(by_distance):
    """the mask forgets the memory"""
    heads, q_len, _ = by_distance.shape
    by_key = np.full(by_distance.shape, -np.inf)
    for h in range(heads):
        for i in range(q_len):
            for j in range(i + 1):
                by_key[h, i, j] = by_distance[h, i, j + q_len - 1 - i]
    return by_key


def relative_shift__columns_are_distances(by_distance):
    """the nearest first"""
    _, q_len, k_len = by_distance.shape
    by_key = np.full(by_distance.shape, -np.inf)
    for i in range(q_len):
        for j in range(k_len - q_len + i + 1):
            by_key[:, i, j] = by_distance[:, i, k_len - q_len + i - j]
    return by_key


def relative_shift__roll(by_distance: Tensor):
    """no mask, and each row goes round"""
    q_len = by_distance.shape[1]
    rows = [by_distance[:, i].roll(i + 1 - q_len, -1) for i in range(q_len)]
    return torch.stack(rows, 1)


def rotate__llama_for_both(x: Tensor, positions: Tensor, layout: str):
    """always in halves"""
    d_k = x.shape[-1]
    angles = positions[:, None] / 10000 ** (torch.arange(0, d_k, 2) / d_k)
    each = torch.cat([angles, angles], -1)
    a, b = x.chunk(2, -1)
    return x * each.cos() + torch.cat([-b, a], -1) * each.sin()


def rotate__repeated_angles(x: Tensor, positions: Tensor, layout: str):
    """the angles in the other layout's order"""
    d_k = x.shape[-1]
    angles = positions[:, None] / 10000 ** (torch.arange(0, d_k, 2) / d_k)
    if layout == "halves":
        each = angles.repeat_interleave(2, -1)
        partner = torch.cat([-x[:, d_k // 2 :], x[:, : d_k // 2]], -1)
    else:
        each = angles.repeat(1, 2)
        partner = torch.stack([-x[:, 1::2], x[:, ::2]], -1).flatten(1)
    return x * each.cos() + partner * each.sin()


def rotate__conjugate(x, positions, layout):
    """turned the other way"""
    d_k = x.shape[1]
    turns = np.exp(-1j * positions[:, None] / 10000 ** (np.arange(0, d_k, 2) / d_k))
    if layout == "interleaved":
        points = (x[:, ::2] + 1j * x[:, 1::2]) * turns
        return np.stack([points.real, points.imag], axis=2).reshape(x.shape)
    points = (x[:, : d_k // 2] + 1j * x[:, d_k // 2 :]) * turns
    return np.hstack([points.real, points.imag])


def rotate__enumerated(x, positions, layout):
    """the places in x in the place of positions"""
    d_k = x.shape[1]
    turned = np.empty_like(x)
    for place, vector in enumerate(x):
        for j in range(d_k // 2):
            a, b = (2 * j, 2 * j + 1) if layout == "interleaved" else (j, j + d_k // 2)
            angle = place / 10000 ** (2 * j / d_k)
            cos, sin = math.cos(angle), math.sin(angle)
            turned[place, a] = vector[a] * cos - vector[b] * sin
            turned[place, b] = vector[b] * cos + vector[a] * sin
    return turned


def row_order__over_all_rows(n_heads, d_k):
    """all heads at once"""
    rows = torch.arange(n_heads * d_k)
    return torch.cat([rows[::2], rows[1::2]])


def row_order__where_each_row_goes(n_heads, d_k):
    """the way back"""
    return np.array(
        [
            head * d_k + place // 2 + place % 2 * d_k // 2
            for head in range(n_heads)
            for place in range(d_k)
        ]
    )


def row_order__repeated(n_heads, d_k):
    """the order of head 0 for all heads"""
    return np.tile(np.r_[0:d_k:2, 1:d_k:2], n_heads)


def row_order__neighbours_swapped(n_heads, d_k):
    """each pair turned round"""
    return torch.arange(n_heads * d_k).view(-1, 2).flip(1).flatten()


def share_keys__tensor_repeat(k: Tensor, n_heads):
    """the key heads again and again"""
    return k.repeat(1, n_heads // k.shape[1], 1, 1)


def share_keys__concatenated(k, n_heads):
    """the key heads again and again"""
    return np.concatenate([k] * (n_heads // k.shape[1]), axis=1)


def share_keys__expanded_in_front(k: Tensor, n_heads):
    """the key heads again and again"""
    batch, n_keys, length, d_k = k.shape
    wide = k[:, None].expand(batch, n_heads // n_keys, n_keys, length, d_k)
    return wide.reshape(batch, n_heads, length, d_k)


def share_keys__interleaved_on_the_length(k: Tensor, n_heads):
    """tokens repeated, then cut into heads"""
    wide = k.repeat_interleave(n_heads // k.shape[1], dim=2)
    return wide.reshape(k.shape[0], n_heads, *k.shape[2:])


def share_keys__multi_query(k, n_heads):
    """key head 0 for all"""
    return np.repeat(k[:, :1], n_heads, axis=1)


def predict__keys_only(question):
    """keys without values"""
    answers = {"a": 24, "b": 16, "c": 4.8, "d": 96, "e": 48, "f": 480, "g": 9600}
    return (answers | {"h": 12, "i": 6, "j": 10, "k": 200})[question]


def predict__windows_added(question):
    """the window added once for each layer"""
    answers = {"a": 48, "b": 16, "c": 4.8, "d": 96, "e": 48, "f": 480, "g": 9600}
    return (answers | {"h": 15, "i": 6, "j": 10, "k": 200})[question]


def predict__no_gradient(question):
    """no gradient taken for no knowledge"""
    answers = {"a": 48, "b": 16, "c": 4.8, "d": 96, "e": 48, "f": 480, "g": 9600}
    return (answers | {"h": 12, "i": 6, "j": 10, "k": 0})[question]


def _by_key(by_distance):
    q_len, k_len = by_distance.shape
    return F.pad(by_distance, (1, 0)).reshape(k_len + 1, q_len)[1:].reshape(q_len, k_len)


def segment_weights__as_given(q: Tensor, k: Tensor, r: Tensor, u: Tensor, v: Tensor):
    """nothing is mended yet"""
    q_len, k_len = len(q), len(k)
    by_content = (q + u) @ k.T / q.shape[-1] ** 0.5
    future = torch.ones(q_len, k_len, dtype=torch.bool).triu(1)
    by_distance = ((q + v) @ r.T).masked_fill(future, -torch.inf)
    return torch.softmax(by_content + _by_key(by_distance), dim=-1)


def segment_weights__mask_moved_only(q: Tensor, k: Tensor, r: Tensor, u: Tensor, v: Tensor):
    """still wrong: where the first query is and what is divided by √d_k"""
    future = torch.ones(len(q), len(k), dtype=torch.bool).triu(1)
    scores = (q + u) @ k.T / q.shape[-1] ** 0.5 + _by_key((q + v) @ r.T)
    return torch.softmax(scores.masked_fill(future, -torch.inf), dim=-1)


def segment_weights__is_causal(q: Tensor, k: Tensor, r: Tensor, u: Tensor, v: Tensor):
    """still wrong: where the first query is"""
    scores = ((q + u) @ k.T + _by_key((q + v) @ r.T)) / q.shape[-1] ** 0.5
    future = torch.ones(len(q), len(k)).triu(1).bool()
    return torch.softmax(scores.masked_fill(future, -torch.inf), dim=-1)


def segment_weights__mask_of_memory_first(q: Tensor, k: Tensor, r: Tensor, u: Tensor, v: Tensor):
    """still wrong: where the mask is"""
    future = torch.ones(len(q), len(k)).triu(len(k) - len(q) + 1).bool()
    by_distance = ((q + v) @ r.T).masked_fill(future, -torch.inf)
    return torch.softmax(((q + u) @ k.T + _by_key(by_distance)) / q.shape[-1] ** 0.5, -1)


def segment_weights__diagonal_forgotten(q: Tensor, k: Tensor, r: Tensor, u: Tensor, v: Tensor):
    """the mask one key too early"""
    future = torch.ones(len(q), len(k)).triu(len(k) - len(q)).bool()
    scores = ((q + u) @ k.T + _by_key((q + v) @ r.T)) / len(u) ** 0.5
    return torch.softmax(scores.masked_fill(future, -torch.inf), -1)


def _turned(x: Tensor, positions: Tensor, layout, each):
    """Turn each number by its own angle; `each` makes them of the angles of the pairs."""
    half = x.shape[1] // 2
    angles = each(positions[:, None] / 10000 ** (2 * torch.arange(half) / x.shape[1])).to(x.dtype)
    if layout == "interleaved":
        other = torch.stack([-x[:, 1::2], x[:, ::2]], -1).flatten(1)
    else:
        other = torch.cat([-x[:, half:], x[:, :half]], 1)
    return x * angles.cos() + other * angles.sin()


def rotate__angles_repeated(x: Tensor, positions: Tensor, layout):
    """the angles always in the order of neighbours"""
    return _turned(x, positions, layout, lambda angles: angles.repeat_interleave(2, 1))


def rotate__angles_twice(x: Tensor, positions: Tensor, layout):
    """the angles always in the order of halves"""
    return _turned(x, positions, layout, lambda angles: torch.cat([angles, angles], 1))


def rotate__in_place(x, positions, layout):
    """the first number overwritten before the second one is turned"""
    half = x.shape[1] // 2
    angles = positions[:, None] / 10000 ** (2 * np.arange(half) / x.shape[1])
    a, b = slice(0, half), slice(half, None)
    if layout == "interleaved":
        a, b = slice(0, None, 2), slice(1, None, 2)
    y = x.copy()
    y[:, a] = y[:, a] * np.cos(angles) - y[:, b] * np.sin(angles)
    y[:, b] = y[:, b] * np.cos(angles) + y[:, a] * np.sin(angles)
    return y


def relative_shift__as_without_memory(by_distance):
    """the memory forgotten"""
    _, q_len, k_len = by_distance.shape
    by_key = np.full_like(by_distance, -np.inf)
    for i in range(q_len):
        for j in range(i + 1):
            by_key[:, i, j] = by_distance[:, i, k_len - 1 - (i - j)]
    return by_key
