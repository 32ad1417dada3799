"""Exercise: the alignment error rate of two sets of links."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases

Array = NDArray[Any]


def reference(found: Array, gold: Array) -> float:
    """Return the alignment error rate."""
    return float(1 - 2 * (found & gold).sum() / (found.sum() + gold.sum()))


def _of(rate: Callable[[float, float, float, float], float]) -> Callable[..., float]:
    """Return a rate of: links found and right, links found, right links, all squares."""

    def wrong(found: Array, gold: Array) -> float:
        both = float((found & gold).sum())
        return rate(both, float(found.sum()), float(gold.sum()), float(gold.size))

    return wrong


def _mean_of_rows(found: Array, gold: Array) -> float:
    rates = [
        1 - 2 * (f & g).sum() / max(1, f.sum() + g.sum()) for f, g in zip(found, gold, strict=True)
    ]
    return float(np.mean(rates))


def draw(rng: np.random.Generator) -> tuple[Array, Array]:
    """Return two tables of links, each with at least one."""
    shape = tuple(rng.integers(4, 8, size=2))
    found, gold = rng.random(shape) < 0.4, rng.random(shape) < 0.4
    found[0, 0] = gold[-1, -1] = True
    return found, gold


def _table(rows: str) -> Array:
    return np.array([[letter == "1" for letter in row] for row in rows.split()])


error_rate = Exercise(
    name="error_rate",
    kind="implement",
    difficulty=1,
    minutes=10,
    statement=(
        "Write the alignment error rate. found and gold are boolean tables, (src_len, tgt_len): True where a "
        "link is drawn between a source word and a target word, by a head or by the grammar. Each has at least "
        "one link. Return 1 − 2·(links in both) / (links found + right links)."
    ),
    returns=("rate",),
    reference=reference,
    cases=(
        Case("one of two links right", (_table("10 01"), _table("10 10"))),
        Case("all right, one missing", (_table("10 00"), _table("10 01"))),
        Case("all right, one too many", (_table("11 01"), _table("10 01"))),
        Case("all right", (_table("100 010"), _table("100 010"))),
        Case("none right", (_table("100 010"), _table("010 001"))),
        Case("three words, four words", (_table("1000 0110 0001"), _table("1100 0010 0010"))),
        *random_cases(draw, 6),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "links that were found and are wrong only",
            _of(lambda both, found, gold, size: 1 - both / found),
            "A head that draws one sure link would score 0. What about the links that are missing?",
        ),
        Misconception(
            "links that are missing only",
            _of(lambda both, found, gold, size: 1 - both / gold),
            "A head that draws every link would score 0. What about those that are too many?",
        ),
        Misconception(
            "the share that is right instead of the error",
            _of(lambda both, found, gold, size: 2 * both / (found + gold)),
            "For two equal tables, your number is 1. What should an error rate be there?",
        ),
        Misconception(
            "factor 2 left out",
            _of(lambda both, found, gold, size: 1 - both / (found + gold)),
            "For two equal tables, your number is 0.5. Links that are in both tables count in both sums below.",
        ),
        Misconception(
            "divided by the links in either",
            _of(lambda both, found, gold, size: 1 - both / (found + gold - both)),
            "You divide by the links that are in at least one table. The formula adds both numbers.",
        ),
        Misconception(
            "share of squares that differ",
            _of(lambda both, found, gold, size: (found + gold - 2 * both) / size),
            "Most squares of a large table are empty in both. Should they count as right?",
        ),
        Misconception(
            "mean over the source words",
            _mean_of_rows,
            "Count the links of all words together, and divide once.",
        ),
        Misconception(
            "in percent",
            _of(lambda both, found, gold, size: 100 - 200 * both / (found + gold)),
            "The task asks for a number from 0 to 1.",
        ),
    ),
)
