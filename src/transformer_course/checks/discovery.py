"""Find every exercise of every chapter: a chapter is a package beside this module that lists EXERCISES."""

import functools
import importlib
import pkgutil
import re

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


@functools.cache
def exercises_moved() -> dict[str, tuple[Task, ...]]:
    """Return the exercises that left a chapter for another: notebooks from before still call them there.

    A chapter's package has them under their names, but doesn't list them in EXERCISES.

    >>> [task.name for task in exercises_moved()["decoding"]]
    ['bleu']
    """
    here = exercises_by_chapter()
    packages = {stem: importlib.import_module(f"{checks.__name__}.{stem}") for stem in here}
    return {
        stem: tuple(x for x in vars(p).values() if isinstance(x, Task) and x not in here[stem])
        for stem, p in packages.items()
    }


@functools.cache
def chapter_titles() -> dict[str, tuple[str, str]]:
    """Return number and title of each chapter with exercises, by its stem, in the order of the book.

    They are in the first line of the docstring of the chapter's package.

    >>> chapter_titles()["multi_head"]
    ('04', 'multi-head attention')
    """
    found = {}
    for stem in exercises_by_chapter():
        doc = importlib.import_module(f"{checks.__name__}.{stem}").__doc__ or ""
        said = re.match(r".* chapter (\d\d), (?:the )?([^:]+):", doc)
        if not said:
            raise ValueError(
                f"checks.{stem} must name its chapter in the first line of its docstring"
            )
        found[stem] = (said[1], said[2])
    return dict(sorted(found.items(), key=lambda item: item[1]))


def exercises_named(name: str, chapter: str | None = None) -> list[Task]:
    """Return the exercises of one chapter, or of all, whose function has this name."""
    by_chapter = exercises_by_chapter()
    found = by_chapter.get(chapter, ()) if chapter else sum(by_chapter.values(), ())
    return [exercise for exercise in found if exercise.name == name]
