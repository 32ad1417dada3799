"""How far a learner has come: what is solved, what comes next, how many minutes are left.

Nothing is stored for this. An exercise is solved if its check said so in this kernel, if a saved notebook holds
that verdict, or if `my_transformer.py` has a function that passes the check now.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformer_course.checks.discovery import (
    chapter_titles,
    exercises_by_chapter,
    exercises_moved,
)
from transformer_course.checks.engine import judge
from transformer_course.checks.exercise import SAID
from transformer_course.checks.grading import NO_CODE, chapters_imported
from transformer_course.checks.own_file import FILE, CannotKeep, load
from transformer_course.checks.progress_html import filled_map, table
from transformer_course.checks.task import Task

BAR = 12  # characters of a full bar


@dataclass(frozen=True)
class ChapterProgress:
    """How far a learner has come in one chapter.

    Args:
        number: the chapter's, such as "01".
        title: its title.
        solved: names of the exercises that are solved, in their order.
        open: the exercises that aren't, in their order.
        begun: True if one was attempted.
        notebook: file name of the chapter's notebook, or "" if it isn't in the folder.
    """

    number: str
    title: str
    solved: tuple[str, ...]
    open: tuple[Task, ...]
    begun: bool
    notebook: str

    @property
    def total(self) -> int:
        """Number of exercises."""
        return len(self.solved) + len(self.open)

    @property
    def minutes(self) -> int:
        """Minutes that the open exercises take."""
        return sum(task.minutes for task in self.open)


@dataclass(frozen=True)
class Progress:
    """How far a learner has come in all chapters; shows itself as text, and as a map in a notebook.

    Args:
        chapters: one for each chapter with exercises, in their order.
        notes: what could not be read.
    """

    chapters: tuple[ChapterProgress, ...]
    notes: tuple[str, ...] = ()

    @property
    def next(self) -> tuple[ChapterProgress, Task] | None:
        """The first open exercise of a chapter that is begun, else of all; None if all are solved."""
        unfinished = [chapter for chapter in self.chapters if chapter.open]
        begun = [chapter for chapter in unfinished if chapter.begun]
        return next(((chapter, chapter.open[0]) for chapter in begun or unfinished), None)

    def summary(self) -> str:
        """Say in one line how much is solved and how long the rest takes."""
        solved, total = (sum(counts) for counts in zip(*map(_counts, self.chapters), strict=True))
        left = time_of(sum(chapter.minutes for chapter in self.chapters))
        return f"{solved} of {total} exercises solved{f', {left} left' if solved < total else ''}."

    def next_step(self) -> str:
        """Say in one line what comes next."""
        if self.next is None:
            return "Every exercise is solved."
        chapter, task = self.next
        place = (
            f"in {chapter.notebook}" if chapter.notebook else "its notebook isn't in this folder"
        )
        return f"Next: {task.name} (chapter {chapter.number}, {task.kind}, {time_of(task.minutes)}), {place}."

    def __repr__(self) -> str:
        """Return the text: a line for each chapter, then what comes next."""
        lines = [self.summary()]
        for chapter in self.chapters:
            filled = BAR * len(chapter.solved) // chapter.total
            left = f", {time_of(chapter.minutes)} left" if chapter.open else ""
            lines.append(
                f"{chapter.number} {chapter.title:<22} [{'#' * filled:.<{BAR}}] "
                f"{len(chapter.solved)} of {chapter.total} solved{left}"
            )
        return "\n".join([*lines, self.next_step(), *self.notes])

    def _repr_html_(self) -> str:
        """Return the map, filled in, and the same in words as a table."""
        shares = {c.number: len(c.solved) / c.total for c in self.chapters}
        rows = [
            (f"{c.number} {c.title}", len(c.solved), c.total, time_of(c.minutes))
            for c in self.chapters
        ]
        notebook = self.next[0].notebook if self.next else ""
        words = table(self.summary(), rows, self.next_step(), notebook, self.notes)
        return f'<div style="display:flex;flex-wrap:wrap;gap:1em 2em">{filled_map(shares)}{words}</div>'


def progress(folder: str | Path = ".") -> Progress:
    """Look how far the learner has come. It runs the code of `my_transformer.py`, and no notebook.

    Args:
        folder: where the exercise notebooks and `my_transformer.py` are, or the folder above `exercises`.

    Returns:
        What is solved, next and left; in a notebook it shows itself as a map. Notebooks count as they were
        saved, but for the checks that this kernel has run.

    Raises:
        ValueError: if there is no such folder.
    """
    place = Path(folder)
    if not place.is_dir():
        raise ValueError(f"folder ({folder}) must be a folder with exercise notebooks")
    if not any(place.glob("*.ipynb")) and (place / "exercises").is_dir():
        place /= "exercises"
    said, notebooks, begun, notes = _saved(place)
    said |= {task: report.verdict for task, report in SAID.items()}
    kept, note = _kept(place / FILE)
    said |= dict.fromkeys(kept, "right")
    return Progress(
        tuple(
            _chapter(stem, said, notebooks.get(stem, ""), stem in begun)
            for stem in chapter_titles()
        ),
        tuple(notes + note),
    )


def time_of(minutes: int) -> str:
    """Write a time for people.

    >>> time_of(45), time_of(170)
    ('about 45 minutes', 'about 3 hours')
    """
    return f"about {minutes} minutes" if minutes < 120 else f"about {round(minutes / 60)} hours"


def _counts(chapter: ChapterProgress) -> tuple[int, int]:
    return len(chapter.solved), chapter.total


def _chapter(stem: str, said: dict[Task, str], notebook: str, begun: bool) -> ChapterProgress:
    tasks = exercises_by_chapter()[stem]
    # What moved here and was solved where it was begins no chapter.
    moved = set(sum(exercises_moved().values(), ()))
    number, title = chapter_titles()[stem]
    return ChapterProgress(
        number,
        title,
        solved=tuple(task.name for task in tasks if said.get(task) == "right"),
        open=tuple(task for task in tasks if said.get(task) != "right"),
        begun=begun
        or any(
            said.get(task, "not attempted") != "not attempted"
            for task in tasks
            if task not in moved
        ),
        notebook=notebook,
    )


def _saved(place: Path) -> tuple[dict[Task, str], dict[str, str], set[str], list[str]]:
    """Return the verdicts in saved notebooks, each chapter's, which are begun, and what can't be read."""
    said: dict[Task, str] = {}
    notebooks: dict[str, str] = {}
    begun, notes = set(), []
    for path in sorted(place.glob("*.ipynb")):
        try:
            cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
            found = list(_verdicts(cells))
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            notes.append(f"{path.name} can't be read as a notebook.")
            continue
        for stem, task, verdict in found:
            notebooks.setdefault(stem, path.name)
            if verdict and verdict != "not attempted":
                begun.add(stem)
            if task and said.get(task) != "right":  # of a notebook and its copy, the better counts
                said[task] = verdict
    return said, notebooks, begun, notes


def _verdicts(cells: list[dict[str, Any]]) -> Iterator[tuple[str, Task | None, str]]:
    """Yield the chapters whose checks a notebook has, then the last verdict of each check in its outputs."""
    codes = [cell for cell in cells if cell["cell_type"] == "code"]
    sources = [NO_CODE.sub("", "".join(cell["source"])) for cell in codes]
    own_names = chapters_imported(sources)
    for stem in own_names.values():
        yield stem, None, ""
    found: dict[Task, tuple[str, str]] = {}
    for cell, source in zip(codes, sources, strict=True):
        printed = "\n".join(_printed(output) for output in cell["outputs"])
        for own, stem in own_names.items():
            for task in exercises_by_chapter()[stem] + exercises_moved()[stem]:
                if re.search(rf"\b{own}\s*\.\s*{task.name}\s*\(", source):
                    spoken = _spoken(task.name, printed)
                    found |= {task: (stem, spoken)} if spoken else {}
    for task, (stem, spoken) in found.items():
        yield stem, task, spoken


def _printed(output: dict[str, Any]) -> str:
    """Return what one output of a cell says as text."""
    return "".join(output.get("text") or output.get("data", {}).get("text/plain", ""))


def _spoken(name: str, printed: str) -> str:
    """Return the last verdict on an exercise in what a cell printed, or nothing."""
    heads = {
        f"Passed: {name}.": "right",
        f"{name}. Not yet right": "not yet right",
        f"{name}: not attempted yet": "not attempted",
    }
    last = [v for line in printed.splitlines() for h, v in heads.items() if line.startswith(h)]
    return last[-1] if last else ""


def _kept(path: Path) -> tuple[list[Task], list[str]]:
    """Return the exercises that the learner's file solves, and why it can't be read, if so."""
    if not path.is_file():
        return [], []
    try:
        own = load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return [], [f"{FILE} can't be read."]
    except CannotKeep as error:
        return [], [str(error)]
    tasks = [task for tasks in exercises_by_chapter().values() for task in tasks]
    return [t for t in tasks if callable(own.get(t.name)) and judge(t, own[t.name]).passed], []
