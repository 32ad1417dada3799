"""Checkpoints of the right digest and the wrong content: refused in a sentence, never taken in silence."""

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch
from small_runs import number_pairs, small_recipe
from torch import Tensor

from transformer_course.checkpoints import (
    CheckpointError,
    list_checkpoints,
    load_checkpoint,
    load_tensors,
)
from transformer_course.checkpoints.tensors import _digest
from transformer_course.recipe import train_translator
from transformer_course.training.final import average_checkpoints

PAIRS = number_pairs(longest=2)
Tensors = dict[str, Tensor]
Content = tuple[Tensors, dict[str, Any]]


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was stopped after step 8, with checkpoints of steps 4 and 8; two batches an epoch."""
    folder = tmp_path_factory.mktemp("stopped") / "run"

    def stop(progress: Any) -> None:
        if progress.step == 9:
            raise KeyboardInterrupt

    recipe = replace(small_recipe(validate_every=4), n_layers=1, d_model=16, n_heads=2, d_ff=16)
    with pytest.raises(KeyboardInterrupt):
        train_translator(PAIRS, PAIRS, folder, recipe, report=stop)
    assert [p.name[5:12] for p in list_checkpoints(folder)] == ["0000004", "0000008"]
    return folder


@pytest.fixture
def run(stopped: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(stopped, tmp_path / "run"))


def rewrite(path: Path, tensors: Tensors, values: dict[str, Any]) -> None:
    """Write a checkpoint as the package does, but whatever it holds."""
    text = json.dumps(values)
    header = {"values": f"{_digest(tensors, text)} {text}"}
    path.unlink()  # tensors that were read may still lie in it
    path.write_bytes(safetensors.torch.save(tensors, header))


def refused(run: Path, content: Content, sentence: str) -> None:
    rewrite(list_checkpoints(run)[-1], *content)
    with pytest.raises(CheckpointError, match=sentence):
        train_translator(PAIRS, PAIRS, run, resume=True)


NAMES = {
    "a count": ("version", "step", "epoch", "position", "loss_count", "remembered", "spikes"),
    "a number": ("seconds", "loss_sum"),
    "a part": ("training", "model", "optimizer", "examples", "held_out"),
    "a history": ("history",),
}
NEVER = (None, True, -1, 1.5, "x", [1], [{}], float("nan"), float("inf"), 10**400)
FITS = {"a number": (-1, 1.5), "a part": (), "a count": (), "a history": ()}


def wrong_values() -> Iterator[tuple[str, object]]:
    for kind, names in NAMES.items():
        yield from ((n, bad) for n in names for bad in NEVER if bad not in FITS[kind])
        yield from ((n, 0) for n in names if kind in ("a part", "a history"))
        yield from ((n, {}) for n in names if kind != "a part")
        yield from ((n, []) for n in names if kind != "a history")


def test_values_of_a_wrong_type_are_named(run: Path) -> None:
    tensors, values = load_checkpoint(run)
    for name, bad in wrong_values():
        if name == "step" and isinstance(bad, int) and not isinstance(bad, bool):
            continue  # then the file's name says another step
        refused(run, (tensors, values | {name: bad}), f"{name} can't be|it was given another name")


def test_missing_values_are_named(run: Path) -> None:
    tensors, values = load_checkpoint(run)
    for name in values:
        left = {n: v for n, v in values.items() if n != name}
        if name in ("version", "optimizer", "held_out"):
            continue  # an older version left them out
        refused(run, (tensors, left), f"{name} can't be None|is not a training checkpoint")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"step": 4}, "holds step 4, so it was given another name"),
        ({"step": 10**400}, "holds step 1000.*, so it was given another name"),
        ({"position": 10**6}, "batch 1000000 of 2 in epoch 4 can't be step 8"),
        ({"position": 3}, "batch 3 of 2 in epoch 4 can't be step 8"),
        ({"position": 1}, "batch 1 of 2 in epoch 4 can't be step 8"),
        ({"epoch": 0}, "batch 0 of 2 in epoch 0 can't be step 8"),
        ({"epoch": 3}, "batch 0 of 2 in epoch 3 can't be step 8"),
        ({"epoch": 10**9}, "batch 0 of 2 in epoch 1000000000 can't be step 8"),
        ({"history": [{"step": 4}]}, "history can't be"),
        ({"history": [{"step": 4, "loss": "x"}]}, "history can't be"),
        ({"history": [{"step": 4, "loss": float("nan")}]}, "history can't be"),
        ({"history": [{"step": 8, "loss": 1.0}, {"step": 4, "loss": 1.0}]}, "history can't be"),
        ({"recent": 3.0}, "recent can't be"),
        ({"recent": [1.0, "x"]}, "recent can't be"),
        ({"recent": [1.0, float("nan")]}, "recent can't be"),
        ({"training": {"max_steps": "x"}}, "trained with max_steps = x"),
        ({"training": {"max_steps": None}}, "trained with max_steps = None"),
    ],
)
def test_values_that_do_not_belong_together_are_named(
    run: Path, change: dict[str, Any], sentence: str
) -> None:
    tensors, values = load_checkpoint(run)
    refused(run, (tensors, values | change), sentence)


CHANGES: dict[str, Callable[[Tensor], Tensor]] = {
    **{
        str(dtype): lambda tensor, dtype=dtype: tensor.to(dtype)
        for dtype in (torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.bool)
    },
    "one more": lambda tensor: torch.cat([tensor.reshape(-1), tensor.reshape(-1)[:1]]),
    "none": lambda tensor: tensor.reshape(-1)[:0],
    "one number": lambda tensor: tensor.reshape(-1)[:1].clone(),
}


def test_tensors_of_a_wrong_shape_or_type_are_named(run: Path) -> None:
    tensors, values = load_checkpoint(run)
    for name in ("model.output.bias", "optimizer.0.exp_avg", "optimizer.0.exp_avg_sq"):
        name = name if name in tensors else next(n for n in tensors if n.startswith("model."))
        sentence = "doesn't fit: 0" if name.startswith("opt") else "don't fit the model"
        for change in CHANGES.values():
            refused(run, (tensors | {name: change(tensors[name])}, values), sentence)
    for what, change in CHANGES.items():
        refused(run, (tensors | {"random.cpu": change(tensors["random.cpu"])}, values), "random")
        if what != "torch.float64":
            moved = {"optimizer.0.step": change(tensors["optimizer.0.step"])}
            refused(run, (tensors | moved, values), "doesn't fit: 0.step must")


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_numbers_that_are_none_are_not_gone_on_with(run: Path, number: float) -> None:
    tensors, values = load_checkpoint(run)
    for name in ("optimizer.0.exp_avg", "optimizer.0.exp_avg_sq", "optimizer.0.step"):
        spoilt = {name: torch.full_like(tensors[name], number)}
        refused(run, (tensors | spoilt, values), r"0\.\w+ holds NaN or an infinite number")


@pytest.mark.parametrize(
    ("gone", "sentence"),
    [
        ("random.", "random numbers doesn't fit"),
        ("optimizer.", r"there must be \d+ tensors of it, got 0"),
        ("optimizer.1", r"there must be \d+ tensors of it, got \d+"),
        (".exp_avg", "Adam remembers exp_avg, and it isn't there"),
        (".exp_avg_sq", "Adam remembers exp_avg_sq, and it isn't there"),
        (".step", "Adam remembers step, and it isn't there"),
    ],
)
def test_missing_memory_is_never_started_over_in_silence(
    run: Path, gone: str, sentence: str
) -> None:
    tensors, values = load_checkpoint(run)
    left = {n: t for n, t in tensors.items() if not (n.startswith(gone) or n.endswith(gone))}
    assert 0 < len(left) < len(tensors)
    refused(run, (left, values), sentence)


def test_an_older_checkpoint_without_any_moments_is_refused_too(run: Path) -> None:
    tensors, values = load_checkpoint(run)
    del values["remembered"]
    left = {n: t for n, t in tensors.items() if not n.startswith("optimizer.")}
    refused(run, (left, values | {"version": 2}), "there must be 1 tensors of it, got 0")


def test_a_checkpoint_under_the_name_of_another_is_neither_resumed_nor_averaged(run: Path) -> None:
    first, last = list_checkpoints(run)
    shutil.copy(first, last)
    with pytest.raises(CheckpointError, match=r"holds step 4.*last good one is step-0000004"):
        train_translator(PAIRS, PAIRS, run, resume=True)
    with pytest.raises(CheckpointError, match="holds step 4"):
        average_checkpoints([first, last])


def test_what_is_whole_is_resumed(run: Path) -> None:
    path = list_checkpoints(run)[-1]
    rewrite(path, *load_tensors(path))
    assert train_translator(PAIRS, PAIRS, run, resume=True)[1] == "finished"
