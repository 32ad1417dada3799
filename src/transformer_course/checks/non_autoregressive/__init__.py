"""Checks of the exercises of chapter 13, non-autoregressive translation: call one with your function.

>>> from transformer_course.checks import non_autoregressive as check
>>> report = check.copied_positions(lambda fertilities: fertilities.cumsum(1))
copied_positions. Not yet right: where each token's copies end.
Hint: For each word once:
  fertilities = [[1, 1, 1]]
  expected  0 1 2
  yours     1 2 3
A running sum is a good beginning: it says where the copies of each token end. Which token covers each place?
>>> report.passed
False
"""

from transformer_course.checks.non_autoregressive.copied_positions import copied_positions
from transformer_course.checks.non_autoregressive.em_step import em_step
from transformer_course.checks.non_autoregressive.length_candidates import length_candidates
from transformer_course.checks.non_autoregressive.mask_again import mask_again
from transformer_course.checks.non_autoregressive.one_pass import one_pass
from transformer_course.checks.non_autoregressive.predict import predict
from transformer_course.checks.non_autoregressive.translation_entropy import translation_entropy

EXERCISES = (
    em_step,
    translation_entropy,
    copied_positions,
    length_candidates,
    mask_again,
    predict,
    one_pass,
)
