"""Text cut into segments, with a memory of those before (chapter 12), as in Transformer-XL."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import torch
from torch import Tensor

from transformer_course.masking import causal_mask
from transformer_course.validation import check_ids

if TYPE_CHECKING:
    from transformer_course.encoder_decoder import EncoderLayer, Residual
    from transformer_course.families import DecoderOnly


def layer_with_past(
    layer: "EncoderLayer", x: Tensor, past: Tensor, mask: Tensor | None = None
) -> Tensor:
    """A layer whose tokens see what stood before them, too (Dai et al. 2019, §3.2).

    Positions are counted from the first token of the past.

    Args:
        layer: of any kind of positions that are distances.
        x: (batch, length, d_model).
        past: what this layer read for the tokens before those of `x`, (batch, past_len, d_model).
        mask: broadcastable to (batch, heads, length, past_len + length); True = may attend.

    Returns:
        (batch, length, d_model).

    Raises:
        ValueError: if `past` hasn't the shape above, or the mask isn't boolean or doesn't fit.
    """
    if past.dim() != 3 or past.shape[::2] != x.shape[::2]:
        raise ValueError(
            f"past of shape {tuple(past.shape)} must have the shape (batch, past_len, d_model), with batch "
            f"and d_model of x, {tuple(x.shape)}"
        )
    first, second = cast("list[Residual]", layer.residuals)
    places = torch.arange(past.shape[1] + x.shape[1], device=x.device)
    both = first.before(torch.cat([past, x], 1))  # (batch, past_len + length, d_model)
    cache = layer.self_attention.cache_memory(both, places)
    now = both[:, past.shape[1] :]
    y, _ = layer.self_attention(now, None, mask, cache, places[past.shape[1] :])
    return cast("Tensor", second(first.after(x, y), layer.feed_forward))


def read_segment(
    model: "DecoderOnly", ids: Tensor, pasts: Sequence[Tensor], memory: int
) -> tuple[Tensor, list[Tensor]]:
    """Read one segment, with what each layer remembers of the segments before it (Dai et al. 2019, §3.2).

    The memory is what each layer *read* for the last tokens, without gradient: keys and values are made of it
    by the weights of today. Each token sees the whole past and, of its own segment, itself and what is before
    it. So the last token of a segment sees more than the first one.

    Args:
        model: a decoder whose positions are distances: `positions="none"`, and in its layers `relative` or
            `rotary_base`, or nothing.
        ids: the tokens of the segment, (batch, length), without padding. They may be more than the model's
            max_len.
        pasts: for each layer what it read for the tokens before, (batch, past_len, d_model); before the first
            segment past_len is 0.
        memory: how many tokens are to be remembered for the next segment, 0 or more.

    Returns:
        Logits, (batch, length, vocab_size), and the pasts for the next segment, of `memory` tokens, or fewer as
        long as there aren't more.

    Raises:
        ValueError: if the model adds positions at the bottom, `memory` is below 0, there isn't one past a
            layer, ids aren't whole numbers of the shape above or are outside the vocabulary, or as
            `EncoderLayer` does.
    """
    if model.config.positions != "none":
        raise ValueError(
            f"positions ({model.config.positions!r}) must be 'none': a memory needs distances"
        )
    if memory < 0:
        raise ValueError(f"memory ({memory}) must be 0 or more")
    if len(pasts) != model.config.n_layers:
        raise ValueError(
            f"pasts ({len(pasts)}) must be one for each of {model.config.n_layers} layers"
        )
    check_ids("ids", ids, model.config.vocab_size)
    past_len = pasts[0].shape[1]
    mask = causal_mask(past_len + ids.shape[1], ids.device)[:, :, past_len:]
    x = model.dropout(model.embedding(ids) * model.config.embedding_scale)
    kept = []
    for layer, past in zip(cast("Sequence[EncoderLayer]", model.stack.layers), pasts, strict=True):
        read, x = x.detach(), layer_with_past(layer, x, past, mask)
        both = torch.cat([past, read], 1)
        kept.append(both[:, max(0, both.shape[1] - memory) :])
    return cast("Tensor", model.output(model.stack.norm(x))), kept


def read_in_segments(
    model: "DecoderOnly",
    ids: Tensor,
    length: int,
    memory: int = 0,
) -> Tensor:
    """Read a long text segment by segment (Dai et al. 2019, §3.2).

    With a memory of at least the whole text the logits are those of one pass. The gradients aren't: none flows
    from a segment into those before. With a memory as long as a segment, a token of an n-layer model can know
    of n · memory tokens before its segment, and of no others.

    Args:
        model: as in `read_segment`.
        ids: (batch, n), whole numbers, without padding.
        length: tokens of a segment, 1 or more; the last one may be shorter.
        memory: how many tokens before a segment it sees; 0 = none.

    Returns:
        Logits, (batch, n, vocab_size).

    Raises:
        ValueError: if `length` is below 1, or as `read_segment` does.
    """
    if length < 1:
        raise ValueError(f"length ({length}) must be 1 or more")
    check_ids("ids", ids, model.config.vocab_size)
    empty = model.embedding.weight.new_zeros(len(ids), 0, model.config.d_model)
    pasts = [empty] * model.config.n_layers
    found = []
    for segment in torch.split(ids, length, 1):
        logits, pasts = read_segment(model, segment, pasts, memory)
        found.append(logits)
    return torch.cat(found, 1)
