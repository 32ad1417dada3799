"""Checks of the exercises of chapter 12, longer contexts: call one with your function.

>>> import numpy as np
>>> from transformer_course.checks import long_context as check
>>> report = check.share_keys(lambda k, n_heads: np.tile(k, (1, n_heads // k.shape[1], 1, 1)))
share_keys. Not yet right: the key heads again and again.
Hint: With 4 heads and 2 key heads:
  head       0 1 2 3
  its keys   0 0 1 1
  in yours   0 1 0 1
You repeat the row of key heads as a whole. The shape is right. Which heads are a group?
>>> report.passed
False
"""

from transformer_course.checks.long_context.add_block import add_block
from transformer_course.checks.long_context.predict import predict
from transformer_course.checks.long_context.relative_shift import relative_shift
from transformer_course.checks.long_context.rotate import rotate
from transformer_course.checks.long_context.row_order import row_order
from transformer_course.checks.long_context.segment_weights import segment_weights
from transformer_course.checks.long_context.share_keys import share_keys
from transformer_course.checks.long_context.window_mask import window_mask

EXERCISES = (
    add_block,
    window_mask,
    relative_shift,
    rotate,
    row_order,
    share_keys,
    predict,
    segment_weights,
)
