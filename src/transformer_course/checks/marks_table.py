"""Marks as a table for spreadsheets: `transformer-course check --csv`."""

import csv
import io
from collections.abc import Iterable
from pathlib import Path

from transformer_course.checks.grading import Mark

COLUMNS = ("learner", "notebook", "exercise", "verdict", "misconception", "message")
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet would compute


def marks_table(marks: Iterable[Mark]) -> bytes:
    """Return marks as CSV, one line a notebook and exercise.

    The learner is the name of the folder that holds the notebook. It is UTF-8 with the mark that spreadsheets
    want. A text that a spreadsheet would compute, for learners can write one, gets an apostrophe in front.

    Args:
        marks: one for each line.

    Returns:
        The bytes of the file.
    """
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(COLUMNS)
    for mark in marks:
        learner = Path(mark.notebook).resolve().parent.name
        row = (
            learner,
            mark.notebook,
            mark.exercise,
            mark.verdict,
            mark.misconception,
            mark.message,
        )
        writer.writerow([_text(cell or "") for cell in row])
    return file.getvalue().encode("utf-8-sig")


def _text(cell: str) -> str:
    return f"'{cell}" if cell.startswith(FORMULA) else cell


def refuse_other_table(path: Path) -> None:
    """Refuse to write over a file that isn't a table of marks.

    Args:
        path: what is to be written; it need not exist.

    Raises:
        ValueError: if it holds something else.
    """
    if path.exists():
        head = ",".join(COLUMNS).encode("utf-8-sig")
        with path.open("rb") as file:
            if not file.read(len(head)) == head:
                raise ValueError(f"{path} is there already and holds no marks: choose another name")
