"""Encoder and decoder (chapter 06): the whole Transformer, from token ids to a score for every next token."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from typing import Literal, Self, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_course.masking import causal_mask, decoder_mask, padding_mask
from transformer_course.multi_head import KeyValueCache, MultiHeadAttention
from transformer_course.positional_encoding import PositionalEncoding


@dataclass(frozen=True)
class TransformerConfig:
    """Every size and choice of a Transformer. Start from a preset: `tiny`, `narrow`, `small` or `base`.

    Sections (§) are those of Vaswani et al. 2017.

    Args:
        vocab_size: number of token ids, shared by source and target (§5.1).
        d_model: width of the vectors between layers.
        n_heads: attention heads; must divide d_model.
        n_encoder_layers: layers of the encoder, N in the paper.
        n_decoder_layers: layers of the decoder.
        d_ff: width inside the feed-forward net.
        dropout: share of numbers set to zero after each sub-layer and after the embedding (§5.4); at least 0
            and below 1.
        max_len: the longest sequence, in tokens.
        norm: "post", LayerNorm(x + Sublayer(x)) as in the paper (§3.1), or "pre", x + Sublayer(LayerNorm(x))
            with one more norm on top of each stack (Xiong et al. 2020), which trains well with less warm-up.
        positions: "sinusoidal", "learned" or "none" (chapter 05).
        tie_embeddings: one matrix for source embedding, target embedding and output (§3.4; Press and Wolf
            2017).
        pad_id: the id of padding.

    Raises:
        ValueError: naming the field, its value and the rule it breaks.
    """

    vocab_size: int
    d_model: int = 128
    n_heads: int = 4
    n_encoder_layers: int = 2
    n_decoder_layers: int = 2
    d_ff: int = 512
    dropout: float = 0.1
    max_len: int = 512
    norm: Literal["pre", "post"] = "pre"
    positions: Literal["sinusoidal", "learned", "none"] = "sinusoidal"
    tie_embeddings: bool = True
    pad_id: int = 0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.type is int and (not isinstance(value, int) or isinstance(value, bool)):
                raise ValueError(f"{field.name} ({value!r}) must be a whole number")
            if field.type is int and field.name != "pad_id" and value < 1:
                raise ValueError(f"{field.name} ({value}) must be 1 or more")
        if self.d_model % self.n_heads:
            raise ValueError(
                f"d_model ({self.d_model}) must be divisible by n_heads ({self.n_heads})"
            )
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout ({self.dropout}) must be at least 0 and below 1")
        if self.norm not in ("pre", "post"):
            raise ValueError(f"norm ({self.norm!r}) must be 'pre' or 'post'")
        if self.positions not in ("sinusoidal", "learned", "none"):
            raise ValueError(
                f"positions ({self.positions!r}) must be 'sinusoidal', 'learned' or 'none'"
            )
        if not 0 <= self.pad_id < self.vocab_size:
            raise ValueError(
                f"pad_id ({self.pad_id}) must be one of the {self.vocab_size} token ids"
            )

    @classmethod
    def tiny(cls, vocab_size: int) -> "TransformerConfig":
        """Trains in minutes on a laptop's processor: 2+2 layers, d_model 128, pre-norm.

        Args:
            vocab_size: number of token ids.

        Returns:
            The config.

        Raises:
            ValueError: if `vocab_size` is no whole number, or below 1.
        """
        return cls(vocab_size)

    @classmethod
    def narrow(cls, vocab_size: int) -> "TransformerConfig":
        """For a small corpus: 4+4 layers, d_model 128, d_ff 256, pre-norm (the sizes of Wu et al. 2021).

        Args:
            vocab_size: number of token ids.

        Returns:
            The config.

        Raises:
            ValueError: if `vocab_size` is no whole number, or below 1.
        """
        return replace(cls(vocab_size), n_encoder_layers=4, n_decoder_layers=4, d_ff=256)

    @classmethod
    def small(cls, vocab_size: int) -> "TransformerConfig":
        """The size of the speed table: 3+3 layers, d_model 256, pre-norm.

        Args:
            vocab_size: number of token ids.

        Returns:
            The config.

        Raises:
            ValueError: if `vocab_size` is no whole number, or below 1.
        """
        return replace(
            cls(vocab_size), d_model=256, n_encoder_layers=3, n_decoder_layers=3, d_ff=1024
        )

    @classmethod
    def base(cls, vocab_size: int) -> "TransformerConfig":
        """The paper's base model (Vaswani et al. 2017, table 3): 6+6 layers, d_model 512, 8 heads, post-norm.

        Args:
            vocab_size: number of token ids.

        Returns:
            The config.

        Raises:
            ValueError: if `vocab_size` is no whole number, or below 1.
        """
        return cls(vocab_size, 512, 8, 6, 6, 2048, norm="post")


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
    """

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.inner = nn.Linear(d_model, d_ff)
        self.outer = nn.Linear(d_ff, d_model)

    def forward(self, x: Tensor) -> Tensor:
        """Map each vector to a new one of the same width.

        Args:
            x: (..., d_model).

        Returns:
            (..., d_model).
        """
        return self.outer(torch.relu_(self.inner(x)))


class Dropout(nn.Dropout):
    """`torch.nn.Dropout`, drawn faster in mixed precision, where it would take a tenth of a training step.

    From Srivastava et al. 2014. Only in training, a share `p` of the numbers is set to zero, and the others are
    divided by 1 - p; in evaluation the tensor comes back as it is.
    """

    def forward(self, input: Tensor) -> Tensor:
        """Set a share of the numbers to zero.

        Args:
            input: of any shape.

        Returns:
            The shape and type of `input`.
        """
        if not (self.training and self.p and torch.is_autocast_enabled(input.device.type)):
            return super().forward(input)
        # 16 random bits decide on a number; 64 are drawn at once.
        n = input.numel()
        drawn = torch.empty((n + 3) // 4, dtype=torch.int64, device=input.device)
        drawn = drawn.random_(-(2**63), None).view(torch.int16)[:n].view(input.shape)
        kept = (drawn >= round(self.p * 2**16) - 2**15).to(input.dtype)  # 1 or 0
        return input * kept.mul_(1 / (1 - self.p))


class Residual(nn.Module):
    """What surrounds every sub-layer: dropout, the residual connection and layer norm.

    Vaswani et al. 2017, §3.1 and §5.4; the residual connection is from He et al. 2016, dropout from Srivastava
    et al. 2014.

    Args:
        config: gives d_model, dropout, and where the norm stands.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.norm = LayerNorm(config.d_model)
        self.dropout = Dropout(config.dropout)
        self.pre = config.norm == "pre"

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """Add what `sublayer` makes of `x`.

        Args:
            x: (batch, length, d_model).
            sublayer: gives a tensor of the shape of its input, (batch, length, d_model).

        Returns:
            (batch, length, d_model).
        """
        if self.pre:
            return x + self.dropout(sublayer(self.norm(x)))
        return self.norm(x + self.dropout(sublayer(x)))


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward (Vaswani et al. 2017, §3.1).

    Args:
        config: the model's sizes.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(config.d_model, config.n_heads)
        self.feed_forward = FeedForward(config.d_model, config.d_ff)
        self.residuals = nn.ModuleList(Residual(config) for _ in range(2))

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """One layer of the encoder.

        Args:
            x: (batch, src_len, d_model).
            mask: (batch, 1, 1, src_len) or anything that broadcasts to the scores; True = may attend.

        Returns:
            (batch, src_len, d_model).

        Raises:
            ValueError: if `x` hasn't three dimensions, or the mask isn't boolean or doesn't fit.
        """
        x = self.residuals[0](x, lambda y: self.self_attention(y, y, y, mask)[0])
        return self.residuals[1](x, self.feed_forward)


class DecoderLayer(nn.Module):
    """Three sub-layers: masked self-attention, cross-attention, feed-forward (Vaswani et al. 2017, §3.1).

    Args:
        config: the model's sizes.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(config.d_model, config.n_heads)
        self.cross_attention = MultiHeadAttention(config.d_model, config.n_heads)
        self.feed_forward = FeedForward(config.d_model, config.d_ff)
        self.residuals = nn.ModuleList(Residual(config) for _ in range(3))

    def forward(
        self,
        x: Tensor,
        memory: Tensor | None,
        src_mask: Tensor,
        tgt_mask: Tensor | None,
        self_cache: KeyValueCache | None = None,
        cross_cache: KeyValueCache | None = None,
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

        Returns:
            (batch, tgt_len, d_model).

        Raises:
            ValueError: if neither `memory` nor `cross_cache` is given, `x` hasn't three dimensions, `memory`
                hasn't the shape above, `self_cache` is full or of another batch, or a mask isn't boolean or
                doesn't fit.
        """
        x = self.residuals[0](x, lambda y: self.self_attention(y, y, y, tgt_mask, self_cache)[0])
        x = self.residuals[1](
            x, lambda y: self.cross_attention(y, memory, memory, src_mask, cross_cache)[0]
        )
        return self.residuals[2](x, self.feed_forward)


@dataclass
class DecoderCache:
    """What decoding one token after the other needs to keep (chapter 09). Made by `Transformer.start_cache`.

    Args:
        self_attention: one cache a layer, of the target tokens so far.
        cross_attention: one cache a layer, of the memory's keys and values.
        beams: how many rival tokens are kept for each target position; 1 but in beam search.
    """

    self_attention: list[KeyValueCache]
    cross_attention: list[KeyValueCache]
    beams: int = 1

    @property
    def length(self) -> int:
        """Number of target tokens in the cache, rivals counted one by one."""
        return self.self_attention[0].length

    def select(self, rows: Tensor) -> "DecoderCache":
        """The cache of some sentences of the batch.

        Args:
            rows: their indices, (new_batch,), int64.

        Returns:
            A new cache with copies of their keys and values; as long, and with as many beams.
        """
        return DecoderCache(
            [cache.select(rows) for cache in self.self_attention],
            [cache.select(rows) for cache in self.cross_attention],
            self.beams,
        )


class Transformer(nn.Module):
    """The encoder-decoder Transformer (Vaswani et al. 2017, figure 1).

    Args:
        config: every size and choice.

    Raises:
        ValueError: if d_model is odd and the positions are sinusoidal.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        self.src_embedding = nn.Embedding(config.vocab_size, config.d_model)
        self.tgt_embedding = (
            self.src_embedding
            if config.tie_embeddings
            else nn.Embedding(config.vocab_size, config.d_model)
        )
        self.positions = PositionalEncoding(config.max_len, config.d_model, config.positions)
        self.dropout = Dropout(config.dropout)
        self.encoder_layers = nn.ModuleList(
            EncoderLayer(config) for _ in range(config.n_encoder_layers)
        )
        self.decoder_layers = nn.ModuleList(
            DecoderLayer(config) for _ in range(config.n_decoder_layers)
        )
        # Post-norm ends each layer with a norm; pre-norm leaves the last sum as it is, so it gets one here.
        pre = config.norm == "pre"
        self.encoder_norm = LayerNorm(config.d_model) if pre else nn.Identity()
        self.decoder_norm = LayerNorm(config.d_model) if pre else nn.Identity()
        self.output = nn.Linear(config.d_model, config.vocab_size, bias=False)
        if config.tie_embeddings:
            self.output.weight = self.src_embedding.weight
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw fresh weights: Xavier-uniform maps, zero biases, embeddings of variance 1/d_model.

        Xavier-uniform weights are from Glorot and Bengio 2010.
        With embeddings multiplied by √d_model (Vaswani et al. 2017, §3.4) a token's vector then has entries of
        variance 1, of the size of the positions that are added to it.
        """
        for module in self.modules():
            if isinstance(module, nn.Linear) and module is not self.output:
                nn.init.xavier_uniform_(module.weight)
                nn.init.zeros_(module.bias)
        tables = (self.src_embedding.weight, self.tgt_embedding.weight, self.output.weight)
        for weight in dict.fromkeys(tables):  # each once if they are tied, always in this order
            nn.init.normal_(weight, std=self.config.d_model**-0.5)

    def use_fused(self, fused: bool = True) -> Self:
        """Choose between attention written out (the default) and torch's fused kernel, in all layers.

        Both give the same up to rounding; the fused one is faster for long sequences and takes less memory.

        Args:
            fused: True for torch's fused kernel.

        Returns:
            The model itself.
        """
        for module in self.modules():
            if isinstance(module, MultiHeadAttention):
                module.fused = fused
        return self

    def encode(self, src: Tensor, src_mask: Tensor | None = None) -> Tensor:
        """Read the source once.

        Args:
            src: token ids, (batch, src_len).
            src_mask: (batch, 1, 1, src_len); True = may attend. Hides padding if left out.

        Returns:
            The memory, (batch, src_len, d_model).

        Raises:
            ValueError: if ids aren't whole numbers of the shape (batch, length) or are outside the vocabulary,
                the batch is empty, the sequence is longer than max_len, or the mask isn't boolean or doesn't
                fit.
        """
        self._check_ids("src", src)
        src_mask = padding_mask(src, self.config.pad_id) if src_mask is None else src_mask
        _check_mask_shape("src_mask", src_mask, src.shape[0], src.shape[1])
        x = self._embed(self.src_embedding, src)  # (batch, src_len, d_model)
        for layer in self.encoder_layers:
            x = layer(x, src_mask)
        return self.encoder_norm(x)

    def decode(
        self,
        tgt: Tensor,
        memory: Tensor | None,
        src_mask: Tensor,
        tgt_mask: Tensor | None = None,
        cache: DecoderCache | None = None,
    ) -> Tensor:
        """Read the target so far and the memory.

        Args:
            tgt: token ids, (batch, tgt_len); with a cache only the tokens that are new.
            memory: what `encode` returned, (batch, src_len, d_model). A cache holds its keys and values, so
                with one it isn't read again, and may be None.
            src_mask: (batch, 1, 1, src_len); True = may attend.
            tgt_mask: (batch, 1, tgt_len, k_len); True = may attend; k_len counts cached tokens too. If left
                out: causal, and without a cache padding is hidden as well.
            cache: from `start_cache`; it grows by tgt_len (chapter 09).

        Returns:
            Decoder states, (batch, tgt_len, d_model); `logits` turns them into scores.

        Raises:
            ValueError: if ids aren't whole numbers of the shape (batch, length) or are outside the vocabulary,
                the batch is empty, the sequence is longer than max_len, the cache is full, neither memory nor
                cache is given, a cache with beams gets no `tgt_mask`, a mask isn't boolean or doesn't fit, the
                memory is of another batch or width, or the cache is of another batch.
        """
        self._check_ids("tgt", tgt)
        _check_memory(tgt, memory, src_mask, cache)
        start, beams = (cache.length, cache.beams) if cache else (0, 1)
        x = self._embed(self.tgt_embedding, tgt, start // beams, beams)  # (batch, tgt_len, d_model)
        if tgt_mask is None:
            tgt_mask = self._default_tgt_mask(tgt, cache)
        if tgt_mask is not None:
            _check_mask_shape(
                "tgt_mask", tgt_mask, len(tgt), (cache.length if cache else 0) + tgt.shape[1]
            )
        for i, layer in enumerate(self.decoder_layers):
            if cache is None:
                x = layer(x, memory, src_mask, tgt_mask)
            else:
                caches = cache.self_attention[i], cache.cross_attention[i]
                x = layer(x, None, src_mask, tgt_mask, *caches)
        return self.decoder_norm(x)

    def logits(self, states: Tensor) -> Tensor:
        """Score every token of the vocabulary (Vaswani et al. 2017, §3.4).

        Args:
            states: what `decode` returned, (..., d_model).

        Returns:
            Logits, (..., vocab_size); softmax makes probabilities of them.
        """
        return self.output(states)

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
    ) -> Tensor:
        """Scores for each next token, all positions at once, as in training.

        Args:
            src: token ids, (batch, src_len).
            tgt: token ids, (batch, tgt_len), starting with <s> (the target shifted right).
            src_mask: (batch, 1, 1, src_len); True = may attend. Hides padding if left out.
            tgt_mask: (batch, 1, tgt_len, tgt_len); True = may attend; causal and padding if left out.

        Returns:
            Logits, (batch, tgt_len, vocab_size).

        Raises:
            ValueError: as `encode` and `decode` do.
        """
        src_mask = padding_mask(src, self.config.pad_id) if src_mask is None else src_mask
        return self.logits(self.decode(tgt, self.encode(src, src_mask), src_mask, tgt_mask))

    def start_cache(
        self, memory: Tensor, src_mask: Tensor, max_len: int, beams: int = 1
    ) -> DecoderCache:
        """An empty cache for decoding, with the memory's keys and values computed once (chapter 09).

        Args:
            memory: what `encode` returned, (batch, src_len, d_model).
            src_mask: (batch, 1, 1, src_len); True = may attend; checked against the memory.
            max_len: most target positions that will be decoded.
            beams: rival tokens for each target position, see `decoding.beam_search`.

        Returns:
            The cache; the caller owns it and passes it to `decode`.

        Raises:
            ValueError: if `max_len` is below 1 or beyond the model's, `beams` is below 1, or the mask doesn't
                fit the memory.
        """
        if not 1 <= max_len <= self.config.max_len:
            raise ValueError(
                f"max_len ({max_len}) must be 1 or more and at most the model's max_len "
                f"({self.config.max_len})"
            )
        if beams < 1:
            raise ValueError(f"beams ({beams}) must be 1 or more")
        _check_mask_shape("src_mask", src_mask, memory.shape[0], memory.shape[1])
        own, cross = [], []
        for layer in cast("Iterable[DecoderLayer]", self.decoder_layers):
            own.append(layer.self_attention.start_cache(memory.shape[0], max_len * beams))
            keys, values = layer.cross_attention.project_memory(memory)
            # In one piece each: else every step's matrix products would copy them again.
            cross.append(KeyValueCache(keys.contiguous(), values.contiguous(), memory.shape[1]))
        return DecoderCache(own, cross, beams)

    def _embed(self, table: nn.Embedding, ids: Tensor, start: int = 0, step: int = 1) -> Tensor:
        x = table(ids) * math.sqrt(self.config.d_model)  # (batch, length, d_model)
        return self.dropout(self.positions(x, start, step))

    def _default_tgt_mask(self, tgt: Tensor, cache: DecoderCache | None) -> Tensor | None:
        if cache is None:
            return decoder_mask(tgt, self.config.pad_id)
        if cache.beams > 1:
            raise ValueError(
                f"tgt_mask must be given for a cache with beams ({cache.beams}) above 1"
            )
        if tgt.shape[1] == 1:
            return None  # one new token sees all earlier ones
        total = cache.length + tgt.shape[1]
        return causal_mask(total, tgt.device)[:, :, cache.length :]  # (1, 1, tgt_len, total)

    def _check_ids(self, name: str, ids: Tensor) -> None:
        if ids.dim() != 2 or ids.numel() == 0:
            raise ValueError(
                f"{name} must hold at least one token, shape (batch, length), got {tuple(ids.shape)}"
            )
        if ids.dtype not in (torch.int64, torch.int32):
            raise ValueError(f"{name} must hold whole numbers (int64 or int32), got {ids.dtype}")
        low, high = (int(x) for x in torch.aminmax(ids))
        if low < 0 or high >= self.config.vocab_size:
            wrong = low if low < 0 else high
            raise ValueError(
                f"{name} has the id {wrong}, which is outside the vocabulary of "
                f"{self.config.vocab_size} ids"
            )


def _check_mask_shape(name: str, mask: Tensor, batch: int, k_len: int) -> None:
    # Broadcasting would let (batch, k_len) pass for (q_len, k_len) where the sizes happen to agree.
    if mask.dim() != 4 or mask.shape[0] not in (1, batch) or mask.shape[3] != k_len:
        raise ValueError(
            f"{name} of shape {tuple(mask.shape)} must have the four dimensions (batch, heads, q_len, "
            f"k_len), with batch 1 or {batch} and k_len {k_len}"
        )


def _check_memory(
    tgt: Tensor, memory: Tensor | None, src_mask: Tensor, cache: DecoderCache | None
) -> None:
    if cache is not None:
        keys, name = cache.cross_attention[0].keys, "cache"  # (batch, heads, src_len, d_k)
    elif memory is not None:
        keys, name = memory, "memory"  # (batch, src_len, d_model)
    else:
        raise ValueError("memory must be given where there is no cache")
    if tgt.shape[0] != keys.shape[0]:
        raise ValueError(f"tgt has a batch of {tgt.shape[0]}, the {name} one of {keys.shape[0]}")
    _check_mask_shape("src_mask", src_mask, keys.shape[0], keys.shape[-2])
