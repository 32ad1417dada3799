"""Checks of the exercises of chapter 01, attention: each name is an exercise to be called with your function.

>>> import numpy as np
>>> from transformer_course.checks import attention as check
>>> report = check.softmax(lambda scores, axis: scores / np.sum(scores, axis=axis, keepdims=True))
softmax. Not yet right: divided by the sum, without the exponential.
Hint: A score may be negative or 0, a weight may not. What makes every score positive first?
>>> report.passed
False
"""

from transformer_course.checks.attention.attention_of_heads import attention_of_heads
from transformer_course.checks.attention.kernel_regression import kernel_regression
from transformer_course.checks.attention.measure_scores import measure_scores
from transformer_course.checks.attention.predict import predict
from transformer_course.checks.attention.scaled_dot_product import scaled_dot_product_attention
from transformer_course.checks.attention.similarities import similarities
from transformer_course.checks.attention.softmax import softmax
from transformer_course.checks.attention.why_scale import why_scale

EXERCISES = (
    similarities,
    softmax,
    predict,
    kernel_regression,
    scaled_dot_product_attention,
    attention_of_heads,
    measure_scores,
    why_scale,
)
