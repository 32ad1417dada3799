"""What an exercise declares: its task, its cases, the right function, and likely mistakes as functions."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

Kind = Literal["implement", "predict", "spot the bug", "experiment", "explain"]
Arguments = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Case:
    """One call of the learner's function.

    Args:
        about: what the case is, as a learner would say it: "one query, two keys".
        arguments: NumPy arrays, numbers or texts. Arrays become torch tensors for a function written so.
        nudge: a question that helps where the expected answer isn't shown.
        floats: True if whole numbers lose that as tensors: torch's own softmax takes none, NumPy's `exp` does.
    """

    about: str
    arguments: Arguments
    nudge: str = ""
    floats: bool = False

    @property
    def size(self) -> int:
        """Number of array elements in the arguments; the smallest failing case is the one shown."""
        return sum(np.size(argument) for argument in self.arguments)


@dataclass(frozen=True, eq=False)
class Misconception:
    """A likely mistake.

    Args:
        name: what was done, in a few words: "scale left out".
        wrong: the mistake as a function of NumPy arrays.
        hint: what to think about; never the answer.
    """

    name: str
    wrong: Callable[..., Any]
    hint: str


@dataclass(frozen=True, eq=False)  # compared and hashed as the object it is
class Task:
    """What an exercise declares, once; `Exercise` adds the verdict.

    Args:
        name: name of the learner's function.
        kind: what the learner does.
        difficulty: 1 to 3.
        minutes: how long it takes.
        statement: the task, as the notebook states it.
        returns: a name for each result.
        reference: a right function of NumPy arrays.
        cases: tiny ones first, then random shapes and edges.
        misconceptions: each must differ from `reference` in at least one case.
        draw: makes the arguments of one more case; None where the cases are all there are.
        tolerance: largest difference from `reference` that passes, relative to its size.
        secret: True where showing the expected answer would be the solution.
    """

    name: str
    kind: Kind
    difficulty: int
    minutes: int
    statement: str
    returns: tuple[str, ...]
    reference: Callable[..., Any]
    cases: tuple[Case, ...]
    misconceptions: tuple[Misconception, ...]
    draw: Callable[[np.random.Generator], Arguments] | None = None
    tolerance: float = 1e-4
    secret: bool = False

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters, read off the reference."""
        return tuple(inspect.signature(self.reference).parameters)
