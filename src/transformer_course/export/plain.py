"""Which translators other programs can take (chapter 14): others are refused, and the part is named."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from transformer_course.encoder_decoder import Transformer
from transformer_course.encoder_decoder.config import LayerConfig
from transformer_course.encoder_decoder.layers import FeedForward, LayerNorm, Residual
from transformer_course.multi_head import MultiHeadAttention
from transformer_course.translator import Model

_EPS = LayerConfig.norm_eps


def plain_transformer(model: Model, program: str) -> Transformer:
    """The model, if it is a Transformer whose parts all have their defaults.

    Sizes, norm before or after, positions that are added to embeddings, biases, tied embeddings and shared key
    heads may be any.

    Args:
        model: a translator's.
        program: where it shall go, for the message.

    Returns:
        The model itself.

    Raises:
        ValueError: if it is of another kind, or a part isn't the default one; the sentence names the part.
    """
    if not isinstance(model, Transformer):
        raise ValueError(
            f"model ({type(model).__name__}) can't go to {program}: only a Transformer that writes word by "
            "word can"
        )
    for name, part in model.named_modules():
        for found in _unusual(part):
            raise ValueError(f"{name} has {found}, which can't go to {program}")
    return model


def _unusual(part: nn.Module) -> Iterator[str]:
    """What of a part isn't the default."""
    if isinstance(part, MultiHeadAttention):
        if part.rotation is not None:
            yield "rotary positions"
        if part.score_bias is not None:
            yield f"relative positions ({type(part.score_bias).__name__})"
        if not all(type(norm) is nn.Identity for norm in (part.query_norm, part.key_norm)):
            yield "norms of queries and keys"
    elif hasattr(part, "feed_forward"):
        if type(part.feed_forward) is not FeedForward:
            yield f"the feed-forward net {type(part.feed_forward).__name__}"
        elif part.feed_forward.activation not in (torch.relu, torch.relu_):
            yield "another activation than ReLU"
    elif isinstance(part, Residual):
        norm: Any = part.norm
        if type(norm) is not LayerNorm or norm.eps != _EPS:
            yield f"the norm {type(norm).__name__} with eps {norm.eps}"
