"""Hints with a small table: what is expected in a tiny case, and what a mistake gives there."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.comparing import loose_parts, same, show
from transformer_course.checks.exercise import Case, Misconception

Array = NDArray[Any]
Function = Callable[..., Any]


def with_tables(
    reference: Function, cases: Sequence[Case], names: tuple[str, ...]
) -> Callable[[str, Function, str], Misconception]:
    """Return a function that makes a misconception whose hint begins with a table.

    The table is of the first case in which the mistake gives numbers of the right shapes that aren't the
    expected ones; where there is no such case, the hint has no table.

    Args:
        reference: the right function.
        cases: tiny cases, the simplest first.
        names: a name for each result.
    """

    def misconception(name: str, wrong: Function, hint: str) -> Misconception:
        for case in cases:
            expected, got = (_parts(f, case, len(names)) for f in (reference, wrong))
            fits = [part.shape for part in got] == [part.shape for part in expected]
            if fits and not same(got, expected, 1e-4):
                lines = [*_given(reference, case), *table(expected, got, names)]
                return Misconception(name, wrong, "\n  ".join([lines[0], *lines[1:]]) + f"\n{hint}")
        return Misconception(name, wrong, hint)

    return misconception


def table(expected: list[Array], got: list[Array], names: tuple[str, ...]) -> list[str]:
    """Return lines with what is expected and what was got.

    Several results have a line each; a table stands beside the other, a row above the other.

    Args:
        expected: the right results; axes of length 1 aren't shown.
        got: others of the same shapes.
        names: a name for each result.

    >>> print(*table([np.array([0, 1])], [np.array([0, 10])], ("row",)), sep="\\n")
    expected   0  1
    yours      0 10
    >>> print(*table([np.eye(2) > 0], [np.ones((2, 2)) > 0], ("mask",)), sep="\\n")
    expected   yours
    # .        # #
    . #        # #
    """
    if len(names) > 1:
        texts = [["", "expected", "yours"]]
        for name, *parts in zip(names, expected, got, strict=True):
            texts.append([name, *(" ".join(map(_cell, part.ravel())) for part in parts)])
        widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)) for row in texts]
    elif expected[0].squeeze().ndim < 2:
        above, below = _rows(np.stack([part.ravel() for part in (expected[0], got[0])]))
        lines = [f"expected  {above}", f"yours     {below}"]
    else:
        left, right = (_rows(part.squeeze()) for part in (expected[0], got[0]))
        pairs = [("expected", "yours"), *zip(left, right, strict=True)]
        width = max(len(text) for text, _ in pairs)
        lines = [f"{text:<{width}}   {beside}" for text, beside in pairs]
    return [line.rstrip() for line in lines]


def _rows(array: Array) -> list[str]:
    """Return a line for each row, with equally wide numbers."""
    cells = [[_cell(x) for x in row] for row in array]
    width = max(len(cell) for row in cells for cell in row)
    return [" ".join(f"{cell:>{width}}" for cell in row) for row in cells]


def _cell(x: Any) -> str:
    """Write one element: # = may attend, . = hidden, or a number with three digits after the point."""
    if isinstance(x, (bool, np.bool_)):
        return "#" if x else "."
    if np.isinf(x):
        return "∞" if x > 0 else "−∞"
    return f"{np.round(x, 3) + 0:g}"  # + 0: no -0


def _parts(function: Function, case: Case, count: int) -> list[Array]:
    """Return the results of a case; none if it has no numbers to show."""
    try:
        with np.errstate(all="ignore"):
            return loose_parts(function(*case.arguments), count) or []
    except ValueError:  # shapes that don't fit together
        return []


def _given(reference: Function, case: Case) -> list[str]:
    """Return the arguments as lines; neighbours that are no arrays share one."""
    lines, shared = [f"For {case.about}:"], False
    for name, value in zip(inspect.signature(reference).parameters, case.arguments, strict=True):
        plain = np.ndim(value) == 0
        text = show(name, value.item() if isinstance(value, np.ndarray) and plain else value)
        if plain and shared:
            lines[-1] += f", {text}"
        else:
            lines += text.splitlines()
        shared = plain
    return lines
