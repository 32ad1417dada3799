"""Checks of the exercises of chapter 05, positional encoding: call one with your function.

>>> from transformer_course.checks import positional_encoding as check
>>> report = check.closest(lambda table: 0.0)
closest. Not yet right: each row compared with itself.
Hint: Two *different* rows are meant. Which of your distances don't count?
>>> report.passed
False
"""

from transformer_course.checks.positional_encoding.add_positions import add_positions
from transformer_course.checks.positional_encoding.closest import closest
from transformer_course.checks.positional_encoding.move import move
from transformer_course.checks.positional_encoding.position_table import position_table
from transformer_course.checks.positional_encoding.predict import predict
from transformer_course.checks.positional_encoding.score_terms import score_terms
from transformer_course.checks.positional_encoding.sinusoidal_encoding import sinusoidal_encoding
from transformer_course.checks.positional_encoding.why_positions import why_positions

EXERCISES = (
    sinusoidal_encoding,
    predict,
    position_table,
    add_positions,
    move,
    score_terms,
    closest,
    why_positions,
)
