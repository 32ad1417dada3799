"""Checks of the exercises of chapter 07, training: call one with your function.

>>> from transformer_course.checks import training as check
>>> report = check.inverse_sqrt_rate(lambda step, d_model, warmup_steps: d_model**-0.5 * step**-0.5)
inverse_sqrt_rate. Not yet right: no warm-up.
Hint: At step 1 your rate is higher than at any other step. Which of the two parts is the smaller one there?
>>> report.passed
False
"""

from transformer_course.checks.training.adam_step import adam_step
from transformer_course.checks.training.find_the_fault import find_the_fault
from transformer_course.checks.training.inverse_sqrt_rate import inverse_sqrt_rate
from transformer_course.checks.training.judge_training import judge_training
from transformer_course.checks.training.merge_places import merge_places
from transformer_course.checks.training.padded_share import padded_share
from transformer_course.checks.training.predict import predict
from transformer_course.checks.training.table_loss import table_loss

EXERCISES = (
    inverse_sqrt_rate,
    predict,
    merge_places,
    padded_share,
    adam_step,
    table_loss,
    find_the_fault,
    judge_training,
)
