"""Large files of sentence pairs, read one pair at a time (chapter 07): aligned files, a table, a memory (TMX).

Here a damaged line is an error in the place of a sentence, as in `corpus.lenient`; `corpus.cleaning` counts it.
What can't be read at all ends the reading: a file that breaks off, files of unequal length, XML that is none.
Each file may be plain, gzip or zst; no more than a pair of it is in memory.
"""

import os
import zlib
from collections.abc import Iterator
from itertools import count, zip_longest
from xml.etree.ElementTree import Element, ParseError, iterparse

from transformer_course.corpus.lenient import (
    BrokenOffError,
    Line,
    line_of_text,
    opened,
    read_each_of_file,
)
from transformer_course.corpus.pairs import CorpusError
from transformer_course.corpus.readers import MAX_CHARS, PathLike

Sides = tuple[Line, Line]

_LANGUAGE = ("{http://www.w3.org/XML/1998/namespace}lang", "lang")
_CODES = {
    "bpt",
    "ept",
    "it",
    "ph",
    "ut",
}  # inside these stands no text, but another program's codes


def read_bilingual(files: tuple[str, ...], languages: str = "") -> Iterator[Sides]:
    """Read sentence pairs in one of three forms.

    Args:
        files: two aligned files, as those of Moses and OPUS; or one file.
        languages: "" for a file with a tab between source and translation; two languages with a hyphen between,
            such as "en-fr", for a translation memory (TMX). Regions don't count: "en_US" is "en".

    Yields:
        Source and translation; each a sentence, or the error that says why it is none.

    Raises:
        CorpusError: if a file can't be opened, breaks off, or is no TMX, one is shorter than the other, or a
            TMX hasn't one of the `languages`.
        ValueError: if it isn't one file or two, or `languages` aren't two.
    """
    parts = [_bare(part) for part in languages.split("-")]
    if len(files) not in (1, 2) or (languages and (len(files), len(parts)) != (1, 2)):
        raise ValueError(
            f"files {list(files)} must be one file or two, and languages ({languages!r}) two for one file"
        )
    if languages:
        if not all(parts) or parts[0] == parts[1]:
            raise ValueError(f"languages ({languages!r}) must be two, such as 'en-fr'")
        yield from _read_memory(files[0], parts[0], parts[1])
    elif len(files) == 1:
        yield from _read_table(files[0])
    else:
        yield from _read_aligned(files[0], files[1])


def _read_aligned(src_path: PathLike, tgt_path: PathLike) -> Iterator[Sides]:
    sides = read_each_of_file(src_path), read_each_of_file(tgt_path)
    for number, (src, tgt) in enumerate(zip_longest(*sides), 1):
        for path, line in (src_path, src), (tgt_path, tgt):
            _refuse_broken(path, number, line)
        for path, line in (src_path, src), (tgt_path, tgt):
            if line is None:
                raise CorpusError(
                    f"{os.fspath(path)}, line {number}: missing; the other file goes on"
                )
        yield src, tgt


def _refuse_broken(path: PathLike, number: int, line: Line) -> None:
    if isinstance(line, BrokenOffError):
        raise CorpusError(f"{os.fspath(path)}, line {number}: {line}") from line


def _read_table(path: PathLike) -> Iterator[Sides]:
    for number, line in enumerate(read_each_of_file(path, max_chars=2 * MAX_CHARS + 1), 1):
        _refuse_broken(path, number, line)
        if isinstance(line, str):
            fields = line.split("\t")
            if len(fields) == 2:
                yield line_of_text(fields[0]), line_of_text(fields[1])
                continue
            tabs = len(fields) - 1
            line = CorpusError(f"{tabs} tabs, where one must part source and translation")
        yield line, line


def _read_memory(path: PathLike, src: str, tgt: str) -> Iterator[Sides]:
    with opened(path) as stream:
        events = iterparse(stream, ("start", "end"))
        body: list[Element] = []
        found: set[str] = set()
        for _ in count():
            try:
                event, element = next(events)
            except StopIteration:
                break
            except CorpusError:
                raise
            except (ParseError, LookupError, ValueError, OSError, EOFError, zlib.error) as error:
                raise CorpusError(f"{os.fspath(path)}: no TMX, or damaged: {error}") from error
            kind = _kind(element)
            if event == "start" and kind == "body":
                body.append(element)
            if event == "end" and kind == "tu":
                found |= {_language(part) for part in element if _kind(part) == "tuv"}
                yield _sentence(element, src), _sentence(element, tgt)
                for done in body:
                    done.clear()
    for language in (src, tgt):
        if found and language not in found:
            named = ", ".join(sorted(found)[:20])
            raise CorpusError(f"{os.fspath(path)}: nothing in {language!r}; its languages: {named}")


def _kind(element: Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _sentence(unit: Element, language: str) -> Line:
    """The sentence of a unit in a language; "en" is found as "EN-us", too."""
    for variant in unit:
        if _language(variant) == language:
            for part in variant:
                if _kind(part) == "seg":
                    return line_of_text("".join(_texts(part)))
    return CorpusError(f"no sentence in {language!r}")


def _language(variant: Element) -> str:
    return _bare(next((variant.get(name) for name in _LANGUAGE if variant.get(name)), "") or "")


def _bare(language: str) -> str:
    """A language without its region, in small letters."""
    return language.strip().lower().replace("_", "-").split("-")[0]


def _texts(part: Element) -> Iterator[str]:
    """All text of an element, without the codes of other programs in it."""
    yield part.text or ""
    for child in part:
        if _kind(child) not in _CODES:
            yield from _texts(child)
        yield child.tail or ""
