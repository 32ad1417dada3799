"""What the explore cell of chapter 00 prints: sliders move the gates of the learner's own GRU."""

from collections.abc import Callable
from typing import Any

import numpy as np

from transformer_course.checks.comparing import loose_parts
from transformer_course.checks.running import SECONDS, run

BAR = 30  # characters for a state of 1
STEPS = 8


def memory_table(step: Callable[..., Any], keep: float = 2.0, noise: float = 0.0) -> None:
    """Print what is left of a first word while a GRU of width 1 reads on.

    Args:
        step: the learner's `gru_step`.
        keep: the update gate's score for every word after the first one; its sigmoid is what stays.
        noise: the size of the words that follow; every second one is negative.

    >>> from transformer_course.checks.seq2seq.gru_step import reference
    >>> memory_table(reference, keep=0)
    word 1: state 0.96 #############################
    word 2: state 0.48 ##############
    word 3: state 0.24 #######
    word 4: state 0.12 ####
    word 5: state 0.06 ##
    word 6: state 0.03 #
    word 7: state 0.02
    word 8: state 0.01
    """
    h = np.array([0.0])
    lines = []
    for number in range(1, STEPS + 1):
        first = number == 1  # the update gate closes for it: everything is new
        size = 1.0 if first else noise * (-1) ** number
        w = np.array([[0.0, 0.0], [0.0, -20.0 if first else keep], [2.0, 0.0]])
        outcome = run(step, (np.array([size, 1.0]), h, w, np.zeros((3, 1))), SECONDS)
        parts = None if outcome.trouble else loose_parts(outcome.value, 1)
        if parts is None or parts[0].shape != (1,):
            print("The sliders come to life when gru_step passes its check.")
            return
        h = np.asarray(parts[0], dtype=float)
        bar = ("#" if h[0] >= 0 else "-") * round(BAR * abs(float(h[0])))
        lines.append(f"word {number}: state {h[0]:.2f} {bar}".rstrip())
    print("\n".join(lines))
