"""Chapter 04: misconceptions in the spellings of learners."""

import numpy as np
import torch
from torch import Tensor

from tests.data.wrong_answers.multi_head import _merge, _mha, _split


def multi_head_attention__masked_scores_set_to_zero(
    x, memory, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    """hidden scores set to 0"""
    return _mha(x, memory, (w_query, w_key, w_value, w_output), n_heads, mask, fill=0.0)


def multi_head_attention__mask_after_softmax(
    x, memory, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    """weights set to 0 after the softmax"""
    ws = (w_query, w_key, w_value, w_output)
    weights = _mha(x, memory, ws, n_heads, None)[1]
    weights = weights if mask is None else weights * mask
    return _merge(weights @ _split(memory @ w_value, n_heads)) @ w_output, weights


def _in_torch(x, memory, projections, w_output, n_heads, mask, divisor):
    """Attention in torch from matrices that meet the words as they are given."""
    q, k, v = (
        part.unflatten(-1, (n_heads, -1)).transpose(1, 2)
        for part in (x @ projections[0], memory @ projections[1], memory @ projections[2])
    )
    scores = q @ k.mT / divisor
    shares = torch.softmax(scores if mask is None else scores.masked_fill(~mask, -1e9), -1)
    return (shares @ v).transpose(1, 2).flatten(2) @ w_output, shares


def multi_head_attention__as_torch_stores_its_matrices(
    x: Tensor, memory, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    """all four matrices transposed"""
    turned = w_query.T, w_key.T, w_value.T
    divisor = (x.shape[-1] // n_heads) ** 0.5
    return _in_torch(x, memory, turned, w_output.T, n_heads, mask, divisor)


def multi_head_attention__the_first_three_as_torch_stores_its_matrices(
    x: Tensor, memory, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    """the matrices of queries, keys and values transposed"""
    turned = w_query.T, w_key.T, w_value.T
    divisor = (x.shape[-1] // n_heads) ** 0.5
    return _in_torch(x, memory, turned, w_output, n_heads, mask, divisor)


def multi_head_attention__memory_as_values(
    x: Tensor, memory, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    """values not projected"""
    projections = w_query, w_key, torch.eye(len(w_value))
    divisor = (x.shape[-1] // n_heads) ** 0.5
    return _in_torch(x, memory, projections, w_output, n_heads, mask, divisor)


def multi_head_attention__root_of_n_heads(
    x: Tensor, memory, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    """divided by the root of the number of heads"""
    projections = w_query, w_key, w_value
    return _in_torch(x, memory, projections, w_output, n_heads, mask, n_heads**0.5)


def _attend(x, memory, weights, n_heads, mask, fill, axis=-1):
    """Attention in torch, with a softmax along another axis."""
    w_query, w_key, w_value, w_output = weights
    q, k, v = (
        part.reshape(*part.shape[:2], n_heads, -1).transpose(1, 2)
        for part in (x @ w_query, memory @ w_key, memory @ w_value)
    )
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask, fill)
    shares = torch.softmax(scores, axis)
    return (shares @ v).transpose(1, 2).flatten(2) @ w_output, shares


def multi_head_attention__masked_fill_with_the_mask(
    x: Tensor, memory, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    """mask inverted: a row that sees everything becomes NaN"""
    weights = (w_query, w_key, w_value, w_output)
    return _attend(x, memory, weights, n_heads, mask, -torch.inf)


def multi_head_attention__masked_fill_with_the_mask_and_a_low_number(
    x: Tensor, memory, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    """mask inverted: a row that sees everything gets equal shares"""
    weights = (w_query, w_key, w_value, w_output)
    return _attend(x, memory, weights, n_heads, mask, -1e9)


def multi_head_attention__softmax_dim_1_with_infinity(
    x: Tensor, memory, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    """softmax over the heads, and hidden keys become NaN"""
    weights, hidden = (w_query, w_key, w_value, w_output), None if mask is None else ~mask
    return _attend(x, memory, weights, n_heads, hidden, -torch.inf, axis=1)


def multi_head_attention__softmax_dim_1_with_a_low_number(
    x: Tensor, memory, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    """softmax over the heads, and hidden keys get equal shares"""
    weights, hidden = (w_query, w_key, w_value, w_output), None if mask is None else ~mask
    return _attend(x, memory, weights, n_heads, hidden, -1e9, axis=1)


def multi_head_attention__with_a_residual(
    x, memory, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    """x added to the output"""
    q, k, v = (
        _split(a @ b, n_heads) for a, b in ((x, w_query), (memory, w_key), (memory, w_value))
    )
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    weights = torch.softmax(scores, -1)
    return x + _merge(weights @ v) @ w_output, weights


def _values_sliced(x, w_query, w_key, w_value, width):
    """The outputs of all heads, whose values are made from a head's own columns of x."""
    d_k, outputs = w_query.shape[2], []
    for i in range(len(w_query)):
        part = np.zeros_like(x)
        part[:, i * d_k : (i + 1) * d_k] = x[:, i * d_k : (i + 1) * d_k]
        powers = np.exp((x @ w_query[i]) @ (x @ w_key[i]).T / np.sqrt(width))
        outputs.append(powers / powers.sum(1, keepdims=True) @ (part @ w_value[i]))
    return outputs


def heads_in_parallel__values_from_the_part(x, w_query, w_key, w_value, w_output):
    """the values from a slice of the input"""
    outputs = _values_sliced(x, w_query, w_key, w_value, w_query.shape[2])
    return np.concatenate(outputs, axis=1) @ w_output


def heads_in_parallel__values_from_the_part_and_nothing_else(x, w_query, w_key, w_value, w_output):
    """the values from a slice of the input; scale and joining are still wrong"""
    outputs = _values_sliced(x, w_query, w_key, w_value, x.shape[1])
    return np.stack(outputs).reshape(len(x), -1) @ w_output


def split_heads__view_with_the_sizes_exchanged(x: Tensor, n_heads):
    """the number of heads and their width exchanged"""
    batch, length, d_model = x.shape
    return x.view(batch, length, d_model // n_heads, n_heads).transpose(1, 2)


def split_heads__chunks_of_words(x: Tensor, n_heads):
    """the words cut into heads, not the columns, and fewer heads where words are few"""
    return torch.stack(torch.chunk(x, n_heads, dim=1), dim=1)


def split_heads__words_reshaped(x, n_heads):
    """the words cut into heads, not the columns"""
    batch, length, d_model = x.shape
    return x.reshape(batch, n_heads, length // n_heads, d_model)


def _by_head(x, memory, weights, n_heads, mask_of_head, fill=-np.inf, shift=True):
    """Attention in a loop over the heads."""
    d_k = x.shape[-1] // n_heads
    output, maps = np.zeros(x.shape), []
    for head in range(n_heads):
        own = slice(head * d_k, (head + 1) * d_k)
        scores = (x @ weights[0][:, own]) @ (memory @ weights[1][:, own]).swapaxes(1, 2)
        scores = np.where(mask_of_head(head), scores / np.sqrt(d_k), fill)
        powers = np.exp(scores - scores.max(-1, keepdims=True) if shift else scores)
        maps.append(powers / powers.sum(-1, keepdims=True))
        output = output + maps[-1] @ (memory @ weights[2][:, own]) @ weights[3][own]
    return output, np.stack(maps, 1)


def multi_head_attention__index_0_on_the_axis_of_heads(
    x, memory, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    """the mask of head 1 for all"""
    ws = (w_query, w_key, w_value, w_output)
    return _by_head(x, memory, ws, n_heads, lambda head: True if mask is None else mask[:, 0])


def multi_head_attention__mask_repeated(
    x, memory, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    """the mask of head 1 for all"""
    mask = np.ones((1, 1, 1, 1), bool) if mask is None else mask
    repeated = np.repeat(mask, n_heads, 1)
    ws = (w_query, w_key, w_value, w_output)
    return _by_head(x, memory, ws, n_heads, lambda head: repeated[:, head])


def _filled(x, memory, ws, n_heads, mask, fill, shift=True):
    mask = np.ones((1, 1, 1, 1), bool) if mask is None else mask
    full = np.broadcast_to(mask, (len(x), n_heads, x.shape[1], memory.shape[1]))
    return _by_head(x, memory, ws, n_heads, lambda head: full[:, head], fill, shift)


def multi_head_attention__minus_30(
    x, memory, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    """a fill that scores can fall below"""
    return _filled(x, memory, (w_query, w_key, w_value, w_output), n_heads, mask, -30.0)


def multi_head_attention__minus_ten_thousand(
    x, memory, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    """a fill that scores can fall below"""
    return _filled(x, memory, (w_query, w_key, w_value, w_output), n_heads, mask, -1e4)


def multi_head_attention__plain_exponentials(
    x, memory, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    """no shift before the exponential"""
    ws = (w_query, w_key, w_value, w_output)
    return _filled(x, memory, ws, n_heads, mask, -np.inf, shift=False)
