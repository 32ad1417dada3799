"""Files of a run that no crash can spoil (chapter 07): written whole or not at all."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import xxhash

FORMAT = 1  # of a run's files; checkpoints of trainings have a version of their own


class CheckpointError(ValueError):
    """A file of a run that can't be used or written; the message names it."""


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Write a file whole or not at all: temporary file, sync, rename, sync of the folder.

    Args:
        path: where the file goes; its folder is made if need be. A file that is there lends the new one its
            mode; a symbolic link stays, and the file that it leads to is replaced.

    Yields:
        The temporary path to write to. When the block ends well it is renamed to `path`.

    Raises:
        CheckpointError: if it can't be written; `path` is then as it was before.
    """
    path = behind_link(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # What others may not read, they may not read half-written.
        with suppress(FileNotFoundError):
            temporary.touch(mode=path.stat().st_mode & 0o777 | 0o200)
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        take_place(temporary, path)
        sync_folder(path.parent)
    except OSError as error:
        in_the_way = path.parent.exists() and not path.parent.is_dir()
        reason = f"{path.parent} is not a folder" if in_the_way else error.strerror or error
        raise CheckpointError(f"{path} can't be written: {reason}") from error
    finally:
        with suppress(OSError):
            temporary.unlink()


def behind_link(path: Path) -> Path:
    """Where a file is written to: what stands there may be a symbolic link.

    Args:
        path: of a file; it need not exist.

    Returns:
        What the link leads to; the path itself, if it is none.
    """
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def take_place(new: Path, path: Path) -> None:
    """Rename a file to one that may be there already, whose mode it gets.

    Args:
        new: the file.
        path: its new name, in the same file system.

    Raises:
        OSError: if it can't be renamed.
    """
    with suppress(OSError):  # there is none, or its file system has no modes
        shutil.copymode(path, new)
    os.replace(new, path)


def write_atomically(path: Path, data: bytes) -> None:
    """Write bytes to a file, whole or not at all (`replacing`).

    Args:
        path: where the file goes; replaced if it exists.
        data: all that the file shall hold.

    Raises:
        CheckpointError: if it can't be written; `path` is then as it was before.
    """
    with replacing(path) as temporary:
        temporary.write_bytes(data)


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object.

    Args:
        path: the file, in UTF-8.

    Returns:
        The object's names and values.

    Raises:
        CheckpointError: if the file is missing, can't be read, or doesn't hold one.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):  # a FIFO would keep us waiting
        raise CheckpointError(f"{path} can't be read: it is no file")
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CheckpointError(unreadable(path, error)) from error
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{path} is damaged: {error}") from error
    if not isinstance(value, dict):
        raise CheckpointError(f"{path} is damaged: it must hold a JSON object")
    return value


def write_json(path: Path, value: Any) -> None:
    """Write a value as JSON, whole or not at all (`replacing`).

    Args:
        path: where the file goes; replaced if it exists.
        value: anything that JSON can say.

    Raises:
        CheckpointError: if the file can't be written; `path` is then as it was before.
        TypeError: if JSON can't say the value.
    """
    text = json.dumps(value, indent=1, ensure_ascii=False) + "\n"
    # The name of a file may hold bytes that are no UTF-8; JSON writes them as this does.
    write_atomically(path, text.encode("utf-8", "backslashreplace"))


def read_sealed(path: Path) -> dict[str, Any]:
    """Read what `write_sealed` wrote.

    Args:
        path: the file, in UTF-8.

    Returns:
        The object's names and values. A file without a seal, of an older version, is taken as it is.

    Raises:
        CheckpointError: as `read_json` does, or if the file was changed since, or has a later format.
    """
    value = read_json(path)
    seal = value.pop("digest", None)
    if seal is not None and seal != _seal(value):
        raise CheckpointError(f"{path} was changed since the run wrote it, so it can't be used")
    check_format(path, value.pop("format", 1))
    return value


def check_format(path: Path, found: object) -> None:
    """Refuse a file of a later format than this package knows.

    Args:
        path: the file, for the message.
        found: the number that it holds; files of before there was one count as 1.

    Raises:
        CheckpointError: if it is no such number, or a later one.
    """
    if type(found) is not int or found < 1:
        raise CheckpointError(f"{path} is damaged: its format ({found!r}) must be a whole number")
    if found > FORMAT:
        raise CheckpointError(
            f"{path} has format {found}, this package reads up to {FORMAT}: install a newer one"
        )


def write_sealed(path: Path, value: dict[str, Any]) -> None:
    """Write a JSON object with its format and a digest of its content, whole or not at all (`replacing`).

    Args:
        path: where the file goes; replaced if it exists.
        value: names and values that JSON can say.

    Raises:
        CheckpointError: if the file can't be written; `path` is then as it was before.
        TypeError: if JSON can't say the value.
    """
    value = value | {"format": FORMAT}
    write_json(path, value | {"digest": _seal(value)})


def _seal(value: dict[str, Any]) -> str:
    return xxhash.xxh3_128(json.dumps(value, sort_keys=True).encode()).hexdigest()


def unreadable(path: Path, error: OSError) -> str:
    """Why a file can't be read, in words.

    Args:
        path: the file.
        error: what the system said.

    Returns:
        A sentence that names the file.

    >>> unreadable(Path("run.json"), FileNotFoundError())
    'run.json is missing'
    """
    if isinstance(error, FileNotFoundError):
        return f"{path} is missing"
    return f"{path} can't be read: {error.strerror or error}"


def sync_folder(folder: Path) -> None:
    """Make a rename last; not every system can, and the file itself is safe already.

    Args:
        folder: in which something was renamed.
    """
    if os.name == "posix":
        with suppress(OSError):
            handle = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
