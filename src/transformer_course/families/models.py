"""Encoder only, decoder only, images (chapter 11): three models from one stack of encoder layers."""

from collections.abc import Sequence
from typing import Literal, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_course.encoder_decoder import (
    EncoderLayer,
    LayerConfig,
    LayerNorm,
    RMSNorm,
    norm_of,
)
from transformer_course.families.config import DecoderConfig, EncoderConfig, VisionConfig
from transformer_course.families.prompts import PromptState
from transformer_course.masking import causal_mask, decoder_mask, padding_mask
from transformer_course.multi_head import KeyValueCache, MultiHeadAttention
from transformer_course.positional_encoding import PositionalEncoding
from transformer_course.validation import check_ids


class Stack(nn.Module):
    """Encoder layers one on top of the other: all that the three families have in common.

    Pre-norm leaves the last sum as it is, so it gets one more norm on top (chapter 06).

    Args:
        config: what each layer needs to know.
        n_layers: how many there are.
    """

    def __init__(self, config: LayerConfig, n_layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(n_layers))
        self.norm = norm_of(config) if config.norm == "pre" else nn.Identity()

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        caches: Sequence[KeyValueCache] | None = None,
        positions: Tensor | None = None,
    ) -> Tensor:
        """Pass through all layers.

        Args:
            x: (batch, length, d_model).
            mask: broadcastable to (batch, heads, length, k_len); True = may attend; None = everything may be
                seen. With caches, k_len counts what they hold, too.
            caches: one a layer, of earlier positions (chapter 09).
            positions: where the positions of `x` stand, (length,) or (batch, length).

        Returns:
            (batch, length, d_model).

        Raises:
            ValueError: as `EncoderLayer` does.
        """
        for i, layer in enumerate(self.layers):
            x = layer(x, mask, caches[i] if caches else None, positions)
        return self.norm(x)

    def start_caches(self, batch: int, capacity: int) -> list[KeyValueCache]:
        """Empty caches, one a layer.

        Args:
            batch: number of rows.
            capacity: the most positions each should hold.

        Returns:
            The caches.
        """
        layers = cast("list[EncoderLayer]", self.layers)
        return [layer.self_attention.start_cache(batch, capacity) for layer in layers]


class EncoderOnly(nn.Module):
    """A masked language model: every token sees all others, and some are guessed (BERT; Devlin et al. 2019).

    With post-norm it is BERT's: a norm after the embedding, and a head of one more layer before the output,
    whose matrix is the embedding's. BERT's second sentence (segments) and its pooler are left out.

    Args:
        config: every size and choice.
    """

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)
        self.positions = PositionalEncoding(config.max_len, config.d_model, config.positions)
        self.embedding_norm = (
            norm_of(config.layer) if config.layer.norm == "post" else nn.Identity()
        )
        self.dropout = nn.Dropout(config.dropout)
        self.stack = Stack(config.layer, config.n_layers)
        self.head = nn.Linear(config.d_model, config.d_model)
        self.head_norm = norm_of(config.layer)
        self.output_bias = nn.Parameter(torch.zeros(config.vocab_size))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw fresh weights, see `fresh_weights`."""
        fresh_weights(self)
        nn.init.zeros_(self.output_bias)

    def states(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """What the model makes of each token.

        Args:
            ids: token ids, (batch, length).
            mask: broadcastable to (batch, heads, length, length); True = may attend. Hides padding if left out.

        Returns:
            (batch, length, d_model).

        Raises:
            ValueError: if ids aren't whole numbers of the shape above or are outside the vocabulary, the
                sequence is longer than max_len, or the mask isn't boolean or doesn't fit.
        """
        check_ids("ids", ids, self.config.vocab_size)
        mask = padding_mask(ids, self.config.pad_id) if mask is None else mask
        x = self.embedding(ids) * self.config.embedding_scale
        x = self.embedding_norm(self.positions(x))  # (batch, length, d_model)
        return self.stack(self.dropout(x), mask)

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Scores for the token that stands, or stood, at each place.

        Args:
            ids: token ids, (batch, length).
            mask: as in `states`; True = may attend.

        Returns:
            Logits, (batch, length, vocab_size).

        Raises:
            ValueError: as `states` does.
        """
        x = self.head_norm(F.gelu(self.head(self.states(ids, mask))))
        return x @ self.embedding.weight.T + self.output_bias


class DecoderOnly(nn.Module):
    """A language model: every token sees those before it, and the next one is guessed (Radford et al. 2019).

    Its layers are encoder layers; the causal mask makes a decoder of them. It offers `start` and `step`, so
    the searches of chapter 09 write with it: what they call `src` is the prompt.

    Args:
        config: every size and choice.

    Attributes:
        reads_prompts: a search may leave its own start symbol out, `bos_id` = -1.
    """

    reads_prompts = True

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)
        self.positions = PositionalEncoding(config.max_len, config.d_model, config.positions)
        self.dropout = nn.Dropout(config.dropout)
        self.stack = Stack(config.layer, config.n_layers)
        self.output = nn.Linear(config.d_model, config.vocab_size, bias=False)
        if config.tie_embeddings:
            self.output.weight = self.embedding.weight
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw fresh weights, see `fresh_weights`."""
        fresh_weights(self)

    def states(
        self,
        ids: Tensor,
        mask: Tensor | None = None,
        caches: Sequence[KeyValueCache] | None = None,
        positions: Tensor | None = None,
    ) -> Tensor:
        """What the model makes of each token.

        Args:
            ids: token ids, (batch, length); with caches only the new ones.
            mask: broadcastable to (batch, heads, length, k_len); True = may attend. Hides what follows if left
                out, and without caches padding, too.
            caches: from `Stack.start_caches`; they grow by `length` (chapter 09).
            positions: where the tokens stand, (length,) or (batch, length); if left out, one after the other,
                after those in the caches.

        Returns:
            (batch, length, d_model).

        Raises:
            ValueError: if ids aren't whole numbers of the shape above or are outside the vocabulary, a
                position is beyond max_len, a cache is full, or the mask isn't boolean or doesn't fit.
        """
        check_ids("ids", ids, self.config.vocab_size)
        before = caches[0].length if caches else 0
        end = before + ids.shape[1]
        if mask is None and caches:
            mask = causal_mask(end, ids.device)[:, :, before:]  # (1, 1, length, k_len)
        mask = decoder_mask(ids, self.config.pad_id) if mask is None else mask
        if positions is None and before:
            positions = torch.arange(before, end, device=ids.device)
        x = self.embedding(ids) * self.config.embedding_scale
        x = self.positions(x, positions)  # (batch, length, d_model)
        return self.stack(self.dropout(x), mask, caches, positions)

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Scores for the token after each token.

        Args:
            ids: token ids, (batch, length).
            mask: as in `states`; True = may attend.

        Returns:
            Logits, (batch, length, vocab_size).

        Raises:
            ValueError: as `states` does.
        """
        return self.output(self.states(ids, mask))

    def start(self, src: Tensor, max_len: int, beams: int = 1) -> PromptState:
        """Read the prompt, and set out on a search (chapter 09).

        Args:
            src: the prompts, (batch, length), padded on the right. Each ends with the token after which the
                model is to write; the start symbol of the search itself isn't read.
            max_len: most tokens that will be written.
            beams: beginnings that are kept open for each row.

        Returns:
            The state after the prompt, for `step`.

        Raises:
            ValueError: if `beams` is below 1, prompt and continuation together are longer than the model's
                max_len, a prompt is empty or padded elsewhere than on the right, or as `states` does.
        """
        if beams < 1:
            raise ValueError(f"beams ({beams}) must be 1 or more")
        total, limit = src.shape[-1] + max_len - 1, self.config.max_len  # the last one isn't read
        if total > limit:
            raise ValueError(
                f"max_len ({max_len}) and a prompt of {src.shape[-1]} tokens need {total} positions; the model "
                f"has {limit}"
            )
        check_ids("src", src, self.config.vocab_size)
        real = src != self.config.pad_id  # (batch, length)
        if not bool(real[:, 0].all()) or bool((real[:, 1:] > real[:, :-1]).any()):
            raise ValueError("src must hold at least one token a row, padding on the right only")
        caches = self.stack.start_caches(src.shape[0], src.shape[1] + max_len * beams)
        states, lengths = self.states(src, None, caches), real.sum(-1)
        last = states[torch.arange(len(src), device=src.device), lengths - 1]  # (batch, d_model)
        visible = real[:, None].expand(-1, beams, -1)
        return PromptState(caches, visible, lengths, self.output(last))

    def step(self, tokens: Tensor, state: PromptState) -> Tensor:
        """Read the newest token of each beam, and score the next one (chapter 09).

        Args:
            tokens: ids, (batch, beams); the first ones, which a search makes up, are not read.
            state: from `start`; it is carried on by one token a beam.

        Returns:
            Logits, (batch, beams, vocab_size).

        Raises:
            ValueError: as `states` does.
        """
        if state.pending is not None:
            pending, state.pending = state.pending, None
            return pending[:, None].repeat(1, tokens.shape[1], 1)
        places, mask = state.grow()
        return self.output(self.states(tokens, mask, state.caches, places))


Pooling = Literal["first", "mean", "last"]


def pool(states: Tensor, real: Tensor, pooling: Pooling) -> Tensor:
    """One vector for a whole sequence.

    Args:
        states: (batch, length, d_model).
        real: (batch, length), boolean; False for padding, which stands on the right.
        pooling: "first" takes the first token's vector ([CLS] in BERT), "last" the last one's, "mean" the
            mean of all.

    Returns:
        (batch, d_model).

    Raises:
        ValueError: if `pooling` is unknown.

    >>> states, real = torch.tensor([[[1.0], [3.0], [9.0]]]), torch.tensor([[True, True, False]])
    >>> [pool(states, real, how).item() for how in ("first", "mean", "last")]
    [1.0, 2.0, 3.0]
    """
    lengths = real.sum(-1)
    if pooling == "first":
        return states[:, 0]
    if pooling == "last":
        return states[torch.arange(len(states), device=states.device), lengths - 1]
    if pooling == "mean":
        return (states * real[..., None]).sum(1) / lengths[:, None]
    raise ValueError(f"pooling ({pooling!r}) must be 'first', 'mean' or 'last'")


class Classifier(nn.Module):
    """A body that was trained before, or not, and one new linear map on top: what fine-tuning starts from.

    Args:
        body: whose states are read.
        n_classes: kinds of sequences.
        pooling: which vector stands for the sequence, see `pool`.
    """

    def __init__(
        self, body: EncoderOnly | DecoderOnly, n_classes: int, pooling: Pooling = "mean"
    ) -> None:
        super().__init__()
        self.config, self.body, self.pooling = body.config, body, pooling
        self.dropout = nn.Dropout(body.config.dropout)
        self.output = nn.Linear(body.config.d_model, n_classes)

    def forward(self, ids: Tensor) -> Tensor:
        """Scores for each kind.

        Args:
            ids: token ids, (batch, length).

        Returns:
            Logits, (batch, n_classes).

        Raises:
            ValueError: as `states` of the body does, or if the pooling is unknown.
        """
        states = self.body.states(ids)  # (batch, length, d_model)
        pooled = pool(states, ids != self.config.pad_id, self.pooling)
        return self.output(self.dropout(pooled))


class VisionTransformer(nn.Module):
    """An image cut into patches, which are read as if they were words (Dosovitskiy et al. 2021).

    A learned token stands before the patches, and its last state is classified.

    Args:
        config: every size and choice.
    """

    def __init__(self, config: VisionConfig) -> None:
        super().__init__()
        self.config = config
        numbers = config.channels * config.patch_size**2
        self.patch_embedding = nn.Linear(numbers, config.d_model)
        self.first = nn.Parameter(torch.zeros(1, 1, config.d_model))
        self.positions = PositionalEncoding(config.max_len, config.d_model, config.positions)
        self.dropout = nn.Dropout(config.dropout)
        self.stack = Stack(config.layer, config.n_layers)
        self.output = nn.Linear(config.d_model, config.n_classes)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw fresh weights, see `fresh_weights`."""
        fresh_weights(self)
        nn.init.normal_(self.first, std=self.config.d_model**-0.5)

    def patches(self, images: Tensor) -> Tensor:
        """Cut each image into patches, row by row.

        Args:
            images: (batch, channels, image_size, image_size).

        Returns:
            (batch, n_patches, channels · patch_size²).

        Raises:
            ValueError: if the images have another shape.
        """
        c = self.config
        if images.dim() != 4 or images.shape[1:] != (c.channels, c.image_size, c.image_size):
            raise ValueError(
                f"images of shape {tuple(images.shape)} must have the shape (batch, {c.channels}, "
                f"{c.image_size}, {c.image_size})"
            )
        return F.unfold(images, c.patch_size, stride=c.patch_size).transpose(1, 2)

    def states(self, images: Tensor) -> Tensor:
        """What the model makes of the first token and of each patch.

        Args:
            images: (batch, channels, image_size, image_size).

        Returns:
            (batch, 1 + n_patches, d_model).

        Raises:
            ValueError: as `patches` does.
        """
        x = self.patch_embedding(self.patches(images))  # (batch, n_patches, d_model)
        x = torch.cat([self.first.expand(len(x), -1, -1), x], 1)
        return self.stack(self.dropout(self.positions(x)))

    def forward(self, images: Tensor) -> Tensor:
        """Scores for each class.

        Args:
            images: (batch, channels, image_size, image_size).

        Returns:
            Logits, (batch, n_classes).

        Raises:
            ValueError: as `patches` does.
        """
        return self.output(self.states(images)[:, 0])


def fresh_weights(model: nn.Module) -> None:
    """Draw all weights anew: Xavier-uniform maps (Glorot and Bengio 2010), embeddings of variance 1/d_model.

    Args:
        model: one of the families, changed in place.
    """
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
    for module in model.modules():  # afterwards: an output may share the embedding's matrix
        if isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=module.embedding_dim**-0.5)
        elif isinstance(module, LayerNorm | RMSNorm | PositionalEncoding):
            module.reset_parameters()
        elif isinstance(module, MultiHeadAttention):
            module.reset_score_bias()
