"""Judge the learner's function: passed, a known misconception, or the smallest case that fails.

The order of a verdict: not attempted; trouble that ends everything (endless loop, inputs changed, ...);
passed; the misconception that explains the results; else the smallest failing case in words.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from transformer_course.checks import running
from transformer_course.checks.comparing import (
    Array,
    Unfit,
    as_parts,
    first_difference,
    loose_parts,
    same,
    show,
)
from transformer_course.checks.running import Outcome, run

if TYPE_CHECKING:
    from transformer_course.checks.exercise import Case, Exercise

FINAL = ("unimplemented", "time", "recursion", "exit", "changed", "random")


@dataclass(frozen=True)
class Report:
    """The verdict on one function.

    Args:
        passed: True if every case came out as expected.
        misconception: name of the mistake that explains the results, or None.
        hint: a sentence that helps with this misconception, or None.
        message: the whole verdict, as printed.
        attempted: False if the function is still as the notebook gave it.
    """

    passed: bool
    misconception: str | None
    hint: str | None
    message: str
    attempted: bool = True

    def __repr__(self) -> str:
        """Show the fields a reader may ask for; the message has been printed."""
        return f"Report(passed={self.passed}, misconception={self.misconception!r}, hint={self.hint!r})"


@dataclass(frozen=True)
class _Result:
    """One case with what was expected and what came of it."""

    case: Case
    expected: list[Array]
    outcome: Outcome
    parts: list[Array] | None = None  # None where the results can't be compared
    sentence: str = ""  # why they can't

    def right(self, tolerance: float) -> bool:
        """True if the results are as expected."""
        return self.parts is not None and same(self.parts, self.expected, tolerance)


def judge(
    exercise: Exercise, function: Callable[..., Any], kinds: Sequence[str] | None = None
) -> Report:
    """Return the verdict on the learner's function; never raises for anything the function does.

    A function may be written for NumPy arrays or for torch tensors: both are tried, and the verdict that
    tells more counts. `kinds` ("numpy", "torch") says which to try instead.
    """
    refusal = _refuse(exercise, function)
    if refusal:
        return _failed(exercise, refusal)
    best: tuple[int, Report] | None = None
    for kind in kinds or _array_kinds(exercise, function):
        rank, report = _judge_with(exercise, function, kind)
        if best is None or rank > best[0]:
            best = rank, report
        if rank == 4:
            break
    assert best is not None
    return best[1]


def _refuse(exercise: Exercise, function: Any) -> str:
    """Return a sentence if what was given to the check can't be called with the exercise's arguments."""
    wanted = f"{exercise.name}({', '.join(exercise.parameters)})"
    if not callable(function):
        return (
            f"Expected a function, got {type(function).__name__}. Give the check the function itself, "
            "without brackets after its name."
        )
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return ""
    try:
        signature.bind(*exercise.cases[0].arguments)
    except TypeError:
        return f"Expected a function that can be called as {wanted}, got one with {signature}."
    return ""


def _array_kinds(exercise: Exercise, function: Callable[..., Any]) -> list[str]:
    """Return what kinds of array to try, the likelier first."""
    if not any(isinstance(x, np.ndarray) for case in exercise.cases for x in case.arguments):
        return ["numpy"]
    annotations = getattr(function, "__annotations__", {})
    kinds = ["numpy", "torch"]
    return kinds[::-1] if any("Tensor" in str(a) for a in annotations.values()) else kinds


def _given(case: Case, kind: str) -> tuple[Any, ...]:
    """Return the arguments of a case as the learner's function gets them."""
    if kind == "numpy":
        return case.arguments
    return tuple(
        torch.tensor(x, dtype=torch.float32) if isinstance(x, np.ndarray) else x
        for x in case.arguments
    )


def _judge_with(exercise: Exercise, function: Callable[..., Any], kind: str) -> tuple[int, Report]:
    """Judge with one kind of array; the first number says how much the verdict tells (4: nothing to add)."""
    results: list[_Result] = []
    for case, raw in zip(exercise.cases, _answers(exercise), strict=True):
        result = _run_case(exercise, function, case, raw, kind)
        if result.outcome.trouble in FINAL:
            return 4, _ended(exercise, result.outcome)
        results.append(result)
    wrong = [result for result in results if not result.right(exercise.tolerance)]
    note = (
        "\n(Your function prints something; the check hides it.)"
        if any(result.outcome.printed for result in results)
        else ""
    )
    if not wrong:
        return 4, Report(True, None, None, f"Passed: {exercise.name}.{note}")
    found = diagnose(exercise, results, note)
    if found is not None:
        return 3, found
    smallest = min(wrong, key=lambda result: result.case.size)
    report = _failed(exercise, _describe(exercise, smallest, kind) + note)
    return 2 if smallest.parts is not None else 0 if smallest.outcome.trouble else 1, report


@functools.cache
def _answers(exercise: Exercise) -> list[Any]:
    """Return what the reference returns in each case."""
    return [exercise.reference(*case.arguments) for case in exercise.cases]


@functools.cache
def _wrong_answers(exercise: Exercise, wrong: Callable[..., Any]) -> list[list[Array] | None]:
    """Return what a misconception returns in each case; None where it raises an exception."""
    outcomes = [run(wrong, case.arguments, running.SECONDS) for case in exercise.cases]
    return [None if o.trouble else loose_parts(o.value, len(exercise.returns)) for o in outcomes]


def _run_case(
    exercise: Exercise, function: Callable[..., Any], case: Case, raw: Any, kind: str
) -> _Result:
    """Run one case twice: the second time must give the same."""
    expected = as_parts(raw, raw, exercise.returns)
    outcomes = [run(function, _given(case, kind), running.SECONDS) for _ in range(2)]
    outcome = next((o for o in outcomes if o.trouble), outcomes[0])
    if outcome.value is Ellipsis:
        outcome = Outcome(trouble="unimplemented")
    if outcome.trouble == "unimplemented" and case is not exercise.cases[0]:
        outcome = Outcome(
            trouble="error", sentence="Your function still raises NotImplementedError here."
        )
    if outcome.trouble:
        return _Result(case, expected, outcome, sentence=outcome.sentence)
    try:
        parts, again = (as_parts(o.value, raw, exercise.returns) for o in outcomes)
    except Unfit as error:
        return _Result(case, expected, outcome, sentence=str(error))
    if not same(parts, again, exercise.tolerance):
        sentence = (
            "Your function gives different results for the same inputs. Expected: the same results "
            "each time. Does it draw random numbers, or change a variable outside?"
        )
        return _Result(case, expected, Outcome(trouble="random", sentence=sentence))
    return _Result(case, expected, outcome, parts)


def diagnose(exercise: Exercise, results: list[_Result], note: str = "") -> Report | None:
    """Return the report of the misconception that explains the results, or None.

    A misconception explains them if they are equal to its own in every case where it differs from the
    reference, and in one of these by its numbers, not only because both stop with an exception. One
    that agrees in all other cases too goes before one that doesn't.
    """
    partly: Report | None = None
    for misconception in exercise.misconceptions:
        wrong = _wrong_answers(exercise, misconception.wrong)
        agrees = [_agrees(exercise, r, w) for r, w in zip(results, wrong, strict=True)]
        tells = [
            w is None or not same(w, r.expected, exercise.tolerance)
            for r, w in zip(results, wrong, strict=True)
        ]
        if not all(a for a, t in zip(agrees, tells, strict=True) if t):
            continue
        if not any(t and w is not None for t, w in zip(tells, wrong, strict=True)):
            continue
        message = f"Not yet right: {misconception.name}.\nHint: {misconception.hint}"
        report = Report(
            False,
            misconception.name,
            misconception.hint,
            f"{exercise.name}. {message}{note}",
        )
        if all(agrees):
            return report
        partly = partly or report
    return partly


def _agrees(exercise: Exercise, result: _Result, wrong: list[Array] | None) -> bool:
    """True if the learner's results of a case are those of a misconception; None: it raises an exception."""
    if wrong is None or result.outcome.trouble:
        return wrong is None and bool(result.outcome.trouble)
    parts = loose_parts(result.outcome.value, len(exercise.returns))
    return parts is not None and same(parts, wrong, exercise.tolerance)


def _describe(exercise: Exercise, result: _Result, kind: str) -> str:
    """Say what is wrong in one case, and show the case."""
    if exercise.secret:
        return _describe_secret(result)
    sentence = result.sentence
    if result.parts is not None:
        sentence = first_difference(
            result.parts, result.expected, exercise.returns, exercise.tolerance
        )
    given = zip(exercise.parameters, _given(result.case, kind), strict=False)
    lines = "\n".join("  " + show(name, value).replace("\n", "\n  ") for name, value in given)
    return f"{sentence}\nThe smallest case that fails ({result.case.about}):\n{lines}"


def _describe_secret(result: _Result) -> str:
    """Say which question is answered wrongly, without the right answer."""
    case = result.case
    sentence = result.sentence
    if result.parts is not None:
        sentence = f"Expected another answer, got {result.outcome.value!r:.60}."
    return f"Question {case.arguments[0]!r} ({case.about}): {sentence} {case.nudge}".rstrip()


def _ended(exercise: Exercise, outcome: Outcome) -> Report:
    """Return the report of a function that isn't written yet, or whose trouble makes results useless."""
    if outcome.trouble != "unimplemented":
        return _failed(exercise, outcome.sentence)
    message = (
        f"{exercise.name}: not attempted yet. Replace `raise NotImplementedError` by your own lines. "
        f"Expected result: {', '.join(exercise.returns)}. About {exercise.minutes} minutes."
    )
    return Report(False, None, None, message, attempted=False)


def _failed(exercise: Exercise, sentence: str) -> Report:
    """Return the report of a wrong answer that no misconception explains."""
    return Report(False, None, None, f"{exercise.name}. Not yet right. {sentence}")
