"""Self-attention (chapter 02): queries, keys and values are three linear views of the same sequence."""

from torch import Tensor, nn

from transformer_course.attention import scaled_dot_product_attention


class SelfAttention(nn.Module):
    r"""One head of self-attention: $Q = XW^Q,\; K = XW^K,\; V = XW^V$, then eq. 1 of Vaswani et al. 2017.

    Args:
        d_model: width of the input.
        d_k: width of queries and keys.
        d_v: width of values and of the output; `d_k` if left out.
    """

    def __init__(self, d_model: int, d_k: int, d_v: int | None = None) -> None:
        super().__init__()
        self.w_query = nn.Linear(d_model, d_k, bias=False)
        self.w_key = nn.Linear(d_model, d_k, bias=False)
        self.w_value = nn.Linear(d_model, d_k if d_v is None else d_v, bias=False)

    def reset_parameters(self) -> None:
        """Draw fresh weights, as torch draws them."""
        for linear in (self.w_query, self.w_key, self.w_value):
            linear.reset_parameters()

    def forward(
        self, x: Tensor, mask: Tensor | None = None, *, memory: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Let each position of `x` look at all positions of `x`, or of `memory`.

        Args:
            x: (batch, q_len, d_model), where the queries come from.
            mask: boolean, broadcastable to (batch, q_len, k_len); True = may attend. A position that may
                attend to nothing gets zeros.
            memory: (batch, k_len, d_model), where keys and values come from; `x` if left out.
                With a memory this is cross-attention (Vaswani et al. 2017, §3.2.3).

        Returns:
            The output, (batch, q_len, d_v), and the weights, (batch, q_len, k_len).

        Raises:
            ValueError: if the mask isn't boolean or doesn't fit.
        """
        source = x if memory is None else memory
        return scaled_dot_product_attention(
            self.w_query(x), self.w_key(source), self.w_value(source), mask
        )
