"""All checks of a learner's notebooks in one go, for teachers: `transformer-course check FOLDER`.

A notebook is run as the learner would run it, in a kernel of its own and in an empty folder with a copy of the
learner's `my_transformer.py`. Each check that speaks also writes its verdict into a file that an environment
variable names. Nothing of the learner's is changed.
"""

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformer_course.checks.report import Report

if TYPE_CHECKING:
    from nbformat import NotebookNode

VARIABLE = "TRANSFORMER_COURSE_REPORTS"
CHECKED = re.compile(r"\bcheck\.(\w+)\(")


@dataclass(frozen=True)
class Mark:
    """What came of one exercise of one notebook.

    Args:
        notebook: the notebook's path.
        exercise: name of the check.
        verdict: "right", "not yet right", "not attempted", or "no verdict" if the check never spoke.
        misconception: name of the mistake that explains the result, or None.
        message: what the check printed, or why it never spoke.
    """

    notebook: str
    exercise: str
    verdict: str
    misconception: str | None
    message: str


def write_down(name: str, report: Report) -> None:
    """Add a verdict to the file that `mark_notebook` reads, if there is one."""
    if path := os.environ.get(VARIABLE):
        verdict = "right" if report.passed else "not yet right"
        line = {
            "exercise": name,
            "verdict": verdict if report.attempted else "not attempted",
            "misconception": report.misconception,
            "message": report.message,
        }
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def find_notebooks(paths: Iterable[Path]) -> list[Path]:
    """Return the notebooks among the paths, and those directly in folders among them.

    Raises:
        ValueError: if a path doesn't exist, is no notebook, or is a folder without notebooks.
    """
    found: list[Path] = []
    for path in paths:
        notebooks = sorted(path.glob("*.ipynb")) if path.is_dir() else [path]
        if not notebooks:
            raise ValueError(f"{path} has no notebook (*.ipynb)")
        for notebook in notebooks:
            if notebook.suffix != ".ipynb" or not notebook.is_file():
                raise ValueError(
                    f"{notebook} must be a notebook (*.ipynb) or a folder of notebooks"
                )
        found += notebooks
    return found


def mark_notebook(path: Path, seconds: int = 120) -> list[Mark]:
    """Run a notebook and return a mark for every check that its cells call, in their order.

    Args:
        path: the notebook. It is run, so take it only from people you trust.
        seconds: time limit of one cell.

    Raises:
        ValueError: if the file isn't a notebook, or if what runs notebooks isn't installed.
    """
    notebook = _read(path)
    spoken, errors = _run(notebook, path.parent, seconds)
    marks = []
    for number, name in _checked(notebook):
        if name in spoken:
            marks.append(Mark(str(path), **spoken[name]))
        else:
            why = errors.get(number) or "its cell ran, but called no check of the course"
            marks.append(Mark(str(path), name, "no verdict", None, why))
    return marks


def _read(path: Path) -> "NotebookNode":
    try:
        import nbformat
    except ImportError as error:
        raise ValueError("install transformer-course[learn] to run notebooks") from error
    try:
        return nbformat.read(path, as_version=4)
    except (ValueError, nbformat.ValidationError) as error:
        raise ValueError(f"{path} is not a notebook: {str(error).splitlines()[0]}") from error


def _checked(notebook: "NotebookNode") -> list[tuple[int, str]]:
    """Return the number of the cell and the name of every check that is called, each name once."""
    names: dict[str, int] = {}
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type == "code":
            for name in CHECKED.findall(cell.source):
                names.setdefault(name, number)
    return [(number, name) for name, number in names.items()]


def _run(
    notebook: "NotebookNode", folder: Path, seconds: int
) -> tuple[dict[str, dict[str, Any]], dict[int, str]]:
    """Run all cells; return the last verdict of each check, and the error of each cell that has one."""
    from nbclient import NotebookClient
    from nbclient.exceptions import DeadKernelError

    with tempfile.TemporaryDirectory() as place:
        reports = Path(place) / "reports.jsonl"
        own = folder / "my_transformer.py"
        if own.exists():
            shutil.copy(own, place)
        client = NotebookClient(
            notebook,
            timeout=seconds,
            interrupt_on_timeout=True,
            allow_errors=True,
            extra_arguments=["--log-level=ERROR"],
            resources={"metadata": {"path": place}},
        )
        errors: dict[int, str] = {}
        try:
            client.execute(env=os.environ | {VARIABLE: str(reports)})
        except DeadKernelError:
            errors = dict.fromkeys(
                range(len(notebook.cells)), "the kernel died before it was called"
            )
        lines = reports.read_text(encoding="utf-8").splitlines() if reports.exists() else []
    for number, cell in enumerate(notebook.cells):
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                errors[number] = f"its cell stopped with {output.ename}: {output.evalue}"
    return {found["exercise"]: found for found in map(json.loads, lines)}, errors
