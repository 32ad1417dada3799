"""A folder that is written whole or not at all, and never over another one (chapter 14)."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from transformer_course.checkpoints import CheckpointError


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Write a folder under a temporary name; when the block ends well, it gets its own.

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
