"""What the explore cell at the end of an exercise notebook prints: sliders move the learner's own function."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from transformer_course.checks.comparing import Array, loose_parts
from transformer_course.checks.running import SECONDS, run

KEYS = np.array([[1.0, 0.0], [0.6, 0.8], [-0.6, 0.8], [-1.0, 0.0], [0.0, -1.0]])
VALUES = np.array([[10.0], [20.0], [30.0], [40.0], [50.0]])
BAR = 30  # characters for a weight of 1


def attention_table(attend: Callable[..., Any], angle: float = 0.0, length: float = 2.0) -> None:
    """Print the weights that `attend` gives a query in the plane of five keys, as numbers and bars.

    Args:
        attend: the learner's scaled dot-product attention, returning (output, weights).
        angle: direction of the query in degrees.
        length: length of the query.

    >>> from transformer_course.checks.attention.scaled_dot_product import reference
    >>> attention_table(reference, angle=90, length=0)
    query = (0.00, 0.00)
    key (+1.0, +0.0), value 10: weight 0.20 ######
    key (+0.6, +0.8), value 20: weight 0.20 ######
    key (-0.6, +0.8), value 30: weight 0.20 ######
    key (-1.0, +0.0), value 40: weight 0.20 ######
    key (+0.0, -1.0), value 50: weight 0.20 ######
    output = 30.0
    """
    radians = np.radians(angle)
    query = length * np.array([np.cos(radians), np.sin(radians)]) + 0.0
    results = _results(attend, (query[None], KEYS, VALUES))
    if results is None:
        print("The sliders come to life when scaled_dot_product_attention passes its check.")
        return
    output, weights = results
    print(f"query = ({query[0]:.2f}, {query[1]:.2f})")
    for key, value, weight in zip(KEYS, VALUES, np.ravel(weights), strict=True):
        place = f"key ({key[0]:+.1f}, {key[1]:+.1f}), value {value[0]:.0f}"
        print(f"{place}: weight {weight:.2f} {'#' * round(BAR * float(weight))}".rstrip())
    print(f"output = {float(np.ravel(output)[0]):.1f}")


def mask_table(
    make_mask: Callable[..., Any], length: int = 5, padding: int = 0, left: bool = False
) -> None:
    """Print the mask that `make_mask` gives one sentence: # = may attend, . = hidden.

    Args:
        make_mask: the learner's decoder mask: ids (1, length) and the id of padding to (1, 1, length, length).
        length: number of tokens.
        padding: how many of them are padding; at most all of them.
        left: whether the padding is at the left.

    >>> from transformer_course.checks.masking.decoder_mask import reference
    >>> mask_table(reference, length=3, padding=1)
    query       0 1 2   keys
    0 token     # . .
    1 token     # # .
    2 padding   # # .
    5 of 9 pairs are open.
    """
    padding = min(padding, length)
    ids = np.array([[1] * (length - padding) + [0] * padding])
    if left:
        ids = ids[:, ::-1].copy()
    mask = None
    for kind in (np.asarray, torch.tensor):
        outcome = run(make_mask, (kind(ids), 0), SECONDS)
        parts = None if outcome.trouble else loose_parts(outcome.value, 1)
        if parts is not None and parts[0].size == length * length:
            mask = parts[0].reshape(length, length)
            break
    if mask is None:
        print("The sliders come to life when decoder_mask passes its check.")
        return
    print(f"query       {' '.join(map(str, range(length)))}   keys")
    for place, row in enumerate(mask):
        what = "token" if ids[0, place] else "padding"
        print(f"{place} {what:9} {' '.join('#' if seen else '.' for seen in row)}")
    print(f"{int(mask.sum())} of {mask.size} pairs are open.")


def _results(attend: Callable[..., Any], arguments: tuple[Any, ...]) -> list[Array] | None:
    """Return output and weights, by NumPy or else by torch; None if the function gives no such thing."""
    for kind in (np.asarray, lambda x: torch.tensor(x, dtype=torch.float32)):
        outcome = run(attend, tuple(map(kind, arguments)), SECONDS)
        parts = None if outcome.trouble else loose_parts(outcome.value, 2)
        if parts is not None and [part.size for part in parts] == [1, len(KEYS)]:
            return parts
    return None
