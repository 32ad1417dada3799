"""`transformer-course prepare`, and `train --data`: from files of one's own to a translator."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest
import zstandard
from command_line import Run, assert_one_sentence
from small_runs import number_pairs

from transformer_course.checkpoints import load_tensors
from transformer_course.corpus.readers import read_tsv
from transformer_course.corpus.vocabulary import Vocabulary

SMALL = [
    *("--layers", 1, "--d-model", 16, "--heads", 2, "--d-ff", 16, "--precision", "fp32"),
    *("--max-tokens", 200, "--warmup", 3, "--rate", 0.01, "--validate-every", 4, "--steps", 8),
    *("--device", "cpu"),
]


@pytest.fixture
def data(run: Run, files: list[Path], tmp_path: Path) -> Path:
    """A prepared folder of number words."""
    result = run("prepare", "--pairs", *files, "--out", tmp_path / "data", "--vocab-size", 270)
    assert result.status == 0, result
    return tmp_path / "data"


def test_what_became_of_each_pair_is_told(run: Run, files: list[Path], tmp_path: Path) -> None:
    with files[0].open("a") as one, files[1].open("a") as other:
        print("\none", file=one)
        print("un\nun", file=other)
    command = ["prepare", "--pairs", *files, "--out", tmp_path / "data", "--vocab-size", 270]
    result = run(*command)
    assert (result.status, result.err) == (0, "")
    n = len(number_pairs())
    told = {line[:22].strip(): line[22:36].strip() for line in result.out.splitlines()}
    held = int(told["to validate on"]) + int(told["for evaluate"])
    assert told["pairs read"] == str(n + 2)
    assert told["left out: empty"] == told["left out: duplicate"] == "1"
    assert int(told["to train on"]) == n - held
    last = result.out.splitlines()[-1]
    assert last == f"Train with: transformer-course train --data {tmp_path / 'data'} --out RUN"
    assert run(*command) == result  # it is all there


@pytest.mark.parametrize("form", ["zst", "gzip", "tsv", "tmx"])
def test_every_form_gives_the_same_shards(
    run: Run, files: list[Path], data: Path, tmp_path: Path, form: str
) -> None:
    out = tmp_path / "other"
    if form in ("zst", "gzip"):
        pack = zstandard.ZstdCompressor().compress if form == "zst" else gzip.compress
        for path in files:
            path.with_suffix(f".{form}{path.suffix}").write_bytes(pack(path.read_bytes()))
        given: list[object] = ["--pairs", *(p.with_suffix(f".{form}{p.suffix}") for p in files)]
    elif form == "tsv":
        lines = "".join(f"{p.source}\t{p.target}\n" for p in number_pairs())
        (tmp_path / "a.tsv").write_text(lines)
        given = ["--tsv", tmp_path / "a.tsv"]
    else:
        side = '<tuv xml:lang="{}"><seg>{}</seg></tuv>'
        units = (side.format("en", p.source) + side.format("fr", p.target) for p in number_pairs())
        body = "".join(f"<tu>{unit}</tu>" for unit in units)
        (tmp_path / "a.tmx").write_text(f"<tmx><body>{body}</body></tmx>")
        given = ["--tmx", tmp_path / "a.tmx", "--languages", "en-fr"]
    assert run("prepare", *given, "--out", out, "--vocab-size", 270).status == 0
    for name in ("prepared.json", "vocabulary.json", "valid.tsv", "shard-000000.ids.npy"):
        assert (out / name).read_bytes() == (data / name).read_bytes()


def test_a_translator_is_trained_resumed_and_scored(run: Run, data: Path, tmp_path: Path) -> None:
    command = ["train", "--data", data, *SMALL]
    whole = run(*command, "--out", tmp_path / "whole")
    assert whole.status == 0, whole
    n_train = len(number_pairs()) - sum(len(read_tsv(data / f"{n}.tsv")) for n in ("valid", "test"))
    assert f"\n{n_train} pairs to train on; held out: " in whole.out  # below the options
    run(*command, "--out", tmp_path / "run", "--steps", 4)
    assert run("train", "--out", tmp_path / "run", "--resume", "--steps", 8).status == 0
    again = run("train", "--data", data, "--out", tmp_path / "run", "--resume")
    assert again.status == 0, again
    run_words = Vocabulary.load(tmp_path / "run" / "vocabulary.json")
    assert run_words.digest == Vocabulary.load(data / "vocabulary.json").digest
    scored = run("evaluate", tmp_path / "run", "--beam", 1)
    assert scored.out.split()[1] == str(len(read_tsv(data / "test.tsv")))
    (data / "test.tsv").write_text("one two\tdeux un\n")
    assert_one_sentence(run("evaluate", tmp_path / "run"), f"error: {data}: not the pairs that")
    told = run("info", tmp_path / "run").out
    assert f"prepared {data}" in told
    assert f"vocab_size {len(run_words)}" in told


def test_a_stopped_run_ends_with_the_same_weights(run: Run, data: Path, tmp_path: Path) -> None:
    command = ["train", "--data", data, *SMALL]
    run(*command, "--out", tmp_path / "whole")
    run(*command, "--out", tmp_path / "run")
    newest = max((tmp_path / "run" / "checkpoints").iterdir())
    newest.unlink()
    (tmp_path / "run" / "model.safetensors").unlink()
    assert run("train", "--out", tmp_path / "run", "--resume").status == 0
    one, two = (load_tensors(tmp_path / n / "model.safetensors")[0] for n in ("whole", "run"))
    assert all(np.array_equal(tensor, two[name]) for name, tensor in one.items())


def test_mask_predict_learns_from_it_and_nat_cannot(run: Run, data: Path, tmp_path: Path) -> None:
    command = ["train", "--data", data, *SMALL]
    assert run(*command, "--model", "mask-predict", "--out", tmp_path / "masks").status == 0
    result = run(*command, "--model", "nat", "--out", tmp_path / "nat")
    assert_one_sentence(result, "model 'nat' aligns all pairs before it learns")


def test_what_does_not_fit_together_is_refused(
    run: Run, files: list[Path], data: Path, tmp_path: Path
) -> None:
    new, train = tmp_path / "new", ["train", "--data", data, *SMALL]
    for options in ([], ["--tmx", files[0]], ["--tsv", files[0], "--languages", "en-fr"]):
        result = run("prepare", *options, "--out", new)
        assert_one_sentence(result, "give --pairs, or --tsv, or --tmx with --languages")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "a.txt").write_text("mine")
    for given, out, told in (
        (files, "mine", "holds other files (a.txt): choose a new folder"),
        ([files[0], "none.fr"], "new", "none.fr: cannot be read"),
        ([*files, "--vocab-size", 10], "new", "vocab_size (10) must be 259 or more"),
    ):
        assert_one_sentence(run("prepare", "--pairs", *given, "--out", tmp_path / out), told)
    assert not new.exists()  # nothing was made
    assert os.listdir(tmp_path / "mine") == ["a.txt"]
    result = run(*train, "--out", new, "--vocab-size", 300)
    assert_one_sentence(result, "--vocab-size is for the command prepare")
    result = run(*train, "--out", new, "--corpus", "grammar")
    assert_one_sentence(result, "give either --corpus or files of your own or --data")
    result = run("train", "--data", tmp_path / "nothing", "--out", new)
    assert_one_sentence(result, f"there is no folder {tmp_path / 'nothing'}")
    result = run(*train, "--out", data)
    assert_one_sentence(result, f"{data} holds data of the command prepare (plan.json)")
    (data / "sample.tsv").rename(data / "hidden.tsv")
    assert_one_sentence(run(*train, "--out", tmp_path / "none"), "sample.tsv is missing")
    assert not (tmp_path / "none" / "checkpoints").exists()
    (data / "hidden.tsv").rename(data / "sample.tsv")
    (data / "prepared.json").rename(data / "hidden.json")
    assert_one_sentence(run(*train, "--out", new), "prepared.json is missing")
    (data / "hidden.json").rename(data / "prepared.json")
    Vocabulary.train(["other words", "and more"], 270).save(data / "vocabulary.json")
    assert_one_sentence(run(*train, "--out", new), "was cut into other subwords than those of its")
