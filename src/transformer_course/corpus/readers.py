"""Readers for one's own data (chapter 07): a tab-separated file, two aligned files, or one file's lines.

What every reader does, and nothing else:

- A file is UTF-8 text, plain or compressed with gzip; its first bytes tell which, not its name.
- Only a line feed ends a line. A carriage return before it (Windows) and a byte-order mark at the
  start of the file are taken off; a last line without a line feed counts like any other.
- Each sentence is brought to the form of `corpus.normal_form`, in which a `Vocabulary` gives
  sentences back, so that two spellings of one sentence compare as equal.
- Everything else is an error that names file and line: an empty line, a tab where none belongs, a
  control character, invalid UTF-8, a sentence longer than `max_chars`, files of unequal length. No
  line is left out.
"""

import contextlib
import gzip
import os
import re
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from transformer_course.corpus.normal_form import normalise
from transformer_course.corpus.pairs import CorpusError, Pair

PathLike = str | os.PathLike[str]
Parsed = TypeVar("Parsed")

MAX_CHARS = 2_000

_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ufeff]")


def read_lines(path: PathLike, *, max_chars: int = MAX_CHARS) -> list[str]:
    """Read the sentences of a file, one a line.

    Args:
        path: a UTF-8 text file, plain or gzip.
        max_chars: the longest sentence allowed, in characters.

    Returns:
        As many sentences as the file has lines, in their order.

    Raises:
        CorpusError: if the file cannot be read, is empty, or a line breaks a rule of this module.
        ValueError: if `max_chars` is below 1.
    """
    sentences, problems = _parse(os.fspath(path), _raw_lines(path), _sentence, max_chars)
    _raise_first(problems)
    return sentences


def read_pairs(src_path: PathLike, tgt_path: PathLike, *, max_chars: int = MAX_CHARS) -> list[Pair]:
    """Read two aligned files: line n of the one translates line n of the other.

    Args:
        src_path: the sentences to translate; UTF-8 text, plain or gzip.
        tgt_path: their translations.
        max_chars: the longest sentence allowed, in characters.

    Returns:
        One pair a line, in the order of the files.

    Raises:
        CorpusError: if a file cannot be read or is empty, a line breaks a rule of this module, or
            the files have unequal numbers of lines.
        ValueError: if `max_chars` is below 1.
    """
    src_name, tgt_name = os.fspath(src_path), os.fspath(tgt_path)
    src_raw, tgt_raw = _raw_lines(src_path), _raw_lines(tgt_path)
    sources, problems = _parse(src_name, src_raw, _sentence, max_chars)
    targets, tgt_problems = _parse(tgt_name, tgt_raw, _sentence, max_chars)
    problems += tgt_problems
    if len(src_raw) != len(tgt_raw):
        shorter = src_name if len(src_raw) < len(tgt_raw) else tgt_name
        problems.append(
            f"{shorter}, line {min(len(src_raw), len(tgt_raw)) + 1}: missing; {src_name} has "
            f"{_count(len(src_raw), 'line')}, {tgt_name} has {_count(len(tgt_raw), 'line')}"
        )
    _raise_first(problems)
    return [Pair(src, (tgt,)) for src, tgt in zip(sources, targets, strict=True)]


def read_tsv(path: PathLike, *, max_chars: int = MAX_CHARS) -> list[Pair]:
    """Read a tab-separated file: source, one tab, translation on each line, without a header.

    Args:
        path: a UTF-8 text file, plain or gzip.
        max_chars: the longest sentence allowed, in characters, on either side of the tab.

    Returns:
        One pair a line, in the order of the file.

    Raises:
        CorpusError: if the file cannot be read, is empty, or a line breaks a rule of this module.
        ValueError: if `max_chars` is below 1.
    """
    pairs, problems = _parse(os.fspath(path), _raw_lines(path), _pair, max_chars)
    _raise_first(problems)
    return pairs


def read_bytes(path: PathLike) -> bytes:
    """Read a file whole, decompressed if it is gzip.

    Args:
        path: the file.

    Returns:
        Its bytes, or what they decompress to.

    Raises:
        CorpusError: if it cannot be read, or is a damaged gzip file.
    """
    name = os.fspath(path)
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise CorpusError(f"{name}: cannot be read: {error.strerror or error}") from error
    return _unzip(name, data) if data.startswith(_GZIP) else data


def decode_line(raw: bytes) -> str:
    """Decode one line and take off the carriage return that a Windows line ends with.

    Args:
        raw: the line without its line feed.

    Returns:
        Its text.

    Raises:
        CorpusError: at the first byte that is no UTF-8.
    """
    try:
        return raw.decode("utf-8").removesuffix("\r")
    except UnicodeDecodeError as error:
        hint = "; the text looks like UTF-16, save it as UTF-8" if raw[:2] in _UTF16 else ""
        bad = f"byte 0x{raw[error.start]:02x} at byte {error.start + 1} of the line"
        raise CorpusError(f"invalid UTF-8 ({bad}){hint}") from error


def _parse(
    name: str,
    raw_lines: list[bytes],
    parse: Callable[[str, int], Parsed],
    max_chars: int,
) -> tuple[list[Parsed], list[str]]:
    """Parse every line; return what could be parsed and a message for each line at fault."""
    if max_chars < 1:
        raise ValueError(f"max_chars ({max_chars}) must be at least 1")
    parsed, problems = [], []
    for number, raw in enumerate(raw_lines, start=1):
        try:
            parsed.append(parse(decode_line(raw), max_chars))
        except ValueError as problem:
            problems.append(f"{name}, line {number}: {problem}")
    return parsed, problems


def _sentence(line: str, max_chars: int) -> str:
    """Check and normalise one sentence."""
    if "\t" in line:
        raise ValueError("a tab where none belongs")
    if match := _CONTROL.search(line):
        code = ord(match.group())
        kind = "byte-order mark inside the file" if code == 0xFEFF else "control character"
        raise ValueError(f"{kind} (U+{code:04X}, character {match.start() + 1} of the sentence)")
    if len(line) > max_chars:
        raise ValueError(f"{len(line)} characters, more than max_chars ({max_chars})")
    if not (sentence := normalise(line)):
        raise ValueError("empty line")
    return sentence


def _pair(line: str, max_chars: int) -> Pair:
    """Check and normalise the two sentences of a tab-separated line."""
    if not line.strip():
        raise ValueError("empty line")
    fields = line.split("\t")
    if len(fields) != 2:
        raise ValueError(f"{len(fields) - 1} tabs, where one must part source and translation")
    for side, field in zip(("source", "translation"), fields, strict=True):
        if not field.strip():
            raise ValueError(f"the {side} is empty")
    return Pair(_sentence(fields[0], max_chars), (_sentence(fields[1], max_chars),))


def _raw_lines(path: PathLike) -> list[bytes]:
    """Read a plain or gzip file and split it at its line feeds."""
    lines = read_bytes(path).removeprefix(_BOM).split(b"\n")
    if not lines[-1]:
        del lines[-1]  # what follows the last line feed is no line
    if not lines:
        raise CorpusError(f"{os.fspath(path)}, line 1: missing; the file is empty")
    return lines


def _unzip(name: str, data: bytes) -> bytes:
    """Decompress a gzip file, or say how far it can be read."""
    try:
        return gzip.decompress(data)
    except (EOFError, OSError, zlib.error) as error:
        line = _line_feeds_before_damage(data) + 1
        raise CorpusError(
            f"{name}, line {line}: the gzip file is damaged or cut off; at most what comes before "
            f"this line can be read ({error})"
        ) from error


def _line_feeds_before_damage(data: bytes) -> int:
    """Count the line feeds that can still be had from a broken gzip file."""
    unzip, count = zlib.decompressobj(wbits=31), 0
    with contextlib.suppress(zlib.error):
        for start in range(0, len(data), 512):
            chunk = data[start : start + 512]
            while chunk:
                count += unzip.decompress(chunk).count(b"\n")
                chunk = unzip.unused_data  # a gzip file may be several, one after the other
                if unzip.eof:
                    unzip = zlib.decompressobj(wbits=31)
    return count


def _raise_first(problems: Sequence[str]) -> None:
    """Raise the first problem, if there is one, with the number of the others."""
    if problems:
        more = f" (and {_count(len(problems) - 1, 'further problem')})" if problems[1:] else ""
        raise CorpusError(problems[0] + more)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
