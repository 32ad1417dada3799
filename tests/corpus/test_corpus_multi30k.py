"""Multi30k: read from a folder or fetched, never any other text. Everything here is made up."""

import gzip
import hashlib
import re
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from transformer_course.corpus import multi30k
from transformer_course.corpus.normal_form import normalise
from transformer_course.corpus.pairs import CorpusError, Pair

TEXTS = {
    "train.lc.norm.tok.en": b"a cat .\na  dog . \n",
    "train.lc.norm.tok.fr": "un chat .\nun chien à\tpois .\n".encode(),
    "val.lc.norm.tok.en": b"a bird .\n",
    "train.en": b"A cat.\nA dog.\n",
}
PUBLISHED = {
    name if ".lc." in name else f"{name}.gz": text if ".lc." in name else gzip.compress(text)
    for name, text in TEXTS.items()
}


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def published_path(name: str) -> str:
    return f"{'tok' if '.lc.' in name else 'raw'}/{name}"


@pytest.fixture(autouse=True)
def made_up_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the made-up texts be the published ones, and every address lead nowhere."""
    hashes = {
        published_path(name): (sha256(data), sha256(TEXTS[name.removesuffix(".gz")]))
        for name, data in PUBLISHED.items()
    }
    unused = "0" * 64
    for split in multi30k.SPLITS:
        for language in multi30k.LANGUAGES:
            for form in multi30k.FORMS:
                name = multi30k._published_name(split, language, form)
                hashes.setdefault(name, (unused, unused))
    monkeypatch.setattr(multi30k, "_hashes", lambda: hashes)
    monkeypatch.setattr(multi30k, "_REPOSITORY", "http://127.0.0.1:9")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in TEXTS.items():
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(text))
    return tmp_path


def test_sentences_come_in_one_form(folder: Path) -> None:
    assert multi30k.load("train", "en", folder) == ["a cat .", "a dog ."]
    assert multi30k.load("train", "fr", str(folder)) == ["un chat .", "un chien à pois ."]
    assert multi30k.load("train", "en", folder, "raw") == ["A cat.", "A dog."]
    assert multi30k.load("train", "en", folder, form="raw") != multi30k.load("train", "en", folder)


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"])
def test_plain_files_do_as_well(tmp_path: Path, line_end: bytes) -> None:
    text = TEXTS["train.lc.norm.tok.en"].replace(b"\n", line_end)
    (tmp_path / "train.lc.norm.tok.en").write_bytes(text)
    assert multi30k.load("train", "en", tmp_path) == ["a cat .", "a dog ."]


def test_pairs(folder: Path) -> None:
    assert multi30k.load_pairs("train", "en", "fr", folder) == [
        Pair("a cat .", ("un chat .",)),
        Pair("a dog .", ("un chien à pois .",)),
    ]
    assert multi30k.load_pairs("train", "fr", "en", folder)[0] == Pair("un chat .", ("a cat .",))


def test_everything_missing_in_the_languages_asked_for_is_named(folder: Path) -> None:
    rule = (
        f"{folder}: lacks val.lc.norm.tok.fr, test_2016_flickr.lc.norm.tok.en, "
        f"test_2016_flickr.lc.norm.tok.fr (plain or with .gz)"
    )
    with pytest.raises(CorpusError, match=re.escape(rule)):
        multi30k.load_pairs("val", "en", "fr", folder)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=re.escape(f"{tmp_path / 'x'}: there is no such folder")):
        multi30k.load("train", "en", tmp_path / "x")


@pytest.mark.parametrize("change", [b"one more\n", b"\n", b" "])
def test_other_text_is_refused(folder: Path, change: bytes) -> None:
    path = folder / "train.lc.norm.tok.en.gz"
    path.write_bytes(gzip.compress(TEXTS["train.lc.norm.tok.en"] + change))
    rule = f"{path}: is not the published text of Multi30k (its SHA-256 does not begin with "
    with pytest.raises(CorpusError, match=re.escape(rule)):
        multi30k.load("train", "en", folder)


def test_a_damaged_file_is_refused(folder: Path) -> None:
    path = folder / "train.lc.norm.tok.en.gz"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(CorpusError, match=re.escape(f"{path}, line ")):
        multi30k.load("train", "en", folder)


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        (("test", "en"), "split ('test') must be one of train, val, test_2016_flickr"),
        (("train", "cs"), "language ('cs') must be one of de, en, fr"),
        (("train", "en", None, "bpe"), "form ('bpe') must be one of lc.norm.tok, raw"),
    ],
)
def test_wrong_arguments(arguments: tuple[str, ...], rule: str) -> None:
    with pytest.raises(ValueError, match=re.escape(rule)):
        multi30k.load(*arguments)


def test_a_language_is_not_translated_into_itself(folder: Path) -> None:
    rule = "source and target ('en') must be two languages"
    with pytest.raises(ValueError, match=re.escape(rule)):
        multi30k.load_pairs("train", "en", "en", folder)


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Serve the made-up files on this machine as the repository would; yield the served folder."""
    served = tmp_path / "served"
    for name, data in PUBLISHED.items():
        kind = published_path(name).partition("/")[0]
        path = served / multi30k._COMMITS[kind] / "data/task1" / published_path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    http = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(served)))
    threading.Thread(target=http.serve_forever, daemon=True).start()
    monkeypatch.setattr(multi30k, "_REPOSITORY", f"http://127.0.0.1:{http.server_port}")
    monkeypatch.setenv("TRANSFORMER_COURSE_CACHE", str(tmp_path / "cache"))
    yield served
    http.shutdown()
    http.server_close()


def test_a_download_is_kept_in_the_cache(
    server: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = multi30k.load("train", "en"), multi30k.load("train", "en", form="raw")
    assert first == (["a cat .", "a dog ."], ["A cat.", "A dog."])
    cached = sorted(path.name for path in (tmp_path / "cache").rglob("*") if path.is_file())
    assert cached == ["train.en.gz", "train.lc.norm.tok.en"]
    monkeypatch.setattr(multi30k, "_REPOSITORY", "http://127.0.0.1:9")
    assert (multi30k.load("train", "en"), multi30k.load("train", "en", form="raw")) == first


def test_a_download_of_other_bytes_is_refused_and_not_kept(server: Path, tmp_path: Path) -> None:
    (path,) = server.rglob("train.lc.norm.tok.en")
    path.write_bytes(b"something else\n")
    rule = "(what came is not the listed file, its SHA-256 differs)"
    with pytest.raises(CorpusError, match=re.escape(rule)):
        multi30k.load("train", "en")
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


def test_a_file_that_the_server_does_not_have(server: Path) -> None:
    with pytest.raises(CorpusError) as caught:
        multi30k.load("val", "de")
    assert str(caught.value).startswith("val.lc.norm.tok.de: cannot be downloaded from http://127")
    assert "(the server answered 404)" in str(caught.value)


def test_without_a_connection_the_way_out_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRANSFORMER_COURSE_CACHE", str(tmp_path))
    rule = "(no answer: ConnectionError); with a copy of the files at hand, name its folder instead"
    with pytest.raises(CorpusError, match=re.escape(rule)):
        multi30k.load("val", "en")


def test_with_a_folder_nothing_is_downloaded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> Path:
        raise AssertionError("a download was begun")

    monkeypatch.setattr(multi30k, "_download", refuse)
    assert multi30k.load("val", "en", folder) == ["a bird ."]
    with pytest.raises(CorpusError, match="lacks"):
        multi30k.load("val", "de", folder)


def test_the_table_lists_every_file_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    hashes = multi30k._hashes()
    expected = {
        multi30k._published_name(split, language, form)
        for split in multi30k.SPLITS
        for language in multi30k.LANGUAGES
        for form in multi30k.FORMS
    }
    assert set(hashes) == expected
    assert len(expected) == 18
    for name, (of_file, of_text) in hashes.items():
        assert re.fullmatch("[0-9a-f]{64}", of_file)
        assert re.fullmatch("[0-9a-f]{64}", of_text)
        assert (of_file == of_text) == name.startswith("tok/")  # the raw files are compressed
    assert len({of_text for _, of_text in hashes.values()}) == 18


def test_sentences_are_normalised_as_readers_do(folder: Path) -> None:
    lines = TEXTS["train.lc.norm.tok.fr"].decode().splitlines()
    assert multi30k.load("train", "fr", folder) == [normalise(line) for line in lines]
