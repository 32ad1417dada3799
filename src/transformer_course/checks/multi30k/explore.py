"""What the explore cell of chapter 15 prints: sliders change a made-up test set, and with it the interval."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from transformer_course.checks.comparing import Array, loose_parts
from transformer_course.checks.running import SECONDS, run

DRAWS = 200
BAR = 200  # characters for a width of 1
SPREAD = 8  # the higher, the more alike are the sentences


def width_table(
    redrawn_precisions: Callable[..., Any],
    interval: Callable[..., Any],
    sentences: int = 256,
    precision: float = 0.6,
) -> None:
    """Print the learner's interval of redrawn scores for three sizes of a made-up test set.

    Words of one sentence are often right or wrong together: some sentences are easier than others.

    Args:
        redrawn_precisions: the learner's function.
        interval: the learner's function.
        sentences: the middle one of the three sizes; the others are a quarter of it and four times as much.
        precision: share of the words that would be found in a test set without end.

    >>> from transformer_course.checks.multi30k import interval, redrawn_precisions
    >>> width_table(redrawn_precisions.reference, interval.reference, 256, 0.6)
       64 sentences: 0.5997 to 0.7043, width 0.1046 #####################
      256 sentences: 0.5819 to 0.6339, width 0.0520 ##########
     1024 sentences: 0.5891 to 0.6163, width 0.0272 #####
    """
    lines = []
    for size in (sentences // 4, sentences, 4 * sentences):
        rng = np.random.default_rng(size)
        total = rng.integers(6, 19, size=size)
        found = rng.binomial(total, rng.beta(SPREAD * precision, SPREAD * (1 - precision), size))
        draws = rng.integers(0, size, size=(DRAWS, size))
        scores = _parts(redrawn_precisions, (found, total, draws), 1)
        if scores is None or scores[0].shape != (DRAWS,):
            print("The sliders come to life when redrawn_precisions passes its check.")
            return
        ends = _parts(interval, (scores[0], 40), 2)
        if ends is None or any(end.size != 1 for end in ends):
            print("The sliders come to life when interval passes its check.")
            return
        low, high = (float(end.reshape(())) for end in ends)
        bar = "#" * round(BAR * (high - low))
        lines.append(f"{size:5} sentences: {low:.4f} to {high:.4f}, width {high - low:.4f} {bar}")
    print("\n".join(line.rstrip() for line in lines))


def _parts(
    function: Callable[..., Any], arguments: tuple[Any, ...], count: int
) -> list[Array] | None:
    """Return the results, by NumPy or else by torch; None if the function gives no such thing."""
    for kind in (np.asarray, torch.as_tensor):
        given = tuple(kind(x) if isinstance(x, np.ndarray) else x for x in arguments)
        outcome = run(function, given, SECONDS)
        parts = None if outcome.trouble else loose_parts(outcome.value, count)
        if parts is not None:
            return parts
    return None
