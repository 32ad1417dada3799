"""The layers of encoder and decoder (chapter 06): norm, feed-forward net, residual connections."""

from collections.abc import Callable
from functools import partial
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_course.encoder_decoder.config import LayerConfig
from transformer_course.encoder_decoder.newer import GatedFeedForward, RMSNorm
from transformer_course.encoder_decoder.relative import relative_positions
from transformer_course.multi_head import KeyValueCache, MultiHeadAttention, reset_linear
from transformer_course.positional_encoding import RotaryEncoding

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": torch.relu,
    "gelu": F.gelu,
    "gelu_tanh": partial(F.gelu, approximate="tanh"),
}


def layer_norm(x: Tensor, gain: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    r"""Give each token's vector mean 0 and variance 1, then a learned gain and bias (Ba et al. 2016).

    $y = g \odot (x - \mu) / \sqrt{\sigma^2 + \epsilon} + b$, mean and (biased) variance taken over the
    features of one token. `LayerNorm` computes the same in one call.

    Args:
        x: (..., d_model).
        gain: (d_model,).
        bias: (d_model,).
        eps: keeps the root away from 0.

    Returns:
        (..., d_model).

    >>> layer_norm(torch.tensor([1.0, 3.0]), torch.ones(2), torch.zeros(2))
    tensor([-1.0000,  1.0000])
    """
    mean = x.mean(-1, keepdim=True)
    variance = x.var(-1, keepdim=True, unbiased=False)
    return gain * (x - mean) / (variance + eps).sqrt() + bias


class LayerNorm(nn.Module):
    """`layer_norm` (Ba et al. 2016) with its learned gain and bias, computed by torch's own kernel.

    Args:
        d_model: width of the vectors.
        eps: keeps the root away from 0.
    """

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.eps = eps

    def reset_parameters(self) -> None:
        """Go back to a gain of 1 and a bias of 0."""
        nn.init.ones_(self.gain)
        nn.init.zeros_(self.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Normalise each vector.

        Args:
            x: (..., d_model).

        Returns:
            (..., d_model).
        """
        return F.layer_norm(x, self.gain.shape, self.gain, self.bias, self.eps)


class FeedForward(nn.Module):
    r"""The position-wise net: $\max(0, xW_1 + b_1)W_2 + b_2$ (§3.3, eq. 2), each position by itself.

    Section and equation are those of Vaswani et al. 2017.

    Args:
        d_model: width of input and output.
        d_ff: width in between.
        bias: whether the two maps have biases.
        activation: what stands between the two maps; ReLU if left out.
    """

    activation: Callable[[Tensor], Tensor]

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        bias: bool = True,
        activation: Callable[[Tensor], Tensor] = torch.relu,
    ) -> None:
        super().__init__()
        self.inner = nn.Linear(d_model, d_ff, bias)
        self.outer = nn.Linear(d_ff, d_model, bias)
        self.activation = activation

    def reset_parameters(self) -> None:
        """Draw fresh weights: Xavier-uniform maps (Glorot and Bengio 2010), zero biases."""
        reset_linear(self.inner)
        reset_linear(self.outer)

    def forward(self, x: Tensor) -> Tensor:
        """Map each vector to a new one of the same width.

        Args:
            x: (..., d_model).

        Returns:
            (..., d_model).
        """
        return self.outer(self.activation(self.inner(x)))


class Residual(nn.Module):
    """What surrounds every sub-layer: dropout, the residual connection and layer norm.

    Vaswani et al. 2017, §3.1 and §5.4; the residual connection is from He et al. 2016, dropout from Srivastava
    et al. 2014.

    Args:
        config: gives d_model, dropout, and where the norm stands.
    """

    def __init__(self, config: LayerConfig) -> None:
        super().__init__()
        self.norm = norm_of(config)
        self.dropout = nn.Dropout(config.dropout)
        self.pre = config.norm == "pre"

    def before(self, x: Tensor) -> Tensor:
        """What the sub-layer reads: `x`, with pre-norm normalised.

        Args:
            x: (batch, length, d_model).

        Returns:
            (batch, length, d_model).
        """
        return self.norm(x) if self.pre else x

    def after(self, x: Tensor, y: Tensor) -> Tensor:
        """What goes on to the next sub-layer: the sum, with post-norm normalised.

        Args:
            x: what came in, (batch, length, d_model).
            y: what the sub-layer made of it, (batch, length, d_model).

        Returns:
            (batch, length, d_model).
        """
        x = x + self.dropout(y)
        return x if self.pre else self.norm(x)

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """Add what `sublayer` makes of `x`: before, the sub-layer, after.

        Args:
            x: (batch, length, d_model).
            sublayer: gives a tensor of the shape of its input, (batch, length, d_model).

        Returns:
            (batch, length, d_model).
        """
        return self.after(x, sublayer(self.before(x)))


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward (Vaswani et al. 2017, §3.1).

    With a causal mask and a cache it is the layer of a model that has a decoder only (chapter 11).

    Args:
        config: the layer's sizes and choices.
    """

    def __init__(self, config: LayerConfig) -> None:
        super().__init__()
        self.self_attention = _self_attention(config)
        self.feed_forward = _feed_forward(config)
        self.residuals = nn.ModuleList(Residual(config) for _ in range(2))

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        cache: KeyValueCache | None = None,
        positions: Tensor | None = None,
    ) -> Tensor:
        """One layer of the encoder.

        Args:
            x: (batch, length, d_model).
            mask: anything that broadcasts to the scores, (batch, heads, length, k_len); True = may attend.
                None = everything may be seen.
            cache: keys and values of earlier positions, to which those of `x` are appended (chapter 09).
            positions: where the positions of `x` stand, (length,), see `MultiHeadAttention`.

        Returns:
            (batch, length, d_model).

        Raises:
            ValueError: if `x` hasn't three dimensions, the mask isn't boolean or doesn't fit, or the cache
                is full or of another batch.
        """
        first, second = cast("list[Residual]", self.residuals)
        y, _ = self.self_attention(first.before(x), None, mask, cache, positions)
        x = first.after(x, y)
        return second(x, self.feed_forward)


class DecoderLayer(nn.Module):
    """Three sub-layers: masked self-attention, cross-attention, feed-forward (Vaswani et al. 2017, §3.1).

    Args:
        config: the layer's sizes and choices.
    """

    def __init__(self, config: LayerConfig) -> None:
        super().__init__()
        self.self_attention = _self_attention(config)
        self.cross_attention = _attention(config)
        self.feed_forward = _feed_forward(config)
        self.residuals = nn.ModuleList(Residual(config) for _ in range(3))

    def forward(
        self,
        x: Tensor,
        memory: Tensor | None,
        src_mask: Tensor | None,
        tgt_mask: Tensor | None = None,
        self_cache: KeyValueCache | None = None,
        cross_cache: KeyValueCache | None = None,
        positions: Tensor | None = None,
    ) -> Tensor:
        """One layer of the decoder.

        Args:
            x: (batch, tgt_len, d_model).
            memory: the encoder's output, (batch, src_len, d_model); None where `cross_cache` stands for it.
            src_mask: (batch, 1, 1, src_len); True = may attend.
            tgt_mask: broadcastable to (batch, heads, tgt_len, k_len); True = may attend; None = everything may
                be seen.
            self_cache: keys and values of earlier positions (chapter 09).
            cross_cache: keys and values of the memory, computed once (chapter 09).
            positions: where the positions of `x` stand, (tgt_len,), see `MultiHeadAttention`.

        Returns:
            (batch, tgt_len, d_model).

        Raises:
            ValueError: if neither `memory` nor `cross_cache` is given, `x` hasn't three dimensions, `memory`
                hasn't the shape above, `self_cache` is full or of another batch, or a mask isn't boolean or
                doesn't fit.
        """
        if memory is None and cross_cache is None:
            raise ValueError("memory must be given where there is no cache")
        first, second, third = cast("list[Residual]", self.residuals)
        y, _ = self.self_attention(first.before(x), None, tgt_mask, self_cache, positions)
        x = first.after(x, y)
        y, _ = self.cross_attention(second.before(x), memory, src_mask, cross_cache)
        x = second.after(x, y)
        return third(x, self.feed_forward)


def norm_of(config: LayerConfig) -> LayerNorm | RMSNorm:
    """The norm that a config asks for.

    Args:
        config: gives its kind, width and eps.

    Returns:
        A fresh norm.
    """
    kind = RMSNorm if config.norm_kind == "rms" else LayerNorm
    return kind(config.d_model, config.norm_eps)


def _feed_forward(config: LayerConfig) -> FeedForward | GatedFeedForward:
    if config.activation == "swiglu":
        return GatedFeedForward(config.d_model, config.d_ff, config.bias)
    activation = ACTIVATIONS[config.activation]
    return FeedForward(config.d_model, config.d_ff, config.bias, activation)


def _attention(config: LayerConfig, rotation: RotaryEncoding | None = None) -> MultiHeadAttention:
    attention = MultiHeadAttention(
        config.d_model, config.n_heads, config.bias, config.n_key_heads, rotation
    )
    if config.qk_norm:
        d_k = config.d_model // config.n_heads
        attention.query_norm, attention.key_norm = (RMSNorm(d_k, config.norm_eps) for _ in range(2))
    return attention


def _self_attention(config: LayerConfig) -> MultiHeadAttention:
    """Attention within one sequence, where distances have a meaning: the only one that is rotated."""
    base = config.rotary_base
    attention = _attention(config, None if base is None else RotaryEncoding(base))
    if config.relative is not None:
        d_k = config.d_model // config.n_heads
        attention.score_bias = relative_positions(config.relative, config.n_heads, d_k)
    return attention
