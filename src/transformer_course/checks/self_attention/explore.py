"""What the explore cell of chapter 02's exercises prints: choose a word and sharpen its query."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from transformer_course.checks.comparing import loose_parts
from transformer_course.checks.explore import BAR
from transformer_course.checks.running import SECONDS, run
from transformer_course.checks.self_attention.numbers import Array, cat_eats_fish

WORDS = ("cat", "eats", "fish")


def sentence_table(attend: Callable[..., Any], word: str = "eats", sharpness: float = 1.0) -> None:
    """Print whom `word` looks at in "cat eats fish", as numbers and bars.

    Args:
        attend: the learner's self-attention, returning (output, weights).
        word: cat, eats or fish.
        sharpness: what the queries' matrix is multiplied by.

    >>> from transformer_course.checks.self_attention.self_attention import reference
    >>> sentence_table(reference, "eats", 0)
    cat   weight 0.33 ##########
    eats  weight 0.33 ##########
    fish  weight 0.33 ##########
    new vector of eats: (1.00, 0.67, 0.33)
    """
    x, w_query, w_key, w_value = cat_eats_fish()
    parts = _results(attend, (x, sharpness * w_query, w_key, w_value))
    if parts is None:
        print("The sliders come to life when self_attention passes its check.")
        return
    place = WORDS.index(word)
    for name, weight in zip(WORDS, parts[1][place], strict=True):
        print(f"{name:5} weight {weight:.2f} {'#' * round(BAR * float(weight))}".rstrip())
    print(f"new vector of {word}: ({', '.join(f'{number:.2f}' for number in parts[0][place])})")


def _results(attend: Callable[..., Any], arguments: tuple[Array, ...]) -> list[Array] | None:
    """Return output and weights, by NumPy or else by torch; None if the function gives no such thing."""
    for kind in (np.asarray, lambda x: torch.tensor(x, dtype=torch.float32)):
        outcome = run(attend, tuple(map(kind, arguments)), SECONDS)
        parts = None if outcome.trouble else loose_parts(outcome.value, 2)
        if parts is not None and [part.shape for part in parts] == [(3, 3), (3, 3)]:
            return parts
    return None
