"""A folder that is written whole or not at all, and never over another one (chapter 14)."""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from transformer_course.checkpoints import CheckpointError


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Write a folder under a temporary name; when the block ends well, it gets its own.

    What killed processes left under such names is deleted.

    Args:
        folder: where it goes. There must be nothing of that name, or an empty folder.

    Yields:
        The temporary folder to write into.

    Raises:
        CheckpointError: if there is something of that name, or it can't be written; nothing is left behind.
    """
    refuse_existing(folder)
    temporary = folder.with_name(f".{folder.name}.{os.getpid()}.tmp")
    try:
        _sweep(folder)
        temporary.mkdir(parents=True)
        yield temporary
        refuse_existing(folder)  # somebody else may have been faster
        if folder.exists():
            folder.rmdir()
        os.rename(temporary, folder)
    except OSError as error:
        raise CheckpointError(f"{folder} can't be written: {error.strerror or error}") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _sweep(folder: Path) -> None:
    """Delete what processes that are gone left under the temporary names of a folder."""
    for path in folder.parent.iterdir() if folder.parent.is_dir() else ():
        found = re.fullmatch(rf"\.{re.escape(folder.name)}\.(\d+)\.tmp", path.name)
        if found and not _runs(int(found[1])):
            shutil.rmtree(path, ignore_errors=True)


def _runs(process: int) -> bool:
    """Whether there is a process of that number; also where nobody can tell."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)  # sends nothing
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def refuse_existing(folder: Path) -> None:
    """Refuse to write where something is already.

    Args:
        folder: where a new folder shall go.

    Raises:
        CheckpointError: if there is something of that name that is no empty folder.
    """
    try:
        taken = folder.is_symlink() or (folder.exists() and not folder.is_dir())
        taken = taken or (folder.is_dir() and any(folder.iterdir()))
    except OSError as error:
        raise CheckpointError(f"{folder} can't be read: {error.strerror or error}") from error
    if taken:
        raise CheckpointError(f"{folder} exists already: choose another folder")
