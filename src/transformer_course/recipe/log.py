"""A log of a training for other programs (chapter 07): numbers and translations, as CSV or for TensorBoard."""

import csv
import io
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

import torch

from transformer_course.checkpoints import CheckpointError, write_atomically
from transformer_course.optional import needed
from transformer_course.training import Progress
from transformer_course.translator import Translator

KINDS = ("csv", "tensorboard")
NUMBERS = ("loss", "rate", "gradient_norm", "tokens_per_second", "memory_mb", "valid_loss")
_EVERY = 10  # updates; each would make large files
_TABLES = {"log.csv": ("step", *NUMBERS), "samples.csv": ("step", "source", "translation")}
_SAMPLES = 3  # sentences that are translated at every validation


def check_log(kind: str, folder: Path) -> None:
    """Refuse a log that can't be written.

    Args:
        kind: "csv" or "tensorboard".
        folder: the run's; it need not exist.

    Raises:
        ValueError: if there is no such kind, or its library is missing.
        CheckpointError: if another file has the name of the log.

    >>> check_log("csv", Path("none"))
    """
    if kind not in KINDS:
        raise ValueError(f"log ({kind!r}) must be {' or '.join(KINDS)}")
    if kind == "tensorboard":
        needed("tensorboardX", "watch")
    for name, columns in _TABLES.items() if kind == "csv" else ():
        path = folder / name
        with suppress(FileNotFoundError), path.open("rb") as file:
            begin = file.read(1000).decode(errors="replace").splitlines()
            if begin and begin[0] != ",".join(columns):
                raise CheckpointError(f"{path} is no log of a run: move it away")


class Log:
    """Writes `log.csv` and `samples.csv`, or a folder `tensorboard`, into a run's folder.

    A run that goes on from a checkpoint takes back what was written after it.

    Args:
        kind: "csv" or "tensorboard".
        folder: the run's.
        sentences: of which the first ones are translated at every validation.

    Raises:
        ValueError: as `check_log` does.
    """

    def __init__(self, kind: str, folder: Path, sentences: Sequence[str]) -> None:
        check_log(kind, folder)
        self._open: Callable[[Path, int], _Writer] = _Board if kind == "tensorboard" else _Table
        self._folder, self._sentences = folder, list(sentences[:_SAMPLES])
        self._writer: _Writer | None = None
        self._step = self._sampled = 0
        self._numbers: dict[str, float] = {}  # of the last update
        self._due = False  # whether they shall be written, as soon as nothing can be added

    def update(self, progress: Progress) -> None:
        """Keep the numbers of an update; those of every tenth one, and of the first one, will be written.

        Args:
            progress: what the trainer reports.

        Raises:
            CheckpointError: if a file of before is damaged, or can't be written anew.
            OSError: if a file can't be written.
        """
        first = self._writer is None
        if self._writer is None:
            self._writer = self._open(self._folder, progress.step)
        self._write()
        known = vars(progress) | {"memory_mb": _memory()}
        self._numbers = {name: known[name] for name in NUMBERS if known[name] is not None}
        self._step, self._due = progress.step, first or progress.step % _EVERY == 0

    def _write(self) -> None:
        if self._writer is not None and self._due:
            self._due = False
            self._writer.numbers(self._step, self._numbers)

    def samples(self, translator: Translator) -> dict[str, float]:
        """Write translations of the sentences, once an update; an `evaluate` of `train_translator`.

        Args:
            translator: with the weights of now.

        Returns:
            No score.

        Raises:
            OSError: if a file can't be written.
        """
        if self._writer is not None and self._sampled != self._step:
            self._sampled = self._step
            translations = translator.translate(self._sentences, beam=1)
            pairs = list(zip(self._sentences, translations, strict=True))
            self._writer.samples(self._step, pairs)
        return {}

    def end(self, loss: float) -> None:
        """Have the last update written in any case, with the loss of the validation that came after it.

        Args:
            loss: of the last validation.
        """
        self._numbers["valid_loss"] = loss
        self._due = True

    def close(self) -> None:
        """Write what is left."""
        if self._writer is not None:
            self._write()
            self._writer.close()


class _Writer(Protocol):
    def numbers(self, step: int, numbers: dict[str, float]) -> None: ...

    def samples(self, step: int, pairs: Sequence[tuple[str, str]]) -> None: ...

    def close(self) -> None: ...


class _Table:
    """Two files of CSV."""

    def __init__(self, folder: Path, step: int) -> None:
        files = []
        for name, columns in _TABLES.items():
            _keep_before(folder / name, step, columns)
            files.append((folder / name).open("a", encoding="utf-8", newline=""))
        self._files = files

    def _write(self, number: int, row: Sequence[Any]) -> None:
        csv.writer(self._files[number], lineterminator="\n").writerow(row)
        self._files[number].flush()

    def numbers(self, step: int, numbers: dict[str, float]) -> None:
        self._write(0, [step, *(f"{numbers[n]:.6g}" if n in numbers else "" for n in NUMBERS)])

    def samples(self, step: int, pairs: Sequence[tuple[str, str]]) -> None:
        for pair in pairs:
            self._write(1, [step, *pair])

    def close(self) -> None:
        for file in self._files:
            file.close()


def _keep_before(path: Path, step: int, columns: Sequence[str]) -> None:
    """Leave the rows of earlier updates only; a new file gets its header."""
    kept = [list(columns)]
    if path.exists():
        try:
            with path.open(encoding="utf-8", newline="") as file:
                rows = [row for row in csv.reader(file) if row and row[0].isdecimal()]
            kept += [row for row in rows if int(row[0]) < step]
        except (ValueError, csv.Error) as error:  # no UTF-8, a field or a number without end
            raise CheckpointError(f"{path} is damaged: {error}; move it away") from error
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(kept)
    write_atomically(path, text.getvalue().encode())


class _Board:
    """A file of events for TensorBoard."""

    def __init__(self, folder: Path, step: int) -> None:
        writer = needed("tensorboardX", "watch").SummaryWriter
        # Its file is named by the second; a run that goes on within that must not write over it.
        suffix = f".from{step:09d}"
        self._writer = writer(str(folder / "tensorboard"), purge_step=step, filename_suffix=suffix)

    def numbers(self, step: int, numbers: dict[str, float]) -> None:
        for name, number in numbers.items():
            self._writer.add_scalar(name, number, step)

    def samples(self, step: int, pairs: Sequence[tuple[str, str]]) -> None:
        for number, (source, translation) in enumerate(pairs, 1):
            self._writer.add_text(f"sample_{number}", f"{source}\n\n{translation}", step)
        self._writer.flush()

    def close(self) -> None:
        self._writer.close()


def _memory() -> float | None:
    """The most memory that the process has had so far, in MB: the graphics card's if there is one in use."""
    if torch.cuda.is_available() and torch.cuda.max_memory_allocated():
        return torch.cuda.max_memory_allocated() / 1e6
    if os.name != "posix":
        return None
    import resource  # of Unix only

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
