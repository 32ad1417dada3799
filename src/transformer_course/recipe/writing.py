"""One process at a time writes a run's folder (chapter 07)."""

import json
import os
import platform
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from transformer_course.checkpoints import CheckpointError

_SIGNS = ("recipe.json", "model.safetensors", "checkpoints")  # what makes a folder a run
LOGS = ("log.csv", "samples.csv", "tensorboard")  # what `recipe.log` writes into a run
_OURS = (
    "run.json",
    "config.toml",
    "recipe.json",
    "vocabulary.json",
    "history.json",
    "model.safetensors",
    *LOGS,
)


@contextmanager
def only_writer(folder: Path, *, of_run: bool = True) -> Iterator[None]:
    """Keep other processes from writing into a folder while the block runs; temporary files of killed ones go.

    The lock is one of the operating system's: it ends with the process, however that ends. On network file
    systems it is as good as theirs. Blocks of the same process may stand inside each other.

    Args:
        folder: which one; made if need be.
        of_run: whether it shall be a run's, which has to have a name in UTF-8.

    Yields:
        Nothing.

    Raises:
        CheckpointError: if another process is writing there, or the folder can't be written.
    """
    owner = folder / ".writer.json"
    try:
        if of_run:
            str(folder.absolute()).encode("utf-8")  # safetensors reads no others
    except UnicodeEncodeError as error:
        raise CheckpointError(f"{folder} can't be a run's folder: its name is no UTF-8") from error
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / ".writer.lock", timeout=0, is_singleton=True, thread_local=False)
        lock.acquire()
    except Timeout as error:
        raise CheckpointError(f"{folder} is being written{_who(owner)}") from error
    except (OSError, NotImplementedError) as error:
        place = folder.parent if not folder.exists() else folder
        raise CheckpointError(f"{folder} can't be written: {error} ({place})") from error
    try:
        with suppress(OSError):
            owner.write_text(json.dumps({"process": os.getpid(), "host": platform.node()}))
        _sweep(folder)
        yield
    finally:
        if lock.lock_counter == 1:
            with suppress(OSError):
                owner.unlink()
        lock.release()


def _who(owner: Path) -> str:
    try:
        found = json.loads(owner.read_text(encoding="utf-8"))
        return f" by process {found['process']} on {found['host']}: wait for its end, or stop it"
    except (OSError, ValueError, KeyError, TypeError):
        return " by another process: wait for its end, or stop it"


def _sweep(folder: Path) -> None:
    """Delete what killed runs left half-written: nobody else writes now."""
    for name in _OURS:
        for path in folder.glob(f".{name}.*.tmp"):
            path.unlink(missing_ok=True)


def refuse_run_file(folder: Path, path: Path) -> None:
    """Refuse to write something else over a file of a run, of this one or of any other.

    Args:
        folder: the run's; it may have no files yet.
        path: what shall be written.

    Raises:
        CheckpointError: if it is one of a run's files.
    """
    place, root = path.resolve(), folder.resolve()
    for run in (place.parent, place.parent.parent):
        begun = run == root or any((run / name).exists() for name in _SIGNS)
        inside = run != place.parent and place.parent.name in ("checkpoints", "tensorboard")
        if begun and (inside or (run == place.parent and place.name in _OURS)):
            raise CheckpointError(f"{path} is a file of the run {run}: choose another name")


def check_output(folder: Path | None, path: Path, inputs: Iterable[str | Path | int] = ()) -> None:
    """Refuse to write over a file of a run, over what is read from, and over what is no plain file.

    Args:
        folder: the run's that is read; None if there is none.
        path: what shall be written; it need not exist.
        inputs: what is read from: paths, or numbers of open files.

    Raises:
        CheckpointError: if `path` is one of these, by whatever name, or a folder or a device, or in what is no
            folder.
    """
    refuse_run_file(folder or path.parent / "no run", path)
    if path.exists() and not path.is_file():
        raise CheckpointError(f"{path} can't be written: it is no plain file")
    parent = next(place for place in path.absolute().parents if place.exists())
    if not parent.is_dir():
        raise CheckpointError(f"{path} can't be written: {parent} is not a folder")
    for given in inputs:
        same = False
        with suppress(OSError):  # one of the two is missing
            same = os.path.samefile(path, given)
        if same:
            raise CheckpointError(f"{path} is read from: choose another name")
