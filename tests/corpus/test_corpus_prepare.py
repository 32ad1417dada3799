"""A corpus is cleaned and cut into shards: every pair is accounted for, and a kill changes nothing."""

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from transformer_course.checkpoints import CheckpointError, write_json, write_sealed
from transformer_course.corpus import grammar, sharing
from transformer_course.corpus import prepare as prepare_module
from transformer_course.corpus.pairs import CorpusError
from transformer_course.corpus.prepare import prepare, report_text
from transformer_course.corpus.shards import Shards
from transformer_course.corpus.vocabulary import Vocabulary

SMALL: dict[str, Any] = {"vocab_size": 300, "lines_per_block": 50, "pairs_per_shard": 60}
BAD = [
    ("", "vide"),
    ("dirt\x00", "sale"),
    ("a", "b" * 30),
    ("the dog", "собака"),
    ("x" * 3000, "x"),
]


@pytest.fixture
def texts() -> list[tuple[str, str]]:
    """400 pairs of the grammar, some of them twice, with bad ones between."""
    pairs = [(pair.source, pair.target) for pair in grammar.generate("train", 400, 3)]
    drawn = random.Random(0)
    letters = [" ".join(drawn.choices("abcdefghijklmnopqrstuvwxyz", k=900)) for _ in "12"]
    mixed = [*pairs, *pairs[:25], *BAD, (letters[0], letters[1])]
    drawn.shuffle(mixed)
    return mixed


@pytest.fixture
def files(tmp_path: Path, texts: list[tuple[str, str]]) -> list[str]:
    paths = [tmp_path / "a.en", tmp_path / "a.fr"]
    for side, path in enumerate(paths):
        path.write_text("".join(f"{pair[side]}\n" for pair in texts), encoding="utf-8")
    return list(map(str, paths))


def contents(folder: Path) -> dict[str, str]:
    """A digest of each file, hidden ones left out."""
    paths = [path for path in sorted(folder.iterdir()) if not path.name.startswith(".")]
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def decoded(shards: Shards) -> list[tuple[str, str]]:
    vocabulary = Vocabulary.load(shards.folder / "vocabulary.json")
    found = []
    for number, size in enumerate(shards.sizes):
        shard = shards.open(number)
        assert len(shard) == size
        sides = [vocabulary.decode([pair[side] for pair in shard[:]]) for side in (0, 1)]
        found += list(zip(*sides, strict=True))
    return found


def test_every_pair_is_in_a_shard_or_held_out_or_counted(
    tmp_path: Path, files: list[str], texts: list[tuple[str, str]]
) -> None:
    record = prepare(files, tmp_path / "data", **SMALL)
    shards = Shards(tmp_path / "data")
    good = {pair for pair in texts if pair not in BAD and len(pair[0]) < 1000}
    held_out = [(p.source, p.target) for n in ("valid", "test") for p in shards.texts(n)]
    trained = decoded(shards)
    assert Counter(trained + held_out) == Counter(good)  # each once
    assert not {source for source, _ in trained} & {source for source, _ in held_out}
    assert not {p.source for p in shards.texts("valid")} & {p.source for p in shards.texts("test")}
    dropped = record["dropped"]
    repeated = len(texts) - len(BAD) - 1 - len(good)
    assert dropped.pop("duplicate") == repeated >= 25
    assert dropped == dict.fromkeys(
        ("unreadable", "empty", "too long", "lengths", "script", "subwords"), 1
    )
    assert record["first"]["empty"] == texts.index(BAD[0]) + 1
    left_out = sum(dropped.values()) + repeated
    assert record["read"] == len(texts) == left_out + record["pairs"] + len(held_out)
    assert record["pairs"] == len(shards) == len(trained)
    assert len(shards.sizes) == -(-(len(good) + repeated + 1) // 60) > 5
    assert set(os.listdir(tmp_path / "data")) == {
        *("plan.json", "prepared.json", "sample.tsv", "test.tsv", "valid.tsv", "vocabulary.json"),
        *(f"{name}.{what}.npy" for name in shards.names for what in ("ids", "lengths")),
    }
    assert {(p.source, p.target) for p in shards.texts("sample")} <= set(trained)
    sides = [
        len(side)
        for number in range(len(shards.sizes))
        for pair in shards.open(number)
        for side in pair
    ]
    assert max(shards.longest[:2]) == max(sides)


def test_the_report_has_a_line_for_each_number(tmp_path: Path, files: list[str]) -> None:
    record = prepare(files, tmp_path / "data", **SMALL)
    lines = report_text(record).splitlines()
    assert len(lines) == 4 + len(prepare_module.REASONS)
    assert lines[0].split()[-1] == f"{record['read']:,}"
    first = record["first"]["script"]
    told = next(line for line in lines if "left out: script" in line)
    assert told.endswith(f"of another script than the file's; the first is pair {first:,}")


def test_a_shard_is_a_random_part_of_the_corpus(tmp_path: Path, files: list[str]) -> None:
    """Pairs that stand side by side in the files are dealt to all shards."""
    text = "".join(f"number {i}\n" for i in range(600))
    for name in files:
        Path(name).write_text(text)
    prepare(files, tmp_path / "data", **SMALL)
    shards, vocabulary = (
        Shards(tmp_path / "data"),
        Vocabulary.load(tmp_path / "data/vocabulary.json"),
    )
    for number in range(len(shards.sizes)):
        sources = vocabulary.decode([pair[0] for pair in shards.open(number)])
        low = sum(int(source.split()[1]) < 300 for source in sources)
        assert 0.2 < low / len(sources) < 0.8


def test_several_processes_write_what_one_writes(tmp_path: Path, files: list[str]) -> None:
    one = prepare(files, tmp_path / "one", **SMALL)
    two = prepare(files, tmp_path / "two", processes=2, **SMALL)
    assert one == two
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


KILLED = """
import sys, time
from transformer_course.corpus import prepare
inner = prepare.write_json
def slowly(path, value):
    inner(path, value)
    print(path.name, flush=True)
    time.sleep(0.2)
prepare.write_json = slowly
prepare.prepare(sys.argv[2:], sys.argv[1], vocab_size=300, lines_per_block=50, pairs_per_shard=60)
"""


def killed(folder: Path, files: list[str], after: str) -> None:
    """A process that is killed as soon as a part is there."""
    command = [sys.executable, "-c", KILLED, str(folder), *files]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as job:
        assert job.stdout
        while job.stdout.readline().strip() != f"{after}.json":
            assert job.poll() is None
        job.send_signal(signal.SIGKILL)
    (folder / ".shard-000003.ids.npy.1.tmp").write_bytes(b"half")


def stopped(folder: Path, files: list[str], after: str) -> None:
    """The same without a process, which takes seconds."""

    def stop(path: Path, value: Any) -> None:
        write_json(path, value)
        if path.stem == after:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prepare_module, "write_json", stop)
        with pytest.raises(KeyboardInterrupt):
            prepare(files, folder, **SMALL)


@pytest.mark.parametrize(
    ("end", "after"),
    [
        (killed, "block-000003"),
        *((stopped, part) for part in ("block-000009", "read", "split", "shard-000002")),
    ],
)
def test_a_kill_changes_nothing(
    tmp_path: Path, files: list[str], end: Callable[..., None], after: str
) -> None:
    prepare(files, tmp_path / "whole", **SMALL)
    folder = tmp_path / "killed"
    end(folder, files, after)
    done = {path for path in (folder / "parts").iterdir() if path.suffix == ".json"}
    assert not (folder / "prepared.json").exists()
    written = []

    def write(path: Path, value: Any) -> None:
        written.append(path)
        write_json(path, value)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prepare_module, "write_json", write)
        prepare(files, folder, **SMALL)
    assert written
    assert not set(written) & done  # what was there isn't done again
    assert contents(folder) == contents(tmp_path / "whole")
    assert not list(folder.glob(".*.tmp"))


def test_once_done_the_same_again_only_reports(tmp_path: Path, files: list[str]) -> None:
    record = prepare(files, tmp_path / "data", **SMALL)
    before = contents(tmp_path / "data")
    (tmp_path / "data" / "parts").mkdir()  # killed before it was deleted
    assert prepare(files, tmp_path / "data", **SMALL) == record
    assert contents(tmp_path / "data") == before


def test_an_edit_of_equal_size_makes_another_corpus(tmp_path: Path, files: list[str]) -> None:
    folder, target = tmp_path / "data", Path(files[1])
    record = prepare(files, folder, **SMALL)
    target.write_bytes(target.read_bytes().replace(b"e", b"a", 1))
    with pytest.raises(CorpusError, match=r"a\.fr was changed since .*data was begun: choose a"):
        prepare(files, folder, **SMALL)
    plan = json.loads((folder / "plan.json").read_text())
    del plan["digests"], plan["digest"], plan["format"]  # as it was written before
    write_sealed(folder / "plan.json", plan)
    assert prepare(files, folder, **SMALL) == record


def test_another_corpus_or_another_folder_is_refused(tmp_path: Path, files: list[str]) -> None:
    prepare(files, tmp_path / "data", **SMALL)
    with pytest.raises(CorpusError, match="was begun with vocab_size = 300, not 301"):
        prepare(files, tmp_path / "data", **SMALL | {"vocab_size": 301})
    with open(files[0], "a") as one, open(files[1], "a") as other:
        print("more", file=one)
        print("plus", file=other)
    with pytest.raises(CorpusError, match=r"was changed since .*data was begun: choose a"):
        prepare(files, tmp_path / "data", **SMALL)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("mine")
    with pytest.raises(CorpusError, match=r"holds other files \(thesis.txt\)"):
        prepare(files, tmp_path / "mine", **SMALL)
    for name, value in {"vocab_size": 258, "processes": 0, "pairs_per_shard": 0}.items():
        with pytest.raises(ValueError, match=rf"{name} \({value}\) must be"):
            prepare(files, tmp_path / "new", **{name: value})
    with pytest.raises(
        ValueError, match=r"vocab_size \(10000000000000\) must be .* at most 1,000,000"
    ):
        prepare(files, tmp_path / "new", vocab_size=10**13)


@pytest.mark.parametrize("processes", [1, 2])
def test_files_of_unequal_length_are_refused(
    tmp_path: Path, files: list[str], processes: int
) -> None:
    with open(files[0], "a") as file:
        print("one more", file=file)
    with pytest.raises(CorpusError, match=r"a\.fr, line \d+: missing; the other file goes on"):
        prepare(files, tmp_path / "data", processes=processes, **SMALL)
    assert not (tmp_path / "data" / "prepared.json").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs on this system")
def test_what_can_be_read_once_only_is_refused(tmp_path: Path, files: list[str]) -> None:
    os.mkfifo(tmp_path / "pipe")
    for strange in (tmp_path / "pipe", tmp_path):
        with pytest.raises(CorpusError, match="is no file that can be read several times"):
            prepare([files[0], str(strange)], tmp_path / "data", **SMALL)


UTF_16 = (
    r"; left out: unreadable 50 \(no UTF-8.*\); the first that can't be read: "
    r"invalid UTF-8 .*looks like UTF-16, save it as UTF-8$"
)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"", "$"),
        (b"same\n" * 50, "$"),
        (b"\n\n", r"; left out: empty 2 \(nothing to be seen on a side\)$"),
        (("one\n" * 49 + "two").encode("utf-16"), UTF_16),
    ],
)
def test_too_little_text_is_refused(tmp_path: Path, text: bytes, told: str) -> None:
    for name in ("a.en", "a.fr"):
        (tmp_path / name).write_bytes(text)
    files = [str(tmp_path / name) for name in ("a.en", "a.fr")]
    with pytest.raises(CorpusError, match=f"there must be 2 or more, to hold one out{told}"):
        prepare(files, tmp_path / "data", **SMALL)


def test_where_nothing_is_left_to_train_on_it_says_why(tmp_path: Path) -> None:
    line = "".join(map(chr, range(0x4E00, 0x4E00 + 300)))  # three subwords a sign
    (tmp_path / "a.tsv").write_text("".join(f"{i}{line}\t{line}\n" for i in range(9)))
    with pytest.raises(CorpusError, match=r"train on; left out: subwords 9 \(more than 511 [^;]*$"):
        prepare([str(tmp_path / "a.tsv")], tmp_path / "data", **SMALL)


def test_only_a_vocabulary_of_all_text_says_which_words_are_new(
    tmp_path: Path, files: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(files, tmp_path / "all", **SMALL)
    assert Vocabulary.load(tmp_path / "all/vocabulary.json").unseen("zebra") == ("zebra",)
    monkeypatch.setattr(prepare_module, "_SAMPLE", 100)
    prepare(files, tmp_path / "some", **SMALL)
    assert Vocabulary.load(tmp_path / "some/vocabulary.json").unseen("zebra") == ()


def test_damaged_shards_and_records_are_refused(tmp_path: Path, files: list[str]) -> None:
    folder = tmp_path / "data"
    prepare(files, folder, **SMALL)
    shards = Shards(folder)
    ids = folder / f"{shards.names[1]}.ids.npy"
    whole = ids.read_bytes()
    ids.write_bytes(whole[:-2] + b"\x07\x00")
    with pytest.raises(CorpusError, match=rf"{ids.name} was changed since it was written"):
        shards.open(1)
    ids.write_bytes(whole[:-20])
    with pytest.raises(CorpusError, match="can't be read"):
        shards.open(1)
    ids.unlink()
    with pytest.raises(CorpusError, match="can't be read"):
        shards.open(1)
    assert len(shards.open(0)) == shards.sizes[0]
    record = json.loads((folder / "prepared.json").read_text())
    del record["digest"], record["format"]
    write_sealed(folder / "prepared.json", record | {"shards": [{"name": "x"}]})
    with pytest.raises(CheckpointError, match=r"prepared\.json is damaged"):
        Shards(folder)
    (folder / "prepared.json").unlink()
    with pytest.raises(
        CheckpointError, match=r"prepared\.json is missing: .* or only a part of it"
    ):
        Shards(folder)


@pytest.mark.parametrize("name", ["valid", "test", "sample"])
def test_texts_that_are_gone_are_missed(tmp_path: Path, files: list[str], name: str) -> None:
    prepare(files, tmp_path / "data", **SMALL)
    shards, path = Shards(tmp_path / "data"), tmp_path / "data" / f"{name}.tsv"
    assert shards.texts(name)
    path.write_text("")
    with pytest.raises(CorpusError, match=rf"{name}\.tsv, line 1: missing; the file is empty"):
        shards.texts(name)
    path.unlink()
    with pytest.raises(CorpusError, match=rf"{name}\.tsv is missing: put it back, or prepare"):
        shards.texts(name)


def test_too_few_pairs_have_texts_without_any(tmp_path: Path, files: list[str]) -> None:
    for file in files:
        Path(file).write_text("".join(f"number {n}\n" for n in range(2)))
    prepare(files, tmp_path / "data", **SMALL)
    shards = Shards(tmp_path / "data")
    assert [len(shards.texts(name)) for name in ("valid", "test", "sample")] == [1, 0, 1]


def test_ids_take_two_bytes_as_long_as_they_can(tmp_path: Path) -> None:
    from transformer_course.corpus.shards import write_shard

    for n_ids, wanted in ((1 << 16, np.uint16), ((1 << 16) + 1, np.uint32)):
        write_shard(tmp_path, "x", [([n_ids - 1], [4, 5])], n_ids)
        ids = np.load(tmp_path / "x.ids.npy")
        assert (ids.dtype, ids.tolist()) == (wanted, [n_ids - 1, 4, 5])
    with pytest.raises(ValueError, match="examples hold an id below 3, of a special token"):
        write_shard(tmp_path, "x", [([5, 2], [4])], 300)


def _fails(folder: Path, rank: int, count: int) -> None:
    if rank == 1:
        raise OSError(f"process {rank} of {count} has no room")
    time.sleep(60)


def _dies(folder: Path, rank: int, count: int) -> None:
    os._exit(3)


def test_a_process_that_fails_ends_all(tmp_path: Path) -> None:
    begun = time.monotonic()
    with pytest.raises(CorpusError, match="process 1 of 2 has no room"):
        sharing.share_out(_fails, tmp_path, 2)
    with pytest.raises(CorpusError, match=r"a process ended \(3\) before its work was done"):
        sharing.share_out(_dies, tmp_path, 2)
    assert time.monotonic() - begun < 50


ORPHANS = """
import sys, time
from pathlib import Path
from transformer_course.corpus.sharing import abandoned, share_out

def work(folder, rank, count):
    (folder / f"begun-{rank}").touch()
    while not abandoned():
        time.sleep(0.02)
    (folder / f"ended-{rank}").touch()

if __name__ == "__main__":
    share_out(work, Path(sys.argv[1]), 2)
"""


def test_processes_end_when_nobody_waits_for_them(tmp_path: Path) -> None:
    script = tmp_path / "orphans.py"
    script.write_text(ORPHANS)
    job = subprocess.Popen([sys.executable, str(script), str(tmp_path)])
    until = time.monotonic() + 60
    while len(list(tmp_path.glob("begun-*"))) < 2 and time.monotonic() < until:
        time.sleep(0.02)
    job.kill()
    job.wait()
    while len(list(tmp_path.glob("ended-*"))) < 2 and time.monotonic() < until:
        time.sleep(0.02)
    assert len(list(tmp_path.glob("ended-*"))) == 2
    shutil.rmtree(tmp_path)


def test_blocks_that_another_process_still_cleaned_are_cleaned_again(
    tmp_path: Path, files: list[str]
) -> None:
    prepare(files, tmp_path / "whole", **SMALL)
    folder = tmp_path / "killed"
    stopped(folder, files, "read")  # the first process has read all
    (folder / "parts" / "block-000002.json").unlink()
    prepare(files, folder, **SMALL)
    assert contents(folder) == contents(tmp_path / "whole")


def test_a_folder_that_is_used_again_gets_subwords_of_its_own(
    tmp_path: Path, files: list[str]
) -> None:
    folder = tmp_path / "data"
    prepare(files, folder, **SMALL)
    shutil.rmtree(folder)
    prepare(files, folder, **SMALL | {"vocab_size": 290})
    prepare(files, tmp_path / "alone", **SMALL | {"vocab_size": 290})
    assert contents(folder) == contents(tmp_path / "alone")
    assert Shards(folder).record["vocabulary"] == Vocabulary.load(folder / "vocabulary.json").digest
