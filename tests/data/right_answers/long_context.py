"""Chapter 12: right answers by loops, by ready-made functions, with NumPy and with torch."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from transformer_course.long_context import relative_shift as shift_of_the_course


def add_block__one_by_one(maximum, total, weighted, scores, values):
    for score, value in zip(scores, values, strict=True):
        new = max(maximum, score)
        total = total * np.exp(maximum - new) + np.exp(score - new)
        weighted = weighted * np.exp(maximum - new) + np.exp(score - new) * value
        maximum = new
    return maximum, total, weighted


def add_block__lists_of_numbers(maximum, total, weighted, scores, values):
    new = max(float(maximum), *map(float, scores))
    powers = [math.exp(float(score) - new) for score in scores]
    shrink = math.exp(float(maximum) - new)
    sums = [
        shrink * float(old)
        + sum(p * float(value[i]) for p, value in zip(powers, values, strict=True))
        for i, old in enumerate(weighted)
    ]
    return new, shrink * float(total) + sum(powers), np.array(sums)


def add_block__two_parts_joined(maximum, total, weighted, scores, values):
    top = scores.max()
    powers = np.exp(scores - top)
    tops, totals = np.array([maximum, top]), np.array([total, powers.sum()])
    sums = np.stack([weighted, powers @ values])
    factors = np.exp(tops - tops.max())
    return tops.max(), factors @ totals, factors @ sums


def add_block__torch_logsumexp(maximum: Tensor, total: Tensor, weighted, scores, values):
    new = torch.cat([maximum[None], scores]).max()
    everything = torch.cat([(maximum + total.log())[None], scores]).logsumexp(0)
    rows = torch.cat([weighted[None], values])
    factors = torch.cat([(maximum - new)[None], scores - new]).exp()
    return new, (everything - new).exp(), (factors[:, None] * rows).sum(0)


def add_block__torch_softmax_undone(maximum: Tensor, total: Tensor, weighted, scores, values):
    new = torch.maximum(maximum, torch.amax(scores, 0))
    added = torch.exp(scores - new).sum()
    average = F.softmax(scores, 0) @ values
    shrink = (maximum - new).exp()
    return new, total * shrink + added, weighted * shrink + average * added


def window_mask__loops(q_len, k_len, window):
    mask = np.zeros((q_len, k_len), dtype=bool)
    for i in range(q_len):
        place = k_len - q_len + i
        for j in range(max(0, place - window + 1), place + 1):
            mask[i, j] = True
    return mask


def window_mask__last_rows(q_len, k_len, window):
    whole = np.tri(k_len, dtype=bool) & ~np.tri(k_len, k=-window, dtype=bool)
    return whole[-q_len:]


def window_mask__torch_triangles(q_len, k_len, window):
    ones = torch.ones(q_len, k_len, dtype=torch.bool)
    memory = k_len - q_len
    return ones.tril(memory).triu(memory - window + 1)


def window_mask__row_by_row(q_len, k_len, window):
    row = [True] * min(window, k_len)
    rows = []
    for place in range(k_len - q_len, k_len):
        seen = row[-(place + 1) :]
        rows.append([False] * (place + 1 - len(seen)) + seen + [False] * (k_len - 1 - place))
    return np.array(rows)


def window_mask__any_of_the_diagonals(q_len, k_len, window):
    diagonals = [np.eye(q_len, k_len, k_len - q_len - back, dtype=bool) for back in range(window)]
    return np.any(diagonals, axis=0)


def relative_shift__loops(by_distance):
    heads, q_len, k_len = by_distance.shape
    by_key = np.full(by_distance.shape, -np.inf)
    for h, i, j in np.ndindex(heads, q_len, k_len):
        distance = k_len - q_len + i - j
        if distance >= 0:
            by_key[h, i, j] = by_distance[h, i, k_len - 1 - distance]
    return by_key


def relative_shift__row_slices(by_distance):
    q_len, k_len = by_distance.shape[1:]
    by_key = np.full_like(by_distance, -np.inf)
    for i in range(q_len):
        left = q_len - 1 - i
        by_key[:, i, : k_len - left] = by_distance[:, i, left:]
    return by_key


def relative_shift__trick(by_distance: Tensor):
    _, q_len, k_len = by_distance.shape
    padded = F.pad(by_distance, (1, 0))
    shifted = padded.reshape(-1, k_len + 1, q_len)[:, 1:].reshape(by_distance.shape)
    seen = torch.ones(q_len, k_len, dtype=torch.bool).tril(k_len - q_len)
    return torch.where(seen, shifted, -torch.inf)


def relative_shift__rolled(by_distance: Tensor):
    _, q_len, k_len = by_distance.shape
    rows = []
    for i in range(q_len):
        row = by_distance[:, i].roll(-(q_len - 1 - i), -1)
        hidden = torch.arange(k_len) > k_len - q_len + i
        rows.append(row.masked_fill(hidden, -torch.inf))
    return torch.stack(rows, 1)


def relative_shift__padded_on_the_right(by_distance: Tensor):
    _, q_len, k_len = by_distance.shape
    padded = F.pad(by_distance, (0, q_len), value=-torch.inf)
    rows = [padded[:, i, q_len - 1 - i : q_len - 1 - i + k_len] for i in range(q_len)]
    return torch.stack(rows, dim=1)


def relative_shift__the_courses_and_a_mask(by_distance: Tensor):
    q_len, k_len = by_distance.shape[-2:]
    hidden = torch.ones(q_len, k_len).triu(k_len - q_len + 1).bool()
    return shift_of_the_course(by_distance).masked_fill(hidden, float("-inf"))


def _pairs(d_k, layout):
    if layout == "halves":
        return [(j, j + d_k // 2) for j in range(d_k // 2)]
    return [(2 * j, 2 * j + 1) for j in range(d_k // 2)]


def rotate__loops(x, positions, layout):
    turned = np.empty_like(x)
    for row, place in enumerate(positions):
        for j, (first, second) in enumerate(_pairs(x.shape[1], layout)):
            angle = place / 10000 ** (2 * j / x.shape[1])
            a, b = x[row, first], x[row, second]
            turned[row, first] = a * math.cos(angle) - b * math.sin(angle)
            turned[row, second] = b * math.cos(angle) + a * math.sin(angle)
    return turned


def rotate__complex(x, positions, layout):
    d_k = x.shape[1]
    turns = np.exp(1j * positions[:, None] / 10000 ** (np.arange(0, d_k, 2) / d_k))
    if layout == "interleaved":
        points = (x[:, ::2] + 1j * x[:, 1::2]) * turns
        return np.stack([points.real, points.imag], axis=2).reshape(x.shape)
    points = (x[:, : d_k // 2] + 1j * x[:, d_k // 2 :]) * turns
    return np.hstack([points.real, points.imag])


def rotate__torch_view_as_complex(x: Tensor, positions: Tensor, layout: str):
    d_k = x.shape[-1]
    if layout == "halves":
        x = x.unflatten(-1, (2, d_k // 2)).transpose(-2, -1).flatten(-2)
    angles = torch.outer(positions, 10000 ** (-torch.arange(0, d_k, 2) / d_k))
    points = torch.view_as_complex(x.unflatten(-1, (d_k // 2, 2)).contiguous())
    turned = torch.view_as_real(points * torch.polar(torch.ones_like(angles), angles)).flatten(-2)
    if layout == "halves":
        turned = turned.unflatten(-1, (d_k // 2, 2)).transpose(-2, -1).flatten(-2)
    return turned


def rotate__rotate_half(x: Tensor, positions: Tensor, layout: str):
    d_k = x.shape[-1]
    angles = positions[:, None] / 10000 ** (torch.arange(0, d_k, 2) / d_k)
    if layout == "interleaved":
        each = angles.repeat_interleave(2, -1)
        partner = torch.stack([-x[:, 1::2], x[:, ::2]], -1).flatten(1)
    else:
        each = angles.repeat(1, 2)
        partner = torch.cat([-x[:, d_k // 2 :], x[:, : d_k // 2]], -1)
    return x * each.cos() + partner * each.sin()


def rotate__a_matrix_for_each_position(x, positions, layout):
    d_k = x.shape[1]
    rows = []
    for vector, place in zip(x, positions, strict=True):
        matrix = np.zeros((d_k, d_k))
        for j, (a, b) in enumerate(_pairs(d_k, layout)):
            c, s = (f(place * 10000 ** (-2 * j / d_k)) for f in (np.cos, np.sin))
            matrix[[a, a, b, b], [a, b, a, b]] = [c, -s, s, c]
        rows.append(matrix @ vector)
    return np.array(rows)


def row_order__loops(n_heads, d_k):
    order = []
    for head in range(n_heads):
        for second in (0, 1):
            for pair in range(d_k // 2):
                order.append(head * d_k + 2 * pair + second)
    return np.array(order)


def row_order__concatenated(n_heads, d_k):
    rows = np.arange(n_heads * d_k).reshape(n_heads, d_k)
    return np.concatenate([rows[:, ::2], rows[:, 1::2]], axis=1).ravel()


def row_order__torch_sum(n_heads, d_k):
    inside = torch.cat([torch.arange(0, d_k, 2), torch.arange(1, d_k, 2)])
    return (d_k * torch.arange(n_heads)[:, None] + inside).flatten()


def row_order__the_way_back_undone(n_heads, d_k):
    goes_to = [
        row // d_k * d_k + row % d_k // 2 + (row % 2) * d_k // 2 for row in range(n_heads * d_k)
    ]
    return np.argsort(goes_to)


def row_order__sorted(n_heads, d_k):
    rows = range(n_heads * d_k)
    return torch.tensor(sorted(rows, key=lambda row: (row // d_k, row % 2, row)))


def share_keys__loop(k, n_heads):
    group = n_heads // k.shape[1]
    return np.stack([k[:, head // group] for head in range(n_heads)], axis=1)


def share_keys__repeat(k, n_heads):
    return np.repeat(k, n_heads // k.shape[1], axis=1)


def share_keys__expand(k: Tensor, n_heads):
    batch, n_keys, length, d_k = k.shape
    wide = k[:, :, None].expand(batch, n_keys, n_heads // n_keys, length, d_k)
    return wide.reshape(batch, n_heads, length, d_k)


def share_keys__index(k: Tensor, n_heads):
    return k[:, torch.arange(n_heads) * k.shape[1] // n_heads]


def share_keys__tile_on_a_new_axis(k, n_heads):
    group = n_heads // k.shape[1]
    return np.tile(k[:, :, None], (1, 1, group, 1, 1)).reshape(len(k), n_heads, *k.shape[2:])


def share_keys__kron(k, n_heads):
    spread = np.kron(np.eye(k.shape[1]), np.ones((n_heads // k.shape[1], 1)))
    return np.einsum("hg,bgld->bhld", spread, k)


def predict__dictionary(question):
    answers = {"a": 48, "b": 16, "c": 4.8, "d": 96, "e": 48, "f": 480, "g": 9600}
    return (answers | {"h": 12, "i": 6, "j": 10, "k": 200})[question]


def predict__worked_out(question):
    layers, heads, d_k, tokens, size = 10, 6, 50, 2000, 4
    a_head = 2 * layers * d_k * tokens * size / 1e6
    scores = heads * tokens**2 * size / 1e6
    return {
        "a": heads * a_head,
        "b": 2 * a_head,
        "c": heads * a_head * 200 / tokens,
        "d": scores,
        "e": scores / tokens * 1000,
        "f": heads * a_head * 10,
        "g": scores * 10**2,
        "h": 3 * (5 - 1),
        "i": math.ceil(12 / (3 - 1)),
        "j": len(range(99, -1, -10)),
        "k": 4 * 50,
    }[question]


def predict__followed(question):
    if question == "h":
        place = 50
        for _ in range(3):
            place = min(range(place - 4, place + 1))
        return 50 - place
    if question == "i":
        known, layers = {12}, 0
        while 0 not in known:
            known |= {place - back for place in known for back in range(3)}
            layers += 1
        return layers
    if question == "j":
        return np.array([place % 10 == 9 for place in range(100)]).sum()
    return predict__worked_out(question)


def segment_weights__loops(q, k, r, u, v):
    d_k, memory = len(u), len(k) - len(q)
    weights = np.zeros((len(q), len(k)))
    for i in range(len(q)):
        for j in range(memory + i + 1):
            distance = memory + i - j
            by_distance = (q[i] + v) @ r[len(r) - 1 - distance]
            weights[i, j] = np.exp(((q[i] + u) @ k[j] + by_distance) / math.sqrt(d_k))
    return weights / weights.sum(axis=1, keepdims=True)


def segment_weights__r_for_each_pair(q: Tensor, k: Tensor, r: Tensor, u: Tensor, v: Tensor):
    places = torch.arange(len(k))
    back = places[len(k) - len(q) :, None] - places
    each = r.flip(0)[back.clamp(min=0)]  # (q_len, k_len, d_k)
    scores = (q + u) @ k.T + torch.einsum("id,ijd->ij", q + v, each)
    scores = torch.where(back < 0, -torch.inf, scores / len(u) ** 0.5)
    return F.softmax(scores, -1)


def segment_weights__row_by_row(q, k, r, u, v):
    rows = []
    for i, query in enumerate(q):
        end = len(k) - len(q) + i + 1
        scores = k[:end] @ (query + u) + r[-end:] @ (query + v)
        powers = np.exp(scores / np.sqrt(len(query)))
        rows.append(np.append(powers / powers.sum(), np.zeros(len(k) - end)))
    return np.array(rows)


def segment_weights__queries_scaled_first(q: Tensor, k: Tensor, r: Tensor, u: Tensor, v: Tensor):
    root = q.shape[1] ** 0.5
    by_distance = (q + v) / root @ r.T
    shifted = relative_shift__trick(by_distance[None])[0]
    return ((q + u) / root @ k.T + shifted).softmax(dim=-1)
