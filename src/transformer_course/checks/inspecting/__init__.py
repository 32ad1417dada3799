"""Checks of the exercises of chapter 10, looking inside: call one with your function.

>>> from transformer_course.checks import inspecting as check
>>> report = check.head_links(lambda weights: weights[1:, :-1].argmax(-1))
head_links. Not yet right: the row of the step that reads the word.
Hint: Row 0 read <s>. Which word did the model predict there?
>>> report.passed
False
"""

from transformer_course.checks.inspecting.attention_rollout import attention_rollout
from transformer_course.checks.inspecting.error_rate import error_rate
from transformer_course.checks.inspecting.head_links import head_links
from transformer_course.checks.inspecting.judge_inspecting import judge_inspecting
from transformer_course.checks.inspecting.rank_agreement import rank_agreement
from transformer_course.checks.inspecting.share_of_the_way import share_of_the_way
from transformer_course.checks.inspecting.what_followed import what_followed

EXERCISES = (
    head_links,
    error_rate,
    share_of_the_way,
    attention_rollout,
    rank_agreement,
    what_followed,
    judge_inspecting,
)
