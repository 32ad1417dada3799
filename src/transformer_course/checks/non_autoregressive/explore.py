"""What cells of the exercises of chapter 13 call: tables of a corpus, and a sentence gone over in passes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from transformer_course.checks.comparing import Array, loose_parts
from transformer_course.checks.running import SECONDS, run
from transformer_course.corpus import grammar
from transformer_course.corpus.pairs import words

SURE = np.array(
    [0.9, 0.2, 0.6, 0.1, 0.8, 0.4, 0.3, 0.7, 0.5, 0.95, 0.15, 0.85]
)  # of the first pass
LENGTHS = 6, 6  # words of the pairs that are counted, so that they fit into one array
SHOWN = "not", "you", "is", "the"


def pass_table(mask_again: Callable[..., Any], length: int = 8, passes: int = 4) -> None:
    """Print which tokens each pass writes, and how many all of them write together.

    The probabilities are made up: a token that is guessed again becomes surer, by half of what was missing.

    Args:
        mask_again: the learner's function.
        length: tokens of the sentence, 1 to 12.
        passes: how often it is gone over, 1 or more.

    >>> from transformer_course.checks.non_autoregressive.mask_again import reference
    >>> pass_table(reference, length=6, passes=3)
    pass 0   # # # # # #   6 guessed
    pass 1   . # # # . #   4 guessed
    pass 2   . # . # . .   2 guessed
    12 guesses for 6 tokens; word by word it would be 6.
    """
    sure, total = SURE[:length].copy(), 0
    lines = []
    for t in range(passes):
        given = np.log(sure)[None], np.array([length]), t, passes
        gaps = _result(mask_again, given, (1, length), bool)
        if gaps is None:
            print("The sliders come to life when mask_again passes its check.")
            return
        signs = " ".join("#" if gap else "." for gap in gaps[0])
        lines.append(f"pass {t:<3} {signs}   {gaps.sum()} guessed")
        sure = np.where(gaps[0] & (t > 0), (1 + sure) / 2, sure)
        total += int(gaps.sum())
    end = f"{total} guesses for {length} tokens; word by word it would be {length}."
    print(*lines, end, sep="\n")


def corpus_table(em_step: Callable[..., Any], updates: int = 5) -> None:
    """Print what some English words write, after some updates of the learner's on the course's grammar.

    Args:
        em_step: the learner's function.
        updates: how many, 1 or more.

    >>> from transformer_course.checks.non_autoregressive.em_step import reference
    >>> corpus_table(reference, updates=5)
    not   pas 0.86, ne 0.10, les 0.03
    you   tu 0.46, vous 0.25, ne 0.12
    is    est 0.92, la 0.04, . 0.03
    the   le 0.46, les 0.24, . 0.18
    """
    src, tgt, rows, columns = _corpus()
    t: Array = np.full((len(rows), len(columns)), 1 / len(columns))
    for _ in range(updates):
        found = _result(em_step, (t, src, tgt), t.shape, float)
        if found is None:
            print("The table comes when em_step passes its check.")
            return
        t = found
    for word in SHOWN:
        row = t[rows.index(word)]
        best = ", ".join(f"{columns[i]} {row[i]:.2f}" for i in np.argsort(-row, kind="stable")[:3])
        print(f"{word:<5} {best}")


def _corpus() -> tuple[Array, Array, list[str], list[str]]:
    """Return short pairs as numbers, and the words of these numbers; source word 0 is the null word."""
    pairs = [
        (x, y)
        for pair in grammar.generate("train", 3000, seed=0)
        if (x := words(pair.source.lower())) and (y := words(pair.target.lower()))
        if (len(x), len(y)) == LENGTHS
    ]
    rows = ["", *sorted({word for x, _ in pairs for word in x})]
    columns = sorted({word for _, y in pairs for word in y})
    src = np.array([[0, *(rows.index(word) for word in x)] for x, _ in pairs])
    return src, np.array([[columns.index(word) for word in y] for _, y in pairs]), rows, columns


def _result(
    function: Callable[..., Any], arguments: tuple[Any, ...], shape: tuple[int, ...], kind: type
) -> Array | None:
    """Return the result, by NumPy or else by torch; None if it hasn't this shape and kind."""
    for make in (np.asarray, torch.tensor):
        given = (make(x) if isinstance(x, np.ndarray) else x for x in arguments)
        outcome = run(function, tuple(given), SECONDS)
        parts = None if outcome.trouble else loose_parts(outcome.value, 1)
        if (
            parts is not None
            and parts[0].shape == shape
            and (parts[0].dtype == bool) == (kind is bool)
        ):
            return parts[0]
    return None
