"""What a training tells of: lost and changed files of a run, losses that jump, what takes long; and forks."""

import json
import os
import random
import shutil
import subprocess
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from small_runs import number_pairs, reversals, small_model, small_recipe
from typer.testing import CliRunner

from transformer_course.checkpoints import (
    CheckpointError,
    checkpoint_path,
    list_checkpoints,
    load_checkpoint,
    save_tensors,
)
from transformer_course.cli import app
from transformer_course.corpus.vocabulary import _AT_ONCE, Vocabulary
from transformer_course.loss import teacher_forcing_loss
from transformer_course.recipe import TrainingWarning, train_translator
from transformer_course.training import Trainer, TrainingConfig
from transformer_course.training.telling import Spikes
from transformer_course.waiting import told_if_long

PAIRS = number_pairs(longest=2)
SMALL = replace(small_recipe(validate_every=4), n_layers=1, d_model=16, n_heads=2, d_ff=16)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 12 updates with three validations."""
    folder = tmp_path_factory.mktemp("finished") / "run"
    train_translator(PAIRS, PAIRS, folder, SMALL.with_training(max_steps=12))
    return folder


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "run"))


def told(run: Path, **how: Any) -> list[str]:
    """What is told while a run is resumed, but for its having learned nothing in twelve updates."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        train_translator(PAIRS, PAIRS, run, resume=True, **how)
    lines = [str(w.message) for w in found if issubclass(w.category, TrainingWarning)]
    return [line for line in lines if "has learned nothing" not in line]


def test_a_whole_run_is_resumed_without_a_word(run: Path) -> None:
    before = (run / "history.json").read_bytes()
    assert told(run) == []
    assert (run / "history.json").read_bytes() == before


# history.json


def test_no_turned_bit_of_the_history_goes_unnoticed(run: Path) -> None:
    path, whole = run / "history.json", (run / "history.json").read_bytes()
    value = json.loads(whole)
    for place in range(0, len(whole), len(whole) // 8):
        changed = bytearray(whole)
        changed[place] ^= 2
        path.write_bytes(changed)
        try:
            same = (
                json.loads(changed.decode()) == value
            )  # what lies between the values means nothing
        except ValueError:
            same = False
        said = [line for line in told(run) if "history.json was changed since" in line]
        assert bool(said) != same, bytes(changed)


@pytest.mark.parametrize("text", ["", "{}", "[1]", "[", "[" * 100_000, "[{}]", '[{"step": 9}]'])
def test_a_history_that_is_none_is_named_and_the_run_goes_on(run: Path, text: str) -> None:
    (run / "history.json").write_text(text)
    (said,) = told(run)
    assert said.startswith(f"{run / 'history.json'} was changed since the run wrote it: ")


def test_a_lost_history_is_told_of_and_written_anew(run: Path) -> None:
    path, whole = run / "history.json", json.loads((run / "history.json").read_text())
    path.unlink()
    assert told(run, recipe=SMALL.with_training(max_steps=16))[0].startswith(f"{path} is missing: ")
    assert [r["loss"] for r in json.loads(path.read_text())][:3] == [r["loss"] for r in whole]


def test_a_record_that_a_killed_run_had_no_time_for_is_no_change(run: Path) -> None:
    path = run / "history.json"
    path.write_text(json.dumps(json.loads(path.read_text())[:-1]))
    assert told(run) == []


# Checkpoints that are gone


def test_a_run_whose_newest_checkpoint_is_gone_says_so(run: Path) -> None:
    checkpoint_path(run, 12).unlink()
    (said,) = told(run)
    assert said == f"{run} was validated up to step 12, but the checkpoint of that step is missing"


def test_going_back_on_purpose_is_not_told_of(run: Path) -> None:
    first = list_checkpoints(run)[0].name
    assert told(run, checkpoint=first) == []


def test_a_best_checkpoint_that_is_gone_is_named_with_what_is_taken(run: Path) -> None:
    tensors, values = load_checkpoint(run)
    values["history"][0]["loss"] = 0.001  # that of step 4, which is gone
    checkpoint_path(run, 4).unlink(missing_ok=True)
    checkpoint_path(run, 12).unlink()
    save_tensors(checkpoint_path(run, 12), tensors, values)
    (run / "history.json").write_text(json.dumps(values["history"]))
    (said,) = told(run)
    assert said.startswith(f"{run} lacks step-0000004.safetensors, with the lowest loss or to be ")
    assert said.endswith("of what is left, step 12 is taken")


@pytest.mark.parametrize("left", ["model.safetensors", "history.json"])
def test_a_run_that_lost_all_checkpoints_is_not_started_over(run: Path, left: str) -> None:
    for name in {"model.safetensors", "history.json"} - {left}:
        (run / name).unlink()
    shutil.rmtree(run / "checkpoints")
    before = (run / left).read_bytes()
    with pytest.raises(CheckpointError, match=rf"has no checkpoint left, though {left} is there"):
        train_translator(PAIRS, PAIRS, run, resume=True)
    assert (run / left).read_bytes() == before


def test_a_run_that_has_no_checkpoint_yet_says_where_it_starts(run: Path) -> None:
    for name in ("model.safetensors", "history.json"):
        (run / name).unlink()
    shutil.rmtree(run / "checkpoints")
    (said,) = told(run)
    assert said == f"{run} has no checkpoint yet: training starts from step 0, with its recipe"


# Spikes


def jumping(at: set[int], steps: int, folder: Path | None = None) -> Trainer:
    """A trainer whose loss is large at some updates."""
    count = [0]

    def loss_fn(model: Any, src: torch.Tensor, tgt: torch.Tensor) -> torch.Tensor:
        loss = teacher_forcing_loss(model, src, tgt)
        count[0] += model.training
        return loss * (20 if count[0] in at and model.training else 1)

    config = TrainingConfig(max_steps=steps, max_tokens=60, warmup_steps=3, validate_every=40)
    evaluate = lambda model: {"loss": 1.0}  # noqa: E731
    return Trainer(small_model(), reversals(longest=2), loss_fn, evaluate, config, folder)


def test_a_loss_that_jumps_is_told_once_and_stands_in_the_history() -> None:
    trainer = jumping({60, 61, 62}, 80)
    with pytest.warns(TrainingWarning) as found:
        trainer.train()
    (said,) = (str(w.message) for w in found)
    assert said.startswith("the loss jumped to ")
    assert "at step 60, batch 4 of epoch 15 (examples " in said
    assert [record.get("spikes") for record in trainer.history] == [None, 1]


def test_no_other_loss_is_called_a_spike() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jumping(set(), 120).train()
    falling = [9 / (1 + step / 20) + 0.4 * (step % 5) for step in range(500)]
    spikes = Spikes()
    assert not any(spikes.above(loss) for loss in falling)
    assert [spikes.above(loss) is None for loss in (60.0, 60.0)] == [False, True]


def test_a_rare_batch_that_costs_much_is_no_spike() -> None:
    """Losses of batches are spread as in a training of mask-predict: some cost five times as much as most."""
    dice = random.Random(0)
    spikes = Spikes()
    losses = [dice.lognormvariate(0, 0.7) for _ in range(3000)]
    assert max(losses) > 5
    assert sum(spikes.above(loss) is not None for loss in losses) <= 1
    assert spikes.above(50.0) is not None


def test_a_resumed_run_finds_the_same_spikes(tmp_path: Path) -> None:
    whole = jumping({60}, 80, tmp_path / "a")
    with pytest.warns(TrainingWarning):
        whole.train()
    first = jumping({60}, 80, tmp_path / "b")

    def kill(progress: Any) -> None:
        if progress.step == 45:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        first.train(kill)
    again = jumping({20}, 80, tmp_path / "b")  # it counts from 40 on
    again.resume()
    with pytest.warns(TrainingWarning, match="at step 60, "):
        again.train()
    histories = [[dict(r, seconds=0) for r in t.history] for t in (whole, again)]
    assert histories[0] == histories[1]


def test_the_command_tells_of_a_spike_in_a_line(tmp_path: Path, monkeypatch: Any) -> None:
    real = Trainer._checked
    monkeypatch.setattr(
        Trainer, "_checked", lambda self, *given: real(self, *given) + 99 * (self.step == 55)
    )
    source, target = tmp_path / "a.en", tmp_path / "a.fr"
    source.write_text("".join(f"{p.source}\n" for p in PAIRS), encoding="utf-8")
    target.write_text("".join(f"{p.target}\n" for p in PAIRS), encoding="utf-8")
    sizes = "--layers 1 --d-model 16 --heads 2 --d-ff 16 --vocab-size 259 --precision fp32"
    command = f"train --threads 1 --steps 60 --validate-every 30 --max-tokens 200 {sizes}".split()
    files = ["--out", str(tmp_path / "run"), "--pairs", str(source), str(target)]
    said = CliRunner().invoke(app, [*command, *files])
    assert said.exit_code == 0, said.stderr
    lines = [line for line in said.stderr.replace("\r", "\n").splitlines() if "jumped" in line]
    assert len(lines) == 1
    assert lines[0].startswith("Note: the loss jumped to ")


# Waiting


def test_what_takes_long_is_told_again_and_again_and_what_does_not_is_not() -> None:
    said: list[str] = []
    with told_if_long(said.append, patience=0.3, again=0.05) as begin:
        begin("a short part")
        begin("a long part")
        while len(said) < 3:
            time.sleep(0.01)
        begin("")
        n = len(said)
        time.sleep(0.5)
        assert len(said) == n
    assert all(line.startswith("a long part: ") and line.endswith(" s so far") for line in said)


def test_each_part_of_a_training_that_takes_long_with_many_pairs_has_a_name(tmp_path: Path) -> None:
    parts: list[str] = []
    updates: list[int] = []
    train_translator(
        PAIRS,
        PAIRS,
        tmp_path / "run",
        SMALL,
        begin=lambda part: parts.append(f"{len(updates)} {part}"),
        report=lambda progress: updates.append(progress.step),
    )
    assert parts == [
        f"0 learning subwords from {len(PAIRS)} pairs",
        f"0 cutting {len(PAIRS)} pairs into subwords, and sorting them",
        f"{len(updates)} choosing the weights, and trying them",
    ]


def test_lines_are_encoded_in_portions_to_the_same_ids() -> None:
    vocabulary = Vocabulary.train(["le chat dort", "un chien"], 300)
    lines = [f"le chat {n}" for n in range(_AT_ONCE + 3)]
    rows = vocabulary.encode(lines)
    assert len(rows) == len(lines)
    assert vocabulary.decode(rows) == lines
    assert rows[-2:] == vocabulary.encode(lines[-2:])


# Forks

FORK = """
import os, sys, torch
from small_runs import small_model
from transformer_course.corpus.vocabulary import Vocabulary
from transformer_course.translator import Translator
torch.set_num_threads(2)
a = torch.randn(600, 600)
(a @ a).softmax(-1)  # starts torch's threads
vocabulary = Vocabulary.train(["one two"], 300)
translator = Translator(small_model(vocab_size=len(vocabulary)), vocabulary)
before = translator.translate("two one")
child = os.fork()
if not child:
    (a @ a).softmax(-1)
    same = translator.translate("two one") == before and torch.get_num_threads() == 1
    os._exit(0 if same else 3)
ended = os.waitpid(child, 0)[1]
assert torch.get_num_threads() == 2
sys.exit(os.waitstatus_to_exitcode(ended))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no forking")
def test_a_child_of_a_process_with_two_threads_computes() -> None:
    paths = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
    environment = {n: v for n, v in os.environ.items() if n != "OMP_NUM_THREADS"}
    process = subprocess.Popen(
        [sys.executable, "-c", FORK],
        env=environment | {"PYTHONPATH": paths},
        start_new_session=True,
    )
    try:
        assert process.wait(timeout=180) == 0
    finally:
        if process.poll() is None:
            os.killpg(process.pid, 9)  # the child too
