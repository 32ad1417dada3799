"""Judge the learner's function: passed, a known misconception, or the smallest case that fails.

The order of a verdict: not attempted; trouble that ends everything (endless loop, inputs changed, ...);
passed; the misconception that explains the results; else the smallest failing case in words.
"""

from __future__ import annotations

import dataclasses
import dis
import functools
import inspect
import sys
import time
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any

import numpy as np
import torch

from transformer_course.checks import running
from transformer_course.checks.comparing import Array, Unfit, as_parts, loose_parts, same
from transformer_course.checks.discovery import exercises_named
from transformer_course.checks.guards import random_states_kept
from transformer_course.checks.ready_made import ready_made_call
from transformer_course.checks.report import (
    Report,
    Result,
    explained,
    failed,
    unattempted,
    unexplained,
    unfinished,
)
from transformer_course.checks.running import Clock, Outcome, in_depth, run
from transformer_course.checks.task import Case, Task

FINAL = ("unimplemented", "time", "recursion", "exit", "input", "changed", "random")
NUMBERS, EXPLAINED, SURE = 2, 3, 4  # how much a verdict tells: wrong numbers, why, nothing to add
_DIFFERENT = (
    "and there the same method may do another thing: `x.var`, for example, divides by n in NumPy and by n − 1 "
    "in torch.)"
)
RIGHT_WITH = {
    "numpy": "\n(With NumPy arrays it is right, but it was called with torch tensors, "
    f"{_DIFFERENT}\n(Is it written for NumPy? Then `np.ndarray` belongs in its first line, in place of "
    "`torch.Tensor`.)",
    "torch": "\n(With torch tensors it is right, but it was called with NumPy arrays, "
    f"{_DIFFERENT}",
}  # what is said beside wrong numbers, by the kind of array with which they are right


def judge(
    exercise: Task, function: Callable[..., Any], kinds: Sequence[str] | None = None
) -> Report:
    """Return the verdict on the learner's function; never raises for anything the function does.

    A function may be written for NumPy arrays or for torch tensors: both are tried, and the verdict that
    tells more counts. All calls together have a time limit.

    Args:
        exercise: what was to be written.
        function: what the learner wrote.
        kinds: which arrays to try instead, in this order: "numpy", "torch".

    Returns:
        The verdict, with its sentences.
    """
    refusal = _refuse(exercise, function)
    if refusal:
        return failed(exercise, refusal)
    clock = Clock()
    with random_states_kept():
        report = _most_telling(exercise, function, clock, kinds)
        helper = "" if report.passed else _wrong_helper(exercise, function, clock)
    if not helper:
        return report
    if not report.attempted:  # the helper is what isn't written
        return failed(exercise, f"It uses your `{helper}`, which isn't written yet: begin there.")
    note = f"\nIt uses your `{helper}`, which doesn't pass its own check yet: begin there."
    return dataclasses.replace(report, message=report.message + note)


def _most_telling(
    exercise: Task,
    function: Callable[..., Any],
    clock: Clock,
    kinds: Sequence[str] | None = None,
) -> Report:
    """Judge with each kind of array and return the report that tells most.

    Who gets wrong numbers with the likelier kind doesn't pass with the other: a set, for example, keeps
    tensors of equal value apart.
    """
    first, *others = kinds or _array_kinds(exercise, function)
    best = _judge_with(exercise, function, first, clock)
    for kind in others if best[0] < SURE and not clock.up else ():
        found = _judge_with(exercise, function, kind, clock)
        if found[1].passed and best[0] >= NUMBERS:
            note = RIGHT_WITH[kind]
            best = best[0], dataclasses.replace(best[1], message=best[1].message + note)
        elif found[0] > best[0]:
            best = found
    return best[1]


def _wrong_helper(exercise: Task, function: Callable[..., Any], clock: Clock) -> str:
    """Return the name of a function of another exercise that this one uses and that fails its own check."""
    scope, codes = getattr(function, "__globals__", {}), [getattr(function, "__code__", None)]
    for code in codes:
        codes += [part for part in getattr(code, "co_consts", ()) if inspect.iscode(part)]
        for name in _globals_read(code):
            own = getattr(scope.get(name), "__globals__", None) is scope  # not imported
            # Another function may have the same name, such as a softmax of one argument.
            named = exercises_named(name) if own else []
            exercises = [e for e in named if not _refuse(e, scope[name])]
            fails = exercises and not any(
                _most_telling(e, scope[name], clock).passed for e in exercises
            )
            if clock.up:
                return ""
            if fails and name != exercise.name:
                return str(name)
    return ""


def _globals_read(code: CodeType | None) -> list[str]:
    """Return the global names that code reads, in order; those of attributes, as in `x.softmax(-1)`, aren't."""
    steps = dis.get_instructions(code) if code else ()
    return [str(step.argval) for step in steps if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")]


def _refuse(exercise: Task, function: Any) -> str:
    """Return a sentence if what was given to the check can't be called with the exercise's arguments."""
    if not callable(function):
        return (
            f"Expected a function, got {type(function).__name__}. Give the check the function itself, "
            "without brackets after its name."
        )
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some functions of compiled code tell nothing about themselves
        return ""
    try:
        signature.bind(*exercise.cases[0].arguments)
    except TypeError:
        wanted = f"{exercise.name}({', '.join(exercise.parameters)})"
        return f"Expected a function that can be called as {wanted}, got one with {signature}."
    return ""


def _array_kinds(exercise: Task, function: Callable[..., Any]) -> list[str]:
    """Return what kinds of array to try, the likelier first."""
    if not any(isinstance(x, np.ndarray) for case in exercise.cases for x in case.arguments):
        return ["numpy"]
    annotations = map(str, getattr(function, "__annotations__", {}).values())
    code, scope = getattr(function, "__code__", None), getattr(function, "__globals__", {})
    modules = (getattr(scope.get(name), "__name__", "") for name in getattr(code, "co_names", ()))
    uses_torch = any(name.split(".")[0] == "torch" for name in modules)
    likely = uses_torch or any("Tensor" in name for name in annotations)
    return ["torch", "numpy"] if likely else ["numpy", "torch"]


def _judge_with(
    exercise: Task, function: Callable[..., Any], kind: str, clock: Clock
) -> tuple[float, Report]:
    """Judge with one kind of array; the first number says how much the verdict tells."""
    results: list[Result] = []
    for case, raw in zip(exercise.cases, _answers(exercise), strict=True):
        result = run_case(exercise, function, case, raw, kind, clock)
        if result.outcome.trouble == "unimplemented":
            return SURE, unattempted(exercise)
        if result.outcome.trouble == "slow":
            return int(bool(results)), unfinished(exercise, results)
        if result.outcome.trouble in FINAL:
            return SURE, failed(exercise, result.sentence)
        results.append(result)
    rank, report = _verdict(exercise, results)
    return rank, dataclasses.replace(
        report, message=report.message + _notes(exercise, function, results, report, clock)
    )


def _notes(
    exercise: Task,
    function: Callable[..., Any],
    results: list[Result],
    report: Report,
    clock: Clock,
) -> str:
    """Return what is to be said beside the verdict, each on a line of its own."""
    notes = ""
    if report.passed:
        largest = max(results, key=lambda result: result.case.size)
        called = ready_made_call(exercise, function, largest.given, clock.seconds)
        if called:
            notes += f"\n(It calls {called}. That counts as right; writing it out yourself teaches you more.)"
    if any(result.outcome.printed for result in results):
        notes += "\n(Your function prints something; the check hides it.)"
    return notes


def _verdict(exercise: Task, results: list[Result]) -> tuple[float, Report]:
    """Return what the results of all cases say together, and how much that tells."""
    wrong = [result for result in results if not result.right(exercise.tolerance)]
    if not wrong:
        return SURE, Report(True, None, None, f"Passed: {exercise.name}.")
    found = _diagnose(exercise, results)
    if found is not None:
        return EXPLAINED, found
    smallest = min(wrong, key=lambda result: result.case.size)
    report = unexplained(exercise, smallest, _right_cases(exercise, results))
    if smallest.parts is not None:
        return NUMBERS, report
    return (not smallest.outcome.trouble) + _how_far(results, smallest), report


def _right_cases(exercise: Task, results: list[Result]) -> list[Case]:
    """Return the cases that come out right, but for those of which another of the same name doesn't."""
    wrong = {r.case.about for r in results if not r.right(exercise.tolerance)}
    return [result.case for result in results if result.case.about not in wrong]


def _how_far(results: list[Result], smallest: Result) -> float:
    """Return how far a function came that stops, below 1: cases that it ends, then the line where it stops.

    With the wrong kind of array it stops earlier, and with an error that isn't the learner's.
    """
    ended = sum(not result.outcome.trouble for result in results)
    return (ended + smallest.outcome.line / 10**6) / (len(results) + 1)


@functools.cache
def _answers(exercise: Task) -> list[Any]:
    """Return what the reference returns in each case."""
    return [exercise.reference(*case.arguments) for case in exercise.cases]


@functools.cache
def _wrong_answers(
    exercise: Task, wrong: Callable[..., Any]
) -> list[tuple[list[Array] | None, bool]]:
    """Return for each case what a misconception returns, and whether that tells it from the reference.

    None stands for results that are no arrays, or an exception.
    """
    found: list[tuple[list[Array] | None, bool]] = []
    for case, raw in zip(exercise.cases, _answers(exercise), strict=True):
        outcome = run(wrong, case.arguments, running.SECONDS)
        parts = None if outcome.trouble else loose_parts(outcome.value, len(exercise.returns))
        expected = as_parts(raw, raw, exercise.returns)
        found.append((parts, parts is None or not same(parts, expected, exercise.tolerance)))
    return found


def _tensor(value: Any) -> Any:
    """Return an array as a tensor, numbers with a decimal point in torch's usual precision; else the value."""
    if not isinstance(value, np.ndarray):
        return value
    return torch.tensor(value, dtype=torch.float32 if value.dtype.kind == "f" else None)


def _float_tensor(value: Any) -> Any:
    """Return an array as a tensor in torch's usual precision, whatever its numbers are; else the value."""
    return torch.tensor(value, dtype=torch.float32) if isinstance(value, np.ndarray) else value


def run_case(
    exercise: Task,
    function: Callable[..., Any],
    case: Case,
    raw: Any,
    kind: str,
    clock: Clock | None = None,
) -> Result:
    """Run one case twice: the second time must give the same."""
    clock = clock or Clock()
    given = case.arguments
    if kind == "torch":
        given = in_depth(given, _float_tensor if case.floats else _tensor)
    expected = as_parts(raw, raw, exercise.returns)
    outcome = first = _call(function, given, clock)
    if not first.trouble:
        outcome = _call(function, given, clock)
    if outcome.value is Ellipsis:
        outcome = Outcome(trouble="unimplemented")
    if outcome.trouble == "unimplemented" and case is not exercise.cases[0]:
        outcome = Outcome(
            trouble="error", sentence="Your function still raises NotImplementedError here."
        )
    if outcome.trouble:
        return Result(case, given, expected, outcome, sentence=outcome.sentence)
    try:
        parts, again = (as_parts(o.value, raw, exercise.returns) for o in (first, outcome))
    except Unfit as error:
        return Result(case, given, expected, outcome, sentence=str(error))
    if not same(parts, again, exercise.tolerance):
        sentence = (
            "Your function gives different results for the same inputs. Expected: the same results "
            "each time. Does it draw random numbers, or change a variable outside?"
        )
        return Result(case, given, expected, Outcome(trouble="random"), sentence=sentence)
    return Result(case, given, expected, outcome, parts)


def _call(function: Callable[..., Any], given: tuple[Any, ...], clock: Clock) -> Outcome:
    """Run one call; its trouble is "slow" if it got less than a call may take, and needed more."""
    seconds, start, loaded = clock.seconds, time.monotonic(), len(sys.modules)
    outcome = run(function, given, seconds)
    while outcome.trouble == "time" and len(sys.modules) > loaded:
        # It was the first to need a part of a library, and loading took the time: once, and not its own.
        start, loaded = time.monotonic(), len(sys.modules)
        outcome = run(function, given, seconds)
    clock.spent += time.monotonic() - start
    if outcome.trouble == "time" and seconds < running.SECONDS:
        return Outcome(trouble="slow")
    return outcome


def _diagnose(exercise: Task, results: list[Result]) -> Report | None:
    """Return the report of the misconception that explains the results, or None.

    It explains them if they are equal to its own in every case. Where the cases are questions, it is
    enough that they are equal wherever it differs from the reference: other answers may be wrong too.
    """
    partly: Report | None = None
    for misconception in exercise.misconceptions:
        answers = _wrong_answers(exercise, misconception.wrong)
        pairs = [(result, wrong) for result, (wrong, _) in zip(results, answers, strict=True)]
        telling = [pair for pair, (_, tells) in zip(pairs, answers, strict=True) if tells]
        by_numbers = [result for result, wrong in telling if wrong is not None]
        if not by_numbers or not all(_agrees(exercise, *pair) for pair in telling):
            continue
        alone = all(_agrees(exercise, *pair) for pair in pairs)
        report = explained(exercise, misconception, by_numbers[0], alone)
        if alone:
            return report
        if exercise.secret:
            partly = partly or report
    return partly


def _agrees(exercise: Task, result: Result, wrong: list[Array] | None) -> bool:
    """True if the learner's results of a case are those of a misconception; None: it raises an exception."""
    if wrong is None or result.outcome.trouble:
        return wrong is None and bool(result.outcome.trouble)
    parts = loose_parts(result.outcome.value, len(exercise.returns))
    return parts is not None and same(parts, wrong, exercise.tolerance)
