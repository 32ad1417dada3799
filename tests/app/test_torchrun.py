"""`torchrun -m transformer_course train`: several processes, started again when one dies, that speak as one."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
import torch
from command_line import Run, assert_one_sentence
from processes import together
from small_runs import number_pairs, trained_run

from transformer_course import cli
from transformer_course.checkpoints import list_checkpoints, load_tensors
from transformer_course.devices import find_device
from transformer_course.recipe import train_translator
from transformer_course.recipe.folder import was_begun_by
from transformer_course.training.processes import Processes, job, local_rank
from transformer_course.translator import Translator

SMALL = (
    "--layers 1 --d-model 16 --heads 2 --d-ff 16 --vocab-size 270 --precision fp32 --max-tokens 200 "
    "--warmup 3 --rate 0.01 --device cpu"
)


def options(files: list[Path], out: Path, **settings: object) -> list[str]:
    """The command to train a small model."""
    given = {"steps": 8, "validate-every": 4, "dropout": 0.0} | settings
    named = [f"--{name}={value}" for name, value in given.items()]
    return ["train", "--pairs", *map(str, files), "--out", str(out), *SMALL.split(), *named]


def torchrun(*arguments: str, restarts: int = 0) -> subprocess.Popen[str]:
    """Start two processes; a store of their own for each try, see `book/reuse.md`."""
    own = {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1", "OMP_NUM_THREADS": "1"}
    agent = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    return subprocess.Popen(
        [
            sys.executable,
            *agent,
            f"--max-restarts={restarts}",
            "-m",
            "transformer_course",
            *arguments,
        ],
        env=os.environ | own,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def forked(count: int, arguments: list[str]) -> list[Any]:
    """The command in forked processes, which start faster; the exit status of each."""

    def work() -> int:
        with pytest.raises(SystemExit) as end:
            cli.app(arguments)
        return int(end.value.code or 0)

    return together(count, work, join=False)


def wait_for(agent: subprocess.Popen[str], ready: Callable[[], object]) -> None:
    """Until something is there that the processes write."""
    until = time.monotonic() + 120
    while not ready():
        if agent.poll() is not None or time.monotonic() > until:
            agent.kill()
            pytest.fail(str(agent.communicate()))
        time.sleep(0.01)


def losses(folder: Path) -> list[float]:
    history = json.loads((folder / "history.json").read_text(encoding="utf-8"))
    return [record[name] for record in history for name in ("train_loss", "loss")]


def weights(folder: Path) -> dict[str, Any]:
    return load_tensors(folder / "model.safetensors")[0]


def test_two_processes_stop_once_and_one_goes_on(
    run: Run, files: list[Path], tmp_path: Path
) -> None:
    """SIGTERM to torchrun saves one checkpoint; and in the end all losses are those of one process."""
    alone, several = tmp_path / "alone", tmp_path / "several"
    agent = torchrun(*options(files, several, steps=60))
    wait_for(agent, lambda: list_checkpoints(several))
    agent.terminate()
    out, err = agent.communicate(timeout=120)
    assert out.count("Saved. Go on with: transformer-course train --out") == 1, out + err
    assert out.count("pairs to train on") == 1
    assert "error:" not in err
    assert not (several / "model.safetensors").exists()
    assert run("train", "--out", several, "--resume", "--device", "cpu").status == 0
    assert run(*options(files, alone, steps=60)).status == 0
    torch.testing.assert_close(losses(several), losses(alone), rtol=1e-5, atol=1e-5)
    assert Translator.load(several).translate("one two")


def test_a_killed_process_comes_back_and_the_end_is_the_same(
    files: list[Path], tmp_path: Path
) -> None:
    undisturbed, disturbed = tmp_path / "undisturbed", tmp_path / "disturbed"
    settings = {"steps": 300, "validate-every": 10, "dropout": 0.2}
    agent = torchrun(*options(files, disturbed, **settings), restarts=3)
    wait_for(agent, lambda: list_checkpoints(disturbed))
    workers = psutil.Process(agent.pid).children()
    (second,) = [worker for worker in workers if worker.environ().get("RANK") == "1"]
    second.kill()
    assert not (disturbed / "model.safetensors").exists()  # it wasn't too late
    out, err = agent.communicate(timeout=120)
    assert agent.returncode == 0, err
    assert out.count("Training finished") == 1
    assert err.count("error: another process of this training has ended") <= 1
    assert forked(2, options(files, undisturbed, **settings)) == [0, 0]
    same = weights(undisturbed)
    assert all(torch.equal(same[name], weight) for name, weight in weights(disturbed).items())


@pytest.mark.parametrize(
    ("wrong", "parts"),
    [
        ({"dropout": 2.0}, ["dropout (2.0) must be at least 0 and below 1"]),
        ({"device": "mps:7"}, ["device ('mps:7') must be there"]),
        ({"max-tokens": 5}, ["positions, max_tokens is 5"]),
    ],
)
def test_an_error_is_one_sentence_of_all_processes(
    files: list[Path],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    wrong: dict[str, object],
    parts: list[str],
) -> None:
    assert forked(2, options(files, tmp_path / "run", **wrong)) == [1, 1]
    err = capfd.readouterr().err
    assert err.count("error:") == 1, err
    assert all(part in err for part in parts), err


def test_only_a_run_of_the_same_job_goes_on_by_itself(
    run: Run,
    files: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    command = options(files, tmp_path / "run", steps=4)
    assert job() is None
    assert run(*command).status == 0
    assert forked(2, command) == [1, 1]  # begun by no job, so not by this one
    command = options(files, tmp_path / "other", steps=4)
    assert forked(2, command) == [0, 0]
    assert forked(2, command) == [0, 0]
    assert_one_sentence(run(*command), "already holds a run")
    assert was_begun_by(tmp_path / "other", "a test")
    assert not was_begun_by(tmp_path / "other", None)
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "none")
    assert str(os.getppid()) in (job() or "")


def test_a_batch_in_parts_is_a_setting_of_the_command(
    run: Run, files: list[Path], tmp_path: Path
) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    assert run(*options(files, whole)).status == 0
    assert run(*options(files, parts, accumulate=3)).status == 0
    torch.testing.assert_close(losses(parts), losses(whole), rtol=1e-5, atol=1e-5)
    told = run("train", "--out", parts, "--resume", "--accumulate", 1, "--steps", 9)
    assert "a batch is computed in 1 parts, not 3" in told.out
    assert json.loads((parts / "recipe.json").read_text())["training"]["accumulate"] == 1


def test_shards_end_as_a_run_like_any_other(run: Run, files: list[Path], tmp_path: Path) -> None:
    """Begun on two processes with a part of the weights each, made longer by one with all of them."""
    alone, shards = tmp_path / "alone", tmp_path / "shards"
    assert run(*options(files, alone)).status == 0
    assert forked(2, [*options(files, shards), "--shard"]) == [0, 0]
    torch.testing.assert_close(losses(shards), losses(alone), rtol=1e-5, atol=1e-5)
    same = weights(alone)
    assert {n: w.shape for n, w in weights(shards).items()} == {n: w.shape for n, w in same.items()}
    assert Translator.load(shards).translate("one two")
    told = run("train", "--out", shards, "--resume", "--shard", "--steps", 9, "--device", "cpu")
    assert told.status == 0
    assert "Note: one process alone has nobody to share weights with" in told.err


def test_shards_are_no_translator(tmp_path: Path) -> None:
    pairs = number_pairs()
    with pytest.raises(ValueError, match="evaluate must be left out with shard"):
        train_translator(
            pairs,
            pairs,
            tmp_path / "run",
            evaluate=lambda translator: {"bleu": 0.0},
            processes=Processes(0, 2),
            shard=True,
        )


def test_processes_of_one_computer_have_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert local_rank() == 0
    monkeypatch.setenv("LOCAL_RANK", "3")
    assert local_rank() == 3


@pytest.mark.parametrize(
    ("name", "value", "least"),
    [
        ("LOCAL_RANK", "x", 0),
        ("LOCAL_RANK", "-1", 0),
        ("RANK", "1.5", 0),
        ("WORLD_SIZE", "", 1),
        ("WORLD_SIZE", "0", 1),
    ],
)
def test_what_is_no_number_in_the_environment_is_named(
    run: Run,
    files: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    value: str,
    least: int,
) -> None:
    if name != "LOCAL_RANK":
        monkeypatch.setenv("TORCHELASTIC_RUN_ID", "a test")
        monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv(name, value)
    told = f"{name} ({value!r}) in the environment must be a whole number, {least} or more"
    assert_one_sentence(run(*options(files, tmp_path / "run")), told)


@pytest.mark.parametrize("command", ["translate", "evaluate", "score", "attention", "train"])
def test_every_command_that_computes_has_a_device(
    run: Run, files: list[Path], tmp_path: Path, command: str
) -> None:
    numbers = trained_run()
    arguments = {
        "translate": ["translate", numbers, "one"],
        "evaluate": ["evaluate", numbers, "--pairs", *files],
        "score": ["score", numbers, "--pairs", *files],
        "attention": ["attention", numbers, "one"],
        "train": [*options(files, tmp_path / "run"), "--steps", 1],
    }[command]
    assert_one_sentence(run(*arguments, "--device", "gpu"), "device ('gpu') must be one that torch")
    assert_one_sentence(run(*arguments, "--device", "cuda:99"), "device ('cuda:99') must be there")
    assert run(*arguments, "--device", "auto").status == 0


def test_auto_takes_a_card_if_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """And each process of a computer a card of its own."""
    assert find_device("auto").type == ("cuda" if torch.cuda.is_available() else "cpu")
    asked: list[object] = []
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.zeros", lambda n, device: asked.append(device))
    assert str(find_device("auto")) == "cuda"
    assert str(find_device("auto", 3)) == "cuda:3"
    assert str(find_device("cuda:1", 3)) == "cuda:1"
    assert len(asked) == 3  # that each is there was tried
