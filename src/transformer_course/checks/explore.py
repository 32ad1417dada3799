"""The explore cell at the end of an exercise notebook: sliders over the learner's own function."""

from collections.abc import Callable
from typing import Any

import numpy as np

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
    try:
        output, weights = attend(query[None], KEYS, VALUES)
    except NotImplementedError:
        print("The sliders come to life when scaled_dot_product_attention is written.")
        return
    print(f"query = ({query[0]:.2f}, {query[1]:.2f})")
    for key, value, weight in zip(KEYS, VALUES, np.ravel(weights), strict=True):
        place = f"key ({key[0]:+.1f}, {key[1]:+.1f}), value {value[0]:.0f}"
        print(f"{place}: weight {weight:.2f} {'#' * round(BAR * float(weight))}".rstrip())
    print(f"output = {float(np.ravel(output)[0]):.1f}")


def explore_attention(attend: Callable[..., Any]) -> Any:
    """Return sliders for angle and length of the query, over the table of `attend`.

    Args:
        attend: the learner's scaled dot-product attention.
    """
    from ipywidgets import FloatSlider, fixed, interactive

    return interactive(
        attention_table,
        attend=fixed(attend),
        angle=FloatSlider(value=60, min=0, max=360, step=5, description="angle"),
        length=FloatSlider(value=2, min=0, max=20, step=0.5, description="length"),
    )
