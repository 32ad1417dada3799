"""Encoder and decoder (chapter 06): the whole Transformer, from token ids to a score for every next token.

`config` has the sizes, `layers` the parts of a stack, `newer` those that came later, `relative` positions as
distances, `model` the stacks and the way through them, `cache` what a search keeps between two steps.
"""

from transformer_course.encoder_decoder.cache import DecoderCache, DecoderState
from transformer_course.encoder_decoder.config import LayerConfig, TransformerConfig
from transformer_course.encoder_decoder.layers import (
    DecoderLayer,
    EncoderLayer,
    FeedForward,
    LayerNorm,
    Residual,
    layer_norm,
    norm_of,
)
from transformer_course.encoder_decoder.model import Transformer
from transformer_course.encoder_decoder.newer import GatedFeedForward, RMSNorm

__all__ = [
    "DecoderCache",
    "DecoderLayer",
    "DecoderState",
    "EncoderLayer",
    "FeedForward",
    "GatedFeedForward",
    "LayerConfig",
    "LayerNorm",
    "RMSNorm",
    "Residual",
    "Transformer",
    "TransformerConfig",
    "layer_norm",
    "norm_of",
]
