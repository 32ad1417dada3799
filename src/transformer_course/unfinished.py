"""A file of translations that goes on where it stopped (chapter 09).

The lines so far lie in a folder beside the file, with what they belong to: translator, options, and lines read.
The file itself is there when all are, or not at all.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import xxhash

from transformer_course.checkpoints import CheckpointError, read_sealed, write_sealed
from transformer_course.checkpoints.files import behind_link, sync_folder, take_place
from transformer_course.corpus.lenient import BrokenOffError, Line
from transformer_course.recipe.writing import only_writer


@dataclass
class Done:
    """How far a file has come.

    Args:
        read: lines in.
        written: lines out.
        wrong: lines in that could not be translated.
    """

    read: int = 0
    written: int = 0
    wrong: int = 0


class Unfinished:
    """The lines that are written already, and the place for the next ones.

    Args:
        folder: where they are; this must be its only writer.
        belongs: what they must have been made with, anything JSON can say.
        lines: all lines in, from the first one; those that are done are passed over.

    Raises:
        CheckpointError: if the folder holds lines that were made otherwise, or from other lines, or is damaged.
        OSError: if it can't be written.
    """

    def __init__(self, folder: Path, belongs: dict[str, Any], lines: Iterator[Line]) -> None:
        self._state, self._belongs, self._all = folder / "state.json", belongs, lines
        self._path, self._digest = folder / "lines", xxhash.xxh3_128()
        self.done = Done()
        size = self._go_on(read_sealed(self._state)) if self._state.exists() else 0
        self._save(size)
        if self._path.exists():
            os.truncate(self._path, size)
        self.file = self._path.open("a", encoding="utf-8", newline="\n")

    @property
    def lines(self) -> Iterator[Line]:
        """The lines in that are not done yet."""
        for line in self._all:
            if isinstance(line, BrokenOffError):  # not done: the whole file may have a line there
                yield line
                return
            text = f"error: {line}" if isinstance(line, ValueError) else line
            self._digest.update(text.encode("utf-8", "surrogatepass") + b"\n")
            yield line

    def keep(self, done: Done) -> None:
        """Remember how far it has come: from here a later process goes on.

        Args:
            done: no line in may have been read beyond it.

        Raises:
            CheckpointError: if it can't be written.
            OSError: likewise.
        """
        self.done = replace(done)
        self._save(self._flushed())

    def finish(self, output: Path) -> None:
        """All lines are there: make them the file.

        Args:
            output: where it goes; replaced if it exists, and then the new file has its mode.

        Raises:
            OSError: if it can't be written.
        """
        self._flushed()
        self.file.close()
        take_place(self._path, output)
        sync_folder(output.parent)

    def _flushed(self) -> int:
        """Bytes of the lines out, all of which are on the disk."""
        self.file.flush()
        os.fsync(self.file.fileno())
        return self._path.stat().st_size

    def _go_on(self, state: dict[str, Any]) -> int:
        """Pass over what is done; how many bytes of the lines out that is."""
        folder = self._state.parent
        try:
            done, size, belongs = Done(**state["done"]), int(state["bytes"]), dict(state["belongs"])
        except (KeyError, TypeError, ValueError) as error:
            raise CheckpointError(f"{self._state} is damaged: {error!r}") from error
        if not done.read or not self._path.exists():  # nothing is lost
            return 0
        if belongs != self._belongs:
            names = belongs.keys() | self._belongs.keys()
            other = sorted(n for n in names if belongs.get(n) != self._belongs.get(n))
            raise CheckpointError(
                f"{folder} holds {done.read:,} lines with another {' and another '.join(other)}: give the same "
                "again, or delete it to begin anew"
            )
        passed = sum(1 for _, _ in zip(range(done.read), self.lines, strict=False))
        if passed < done.read or self._digest.hexdigest() != state["source"]:
            raise CheckpointError(
                f"{folder} holds translations of other lines than these: delete it to begin anew"
            )
        if self._path.stat().st_size < size:
            raise CheckpointError(f"{self._path} was cut off: delete {folder} to begin anew")
        self.done = done
        return size

    def _save(self, size: int) -> None:
        state = {"done": asdict(self.done), "bytes": size, "source": self._digest.hexdigest()}
        write_sealed(self._state, state | {"belongs": self._belongs})


@contextmanager
def unfinished(
    output: Path, belongs: dict[str, Any], lines: Iterator[Line]
) -> Iterator[Unfinished]:
    """Write a file of lines whole or not at all, and go on with it if it was stopped.

    Args:
        output: the file, or a symbolic link to it. What isn't finished is in a folder of the file's name and
            ".part".
        belongs: as for `Unfinished`.
        lines: as for `Unfinished`.

    Yields:
        The place to write to. When the block ends well it becomes the file. Otherwise the folder stays, if
        `keep` was called for some lines.

    Raises:
        CheckpointError: as `Unfinished` does, if another process writes the same file, or it can't be written.
    """
    output = behind_link(output)
    folder = output.with_name(f"{output.name}.part")
    ours = not folder.is_dir() or (folder / "state.json").exists()
    others = [] if ours else sorted(p.name for p in folder.iterdir() if p.name[0] != ".")
    if others:
        raise CheckpointError(f"{folder} is in the way: it holds {others[0]}")
    with only_writer(folder, of_run=False):
        rest, finished = None, False
        try:
            rest = Unfinished(folder, belongs, lines)
            yield rest
            rest.finish(output)
            finished = True
        except OSError as error:
            raise CheckpointError(
                f"{output} can't be written: {error.strerror or error}"
            ) from error
        finally:
            if rest:
                with suppress(OSError):  # it has been told
                    rest.file.close()
            if finished or (rest and not rest.done.read):
                shutil.rmtree(folder, ignore_errors=True)
