"""Checks of the exercises of chapter 14, scaling out: call one with your function.

>>> from transformer_course.checks import scaling as check
>>> report = check.batch_gradient(lambda gradients, counts: gradients.mean(0))
batch_gradient. Not yet right: the mean of means.
Hint: For two processes, one weight:
  gradients = [[2.],
               [6.]]
  counts = [3., 1.]
  expected  3
  yours     4
Each process weighs the same in your function, however many tokens it had. What should weigh the same?
>>> report.passed
False
"""

from transformer_course.checks.scaling.batch_gradient import batch_gradient
from transformer_course.checks.scaling.feed_forward_part import feed_forward_part
from transformer_course.checks.scaling.part_of_epoch import part_of_epoch
from transformer_course.checks.scaling.predict import predict
from transformer_course.checks.scaling.predicted_loss import predicted_loss
from transformer_course.checks.scaling.ring_state import ring_state
from transformer_course.checks.scaling.scaled_update import scaled_update

EXERCISES = (
    batch_gradient,
    ring_state,
    predict,
    feed_forward_part,
    part_of_epoch,
    scaled_update,
    predicted_loss,
)
