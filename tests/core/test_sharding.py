"""Models of which each process has a part: trained as a whole one is, resumed by any number of processes."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest
import torch
import torch._dynamo  # this and the next once, not in each process that is forked
import torch.distributed.fsdp
from processes import together
from small_runs import small_model
from test_training_processes import EXAMPLES, HELD_OUT, assert_close, stop_at
from torch import Tensor, nn

from transformer_course.checkpoints import gathered, list_checkpoints, read_checkpoint
from transformer_course.loss import teacher_forcing_loss
from transformer_course.training import Trainer, TrainingConfig, validation_loss
from transformer_course.training.processes import ALONE, Processes
from transformer_course.training.sharding import layers, loss_of, shard

pytestmark = pytest.mark.slow  # starts processes, or trains for long
CPU = torch.device("cpu")


def trainer(
    processes: Processes = ALONE,
    folder: Path | None = None,
    *,
    sharded: bool = False,
    dropout: float = 0.0,
    dtype: torch.dtype = torch.float32,
    **settings: Any,
) -> Trainer:
    def evaluate(model: nn.Module) -> dict[str, float]:
        return {"loss": validation_loss(model, HELD_OUT, teacher_forcing_loss, 120, processes)}

    quick = {"max_steps": 6, "max_tokens": 60, "peak_rate": 0.01, "warmup_steps": 3}
    config = TrainingConfig(**{**quick, "validate_every": 4, **settings})
    model = small_model(dropout=dropout).to(dtype)
    if sharded:
        shard(model, CPU)
    return Trainer(
        model, EXAMPLES, teacher_forcing_loss, evaluate, config, folder, processes=processes
    )


def trained(run: Trainer) -> dict[str, Any]:
    losses: list[float] = []
    outcome = run.train(lambda progress: losses.append(progress.loss))
    weights = gathered(dict(run.model.named_parameters()))
    return {
        "outcome": outcome,
        "losses": losses,
        "weights": {name: weight.flatten().tolist() for name, weight in weights.items()},
        "valid": [record["loss"] for record in run.history],
    }


def kept(model: nn.Module) -> int:
    """Numbers of the weights that this process has."""
    return sum(getattr(p, "_local_tensor", p).numel() for p in model.parameters())


def farthest(one: dict[str, Any], two: dict[str, Any]) -> float:
    """How far losses are apart, as a share of them."""
    pairs = [
        (a, b) for name in ("losses", "valid") for a, b in zip(one[name], two[name], strict=True)
    ]
    return max(abs(a - b) / b for a, b in pairs)


def test_shards_train_what_one_process_does() -> None:
    """In double precision to 1e-13; in single to two units in the last place, as whole models on two do."""
    cases: dict[str, dict[str, Any]] = {
        "single": {},
        "double": {"dtype": torch.float64},
        "parts": {"max_tokens": 30, "accumulate": 2},  # more parts than some batches have members
        "fp16": {"precision": "fp16"},
    }

    cases = {name: {"max_steps": 5, **case} for name, case in cases.items()}

    def work(processes: Processes) -> dict[str, Any]:
        found = {n: trained(trainer(processes, sharded=True, **case)) for n, case in cases.items()}
        run = trainer(processes, sharded=True)
        return found | {
            "kept": kept(run.model),
            "unsharded": trained(trainer(processes, max_steps=5)),
        }

    first, second = together(2, work)
    assert first["kept"] + second["kept"] == kept(small_model())
    assert first["kept"] < 1.01 * second["kept"]
    for name, bound in {"single": 2.4e-7, "double": 1e-13, "parts": 2.4e-7, "fp16": 0.02}.items():
        one = trained(trainer(**cases[name]))
        assert farthest(first[name], one) < bound, name
        assert first[name] == second[name]
        if name != "fp16":
            assert_close(first[name], one)
    # Some processors' kernels differ in the last bit.
    assert first["single"]["losses"] == pytest.approx(first["unsharded"]["losses"], abs=2.4e-7)


def test_shards_go_on_from_two_processes_to_one_to_two(tmp_path: Path) -> None:
    """And from two to two to the last bit, with dropout; the last weights are those of the best validation."""

    def stopped(processes: Processes, folder: Path, step: int, **settings: Any) -> Trainer:
        run = trainer(processes, folder, **settings)
        if list_checkpoints(folder):
            run.resume()
        assert run.train(stop_at(step, 0, processes)) == "interrupted"
        return run

    def resumed(processes: Processes, folder: Path | None, **settings: Any) -> Trainer:
        run = trainer(processes, folder, sharded=True, **settings)
        if folder:
            run.resume()
        return run

    def work(processes: Processes) -> dict[str, Any]:
        stopped(processes, tmp_path / "less", 2, sharded=True)
        if processes.first:
            stopped(ALONE, tmp_path / "less", 3)
        processes.wait()
        less = trained(resumed(processes, tmp_path / "less"))
        stopped(processes, tmp_path / "same", 3, sharded=True, dropout=0.3)
        torch.rand(7)
        last = resumed(processes, tmp_path / "same", dropout=0.3)
        same = trained(last)
        whole = trainer(processes, sharded=True, dropout=0.3)  # keeps its weights in memory
        undisturbed = trained(whole)
        ends = [[run.finish(), trained(run)["weights"]] for run in (last, whole)]
        return {"less": less, "same": same, "undisturbed": undisturbed, "ends": ends}

    first, second = together(2, work)
    assert first == second
    one = trained(trainer())
    assert_close(first["less"], one | {"losses": one["losses"][3:]})
    whole = first["undisturbed"]
    assert first["same"] == whole | {"losses": whole["losses"][3:]}
    assert first["ends"][0] == first["ends"][1]
    steps = [path.stem for path in list_checkpoints(tmp_path / "less")]
    assert steps[-1] == "step-0000006"
    tensors, _ = read_checkpoint(list_checkpoints(tmp_path / "less")[-1])
    for name, weight in first["less"]["weights"].items():
        assert tensors["model." + name].flatten().tolist() == weight


def test_what_diverges_or_is_lost_is_told_as_without_shards() -> None:
    def broken(model: Any, src: Tensor, tgt: Tensor) -> Tensor:
        if src.shape[1] > 5:  # one source is so long, and one process alone has it
            model.encoder_layers[0].feed_forward.inner.register_forward_hook(
                lambda *_: _[-1] * torch.nan
            )
        return teacher_forcing_loss(model, src, tgt)

    def diverge(processes: Processes) -> Any:
        run = trainer(processes, sharded=True)
        run.loss_fn = run._gradients.loss_fn = broken
        return trained(run)

    def die(processes: Processes) -> None:
        run = trainer(processes, sharded=True)
        if processes.rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        loss_of(run.model, teacher_forcing_loss, *run.data.tensors([0, 1]))

    said = together(2, diverge)
    assert said.count("told elsewhere") == 1
    (told,) = {*said} - {"told elsewhere"}
    assert told.startswith("DivergedError: loss is nan"), told
    assert "first in encoder_layers.0.feed_forward" in told
    told = together(2, die)[0]
    assert told.startswith("LostProcessError: another process of this training has ended"), told


def test_lists_inside_a_layer_belong_to_it() -> None:
    model = small_model()
    assert list(layers(model)) == [*model.encoder_layers, *model.decoder_layers]
    assert any(
        isinstance(part, nn.ModuleList) for layer in layers(model) for part in layer.modules()
    )


def test_an_older_torch_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "__version__", "2.6.1")
    with pytest.raises(ValueError, match=r"shard needs torch 2\.7 or later, this is 2\.6\.1"):
        shard(small_model(), CPU)
