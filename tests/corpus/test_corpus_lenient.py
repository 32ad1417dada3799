"""Lines to translate: one sentence or one error for each line, whatever the bytes are."""

import gzip
import io
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from transformer_course.corpus.lenient import Line, line_of_text, read_each, read_each_of_file
from transformer_course.corpus.pairs import CorpusError


def read(data: bytes, max_chars: int = 20) -> list[Line]:
    return list(read_each(io.BytesIO(data), max_chars=max_chars))


@pytest.mark.parametrize(
    ("data", "sentences"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"one", ["one"]),
        (b"one\n\n \t\ntwo\n", ["one", "", " \t", "two"]),
        (b"\xef\xbb\xbfone\r\ntwo\r\n", ["one", "two"]),
        (b"o\xef\xbb\xbfne\n\xef\xbb\xbf\n", ["one", ""]),
        ("של 👩‍👩\u2028\x85</s> <pad>\n".encode(), ["של 👩‍👩\u2028\x85</s> <pad>"]),
    ],
)
def test_each_line_is_a_sentence(data: bytes, sentences: list[str]) -> None:
    assert read(data) == sentences


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"a\x00b", "control character (U+0000, character 2)"),
        (b"\x1b[31mred", "control character (U+001B, character 1)"),
        ("a\x9b".encode(), "control character (U+009B, character 2)"),
        (b"a\xff", "invalid UTF-8 (byte 0xff at byte 2 of the line)"),
        (b"\xed\xa0\x80", "invalid UTF-8 (byte 0xed at byte 1 of the line)"),
        (b"\xff\xfea\x00", "the text looks like UTF-16, save it as UTF-8"),
        (b"a" * 21, "more than 20 characters, the limit of one sentence"),
        ("é".encode() * 200, "more than 20 characters, the limit of one sentence"),
        (b"a" * 100_000, "more than 20 characters, the limit of one sentence"),
    ],
)
def test_a_line_that_is_no_sentence_costs_no_other(line: bytes, problem: str) -> None:
    first, wrong, last = read(b"one\n" + line + b"\ntwo")
    assert (first, last) == ("one", "two")
    assert isinstance(wrong, CorpusError)
    assert problem in str(wrong)


def test_the_longest_sentence_may_need_four_bytes_a_character() -> None:
    longest = "👩" * 20
    data = b"\xef\xbb\xbf" + (longest + "\r\n").encode() + (longest + "\r\n").encode()
    assert read(data) == [longest, longest]


@given(st.binary() | st.text().map(str.encode))
@example(b"\n" * 3)
@example(b"a" * 86 + b"\n" + b"a" * 85 + b"\nb")
def test_there_are_as_many_lines_as_in_the_file(data: bytes) -> None:
    assert len(read(data)) == data.count(b"\n") + (not data.endswith(b"\n") and data != b"")


def test_text_is_treated_like_a_line() -> None:
    assert line_of_text("the\ufeff cat\n") == "the cat\n"
    assert line_of_text("") == ""
    for text, problem in (
        ("a" * 2001, "more than 2,000 characters"),
        ("\x07", "control character (U+0007, character 1)"),
        ("a\udcff", "half a surrogate pair (character 2), no text in UTF-8"),
    ):
        wrong = line_of_text(text)
        assert isinstance(wrong, CorpusError)
        assert problem in str(wrong)


def test_files_are_plain_or_gzip_by_their_first_bytes(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    for data in (b"one\n\xff\ntwo", gzip.compress(b"one\n\xff\ntwo")):
        path.write_bytes(data)
        first, wrong, last = read_each_of_file(path)
        assert (first, last) == ("one", "two")
        assert isinstance(wrong, CorpusError)
    path.write_bytes(b"")
    assert list(read_each_of_file(path)) == []
    for missing in (tmp_path, tmp_path / "none"):
        with pytest.raises(CorpusError, match=f"{missing}: cannot be read: "):
            list(read_each_of_file(missing))


def test_a_damaged_gzip_file_gives_what_comes_before_the_damage(tmp_path: Path) -> None:
    path = tmp_path / "lines.gz"
    path.write_bytes(gzip.compress(b"one\n" * 5)[:-9])
    *lines, wrong = read_each_of_file(path)
    assert lines == ["one"] * 5
    assert isinstance(wrong, CorpusError)
    assert str(wrong).startswith("from here on it cannot be read: ")
