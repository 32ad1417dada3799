"""Chapter 12: wrong answers as learners write them, none of them among the misconceptions."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor


def _step(maximum, total, weighted, scores, values, base=np.exp):
    new = max(maximum, scores.max())
    shrink, powers = base(maximum - new), base(scores - new)
    return new, total * shrink + powers.sum(), weighted * shrink + powers @ values


def add_block__average_only(maximum, total, weighted, scores, values):
    _, total, weighted = _step(maximum, total, weighted, scores, values)
    return weighted / total


def add_block__sum_first(maximum, total, weighted, scores, values):
    new, total, weighted = _step(maximum, total, weighted, scores, values)
    return total, new, weighted


def add_block__powers_of_two(maximum, total, weighted, scores, values):
    return _step(maximum, total, weighted, scores, values, base=np.exp2)


def add_block__values_not_weighted(maximum, total, weighted, scores, values):
    new, total, _ = _step(maximum, total, weighted, scores, values)
    return new, total, weighted * np.exp(maximum - new) + values.sum(0)


def add_block__smallest_score(maximum, total, weighted, scores, values):
    new = min(maximum, scores.min())
    shrink, powers = np.exp(maximum - new), np.exp(scores - new)
    return new, total * shrink + powers.sum(), weighted * shrink + powers @ values


def add_block__one_number_of_values(maximum, total, weighted, scores, values):
    new, total, weighted = _step(maximum, total, weighted, scores, values)
    return new, total, weighted[0]


def add_block__written_in_place(maximum, total, weighted, scores, values):
    new = max(maximum, scores.max())
    weighted *= np.exp(maximum - new)
    weighted += np.exp(scores - new) @ values
    return new, total * np.exp(maximum - new) + np.exp(scores - new).sum(), weighted


def add_block__difference_in_place_of_its_power(maximum, total, weighted, scores, values):
    new = max(maximum, scores.max())
    powers = np.exp(scores - new)
    return new, total - (new - maximum) + powers.sum(), weighted - (new - maximum) + powers @ values


def _back(q_len, k_len):
    return np.arange(k_len - q_len, k_len)[:, None] - np.arange(k_len)


def window_mask__ones_and_zeros(q_len, k_len, window):
    back = _back(q_len, k_len)
    return ((back >= 0) & (back < window)).astype(int)


def window_mask__axes_of_a_batch(q_len, k_len, window):
    back = torch.tensor(_back(q_len, k_len))
    return ((back >= 0) & (back < window))[None, None]


def window_mask__the_whole_text(q_len, k_len, window):
    back = _back(k_len, k_len)
    return (back >= 0) & (back < window)


def window_mask__halves_of_a_window(q_len, k_len, window):
    back = _back(q_len, k_len)
    return (back >= 0) & (back <= window // 2)


def window_mask__only_the_end_of_the_window(q_len, k_len, window):
    return _back(q_len, k_len) == window - 1


def window_mask__first_keys(q_len, k_len, window):
    back = _back(q_len, k_len)
    return (back >= 0) & (np.arange(k_len) < window)


def window_mask__one_row(q_len, k_len, window):
    return np.arange(k_len) >= k_len - window


def _moved(by_distance, places):
    q_len, k_len = by_distance.shape[1:]
    columns = np.clip(np.arange(k_len) + np.array(places)[:, None], 0, k_len - 1)
    seen = np.tri(q_len, k_len, k_len - q_len, dtype=bool)
    return np.where(seen, by_distance[:, np.arange(q_len)[:, None], columns], -np.inf)


def relative_shift__half_of_each_shift(by_distance):
    q_len = by_distance.shape[1]
    return _moved(by_distance, [(q_len - 1 - i) // 2 for i in range(q_len)])


def relative_shift__upside_down(by_distance):
    return _moved(by_distance, range(by_distance.shape[1]))


def relative_shift__zeros_behind(by_distance: Tensor):
    heads, q_len, k_len = by_distance.shape
    padded = F.pad(by_distance, (0, 1))
    shifted = padded.reshape(heads, k_len + 1, q_len)[:, 1:].reshape(heads, q_len, k_len)
    return shifted.masked_fill(torch.ones(q_len, k_len).triu(k_len - q_len + 1) > 0, -torch.inf)


def relative_shift__first_row_dropped_at_the_end(by_distance: Tensor):
    heads, q_len, k_len = by_distance.shape
    padded = F.pad(by_distance, (1, 0))
    shifted = padded.reshape(heads, k_len + 1, q_len)[:, :-1].reshape(heads, q_len, k_len)
    return shifted.masked_fill(torch.ones(q_len, k_len).triu(k_len - q_len + 1) > 0, -torch.inf)


def relative_shift__heads_run_together(by_distance: Tensor):
    heads, q_len, k_len = by_distance.shape
    padded = F.pad(by_distance, (1, 0)).reshape(k_len + 1, heads * q_len)
    shifted = padded[1:].reshape(heads, q_len, k_len)
    return shifted.masked_fill(torch.ones(q_len, k_len).triu(k_len - q_len + 1) > 0, -torch.inf)


def relative_shift__first_head_only(by_distance):
    places = range(by_distance.shape[1] - 1, -1, -1)
    return _moved(by_distance, places)[0]


def relative_shift__nan_for_hidden(by_distance):
    moved = _moved(by_distance, range(by_distance.shape[1] - 1, -1, -1))
    return np.where(np.isinf(moved), np.nan, moved)


def relative_shift__weights(by_distance):
    moved = _moved(by_distance, range(by_distance.shape[1] - 1, -1, -1))
    powers = np.exp(moved - moved.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def _turn(x, positions, layout, base=10000.0, cos=np.cos, sin=np.sin):
    angles = positions[:, None] / base ** (np.arange(0, x.shape[1], 2) / x.shape[1])
    half = x.shape[1] // 2
    a, b = (x[:, :half], x[:, half:]) if layout == "halves" else (x[:, ::2], x[:, 1::2])
    turned = a * cos(angles) - b * sin(angles), b * cos(angles) + a * sin(angles)
    if layout == "halves":
        return np.concatenate(turned, 1)
    return np.stack(turned, 2).reshape(x.shape)


def rotate__another_base(x, positions, layout):
    return _turn(x, positions, layout, base=1000.0)


def rotate__degrees(x, positions, layout):
    return _turn(x, positions * np.pi / 180, layout)


def rotate__sine_and_cosine_exchanged(x, positions, layout):
    return _turn(x, positions, layout, cos=np.sin, sin=np.cos)


def rotate__last_position_first(x, positions, layout):
    return _turn(x, positions[::-1], layout)


def rotate__distance_from_the_first(x, positions, layout):
    return _turn(x, positions - positions[0], layout)


def rotate__made_of_length_one(x, positions, layout):
    turned = _turn(x, positions, layout)
    return turned / np.linalg.norm(turned, axis=1, keepdims=True)


def rotate__the_two_parts(x, positions, layout):
    turned = _turn(x, positions, layout)
    return turned[:, ::2], turned[:, 1::2]


def rotate__first_pair_only(x, positions, layout):
    turned, (a, b) = x.copy(), (0, x.shape[1] // 2) if layout == "halves" else (0, 1)
    cos, sin = np.cos(positions), np.sin(positions)
    turned[:, a], turned[:, b] = x[:, a] * cos - x[:, b] * sin, x[:, b] * cos + x[:, a] * sin
    return turned


def row_order__a_list(n_heads, d_k):
    return [
        head * d_k + row
        for head in range(n_heads)
        for row in [*range(0, d_k, 2), *range(1, d_k, 2)]
    ]


def row_order__a_row_a_head(n_heads, d_k):
    rows = np.arange(n_heads * d_k).reshape(n_heads, d_k)
    return np.concatenate([rows[:, ::2], rows[:, 1::2]], axis=1)


def row_order__pairs_of_rows(n_heads, d_k):
    return np.arange(n_heads * d_k).reshape(-1, 2)


def row_order__whole_numbers_as_floats(n_heads, d_k):
    inside = np.concatenate([np.arange(0, d_k, 2), np.arange(1, d_k, 2)])
    return (np.arange(n_heads)[:, None] * d_k + inside).ravel() * 1.0


def row_order__backwards(n_heads, d_k):
    return np.arange(n_heads * d_k)[::-1]


def row_order__second_half_from_the_end(n_heads, d_k):
    inside = np.concatenate([np.arange(0, d_k, 2), np.arange(1, d_k, 2)[::-1]])
    return (np.arange(n_heads)[:, None] * d_k + inside).ravel()


def row_order__heads_exchanged(n_heads, d_k):
    inside = np.concatenate([np.arange(0, d_k, 2), np.arange(1, d_k, 2)])
    return (np.arange(n_heads)[::-1, None] * d_k + inside).ravel()


def row_order__by_n_heads(n_heads, d_k):
    return np.concatenate([np.arange(start, n_heads * d_k, n_heads) for start in range(n_heads)])


def share_keys__first_heads_only(k, n_heads):
    wide = np.zeros((k.shape[0], n_heads, *k.shape[2:]))
    wide[:, : k.shape[1]] = k
    return wide


def share_keys__two_groups_always(k, n_heads):
    return k[:, [min(2 * head // n_heads, k.shape[1] - 1) for head in range(n_heads)]]


def share_keys__number_of_the_head_added(k: Tensor, n_heads):
    wide = k.repeat_interleave(n_heads // k.shape[1], dim=1)
    return wide + torch.arange(n_heads)[:, None, None]


def share_keys__heads_behind_the_length(k: Tensor, n_heads):
    return k.repeat_interleave(n_heads // k.shape[1], dim=1).transpose(1, 2)


def share_keys__turned_for_the_product(k: Tensor, n_heads):
    return k.repeat_interleave(n_heads // k.shape[1], dim=1).transpose(-2, -1)


def share_keys__key_heads_in_place_of_group(k: Tensor, n_heads):
    return k.repeat_interleave(k.shape[1], dim=1)


def share_keys__a_view_that_is_too_wide(k: Tensor, n_heads):
    return k.expand(-1, n_heads, -1, -1)


def share_keys__a_list_of_heads(k, n_heads):
    group = n_heads // k.shape[1]
    return [k[:, head // group] for head in range(n_heads)]


def predict__all_zero(question):
    return 0


def predict__bytes(question):
    return {"a": 48_000_000, "b": 16_000_000, "c": 4_800_000}.get(question, 96_000_000)


def predict__as_text(question):
    return {"a": "48 MB", "b": "16 MB"}.get(question, "96")


def predict__binary_megabytes(question):
    answers = {"a": 48, "b": 16, "c": 4.8, "d": 96, "e": 48, "f": 480, "g": 9600}
    binary = {letter: 1e6 * number / 2**20 for letter, number in answers.items()}
    return (binary | {"h": 12, "i": 6, "j": 10, "k": 200})[question]


def predict__shapes(question):
    return (10, 6, 2000, 50)


def predict__printed_only(question):
    print({"a": 48, "b": 16}.get(question))


def predict__half_right(question):
    answers = {"a": 48, "b": 16, "c": 4.8, "d": 96, "e": 96, "f": 480, "g": 960}
    return (answers | {"h": 11, "i": 5, "j": 99, "k": 199})[question]


def _parts(q, k, r, u, v):
    q_len, k_len = len(q), len(k)
    by_distance = F.pad((q + v) @ r.T, (1, 0))
    by_key = by_distance.reshape(k_len + 1, q_len)[1:].reshape(q_len, k_len)
    future = torch.ones(q_len, k_len, dtype=torch.bool).triu(k_len - q_len + 1)
    return (q + u) @ k.T, by_key, future


def segment_weights__divided_by_the_length(q: Tensor, k: Tensor, r: Tensor, u: Tensor, v: Tensor):
    content, by_key, future = _parts(q, k, r, u, v)
    return torch.softmax(((content + by_key) / len(k) ** 0.5).masked_fill(future, -torch.inf), -1)


def segment_weights__one_mask_for_all(q: Tensor, k: Tensor, r: Tensor, u: Tensor, v: Tensor):
    content, by_key, future = _parts(q, k, r, u, v)
    return torch.softmax(
        ((content + by_key) / len(u) ** 0.5).masked_fill(future[:1], -torch.inf), -1
    )


def segment_weights__content_only(q: Tensor, k: Tensor, r: Tensor, u: Tensor, v: Tensor):
    content, _, future = _parts(q, k, r, u, v)
    return torch.softmax((content / len(u) ** 0.5).masked_fill(future, -torch.inf), -1)


def segment_weights__distance_only(q: Tensor, k: Tensor, r: Tensor, u: Tensor, v: Tensor):
    _, by_key, future = _parts(q, k, r, u, v)
    return torch.softmax((by_key / len(u) ** 0.5).masked_fill(future, -torch.inf), -1)


def segment_weights__two_softmaxes(q: Tensor, k: Tensor, r: Tensor, u: Tensor, v: Tensor):
    parts = _parts(q, k, r, u, v)
    content, by_key = (
        torch.softmax((part / len(u) ** 0.5).masked_fill(parts[2], -torch.inf), -1)
        for part in parts[:2]
    )
    return (content + by_key) / 2


def segment_weights__memory_of_zeros(q: Tensor, k: Tensor, r: Tensor, u: Tensor, v: Tensor):
    memory = len(k) - len(q)
    content, by_key, future = _parts(q, F.pad(k[memory:], (0, 0, memory, 0)), r, u, v)
    return torch.softmax(((content + by_key) / len(u) ** 0.5).masked_fill(future, -torch.inf), -1)


def segment_weights__keys_backwards(q: Tensor, k: Tensor, r: Tensor, u: Tensor, v: Tensor):
    content, by_key, future = _parts(q, k.flip(0), r, u, v)
    return torch.softmax(((content + by_key) / len(u) ** 0.5).masked_fill(future, -torch.inf), -1)


def segment_weights__segment_only(q: Tensor, k: Tensor, r: Tensor, u: Tensor, v: Tensor):
    content, by_key, future = _parts(q, k, r, u, v)
    scores = ((content + by_key) / len(u) ** 0.5).masked_fill(future, -torch.inf)
    return torch.softmax(scores, -1)[:, len(k) - len(q) :]
