"""Every exercise of every chapter against solutions, stubs, misconceptions, and other right and wrong answers.

    python tests/checks/test_checks_answers.py     write the messages of the wrong answers; then read them

A chapter has tests/data/right_answers/<stem>.py and tests/data/wrong_answers/<stem>.py: functions named
EXERCISE__what_is_special_about_it. Names that begin with an underscore are theirs.
"""

import functools
import importlib
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

try:
    from tests.checks import mutations
except ModuleNotFoundError:  # run as a script
    import mutations

from transformer_course.checks.discovery import exercises_by_chapter
from transformer_course.checks.engine import judge
from transformer_course.checks.exercise import Case, Exercise, Misconception
from transformer_course.checks.report import Report

DATA = Path(__file__).parents[1] / "data"
CHAPTERS = exercises_by_chapter()
EXERCISES = [(chapter, exercise) for chapter, found in CHAPTERS.items() for exercise in found]
DRAWN = [(chapter, exercise) for chapter, exercise in EXERCISES if exercise.draw is not None]
MISCONCEPTIONS = [
    (exercise, wrong) for _, exercise in EXERCISES for wrong in exercise.misconceptions
]
COUNT = 50  # mutants of each solution; `make mutants` takes 1000

Named = list[tuple[str, Callable[..., Any]]]


def _label(value: Any) -> str | None:
    return getattr(value, "name", value if isinstance(value, str) else None)


def answers(kind: str, chapter: str, exercise: Exercise) -> Named:
    """Return the functions for an exercise from tests/data/<kind>_answers/<chapter>.py, by what is special."""
    module = importlib.import_module(f"tests.data.{kind}_answers.{chapter}")
    start = f"{exercise.name}__"
    return [(name[len(start) :], f) for name, f in vars(module).items() if name.startswith(start)]


def solutions(chapter: str) -> dict[str, Any]:
    """Return what the notebook with solutions defines."""
    return mutations.notebook_names(mutations.notebook_of(chapter, "solutions"))[0]


@functools.cache
def wrong_reports(chapter: str, exercise: Exercise) -> dict[str, Report]:
    """Return what the check says of each wrong answer, by what is special; two tests read it."""
    return {name: judge(exercise, f) for name, f in answers("wrong", chapter, exercise)}


@pytest.mark.parametrize(("chapter", "exercise"), EXERCISES, ids=_label)
def test_the_solution_passes(chapter: str, exercise: Exercise) -> None:
    report = judge(exercise, solutions(chapter)[exercise.name])
    assert report.message == f"Passed: {exercise.name}."


@pytest.mark.parametrize(("chapter", "exercise"), EXERCISES, ids=_label)
def test_the_stub_is_not_attempted(chapter: str, exercise: Exercise) -> None:
    scope = mutations.notebook_names(mutations.notebook_of(chapter, ""))[0]
    report = judge(exercise, scope[exercise.name])
    assert (report.passed, report.attempted) == (False, False)
    assert report.message.startswith(f"{exercise.name}: not attempted yet.")


@pytest.mark.parametrize(("exercise", "wrong"), MISCONCEPTIONS, ids=_label)
def test_each_misconception_gets_its_own_hint(exercise: Exercise, wrong: Misconception) -> None:
    report = judge(exercise, wrong.wrong)
    assert (report.passed, report.misconception, report.hint) == (False, wrong.name, wrong.hint)
    assert "Other answers" not in report.message


@pytest.mark.parametrize(("chapter", "exercise"), EXERCISES, ids=_label)
def test_misconceptions_are_several_and_differently_named(chapter: str, exercise: Exercise) -> None:
    for texts in (
        [m.name for m in exercise.misconceptions],
        [m.hint for m in exercise.misconceptions],
    ):
        assert len(texts) >= 5
        assert len(set(texts)) == len(texts)
    assert all(m.hint.endswith((".", "?")) for m in exercise.misconceptions)


@pytest.mark.parametrize(("chapter", "exercise"), EXERCISES, ids=_label)
def test_three_other_right_answers_pass(chapter: str, exercise: Exercise) -> None:
    found = answers("right", chapter, exercise)
    assert len(found) >= 3, f"tests/data/right_answers/{chapter}.py: three for {exercise.name}"
    verdicts = {name: judge(exercise, f).message.split("\n(It calls ")[0] for name, f in found}
    assert verdicts == {name: f"Passed: {exercise.name}." for name, _ in found}


@pytest.mark.parametrize(("chapter", "exercise"), EXERCISES, ids=_label)
def test_five_wrong_answers_are_rejected(chapter: str, exercise: Exercise) -> None:
    """Each gets another message than being right, and none is just a misconception over again."""
    reports = wrong_reports(chapter, exercise)
    assert len(reports) >= 5, f"tests/data/wrong_answers/{chapter}.py: five for {exercise.name}"
    assert [name for name, report in reports.items() if report.passed or not report.attempted] == []
    explained = {name for name, r in reports.items() if r.hint and "Other answers" not in r.message}
    assert explained == set()


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_messages_of_wrong_answers_are_those_that_were_read(chapter: str) -> None:
    path = DATA / "wrong_answers" / f"{chapter}.txt"
    assert path.exists(), "python tests/checks/test_checks_answers.py writes it; then read it"
    assert messages(chapter) == path.read_text(encoding="utf-8")


def messages(chapter: str) -> str:
    """Return the message that each wrong answer of a chapter gets."""
    blocks = [
        f"## {name.replace('_', ' ')}\n{report.message}\n"
        for exercise in CHAPTERS[chapter]
        for name, report in wrong_reports(chapter, exercise).items()
    ]
    return "\n".join(blocks)


@pytest.mark.parametrize(("chapter", "exercise"), EXERCISES, ids=_label)
def test_no_hint_gives_the_answer_away(chapter: str, exercise: Exercise) -> None:
    """Neither the answer to a question nor a step of the solution."""
    hints = [m.name + " " + m.hint for m in exercise.misconceptions]
    hints += [case.nudge for case in exercise.cases]
    for told in _answers_told(exercise) if exercise.secret else _steps(chapter, exercise):
        assert [hint for hint in hints if re.search(rf"(?<![\w.]){re.escape(told)}", hint)] == []


def _answers_told(exercise: Exercise) -> set[str]:
    results = [exercise.reference(*case.arguments) for case in exercise.cases]
    return {str(result) for result in results} | {f"{r:g}" for r in results if type(r) is float}


def _steps(chapter: str, exercise: Exercise) -> set[str]:
    source = mutations.notebook_names(mutations.notebook_of(chapter, "solutions"))[1][exercise.name]
    steps = (line.strip().removeprefix("return ") for line in source.splitlines()[1:])
    return {step.split(" = ")[-1] for step in steps if len(step) > 12}


@pytest.mark.parametrize(("chapter", "exercise"), DRAWN, ids=_label)
def test_misconceptions_differ_in_fresh_cases_too(chapter: str, exercise: Exercise) -> None:
    """A mistake that shows only in one case of the check would be no mistake."""
    for wrong in exercise.misconceptions:
        assert not mutations.means_the_same(exercise, wrong.wrong, "numpy"), wrong.name


@pytest.mark.parametrize(("chapter", "exercise"), DRAWN, ids=_label)
def test_fresh_cases_are_fresh_and_right_answers_pass_them(
    chapter: str, exercise: Exercise
) -> None:
    assert exercise.draw is not None
    used = {repr(case.arguments) for case in exercise.cases}
    fresh = {repr(exercise.draw(np.random.default_rng([2, seed]))) for seed in range(200)}
    assert not used & fresh
    assert len(fresh) > 190
    solution = solutions(chapter)[exercise.name]
    kind = mutations.kind_of(exercise, solution)
    assert mutations.means_the_same(exercise, solution, kind)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_mutants_of_the_solutions_are_rejected(chapter: str) -> None:
    found = mutations.chapters_tallies(chapter, COUNT)
    for name, tally in found.items():
        print(mutations.line(name, tally))
    assert {name: tally.survivors for name, tally in found.items() if tally.survivors} == {}
    assert all(tally.rejected >= COUNT // 2 for tally in found.values())


def test_the_mutator_changes_what_it_should() -> None:
    source = "def f(x: int, y):\n    if x < 2:\n        return x + y\n    return x.sum(axis=-1), y"
    texts = list(mutations.mutants(source, 200))
    assert len(set(texts)) == len(texts) == 200
    assert texts == list(mutations.mutants(source, 200))
    assert texts != list(mutations.mutants(source, 200, seed=1))
    for piece in (
        "x >= 2",
        "x * y",
        "x < 3",
        "mean(axis=-1)",
        "axis=1",
        "sum()",
        "(y, x.sum",
        "not x <",
    ):
        assert any(piece in text for text in texts), piece


def test_a_check_that_lets_something_through_has_survivors() -> None:
    """Its only case, 1, can't tell 2 * x from 2 ** x."""
    weak = Exercise(
        name="double",
        kind="implement",
        difficulty=1,
        minutes=1,
        statement="",
        returns=("doubled",),
        reference=lambda x: x * 2.0,
        cases=(Case("one", (np.ones(1),)),),
        misconceptions=(),
        draw=lambda rng: (rng.normal(size=2),),
    )
    source = "def double(x):\n    return x * 2.0"
    scope: dict[str, Any] = {}
    exec(source, scope)
    found = mutations.tally(weak, scope, source, 60)
    assert "def double(x):\n    return x + 1.0" in found.survivors
    assert found.rejected > 20


def _write() -> Iterator[str]:
    for chapter in CHAPTERS:
        path = DATA / "wrong_answers" / f"{chapter}.txt"
        path.write_text(messages(chapter), encoding="utf-8")
        yield str(path.relative_to(DATA.parent.parent))


if __name__ == "__main__":
    sys.path.insert(0, str(DATA.parent.parent))
    print("\n".join(_write()))
