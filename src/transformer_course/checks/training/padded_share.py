"""Exercise: how much of a list of batches is padding."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases

Array = NDArray[Any]


def _share(
    *,
    to_longest: bool = False,
    of_filled: bool = False,
    mean_of_batches: bool = False,
    filled: bool = False,
    joint: bool = False,
    rows: bool = False,
    last_left_out: bool = False,
    last_filled: bool = False,
) -> Any:
    """Return the function of the exercise with the mistakes asked for."""

    def share(src_len: Array, tgt_len: Array, size: int) -> float:
        padding, positions, shares = 0.0, 0.0, []
        stop = (
            len(src_len) // size * size if last_left_out and len(src_len) > size else len(src_len)
        )
        for start in range(0, stop, size):
            src, tgt = src_len[start : start + size], tgt_len[start : start + size]
            wide = (src_len.max(), tgt_len.max()) if to_longest else (src.max(), tgt.max())
            each = 2 * max(wide) if joint else sum(wide)
            here, real = (size if last_filled else len(src)) * each, src.sum() + tgt.sum()
            padding, positions = padding + here - real, positions + here
            shares.append((here - real) / here)
        if rows:
            return padding / len(src_len)
        if mean_of_batches:
            return float(np.mean(shares))
        if of_filled:
            return padding / (positions - padding)
        return float((positions - padding if filled else padding) / positions)

    return share


def reference(src_len: Array, tgt_len: Array, size: int) -> float:
    """Return the share of padding in batches of `size` neighbours."""
    return float(_share()(src_len, tgt_len, size))


def _source_only(src_len: Array, tgt_len: Array, size: int) -> float:
    return float(_share()(src_len, np.zeros_like(src_len), size))


def draw(rng: np.random.Generator) -> tuple[Array, Array, int]:
    """Return lengths of sources and targets, and a size of batches that doesn't divide their number."""
    size = int(rng.integers(2, 5))
    count = size * int(rng.integers(2, 5)) + int(rng.integers(1, size))
    src_len = rng.integers(2, 20, size=count)
    return src_len, np.maximum(3, src_len + rng.integers(-4, 7, size=count)), size


padded_share = Exercise(
    name="padded_share",
    kind="experiment",
    difficulty=2,
    minutes=20,
    statement=(
        "Measure the padding of batches. src_len and tgt_len hold the lengths of n pairs, special tokens "
        "included. The first size pairs make the first batch, the next size pairs the second one, and so on; "
        "the last batch may be smaller. In each batch, sources are padded to the longest source of the batch, "
        "and targets to its longest target. Return the share of all positions, of all batches together, that "
        "is padding: a number from 0 to 1."
    ),
    returns=("share",),
    reference=reference,
    cases=(
        Case("one batch of two", (np.array([4, 2]), np.array([6, 3]), 2)),
        Case("one batch of three", (np.array([4, 2, 3]), np.array([4, 3, 5]), 3)),
        Case("two batches", (np.array([3, 5, 8, 8]), np.array([4, 5, 9, 7]), 2)),
        Case("a smaller last batch", (np.array([3, 5, 8]), np.array([4, 7, 9]), 2)),
        Case("nothing to pad", (np.array([4, 4]), np.array([5, 5]), 2)),
        Case("each pair alone", (np.array([4, 9, 2]), np.array([6, 8, 5]), 1)),
        *random_cases(draw, 6),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "padded to the longest of all batches",
            _share(to_longest=True),
            "A batch doesn't know what the others hold. How wide must it be?",
        ),
        Misconception(
            "in relation to what is filled",
            _share(of_filled=True),
            "Which positions does the word 'all' in the task mean?",
        ),
        Misconception(
            "the mean of the batches' shares",
            _share(mean_of_batches=True),
            "A small batch counts as much as a large one in your mean. Positions should count the same.",
        ),
        Misconception(
            "the share that is filled",
            _share(filled=True),
            "Where nothing has to be padded, the answer is zero. What do you say there?",
        ),
        Misconception(
            "source and target padded to one width",
            _share(joint=True),
            "Sources and targets are two tensors. Must they be equally wide?",
        ),
        Misconception(
            "the padding of a pair",
            _share(rows=True),
            "A share can't be larger than 1. By what do you divide?",
        ),
        Misconception(
            "the last pairs left out",
            _share(last_left_out=True),
            "What happens to the pairs that don't fill a whole batch?",
        ),
        Misconception(
            "the last batch filled up with empty rows",
            _share(last_filled=True),
            "The last batch may have fewer pairs than the others. How many rows has yours?",
        ),
        Misconception(
            "only the sources",
            _source_only,
            "The targets have padding of their own.",
        ),
    ),
)
