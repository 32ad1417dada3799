"""What the explore cell of chapter 09 prints: sliders move the learner's own distribution of the next token."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from transformer_course.checks.comparing import loose_parts
from transformer_course.checks.running import SECONDS, run

WORDS = ("le", "la", "un", "une", "mon", "ce")
PROBS = np.array([0.4, 0.24, 0.16, 0.1, 0.06, 0.04])
BAR = 40  # characters for a probability of 1


def token_table(
    distribution: Callable[..., Any],
    temperature: float = 1.0,
    top_k: int = 6,
    top_p: float = 1.0,
) -> None:
    """Print the learner's distribution over six tokens, and how many tokens it is worth.

    Args:
        distribution: the learner's next_token_distribution.
        temperature: divides the logits.
        top_k: tokens that are kept at most.
        top_p: what the kept ones must sum to at least.

    >>> from transformer_course.checks.decoding.next_token_distribution import reference
    >>> token_table(reference, 1.0, 6, 0.75)
    le   0.50 ####################
    la   0.30 ############
    un   0.20 ########
    une  0.00
    mon  0.00
    ce   0.00
    as spread out as 2.8 equally likely tokens
    """
    logits = np.log(PROBS)[None]
    outcome = run(distribution, (logits, temperature, top_k, top_p), SECONDS)
    if outcome.trouble:  # perhaps written with torch
        arguments = (torch.tensor(logits), temperature, top_k, top_p)
        outcome = run(distribution, arguments, SECONDS)
    value = None if outcome.trouble else outcome.value
    parts = loose_parts((np.asarray(value),), 1) if value is not None else None
    if parts is None or parts[0].size != len(WORDS):
        print("The sliders come to life when next_token_distribution passes its check.")
        return
    probs = parts[0].reshape(-1)
    for word, p in zip(WORDS, probs, strict=True):
        print(f"{word:4} {p:.2f} {'#' * round(BAR * float(p))}".rstrip())
    positive = probs[probs > 0]
    spread = float(np.exp(-(positive * np.log(positive)).sum()))
    print(f"as spread out as {spread:.1f} equally likely tokens")
