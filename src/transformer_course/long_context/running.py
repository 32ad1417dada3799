"""Exact attention whose memory grows with the length only (chapter 12): FlashAttention, Dao et al. 2022.

Softmax needs the highest score and the sum of a whole row. Both can be kept while keys are read block by block:
where a higher score comes, what was summed so far is made smaller. So no row of scores is ever stored.
"""

import math
from typing import Any

import torch
from torch import Tensor

from transformer_course.attention import check_sizes


def running_softmax(scores: Tensor, values: Tensor) -> Tensor:
    r"""Average values by softmax of their scores, one key at a time.

    Three things are kept: the highest score $m$, the sum $\ell = \sum_j e^{s_j - m}$ and the sum of the values
    $\sum_j e^{s_j - m} v_j$. Where the highest score changes to $m'$, both sums are multiplied by $e^{m - m'}$:
    of $\ell$ as in Milakov and Gimelshein 2018, alg. 3, of the values as in Dao et al. 2022, alg. 1.

    Args:
        scores: of one query, (k_len,), finite numbers.
        values: (k_len, d_v).

    Returns:
        The average, (d_v,).

    Raises:
        ValueError: if `scores` isn't one row of one score or more, or there aren't as many values as scores.

    >>> running_softmax(torch.tensor([0.0, 1000.0, 1000.0]), torch.tensor([[5.0], [1.0], [2.0]]))
    tensor([1.5000])
    """
    if scores.dim() != 1 or not len(scores):
        raise ValueError(f"scores of shape {tuple(scores.shape)} must be one row, (k_len,)")
    if len(values) != len(scores):
        raise ValueError(
            f"each score needs its value: got {len(scores)} scores and {len(values)} values"
        )
    highest, total, output = scores[0], torch.ones_like(scores[0]), values[0]
    for score, value in zip(scores[1:], values[1:], strict=True):
        new = torch.maximum(highest, score)
        shrink, share = (highest - new).exp(), (score - new).exp()  # one of them is 1
        total = shrink * total + share
        output = shrink * output + share * value
        highest = new
    return output / total


def running_softmax_attention(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, block: int = 128
) -> Tensor:
    """`scaled_dot_product_attention` without ever holding all scores (Dao et al. 2022, algorithms 1 and 4).

    Exact up to rounding; computed in single precision at least. Beside the output it keeps one number a query.
    In the backward pass, the weights of a block are computed once more: that costs time and saves memory.

    Args:
        q: queries, (batch, heads, q_len, d_k).
        k: keys, (batch, heads, k_len, d_k).
        v: values, (batch, heads, k_len, d_v).
        causal: whether a query sees only what isn't after it. The last query stands where the last key does, as
            with a cache; a query before the first key gets zeros.
        block: queries, and keys, that are read at once, 1 or more.

    Returns:
        (batch, heads, q_len, d_v).

    Raises:
        ValueError: if the sizes of queries, keys and values don't fit, or `block` is below 1.
        RuntimeError: if `create_graph=True` asks for gradients of the gradients.

    >>> q, k, v = torch.zeros(1, 1, 1, 2), torch.zeros(1, 1, 4, 2), torch.tensor([[[[1.0], [2], [3], [6]]]])
    >>> running_softmax_attention(q, k, v, block=2)
    tensor([[[[3.]]]])
    """
    check_sizes(q, k, v)
    if not q.shape[:-2] == k.shape[:-2] == v.shape[:-2]:
        shapes = " and ".join(str(tuple(x.shape)) for x in (q, k, v))
        raise ValueError(f"q, k and v must have the same batch and heads, got {shapes}")
    if block < 1:
        raise ValueError(f"block ({block}) must be 1 or more")
    # Sums of 16 bits would stop growing, or overflow, where a text is long.
    dtype = torch.promote_types(q.dtype, torch.float32)
    with torch.autocast(q.device.type, enabled=False):
        wide = (x.to(dtype) for x in (q, k, v))
        output: Tensor = _RunningSoftmax.apply(*wide, causal, block)  # type: ignore[no-untyped-call]
    return output.to(q.dtype)


def attend_block_by_block(
    q: Tensor, k: Tensor, v: Tensor, block: int, first: int | None = None
) -> tuple[Tensor, Tensor]:
    r"""One block of queries reads all keys, block by block (the inner loop of Dao et al. 2022, algorithm 1).

    `running_softmax` for many rows at once; no row of scores is longer than `block`.

    Args:
        q: queries, divided by $\sqrt{d_k}$, (batch, heads, q_len, d_k).
        k: keys, (batch, heads, k_len, d_k).
        v: values, (batch, heads, k_len, d_v).
        block: keys that are read at once.
        first: which key stands where the first query does; keys after a query are hidden from it. None =
            nothing is hidden.

    Returns:
        The output, (batch, heads, q_len, d_v), and the logarithm of each row's sum of $e^s$, (batch, heads,
        q_len, 1), from which the backward pass gets the weights again.
    """
    highest = q.new_full((*q.shape[:-1], 1), torch.finfo(q.dtype).min)
    total, output = torch.zeros_like(highest), q.new_zeros(*q.shape[:-1], v.shape[-1])
    for start in _starts(k.shape[-2], block, first, q.shape[-2]):
        keys, values = k[..., start : start + block, :], v[..., start : start + block, :]
        scores = _scores(q, keys, start, first)  # (batch, heads, q_len, block)
        new = torch.maximum(highest, scores.amax(-1, keepdim=True))
        shrink, weights = (highest - new).exp(), (scores - new).exp()
        total = shrink * total + weights.sum(-1, keepdim=True)
        output = shrink * output + weights @ values
        highest = new
    total = total.clamp(min=1)  # it is at least 1, except 0 where a query sees nothing
    return output / total, highest + total.log()


def _starts(k_len: int, block: int, first: int | None, q_len: int) -> range:
    """Where the blocks of keys begin; those after the last query, hidden as a whole, are left out."""
    return range(0, k_len if first is None else min(k_len, first + q_len), block)


def _scores(q: Tensor, keys: Tensor, start: int, first: int | None) -> Tensor:
    """Scores of a block of keys, −∞ where a key comes after the query."""
    scores = q @ keys.transpose(-2, -1)
    if first is None or start + keys.shape[-2] <= first + 1:  # nothing is hidden
        return scores
    hidden = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device)
    return scores.masked_fill_(hidden.triu(first - start + 1), -math.inf)


class _RunningSoftmax(torch.autograd.Function):
    """Keeps queries, keys, values, output and one number a query; no weights."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, causal: bool, block: int) -> Tensor:
        """Queries block by block; each block reads the keys block by block."""
        ctx.block, ctx.before = block, k.shape[-2] - q.shape[-2] if causal else None
        output = q.new_empty(*q.shape[:-1], v.shape[-1])
        log_sums = q.new_empty(*q.shape[:-1], 1)
        for start, rows in _rows(q.shape[-2], block):
            scaled = q[rows] / math.sqrt(q.shape[-1])
            first = None if ctx.before is None else ctx.before + start
            output[rows], log_sums[rows] = attend_block_by_block(scaled, k, v, block, first)
        ctx.save_for_backward(q, k, v, output, log_sums)
        return output

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        """The weights of each block once more, and what they send back (Dao et al. 2022, algorithm 4)."""
        if (
            torch.is_grad_enabled()
        ):  # derivatives of what is computed here would be wrong without a word
            raise RuntimeError(
                "running_softmax_attention can't be differentiated twice (create_graph=True): use "
                "scaled_dot_product_attention"
            )
        q, k, v, output, log_sums = ctx.saved_tensors
        scale = 1 / math.sqrt(q.shape[-1])
        grad_q, grad_k, grad_v = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
        for start, rows in _rows(q.shape[-2], ctx.block):
            first = None if ctx.before is None else ctx.before + start
            scaled, grad_rows = q[rows] * scale, grad[rows]
            mean = (grad_rows * output[rows]).sum(-1, keepdim=True)  # of the weights' gradients
            for begin in _starts(k.shape[-2], ctx.block, first, scaled.shape[-2]):
                some = (..., slice(begin, begin + ctx.block), slice(None))
                weights = (_scores(scaled, k[some], begin, first) - log_sums[rows]).exp()
                grad_weights = grad_rows @ v[some].transpose(-2, -1)
                grad_scores = weights * (grad_weights - mean)
                grad_q[rows] += grad_scores @ k[some] * scale
                grad_k[some] += grad_scores.transpose(-2, -1) @ scaled
                grad_v[some] += weights.transpose(-2, -1) @ grad_rows
        return grad_q, grad_k, grad_v, None, None


def _rows(length: int, block: int) -> list[tuple[int, Any]]:
    """Where each block of queries begins, and how to take it out of a tensor."""
    return [(n, (..., slice(n, n + block), slice(None))) for n in range(0, length, block)]
