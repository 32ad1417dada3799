"""Find every exercise of every chapter: a chapter is a package beside this module that lists EXERCISES."""

import functools
import importlib
import pkgutil

from transformer_course import checks
from transformer_course.checks.task import Task


@functools.cache
def exercises_by_chapter() -> dict[str, tuple[Task, ...]]:
    """Return the exercises of each chapter, by the chapter's stem.

    >>> "attention" in exercises_by_chapter()
    True
    """
    names = (found.name for found in pkgutil.iter_modules(checks.__path__) if found.ispkg)
    packages = {name: importlib.import_module(f"{checks.__name__}.{name}") for name in names}
    return {name: package.EXERCISES for name, package in packages.items()}


def exercises_named(name: str, chapter: str | None = None) -> list[Task]:
    """Return the exercises of one chapter, or of all, whose function has this name."""
    by_chapter = exercises_by_chapter()
    found = by_chapter.get(chapter, ()) if chapter else sum(by_chapter.values(), ())
    return [exercise for exercise in found if exercise.name == name]
