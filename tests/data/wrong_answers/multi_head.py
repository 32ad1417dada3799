"""Chapter 04: wrong answers as learners write them, none of them among the misconceptions."""

import math

import numpy as np
import torch
from torch import Tensor


def _split(x, n_heads):
    return x.reshape(*x.shape[:2], n_heads, -1).swapaxes(1, 2)


def _merge(heads):
    batch, n_heads, q_len, d_v = heads.shape
    return heads.swapaxes(1, 2).reshape(batch, q_len, n_heads * d_v)


def _softmax(scores, axis=-1):
    powers = np.exp(scores - scores.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def split_heads__batch_and_heads_exchanged(x, n_heads):
    return _split(x, n_heads).swapaxes(0, 1)[:, ::-1]


def split_heads__only_the_first_head(x, n_heads):
    return _split(x, n_heads)[:, :1]


def split_heads__every_head_the_same(x, n_heads):
    return np.repeat(_split(x, n_heads)[:, :1], n_heads, axis=1)


def split_heads__batch_forgotten(x, n_heads):
    return _split(x, n_heads)[0]


def split_heads__always_two_heads(x, n_heads):
    return x.reshape(*x.shape[:2], 2, -1).swapaxes(1, 2)


def split_heads__width_rounded_the_wrong_way(x, n_heads):
    d_k = x.shape[-1] // n_heads + 1
    return x.reshape(*x.shape[:2], n_heads, d_k).swapaxes(1, 2)


def split_heads__words_in_reverse(x, n_heads):
    return _split(x, n_heads)[:, :, ::-1]


def split_heads__columns_in_reverse(x, n_heads):
    return _split(x, n_heads)[..., ::-1]


def split_heads__divided_by_the_number_of_heads(x, n_heads):
    return _split(x, n_heads) / n_heads


def merge_heads__batch_forgotten(heads):
    return _merge(heads)[0]


def merge_heads__first_head_only(heads):
    return heads[:, 0]


def merge_heads__heads_in_reverse(heads):
    return _merge(heads[:, ::-1])


def merge_heads__queries_in_reverse(heads):
    return _merge(heads)[:, ::-1]


def merge_heads__flattened_altogether(heads):
    return heads.reshape(heads.shape[0], -1)


def merge_heads__divided_by_the_number_of_heads(heads):
    return _merge(heads) / heads.shape[1]


def merge_heads__wrong_axes_exchanged(heads):
    batch, n_heads, q_len, d_v = heads.shape
    return heads.swapaxes(2, 3).reshape(batch, q_len, n_heads * d_v)


def merge_heads__largest_of_the_heads(heads):
    return heads.max(axis=1)


def merge_heads__view_after_transpose(heads: Tensor):
    return heads.transpose(1, 2).view(heads.shape[0], heads.shape[2], -1)


def merge_heads__batch_and_queries_exchanged(heads):
    return _merge(heads).swapaxes(0, 1)


def merge_heads__rows_in_a_list(heads):
    return [list(row) for row in _merge(heads)]


_RIGHT = {
    "a": (2, 8, 5, 7),
    "b": (2, 5, 512),
    "c": 8,
    "d": 512 * 64,
    "e": 512 * 512,
    "f": 560,
    "g": 13,
}


def _but(**wrong):
    return lambda question: wrong.get(question, _RIGHT[question])


predict__batch_forgotten_in_a = _but(a=(8, 5, 7))
predict__widths_in_the_map = _but(a=(2, 8, 5, 64))
predict__square_map = _but(a=(2, 8, 5, 5))
predict__output_of_one_sentence = _but(b=(5, 512))
predict__output_eight_times_as_wide = _but(b=(2, 5, 4096))
predict__divided_by_the_root_of_8 = _but(c=math.sqrt(8))
predict__weights_of_a_narrow_square = _but(d=64 + 512)
predict__all_three_projections = _but(e=3 * 512 * 512)
predict__maps_over_queries_only = _but(f=2 * 8 * 5 * 5)
predict__second_column_of_the_first_word = _but(g=12)
predict__the_last_word = _but(g=31)


def predict__nothing_after_c(question):
    return _RIGHT[question] if question in "abc" else None


def _mha(x, memory, ws, n_heads, mask, split=_split, merge=_merge, scale=None, fill=-np.inf):
    q, k, v = (split(t @ w, n_heads) for t, w in zip((x, memory, memory), ws[:3], strict=True))
    scores = q @ k.swapaxes(-1, -2) / (math.sqrt(q.shape[-1]) if scale is None else scale)
    if mask is not None:
        scores = np.where(mask, scores, fill)
    weights = _softmax(scores)
    return merge(weights @ v) @ ws[3], weights


def multi_head_attention__only_the_output(
    x, memory, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    return _mha(x, memory, (w_query, w_key, w_value, w_output), n_heads, mask)[0]


def multi_head_attention__weights_first(
    x, memory, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    return _mha(x, memory, (w_query, w_key, w_value, w_output), n_heads, mask)[::-1]


def multi_head_attention__one_map_averaged_over_heads(
    x, memory, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    output, weights = _mha(x, memory, (w_query, w_key, w_value, w_output), n_heads, mask)
    return output, weights.mean(1)


def multi_head_attention__mean_map_in_every_head(
    x, memory, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    weights = _mha(x, memory, (w_query, w_key, w_value, w_output), n_heads, mask)[1]
    mean = np.broadcast_to(weights.mean(1, keepdims=True), weights.shape).copy()
    return _merge(mean @ _split(memory @ w_value, n_heads)) @ w_output, mean


def multi_head_attention__queries_from_memory(
    x, memory, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    return _mha(memory, x, (w_query, w_key, w_value, w_output), n_heads, mask)


def multi_head_attention__output_matrix_before_the_average(
    x, memory, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    """Each word is mixed by the output matrix before the heads have looked at it."""
    ws = (w_query, w_key, w_value @ w_output, np.eye(len(w_output)))
    return _mha(x, memory, ws, n_heads, mask)


def multi_head_attention__mask_squeezed(
    x, memory, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    mask = None if mask is None else mask.squeeze(1)[:, None]
    return _mha(x, memory, (w_query, w_key, w_value, w_output), n_heads, mask)


def head_parts__d_model_taken_for_the_width_of_all_heads(heads, w_output):
    n_heads, _, width = heads.shape
    return heads @ w_output.reshape(n_heads, width, n_heads * width)


def head_parts__one_block_twice(heads, w_output):
    width = heads.shape[2]
    return np.stack([head @ w_output[-width:] for head in heads])


def head_parts__transposed_matrix(heads, w_output):
    return heads @ w_output.T.reshape(len(heads), heads.shape[2], -1)


def head_parts__not_projected(heads, w_output):
    return heads


def head_parts__padded_but_not_projected(heads, w_output):
    parts = np.zeros((len(heads), heads.shape[1], len(w_output)))
    for i, head in enumerate(heads):
        parts[i, :, i * heads.shape[2] : (i + 1) * heads.shape[2]] = head
    return parts


def head_parts__queries_first(heads, w_output):
    return (heads @ w_output.reshape(len(heads), heads.shape[2], -1)).swapaxes(0, 1)


def head_parts__added_up_step_by_step(heads, w_output):
    return np.cumsum(heads @ w_output.reshape(len(heads), heads.shape[2], -1), axis=0)


def head_parts__off_by_one_head(heads, w_output):
    blocks = w_output.reshape(len(heads), heads.shape[2], -1)
    return heads @ np.roll(blocks, 1, axis=0) + 0.5


def head_parts__magnitudes(heads, w_output):
    return abs(heads @ w_output.reshape(len(heads), heads.shape[2], -1))


def head_parts__blocks_as_a_list(heads, w_output):
    return list(w_output.reshape(len(heads), heads.shape[2], -1))


def head_parts__mean_of_all_but_one(heads, w_output):
    parts = heads @ w_output.reshape(len(heads), heads.shape[2], -1)
    return (parts.sum(0) - parts) / max(1, len(heads) - 1) + parts


def _loop(x, w_query, w_key, w_value, w_output, scale=None, axis=-1):
    outputs = []
    for w_q, w_k, w_v in zip(w_query, w_key, w_value, strict=True):
        scores = (x @ w_q) @ (x @ w_k).T / (scale or w_q.shape[1] ** 0.5)
        outputs.append(_softmax(scores, axis) @ (x @ w_v))
    return np.concatenate(outputs, -1) @ w_output


def heads_in_parallel__softmax_over_the_queries(x, w_query, w_key, w_value, w_output):
    return _loop(x, w_query, w_key, w_value, w_output, axis=0)


def heads_in_parallel__scaled_by_d_k(x, w_query, w_key, w_value, w_output):
    return _loop(x, w_query, w_key, w_value, w_output, scale=w_query.shape[2] * 1.0)


def heads_in_parallel__scaled_by_the_number_of_heads(x, w_query, w_key, w_value, w_output):
    return _loop(x, w_query, w_key, w_value, w_output, scale=len(w_query) ** 0.5)


def heads_in_parallel__keys_for_values(x, w_query, w_key, w_value, w_output):
    return _loop(x, w_query, w_key, w_key, w_output)


def heads_in_parallel__queries_for_keys(x, w_query, w_key, w_value, w_output):
    return _loop(x, w_query, w_query, w_value, w_output)


def heads_in_parallel__only_the_last_head(x, w_query, w_key, w_value, w_output):
    width = w_value.shape[2]
    last = (w[-1:] for w in (w_query, w_key, w_value))
    return _loop(x, *last, w_output[-width:])


def heads_in_parallel__sum_without_blocks(x, w_query, w_key, w_value, w_output):
    width = w_value.shape[2]
    parts = zip(w_query, w_key, w_value, strict=True)
    return sum(_loop(x, q[None], k[None], v[None], w_output[:width]) for q, k, v in parts)


def heads_in_parallel__heads_in_reverse(x, w_query, w_key, w_value, w_output):
    return _loop(x, w_query[::-1], w_key[::-1], w_value[::-1], w_output) + 0.0 * x


def heads_in_parallel__output_matrix_transposed(x, w_query, w_key, w_value, w_output):
    return _loop(x, w_query, w_key, w_value, w_output.T)


def heads_in_parallel__stacked_not_joined(x, w_query, w_key, w_value, w_output):
    width = w_value.shape[2]
    parts = zip(w_query, w_key, w_value, strict=True)
    return np.stack([_loop(x, q[None], k[None], v[None], np.eye(width)) for q, k, v in parts])


def heads_in_parallel__residual_added(x, w_query, w_key, w_value, w_output):
    return x + _loop(x, w_query, w_key, w_value, w_output)


def head_distances__squares(maps):
    return ((maps[:, None] - maps) ** 2).sum(-1).mean(-1)


def head_distances__one_minus_cosine(maps):
    rows = maps / np.linalg.norm(maps, axis=-1, keepdims=True)
    return 1 - np.einsum("iqk,jqk->ij", rows, rows) / maps.shape[1]


def head_distances__share_of_equal_favourites(maps):
    best = maps.argmax(-1)
    return (best[:, None] != best).mean(-1)


def head_distances__median_over_the_queries(maps):
    return np.median(abs(maps[:, None] - maps).sum(-1), axis=-1) / 2 + 0.001


def head_distances__to_the_first_head_only(maps):
    return abs(maps - maps[0]).sum(-1).mean(-1) / 2


def head_distances__one_number(maps):
    return float((abs(maps[:, None] - maps).sum(-1).mean(-1) / 2).mean())


def head_distances__similarity(maps):
    return 1 - abs(maps[:, None] - maps).sum(-1).mean(-1) / 2


def head_distances__upper_half_only(maps):
    return np.triu(abs(maps[:, None] - maps).sum(-1).mean(-1) / 2)


def head_distances__halved_twice(maps):
    return abs(maps[:, None] - maps).sum(-1).mean(-1) / 4


def head_distances__largest_difference(maps):
    return abs(maps[:, None] - maps).max(-1).mean(-1) * 0.999


def head_distances__for_each_query(maps):
    return abs(maps[:, None] - maps).sum(-1) / 2


def head_distances__torch_without_magnitude(maps: Tensor):
    return torch.cdist(maps.mean(1), maps.mean(1))


def _verdicts(**wrong):
    right = {"a": False, "b": False, "c": True, "d": False, "e": True, "f": False, "g": True}
    return lambda statement: (right | wrong)[statement]


def why_heads__all_right(statement):
    return True


def why_heads__all_wrong(statement):
    return False


def why_heads__everything_reversed(statement):
    return statement not in "ceg"


def why_heads__as_text(statement):
    return "yes" if statement in "ceg" else "no"


def why_heads__as_numbers(statement):
    return int(statement in "ceg")


def why_heads__printed_only(statement):
    print(statement in "ceg")


def why_heads__a_dictionary_returned(statement):
    return {"a": False, "b": False, "c": True, "d": False, "e": True, "f": False, "g": True}


def why_heads__capital_letters(statement):
    return {"A": False, "B": False, "C": True, "D": False, "E": True, "F": False, "G": True}[
        statement
    ]


def why_heads__one_letter_forgotten(statement):
    return {"a": False, "b": False, "c": True, "d": False, "e": True, "f": False}[statement]


def why_heads__shares(statement):
    return 0.9 if statement in "ceg" else 0.1
