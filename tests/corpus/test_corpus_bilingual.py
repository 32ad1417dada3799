"""Large files of sentence pairs: aligned, as a table, as TMX, plain and compressed, whole and damaged."""

import gzip
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from transformer_course.corpus.bilingual import Sides, read_bilingual
from transformer_course.corpus.lenient import read_each_of_file
from transformer_course.corpus.pairs import CorpusError

PACKED: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gzip": gzip.compress,
    "zst": zstandard.ZstdCompressor().compress,
    "two frames": lambda data: b"".join(
        map(zstandard.ZstdCompressor().compress, (data[:3], data[3:]))
    ),
    "a frame to skip": lambda data: (  # with 3 bytes, which are no text
        b"\x5f\x2a\x4d\x18\x03\0\0\0abc" + zstandard.ZstdCompressor().compress(data)
    ),
}
TMX = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4"><header srclang="en" datatype="plaintext"/><body>
<tu><tuv xml:lang="EN-US"><seg>the <bpt i="1">&lt;b&gt;</bpt>cat<ept i="1">&lt;/b&gt;</ept> &amp; I</seg></tuv>
    <tuv xml:lang="fr"><prop>x</prop><seg>le <hi>chat</hi> et moi</seg></tuv></tu>
<tu><tuv lang="en"><seg>alone</seg></tuv><tuv lang="de"><seg>allein</seg></tuv></tu>
<tu><tuv xml:lang="fr_CA"><seg>deux</seg></tuv><tuv xml:lang="en"><seg>two</seg></tuv></tu>
</body></tmx>
"""


def shown(pairs: list[Sides]) -> list[tuple[str, str]]:
    return [(str(src), str(tgt)) for src, tgt in pairs]


@pytest.mark.parametrize("form", PACKED)
def test_pairs_come_one_by_one_whatever_packs_them(tmp_path: Path, form: str) -> None:
    paths = [tmp_path / name for name in ("a.en", "a.fr", "a.tsv", "a.tmx")]
    texts = ["one\ntwo\n", "un\r\ndeux", "one\tun\ntwo\tdeux\n"]
    for path, text in zip(paths, [*texts, TMX], strict=True):
        path.write_bytes(PACKED[form](text.encode()))
    en, fr, tsv, tmx = map(str, paths)
    assert list(read_bilingual((en, fr))) == [("one", "un"), ("two", "deux")]
    assert list(read_bilingual((tsv,))) == [("one", "un"), ("two", "deux")]
    first, second, third = read_bilingual((tmx,), "en-fr")
    assert (first, third) == (("the cat & I", "le chat et moi"), ("two", "deux"))
    assert shown([second]) == [("alone", "no sentence in 'fr'")]
    for other in ("fr-en", "FR-en", " fr - en", "fr_CA-en_US"):
        turned = next(read_bilingual((tmx,), other))
        assert shown([turned]) == [("le chat et moi", "the cat & I")]
    for other in ("es-en", "en-es"):
        with pytest.raises(
            CorpusError, match=r"a\.tmx: nothing in 'es'; its languages: de, en, fr$"
        ):
            list(read_bilingual((tmx,), other))


def test_a_memory_is_read_piece_by_piece(tmp_path: Path) -> None:
    unit = '<tu><tuv xml:lang="en"><seg>one</seg></tuv><tuv xml:lang="fr"><seg>un</seg></tuv></tu>'
    (tmp_path / "a.tmx").write_text(f"<tmx><body>{unit * 30_000}</body>")  # no end of tmx
    pairs = read_bilingual((str(tmp_path / "a.tmx"),), "en-fr")
    assert [next(pairs) for _ in range(20_000)] == [("one", "un")] * 20_000
    for name in ("foo", "shift_jis"):
        (tmp_path / "coded.tmx").write_text(f'<?xml version="1.0" encoding="{name}"?><tmx/>')
        with pytest.raises(CorpusError, match=r"coded\.tmx: no TMX, or damaged"):
            list(read_bilingual((str(tmp_path / "coded.tmx"),), "en-fr"))
    with pytest.raises(CorpusError, match=r"a\.tmx: no TMX, or damaged: no element found"):
        list(pairs)


def test_a_damaged_side_costs_no_other_pair(tmp_path: Path) -> None:
    (tmp_path / "a.en").write_bytes(b"one\na\xff\nthree\n")
    (tmp_path / "a.fr").write_bytes(b"un\ndeux\n" + b"x" * 2_001)
    pairs = shown(list(read_bilingual((str(tmp_path / "a.en"), str(tmp_path / "a.fr")))))
    assert pairs[0] == ("one", "un")
    assert pairs[1] == ("invalid UTF-8 (byte 0xff at byte 2 of the line)", "deux")
    assert pairs[2] == ("three", "more than 2,000 characters, the limit of one sentence")
    (tmp_path / "a.tsv").write_bytes(b"one\tun\ntwo\nthree\ttrois\tdrei\n")
    pairs = shown(list(read_bilingual((str(tmp_path / "a.tsv"),))))
    wrong = ["0 tabs, where one must part source and translation", "2 tabs, where one must part"]
    assert pairs[0] == ("one", "un")
    assert [src.startswith(told) for (src, _), told in zip(pairs[1:], wrong, strict=True)] == [
        True
    ] * 2


def test_files_of_unequal_length_end_with_the_line_that_is_missing(tmp_path: Path) -> None:
    (tmp_path / "a.en").write_text("one\ntwo\nthree\n")
    (tmp_path / "a.fr").write_text("un\ndeux\n")
    pairs = read_bilingual((str(tmp_path / "a.en"), str(tmp_path / "a.fr")))
    assert (next(pairs), next(pairs)) == (("one", "un"), ("two", "deux"))
    with pytest.raises(CorpusError, match=r"a\.fr, line 3: missing; the other file goes on"):
        next(pairs)


@pytest.mark.parametrize("form", ["gzip", "zst"])
def test_a_file_that_breaks_off_is_no_file_that_ends(tmp_path: Path, form: str) -> None:
    text = "".join(f"line {i * i * 7919}\n" for i in range(50_000))
    packed = PACKED[form](text.encode())
    for name in ("a.en", "a.fr", "a.tsv", "a.tmx"):
        (tmp_path / name).write_bytes(packed[: len(packed) // 2])
    files = tuple(str(tmp_path / name) for name in ("a.en", "a.fr"))
    with pytest.raises(CorpusError, match=r"a\.en, line \d+: from here on it cannot be read"):
        list(read_bilingual(files))
    with pytest.raises(CorpusError, match=r"a\.tsv, line \d+: from here on it cannot be read"):
        list(read_bilingual((str(tmp_path / "a.tsv"),)))
    (tmp_path / "a.tmx").write_bytes(PACKED[form](TMX.encode())[:-30])
    with pytest.raises(CorpusError, match=r"a\.tmx: no TMX, or damaged"):
        list(read_bilingual((str(tmp_path / "a.tmx"),), "en-fr"))
    damaged = bytearray(packed)
    damaged[len(packed) // 2] ^= 255
    (tmp_path / "a.en").write_bytes(damaged)
    last = list(read_each_of_file(tmp_path / "a.en"))[-1]
    assert "from here on it cannot be read" in str(last)


def test_what_cannot_be_asked_for_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"none\.en: cannot be read"):
        list(read_bilingual((str(tmp_path / "none.en"), str(tmp_path / "none.fr"))))
    for files, languages in (
        ((), ""),
        (("a", "b", "c"), ""),
        (("a",), "en"),
        (("a", "b"), "en-fr"),
    ):
        with pytest.raises(
            ValueError, match=r"files \[.*\] must be one file or two, and languages"
        ):
            list(read_bilingual(files, languages))
    for languages in ("en-", "-en", "en-en", "en-EN_us"):
        message = re.escape(f"languages ({languages!r}) must be two, such as 'en-fr'")
        with pytest.raises(ValueError, match=message):
            list(read_bilingual(("a",), languages))
