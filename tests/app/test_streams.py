"""Streams that fail: a full disk, closed ones, a reader that has gone. Nothing is lost in silence.

Torch takes seconds to load, so one process loads the command once and forks for each case.
"""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from small_runs import number_pairs, trained_run

pytestmark = pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="there is no /dev/full, which is a disk without room"
)

FORKS = """
import gc, io, json, os, sys
from transformer_course.__main__ import main
import transformer_course.cli
import nbclient, nbformat, torch._dynamo  # a check and a training would load them, each in its process

gc.freeze()  # what is loaded needn't be looked through at the end of each process


def opened(number, mode):  # as Python opens its streams
    try:
        os.fstat(number)
    except OSError:
        return None
    return open(number, mode, encoding="utf-8", closefd=False, buffering=1 if number == 2 else -1)


def take(number, kind, file):
    if kind == "closed":
        os.close(number)
    elif kind == "gone":
        reader, writer = os.pipe()
        os.dup2(writer, number)
        os.close(reader), os.close(writer)
    else:
        flags = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT
        other = os.O_WRONLY if kind == "unreadable" else flags
        place = {"full": "/dev/full", "unreadable": os.devnull}.get(kind, file)
        fd = os.open(place, other)
        os.dup2(fd, number)
        os.close(fd)


for name, case in json.load(sys.stdin).items():
    child = os.fork()
    if not child:
        sys.argv = ["transformer-course", *case["arguments"]]
        for number, kind in enumerate(case["streams"]):
            take(number, kind, case["files"][number])
        sys.stdin, sys.stdout, sys.stderr = opened(0, "r"), opened(1, "w"), opened(2, "w")
        sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
        main()
        break
    print(name, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""

QUICK = ["--steps=3", "--max-tokens=60", "--validate-every=2", "--vocab-size=300", "--threads=1"]
BAD = ("full", "closed", "gone")
REASONS = {"full": "No space left on device", "closed": "Bad file descriptor"}
# name of the command, then how standard input, output and error are
CASES = [
    ("train", "good", "good", "good"),
    ("train", "closed", "closed", "closed"),
    ("train", "good", "full", "good"),
    ("train", "good", "good", "gone"),
    *((name, "good", bad, "good") for name in ("words", "check", "help") for bad in BAD),
    *((name, "good", "full", "good") for name in ("file", "stdin", "evaluate")),
    *(("note", "good", "good", bad) for bad in BAD),
    *((name, "good", "good", "full") for name in ("words", "usage")),
    *((name, "good", bad, bad) for name in ("words", "help") for bad in ("full", "closed")),
    ("words", "closed", "good", "good"),
    *(("stdin", bad, "good", "good") for bad in ("closed", "unreadable")),
]


@dataclass
class Ended:
    """What a command left."""

    status: int
    out: str
    err: str
    run: Path


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, ...], Ended]:
    """How each of the cases ended."""
    folder = tmp_path_factory.mktemp("streams")
    for name, some in (("many", number_pairs(2)), ("few", number_pairs(1))):
        lines = [f"{pair.source}\t{pair.target}\n" for pair in some]
        (folder / f"{name}.tsv").write_text("".join(lines), encoding="utf-8")
    (folder / "words.txt").write_text("one\ntwo\n", encoding="utf-8")
    (folder / "torn.ipynb").write_text('{"cells": [', encoding="utf-8")
    run, words = str(trained_run()), str(folder / "words.txt")
    commands = {
        "words": ["translate", run, "one", "two"],
        "file": ["translate", run, "--file", words],
        "stdin": ["translate", run],
        "note": ["translate", run, "zzz", "two"],
        "evaluate": ["evaluate", run, "--tsv", str(folder / "few.tsv")],
        "check": ["check", str(folder / "torn.ipynb")],
        "help": ["--help"],
        "usage": ["translate"],
    }

    def case(place: Path, name: str, *streams: str) -> dict[str, Any]:
        place.mkdir()
        train = ["train", "--tsv", str(folder / "many.tsv"), "--out", str(place / "run"), *QUICK]
        files = [words, str(place / "out"), str(place / "err")]
        return {"arguments": commands.get(name, train), "streams": streams, "files": files}

    cases = {str(number): case(folder / str(number), *c) for number, c in enumerate(CASES)}
    done = subprocess.run(
        [sys.executable, "-c", FORKS],
        input=json.dumps(cases),
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    statuses = dict(line.split() for line in done.stdout.splitlines())

    def text(place: Path) -> str:
        return place.read_text(encoding="utf-8") if place.exists() else ""

    return {
        c: Ended(
            int(statuses[n]), *(text(folder / n / s) for s in ("out", "err")), folder / n / "run"
        )
        for n, c in ((str(number), c) for number, c in enumerate(CASES))
    }


def test_no_case_has_a_traceback(ended: dict[tuple[str, ...], Ended]) -> None:
    assert len(ended) == len(CASES)
    assert not [case for case, end in ended.items() if "Traceback" in end.err]
    assert not [case for case, end in ended.items() if "Exception ignored" in end.err]


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        *((name, bad) for name in ("words", "help") for bad in BAD),
        *((name, "full") for name in ("file", "stdin", "evaluate")),
    ],
)
def test_output_that_cannot_be_written_is_told_in_a_sentence(
    ended: dict[tuple[str, ...], Ended], name: str, bad: str
) -> None:
    end = ended[name, "good", bad, "good"]
    assert end.status == 1
    told = f"error: standard output can't be written: {REASONS.get(bad)}\n"
    assert end.err == ("" if bad == "gone" else told)


@pytest.mark.parametrize("bad", BAD)
def test_notebooks_that_cannot_be_run_are_told_beside_it(
    ended: dict[tuple[str, ...], Ended], bad: str
) -> None:
    end = ended["check", "good", bad, "good"]
    assert end.status == 1
    note, first, *more = end.err.splitlines()
    assert note == "Note: no fence: the notebooks run with all your rights"
    assert first.startswith("error: 1 of 1 notebooks could not be run")
    told = [f"error: standard output can't be written: {REASONS.get(bad)}"]
    assert more == ([] if bad == "gone" else told)


def test_a_letter_that_the_output_does_not_have_is_written_by_its_number(tmp_path: Path) -> None:
    folder = tmp_path / "rün"
    shutil.copytree(trained_run(), folder)
    done = subprocess.run(
        [sys.executable, "-m", "transformer_course", "export", folder, "--to", "hub"],
        capture_output=True,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(f"{tmp_path}/r\\xfcn-hub: ".encode("ascii"))


def test_lost_notes_stop_nothing_but_show_in_the_status(
    ended: dict[tuple[str, ...], Ended],
) -> None:
    for bad in BAD:
        end = ended["note", "good", "good", bad]
        assert (end.status, end.out.count("\n")) == (1, 2), bad
    end = ended["words", "good", "good", "full"]
    assert (end.status, end.out) == (0, "un\ndeux\n")  # there was nothing to tell
    assert ended["usage", "good", "good", "full"].status == 2


@pytest.mark.parametrize("bad", ["full", "closed"])
@pytest.mark.parametrize("name", ["words", "help"])
def test_where_nothing_can_be_told_the_status_tells_it(
    ended: dict[tuple[str, ...], Ended], name: str, bad: str
) -> None:
    assert ended[name, "good", bad, bad].status == 1


def test_standard_input_that_cannot_be_read_is_told_where_it_is_needed(
    ended: dict[tuple[str, ...], Ended],
) -> None:
    end = ended["words", "closed", "good", "good"]
    assert (end.status, end.out, end.err) == (0, "un\ndeux\n", "")
    for bad in ("closed", "unreadable"):
        end = ended["stdin", bad, "good", "good"]
        assert end.status == 1
        assert end.err.startswith("error: standard input"), bad
        assert end.err.count("\n") == 1


def test_no_training_is_lost_with_its_messages(ended: dict[tuple[str, ...], Ended]) -> None:
    """Nor do messages get into its files, which could have the numbers of closed streams."""
    undisturbed = ended["train", "good", "good", "good"]
    assert undisturbed.status == 0, undisturbed
    names = {path.name for path in undisturbed.run.iterdir()}
    others = {case: end for case, end in ended.items() if case[0] == "train" and case != CASES[0]}
    assert len(others) == 3
    for case, end in others.items():
        assert end.status == 1, case
        assert {path.name for path in end.run.iterdir()} == names, case
        for name in ("model.safetensors", "vocabulary.json", "recipe.json"):
            assert (end.run / name).read_bytes() == (undisturbed.run / name).read_bytes(), case


def test_the_end_of_a_training_is_told_on_the_stream_that_is_left(
    ended: dict[tuple[str, ...], Ended],
) -> None:
    end = ended["train", "good", "full", "good"]
    told = f"error: standard output can't be written: {REASONS['full']}. Training finished; "
    assert f"{told}the translator is in {end.run}\n" in end.err
    end = ended["train", "good", "good", "gone"]
    assert f"Training finished; the translator is in {end.run}\n" in end.out


@pytest.mark.parametrize("bad", BAD)
def test_sentences_of_the_grammar_end_as_the_command_does(bad: str) -> None:
    redirect = {"full": ">/dev/full", "closed": ">&-", "gone": "| true"}[bad]
    shown = f"{sys.executable} -m transformer_course.corpus --show 500"
    script = f"set -o pipefail; {shown} {redirect}"
    done = subprocess.run(
        ["bash", "-c", script],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | {"LC_ALL": "C.UTF-8"},
    )
    assert done.returncode == 1
    told = f"error: standard output can't be written: {REASONS.get(bad)}\n"
    assert done.stderr == ("" if bad == "gone" else told)
