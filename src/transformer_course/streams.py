"""Standard output and error of the commands (chapter 07): what could not be written is noticed, and told once.

A full disk, a closed stream or a reader that has gone shows itself where something is written: in the middle of
a message, or when Python ends. Within `watched_streams` a command then ends as other tools of Unix do, with one
sentence and an exit status that isn't 0.
"""

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

_NAMES = ("standard input", "standard output", "standard error")
# Read-only where one writes, and the reverse: a closed stream stays one that can't be used.
_UNUSABLE = (os.O_WRONLY, os.O_RDONLY, os.O_RDONLY)


class OutputError(OSError):
    """Standard output can't be written. A command that has more to do than to print may go on."""


class Output(io.TextIOWrapper):
    """A stream that remembers that something could not be written.

    After the first failure it leads nowhere, so that nothing fails again when Python ends. A letter that its
    encoding doesn't have, as in the name of a file, is written as a backslash and its number.

    Args:
        number: 1 for standard output, 2 for standard error.
        stream: as Python opened it; None if it was closed.
        stops: whether a failure raises OutputError, at once and whenever more is written.

    Attributes:
        lost: the first failure; None as long as there was none.
    """

    def __init__(self, number: int, stream: io.TextIOWrapper | None, *, stops: bool) -> None:
        if stream is None:
            closed = io.FileIO(os.open(os.devnull, _UNUSABLE[number]), "w")
            super().__init__(io.BufferedWriter(closed), "utf-8", "backslashreplace")
        else:
            super().__init__(
                stream.buffer,
                stream.encoding,
                "backslashreplace" if stream.errors == "strict" else stream.errors,
                line_buffering=stream.line_buffering,
                write_through=stream.write_through,
            )
        self._name, self.stops = _NAMES[number], stops
        self.lost: OSError | None = None

    def write(self, text: str) -> int:
        """Write a text.

        Args:
            text: any.

        Returns:
            The number of its characters, also if they are lost.

        Raises:
            OutputError: if it, or something before, can't be written, and the stream `stops`.
        """
        try:
            super().write(text)
        except OSError as error:
            self._lose(error)
        if self.lost and self.stops:
            raise OutputError(self.lost.errno, self.told)
        return len(text)

    def flush(self) -> None:
        """Write what is still in memory.

        Raises:
            OutputError: if it can't be written, and the stream `stops`.
        """
        try:
            super().flush()
        except OSError as error:
            self._lose(error)
            if self.stops:
                raise OutputError(error.errno, self.told) from error

    @property
    def told(self) -> str:
        """The sentence that says what happened; empty if nothing did."""
        if self.lost is None:
            return ""
        return f"{self._name} can't be written: {self.lost.strerror or self.lost}"

    def _lose(self, error: OSError) -> None:
        self.lost = self.lost or error
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.fileno())
        os.close(nowhere)


@contextmanager
def watched_streams() -> Iterator[None]:
    """Run a command; if something could not be written, its exit status isn't 0.

    Standard output that can't be written stops the command (`OutputError`), unless it chooses to go on.
    Standard error stops nothing: what stands there is said beside the work. The reason is told on standard
    error; where a reader has gone, as `head` does, there is nothing to tell.

    Raises:
        SystemExit: with the command's exit status, or 1 where that is 0 and something was lost.
    """
    _fill_closed()
    before = sys.stdout, sys.stderr
    out, err = _watched(1, sys.stdout, stops=True), _watched(2, sys.stderr, stops=False)
    sys.stdout, sys.stderr = out or sys.stdout, err or sys.stderr
    status: str | int | None = None
    told = ""
    try:
        try:
            yield
        except SystemExit as end:
            status = 0 if end.code is None else end.code
        except OutputError as error:
            told = error.strerror or ""
        if _is_lost(out) or _is_lost(err):
            status = status or 1
        if out and out.lost and out.lost.errno != errno.EPIPE:
            print(f"error: {told or out.told}", file=sys.stderr)
    finally:
        sys.stdout, sys.stderr = before
        for stream in filter(None, (out, err)):
            stream.stops = False
            stream.detach()  # Python goes on with what it had opened, and closes it
    if status is not None:
        raise SystemExit(status)


def _is_lost(stream: Output | None) -> bool:
    """Whether something of the stream is lost, or would be: what is still in memory is written now."""
    if stream is None:
        return False
    stream.stops = False
    stream.flush()
    return stream.lost is not None


def _fill_closed() -> None:
    """Occupy the numbers of closed streams, lest a file gets one, and with it what the stream should get."""
    for number, mode in enumerate(_UNUSABLE):
        try:
            os.fstat(number)
        except OSError:
            place = os.open(os.devnull, mode)  # it gets the lowest number that is free
            os.set_inheritable(place, True)  # the kernel of a notebook needs streams to start


def _watched(number: int, stream: TextIO | None, *, stops: bool) -> Output | None:
    """The stream, watched; None if it was replaced, as notebooks and tests do."""
    if stream is None:
        return Output(number, None, stops=stops)
    try:
        original = stream.fileno() == number
    except OSError:
        return None
    if original and isinstance(stream, io.TextIOWrapper):
        return Output(number, stream, stops=stops)
    return None
