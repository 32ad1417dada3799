"""Checks of the exercises of chapter 02, self-attention: each name is an exercise; call it with your function.

>>> from transformer_course.checks import self_attention as check
>>> report = check.shuffled(lambda output, weights, order: (output, weights))
shuffled. Not yet right: nothing changes.
Hint: Each result belongs to its word. When the word moves, where does its result go?
"""

from transformer_course.checks.self_attention.batch import self_attention_of_batch
from transformer_course.checks.self_attention.cross_attention import cross_attention
from transformer_course.checks.self_attention.own_score import own_score
from transformer_course.checks.self_attention.predict_sizes import predict_sizes
from transformer_course.checks.self_attention.self_attention import self_attention
from transformer_course.checks.self_attention.shuffled import shuffled
from transformer_course.checks.self_attention.six_steps import six_steps
from transformer_course.checks.self_attention.true_or_false import true_or_false

EXERCISES = (
    six_steps,
    self_attention,
    predict_sizes,
    cross_attention,
    shuffled,
    self_attention_of_batch,
    own_score,
    true_or_false,
)
