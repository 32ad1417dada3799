"""Attention to a window and to every r-th token, computed so that it saves time and memory (chapter 12).

A mask hides scores after they were computed. Here tokens are put into blocks first, so that most scores are
never computed. Inside the blocks it is the attention of chapter 01. The masks of `patterns` say what must come
out.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer_course.attention import check_sizes, scaled_dot_product_attention
from transformer_course.masking import causal_mask


def local_attention(q: Tensor, k: Tensor, v: Tensor, window: int, causal: bool = True) -> Tensor:
    """What attention gives with `local_mask`, in time and memory that grow as n · window.

    Tokens are cut into blocks of `window`. A query finds all that it may see in its own block and the one
    before, without `causal` also in the one after (restricted attention; Vaswani et al. 2017, §4; in blocks as
    in Beltagy et al. 2020, appendix A).

    Args:
        q: queries, (batch, heads, length, d_k).
        k: keys, of the same shape.
        v: values, (batch, heads, length, d_v).
        window: how many tokens a query sees, itself included, 1 or more; without `causal`, window − 1 on either
            side, and itself.
        causal: whether what follows is hidden.

    Returns:
        (batch, heads, length, d_v).

    Raises:
        ValueError: if `window` or the length is below 1, or queries, keys and values aren't of one sequence.

    >>> x = torch.tensor([1.0, 2, 4, 8, 16])[None, None, :, None]
    >>> local_attention(torch.zeros_like(x), x, x, window=2)[0, 0, :, 0]  # means of two
    tensor([ 1.0000,  1.5000,  3.0000,  6.0000, 12.0000])
    """
    length = _checked(q, k, v, window=window)
    window = min(window, length)  # a window of the whole text
    rest = -length % window  # the last block is filled up
    after = 0 if causal else window
    blocks = _cut(F.pad(q, (0, 0, 0, rest)), window)  # (…, blocks, window, d_k)
    keys, values = (
        F.pad(x, (0, 0, window, rest + after))
        .unfold(-2, 2 * window + after, window)  # (…, blocks, d_k, 2 or 3 windows)
        .transpose(-2, -1)
        for x in (k, v)
    )
    mask = _window_mask(length, window, causal).to(q.device)
    output, _ = scaled_dot_product_attention(blocks, keys, values, mask)
    return output.flatten(-3, -2)[..., :length, :]  # (batch, heads, length, d_v)


def strided_attention(q: Tensor, k: Tensor, v: Tensor, stride: int, causal: bool = True) -> Tensor:
    """What attention gives with `strided_mask`, in time and memory that grow as n² / stride.

    Tokens of which none sees another one are parted: those whose positions leave the same remainder, divided by
    `stride`, become a short text of their own, with attention to all of it (Child et al. 2019, §4.3).

    Args:
        q: queries, (batch, heads, length, d_k).
        k: keys, of the same shape.
        v: values, (batch, heads, length, d_v).
        stride: the distance from one visible token to the next, 1 or more.
        causal: whether what follows is hidden.

    Returns:
        (batch, heads, length, d_v).

    Raises:
        ValueError: if `stride` or the length is below 1, or queries, keys and values aren't of one sequence.

    >>> x = torch.tensor([1.0, 2, 3, 6, 8])[None, None, :, None]
    >>> strided_attention(torch.zeros_like(x), x, x, stride=2)[0, 0, :, 0]  # means of 1, 3, 8 and of 2, 6
    tensor([1., 2., 2., 4., 4.])
    """
    length = _checked(q, k, v, stride=stride)
    stride = min(stride, length)  # everyone sees only itself
    q, k, v = (
        _cut(F.pad(x, (0, 0, 0, -length % stride)), stride).transpose(-3, -2) for x in (q, k, v)
    )  # (…, stride, length / stride, d_k)
    n = q.shape[-2]
    places = torch.arange(n * stride, device=q.device).view(n, stride)
    mask = (places < length).T[:, None]  # no padding, (stride, 1, length / stride)
    if causal:
        mask = mask & causal_mask(n, q.device)[0]
    output, _ = scaled_dot_product_attention(q, k, v, mask)
    return output.transpose(-3, -2).flatten(-3, -2)[..., :length, :]


def _cut(x: Tensor, size: int) -> Tensor:
    """Blocks of so many tokens each, (…, length, d_k) → (…, blocks, size, d_k)."""
    return x.reshape(*x.shape[:-2], -1, size, x.shape[-1])


def _window_mask(length: int, window: int, causal: bool) -> Tensor:
    """Which keys of the two or three blocks each query of a block may see, (blocks, window, keys)."""
    n_keys = window * (2 if causal else 3)
    back = window + torch.arange(window)[:, None] - torch.arange(n_keys)  # (window, keys)
    near = (back >= 0) & (back < window) if causal else back.abs() < window
    first = torch.arange(0, length, window) - window  # where the keys of each block begin
    places = first[:, None] + torch.arange(n_keys)  # (blocks, keys)
    return near & ((places >= 0) & (places < length))[:, None]


def _checked(q: Tensor, k: Tensor, v: Tensor, **numbers: int) -> int:
    """The length that queries, keys and values share."""
    for name, number in (numbers | {"length": q.shape[-2]}).items():
        if number < 1:
            raise ValueError(f"{name} ({number}) must be 1 or more")
    check_sizes(q, k, v)
    if not q.shape[:-1] == k.shape[:-1] == v.shape[:-1]:
        shapes = " and ".join(str(tuple(x.shape)) for x in (q, k, v))
        raise ValueError(f"q, k and v must be of one sequence, got shapes {shapes}")
    return q.shape[-2]
