"""Checks of the exercises of chapter 00, sequence to sequence: call one with your function.

>>> from transformer_course.checks import seq2seq as check
>>> report = check.layers_needed(lambda n, kernel_size, dilated: -(-(n - 1) // (kernel_size - 1)))
layers_needed. Not yet right: the plain count for all layers, and none for one word.
Hint: You don't use `dilated`. Then look at one word alone: how many layers does the task ask for?
>>> report.passed
False
"""

from transformer_course.checks.seq2seq.fitted_exponent import fitted_exponent
from transformer_course.checks.seq2seq.gru_step import gru_step
from transformer_course.checks.seq2seq.layers_needed import layers_needed
from transformer_course.checks.seq2seq.look_back import look_back
from transformer_course.checks.seq2seq.predict import predict
from transformer_course.checks.seq2seq.why_attention import why_attention
from transformer_course.checks.seq2seq.written_states import written_states

EXERCISES = (
    gru_step,
    look_back,
    predict,
    layers_needed,
    written_states,
    fitted_exponent,
    why_attention,
)
