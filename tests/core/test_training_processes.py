"""Training on several processes, and in parts: the same as on one, all told once, and resumed."""

import json
import math
import os
import signal
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import torch
from processes import together
from small_runs import reversals, small_model
from torch import Tensor, nn

from transformer_course.checkpoints import (
    list_checkpoints,
    random_state,
    save_tensors,
    set_random_state,
)
from transformer_course.corpus.batches import Example
from transformer_course.encoder_decoder import Transformer
from transformer_course.fast import use_fast
from transformer_course.loss import teacher_forcing_loss
from transformer_course.training import (
    PairBatches,
    Progress,
    Trainer,
    TrainingConfig,
    validation_loss,
)
from transformer_course.training.batches import to_device
from transformer_course.training.compiling import compile_layers
from transformer_course.training.gradients import Gradients, cut
from transformer_course.training.processes import ALONE, Processes
from transformer_course.training.sharding import layers

pytestmark = pytest.mark.slow  # starts processes, or trains for long
EXAMPLES = [*reversals(longest=2), ([3, 4, 5, 6, 7, 3], [7]), ([3], [4] * 7)]
HELD_OUT = reversals(longest=3, symbols=3)
QUICK = {"max_steps": 9, "max_tokens": 60, "peak_rate": 0.01, "warmup_steps": 3}


def trainer(
    processes: Processes = ALONE,
    folder: Path | None = None,
    *,
    dropout: float = 0.0,
    examples: Sequence[Example] = EXAMPLES,
    **settings: Any,
) -> Trainer:
    def evaluate(model: nn.Module) -> dict[str, float]:
        loss = validation_loss(model, HELD_OUT, teacher_forcing_loss, 30, processes)  # type: ignore[arg-type]
        return {"loss": loss}

    config = TrainingConfig(**{**QUICK, "validate_every": 3, **settings})
    model = small_model(dropout=dropout)
    return Trainer(
        model, examples, teacher_forcing_loss, evaluate, config, folder, processes=processes
    )


def trained(run: Trainer) -> dict[str, Any]:
    """All losses and the weights of a run, as JSON says them: to the last bit."""
    losses: list[float] = []
    outcome = run.train(lambda progress: losses.append(progress.loss))
    weights = {n: p.detach().flatten().tolist() for n, p in run.model.named_parameters()}
    valid = [record["loss"] for record in run.history]
    return {"outcome": outcome, "losses": losses, "weights": weights, "valid": valid}


def assert_close(one: dict[str, Any], two: dict[str, Any]) -> None:
    assert one["outcome"] == two["outcome"]
    for name in ("losses", "valid"):
        torch.testing.assert_close(
            torch.tensor(one[name]), torch.tensor(two[name]), rtol=1e-5, atol=1e-6
        )
    for name, weight in one["weights"].items():
        # Softmax takes no notice of the keys' bias: its gradient is only rounding, which Adam makes large.
        if not name.endswith("w_key.bias"):
            a, b = torch.tensor(weight), torch.tensor(two["weights"][name])
            torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-4)


# The same as on one process


@pytest.mark.parametrize(("count", "accumulate", "max_tokens"), [(2, 1, 60), (3, 2, 30)])
def test_several_processes_train_what_one_does(
    count: int, accumulate: int, max_tokens: int
) -> None:
    """Also where a batch has fewer members than there are parts."""
    one = trained(trainer(max_tokens=max_tokens))
    several = together(
        count, lambda p: trained(trainer(p, max_tokens=max_tokens, accumulate=accumulate))
    )
    assert_close(several[0], one)
    assert all(other == several[0] for other in several[1:])


@pytest.mark.parametrize("accumulate", [2, 3, 40])
def test_a_batch_in_parts_trains_what_the_whole_one_does(accumulate: int) -> None:
    """The parts have unlike numbers of tokens: a mean of means would be another number."""
    run = trainer()
    assert any(
        len({run.data.n_predicted(part) for part in cut(batch, 2)}) > 1 for batch in run._batches
    )
    assert_close(trained(trainer(accumulate=accumulate)), trained(run))


def test_no_part_has_more_than_its_share() -> None:
    for n in range(1, 9):
        parts = cut(range(7), n)
        assert [i for part in parts for i in part] == [*range(7)]
        assert max(map(len, parts)) == math.ceil(7 / n)


def test_each_held_out_token_counts_once() -> None:
    alone = validation_loss(small_model(), HELD_OUT, teacher_forcing_loss, 30)

    def validated(processes: Processes) -> float:
        return validation_loss(small_model(), HELD_OUT, teacher_forcing_loss, 30, processes)

    assert together(3, validated) == pytest.approx([alone] * 3, rel=1e-12)
    few = HELD_OUT[:2]  # one batch: two of three processes have nothing to do
    assert together(
        3, lambda p: validation_loss(small_model(), few, teacher_forcing_loss, processes=p)
    ) == pytest.approx([validation_loss(small_model(), few, teacher_forcing_loss)] * 3)


class WithUnused(nn.Module):
    """A model with a weight that nothing uses: an optimiser that decays weights would shrink it."""

    def __init__(self) -> None:
        super().__init__()
        self.inside = small_model()
        self.config, self.output = self.inside.config, self.inside.output
        self.encode, self.decode = self.inside.encode, self.inside.decode
        self.unused = nn.Parameter(torch.ones(3))


def test_what_nothing_uses_stays_as_it_is() -> None:
    def unused(processes: Processes = ALONE) -> list[float]:
        model = WithUnused()
        decaying = torch.optim.AdamW(model.parameters(), weight_decay=0.5)
        run = Trainer(
            model,
            EXAMPLES,
            teacher_forcing_loss,
            lambda model: {"loss": 0.0},
            TrainingConfig(max_steps=5),
            optimizer=decaying,
            processes=processes,
        )
        run.train()
        return model.unused.tolist()

    assert together(2, unused) == [[1.0] * 3] * 2 == [unused()] * 2


def test_processes_leave_out_different_numbers_and_go_on_drawing() -> None:
    def drawn(processes: Processes) -> list[list[float]]:
        found = []
        for step in range(2):
            processes.draw_anew(0, step)
            found.append(torch.rand(3).tolist())
        return found

    found = [tuple(draws) for of_process in together(2, drawn) for draws in of_process]
    assert len(set(found)) == 4
    torch.manual_seed(5)
    before = torch.get_rng_state()
    ALONE.draw_anew(0, 1)
    assert torch.equal(torch.get_rng_state(), before)


# Stop, and go on


def stop_at(step: int, rank: int, processes: Processes) -> Any:
    def report(progress: Progress) -> None:
        if progress.step == step and processes.rank == rank:
            os.kill(os.getpid(), signal.SIGTERM)

    return report


def test_one_process_that_shall_stop_stops_all_after_the_same_update(tmp_path: Path) -> None:
    def work(processes: Processes) -> list[Any]:
        run = trainer(processes, tmp_path)
        return [run.train(stop_at(4, 1, processes)), run.step]

    assert together(2, work) == [["interrupted", 4]] * 2
    assert [path.stem for path in list_checkpoints(tmp_path)] == ["step-0000003", "step-0000004"]


def test_a_run_goes_on_from_two_processes_to_one_to_two(tmp_path: Path) -> None:
    whole = trained(trainer())

    def begin(processes: Processes) -> str:
        return trainer(processes, tmp_path).train(stop_at(2, 0, processes))

    def go_on(processes: Processes) -> dict[str, Any]:
        run = trainer(processes, tmp_path)
        run.resume()
        return trained(run)

    assert together(2, begin) == ["interrupted"] * 2
    alone = trainer(folder=tmp_path)
    alone.resume()
    assert alone.train(stop_at(5, 0, ALONE)) == "interrupted"
    last = together(2, go_on)[0]
    assert len(last["losses"]) == 4
    assert_close(last, whole | {"losses": whole["losses"][5:]})


def test_two_processes_go_on_to_the_last_bit(tmp_path: Path) -> None:
    """With dropout: the random numbers of an update depend on nothing before it."""

    def stopped(processes: Processes) -> dict[str, Any]:
        first = trainer(processes, tmp_path, dropout=0.3)
        first.train(stop_at(4, 0, processes))
        torch.rand(7)
        run = trainer(processes, tmp_path, dropout=0.3)
        run.resume()
        return trained(run)

    whole = together(2, lambda p: trained(trainer(p, dropout=0.3)))[0]
    resumed = together(2, stopped)[0]
    assert resumed | {"losses": whole["losses"][4:]} == resumed
    assert resumed["weights"] == whole["weights"]
    assert resumed["valid"] == whole["valid"]


def test_files_are_there_when_training_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On every process, however slow the disk of the one that writes is."""

    def slowly(*args: Any) -> None:
        time.sleep(0.5)
        save_tensors(*args)

    def work(processes: Processes) -> list[str]:
        trainer(processes, tmp_path).train(stop_at(2, 0, processes))
        return [path.stem for path in list_checkpoints(tmp_path)]

    monkeypatch.setattr("transformer_course.training.trainer.save_tensors", slowly)
    assert together(2, work) == [["step-0000002"]] * 2


def test_only_the_first_process_writes(tmp_path: Path) -> None:
    def work(processes: Processes) -> str:
        run = trainer(processes, tmp_path / str(processes.rank))
        run.train()
        return run.finish() if processes.first else "…"

    def both_finish(processes: Processes) -> str:
        run = trainer(processes, tmp_path / "both", average=2)
        run.train()
        return run.finish()

    said = together(2, both_finish)
    assert said[0] == said[1]
    assert (tmp_path / "both" / "history.json").exists()


# Failing


def test_the_first_that_fails_speaks_for_all() -> None:
    def work(processes: Processes) -> None:
        if processes.rank == 1:
            raise ValueError("no")
        processes.wait()

    assert together(3, work) == ["told elsewhere", "ValueError: no", "told elsewhere"]


def test_a_fault_that_all_have_is_told_once() -> None:
    def work(processes: Processes) -> None:
        raise ValueError("no")

    assert sorted(together(3, work)) == ["ValueError: no"] + ["told elsewhere"] * 2


def test_a_process_that_is_killed_ends_the_others_with_a_sentence() -> None:
    def work(processes: Processes) -> None:
        if processes.rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        processes.wait()

    said = together(2, work)[0]
    assert said.startswith("LostProcessError: another process of this training has ended"), said


def test_processes_need_a_device_that_can_add_up() -> None:
    model = small_model().to("meta")
    with pytest.raises(ValueError, match=r"device \('meta'\) must be 'cpu' or 'cuda' where 2"):
        Gradients(
            model,
            PairBatches(EXAMPLES, 60, 64),
            teacher_forcing_loss,
            TrainingConfig(),
            Processes(0, 2),
        )


def test_other_data_on_another_computer_are_found() -> None:
    def work(processes: Processes) -> Any:
        return trained(trainer(processes, examples=EXAMPLES[processes.rank :]))

    said = together(2, work)
    assert said[0] == "told elsewhere"
    assert "process 1 has other values than process 0: examples is {'digest'" in said[1]


def test_a_loss_that_is_none_is_found_in_whosever_part_it_is() -> None:
    """Only the longest source has more than five ids: one process alone sees what comes of it."""

    def broken(model: Any, src: Tensor, tgt: Tensor) -> Tensor:
        if src.shape[1] > 5:
            nn.init.constant_(model.encoder_layers[0].feed_forward.outer.weight, math.nan)
        return teacher_forcing_loss(model, src, tgt)

    def work(processes: Processes) -> Any:
        run = trainer(processes)
        run.loss_fn = run._gradients.loss_fn = broken
        return trained(run)

    said = together(2, work)
    assert said.count("told elsewhere") == 1
    (told,) = {*said} - {"told elsewhere"}
    assert told.startswith("DivergedError: loss is nan"), told
    assert "first in encoder_layers.0.feed_forward" in told


# Numbers of 16 bits with a scaled loss


def test_fp16_trains_and_goes_on_to_the_last_bit(tmp_path: Path) -> None:
    whole = trained(trainer(precision="fp16"))
    single = trained(trainer())
    assert whole["losses"] != single["losses"]
    assert whole["losses"] == pytest.approx(single["losses"], rel=0.02)
    undisturbed, first = (trainer(folder=tmp_path / n, precision="fp16") for n in "ab")
    for run in (undisturbed, first):
        run._gradients.scaler = torch.amp.GradScaler("cpu", init_scale=4.0, growth_interval=3)
    whole = trained(undisturbed)
    first.train(stop_at(4, 0, ALONE))
    second = trainer(folder=tmp_path / "b", precision="fp16")
    assert second._gradients.state()["scale"] == 2.0**16
    second.resume()
    assert second._gradients.state() == first._gradients.state()
    assert second._gradients.state()["scale"] == 8.0
    assert second._gradients.state()["_growth_tracker"] == 1
    assert trained(second)["weights"] == whole["weights"]


def test_small_gradients_are_not_lost_in_fp16() -> None:
    """A loss a millionth as large has gradients that fp16 can't hold, unless it is scaled."""

    def gradient(scaled: bool = True, **settings: Any) -> Tensor:
        run = trainer(**settings)
        run._gradients.loss_fn = lambda *inputs: teacher_forcing_loss(*inputs) * 1e-6
        run._gradients.scaler = torch.amp.GradScaler("cpu", enabled=scaled)
        run._gradients.compute(run.optimizer, run._batches[0])
        return torch.cat([p.grad.flatten() for p in run.model.parameters() if p.grad is not None])

    exact, scaled = gradient(False), gradient(precision="fp16")
    lost = gradient(False, precision="fp16")
    assert (scaled - exact).norm() < 0.02 * exact.norm()
    assert (lost - exact).norm() > 0.1 * exact.norm()


def test_an_infinite_gradient_leaves_its_update_out_and_halves_the_scale() -> None:
    run = trainer(precision="fp16")
    run._gradients.scaler = torch.amp.GradScaler("cpu", init_scale=2.0**127)  # float32 overflows
    before = [p.detach().clone() for p in run.model.parameters()]
    run._update(run._batches[0])
    assert run.step == 1
    assert all(map(torch.equal, before, run.model.parameters()))
    assert run._gradients.state()["scale"] == 2.0**126
    run._gradients.scaler = torch.amp.GradScaler("cpu", init_scale=0.5)
    assert not run._gradients.may_overflow()  # no scale mends a gradient that is infinite by itself


# Cards


def test_an_update_looks_at_no_number_but_loss_and_norm() -> None:
    """On "meta" there are no numbers: whoever looks at one, and so would wait for a card, fails."""
    with torch.device("meta"):
        model = use_fast(small_model())
    config = TrainingConfig(accumulate=2)
    data = PairBatches(EXAMPLES, 60, 64)
    gradients = Gradients(model, data, teacher_forcing_loss, config, ALONE)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)  # fused Adam is torch's own for cards
    loss = gradients.compute(optimizer, data.epoch()[0])
    assert loss.device.type == gradients.clip(optimizer).device.type == "meta"
    assert all(p.grad is not None for p in model.parameters())
    gradients.update(optimizer)
    with torch.no_grad():
        teacher_forcing_loss(model, *gradients.tensors([0, 1]))
    with pytest.raises(NotImplementedError):
        loss.tolist()


def test_a_validation_looks_at_its_losses_at_the_end() -> None:
    with torch.device("meta"):
        model = small_model()
    loss = Mock(side_effect=teacher_forcing_loss)
    with torch.no_grad(), pytest.raises(NotImplementedError):
        validation_loss(model, HELD_OUT, loss, 30)
    assert loss.call_count == len(PairBatches(HELD_OUT, 30, 64).epoch()) > 5


def test_what_goes_to_a_card_is_pinned_and_waits_for_nobody() -> None:
    pinned, there = Mock(), Mock()
    ids = Mock(pin_memory=Mock(return_value=pinned), to=Mock(return_value=there))
    assert to_device(ids, torch.device("cpu")) is there
    ids.pin_memory.assert_not_called()
    assert to_device(ids, torch.device("cuda:1")) is pinned.to.return_value
    pinned.to.assert_called_once_with(torch.device("cuda:1"), non_blocking=True)


def test_layers_are_compiled_whole_and_once_for_batches_of_all_sizes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What torch traces then runs without a compiler, which takes minutes on few cores."""
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="eager"))
    data = PairBatches(EXAMPLES, 60, 64)

    def losses(model: Transformer) -> list[float]:
        found = [teacher_forcing_loss(model, *data.tensors(batch)) for batch in data.epoch()]
        sum(found, torch.zeros(())).backward()
        gradient = model.src_embedding.weight.grad
        return [*(loss.item() for loss in found), float(gradient.norm())]  # type: ignore[union-attr]

    model = small_model()
    compile_layers(model, torch.device("cpu"))
    torch._dynamo.reset()
    counted = torch._dynamo.utils.counters
    counted.clear()
    assert losses(model) == pytest.approx(losses(small_model()), rel=1e-6)
    assert len(data.epoch()) > 3
    assert counted["stats"]["unique_graphs"] == len([*layers(model)])
    assert not counted["graph_break"]


def test_what_compiling_needs_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(*_: object) -> None:
        raise RuntimeError("No working C++ compiler found\nand more")

    monkeypatch.setattr(torch, "compile", lambda _: nothing)
    with pytest.raises(ValueError, match=r"^compile needs a C\+\+ .* torch says: No w.*found$"):
        compile_layers(small_model(), torch.device("cpu"))


def test_the_random_numbers_of_every_kind_of_device_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    states = {"mps": torch.tensor([1, 2, 3], dtype=torch.uint8)}
    monkeypatch.setattr(torch.mps, "get_rng_state", lambda: states["mps"])
    monkeypatch.setattr(torch.mps, "set_rng_state", lambda state: states.update(mps=state))
    kept = random_state(torch.device("mps"))
    states["mps"] = states["mps"] + 1
    set_random_state(kept, torch.device("mps"))
    assert states["mps"].tolist() == [1, 2, 3]
    assert json.dumps(sorted(kept)) == '["cpu", "mps"]'
