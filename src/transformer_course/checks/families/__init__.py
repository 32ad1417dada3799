"""Checks of the exercises of chapter 11, three families: call one with your function.

>>> import numpy as np
>>> from transformer_course.checks import families as check
>>> report = check.prefix_mask(lambda n_prompt, length: np.tri(length, dtype=bool))
prefix_mask. Not yet right: the prompt is causal, too.
Hint: The future is hidden everywhere. Where do you use n_prompt? What may the prompt see?
>>> report.passed
False
"""

from transformer_course.checks.families.continue_greedily import continue_greedily
from transformer_course.checks.families.decoder_only import decoder_only
from transformer_course.checks.families.hide import hide
from transformer_course.checks.families.patches import patches
from transformer_course.checks.families.pool import pool
from transformer_course.checks.families.predict import predict
from transformer_course.checks.families.prefix_mask import prefix_mask
from transformer_course.checks.families.prompted_loss import prompted_loss

EXERCISES = (
    hide,
    prefix_mask,
    prompted_loss,
    pool,
    patches,
    predict,
    decoder_only,
    continue_greedily,
)
