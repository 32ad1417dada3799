"""What the explore cell of chapter 05 prints: sliders move through the learner's own table of positions."""

from collections.abc import Callable
from typing import Any

from transformer_course.checks.comparing import loose_parts
from transformer_course.checks.running import SECONDS, run

WIDTH = 8
BAR = 20  # characters from the middle to 1


def gauges(encoding: Callable[..., Any], position: int = 3, offset: int = 2) -> None:
    """Print the code of a position as gauges, and how alike it is to the position `offset` further on.

    Args:
        encoding: the learner's `sinusoidal_encoding`.
        position: which row.
        offset: how far the other row is.

    >>> from transformer_course.checks.positional_encoding.sinusoidal_encoding import reference
    >>> gauges(reference, 0, 3)
    dimension 0, sine    0.00                     |
    dimension 1, cosine  1.00                     |####################
    dimension 2, sine    0.00                     |
    dimension 3, cosine  1.00                     |####################
    dimension 4, sine    0.00                     |
    dimension 5, cosine  1.00                     |####################
    dimension 6, sine    0.00                     |
    dimension 7, cosine  1.00                     |####################
    dot product with position 3: 1.96 of 4
    """
    length = position + offset + 1
    outcome = run(encoding, (length, WIDTH), SECONDS)
    parts = None if outcome.trouble else loose_parts(outcome.value, 1)
    if parts is None or parts[0].shape != (length, WIDTH):
        print("The sliders come to life when sinusoidal_encoding passes its check.")
        return
    table = parts[0]
    for dimension, value in enumerate(map(float, table[position])):
        name = f"dimension {dimension}, {'cosine' if dimension % 2 else 'sine  '}"
        left, right = (max(0, round(BAR * sign * value)) for sign in (-1, 1))
        print(f"{name} {value + 0.0:5.2f} {'#' * left:>{BAR}}|{'#' * right}")
    product = float(table[position] @ table[position + offset])
    print(f"dot product with position {position + offset}: {product:.2f} of {WIDTH // 2}")
