"""Parts of the package as the exercises take them: functions of their weights, for tensors and for arrays.

`part` returns them where the learner has none.
"""

from typing import Any

import torch
from torch import Tensor

from transformer_course import masking
from transformer_course.attention import scaled_dot_product_attention
from transformer_course.checks.array_kinds import for_arrays
from transformer_course.encoder_decoder import layer_norm


@for_arrays
def padding_mask(ids: Tensor, pad_id: int = 0) -> Tensor:
    """Hide padding: no query may attend to a key that is padding.

    Args:
        ids: token ids, (batch, k_len).
        pad_id: the id that fills up short sentences.

    Returns:
        Boolean, (batch, 1, 1, k_len); True where the token is real.
    """
    return masking.padding_mask(ids, pad_id)


@for_arrays
def decoder_mask(ids: Tensor, pad_id: int = 0) -> Tensor:
    """Hide the future and padding from the decoder.

    Args:
        ids: token ids, (batch, tgt_len).
        pad_id: the id that fills up short sentences.

    Returns:
        Boolean, (batch, 1, tgt_len, tgt_len); True = may attend.
    """
    return masking.decoder_mask(ids, pad_id)


@for_arrays
def multi_head_attention(
    x: Tensor,
    memory: Tensor,
    w_query: Tensor,
    w_key: Tensor,
    w_value: Tensor,
    w_output: Tensor,
    n_heads: int,
    mask: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Attend from `x` to `memory` with several heads, as in the exercise of chapter 04.

    Args:
        x: where the queries come from, (batch, q_len, d_model).
        memory: where keys and values come from, (batch, k_len, d_model).
        w_query: (d_model, d_model), the matrices of all heads side by side; so are the other three.
        w_key: as `w_query`.
        w_value: as `w_query`.
        w_output: as `w_query`.
        n_heads: must divide d_model.
        mask: boolean, broadcastable to (batch, heads, q_len, k_len); True = may attend.

    Returns:
        The output, (batch, q_len, d_model), and the weights, (batch, heads, q_len, k_len).

    >>> import torch
    >>> x = torch.ones(1, 3, 4)
    >>> output, weights = multi_head_attention(x, x, *torch.ones(4, 4, 4), n_heads=2)
    >>> tuple(output.shape), tuple(weights.shape)
    ((1, 3, 4), (1, 2, 3, 3))
    """

    def split(rows: Tensor) -> Tensor:
        return rows.reshape(*rows.shape[:2], n_heads, -1).transpose(
            1, 2
        )  # (batch, heads, length, d_k)

    q, k, v = split(x @ w_query), split(memory @ w_key), split(memory @ w_value)
    outputs, weights = scaled_dot_product_attention(q, k, v, mask)
    return outputs.transpose(1, 2).flatten(-2) @ w_output, weights


@for_arrays
def encoder_layer(x: Tensor, mask: Tensor, weights: dict[str, Any], n_heads: int) -> Tensor:
    """One layer of the encoder, post-norm, as in the exercise of chapter 06.

    Args:
        x: (batch, length, d_model).
        mask: boolean, broadcastable to (batch, heads, length, length); True = may attend.
        weights: "self_attention", four matrices as in `multi_head_attention`; "feed_forward", two matrices
            with a bias after each; "norms", two pairs of gain and bias.
        n_heads: must divide d_model.

    Returns:
        (batch, length, d_model).

    >>> square, row = torch.ones(2, 2), torch.zeros(2)
    >>> weights = {"self_attention": [square] * 4, "feed_forward": (square, row, square, row)}
    >>> weights["norms"] = [(torch.ones(2), row)] * 2
    >>> encoder_layer(torch.tensor([[[1.0, 3.0]]]), torch.ones(1, 1, dtype=torch.bool), weights, 1)
    tensor([[[-1.0000,  1.0000]]])
    """
    w_query, w_key, w_value, w_output = weights["self_attention"]
    attended, _ = multi_head_attention(x, x, w_query, w_key, w_value, w_output, n_heads, mask)
    x = layer_norm(x + attended, *weights["norms"][0])
    w_1, b_1, w_2, b_2 = weights["feed_forward"]
    inner = torch.relu(x @ w_1 + b_1)  # (batch, length, d_ff)
    return layer_norm(x + inner @ w_2 + b_2, *weights["norms"][1])
