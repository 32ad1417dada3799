"""What the explore cell of chapter 10 prints: the learner's rule on a sequence that repeats itself."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from transformer_course.checks.running import SECONDS, run


def copy_table(what_followed: Callable[..., Any], period: int = 5, changed: int = 0) -> None:
    """Print a repeated sequence, and below it what the learner's rule foretells.

    Args:
        what_followed: the learner's function.
        period: after how many tokens the sequence begins again.
        changed: how many tokens of the second half are replaced by new ones.

    >>> from transformer_course.checks.inspecting import what_followed
    >>> copy_table(what_followed.reference, period=4)
    tokens     3  0  1  2  3  0  1  2  3  0  1  2
    foretold   .  .  .  .  0  1  2  3  0  1  2  3
    right: 7 of the 7 that can be known
    """
    tokens = np.random.default_rng(period).permutation(period)
    tokens = np.tile(tokens, 3)
    dice = np.random.default_rng(changed)
    places = dice.choice(np.arange(period, len(tokens)), min(changed, 2 * period), replace=False)
    tokens[places] = 20 + np.arange(len(places))
    for given in (tokens.copy(), torch.as_tensor(tokens.copy())):
        outcome = run(what_followed, (given,), SECONDS)
        try:
            found = np.asarray(outcome.value).astype(int)
        except (TypeError, ValueError):
            continue
        if not outcome.trouble and found.shape == tokens.shape:
            break
    else:
        print("The sliders come to life when what_followed passes its check.")
        return
    known = found[:-1] >= 0
    right = int((found[:-1] == tokens[1:])[known].sum())
    print("tokens   ", *(f"{token:2}" for token in tokens))
    print("foretold ", *(" ." if token < 0 else f"{token:2}" for token in found))
    print(f"right: {right} of the {int(known.sum())} that can be known")
