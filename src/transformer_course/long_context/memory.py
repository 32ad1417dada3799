"""Text cut into segments, with a memory of those before (chapter 12; Transformer-XL, Dai et al. 2019, §3.2)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import torch
from torch import Tensor

from transformer_course.masking import causal_mask

if TYPE_CHECKING:
    from transformer_course.encoder_decoder import EncoderLayer
    from transformer_course.families import DecoderOnly


def read_segment(
    model: "DecoderOnly", ids: Tensor, pasts: Sequence[Tensor], memory: int
) -> tuple[Tensor, list[Tensor]]:
    """Read one segment, with what each layer remembers of the segments before it.

    The memory is what each layer *read* for the last tokens, without gradient: keys and values are made of it
    by the weights of today.

    Args:
        model: a decoder whose positions are distances: `positions="none"`, and in its layers `relative` or
            `rotary_base`, or nothing.
        ids: the tokens of the segment, (batch, length).
        pasts: for each layer what it read for the tokens before, (batch, past_len, d_model).
        memory: how many tokens are to be remembered, 0 or more.

    Returns:
        Logits, (batch, length, vocab_size), and the pasts for the next segment.

    Raises:
        ValueError: if the model adds positions at the bottom, or `memory` is below 0.
    """
    if model.config.positions != "none":
        raise ValueError(
            f"positions ({model.config.positions!r}) must be 'none': a memory needs distances"
        )
    if memory < 0:
        raise ValueError(f"memory ({memory}) must be 0 or more")
    past_len = pasts[0].shape[1]
    mask = causal_mask(past_len + ids.shape[1], ids.device)[:, :, past_len:]
    x = model.dropout(model.embedding(ids) * model.config.embedding_scale)
    kept = []
    for layer, past in zip(cast("Sequence[EncoderLayer]", model.stack.layers), pasts, strict=True):
        both = torch.cat([past, x.detach()], 1)
        kept.append(both[:, max(0, both.shape[1] - memory) :])
        x = layer(x, mask, past=past)
    return cast("Tensor", model.output(model.stack.norm(x))), kept


def read_in_segments(
    model: "DecoderOnly",
    ids: Tensor,
    length: int,
    memory: int = 0,
) -> Tensor:
    """Read a long text segment by segment.

    With a memory of at least the whole text the logits are those of one pass. The gradients aren't: none flows
    from a segment into those before.

    Args:
        model: as in `read_segment`.
        ids: (batch, n), whole numbers.
        length: tokens of a segment, 1 or more; the last one may be shorter.
        memory: how many tokens before a segment it sees; 0 = none.

    Returns:
        Logits, (batch, n, vocab_size).

    Raises:
        ValueError: if `length` is below 1, or as `read_segment` does.
    """
    if length < 1:
        raise ValueError(f"length ({length}) must be 1 or more")
    empty = model.embedding.weight.new_zeros(len(ids), 0, model.config.d_model)
    pasts = [empty] * model.config.n_layers
    found = []
    for segment in ids.split(length, 1):
        logits, pasts = read_segment(model, segment, pasts, memory)
        found.append(logits)
    return torch.cat(found, 1)
