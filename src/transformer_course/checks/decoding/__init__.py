"""Checks of the exercises of chapter 09, decoding: call one with your function.

>>> from transformer_course.checks import decoding as check
>>> report = check.length_penalty(lambda length, alpha: ((5 + length) / 6) * alpha)
length_penalty. Not yet right: alpha as a factor.
Hint: With alpha = 0 there should be no penalty: dividing by it must change nothing. What does yours do?
>>> report.passed
False
"""

from transformer_course.checks.decoding.beam_step import beam_step
from transformer_course.checks.decoding.best_by_trying import best_by_trying
from transformer_course.checks.decoding.best_of_beam import best_of_beam
from transformer_course.checks.decoding.judge_decoding import judge_decoding
from transformer_course.checks.decoding.length_penalty import length_penalty
from transformer_course.checks.decoding.next_token_distribution import next_token_distribution
from transformer_course.checks.decoding.predict import predict

# Moved to chapter 15; a notebook of chapter 09 from before still calls it here.
from transformer_course.checks.multi30k.bleu import bleu as bleu

EXERCISES = (
    predict,
    length_penalty,
    next_token_distribution,
    beam_step,
    best_of_beam,
    best_by_trying,
    judge_decoding,
)
