"""Checks of the exercises of chapter 04, multi-head attention: call one with your function.

>>> from transformer_course.checks import multi_head as check
>>> report = check.merge_heads(lambda heads: heads.sum(axis=1))
merge_heads. Not yet right: heads added.
Hint: Adding comes later, inside the product with the output matrix. Here no number is lost.
>>> report.passed
False
"""

from transformer_course.checks.multi_head.head_distances import head_distances
from transformer_course.checks.multi_head.head_parts import head_parts
from transformer_course.checks.multi_head.heads_in_parallel import heads_in_parallel
from transformer_course.checks.multi_head.merge_heads import merge_heads
from transformer_course.checks.multi_head.multi_head_attention import multi_head_attention
from transformer_course.checks.multi_head.predict import predict
from transformer_course.checks.multi_head.split_heads import split_heads
from transformer_course.checks.multi_head.why_heads import why_heads

EXERCISES = (
    split_heads,
    merge_heads,
    predict,
    multi_head_attention,
    head_parts,
    heads_in_parallel,
    head_distances,
    why_heads,
)
