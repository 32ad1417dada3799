"""The waves in NumPy, with a place for each mistake: what several exercises are made of."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def right_exponents(d_model: int) -> Array:
    """Return 2i / d for each pair, (d_model / 2,)."""
    return np.arange(0, d_model, 2) / d_model


def waves(
    length: int,
    d_model: int,
    *,
    first: int = 0,
    base: float = 10_000.0,
    exponents: Array | None = None,
    odd_exponents: Array | None = None,
) -> Array:
    """Return the table of positions, (length, d_model), sines and cosines interleaved.

    `odd_exponents` are those of the cosines, if they differ from the ones of the sines.
    """
    positions = np.arange(first, first + length)[:, None]  # (length, 1)
    even = right_exponents(d_model) if exponents is None else exponents
    odd = even if odd_exponents is None else odd_exponents
    table = np.empty((length, d_model))
    table[:, 0::2] = np.sin(positions / base**even)
    table[:, 1::2] = np.cos(positions / base**odd)
    return table
