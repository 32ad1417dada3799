"""What goes wrong with a run's folder: flipped bits, two writers, signals, foreign files."""

import copy
import json
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from random import Random

import pytest
import torch
from small_runs import number_pairs, small_model, small_recipe, trained, trained_run
from typer.testing import CliRunner

from transformer_course.checkpoints import (
    CheckpointError,
    list_checkpoints,
    load_optimizer,
    load_tensors,
    load_weights,
    optimizer_tensors,
    read_sealed,
    save_tensors,
    weights_of,
    write_json,
    write_sealed,
)
from transformer_course.cli import app
from transformer_course.corpus.vocabulary import Vocabulary
from transformer_course.fast import chunked_cross_entropy
from transformer_course.interrupts import catch_interrupt
from transformer_course.recipe import Recipe, TrainingWarning, refuse_used, train_translator
from transformer_course.recipe.data import Data
from transformer_course.recipe.folder import load_run, save_run
from transformer_course.recipe.writing import only_writer, refuse_run_file
from transformer_course.training import Progress, Trainer
from transformer_course.translator import Translator

PAIRS = number_pairs(longest=2)


def flip(data: bytes, bit: int) -> bytes:
    """The same bytes with one bit turned."""
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


# Bytes


def test_no_flipped_bit_gives_other_weights_in_silence(tmp_path: Path) -> None:
    path, dice = tmp_path / "file.safetensors", Random(0)
    tensors = {
        "a": torch.randn(7, 5),
        "b.c": torch.arange(6),
        "half": torch.randn(3).bfloat16(),
        "one": torch.tensor(2.0),
    }
    values = {"step": 4, "loss": 0.25, "history": [{"loss": 1.5}]}
    save_tensors(path, tensors, values)
    whole = path.read_bytes()
    bits = {*range(8 * 400), *dice.sample(range(8 * len(whole)), 400)}  # header, and anywhere
    refused = 0
    for bit in sorted(bits):
        path.write_bytes(flip(whole, bit))
        try:
            found, said = load_tensors(path)
        except CheckpointError:
            refused += 1
        else:  # where nothing is meant, as in the blanks that fill up the header
            assert said == values
            assert found.keys() == tensors.keys()
            assert all(torch.equal(found[name], tensors[name]) for name in tensors)
    assert refused > 0.95 * len(bits)


def test_a_file_of_a_version_before_digests_is_read(tmp_path: Path) -> None:
    import safetensors.torch

    path = tmp_path / "file.safetensors"
    data = safetensors.torch.save({"a": torch.ones(2)}, {"values": json.dumps({"step": 1})})
    path.write_bytes(data)
    assert load_tensors(path)[1] == {"step": 1}


def test_a_changed_recipe_is_not_trained_on(tmp_path: Path) -> None:
    small_recipe().save(tmp_path)
    path = tmp_path / "recipe.json"
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r'"label_smoothing": [0-9.]+', '"label_smoothing": 0.2', text))
    with pytest.raises(CheckpointError, match=r"recipe\.json was changed since the run wrote it"):
        Recipe.load(tmp_path)
    whole = text.encode()
    for bit in range(0, 8 * len(whole), 3):
        path.write_bytes(flip(whole, bit))
        try:
            found = Recipe.load(tmp_path)
        except CheckpointError:
            continue
        assert found == small_recipe()


def test_a_sealed_file_comes_back_and_one_without_seal_too(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    write_sealed(path, {"é": [1, 0.1]})
    assert read_sealed(path) == {"é": [1, 0.1]}
    write_json(path, {"é": 2})
    assert read_sealed(path) == {"é": 2}


@pytest.mark.parametrize("threads", [-3, 0, 2.0, "two", None, True, 1e400])
def test_wrong_threads_are_named(tmp_path: Path, threads: object) -> None:
    save_run(tmp_path, Data(files=("a", "b")), 1, [])
    record = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    del record["digest"]
    write_json(tmp_path / "run.json", record | {"threads": threads})
    with pytest.raises(CheckpointError, match=r"run\.json is damaged: threads \("):
        load_run(tmp_path)


def test_a_run_without_a_checkpoint_is_not_started_anew_with_a_changed_vocabulary(
    tmp_path: Path,
) -> None:
    def stop(progress: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_translator(PAIRS, PAIRS, tmp_path, small_recipe(), report=stop)
    path = tmp_path / "vocabulary.json"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"seen": "', '"seen": "zero '), encoding="utf-8")
    with pytest.raises(CheckpointError, match=r"vocabulary\.json was changed since"):
        train_translator(PAIRS, PAIRS, tmp_path, resume=True)


def test_a_file_of_a_later_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "recipe.json"
    small_recipe().save(tmp_path)
    for number, sentence in ((2, "has format 2, this package reads up to 1"), ("1", "is damaged")):
        write_json(path, small_recipe().record() | {"format": number})
        with pytest.raises(CheckpointError, match=sentence):
            Recipe.load(tmp_path)
    trained().save(tmp_path)
    tensors, values = load_tensors(tmp_path / "model.safetensors")
    save_tensors(tmp_path / "model.safetensors", tensors, values | {"format": 2})
    with pytest.raises(CheckpointError, match="has format 2"):
        Translator.load(tmp_path)


def test_names_of_files_need_not_be_utf_8(tmp_path: Path) -> None:
    name = os.fsdecode(b"\xff.en")
    save_run(tmp_path, Data(files=(name,)), 1, [])
    assert load_run(tmp_path)[0].files == (name,)


WRONG_DATA: list[object] = [None, 3, "x", [], {"corpus": 3}, {"files": 7}]
WRONG_DATA += [{"files": [number]} for number in (0, 1.5, True, None, [], {})]
WRONG_DATA += [{"corpus": "multi30k", "folder": 3}, {"corpus": "grammar", "n_pairs": 1.5}]


@pytest.mark.parametrize("data", WRONG_DATA)
def test_wrong_data_of_a_run_are_named(tmp_path: Path, data: object) -> None:
    whole = {"corpus": "", "files": [], "valid_files": []}
    data = whole | data if isinstance(data, dict) else data
    write_json(tmp_path / "run.json", {"data": data, "threads": 1})
    with pytest.raises(CheckpointError, match=r"run\.json is damaged"):
        load_run(tmp_path)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_numbers_that_are_none_are_neither_written_nor_read(tmp_path: Path, number: float) -> None:
    path = tmp_path / "file.safetensors"
    with pytest.raises(CheckpointError, match="is not written: a holds NaN or an infinite number"):
        save_tensors(path, {"a": torch.tensor([1.0, number])}, {})
    assert not path.exists()
    model = small_model()
    tensors = {name: tensor.detach().clone() for name, tensor in weights_of(model).items()}
    tensors["output.weight" if "output.weight" in tensors else next(iter(tensors))][0, 0] = number
    before = {name: tensor.clone() for name, tensor in weights_of(model).items()}
    with pytest.raises(CheckpointError, match=r"can't be used: .* holds NaN or an infinite number"):
        load_weights(model, tensors)
    assert all(torch.equal(before[name], tensor) for name, tensor in weights_of(model).items())


def test_moments_of_a_wrong_shape_never_reach_the_optimiser() -> None:
    model = small_model()
    optimizer = torch.optim.Adam(model.parameters())
    sum(p.sum() for p in model.parameters()).backward()  # type: ignore[union-attr]
    optimizer.step()
    right = optimizer_tensors(optimizer)
    load_optimizer(optimizer, right)
    wrong = {
        "must have shape": right | {"0.exp_avg": torch.zeros(3)},
        "no place for 0": right | {"0": torch.zeros(1)},
        "no place for x.exp_avg": right | {"x.exp_avg": torch.zeros(1)},
        "no place for 999.exp_avg": right | {"999.exp_avg": torch.zeros(1)},
        "remember unlike things": {n: t for n, t in right.items() if n != "1.exp_avg"},
    }
    for message, tensors in wrong.items():
        with pytest.raises(CheckpointError, match=message):
            load_optimizer(optimizer, tensors)


def test_a_vocabulary_that_cuts_otherwise_belongs_to_another_model(tmp_path: Path) -> None:
    trained().save(tmp_path)
    path = tmp_path / "vocabulary.json"
    state = json.loads(path.read_text(encoding="utf-8"))
    merges = state["model"]["merges"]
    merges[0], merges[-1] = merges[-1], merges[0]
    path.write_text(json.dumps(state), encoding="utf-8")
    with pytest.raises(CheckpointError, match="was changed since it was written"):
        Translator.load(tmp_path)
    del state["model"]["digest"]  # as an older version wrote it
    path.write_text(json.dumps(state), encoding="utf-8")
    with pytest.raises(CheckpointError, match="belongs to another vocabulary"):
        Translator.load(tmp_path)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda v: pickle.loads(pickle.dumps(v))])
def test_a_copied_vocabulary_still_takes_the_end_mark_for_text(again) -> None:  # type: ignore[no-untyped-def]
    vocabulary = Vocabulary.train(["le chat"], 259)
    other = again(vocabulary)
    assert other.encode(["</s>"]) == vocabulary.encode(["</s>"]) != [[2]]
    assert other.unseen("le zèbre") == vocabulary.unseen("le zèbre") == ("zèbre",)
    assert other.digest == vocabulary.digest


# Two writers

HOLD = """
import sys, time
from pathlib import Path
from transformer_course.recipe.writing import only_writer
with only_writer(Path(sys.argv[1])):
    print("holding", flush=True)
    time.sleep(60)
"""


def test_the_second_writer_is_told_who_the_first_is(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    first = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert first.stdout is not None
        assert first.stdout.readline() == "holding\n"
        with pytest.raises(CheckpointError, match=rf"is being written by process {first.pid} on"):
            train_translator(PAIRS, PAIRS, folder, small_recipe(max_steps=1))
        assert {p.name for p in folder.iterdir()} == {".writer.json", ".writer.lock"}
    finally:
        first.kill()
        first.wait()
    train_translator(PAIRS, PAIRS, folder, small_recipe(max_steps=1))  # a killed one is no obstacle
    assert (folder / "model.safetensors").exists()
    assert not (folder / ".writer.json").exists()


def test_a_block_within_a_block_keeps_the_lock(tmp_path: Path) -> None:
    with only_writer(tmp_path):
        with only_writer(tmp_path):
            pass
        assert (tmp_path / ".writer.json").exists()
        code = HOLD.replace("time.sleep(60)", "")
        second = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True)
        assert b"is being written" in second.stderr


def test_what_killed_runs_left_half_written_goes(tmp_path: Path) -> None:
    for name in (".recipe.json.12.tmp", ".model.safetensors.7.tmp", ".mine.tmp", "notes.tmp"):
        (tmp_path / name).write_text("half")
    with only_writer(tmp_path):
        kept = {p.name for p in tmp_path.iterdir() if not p.name.startswith(".writer")}
    assert kept == {".mine.tmp", "notes.tmp"}


def test_a_run_that_had_only_begun_starts_anew(tmp_path: Path) -> None:
    save_run(tmp_path, Data(files=("a", "b")), 1, [])
    trained().vocabulary.save(tmp_path / "vocabulary.json")  # then it was killed
    train_translator(PAIRS, PAIRS, tmp_path, small_recipe(max_steps=1))
    assert Translator.load(tmp_path).vocabulary.encode(["one"])


@pytest.mark.parametrize(
    "name",
    ["run.json", "vocabulary.json", "history.json", "log.csv", "samples.csv", "tensorboard"],
)
@pytest.mark.parametrize("text", ["", "{}", '{"mine": 1}', "my notes"])
def test_files_of_others_are_not_overwritten(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(CheckpointError, match=f"{name} was written by no run"):
        refuse_used(tmp_path)
    assert (tmp_path / name).read_text(encoding="utf-8") == text


@pytest.mark.parametrize("name", ["plan.json", "prepared.json"])
def test_prepared_data_is_not_overwritten(tmp_path: Path, name: str) -> None:
    trained().vocabulary.save(tmp_path / "vocabulary.json")
    (tmp_path / name).write_text("{}", encoding="utf-8")
    with pytest.raises(CheckpointError, match=rf"holds data of the command prepare \({name}\)"):
        refuse_used(tmp_path)


def test_a_checkpoints_folder_that_cannot_be_read_is_not_an_empty_one(tmp_path: Path) -> None:
    (tmp_path / "checkpoints").write_text("")
    with pytest.raises(CheckpointError, match="checkpoints can't be read"):
        list_checkpoints(tmp_path)


def test_scores_never_replace_a_file_of_the_run(tmp_path: Path) -> None:
    run = trained_run()
    names = ("model.safetensors", "checkpoints/x.json", "run.json")
    for path in map(run.joinpath, (*names, "log.csv", "samples.csv", "tensorboard/events")):
        with pytest.raises(CheckpointError, match="is a file of the run"):
            refuse_run_file(run, path)
        with pytest.raises(CheckpointError, match="is a file of the run"):  # of another one, too
            refuse_run_file(tmp_path, path)
    refuse_run_file(run, tmp_path / "model.safetensors")
    refuse_run_file(run, run / "scores.json")


def test_marks_never_replace_a_notebook_nor_a_file_of_a_run(tmp_path: Path) -> None:
    notebook = tmp_path / "a.ipynb"
    notebook.write_text("{}", encoding="utf-8")
    model = trained_run() / "model.safetensors"
    before = model.read_bytes()
    for place, sentence in ((notebook, "is read from"), (model, "is a file of the run")):
        command = ["check", str(notebook), "--json", str(place)]
        told = CliRunner().invoke(app, command)
        assert told.exit_code == 1
        assert sentence in told.stderr
    assert notebook.read_text(encoding="utf-8") == "{}"
    assert model.read_bytes() == before


@pytest.mark.skipif(os.name != "posix", reason="names of files are text there")
def test_a_folder_whose_model_could_not_be_read_again_is_not_trained_in(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"\xff")
    with pytest.raises(CheckpointError, match="its name is no UTF-8"):
        train_translator(PAIRS, PAIRS, folder, small_recipe(max_steps=1))
    assert not folder.exists()


@pytest.mark.skipif(os.name != "posix", reason="there are no FIFOs")
def test_a_fifo_is_no_file_of_a_run(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "run.json")
    with pytest.raises(CheckpointError, match="it is no file"):
        load_run(tmp_path)


# Signals


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_schedulers_and_closed_terminals_stop_like_ctrl_c(tmp_path: Path, name: str) -> None:
    number = getattr(signal, name, None)
    if number is None:
        pytest.skip(f"there is no {name}")
    before = signal.getsignal(number)
    signal.signal(number, lambda *_: pytest.fail("the handler of before was called"))
    try:
        _, outcome = train_translator(
            PAIRS,
            PAIRS,
            tmp_path,
            small_recipe(max_steps=6),
            report=lambda p: os.kill(os.getpid(), number) if p.step == 3 else None,
        )
        assert outcome == "interrupted"
        assert list_checkpoints(tmp_path)[-1].name == "step-0000003.safetensors"
        _, outcome = train_translator(PAIRS, PAIRS, tmp_path, resume=True)
        assert outcome == "finished"
    finally:
        signal.signal(number, before)


def test_a_signal_that_is_ignored_stays_so() -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with catch_interrupt() as interrupted:
            os.kill(os.getpid(), signal.SIGTERM)
        assert not interrupted.is_set()
    finally:
        signal.signal(signal.SIGTERM, before)


# Numbers


def test_a_run_that_diverged_goes_on_with_a_lower_rate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = tmp_path / "a.en", tmp_path / "a.fr"
    source.write_text("".join(f"{p.source}\n" for p in PAIRS), encoding="utf-8")
    target.write_text("".join(f"{p.target}\n" for p in PAIRS), encoding="utf-8")
    out = str(tmp_path / "run")
    sizes = (
        "--layers 1 --d-model 16 --heads 2 --d-ff 16 --vocab-size 259 --precision fp32 --threads 1"
    )
    steps = "--steps 8 --warmup 2 --validate-every 3 --max-tokens 200 --rate 1"
    command = ["train", "--out", out, "--pairs", str(source), str(target)]
    real = Trainer._checked
    spoilt = torch.tensor(float("nan"))

    def checked(self: Trainer, loss: torch.Tensor, norm: torch.Tensor) -> float:
        bad = self.step == 4 and self.config.peak_rate == 1
        return real(self, spoilt if bad else loss, norm)

    monkeypatch.setattr(Trainer, "_checked", checked)
    told = CliRunner().invoke(app, [*command, *f"{sizes} {steps}".split()])
    assert told.exit_code == 1
    assert f"go on with: transformer-course train --out {out} --resume --rate 0.25" in told.stderr
    assert told.stderr.splitlines()[-1].startswith("error: loss is nan and the gradient's norm ")
    first = list_checkpoints(tmp_path / "run")[0].name
    again = ["train", "--out", out, "--resume", "--checkpoint", first]
    told = CliRunner().invoke(app, again)  # the way on is from there, too
    assert f"--resume --rate 0.25 --checkpoint {first}" in told.stderr
    refused = CliRunner().invoke(app, ["train", "--out", out, "--resume", "--rate", "2"])
    assert "was started with peak_rate = 1.0, not 2.0; resume without that option, or with a " in (
        refused.stderr
    )
    told = CliRunner().invoke(app, ["train", "--out", out, "--resume", "--rate", "0.25"])
    assert told.exit_code == 0, told.stderr
    assert "the highest learning rate is 0.25 instead of 1, after a warm-up of 2" in told.stdout
    assert Recipe.load(out).training.peak_rate == 0.25
    command[2] = str(tmp_path / "worse")
    told = CliRunner().invoke(app, [*command, *sizes.split(), "--rate", "30", "--steps", "2"])
    assert told.exit_code == 0
    assert "\nNote: the lowest validation loss, " in told.stderr.replace("\r", "\n")
    assert "is above ln 259 = 5.56, that of guessing evenly" in told.stderr


def test_a_training_that_learned_nothing_says_so(tmp_path: Path) -> None:
    with pytest.warns(TrainingWarning, match=r"is above ln \d+ = .*has learned nothing"):
        train_translator(PAIRS, PAIRS, tmp_path / "a", small_recipe(max_steps=1, peak_rate=9.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        train_translator(PAIRS, PAIRS, tmp_path / "b", small_recipe(max_steps=8))


@pytest.mark.parametrize("scale", [0.1, 1e2, 1e4, 1e8])
@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.9])
def test_no_loss_is_negative_however_large_the_logits(scale: float, smoothing: float) -> None:
    torch.manual_seed(0)
    states, weight = torch.randn(16, 32) * scale, torch.randn(300, 32) * scale
    logits = (states @ weight.T)[:, 3:]
    for labels in (logits.argmax(-1) + 3, logits.argmin(-1) + 3):
        for mixed in (False, True):
            with torch.autocast("cpu", torch.bfloat16, enabled=mixed):
                loss = chunked_cross_entropy(states, weight, labels, 0, smoothing)
            assert 0 <= loss < float("inf")


# Arguments, threads


@pytest.mark.parametrize("beam", [2.5, True, "4", None])
def test_a_beam_is_a_whole_number(beam: object) -> None:
    with pytest.raises(ValueError, match=r"beam \(.*\) must be a whole number"):
        trained().search(["one"], beam=beam)  # type: ignore[arg-type]


def test_maps_of_several_threads_do_not_mix() -> None:
    translator = trained()
    sentences = ["one", "two three", "one two three", "five four three two"]
    alone = {s: translator.attention(s).maps for s in sentences}
    wrong: list[str] = []

    def look(sentence: str) -> None:
        for _ in range(6):
            found = translator.attention(sentence).maps
            same = all(torch.allclose(found[n], alone[sentence][n], atol=1e-5) for n in found)
            if not same or found.keys() != alone[sentence].keys():
                wrong.append(sentence)

    def translate() -> None:
        for _ in range(6):
            translator.translate(sentences)

    threads = [threading.Thread(target=look, args=(s,)) for s in sentences]
    threads.append(threading.Thread(target=translate))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
