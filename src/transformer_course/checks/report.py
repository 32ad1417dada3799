"""The verdict on the learner's function, in words."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from transformer_course.checks import running
from transformer_course.checks.comparing import Array, names_of_parts, same, show
from transformer_course.checks.differing import Difference, find_difference
from transformer_course.checks.running import Outcome
from transformer_course.checks.task import Arguments, Case, Misconception, Task

LISTED = 3  # cases that are right already; the largest ones


@dataclass(frozen=True)
class Report:
    """The verdict on one function.

    Args:
        passed: True if every case came out as expected.
        misconception: name of the mistake that explains the results, or None.
        hint: a sentence that helps with this misconception, or None.
        message: the whole verdict, as printed.
        attempted: False if the function is still as the notebook gave it.
        difference: the first wrong number with its neighbours, where they may be shown.
        case: what the case is in which it was found.
    """

    passed: bool
    misconception: str | None
    hint: str | None
    message: str
    attempted: bool = True
    difference: Difference | None = None
    case: str = ""

    @property
    def verdict(self) -> str:
        """One of three words for it, namely "right", "not yet right" or "not attempted"."""
        if not self.attempted:
            return "not attempted"
        return "right" if self.passed else "not yet right"

    def __repr__(self) -> str:
        """Show the fields a reader may ask for; the message has been printed."""
        return f"Report(passed={self.passed}, misconception={self.misconception!r}, hint={self.hint!r})"


@dataclass(frozen=True)
class Result:
    """One case with what was expected and what came of it.

    Args:
        case: the case.
        given: its arguments as the function got them, NumPy arrays or torch tensors.
        expected: the right results.
        outcome: what came of the call.
        parts: the results; None where they can't be compared.
        sentence: why they can't.
    """

    case: Case
    given: Arguments
    expected: list[Array]
    outcome: Outcome
    parts: list[Array] | None = None
    sentence: str = ""

    def right(self, tolerance: float) -> bool:
        """True if the results are as expected."""
        return self.parts is not None and same(self.parts, self.expected, tolerance)


def unattempted(exercise: Task) -> Report:
    """Return the report of a function that isn't written yet."""
    message = (
        f"{exercise.name}: not attempted yet. Replace `raise NotImplementedError` by your own lines. "
        f"Expected result: {', '.join(exercise.returns)}. About {exercise.minutes} minutes."
    )
    return Report(False, None, None, message, attempted=False)


def failed(exercise: Task, sentence: str) -> Report:
    """Return the report of a wrong answer that no misconception explains."""
    return Report(False, None, None, f"{exercise.name}. Not yet right. {sentence}")


def explained(exercise: Task, found: Misconception, result: Result, alone: bool) -> Report:
    """Return the report of a wrong answer that a misconception explains.

    Args:
        exercise: what was to be done.
        found: the misconception.
        result: a case that tells it from the right answer.
        alone: False if something else is wrong too.
    """
    where = f"Question {result.case.arguments[0]!r}: " if exercise.secret else ""
    more = "Other answers aren't right yet either."
    message = f"{exercise.name}. Not yet right: {where}{found.name}.\nHint: {found.hint}"
    report = Report(False, found.name, found.hint, message if alone else f"{message}\n{more}")
    return _pointing(report, exercise, result)


def unexplained(exercise: Task, result: Result, right: Sequence[Case] = ()) -> Report:
    """Return the report of a wrong answer by its smallest case that fails.

    Args:
        exercise: what was to be done.
        result: what came of that case.
        right: the cases that come out right.
    """
    if exercise.secret:
        sentence = result.sentence
        if result.parts is not None:
            sentence = f"Expected another answer, got {result.outcome.value!r:.60}."
        question = f"Question {result.case.arguments[0]!r} ({result.case.about})"
        return failed(exercise, f"{question}: {sentence} {result.case.nudge}".rstrip())
    found = _difference(exercise, result)
    sentence = found.sentence() if found else result.sentence
    pairs = zip(exercise.parameters, result.given, strict=False)
    shown = "\n".join("  " + show(name, value).replace("\n", "\n  ") for name, value in pairs)
    shown = "\n".join(line.rstrip() for line in shown.splitlines())
    largest = sorted(right, key=lambda case: case.size)
    names = list(dict.fromkeys(case.about for case in largest))
    if names:
        sentence += f" Right already: {'; '.join(names[-LISTED:])}."
    report = failed(
        exercise, f"{sentence}\nThe smallest case that fails ({result.case.about}):\n{shown}"
    )
    return _pointing(report, exercise, result)


def _pointing(report: Report, exercise: Task, result: Result) -> Report:
    """Return the report with the first wrong number of a case."""
    return replace(report, difference=_difference(exercise, result), case=result.case.about)


def _difference(exercise: Task, result: Result) -> Difference | None:
    """Return the first wrong number; None where there are no numbers, or they would be the solution."""
    if exercise.secret or result.parts is None or result.right(exercise.tolerance):
        return None
    names = names_of_parts(result.outcome.value, exercise.returns)
    return find_difference(result.parts, result.expected, names, exercise.tolerance)


def unfinished(exercise: Task, results: list[Result]) -> Report:
    """Return the report of an answer so slow that the check stopped.

    Args:
        exercise: what was to be done.
        results: those of the cases before that.
    """
    stopped = (
        f"The check stopped after {running.ALL_SECONDS:g} seconds, with {len(results)} of "
        f"{len(exercise.cases)} cases done: your function is slow"
    )
    wrong = [result for result in results if not result.right(exercise.tolerance)]
    if wrong:
        report = unexplained(exercise, min(wrong, key=lambda result: result.case.size))
        return replace(report, message=f"{report.message}\n({stopped}.)")
    so_far = " So far its results are right." if results else ""
    return failed(
        exercise,
        f"{stopped}.{so_far} Expected: an answer at once, for inputs as small as these. Is something "
        "computed again and again that could be computed once?",
    )
