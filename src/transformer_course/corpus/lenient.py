"""Lines to translate (chapter 07): one damaged line must not cost the others.

`corpus.readers` refuses a file with one wrong line, because nobody wants to train on it. What is to be
translated is read here: each line becomes a sentence, or the error that says why it is none. Blank lines are
sentences too, and so every line can be answered by a line.
"""

import gzip
import io
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from transformer_course.corpus.pairs import CorpusError
from transformer_course.corpus.readers import MAX_CHARS, PathLike, decode_line

Line = str | CorpusError

_GZIP = b"\x1f\x8b"
# A frame of text, or one to be skipped, with which a file may begin (RFC 8878, §3.1.2).
_ZSTD = (b"\x28\xb5\x2f\xfd", *(bytes([n]) + b"\x2a\x4d\x18" for n in range(0x50, 0x60)))
_CHUNK = 1 << 13  # bytes of a zst file; a piece of text is some thousand times as long at most
_BOM = "\ufeff"
# What is neither text nor white space.
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
_SURROGATE = re.compile("[\ud800-\udfff]")


class BrokenOffError(CorpusError):
    """A file that can't be read further, as one that is compressed and damaged."""


class TooLongError(CorpusError):
    """A sentence above the limit of characters."""


def line_of_text(text: str, *, max_chars: int = MAX_CHARS) -> Line:
    """Take what can be translated; byte-order marks in it are left out.

    Args:
        text: any text.
        max_chars: the longest sentence allowed, in characters.

    Returns:
        The sentence, which may be blank; or an error, if it is too long, holds a control character that is no
        white space, or UTF-8 can't write it.

    >>> line_of_text("the cat\\tsleeps")
    'the cat\\tsleeps'
    >>> line_of_text("the \\x00cat")
    CorpusError('control character (U+0000, character 5)')
    """
    text = text.replace(_BOM, "")
    if len(text) > max_chars:
        return _too_long(max_chars)
    if match := _CONTROL.search(text):
        place = f"U+{ord(match.group()):04X}, character {match.start() + 1}"
        return CorpusError(f"control character ({place})")
    if match := _SURROGATE.search(text):
        return CorpusError(
            f"half a surrogate pair (character {match.start() + 1}), no text in UTF-8"
        )
    return text


def read_each(stream: BinaryIO, *, max_chars: int = MAX_CHARS) -> Iterator[Line]:
    """Read lines one by one, as soon as each is there.

    Args:
        stream: bytes of UTF-8 text. Only a line feed ends a line; the last one may lack it.
        max_chars: the longest sentence allowed, in characters. No more than one such line is kept in memory.

    Yields:
        For each line the sentence, or the error that says what is wrong with it. If the stream breaks off, as a
        damaged gzip file does, a last error says so.
    """
    try:
        most = 4 * max_chars + len(b"\xef\xbb\xbf\r\n")  # no character has more than 4 bytes
        for raw in _short_lines(stream, most + 1):
            yield _line(raw, max_chars) if len(raw) <= most else _too_long(max_chars)
    except (OSError, EOFError, zlib.error) as error:
        yield BrokenOffError(f"from here on it cannot be read: {error}")


def read_each_of_file(path: PathLike, *, max_chars: int = MAX_CHARS) -> Iterator[Line]:
    """Read the lines of a file, plain, gzip or zst, without keeping it in memory.

    Args:
        path: the file.
        max_chars: as for `read_each`.

    Yields:
        As `read_each` does.

    Raises:
        CorpusError: if the file can't be opened.
    """
    with opened(path) as stream:
        yield from read_each(stream, max_chars=max_chars)


@contextmanager
def opened(path: PathLike) -> Iterator[BinaryIO]:
    """Open a file that may be compressed; its first bytes tell how, not its name.

    Args:
        path: the file: plain, gzip or zst.

    Yields:
        What stands in it, as a stream of bytes.

    Raises:
        CorpusError: if the file can't be opened.
        OSError: if it is damaged, while the stream is read.
        EOFError: the same, if it was cut off.
    """
    try:
        file = Path(path).open("rb")  # noqa: SIM115
    except OSError as error:
        reason = error.strerror or error
        raise CorpusError(f"{os.fspath(path)}: cannot be read: {reason}") from error
    with file:
        first = file.peek(4)
        if first.startswith(_ZSTD):
            pieces = _unpack_zst(os.fspath(path), file)
            yield cast(BinaryIO, io.BufferedReader(_Unpacked(pieces)))
        elif first.startswith(_GZIP):
            yield cast(BinaryIO, gzip.GzipFile(fileobj=file))
        else:
            yield file


class _Unpacked(io.RawIOBase):
    """Pieces of bytes, one after the other, as a stream."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._rest = pieces, memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = memoryview(piece)
        n = min(len(buffer), len(self._rest))
        buffer[:n], self._rest = self._rest[:n], self._rest[n:]
        return n


def _unpack_zst(name: str, file: BinaryIO) -> Iterator[bytes]:
    """What a zst file holds. Damage is an `OSError`, as that of gzip; so is a file that was cut off.

    The library's own stream ends there without a word.
    """
    try:
        import zstandard
    except ModuleNotFoundError as error:
        install = 'run pip install ".[translate]" in the folder of the course'
        raise CorpusError(f"{name}: zstandard is missing: {install}") from error
    frame = None
    while chunk := file.read(_CHUNK):
        while chunk:  # a file may be several, one after the other
            frame = frame or zstandard.ZstdDecompressor().decompressobj()
            try:
                yield frame.decompress(chunk)
            except zstandard.ZstdError as error:
                raise OSError(str(error)) from error
            chunk = frame.unused_data if frame.eof else b""
            frame = None if frame.eof else frame
    if frame:
        raise EOFError("the file was cut off")


def _short_lines(stream: BinaryIO, limit: int) -> Iterator[bytes]:
    """Lines with their line feeds; of one that is too long, the first `limit` bytes."""
    while line := stream.readline(limit):
        rest = line
        while len(rest) == limit and not rest.endswith(b"\n"):
            rest = stream.readline(limit)
        yield line


def _line(raw: bytes, max_chars: int) -> Line:
    try:
        return line_of_text(decode_line(raw.removesuffix(b"\n")), max_chars=max_chars)
    except CorpusError as problem:
        return problem


def _too_long(max_chars: int) -> TooLongError:
    return TooLongError(f"more than {max_chars:,} characters, the limit of one sentence")
