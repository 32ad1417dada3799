"""Masking (chapter 03): which positions may be seen. True = may attend, everywhere in this package.

Shapes fit scores of shape (batch, heads, q_len, k_len). torch.nn's modules use the opposite sense (True =
hidden): pass them `~mask`. `F.scaled_dot_product_attention` uses ours.
"""

import torch
from torch import Tensor


def padding_mask(ids: Tensor, pad_id: int = 0) -> Tensor:
    """Hide padding: no query may attend to a key that is padding.

    Args:
        ids: token ids, (batch, k_len).
        pad_id: the id that fills up short sentences.

    Returns:
        Boolean mask, (batch, 1, 1, k_len); True where the token is real.

    Raises:
        ValueError: if `ids` isn't (batch, length).

    >>> padding_mask(torch.tensor([[5, 6, 0]]))
    tensor([[[[ True,  True, False]]]])
    """
    if ids.dim() != 2:
        raise ValueError(f"ids must have shape (batch, length), got {tuple(ids.shape)}")
    return (ids != pad_id)[:, None, None, :]  # (batch, 1, 1, k_len)


def causal_mask(length: int, device: torch.device | None = None) -> Tensor:
    """Hide the future: position t may attend to positions 0 … t, itself included.

    Vaswani et al. 2017, §3.1 and §3.2.3.

    Args:
        length: number of positions, 1 or more.
        device: where to make the mask.

    Returns:
        Boolean mask, (1, 1, length, length); True on and below the diagonal.

    Raises:
        ValueError: if `length` is below 1.

    >>> causal_mask(3)[0, 0].int()
    tensor([[1, 0, 0],
            [1, 1, 0],
            [1, 1, 1]], dtype=torch.int32)
    """
    if length < 1:
        raise ValueError(f"length ({length}) must be 1 or more")
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()[None, None]


def decoder_mask(ids: Tensor, pad_id: int = 0) -> Tensor:
    """The decoder's own mask: neither the future (Vaswani et al. 2017, §3.2.3) nor padding.

    Args:
        ids: token ids, (batch, tgt_len).
        pad_id: the id that fills up short sentences.

    Returns:
        Boolean mask, (batch, 1, tgt_len, tgt_len), `causal_mask` AND `padding_mask`.

    Raises:
        ValueError: if `ids` isn't (batch, length) with a length of 1 or more.
    """
    padding = padding_mask(ids, pad_id)
    return padding & causal_mask(ids.shape[1], ids.device)
