"""An exercise: a task that shows its verdict when it is called with the learner's function."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from transformer_course.checks.engine import judge
from transformer_course.checks.grading import write_down
from transformer_course.checks.report import Report
from transformer_course.checks.showing import show
from transformer_course.checks.task import Arguments, Case, Misconception, Task
from transformer_course.checks.verdict_html import verdict_html

__all__ = ["AnswerKey", "Arguments", "Case", "Exercise", "Misconception", "random_cases"]

SAID: dict[
    Task, Report
] = {}  # the last verdict on each exercise in this process; `progress` reads it


@dataclass(frozen=True, eq=False)  # compared and hashed as the object it is
class Exercise(Task):
    """An exercise; calling it with the learner's function shows a verdict and returns it."""

    def __call__(self, function: Callable[..., Any]) -> Report:
        """Judge the learner's function, show the verdict and return it."""
        start = time.perf_counter()
        report = judge(self, function)
        seconds = time.perf_counter() - start
        show(report.message, lambda: verdict_html(self.name, report, seconds))
        write_down(self.name, report)
        SAID[self] = report
        return report


@dataclass(frozen=True, eq=False)
class AnswerKey:
    """The right answers to questions, or verdicts on statements, that are known by a letter.

    Args:
        answers: letter → answer; True or False for a statement.

    >>> key = AnswerKey({"a": True, "b": True})
    >>> key.statement("a"), key.flipped("a")("a"), key.flipped("a")("b")
    (True, False, True)
    """

    answers: Mapping[str, Any]

    def question(self, question: str) -> Any:
        """Return the right answer to a question: the reference of a *predict* exercise."""
        return self.answers[question]

    def statement(self, statement: str) -> Any:
        """Return whether a statement is true: the reference of an *explain* exercise."""
        return self.answers[statement]

    def wrong(self, letter: str, answer: Any) -> Callable[[str], Any]:
        """Return a function that is right but for one letter."""
        return lambda asked: answer if asked == letter else self.answers[asked]

    def flipped(self, letter: str) -> Callable[[str], Any]:
        """Return a function that is wrong about one statement."""
        return self.wrong(letter, not self.answers[letter])


def random_cases(
    draw: Callable[[np.random.Generator], Arguments], count: int, about: str = "random numbers"
) -> tuple[Case, ...]:
    """Return `count` cases made by `draw`, the same in every run."""
    return tuple(Case(about, draw(np.random.default_rng([1, seed]))) for seed in range(count))
