"""Who sees whom in a long text (chapter 12): windows, strides, global tokens, as masks. True = may attend."""

import torch
from torch import Tensor


def local_mask(length: int, window: int, causal: bool = True) -> Tensor:
    """Each token sees the last `window` tokens, itself included.

    The paper calls it restricted self-attention (Vaswani et al. 2017, §4).

    Args:
        length: number of positions, 1 or more.
        window: how many it sees, 1 or more; without `causal`, window − 1 on either side, and itself.
        causal: whether what follows is hidden.

    Returns:
        Boolean mask, (1, 1, length, length).

    Raises:
        ValueError: if a number is below 1.

    >>> local_mask(4, 2)[0, 0].int()
    tensor([[1, 0, 0, 0],
            [1, 1, 0, 0],
            [0, 1, 1, 0],
            [0, 0, 1, 1]], dtype=torch.int32)
    """
    _check(length=length, window=window)
    back = _back(length)
    return _mask(back.abs() < window, back, causal)


def strided_mask(length: int, stride: int, causal: bool = True) -> Tensor:
    """Each token sees every `stride`-th one, counted from itself (Child et al. 2019, §4.3).

    It is one half of their "strided attention"; the other half is `local_mask` with a window of `stride`. Alone
    it isn't enough: two tokens whose distance is no multiple of the stride never meet, however many layers
    there are. Where both halves follow each other, two layers reach everything.

    Args:
        length: number of positions, 1 or more.
        stride: the distance from one to the next, 1 or more.
        causal: whether what follows is hidden.

    Returns:
        Boolean mask, (1, 1, length, length).

    Raises:
        ValueError: if a number is below 1.

    >>> strided_mask(4, 2)[0, 0].int()
    tensor([[1, 0, 0, 0],
            [0, 1, 0, 0],
            [1, 0, 1, 0],
            [0, 1, 0, 1]], dtype=torch.int32)
    """
    _check(length=length, stride=stride)
    back = _back(length)
    return _mask(back % stride == 0, back, causal)


def global_mask(length: int, n_global: int, causal: bool = True) -> Tensor:
    """The first `n_global` tokens see all and are seen by all (Longformer; Beltagy et al. 2020).

    Others see only these and themselves: it is meant to be joined with a window, by `|`.

    Args:
        length: number of positions, 1 or more.
        n_global: how many tokens are global, 1 or more.
        causal: whether what follows is hidden, from global tokens, too.

    Returns:
        Boolean mask, (1, 1, length, length).

    Raises:
        ValueError: if a number is below 1.

    >>> global_mask(4, 1, causal=False)[0, 0].int()
    tensor([[1, 1, 1, 1],
            [1, 1, 0, 0],
            [1, 0, 1, 0],
            [1, 0, 0, 1]], dtype=torch.int32)
    """
    _check(length=length, n_global=n_global)
    back = _back(length)
    first = torch.arange(length) < n_global
    return _mask(first[:, None] | first | (back == 0), back, causal)


def reach(masks: list[Tensor]) -> Tensor:
    """Which tokens a token can know of after several layers.

    In each layer a token looks at what its mask allows. The residual connection keeps what it knows already.

    Args:
        masks: one a layer, from the bottom up, each (1, 1, length, length) or (length, length); one or more.

    Returns:
        Boolean, (length, length); row i tells what token i can know of.

    Raises:
        ValueError: if there is no mask.

    >>> reach([local_mask(4, 2)] * 2).int()
    tensor([[1, 0, 0, 0],
            [1, 1, 0, 0],
            [1, 1, 1, 0],
            [0, 1, 1, 1]], dtype=torch.int32)
    """
    if not masks:
        raise ValueError("masks is empty; there must be one a layer")
    itself = torch.eye(masks[0].shape[-1])
    found = itself
    for mask in masks:
        step = mask.reshape(itself.shape).float() + itself  # what a token sees, and what it keeps
        found = (step @ found > 0).float()
    return found.bool()


def _back(length: int) -> Tensor:
    """How far back each key is from each query, (length, length)."""
    places = torch.arange(length)
    return places[:, None] - places


def _mask(seen: Tensor, back: Tensor, causal: bool) -> Tensor:
    """A pattern as a mask, (1, 1, length, length); with `causal`, without what follows."""
    return (seen & (back >= 0) if causal else seen)[None, None]


def _check(**numbers: int) -> None:
    for name, number in numbers.items():
        if number < 1:
            raise ValueError(f"{name} ({number}) must be 1 or more")
