"""Convolutional sequence to sequence (chapter 00): convolutions read and write."""

import math

import torch
from torch import Tensor, nn

from transformer_course.attention import scaled_dot_product_attention
from transformer_course.seq2seq.common import Seq2Seq, Seq2SeqCache, Seq2SeqConfig
from transformer_course.validation import check_ids


class GatedConvolution(nn.Module):
    """A convolution over tokens with a gated linear unit, and a residual connection around it.

    After Gehring et al. 2017, §3.2; here layer norm stands before the convolution.

    Args:
        d_model: width of input and output.
        kernel_size: tokens that it sees.
        causal: whether it sees the tokens before a position only, itself included, or as many on both sides.
    """

    def __init__(self, d_model: int, kernel_size: int, causal: bool) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.convolution = nn.Conv1d(d_model, 2 * d_model, kernel_size)
        self.reach, self.causal = kernel_size - 1, causal

    def forward(
        self, x: Tensor, before: Tensor | None = None, hidden: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """One layer.

        Args:
            x: (batch, length, d_model).
            before: for a causal layer what the call before returned beside its output, (batch,
                kernel_size - 1, d_model); zeros if left out.
            hidden: (batch, length, 1); True = padding, which counts as zeros, as all that is
                beyond the ends does.

        Returns:
            The output, (batch, length, d_model), and the last kernel_size - 1 inputs after layer norm, (batch,
            kernel_size - 1, d_model), for the next call.
        """
        y = self.norm(x) if hidden is None else self.norm(x).masked_fill(hidden, 0.0)
        nothing = y.new_zeros(len(y), self.reach, y.shape[-1])
        if self.causal:
            y = torch.cat([nothing if before is None else before, y], 1)
        else:
            half = self.reach // 2
            y = torch.cat(
                [nothing[:, :half], y, nothing[:, half:]], 1
            )  # (batch, length + reach, d)
        gated = nn.functional.glu(
            self.convolution(y.transpose(1, 2)), 1
        )  # (batch, d_model, length)
        return x + gated.transpose(1, 2), y[:, y.shape[1] - self.reach :]


class ConvolutionalSeq2Seq(Seq2Seq):
    """Convolutions read and write; each layer of the decoder looks at the memory (after Gehring et al. 2017).

    Departures: layer norm instead of weight norm, attention by scaled dot products, and no position embedding,
    for a convolution knows which of its inputs stands left of which.

    Args:
        config: every size and choice; `attention` must be True.

    Raises:
        ValueError: if `config.attention` is False.
    """

    def __init__(self, config: Seq2SeqConfig) -> None:
        super().__init__(config)
        if not config.attention:
            raise ValueError("attention (False) must be True: the convolutional model needs it")
        d, k, n_layers = config.d_model, config.kernel_size, config.n_layers
        self.encoder = nn.ModuleList(GatedConvolution(d, k, causal=False) for _ in range(n_layers))
        self.decoder = nn.ModuleList(GatedConvolution(d, k, causal=True) for _ in range(n_layers))
        self.queries = nn.ModuleList(nn.Linear(d, d) for _ in range(n_layers))
        self.mix = nn.ModuleList(nn.Linear(d, d) for _ in range(n_layers))
        self.norms = nn.ModuleList(nn.LayerNorm(d) for _ in range(2))

    def encode(self, src: Tensor, src_mask: Tensor | None = None) -> Tensor:
        """Read all of the source at once; each layer widens what a word sees by kernel_size - 1.

        Args:
            src: token ids, (batch, src_len).
            src_mask: (batch, 1, 1, src_len); True = may attend. Hides padding if left out.

        Returns:
            The memory, (batch, src_len, d_model).

        Raises:
            ValueError: if ids haven't the shape (batch, length) or are outside the vocabulary, or the batch is
                empty.
        """
        check_ids("src", src, self.config.vocab_size, self.config.max_len)
        mask = self._source_mask(src) if src_mask is None else src_mask
        hidden = ~mask[:, 0, 0, :, None]  # (batch, src_len, 1)
        x = self.dropout(self.embedding(src) * math.sqrt(self.config.d_model))
        for layer in self.encoder:
            x = layer(x, hidden=hidden)[0]
        return self.norms[0](x)

    def _first_states(self, memory: Tensor) -> list[Tensor]:
        reach = self.config.kernel_size - 1
        return [memory.new_zeros(len(memory), reach, memory.shape[-1]) for _ in self.decoder]

    def _decoded(
        self, x: Tensor, memory: Tensor, mask: Tensor, cache: Seq2SeqCache
    ) -> tuple[Tensor, Tensor | None]:
        weights = None
        parts = zip(self.decoder, self.queries, self.mix, strict=True)
        for i, (layer, query, mix) in enumerate(parts):
            x, cache.states[i] = layer(x, cache.states[i])
            found, weights = scaled_dot_product_attention(query(x), memory, memory, mask)
            x = x + mix(found)
        return self.dropout(self.norms[1](x)), weights
