"""Training from shards on the disk: one shard after the other, resumed exactly, on several processes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from processes import together
from small_runs import reversals, small_model
from torch import nn

from transformer_course.checkpoints import CheckpointError, checkpoint_path, write_sealed
from transformer_course.corpus.batches import Example, batches_of_lengths, collate, token_batches
from transformer_course.corpus.shards import Shards, write_shard
from transformer_course.loss import teacher_forcing_loss
from transformer_course.training import Trainer, TrainingConfig, validation_loss
from transformer_course.training.processes import ALONE, Processes
from transformer_course.training.shards import ShardBatches

pytestmark = pytest.mark.slow  # starts processes, or trains for long
EXAMPLES = [*reversals(longest=3), ([3, 4, 5, 6, 7, 3], [7]), ([3], [4] * 7)]
CUTS = [(0, 40), (40, 41), (41, 100), (100, len(EXAMPLES))]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The examples in four shards, one of which has a single pair."""
    return written(tmp_path / "data", [EXAMPLES[start:end] for start, end in CUTS])


def written(folder: Path, parts: list[list[Example]]) -> Path:
    shards = [write_shard(folder, f"shard-{n}", part, 11) for n, part in enumerate(parts)]
    write_sealed(folder / "prepared.json", {"shards": shards})
    return folder


def batches(folder: Path, max_tokens: int = 60) -> ShardBatches:
    return ShardBatches(Shards(folder), max_tokens, 64)


@pytest.mark.parametrize("seed", [0, 1, 7 * 100_003])
def test_as_many_epochs_as_shards_give_each_pair_once(folder: Path, seed: int) -> None:
    data = batches(folder)
    epochs = [data.epoch(seed + n) for n in range(4)]
    seen = [index for batches in epochs for batch in batches for index in batch]
    assert sorted(seen) == list(range(len(EXAMPLES)))
    shard_of = [n for n, (start, end) in enumerate(CUTS) for _ in range(start, end)]
    places = [{shard_of[i] for batch in batches for i in batch} for batches in epochs]
    assert sorted(map(list, places)) == [[0], [1], [2], [3]]
    assert data.epoch(seed + 2) == epochs[2]
    longest = max(epochs, key=len)
    assert (
        data.epoch(seed + 4 + epochs.index(longest)) != longest
    )  # the same shard in another order
    assert sorted(i for batch in data.epoch() for i in batch) == sorted(seen)


def test_a_batch_has_the_pairs_that_were_written(folder: Path) -> None:
    data = batches(folder)
    for batch in [batch for n in range(4) for batch in data.epoch(n)]:
        src, tgt = data.tensors(batch)
        assert src.numel() + tgt.numel() <= 60
        wanted = collate(EXAMPLES, batch)
        assert (src.dtype, tgt.dtype) == (torch.int64, torch.int64)
        assert torch.equal(src, wanted.src)
        assert torch.equal(tgt, wanted.tgt)
        assert data.n_predicted(batch) == int((tgt[:, 1:] != 0).sum())
        assert data.n_predicted(batch[:1]) == len(EXAMPLES[batch[0]][1]) + 1


def test_lengths_are_enough_to_make_batches() -> None:
    lengths = np.array([[len(src), len(tgt)] for src, tgt in EXAMPLES])
    for seed in (None, 5):
        assert batches_of_lengths(lengths, 60, seed=seed) == token_batches(EXAMPLES, 60, seed=seed)


def test_one_shard_at_a_time_is_open(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[int] = []
    inner = Shards.open

    def count(self: Shards, number: int) -> Any:
        opened.append(number)
        return inner(self, number)

    monkeypatch.setattr(Shards, "open", count)
    data = batches(folder)
    assert opened == []  # start-up reads none
    for n in range(8):
        for batch in data.epoch(n):
            data.tensors(batch), data.n_predicted(batch)
    assert opened == [0, 1, 2, 3, 0, 1, 2, 3]


def test_what_is_too_long_is_refused_before_training(folder: Path) -> None:
    shards = Shards(folder)
    assert shards.longest == [6, 7, 8]
    assert ShardBatches(shards, 11, 8).epoch()
    for sizes in ((10, 8), (11, 7)):
        with pytest.raises(
            ValueError, match="has sentences of 7 subwords and pairs of 8: with special"
        ):
            ShardBatches(shards, *sizes)


def trainer(
    data: Path, folder: Path | None = None, processes: Processes = ALONE, **settings: Any
) -> Trainer:
    def evaluate(model: nn.Module) -> dict[str, float]:
        held_out = reversals(longest=2)
        loss = validation_loss(model, held_out, teacher_forcing_loss, processes=processes)  # type: ignore[arg-type]
        return {"loss": loss}

    given = {
        "max_steps": 40,
        "max_tokens": 60,
        "peak_rate": 0.01,
        "warmup_steps": 3,
        "validate_every": 5,
    }
    return Trainer(
        small_model(dropout=0.1 * (processes.count == 1)),
        batches(data),
        teacher_forcing_loss,
        evaluate,
        TrainingConfig(**given | settings),
        folder,
        processes=processes,
    )


def trained(run: Trainer) -> list[float]:
    """All losses of a run, and a sum of its weights."""
    losses: list[float] = []
    outcome = run.train(lambda progress: losses.append(progress.loss))
    assert outcome == "finished", outcome
    return [*losses, sum(float(p.detach().double().sum()) for p in run.model.parameters())]


@pytest.mark.parametrize("step", [5, 20, 35])
def test_a_resumed_run_is_the_undisturbed_one(folder: Path, tmp_path: Path, step: int) -> None:
    undisturbed = trainer(folder)
    wanted = trained(undisturbed)
    assert undisturbed.epoch > 4  # through all shards, and on
    trained(trainer(folder, tmp_path / "run", max_steps=40, average=40))
    again = trainer(folder, tmp_path / "run", average=40)
    again.resume(checkpoint_path(tmp_path / "run", step).name)
    assert trained(again) == wanted[step:]


def test_other_shards_are_other_examples(folder: Path, tmp_path: Path) -> None:
    trained(trainer(folder, tmp_path / "run", max_steps=10))
    other = written(tmp_path / "other", [EXAMPLES[:50], EXAMPLES[50:]])
    with pytest.raises(CheckpointError, match="was trained on other examples"):
        trainer(other, tmp_path / "run").resume()


def test_two_processes_train_what_one_does(folder: Path) -> None:
    def work(processes: Processes = ALONE) -> list[float]:
        run = trainer(folder, processes=processes, max_steps=12)
        for layer in run.model.modules():  # type: ignore[attr-defined]
            if isinstance(layer, nn.Dropout):
                layer.p = 0.0
        return trained(run)

    one = work()
    for several in together(2, work):
        torch.testing.assert_close(
            torch.tensor(several[:-1]), torch.tensor(one[:-1]), rtol=1e-5, atol=1e-6
        )
