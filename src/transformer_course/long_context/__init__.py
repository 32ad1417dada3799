"""Longer contexts (chapter 12): positions as distances, memory, windows, attention in linear memory."""

from transformer_course.encoder_decoder.relative import (
    AlibiBias,
    ShawPositions,
    T5Bias,
    TransformerXLPositions,
    alibi_slopes,
    relative_positions,
    relative_shift,
    t5_buckets,
)
from transformer_course.long_context.costs import ContextCost, context_cost
from transformer_course.long_context.local import local_attention, strided_attention
from transformer_course.long_context.memory import layer_with_past, read_in_segments, read_segment
from transformer_course.long_context.patterns import global_mask, local_mask, reach, strided_mask
from transformer_course.long_context.running import (
    attend_block_by_block,
    running_softmax,
    running_softmax_attention,
)

__all__ = [
    "AlibiBias",
    "ContextCost",
    "ShawPositions",
    "T5Bias",
    "TransformerXLPositions",
    "alibi_slopes",
    "attend_block_by_block",
    "context_cost",
    "global_mask",
    "layer_with_past",
    "local_attention",
    "local_mask",
    "reach",
    "read_in_segments",
    "read_segment",
    "relative_positions",
    "relative_shift",
    "running_softmax",
    "running_softmax_attention",
    "strided_attention",
    "strided_mask",
    "t5_buckets",
]
