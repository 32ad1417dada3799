"""The smallest model that copies what followed before: two layers of attention, no more (chapter 10)."""

from typing import Literal

import torch
from torch import Tensor, nn

from transformer_course.masking import causal_mask
from transformer_course.multi_head import MultiHeadAttention
from transformer_course.positional_encoding import PositionalEncoding


class AttentionOnly(nn.Module):
    """Layers of causal self-attention with residual connections; no feed-forward nets, no norms.

    Elhage et al. 2021 study such models; Olsson et al. 2022 find the induction heads that they learn in large
    models too.

    Args:
        vocab_size: number of token ids.
        d_model: width.
        n_heads: heads of each layer.
        n_layers: number of layers, 1 or more.
        max_len: longest sequence.
        positions: "sinusoidal", "learned" or "none".

    Raises:
        ValueError: as `MultiHeadAttention` and `PositionalEncoding` do.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        n_heads: int,
        n_layers: int,
        max_len: int,
        positions: Literal["sinusoidal", "learned", "none"] = "sinusoidal",
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.positions = PositionalEncoding(max_len, d_model, positions)
        self.layers = nn.ModuleList(MultiHeadAttention(d_model, n_heads) for _ in range(n_layers))
        self.output = nn.Linear(d_model, vocab_size)

    def forward(self, tokens: Tensor) -> Tensor:
        """Score each next token.

        Args:
            tokens: ids, (batch, length).

        Returns:
            Logits, (batch, length, vocab_size).
        """
        x = self.positions(self.embedding(tokens))  # (batch, length, d_model)
        mask = causal_mask(tokens.shape[1], tokens.device)
        for layer in self.layers:
            y, _ = layer(x, mask=mask)
            x = x + y
        return self.output(x)


def repeated(
    n: int, length: int, vocab_size: int, periods: tuple[int, int], generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Random sequences that repeat themselves.

    Args:
        n: number of sequences.
        length: tokens of each.
        vocab_size: number of token ids.
        periods: after how many tokens a sequence begins again, at least and at most; drawn for each.
        generator: where the dice come from.

    Returns:
        The sequences, (n, length), int64, and their periods, (n,). Within a period no token comes twice, so
        what follows is always clear.

    Raises:
        ValueError: if a period is below 2, or above the length or the number of ids.

    >>> tokens, periods = repeated(1, 7, 50, (3, 3), torch.Generator().manual_seed(0))
    >>> bool((tokens[0, :4] == tokens[0, 3:]).all())
    True
    """
    shortest, longest = periods
    if not 2 <= shortest <= longest <= min(length, vocab_size):
        raise ValueError(
            f"periods ({periods}) must be 2 or more, in order, and at most the length ({length}) and the "
            f"number of ids ({vocab_size})"
        )
    chosen = torch.randint(shortest, longest + 1, (n,), generator=generator)
    first = torch.rand(n, vocab_size, generator=generator).argsort(-1)  # each id once
    places = torch.arange(length)[None] % chosen[:, None]  # (n, length)
    return first.gather(1, places), chosen


@torch.no_grad()
def copy_accuracy(model: nn.Module, tokens: Tensor, periods: Tensor) -> float:
    """The share of tokens foretold right, among those that have been seen with what followed.

    Args:
        model: gives logits, (batch, length, vocab_size).
        tokens: (batch, length).
        periods: (batch,).

    Returns:
        0 to 1; NaN if nothing has been seen before.
    """
    right = model(tokens[:, :-1]).argmax(-1) == tokens[:, 1:]
    known = torch.arange(tokens.shape[1] - 1, device=tokens.device) >= periods[:, None]
    return float(right[known].float().mean())
