"""Small made-up corpora: what several exercises of chapter 15 count in."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def some_counts(rng: np.random.Generator, n_sentences: int) -> tuple[Array, Array]:
    """Return for each sentence the words found in its reference, and all words of its translation.

    A few words stand in each sentence; in one sentence at least, some are found and some aren't.
    """
    total = rng.integers(2, 13, size=n_sentences)
    found = rng.binomial(total, rng.uniform(0.2, 0.9, size=n_sentences))
    found[0] = rng.integers(1, total[0])
    return found, total


def some_draws(rng: np.random.Generator, n_draws: int, n_sentences: int) -> Array:
    """Return indices of sentences, drawn with repetition; a row is a draw."""
    return rng.integers(0, n_sentences, size=(n_draws, n_sentences))
