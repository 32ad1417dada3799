"""All checks of a learner's notebooks in one go, for teachers: `transformer-course check FOLDER`.

A notebook is run as the learner would run it, in a kernel of its own and in an empty folder with a copy of the
learner's `my_transformer.py`. The kernel is the running Python, whatever name the notebook gives to its own.
Each check that speaks also writes its verdict into a file that an environment variable names. Nothing of the
learner's is changed.
"""

import asyncio
import json
import os
import re
import shutil
import tempfile
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformer_course.checks import fence
from transformer_course.checks.discovery import exercises_by_chapter
from transformer_course.checks.report import Report

if TYPE_CHECKING:
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient
    from nbformat import NotebookNode

VARIABLE = "TRANSFORMER_COURSE_REPORTS"
UNCALLED = "the notebook doesn't call its check"
_MOST = 4 << 20  # bytes of verdicts that are read
GRACE = 5.0  # seconds that an interrupted cell has to stop before its kernel is killed
# Strings and comments; a call that stands in one is none. Cells needn't be Python: magics, half a line.
NO_CODE = re.compile(
    r"""('{3}|"{3}).*?\1|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|\#[^\n]*""", re.DOTALL
)
NAMED = r"(\w+)\b(?!\.)(?:\s+as\s+(\w+))?"  # a module, and what the learner calls it
MODULE = re.compile(rf"\btransformer_course\.checks\.{NAMED}")
MODULES = re.compile(
    r"\bfrom\s+transformer_course\.checks\s+import\b(\s*\([^)]*\)|(?:\\\n|[^\n;])*)"
)


@dataclass(frozen=True)
class Mark:
    """What came of one exercise of one notebook.

    Args:
        notebook: the notebook's path.
        exercise: name of the check; empty if the mark is about the whole notebook.
        verdict: "right", "not yet right" or "not attempted"; "no verdict" if the check never spoke;
            "not in the notebook" if nothing calls the check of an exercise of the notebook's chapter;
            "not run" if the notebook can't be read or run.
        misconception: name of the mistake that explains the result, or None.
        message: what the check printed, or why it never spoke, or why the notebook was not run.
    """

    notebook: str
    exercise: str
    verdict: str
    misconception: str | None
    message: str


def write_down(name: str, report: Report) -> None:
    """Add a verdict to the file that `mark_notebook` reads, if there is one."""
    if path := os.environ.get(VARIABLE):
        line = {
            "exercise": name,
            "verdict": report.verdict,
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


def mark_notebook(path: Path, seconds: int = 120, *, fenced: bool = False) -> list[Mark]:
    """Run a notebook and return a mark for every exercise, those that its cells check first, in their order.

    The exercises are those of the chapters whose checks the notebook imports. A notebook without any check,
    or one that can't be read or run, gets a single mark that says so.

    Args:
        path: the notebook. It is run, so take it only from people you trust.
        seconds: time limit of one cell. Where a cell can't be stopped, the cells after it are not run.
        fenced: run it behind a fence (`checks.fence`).

    Returns:
        One mark an exercise, or a single one about the whole notebook.

    Raises:
        ValueError: if what runs notebooks isn't installed, or this system has no fence.
    """
    _require_jupyter()
    if fenced:
        require_fence()
    try:
        notebook = _read(path)
        spoken, errors = _run(notebook, path.parent, seconds, fenced)
    except OSError as error:
        return [Mark(str(path), "", "not run", None, f"{error.strerror}: {error.filename}")]
    except ValueError as error:
        return [Mark(str(path), "", "not run", None, str(error))]
    called, exercises = _checks(notebook)
    names = dict.fromkeys([*called, *exercises, *spoken])
    if not names:
        return [Mark(str(path), "", "no verdict", None, "the notebook has no check of the course")]
    silent = {name: Mark(str(path), name, "not in the notebook", None, UNCALLED) for name in names}
    for name, number in called.items():
        why = errors.get(number) or "its cell ran, but called no check of the course"
        silent[name] = Mark(str(path), name, "no verdict", None, why)
    return [Mark(str(path), **spoken[name]) if name in spoken else silent[name] for name in names]


def _require_jupyter() -> None:
    try:
        import ipykernel  # noqa: F401
        import nbclient  # noqa: F401
        import nbformat  # noqa: F401
    except ImportError as error:
        raise ValueError(
            "to run notebooks, install the package with what learners need: "
            '`pip install ".[learn]"` in the folder of the course'
        ) from error


def _read(path: Path) -> "NotebookNode":
    """Return a notebook of the file's code, without outputs; a ValueError says what is wrong with it."""
    import nbformat

    try:
        text = path.read_text(encoding="utf-8")
        json.loads(text)
    except UnicodeDecodeError as error:
        raise ValueError("the file is not text in UTF-8") from error
    except json.JSONDecodeError as error:
        if not text.strip():
            raise ValueError("the file is empty") from error
        raise ValueError(
            f"the file is not JSON from line {error.lineno} on; it may be cut off"
        ) from error
    except (RecursionError, ValueError) as error:  # nested too deep, or a number of too many digits
        raise ValueError("the file is JSON, but not a notebook") from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # ids of cells that are missing, or there twice
            cells = nbformat.reads(text, as_version=4).cells
        codes = [nbformat.v4.new_code_cell(c.source) for c in cells if c.cell_type == "code"]
    except Exception as error:  # which one it is depends on what is missing
        raise ValueError("the file is JSON, but not a notebook") from error
    return nbformat.v4.new_notebook(cells=codes)


def chapters_imported(codes: list[str]) -> dict[str, str]:
    """Return the chapters whose checks are imported: the name that the learner gives to each, and its stem.

    Args:
        codes: the code of a notebook's cells, without strings and comments (`NO_CODE`).

    Returns:
        Own name → stem.

    >>> chapters_imported(["from transformer_course.checks import keep, masking as check"])
    {'check': 'masking'}
    """
    text = "\n".join(codes)
    imported = [*MODULE.findall(text), *re.findall(NAMED, " ".join(MODULES.findall(text)))]
    return {own or name: name for name, own in imported if name in exercises_by_chapter()}


def _checks(notebook: "NotebookNode") -> tuple[dict[str, int], list[str]]:
    """Return every check that is called, with its first cell, and the exercises of the notebook's chapters."""
    codes = [NO_CODE.sub("", cell.source) for cell in notebook.cells]
    own_names = chapters_imported(codes)
    call = re.compile(rf"\b(?:{'|'.join(['check', *own_names])})\s*\.\s*(\w+)\s*\(")
    called: dict[str, int] = {}
    for number, code in enumerate(codes):
        for name in call.findall(code):
            called.setdefault(name, number)
    chapters = map(exercises_by_chapter().__getitem__, own_names.values())
    return called, [exercise.name for chapter in chapters for exercise in chapter]


def _run(
    notebook: "NotebookNode", folder: Path, seconds: int, fenced: bool
) -> tuple[dict[str, dict[str, Any]], dict[int, str]]:
    """Run all cells; return the last verdict of each check, and the error of each cell that has one."""
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient
    from nbclient.util import run_sync

    class Fenced(AsyncKernelManager):
        def format_kernel_cmd(self, extra_arguments: list[str] | None = None) -> list[str]:
            return [*fence.command(place), *super().format_kernel_cmd(extra_arguments)]

    # Without folders to search, the only kernel is that of the running Python.
    kernels = KernelSpecManager(kernel_dirs=[])
    with tempfile.TemporaryDirectory() as place:
        manager = AsyncKernelManager(kernel_spec_manager=kernels)
        visible = fence.environment(os.environ)
        if fenced:  # sockets that are files lead through the fence
            manager = Fenced(kernel_spec_manager=kernels, transport="ipc", ip=f"{place}/socket")
            visible |= dict.fromkeys(("HOME", "TMPDIR", "IPYTHONDIR", "MPLCONFIGDIR"), place)
        reports = Path(place) / "reports.jsonl"
        own = folder / "my_transformer.py"
        if own.exists():
            shutil.copy(own, place)
        client = NotebookClient(
            notebook,
            manager,
            allow_errors=True,
            shutdown_kernel="immediate",  # the graceful way, a busy kernel prints a traceback
            extra_arguments=["--log-level=ERROR"],
            resources={"metadata": {"path": place}},
        )
        try:
            with client.setup_kernel(cleanup_kc=True, env=visible | {VARIABLE: str(reports)}):
                errors = run_sync(_run_cells)(client, manager, seconds)
        except RuntimeError as error:  # what nbclient raises where the kernel doesn't start
            raise ValueError(f"its kernel failed: {error}") from error
        spoken = _spoken(reports)
    stopped = {
        number: plain(f"its cell stopped with {output.ename}: {output.evalue}")
        for number, cell in enumerate(notebook.cells)
        for output in cell.outputs
        if output.output_type == "error"
    }
    return spoken, stopped | errors


def _spoken(reports: Path) -> dict[str, dict[str, Any]]:
    """The last verdict of each check; what no check can have written is passed over.

    The notebook's own code could write here too, so nothing in it is trusted: neither types nor names nor signs
    that a terminal would obey.
    """
    if not reports.is_file():
        return {}
    with reports.open("rb") as file:
        lines = file.read(_MOST).decode("utf-8", "replace").split("\n")
    known = {e.name for chapter in exercises_by_chapter().values() for e in chapter}
    found: dict[str, dict[str, Any]] = {}
    for line in lines:
        try:
            said = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if (
            isinstance(said, dict)
            and said.keys() == {"exercise", "verdict", "misconception", "message"}
            and isinstance(said["exercise"], str)
            and said["exercise"] in known
            and said["verdict"] in ("right", "not yet right", "not attempted")
            and isinstance(said["misconception"], str | None)
            and isinstance(said["message"], str)
        ):
            said["misconception"] = said["misconception"] and plain(said["misconception"])
            found[said["exercise"]] = said | {"message": plain(said["message"])}
    return found


def plain(text: str) -> str:
    """A text of strangers without the signs that a terminal would obey.

    >>> plain("right\\x1b[2J\\nor wrong")
    'right�[2J\\nor wrong'
    """
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)


def require_fence() -> None:
    """Refuse where there is no fence.

    Raises:
        ValueError: if this system has none; it says why.
    """
    with tempfile.TemporaryDirectory() as place:
        if why := fence.missing(place):
            raise ValueError(
                f"no fence on this system: {why}; without --fence, notebooks run with all your rights"
            )


async def _run_cells(
    client: "NotebookClient", manager: "AsyncKernelManager", seconds: int
) -> dict[int, str]:
    """Run the cells; return in words what kept which of them from its end: the limit, or the kernel's death."""
    from nbclient.exceptions import DeadKernelError

    errors: dict[int, str] = {}
    for number, cell in enumerate(client.nb.cells):
        running = asyncio.ensure_future(client.async_execute_cell(cell, number))
        ended, _ = await asyncio.wait({running}, timeout=seconds)
        if not ended:
            errors[number] = f"its cell took longer than {seconds} seconds"
            await manager.interrupt_kernel()
            ended, _ = await asyncio.wait({running}, timeout=GRACE)
        why = "the kernel died before it was called"
        if not ended and manager.provisioner:  # it has one as long as the kernel runs
            why = f"a cell took longer than {seconds} seconds and didn't stop"
            await manager.provisioner.kill()
        try:
            await running
        except DeadKernelError:
            return errors | dict.fromkeys(range(number, len(client.nb.cells)), why)
    return errors
