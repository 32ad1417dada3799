"""How the loss falls with size: a power law of Kaplan et al. 2020 (chapter 14)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class PowerLaw:
    r"""$L(N) = a N^{-b}$ (Kaplan et al. 2020, eq. 1.1, with $a = N_c^{b}$).

    Args:
        factor: a, the loss at size 1.
        exponent: b; with it above 0, more is better.
    """

    factor: float
    exponent: float

    def __call__(self, size: float) -> float:
        """The loss that the law foretells.

        Args:
            size: N, above 0: weights, tokens or operations, whatever it was fitted to.

        Returns:
            The loss.
        """
        return float(self.factor * size**-self.exponent)


def fit_power_law(sizes: Sequence[float], losses: Sequence[float]) -> PowerLaw:
    """The power law nearest to what was measured: least squares on the logarithms of both.

    A straight line through logarithms has no floor. Where a loss can't fall below some number, such as the
    entropy of the text, the law fails for large sizes; Hoffmann et al. 2022 (eq. 2) add one.

    Args:
        sizes: two different ones or more, above 0.
        losses: as many, above 0.

    Returns:
        The law.

    Raises:
        ValueError: if there aren't as many losses as sizes, or two different sizes, or a number isn't above 0.

    >>> law = fit_power_law([1e3, 1e4, 1e5], [4.0, 2.0, 1.0])
    >>> round(law.exponent, 3), round(law(1e6), 3)
    (0.301, 0.5)
    """
    if len(sizes) != len(losses):
        raise ValueError(f"there are {len(sizes)} sizes and {len(losses)} losses")
    if len(set(sizes)) < 2:
        raise ValueError(f"sizes ({list(sizes)}) must have two different ones or more")
    if min([*sizes, *losses]) <= 0:
        raise ValueError(f"sizes ({list(sizes)}) and losses ({list(losses)}) must be above 0")
    # As floats first: counts of operations pass 2⁶⁴, and NumPy has no logarithm of such whole numbers.
    x, y = (np.log(np.asarray(numbers, float)) for numbers in (sizes, losses))
    slope, height = np.polyfit(x, y, 1)
    return PowerLaw(float(np.exp(height)), -float(slope))
