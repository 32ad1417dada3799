"""What the explore cell of chapter 08 prints: sliders move the learner's own cross-entropy."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from transformer_course.checks.comparing import loose_parts
from transformer_course.checks.running import SECONDS, run
from transformer_course.loss import smoothing_floor

WORDS = 6
BAR = 10  # characters for a loss of 1


def lead_table(loss: Callable[..., Any], lead: float = 4.0, smoothing: float = 0.1) -> None:
    """Print the learner's loss for some leads of the right logit over the other five.

    Args:
        loss: the learner's cross-entropy.
        lead: the lead in the middle of the table.
        smoothing: ε.

    >>> from transformer_course.checks.loss.cross_entropy import reference
    >>> lead_table(reference, 4.0, 0.1)
    lead  2.0: loss 0.683 #######
    lead  3.0: loss 0.473 #####
    lead  4.0: loss 0.421 ####
    lead  5.0: loss 0.450 ####
    lead  6.0: loss 0.512 #####
    the lowest possible: 0.421
    """
    lines = []
    for number in lead + np.arange(-2.0, 3.0):
        logits = np.zeros((1, 1, WORDS))
        logits[0, 0, 3] = number
        outcome = run(loss, (logits, np.array([[3]]), 0, smoothing), SECONDS)
        if outcome.trouble:  # perhaps written with torch
            arguments = (torch.tensor(logits), torch.tensor([[3]]), 0, smoothing)
            outcome = run(loss, arguments, SECONDS)
        value = None if outcome.trouble else outcome.value
        parts = loose_parts((np.asarray(value),), 1) if value is not None else None
        if parts is None or parts[0].size != 1:
            print("The sliders come to life when cross_entropy passes its check.")
            return
        paid = float(parts[0].reshape(()))
        lines.append(f"lead {number:4.1f}: loss {paid:.3f} {'#' * round(BAR * paid)}".rstrip())
    print(*lines, sep="\n")
    print(f"the lowest possible: {smoothing_floor(WORDS, smoothing):.3f}")
