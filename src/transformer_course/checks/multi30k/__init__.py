"""Checks of the exercises of chapter 15, a real benchmark: call one with your function.

>>> from transformer_course.checks import multi30k as check
>>> report = check.word_precision(lambda found, total: (found / total).mean())
word_precision. Not yet right: the mean of the sentences' own precisions.
Hint: A sentence of two words counts as much as one of twenty here. What does the whole corpus count?
>>> report.passed
False
"""

from transformer_course.checks.multi30k.average_weights import average_weights
from transformer_course.checks.multi30k.bleu import bleu
from transformer_course.checks.multi30k.choose_and_report import choose_and_report
from transformer_course.checks.multi30k.interval import interval
from transformer_course.checks.multi30k.judge_benchmark import judge_benchmark
from transformer_course.checks.multi30k.redrawn_precisions import redrawn_precisions
from transformer_course.checks.multi30k.share_of_wins import share_of_wins
from transformer_course.checks.multi30k.word_precision import word_precision

EXERCISES = (
    word_precision,
    bleu,
    redrawn_precisions,
    interval,
    share_of_wins,
    choose_and_report,
    average_weights,
    judge_benchmark,
)
