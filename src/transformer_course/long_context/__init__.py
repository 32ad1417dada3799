"""Longer contexts (chapter 12): positions as distances, memory, windows, attention in linear memory."""

from transformer_course.long_context.memory import read_in_segments, read_segment
from transformer_course.long_context.patterns import global_mask, local_mask, reach, strided_mask
from transformer_course.long_context.relative import (
    AlibiBias,
    ShawPositions,
    T5Bias,
    TransformerXLPositions,
    alibi_slopes,
    relative_positions,
    relative_shift,
    t5_buckets,
)

__all__ = [
    "AlibiBias",
    "ShawPositions",
    "T5Bias",
    "TransformerXLPositions",
    "alibi_slopes",
    "global_mask",
    "local_mask",
    "reach",
    "read_in_segments",
    "read_segment",
    "relative_positions",
    "relative_shift",
    "strided_mask",
    "t5_buckets",
]
