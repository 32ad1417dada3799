"""Attention (chapter 01): a weighted average whose weights come from how well a query fits each key.

Masks are boolean everywhere in this package: **True = may attend**.
"""

import math

import torch
from torch import Tensor, nn


def check_mask(mask: Tensor, scores_shape: torch.Size) -> None:
    """Refuse a mask that is not boolean or doesn't fit the scores.

    Args:
        mask: what the caller passed as a mask; True = may attend.
        scores_shape: shape of the scores it is meant for, (..., q_len, k_len).

    Raises:
        ValueError: if the mask isn't boolean or can't be broadcast to `scores_shape`.
    """
    if mask.dtype != torch.bool:
        raise ValueError(f"mask must be boolean (True = may attend), got dtype {mask.dtype}")
    fits = mask.dim() <= len(scores_shape) and all(
        size in (1, wanted)
        for size, wanted in zip(reversed(mask.shape), reversed(scores_shape), strict=False)
    )
    if not fits:
        raise ValueError(
            f"mask of shape {tuple(mask.shape)} must be broadcastable to the scores of shape "
            f"{tuple(scores_shape)}, that is (..., q_len, k_len)"
        )


def softmax(scores: Tensor, mask: Tensor | None = None, dim: int = -1) -> Tensor:
    r"""Turn scores into weights that are positive and sum to 1.

    $w_i = \exp(s_i - m) / \sum_k \exp(s_k - m)$ with $m = \max_k s_k$. The shift by $m$ changes nothing in
    the result and keeps the exponential from overflowing; `torch.softmax` does it inside.

    The mask works inside softmax, as in Vaswani et al. 2017, §3.2.3. The paper sets hidden scores to −∞. Here a
    row that may see nothing gives 0 instead of NaN.

    Scores of float16 end at ±65504. Beyond, a score is −∞, and its weight is 0, or it is +∞, and the weights of
    its row are NaN, as in `torch.softmax`: a model that has overflowed doesn't go on in silence.

    Args:
        scores: any shape, for attention (batch, heads, q_len, k_len).
        mask: boolean, broadcastable to `scores`; True = may attend. A masked entry gets weight 0. Where
            *nothing* is allowed along `dim`, or only scores of −∞ beside masked ones, all weights are 0 (they
            can't sum to 1), and gradients are 0. Where no allowed score is above the lowest finite number of
            the type (float16: −65504), those that equal it get weights that sum to less than 1.
        dim: the dimension along which the weights sum to 1.

    Returns:
        Weights of the same shape as `scores`.

    Raises:
        ValueError: if the mask isn't boolean or doesn't fit.

    >>> softmax(torch.tensor([0.0, 0.0, 1000.0]))
    tensor([0., 0., 1.])
    >>> softmax(torch.zeros(2, 2), torch.tensor([[True, False], [False, False]]))
    tensor([[1., 0.],
            [0., 0.]])
    """
    if mask is None:
        return torch.softmax(scores, dim)
    check_mask(mask, scores.shape)
    # The lowest finite number, not -inf: a row of -inf alone would be 0/0 = NaN, in the gradient as well.
    weights = torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), dim)
    # Where no allowed score is higher than that number, softmax has given the hidden ones a share.
    return weights * mask  # times 1 or 0


def scaled_dot_product_attention(
    queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    r"""Average the values, each weighted by how well its key fits the query.

    $\mathrm{Attention}(Q, K, V) = \mathrm{softmax}(QK^\top / \sqrt{d_k})\,V$

    This is eq. 1 of Vaswani et al. 2017.

    Args:
        queries: (..., q_len, d_k).
        keys: (..., k_len, d_k).
        values: (..., k_len, d_v).
        mask: boolean, broadcastable to (..., q_len, k_len); True = may attend. A query that may attend to
            nothing gets zeros.

    Returns:
        The output, (..., q_len, d_v), and the weights, (..., q_len, k_len).

    Raises:
        ValueError: if the widths of queries and keys differ, if there aren't as many values as keys, or if
            the mask isn't boolean or doesn't fit.
        RuntimeError: if the leading dimensions don't fit together, such as a batch of 2 and one of 3; torch
            raises it.

    >>> queries, keys = torch.tensor([[10.0, 0.0]]), torch.tensor([[10.0, 0.0], [0.0, 10.0]])
    >>> output, weights = scaled_dot_product_attention(queries, keys, torch.tensor([[1.0], [2.0]]))
    >>> output
    tensor([[1.]])
    """
    check_sizes(queries, keys, values)
    # For long texts, scaling the queries costs less than scaling the scores, q_len x k_len.
    transposed = keys.transpose(-2, -1)  # (..., d_k, k_len)
    scores = (queries / math.sqrt(queries.shape[-1])) @ transposed  # (..., q_len, k_len)
    weights = softmax(scores, mask)
    return weights @ values, weights  # (..., q_len, d_v)


def check_sizes(queries: Tensor, keys: Tensor, values: Tensor) -> None:
    """Refuse queries, keys and values whose sizes don't fit together.

    Args:
        queries: (..., q_len, d_k).
        keys: (..., k_len, d_k).
        values: (..., k_len, d_v).

    Raises:
        ValueError: if the widths of queries and keys differ, or if there aren't as many values as keys.
    """
    if queries.shape[-1] != keys.shape[-1]:
        raise ValueError(
            f"queries and keys must have the same width d_k, got {queries.shape[-1]} and "
            f"{keys.shape[-1]}"
        )
    if keys.shape[-2] != values.shape[-2]:
        raise ValueError(
            f"each key needs its value: got {keys.shape[-2]} keys and {values.shape[-2]} values"
        )


class AdditiveAttention(nn.Module):
    r"""Attention whose scores come from a small feed-forward net (Bahdanau et al. 2015, appendix A.1.2).

    $e_{ij} = v^\top \tanh(W q_i + U k_j)$. Queries and keys may have different widths.

    Args:
        d_query: width of the queries.
        d_key: width of the keys.
        d_hidden: width of the hidden layer.
    """

    def __init__(self, d_query: int, d_key: int, d_hidden: int) -> None:
        super().__init__()
        self.w_query = nn.Linear(d_query, d_hidden, bias=False)
        self.w_key = nn.Linear(d_key, d_hidden, bias=False)
        self.v = nn.Linear(d_hidden, 1, bias=False)

    def reset_parameters(self) -> None:
        """Draw fresh weights, as torch draws them."""
        for linear in (self.w_query, self.w_key, self.v):
            linear.reset_parameters()

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Average the values by additive scores (Bahdanau et al. 2015, §3.1).

        Args:
            queries: (..., q_len, d_query).
            keys: (..., k_len, d_key).
            values: (..., k_len, d_v).
            mask: boolean, broadcastable to (..., q_len, k_len); True = may attend. A query that may attend to
                nothing gets zeros.

        Returns:
            The output, (..., q_len, d_v), and the weights, (..., q_len, k_len).

        Raises:
            ValueError: if the mask isn't boolean or doesn't fit.
        """
        projected = self.w_query(queries).unsqueeze(-2)  # (..., q_len, 1, d_hidden)
        hidden = torch.tanh(
            projected + self.w_key(keys).unsqueeze(-3)
        )  # (..., q_len, k_len, d_hidden)
        weights = softmax(self.v(hidden).squeeze(-1), mask)  # (..., q_len, k_len)
        return weights @ values, weights
