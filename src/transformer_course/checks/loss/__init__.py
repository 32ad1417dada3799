"""Checks of the exercises of chapter 08, the loss: call one with your function.

>>> from transformer_course.checks import loss as check
>>> report = check.calibration_error(lambda sure, is_right, n_bins: abs(sure.mean() - is_right.mean()))
calibration_error. Not yet right: one bin for everything.
Hint: Too sure here and too unsure there must not cancel. What are the bins for?
>>> report.passed
False
"""

from transformer_course.checks.loss.batch_perplexity import batch_perplexity
from transformer_course.checks.loss.calibration_error import calibration_error
from transformer_course.checks.loss.cross_entropy import cross_entropy
from transformer_course.checks.loss.judge_loss import judge_loss
from transformer_course.checks.loss.log_softmax import log_softmax
from transformer_course.checks.loss.loss_gradient import loss_gradient
from transformer_course.checks.loss.predict import predict
from transformer_course.checks.loss.smoothed_targets import smoothed_targets

EXERCISES = (
    log_softmax,
    predict,
    smoothed_targets,
    cross_entropy,
    loss_gradient,
    batch_perplexity,
    calibration_error,
    judge_loss,
)
