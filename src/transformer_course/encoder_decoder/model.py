"""The whole Transformer (chapter 06): from token ids to a score for every next token."""

import math
from collections.abc import Iterable
from typing import cast

import torch
from torch import Tensor, nn

from transformer_course.encoder_decoder.cache import DecoderCache, DecoderState
from transformer_course.encoder_decoder.config import TransformerConfig
from transformer_course.encoder_decoder.layers import (
    DecoderLayer,
    EncoderLayer,
    FeedForward,
    LayerNorm,
)
from transformer_course.masking import causal_mask, decoder_mask, padding_mask
from transformer_course.multi_head import MultiHeadAttention
from transformer_course.positional_encoding import PositionalEncoding
from transformer_course.validation import check_ids


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
        self.dropout = nn.Dropout(config.dropout)
        self.encoder_layers = nn.ModuleList(
            EncoderLayer(config.layer) for _ in range(config.n_encoder_layers)
        )
        self.decoder_layers = nn.ModuleList(
            DecoderLayer(config.layer) for _ in range(config.n_decoder_layers)
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
            if isinstance(module, MultiHeadAttention | FeedForward | LayerNorm):
                module.reset_parameters()
        tables = (self.src_embedding.weight, self.tgt_embedding.weight, self.output.weight)
        for weight in dict.fromkeys(tables):  # each once if they are tied, always in this order
            nn.init.normal_(weight, std=self.config.d_model**-0.5)
        self.positions.reset_parameters()

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
        check_ids("src", src, self.config.vocab_size)
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
        positions: Tensor | None = None,
    ) -> Tensor:
        """Read the target so far and the memory.

        Args:
            tgt: token ids, (batch, tgt_len); with a cache only the tokens that are new.
            memory: what `encode` returned, (batch, src_len, d_model). A cache holds its keys and values, so
                with one it isn't read again, and may be None.
            src_mask: (batch, 1, 1, src_len); True = may attend.
            tgt_mask: (batch, 1, tgt_len, k_len); True = may attend; k_len counts cached tokens too. If left
                out: causal, and without a cache padding is hidden as well, but for the first token, which is
                always read: targets are padded on the right.
            cache: from `start_cache`; it grows by tgt_len (chapter 09).
            positions: where the tokens stand, (tgt_len,), int64; if left out, one after the other, after
                those in the cache.

        Returns:
            Decoder states, (batch, tgt_len, d_model); `logits` turns them into scores.

        Raises:
            ValueError: if ids aren't whole numbers of the shape (batch, length) or are outside the vocabulary,
                the batch is empty, the sequence is longer than max_len, the cache is full, neither memory nor
                cache is given, a mask isn't boolean or doesn't fit, the memory is of another batch or width, or
                the cache is of another batch.
        """
        check_ids("tgt", tgt, self.config.vocab_size)
        _check_memory(tgt, memory, src_mask, cache)
        before = cache.length if cache is not None else 0
        if positions is None and before:
            positions = torch.arange(before, before + tgt.shape[1], device=tgt.device)
        x = self._embed(self.tgt_embedding, tgt, positions)  # (batch, tgt_len, d_model)
        if tgt_mask is None:
            tgt_mask = self._default_tgt_mask(tgt, cache)
        if tgt_mask is not None:
            _check_mask_shape("tgt_mask", tgt_mask, tgt.shape[0], before + tgt.shape[1])
        for i, layer in enumerate(self.decoder_layers):
            if cache is None:
                x = layer(x, memory, src_mask, tgt_mask, positions=positions)
            else:
                caches = cache.self_attention[i], cache.cross_attention[i]
                x = layer(x, None, src_mask, tgt_mask, *caches, positions)
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
            beams: rival tokens for each target position: so many times `max_len` fit in.

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
        layers = cast("Iterable[DecoderLayer]", self.decoder_layers)
        return DecoderCache(
            [
                layer.self_attention.start_cache(memory.shape[0], max_len * beams)
                for layer in layers
            ],
            [layer.cross_attention.cache_memory(memory) for layer in layers],
        )

    def start(self, src: Tensor, max_len: int, beams: int = 1) -> DecoderState:
        """Read the source, and set out on a search (chapter 09).

        Args:
            src: token ids, (batch, src_len).
            max_len: most target tokens that will be read.
            beams: beginnings that are kept open for each sentence.

        Returns:
            The state before the first target token, for `step`.

        Raises:
            ValueError: as `encode` and `start_cache` do.
        """
        src_mask = padding_mask(src, self.config.pad_id)
        cache = self.start_cache(self.encode(src, src_mask), src_mask, max_len, beams)
        nothing = torch.zeros(src.shape[0], beams, 0, dtype=torch.bool, device=src.device)
        return DecoderState(cache, src_mask, nothing)

    def step(self, tokens: Tensor, state: DecoderState) -> Tensor:
        """Read the newest token of each beam, and score the next one (chapter 09).

        Args:
            tokens: ids, (batch, beams).
            state: from `start`; it is carried on by one token a beam.

        Returns:
            Logits, (batch, beams, vocab_size).

        Raises:
            ValueError: as `decode` does.
        """
        batch, beams = tokens.shape
        mask = None
        if beams > 1:  # a single beam sees all that is there
            itself = torch.eye(beams, dtype=torch.bool, device=tokens.device)
            state.ancestry = torch.cat([state.ancestry, itself.expand(batch, -1, -1)], -1)
            mask = state.ancestry[:, None]
        place = torch.full((beams,), state.length, device=tokens.device)
        state.length += 1
        return self.logits(self.decode(tokens, None, state.src_mask, mask, state.cache, place))

    def _embed(self, table: nn.Embedding, ids: Tensor, positions: Tensor | None = None) -> Tensor:
        x = table(ids) * math.sqrt(self.config.d_model)  # (batch, length, d_model)
        return self.dropout(self.positions(x, positions))

    def _default_tgt_mask(self, tgt: Tensor, cache: DecoderCache | None) -> Tensor | None:
        if cache is None:
            mask = decoder_mask(tgt, self.config.pad_id)
            mask[..., 0] = (
                True  # nothing starts with padding; but MarianMT starts with the id of padding
            )
            return mask
        if tgt.shape[1] == 1:
            return None  # one new token sees all earlier ones
        total = cache.length + tgt.shape[1]
        return causal_mask(total, tgt.device)[:, :, cache.length :]  # (1, 1, tgt_len, total)


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
