"""A misconception is named in the spellings of learners too, not only in its own.

tests/data/named_answers/<stem>.py holds functions named EXERCISE__how_it_is_written. The docstring of each is
the name of the misconception that the check must find, or what the verdict must say where none is named.
"""

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from transformer_course.checks.discovery import exercises_by_chapter
from transformer_course.checks.engine import judge
from transformer_course.checks.exercise import Exercise

DATA = Path(__file__).parents[1] / "data" / "named_answers"
CHAPTERS = exercises_by_chapter()


def spellings() -> list[tuple[Exercise, str, Callable[..., Any]]]:
    """Return each exercise with the wrong answers that its check must name."""
    found = []
    for path in sorted(DATA.glob("[a-z]*.py")):
        module = importlib.import_module(f"tests.data.named_answers.{path.stem}")
        exercises = {exercise.name: exercise for exercise in CHAPTERS[path.stem]}
        for name, function in vars(module).items():
            if "__" in name and not name.startswith("_"):
                found.append((exercises[name.split("__")[0]], name, function))
    return found


SPELLINGS = spellings()


@pytest.mark.parametrize(
    ("exercise", "name", "function"), SPELLINGS, ids=[name for _, name, _ in SPELLINGS]
)
def test_the_misconception_is_named(
    exercise: Exercise, name: str, function: Callable[..., Any]
) -> None:
    expected = (function.__doc__ or "").strip()
    assert expected in {misconception.name for misconception in exercise.misconceptions}
    assert judge(exercise, function).misconception == expected


def test_there_are_spellings_of_every_chapter() -> None:
    assert {path.stem for path in DATA.glob("[a-z]*.py")} == set(CHAPTERS)
