"""Checks of the exercises of chapter 03, masking: each name is an exercise to be called with your function.

>>> import numpy as np
>>> from transformer_course.checks import masking as check
>>> report = check.causal_weights(lambda scores: np.triu(scores))
causal_weights. Not yet right. `weights[0, 0]`: expected 1, got 0.5.
The smallest case that fails (one token):
  scores = [[0.5]]
"""

from transformer_course.checks.masking.causal_weights import causal_weights
from transformer_course.checks.masking.decoder_mask import decoder_mask
from transformer_course.checks.masking.influence import influence
from transformer_course.checks.masking.judge_statements import judge_statements
from transformer_course.checks.masking.largest_errors import largest_errors
from transformer_course.checks.masking.predict import predict
from transformer_course.checks.masking.scaled_dot_product import scaled_dot_product_attention

EXERCISES = (
    decoder_mask,
    scaled_dot_product_attention,
    predict,
    causal_weights,
    largest_errors,
    influence,
    judge_statements,
)
