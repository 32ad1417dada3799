"""Parts that the package has as a layer with weights of its own, as functions of the weights, in torch.

`part` returns them where the learner has none.
"""

from torch import Tensor

from transformer_course.attention import scaled_dot_product_attention


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
