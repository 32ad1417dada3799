"""Readers: what they accept, and the sentence each fault gets."""

import gzip
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from transformer_course.corpus.pairs import CorpusError, Pair
from transformer_course.corpus.readers import (
    normalise,
    read_lines,
    read_pairs,
    read_tsv,
)

Write = Callable[[str, bytes], Path]

GOOD = "le chat\nl'été est là\n".encode()


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_bytes(name: str, data: bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return write_bytes


def message(call: Callable[[], object]) -> str:
    """Return the text of the CorpusError that a call must raise."""
    with pytest.raises(CorpusError) as caught:
        call()
    return str(caught.value)


@pytest.mark.parametrize(
    "data",
    [
        GOOD,
        GOOD.removesuffix(b"\n"),
        GOOD.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + GOOD,
        gzip.compress(GOOD),
        gzip.compress(b"le chat\n") + gzip.compress("l'été est là\n".encode()),
        gzip.compress(b"\xef\xbb\xbf" + GOOD.replace(b"\n", b"\r\n")),
        b"  le \t".replace(b"\t", "\u00a0\u2009".encode())
        + b"chat \nl'e\xcc\x81te\xcc\x81 est la\xcc\x80",
    ],
    ids=["plain", "no last feed", "crlf", "bom", "gzip", "two members", "gzip bom crlf", "spaces"],
)
@pytest.mark.parametrize("name", ["text.fr", "text.fr.gz"])
def test_every_way_of_writing_a_file_gives_the_same_lines(
    write: Write, name: str, data: bytes
) -> None:
    assert read_lines(write(name, data)) == ["le chat", "l'été est là"]


def test_only_a_line_feed_ends_a_line(write: Write) -> None:
    path = write("t", "a\u2028b\nc\u2029d\n".encode())
    assert read_lines(path) == ["a b", "c d"]


def test_str_and_path_are_both_accepted(write: Write) -> None:
    path = write("t", GOOD)
    assert read_lines(str(path)) == read_lines(path)


FAULTS = {
    "empty": (b"a\n\nb\n", 2, "empty line"),
    "blank": ("a\nb\n \u00a0\n".encode(), 3, "empty line"),
    "empty at the end": (b"a\n\n", 2, "empty line"),
    "empty with carriage return": (b"a\r\n\r\nb\r\n", 2, "empty line"),
    "tab": (b"a\tb\n", 1, "a tab where none belongs"),
    "nul": (b"a\nb\x00\n", 2, "control character (U+0000, character 2 of the sentence)"),
    "old Mac": (b"a\rb\n", 1, "control character (U+000D, character 2 of the sentence)"),
    "two carriage returns": (
        b"a\r\r\n",
        1,
        "control character (U+000D, character 2 of the sentence)",
    ),
    "next line": (
        "a\nb\u0085c\n".encode(),
        2,
        "control character (U+0085, character 2 of the sentence)",
    ),
    "inner bom": (
        "a\n\ufeffb\n".encode(),
        2,
        "byte-order mark inside the file (U+FEFF, character 1 of the sentence)",
    ),
    "latin-1": (
        "a\nété\n".encode("latin-1"),
        2,
        "invalid UTF-8 (byte 0xe9 at byte 1 of the line)",
    ),
    "cut character": (b"a\nb\xc3", 2, "invalid UTF-8 (byte 0xc3 at byte 2 of the line)"),
    "surrogate": (b"\xed\xa0\x80\n", 1, "invalid UTF-8 (byte 0xed at byte 1 of the line)"),
    "utf-16": (
        "a\n".encode("utf-16"),
        1,
        "invalid UTF-8 (byte 0xff at byte 1 of the line); the text looks like UTF-16, "
        "save it as UTF-8",
    ),
    "long": (b"a\n" + b"x" * 2001 + b"\n", 2, "2001 characters, more than max_chars (2000)"),
    "no line": (b"", 1, "missing; the file is empty"),
}


@pytest.mark.parametrize("compress", [bytes, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named_with_file_and_line(
    write: Write, fault: str, compress: Callable[[bytes], bytes]
) -> None:
    data, line, what = FAULTS[fault]
    path = write("mine.fr", compress(data))
    problem = message(lambda: read_lines(path))
    if fault == "utf-16":  # what follows the first line feed is at fault too
        assert problem.startswith(f"{path}, line {line}: {what}")
    else:
        assert problem == f"{path}, line {line}: {what}"


def test_max_chars_is_the_longest_sentence_allowed(write: Write) -> None:
    path = write("t", "é".encode() * 5)
    assert read_lines(path, max_chars=5) == ["é" * 5]
    assert message(lambda: read_lines(path, max_chars=4)) == (
        f"{path}, line 1: 5 characters, more than max_chars (4)"
    )
    assert read_lines(write("t", b"x" * 2000)) == ["x" * 2000]
    with pytest.raises(ValueError, match=re.escape("max_chars (0) must be at least 1")):
        read_lines(path, max_chars=0)


def test_further_problems_are_counted(write: Write) -> None:
    two, three = write("two", b"\na\n\n"), write("three", b"\n\n\n")
    assert message(lambda: read_lines(two)) == f"{two}, line 1: empty line (and 1 further problem)"
    assert message(lambda: read_lines(three)).endswith(
        "line 1: empty line (and 2 further problems)"
    )


def test_a_gzip_file_cut_off_names_the_line_where_it_ends(write: Write) -> None:
    lines = [f"sentence {i * i} of a long file" for i in range(3000)]
    whole = gzip.compress("\n".join(lines).encode())
    path = write("t.gz", whole[: len(whole) // 2])
    problem = message(lambda: read_lines(path))
    found = re.match(re.escape(f"{path}, line ") + r"(\d+): the gzip file is damaged", problem)
    assert found is not None
    assert 1000 < int(found[1]) < 2000


@pytest.mark.parametrize("keep", [2, 5, 10])
def test_a_gzip_file_cut_in_its_header_is_refused(write: Write, keep: int) -> None:
    path = write("t.gz", gzip.compress(GOOD)[:keep])
    assert message(lambda: read_lines(path)).startswith(f"{path}, line 1: the gzip file is damaged")


def test_a_gzip_file_with_a_wrong_checksum_is_refused(write: Write) -> None:
    data = bytearray(gzip.compress(GOOD))
    data[-6] ^= 1
    assert "the gzip file is damaged" in message(lambda: read_lines(write("t.gz", bytes(data))))


def test_the_second_member_of_a_gzip_file_counts_for_the_line(write: Write) -> None:
    path = write("t.gz", gzip.compress(GOOD) + gzip.compress(GOOD)[:-4])
    assert message(lambda: read_lines(path)).startswith(f"{path}, line 5: the gzip file")


def test_a_file_that_is_not_there_and_a_folder(tmp_path: Path) -> None:
    missing = tmp_path / "none.fr"
    assert message(lambda: read_lines(missing)) == (
        f"{missing}: cannot be read: No such file or directory"
    )
    assert message(lambda: read_lines(tmp_path)).startswith(f"{tmp_path}: cannot be read: ")


def test_aligned_files(write: Write) -> None:
    src, tgt = (
        write("m.en", b"the cat\nthe dog\n"),
        write("m.fr", gzip.compress(b"le chat\nle chien")),
    )
    assert read_pairs(src, tgt) == [Pair("the cat", ("le chat",)), Pair("the dog", ("le chien",))]


@pytest.mark.parametrize("short_side", ["src", "tgt"])
def test_unequal_length_names_the_first_missing_line(write: Write, short_side: str) -> None:
    long, short = write("long", b"a\nb\nc\n"), write("short", b"a\n")
    src, tgt = (short, long) if short_side == "src" else (long, short)
    counts = {long: "3 lines", short: "1 line"}
    assert message(lambda: read_pairs(src, tgt)) == (
        f"{short}, line 2: missing; {src} has {counts[src]}, {tgt} has {counts[tgt]}"
    )


def test_problems_of_both_files_are_counted_together(write: Write) -> None:
    src, tgt = write("src", b"a\n\nc\n"), write("tgt", b"\tb\nb\n")
    assert message(lambda: read_pairs(src, tgt)) == (
        f"{src}, line 2: empty line (and 2 further problems)"
    )


def test_tab_separated(write: Write) -> None:
    path = write("m.tsv", "the  cat\tle chat\r\nsummer\tl'été\r\n".encode())
    assert read_tsv(path) == [Pair("the cat", ("le chat",)), Pair("summer", ("l'été",))]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (b"", "empty line"),
        (b"\t", "empty line"),
        (b"the cat", "0 tabs, where one must part source and translation"),
        (b"the\tcat\tle chat", "2 tabs, where one must part source and translation"),
        (b"the cat\tle chat\t", "2 tabs, where one must part source and translation"),
        (b"\tle chat", "the source is empty"),
        (b"the cat\t ", "the translation is empty"),
        (b"the cat\tle\x07chat", "control character (U+0007, character 3 of the sentence)"),
        (b"the cat\t" + b"x" * 11, "11 characters, more than max_chars (10)"),
    ],
)
def test_faults_of_tab_separated_files(write: Write, line: bytes, what: str) -> None:
    path = write("m.tsv", b"a\tb\n" + line + b"\nc\td\n")
    assert message(lambda: read_tsv(path, max_chars=10)) == f"{path}, line 2: {what}"


SENTENCES = st.text(
    st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="\ufeff"), min_size=1
).filter(str.strip)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(st.lists(SENTENCES, min_size=1), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_no_line_is_lost_and_none_is_added(
    write: Write, sentences: list[str], line_end: str, zipped: bool
) -> None:
    data = "".join(sentence + line_end for sentence in sentences).encode()
    path = write("t", gzip.compress(data) if zipped else data)
    assert read_lines(path) == [normalise(sentence) for sentence in sentences]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(st.binary())
@example(b"\x1f\x8b")
@example(b"\n")
def test_any_bytes_are_read_or_refused_with_their_place(write: Write, data: bytes) -> None:
    path = write("t", data)
    try:
        lines = read_lines(path)
    except CorpusError as error:
        assert re.match(re.escape(f"{path}, line ") + r"\d+: ", str(error))  # noqa: PT017
    else:
        assert len(lines) == data.count(b"\n") + (not data.endswith(b"\n"))


def test_translations_are_a_tuple() -> None:
    assert Pair("the cat", ("le chat",)).target == "le chat"
    for targets, problem in (("le chat", r"\('le chat'\) must be a tuple"), ((), "at least one")):
        with pytest.raises(ValueError, match=problem):
            Pair("the cat", targets)  # type: ignore[arg-type]


@given(st.text())
def test_normalise_is_idempotent_and_composed(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once
    assert unicodedata.is_normalized("NFC", once)
