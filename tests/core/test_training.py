"""Training: the paper's rate, exact resume, early stopping, averaging, and clear ends."""

import contextlib
import json
import math
import os
import random
import signal
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from small_runs import reversals, small_model
from torch import Tensor, nn

from transformer_course.checkpoints import (
    CheckpointError,
    checkpoint_path,
    list_checkpoints,
    load_tensors,
    save_tensors,
)
from transformer_course.corpus.batches import Batch, Example, collate
from transformer_course.decoding import greedy
from transformer_course.encoder_decoder import Transformer, TransformerConfig
from transformer_course.loss import cross_entropy, teacher_forcing_loss
from transformer_course.training import (
    PairBatches,
    Progress,
    Trainer,
    TrainingConfig,
    average_checkpoints,
    cosine_rate,
    inverse_sqrt_rate,
    validation_loss,
)
from transformer_course.training.diverging import DivergedError, first_not_finite

EXAMPLES = reversals(longest=2)  # 30 examples; with 60 positions a batch, 5 batches an epoch
HELD_OUT = [([3, 4, 5], [5, 4, 3]), ([7], [7])]
QUICK = {
    "max_steps": 13,
    "max_tokens": 60,
    "peak_rate": 0.01,
    "warmup_steps": 3,
    "validate_every": 4,
}
Report = Callable[[Progress], None]


def validate(model: Transformer) -> dict[str, float]:
    return {"loss": validation_loss(model, HELD_OUT, teacher_forcing_loss)}


def size_of_weights(model: Transformer) -> dict[str, float]:
    """Grows as training goes on, so that training stops early."""
    return {"loss": float(sum(p.abs().sum() for p in model.parameters()))}


def trainer(folder: Path | None = None, *, weights_seed: int = 0, **settings: object) -> Trainer:
    model = small_model(weights_seed, dropout=0.3)
    quick = dict(QUICK)
    if settings.get("schedule") == "inverse_sqrt":
        del quick["peak_rate"]
    config = TrainingConfig(**{**quick, **settings})
    evaluate = size_of_weights if config.patience else validate
    return Trainer(model, EXAMPLES, teacher_forcing_loss, evaluate, config, folder)


def weights(model: Transformer) -> dict[str, Tensor]:
    return {name: weight.detach().clone() for name, weight in model.named_parameters()}


def assert_same_weights(one: dict[str, Tensor], two: dict[str, Tensor]) -> None:
    assert one.keys() == two.keys()
    for name in one:
        assert torch.equal(one[name], two[name]), name


def without_seconds(history: list[dict[str, float]]) -> list[dict[str, float]]:
    return [{k: v for k, v in record.items() if k != "seconds"} for record in history]


def ctrl_c_at(step: int, times: int = 1) -> Report:
    def report(progress: Progress) -> None:
        if progress.step == step:
            for _ in range(times):
                os.kill(os.getpid(), signal.SIGINT)

    return report


class Killed(BaseException):
    """Stands for a process that is no more: nothing after it is executed."""


def killed_at(step: int) -> Report:
    def report(progress: Progress) -> None:
        if progress.step == step:
            raise Killed

    return report


# Learning rates


def test_the_papers_rate() -> None:
    rates = [inverse_sqrt_rate(step, 512, 4000) for step in (1, 2000, 4000, 16000)]
    peak = 512**-0.5 * 4000**-0.5
    assert rates == pytest.approx([peak / 4000, peak / 2, peak, peak / 2])
    assert peak == pytest.approx(6.99e-4, abs=1e-6)  # for the base model
    assert max(range(1, 500), key=lambda step: inverse_sqrt_rate(step, 64, 100)) == 100


def test_the_cosine_rate() -> None:
    assert cosine_rate(7, 2.0, 10, 110) == pytest.approx(1.4)
    assert cosine_rate(35, 2.0, 10, 110) == pytest.approx(1 + math.cos(math.pi / 4))
    assert cosine_rate(110, 2.0, 10, 110) == pytest.approx(0.0)
    assert cosine_rate(500, 2.0, 10, 110) == pytest.approx(0.0)
    assert cosine_rate(10, 2.0, 10, 10) == 2.0


def test_steps_count_from_1() -> None:
    with pytest.raises(ValueError, match=r"step \(0\) must be 1 or more"):
        cosine_rate(0, 2.0, 0, 110)
    for wrong, name in (
        ((0, 512, 4000), "step"),
        ((1, 0, 9), "d_model"),
        ((1, 8, 0), "warmup_steps"),
    ):
        with pytest.raises(ValueError, match=rf"{name} \(0\) must be 1 or more"):
            inverse_sqrt_rate(*wrong)


@pytest.mark.parametrize("schedule", ["cosine", "inverse_sqrt"])
def test_each_update_uses_the_rate_of_its_step(schedule: str) -> None:
    run = trainer(schedule=schedule)
    used: list[float] = []
    run.train(lambda _: used.append(run.optimizer.param_groups[0]["lr"]))
    expected = [
        cosine_rate(step, 0.01, 3, 13) if schedule == "cosine" else inverse_sqrt_rate(step, 32, 3)
        for step in range(1, 14)
    ]
    assert used == pytest.approx(expected)


# Resuming: the same weights to the last bit


CASES = {
    "plain": {},
    "average": {"average": 3},
    "patience": {"patience": 2, "max_steps": 40},
    "inverse_sqrt": {"schedule": "inverse_sqrt"},
}


def finished(folder: Path, settings: dict[str, object]) -> tuple[Trainer, str, str]:
    run = trainer(folder, **settings)
    outcome = run.train()
    return run, outcome, run.finish()


@pytest.mark.parametrize(
    "case", ["plain", *(pytest.param(name, marks=pytest.mark.slow) for name in [*CASES][1:])]
)
@pytest.mark.parametrize(
    "disturbances",
    [
        [ctrl_c_at(3)],  # in the first epoch, not a validation step
        [ctrl_c_at(5)],  # the last batch of an epoch
        [ctrl_c_at(4)],  # a validation step
        [ctrl_c_at(2), ctrl_c_at(7)],  # twice
        [killed_at(6)],  # back to the checkpoint of step 4
        [ctrl_c_at(6), killed_at(7), killed_at(12)],
        [ctrl_c_at(13)],  # too late
    ],
    ids=["step 3", "epoch's end", "validation", "twice", "killed", "all sorts", "last step"],
)
def test_resuming_gives_the_undisturbed_run(
    tmp_path: Path, case: str, disturbances: list[Report]
) -> None:
    undisturbed, outcome, final = finished(tmp_path / "a", CASES[case])
    for number, disturbance in enumerate(disturbances):
        run = trainer(tmp_path / "b", weights_seed=number, **CASES[case])
        if number:
            torch.manual_seed(
                99 + number
            )  # a resumed run takes weights and random numbers from the file
            run.resume()
        try:
            if run.train(disturbance) != "interrupted":
                break
        except Killed:
            continue
    resumed = trainer(tmp_path / "b", weights_seed=77, **CASES[case])
    torch.manual_seed(1234)
    resumed.resume()
    assert resumed.train() == outcome
    assert resumed.step == undisturbed.step
    assert without_seconds(resumed.history) == without_seconds(undisturbed.history)
    assert resumed.finish() == final
    assert_same_weights(weights(resumed.model), weights(undisturbed.model))
    records = [json.loads((tmp_path / run / "history.json").read_text()) for run in "ab"]
    assert without_seconds(records[0]) == without_seconds(records[1])


def test_the_patience_case_does_stop_early_and_stays_stopped(tmp_path: Path) -> None:
    run, outcome, final = finished(tmp_path, CASES["patience"])
    assert (outcome, run.step) == ("stopped early", 12)
    losses = [record["loss"] for record in run.history]
    assert losses.index(min(losses)) == len(losses) - 3
    assert final == f"step {4 * (len(losses) - 2)}"
    again = trainer(tmp_path, **CASES["patience"])
    again.resume()
    assert (again.train(), again.step) == ("stopped early", run.step)


def test_a_named_checkpoint_is_resumed_exactly(tmp_path: Path) -> None:
    undisturbed, _, _ = finished(tmp_path / "a", {"average": 2})
    run = trainer(tmp_path / "b", average=2)
    run.train(ctrl_c_at(9))
    newest = checkpoint_path(tmp_path / "b", 9)
    newest.write_bytes(newest.read_bytes()[:1000])
    again = trainer(tmp_path / "b", average=2)
    with pytest.raises(CheckpointError, match=r"step-0000009.* last good one is step-0000008"):
        again.resume()
    again.resume("step-0000008.safetensors")
    assert again.step == 8
    assert again.train() == "finished"
    again.finish()
    assert_same_weights(weights(again.model), weights(undisturbed.model))


def test_a_resumed_run_must_be_the_same(tmp_path: Path) -> None:
    trainer(tmp_path).train(ctrl_c_at(2))
    with pytest.raises(CheckpointError, match=r"trained with peak_rate = 0\.01, not 0\.02"):
        trainer(tmp_path, peak_rate=0.02).resume()
    config = TrainingConfig(**QUICK)
    other = Trainer(small_model(), EXAMPLES, teacher_forcing_loss, validate, config, tmp_path)
    with pytest.raises(CheckpointError, match=r"trained with dropout = 0\.3, not 0\.0"):
        other.resume()
    model = small_model(dropout=0.3)
    other = Trainer(model, EXAMPLES[1:], teacher_forcing_loss, validate, config, tmp_path)
    before = weights(model)
    with pytest.raises(CheckpointError, match="trained on other examples"):
        other.resume()
    assert_same_weights(weights(model), before)
    save_tensors(checkpoint_path(tmp_path, 99), {"a": torch.zeros(1)}, {"config": {}})
    with pytest.raises(CheckpointError, match="not a training checkpoint"):
        trainer(tmp_path).resume()
    with pytest.raises(CheckpointError, match="without a folder has nothing to resume from"):
        trainer().resume()


# A longer run


@pytest.mark.slow
@pytest.mark.parametrize("schedule", ["cosine", "inverse_sqrt"])
@pytest.mark.parametrize("first", [ctrl_c_at(2), ctrl_c_at(6), lambda _: None])
def test_a_run_that_is_made_longer_goes_on_with_the_rate_of_the_longer_run(
    tmp_path: Path, schedule: str, first: Report
) -> None:
    shorter = trainer(tmp_path, max_steps=9, schedule=schedule)
    shorter.train(first)
    longer, used = trainer(tmp_path, schedule=schedule, weights_seed=5), []
    longer.resume()
    assert longer.train(lambda _: used.append(longer.optimizer.param_groups[0]["lr"])) == "finished"
    rates = [longer.config.rate(step, 32) for step in range(1, 14)]
    assert used == rates[shorter.step :]
    if (
        schedule == "inverse_sqrt"
    ):  # it doesn't depend on the end: as if it had been 13 from the start
        whole = trainer(schedule=schedule)
        whole.train()
        assert_same_weights(weights(longer.model), weights(whole.model))


@pytest.mark.slow
@pytest.mark.parametrize("disturbance", [ctrl_c_at(11), killed_at(9), killed_at(10), killed_at(13)])
def test_a_longer_run_is_resumed_to_the_last_bit(tmp_path: Path, disturbance: Report) -> None:
    for name in "ab":
        trainer(tmp_path / name, max_steps=8).train()
    undisturbed = trainer(tmp_path / "a")
    undisturbed.resume()
    undisturbed.train()
    disturbed = trainer(tmp_path / "b", weights_seed=3)
    disturbed.resume()
    with contextlib.suppress(Killed):
        disturbed.train(disturbance)
    disturbed = trainer(tmp_path / "b", weights_seed=4)
    disturbed.resume()
    assert disturbed.train() == "finished"
    assert undisturbed.finish() == disturbed.finish()
    assert_same_weights(weights(disturbed.model), weights(undisturbed.model))
    assert without_seconds(disturbed.history) == without_seconds(undisturbed.history)


def test_a_run_is_not_made_shorter_nor_longer_once_it_has_stopped_early(tmp_path: Path) -> None:
    trainer(tmp_path / "a").train(ctrl_c_at(2))
    with pytest.raises(CheckpointError, match="trained with max_steps = 13, not 12"):
        trainer(tmp_path / "a", max_steps=12).resume()
    finished(tmp_path / "b", CASES["patience"])
    longer = trainer(tmp_path / "b", **CASES["patience"] | {"max_steps": 50})
    told = r"stopped early at step 12, after 2 validations without a better loss: max_steps \(50\) alone"
    with pytest.raises(CheckpointError, match=told):
        longer.resume()


@pytest.mark.slow
@pytest.mark.parametrize("patience", [3, 0])
def test_more_patience_makes_a_run_that_stopped_early_go_on(tmp_path: Path, patience: int) -> None:
    finished(tmp_path / "a", CASES["patience"])
    wished = CASES["patience"] | {"patience": patience}
    undisturbed = trainer(tmp_path / "b", **wished)
    outcome = undisturbed.train()
    resumed = trainer(tmp_path / "a", **wished)
    resumed.resume()
    assert resumed.train() == outcome
    assert resumed.step == undisturbed.step > 12
    assert_same_weights(weights(resumed.model), weights(undisturbed.model))
    fewer = trainer(tmp_path / "a", **CASES["patience"] | {"patience": 1})
    with pytest.raises(CheckpointError, match=f"trained with patience = {patience}, not 1"):
        fewer.resume()


def test_only_the_checkpoints_that_are_needed_stay(tmp_path: Path) -> None:
    leftover = tmp_path / "checkpoints" / ".step-0000001.safetensors.7.tmp"
    leftover.parent.mkdir(parents=True)
    leftover.write_bytes(b"half")
    run = trainer(tmp_path, max_steps=24, validate_every=2, average=2)
    run.train()
    best = min(run.history, key=lambda record: record["loss"])["step"]
    best_before = min(run.history[:-1], key=lambda record: record["loss"])["step"]
    steps = {int(path.stem[5:]) for path in list_checkpoints(tmp_path)}
    assert steps == {24, 22, 20, int(best), int(best_before)}
    assert not leftover.exists()


# Checkpoints of another version


def changed_values(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Write a checkpoint again with other values beside its tensors."""
    tensors, values = load_tensors(path)
    change(values)
    save_tensors(path, tensors, values)


@pytest.mark.parametrize(
    ("part", "field", "default", "other"),
    [("training", "average", 1, 3), ("model", "positions", "'?sinusoidal", None)],
)
def test_a_field_that_a_checkpoint_does_not_know_has_its_default(
    tmp_path: Path, part: str, field: str, default: object, other: object
) -> None:
    undisturbed, _, _ = finished(tmp_path / "a", {})
    trainer(tmp_path / "b").train(ctrl_c_at(6))
    changed_values(checkpoint_path(tmp_path / "b", 6), lambda values: values[part].pop(field))
    run = trainer(tmp_path / "b")
    run.resume()
    assert run.train() == "finished"
    run.finish()
    assert_same_weights(weights(run.model), weights(undisturbed.model))
    if other:
        changed_values(checkpoint_path(tmp_path / "b", 13), lambda values: values[part].pop(field))
        with pytest.raises(
            CheckpointError, match=rf"trained with {field} = {default}, not {other}"
        ):
            trainer(tmp_path / "b", **{field: other}).resume()


def test_a_checkpoint_of_a_later_version_is_refused(tmp_path: Path) -> None:
    trainer(tmp_path).train(ctrl_c_at(2))
    changed_values(
        checkpoint_path(tmp_path, 2), lambda values: values.update(version=values["version"] + 1)
    )
    with pytest.raises(
        CheckpointError, match=r"has version 6, this package reads up to 5: install"
    ):
        trainer(tmp_path).resume()


def test_a_peak_rate_that_an_old_run_kept_and_ignored_does_no_harm(tmp_path: Path) -> None:
    trainer(tmp_path, schedule="inverse_sqrt").train(ctrl_c_at(2))
    changed_values(
        checkpoint_path(tmp_path, 2), lambda values: values["training"].update(peak_rate=0.01)
    )
    run = trainer(tmp_path, schedule="inverse_sqrt")
    run.resume()
    assert run.step == 2


def test_a_run_is_not_resumed_with_other_held_out_data(tmp_path: Path) -> None:
    def held_out(data: object) -> Trainer:
        config, loss = TrainingConfig(**QUICK), teacher_forcing_loss
        return Trainer(small_model(), EXAMPLES, loss, validate, config, tmp_path, held_out=data)

    held_out(HELD_OUT).train(ctrl_c_at(2))
    held_out(HELD_OUT).resume()
    with pytest.raises(CheckpointError, match="validated on other examples"):
        held_out(HELD_OUT[:1]).resume()
    held_out(None).resume()  # nobody says what is held out


# Ctrl-C


def test_ctrl_c_just_after_an_update_is_never_lost(tmp_path: Path) -> None:
    """Between the question whether to save and the question whether to stop."""

    class Late(threading.Event):
        asked = 0

        def is_set(self) -> bool:
            self.asked += 1
            return self.asked > 1

    run, late = trainer(tmp_path), Late()
    run._update(run._batches[0])
    stopped = run._after_update(late)
    assert (stopped == "interrupted") == bool(list_checkpoints(tmp_path))


def test_ctrl_c_saves_and_hands_the_signal_back(tmp_path: Path) -> None:
    handler = signal.getsignal(signal.SIGINT)
    run = trainer(tmp_path)
    assert run.train(ctrl_c_at(3)) == "interrupted"
    assert signal.getsignal(signal.SIGINT) is handler
    assert load_tensors(checkpoint_path(tmp_path, 3))[1]["step"] == 3


def test_a_second_ctrl_c_stops_at_once(tmp_path: Path) -> None:
    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        trainer(tmp_path).train(ctrl_c_at(3, times=2))
    assert signal.getsignal(signal.SIGINT) is handler
    assert list_checkpoints(tmp_path) == []


def test_ctrl_c_during_validation_ends_after_it(tmp_path: Path) -> None:
    def interrupted_validation(model: Transformer) -> dict[str, float]:
        os.kill(os.getpid(), signal.SIGINT)
        return validate(model)

    run = trainer(tmp_path)
    run.evaluate = interrupted_validation
    assert run.train() == "interrupted"
    assert [record["step"] for record in run.history] == [4]
    assert load_tensors(checkpoint_path(tmp_path, 4))[1]["history"] == run.history


def test_training_works_outside_the_main_thread() -> None:
    run, outcomes = trainer(max_steps=2), []
    thread = threading.Thread(target=lambda: outcomes.append(run.train()))
    thread.start()
    thread.join()
    assert outcomes == ["finished"]


def test_an_ignored_ctrl_c_stays_ignored() -> None:
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert trainer(max_steps=3).train(ctrl_c_at(1)) == "finished"
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, previous)


# What an update does


def test_one_update_is_adam_on_the_clipped_gradient() -> None:
    run = trainer(max_steps=1, clip_norm=0.05, warmup_steps=1)
    run.model.eval()  # no dropout, so that the update can be done again by hand
    batch = collate(EXAMPLES, run._batches[0])
    twin = small_model(dropout=0.3).eval()
    teacher_forcing_loss(twin, batch.src, batch.tgt).backward()
    gradients = [p.grad for p in twin.parameters() if p.grad is not None]
    norm = torch.stack([g.square().sum() for g in gradients]).sum().sqrt()
    assert norm > 0.05
    before = weights(run.model)
    run._update(run._batches[0])
    for name, parameter in twin.named_parameters():
        gradient = parameter.grad * 0.05 / norm
        # Adam's first update: both means are corrected to the gradient and its square.
        expected = before[name] - 0.01 * gradient / (gradient.abs() + 1e-9)
        torch.testing.assert_close(weights(run.model)[name], expected, rtol=1e-3, atol=2e-5)
    total = torch.stack([p.grad.square().sum() for p in run.model.parameters()]).sum().sqrt()
    assert total.item() == pytest.approx(0.05, rel=1e-3)


def test_every_example_is_seen_once_an_epoch_in_ever_new_order() -> None:
    run = trainer(max_steps=15, validate_every=100)
    orders: list[list[int]] = [[], [], []]
    batches: list[list[list[int]]] = [run._batches]
    for epoch in range(3):
        for _ in range(len(run._batches)):
            orders[epoch] += run._batches[run.position]
            run._update(run._batches[run.position])
        batches.append(run._batches)
    assert all(sorted(order) == list(range(len(EXAMPLES))) for order in orders)
    assert orders[0] != orders[1] != orders[2] != orders[0]
    assert trainer()._batches == batches[0]
    assert (
        Trainer(
            small_model(),
            EXAMPLES,
            teacher_forcing_loss,
            validate,
            TrainingConfig(**QUICK | {"seed": 1}),
        )._batches
        not in batches
    )


def test_the_training_loss_in_the_history_is_the_mean_since_the_last_validation() -> None:
    run, losses = trainer(), []
    run.train(lambda progress: losses.append(progress.loss))
    assert [record["step"] for record in run.history] == [4, 8, 12, 13]
    means = [record["train_loss"] for record in run.history]
    parts = (losses[:4], losses[4:8], losses[8:12], losses[12:])
    assert means == pytest.approx([sum(part) / len(part) for part in parts])


def test_progress_counts_what_is_left() -> None:
    seen: list[Progress] = []
    run = trainer()
    run.train(seen.append)
    assert [progress.step for progress in seen] == list(range(1, 14))
    assert all(progress.tokens_per_second > 0 for progress in seen)
    assert seen[0].seconds_left > 0
    assert seen[-1].seconds_left == 0
    assert [p.valid_loss for p in seen[:4]] == [None] * 4
    assert seen[4].valid_loss == run.history[0]["loss"]


def test_validation_does_not_disturb_the_random_numbers() -> None:
    def greedy_for_randomness(model: Transformer) -> dict[str, float]:
        assert not model.training
        torch.rand(1000)
        return validate(model)

    often, seldom = trainer(validate_every=1), trainer(validate_every=13)
    often.evaluate = greedy_for_randomness
    often.train()
    torch.manual_seed(0)  # where the other trainer's stream began
    seldom.train()
    assert seldom.model.training
    assert_same_weights(weights(often.model), weights(seldom.model))


def test_any_loss_and_any_scores_will_do(tmp_path: Path) -> None:
    def distance(model: Transformer, src: Tensor, tgt: Tensor) -> Tensor:
        logits, labels = model(src, tgt[:, :-1]), tgt[:, 1:]
        one_hot = torch.nn.functional.one_hot(labels, logits.shape[-1])
        return (logits.softmax(-1) - one_hot).square().sum(-1).mean()

    def scores(model: Transformer) -> dict[str, float]:
        return {"loss": 1.0, "pieces": len(list(model.parameters()))}

    run = Trainer(small_model(), EXAMPLES, distance, scores, TrainingConfig(**QUICK), tmp_path)
    losses: list[float] = []
    assert run.train(lambda progress: losses.append(progress.loss)) == "finished"
    assert losses[-1] < losses[0]
    assert run.history[0]["pieces"] == len(list(run.model.parameters()))


@pytest.mark.parametrize("scores", [{}, {"bleu": 3.0}])
def test_a_validation_without_a_loss_is_refused(scores: dict[str, float]) -> None:
    run = trainer()
    run.evaluate = lambda _: scores
    with pytest.raises(ValueError, match=r"evaluate must give a 'loss', got .* at step 4"):
        run.train()


def test_a_validation_that_is_no_number_says_where_it_began_and_how_to_go_on(
    tmp_path: Path,
) -> None:
    run = trainer(tmp_path)
    run.evaluate = lambda _: {"loss": math.inf}
    said = r"validation gives {'loss': inf} at step 4, first in what evaluate computes: lower peak"
    with pytest.raises(DivergedError, match=said):
        run.train()
    run = trainer(tmp_path / "other")

    def spoil(module: Any, given: Any, output: Tensor) -> Tensor:
        return output if module.training or run.step < 8 else output * math.nan

    run.model.encoder_layers[0].feed_forward.register_forward_hook(spoil)
    said = (
        r"validation gives {'loss': nan} at step 8, first in encoder_layers\.0\.feed_forward: "
        r"lower peak_rate \(0\.01\); the weights of step-0000004 are kept"
    )
    with pytest.raises(DivergedError, match=said):
        run.train()


@pytest.mark.parametrize("kind", ["loss", "gradient"])
@pytest.mark.parametrize(
    ("schedule", "advice"),
    [
        ("cosine", r"lower peak_rate \(0\.01\)"),
        ("inverse_sqrt", r"raise warmup_steps \(3\) above 5"),
    ],
)
def test_a_loss_that_is_no_number_ends_training_before_the_weights_are_spoilt(
    tmp_path: Path, kind: str, schedule: str, advice: str
) -> None:
    def loss_fn(model: Transformer, src: Tensor, tgt: Tensor) -> Tensor:
        loss = teacher_forcing_loss(model, src, tgt)
        if run.step < 5:
            return loss
        return loss * math.nan if kind == "loss" else (loss - loss.detach()).sqrt()

    run = trainer(tmp_path, schedule=schedule)
    run.loss_fn = loss_fn
    examples = r"\(examples \d+, \d+, \d+, \d+, \d+, …\)"
    first = "the loss" if kind == "loss" else r"the gradient of \S+"
    with pytest.raises(
        DivergedError,
        match=rf"at step 6, batch \d+ of epoch \d+ {examples}, first in {first}: {advice}; the weights of "
        r"step-0000004 are kept$",
    ):
        run.train()
    assert all(weight.isfinite().all() for weight in run.model.parameters())
    assert [path.name for path in list_checkpoints(tmp_path)] == ["step-0000004.safetensors"]


@pytest.mark.parametrize("schedule", ["cosine", "inverse_sqrt"])
@pytest.mark.parametrize(("step", "warmup"), [(2, 9), (9, 9), (9, 4)])
def test_what_is_advised_against_a_divergence_lowers_the_rate(
    schedule: Any, step: int, warmup: int
) -> None:
    run = trainer(schedule=schedule, warmup_steps=warmup)
    run.step = step
    advice = run._lower_rate()
    before = run._rate(step + 1)
    if "peak_rate" in advice:
        run.config = replace(run.config, peak_rate=run.config.peak_rate / 4)
        assert run._rate(step + 1) < before
    if "warmup_steps" in advice:
        longer = trainer(schedule=schedule, warmup_steps=max(warmup, step) + 2)
        assert longer._rate(step + 1) < before
    assert "warmup_steps" in advice or step >= warmup
    assert f"above {step}" in advice or schedule == "cosine" or step < warmup


@pytest.mark.parametrize("accumulate", [1, 2])
def test_the_gradient_is_named_that_is_the_first_without_a_number(accumulate: int) -> None:
    run = trainer(accumulate=accumulate)

    def spoil(module: Any, above: Any, below: tuple[Tensor, ...]) -> tuple[Tensor, ...] | None:
        return None if run.step < 2 else tuple(gradient * math.nan for gradient in above)

    run.model.encoder_layers[0].feed_forward.register_full_backward_hook(spoil)
    with pytest.raises(DivergedError, match=r"at step 3, .*first in the gradient of ") as told:
        run.train()
    assert "encoder_layers.0.feed_forward" not in str(told.value)  # they are above
    assert "gradient of encoder_layers.0.residuals.1.norm" in str(told.value)
    assert not any(p._post_accumulate_grad_hooks for p in run.model.parameters())


def test_a_part_is_named_that_gives_several_tensors_or_packed_ones() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 3), nn.GRU(3, 3, batch_first=True))
    nn.init.constant_(model[1].weight_hh_l0, math.nan)
    assert first_not_finite(model, lambda: model(torch.ones(1, 4, 2))) == "1"
    packed = nn.utils.rnn.pack_padded_sequence(torch.ones(1, 4, 3), torch.tensor([4]), True)
    assert first_not_finite(model, lambda: model[1](packed)) == "1"


def test_a_failed_validation_leaves_the_model_in_training_mode() -> None:
    def fail(_: object) -> dict[str, float]:
        raise OSError("no file")

    run = trainer()
    run.evaluate = fail
    with pytest.raises(OSError, match="no file"):
        run.train()
    assert run.model.training


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_the_layer_is_named_that_gives_no_numbers(precision: str) -> None:
    run = trainer(precision=precision)
    layer = run.model.encoder_layers[0].feed_forward
    layer.register_forward_hook(lambda _m, _i, out: out * math.inf if run.step == 2 else None)
    with pytest.raises(
        DivergedError, match=r"at step 3, .*first in encoder_layers\.0\.feed_forward: "
    ):
        run.train()


def test_a_run_that_diverged_goes_on_more_gently_and_only_so(tmp_path: Path) -> None:
    trainer(tmp_path).train(ctrl_c_at(5))
    for wrong in ({"peak_rate": 0.02}, {"warmup_steps": 2}, {"clip_norm": 0.5}):
        with pytest.raises(CheckpointError, match=f"was trained with {next(iter(wrong))} = "):
            trainer(tmp_path, **wrong).resume()
    gentle = trainer(tmp_path, peak_rate=0.001, warmup_steps=7)
    gentle.resume()
    assert gentle.train() == "finished"
    last = gentle.history[-1]
    assert last["rate"] == cosine_rate(int(last["step"]), 0.001, 7, gentle.config.max_steps)


def test_bf16_trains_the_same_task_in_other_numbers() -> None:
    losses: dict[str, list[float]] = {"fp32": [], "bf16": []}
    kinds = set()

    def loss_fn(model: Transformer, src: Tensor, tgt: Tensor) -> Tensor:
        loss = teacher_forcing_loss(model, src, tgt)
        kinds.add(loss.dtype)
        return loss

    for precision, seen in losses.items():
        torch.manual_seed(0)
        run = trainer(precision=precision)
        for module in run.model.modules():
            if isinstance(module, nn.Dropout):
                module.p = 0.0  # it draws other numbers in mixed precision
        run.loss_fn = loss_fn
        run.train(lambda progress, seen=seen: seen.append(progress.loss))  # type: ignore[misc]
        assert {p.dtype for p in run.model.parameters()} == {torch.float32}
    assert kinds == {torch.float32}  # the loss is always computed in full precision
    assert losses["fp32"] != losses["bf16"]
    assert losses["bf16"] == pytest.approx(losses["fp32"], rel=0.05)


@pytest.mark.slow
def test_a_small_task_is_learned_completely() -> None:
    examples = reversals(longest=4)
    held_out = examples[30::10]
    train = [example for example in examples if example not in held_out]
    config = TrainingConfig(
        max_steps=700, max_tokens=400, peak_rate=5e-3, warmup_steps=30, validate_every=700
    )
    model = small_model()
    Trainer(model, train, teacher_forcing_loss, validate, config).train()
    src = collate(examples, range(len(examples))).src
    assert greedy(model.eval(), src, 8) == [[*target, 2] for _, target in examples]


def _alone(example: Example) -> Batch:
    return collate([example], [0])


# Other models, other data, other optimisers


class LanguageModel(nn.Module):
    """No encoder, no source: each token is predicted from the one before it."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.config = TransformerConfig(vocab_size=11, d_model=8, n_heads=2, max_len=16)
        self.embedding = nn.Embedding(11, 8)
        self.output = nn.Linear(8, 11)

    def forward(self, ids: Tensor) -> Tensor:
        logits: Tensor = self.output(self.embedding(ids))
        return logits


class Lines:
    """Texts without translations, two a batch."""

    def __init__(self, lines: list[list[int]]) -> None:
        self.lines, self.seeds = lines, []

    def epoch(self, seed: int | None = None) -> list[list[int]]:
        self.seeds.append(seed)
        order = list(range(len(self.lines)))
        if seed is not None:
            random.Random(seed).shuffle(order)
        return [order[i : i + 2] for i in range(0, len(order), 2)]

    def tensors(self, batch: Sequence[int]) -> tuple[Tensor, ...]:
        return (torch.tensor([self.lines[i] for i in batch]),)

    def n_predicted(self, batch: Sequence[int]) -> int:
        return sum(len(self.lines[i]) - 1 for i in batch)

    @property
    def digest(self) -> str:
        return str(self.lines)


def next_token_loss(model: LanguageModel, ids: Tensor) -> Tensor:
    return cross_entropy(model(ids[:, :-1]), ids[:, 1:])


LINES = [[1, *range(start, start + 4), 2] for start in range(3, 8)]


def language_trainer(folder: Path | None, lines: list[list[int]], **settings: Any) -> Trainer:
    def evaluate(model: LanguageModel) -> dict[str, float]:
        return {"loss": validation_loss(model, Lines(LINES[:2]), next_token_loss)}

    quick = {"max_steps": 90, "peak_rate": 0.05, "warmup_steps": 5, "validate_every": 30}
    config = TrainingConfig(**quick | settings)
    return Trainer(LanguageModel(), Lines(lines), next_token_loss, evaluate, config, folder)


def test_a_model_without_an_encoder_trains_on_batches_of_one_tensor(tmp_path: Path) -> None:
    progress: list[Progress] = []
    undisturbed = language_trainer(tmp_path / "a", LINES)
    assert undisturbed.train(progress.append) == "finished"
    assert undisturbed.data.seeds[:3] == [0, 1, 2]
    # A first token may be followed by any, and some lines end where others go on.
    assert undisturbed.history[-1]["loss"] < 0.7 < math.log(5) < progress[0].loss
    run = language_trainer(tmp_path / "b", LINES)
    run.train(ctrl_c_at(7))  # in the middle of an epoch
    again = language_trainer(tmp_path / "b", LINES)
    again.resume()
    assert again.train() == "finished"
    assert_same_weights(weights(again.model), weights(undisturbed.model))
    with pytest.raises(CheckpointError, match="trained on other examples"):
        language_trainer(tmp_path / "b", LINES[1:]).resume()


def test_the_pace_counts_predicted_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter(range(100))
    monkeypatch.setattr("time.perf_counter", lambda: float(next(seconds)))
    progress: list[Progress] = []
    language_trainer(None, LINES[:4], max_steps=3).train(progress.append)
    assert [p.tokens_per_second for p in progress] == [10.0, 10.0, 10.0]  # 2 lines of 5 a second
    assert [p.seconds_left for p in progress] == [2.0, 1.0, 0.0]


def test_batches_of_ones_own_have_a_size_of_their_own() -> None:
    message = r"max_tokens \(200\) is the size of batches of pairs; Lines brings batches of its own"
    with pytest.raises(ValueError, match=message):
        language_trainer(None, LINES, max_tokens=200)
    with pytest.raises(ValueError, match=message):
        validation_loss(LanguageModel(), Lines(LINES), next_token_loss, max_tokens=200)
    with pytest.raises(ValueError, match="examples has no batch in epoch 0"):
        language_trainer(None, [])
    with pytest.raises(ValueError, match="examples has no batch; there must be at least one"):
        validation_loss(LanguageModel(), Lines([]), next_token_loss)


def with_optimizer(kind: Any, folder: Path | None, **settings: Any) -> Trainer:
    model, config = small_model(), TrainingConfig(**QUICK)
    optimizer, loss = kind(model.parameters(), **settings), teacher_forcing_loss
    return Trainer(model, EXAMPLES, loss, validate, config, folder, optimizer=optimizer)


def test_another_optimizer_takes_the_rate_and_is_resumed(tmp_path: Path) -> None:
    rates: list[float] = []
    undisturbed = with_optimizer(torch.optim.SGD, tmp_path / "a", momentum=0.9)
    undisturbed.train(lambda _: rates.append(undisturbed.optimizer.param_groups[0]["lr"]))
    assert rates == pytest.approx([cosine_rate(step, 0.01, 3, 13) for step in range(1, 14)])
    with_optimizer(torch.optim.SGD, tmp_path / "b", momentum=0.9).train(ctrl_c_at(6))
    run = with_optimizer(torch.optim.SGD, tmp_path / "b", momentum=0.9)
    run.resume()
    run.train()
    assert_same_weights(weights(run.model), weights(undisturbed.model))
    adam = Trainer(
        small_model(), EXAMPLES, teacher_forcing_loss, validate, run.config, tmp_path / "b"
    )
    with pytest.raises(CheckpointError, match="trained with optimizer = SGD, not Adam"):
        adam.resume()
    forgetful = with_optimizer(torch.optim.SGD, tmp_path / "c")  # remembers nothing
    assert forgetful.train() == "finished"


def test_an_optimizer_must_belong_to_the_model() -> None:
    other = torch.optim.SGD(small_model(1).parameters(), lr=0.1)
    config = TrainingConfig(**QUICK)
    with pytest.raises(ValueError, match=r"optimizer \(SGD\) must hold parameters of the model"):
        Trainer(small_model(), EXAMPLES, teacher_forcing_loss, validate, config, optimizer=other)


@pytest.mark.parametrize("precision", ["fp32", "fp16"])
def test_what_the_optimizer_does_not_hold_counts_nothing(tmp_path: Path, precision: Any) -> None:
    """Neither in the norm, nor on resuming: as if it were frozen."""

    def run(folder: Path, frozen: bool = False) -> Trainer:
        model, config = small_model(), TrainingConfig(**QUICK, precision=precision)
        if frozen:
            model.encoder_layers.requires_grad_(False)
        optimizer = torch.optim.Adam(model.decoder_layers.parameters())
        loss = teacher_forcing_loss
        return Trainer(model, EXAMPLES, loss, validate, config, folder, optimizer=optimizer)

    norms: dict[bool, list[float]] = {True: [], False: []}
    for frozen, found in norms.items():
        whole = run(tmp_path / str(frozen), frozen)
        whole.train(lambda progress, found=found: found.append(progress.gradient_norm))  # type: ignore[misc]
    assert norms[True] == norms[False]
    run(tmp_path / "stopped").train(ctrl_c_at(6))
    resumed = run(tmp_path / "stopped")
    resumed.resume()
    resumed.train()
    assert_same_weights(weights(resumed.model), weights(whole.model))


def test_ready_made_batches_of_another_size_are_another_training(tmp_path: Path) -> None:
    def run(max_tokens: int) -> Trainer:
        data, config = PairBatches(EXAMPLES, max_tokens, 9), TrainingConfig(max_steps=9)
        return Trainer(small_model(), data, teacher_forcing_loss, validate, config, tmp_path)

    run(60).train(ctrl_c_at(3))
    with pytest.raises(CheckpointError, match="was trained with max_tokens = 60, not 120"):
        run(120).resume()
    run(60).resume()


def test_what_an_optimizer_remembers_must_be_tensors(tmp_path: Path) -> None:
    run = with_optimizer(torch.optim.LBFGS, tmp_path)
    parameter = next(run.model.parameters())
    run.optimizer.state[parameter]["n_iter"] = 3
    with pytest.raises(ValueError, match=r"optimizer \(LBFGS\) remembers 0.n_iter as int"):
        run.save()
    told = r"optimizer \(Adafactor\) remembers 0.row_var in another shape than its parameter's"
    with pytest.raises(ValueError, match=told):  # it couldn't be resumed
        with_optimizer(torch.optim.Adafactor, tmp_path / "other").train()


# Averaging and the final weights


def test_averaging_is_the_mean(tmp_path: Path) -> None:
    paths = [tmp_path / str(i) for i in range(3)]
    tensors = [torch.randn(2, 5) for _ in paths]
    for path, tensor in zip(paths, tensors, strict=True):
        save_tensors(path, {"model.a": tensor, "optimizer.0.step": torch.ones(1)}, {})
    mean = average_checkpoints(paths)
    assert mean.keys() == {"a"}
    torch.testing.assert_close(mean["a"], torch.stack(tensors).mean(0))
    with pytest.raises(ValueError, match="paths is empty"):
        average_checkpoints([])
    paths[1].write_bytes(b"")
    with pytest.raises(CheckpointError, match="1 is damaged"):
        average_checkpoints(paths)


@pytest.mark.parametrize(
    ("other", "problem"),
    [
        ({"a": (2, 5)}, r"b is \(5,\) and missing"),
        ({"a": (2, 5), "b": (5,), "c": (1,)}, r"c is missing and \(1,\)"),
        ({"a": (5,), "b": (5,)}, r"a is \(2, 5\) and \(5,\)"),
    ],
)
def test_two_models_have_no_average(
    tmp_path: Path, other: dict[str, tuple[int, ...]], problem: str
) -> None:
    for name, shapes in {"0": {"a": (2, 5), "b": (5,)}, "1": other}.items():
        save_tensors(tmp_path / name, {f"model.{n}": torch.ones(s) for n, s in shapes.items()}, {})
    with pytest.raises(ValueError, match=problem):
        average_checkpoints([tmp_path / "0", tmp_path / "1"])


@pytest.mark.parametrize("better", [True, False])
def test_finishing_takes_the_average_only_if_it_validates_better(
    tmp_path: Path, better: bool
) -> None:
    run = trainer(tmp_path, average=3)
    run.train()
    paths = [checkpoint_path(tmp_path, step) for step in (8, 12, 13)]
    mean = average_checkpoints(paths)
    best = min(run.history, key=lambda record: record["loss"])
    run.evaluate = lambda _: {"loss": best["loss"] + (-0.1 if better else 0.1)}
    assert run.finish() == ("average of 3" if better else f"step {int(best['step'])}")
    best_weights = average_checkpoints([checkpoint_path(tmp_path, int(best["step"]))])
    assert_same_weights(weights(run.model), mean if better else best_weights)
    assert not run.model.training


@pytest.mark.parametrize("average", [1, 3])
@pytest.mark.parametrize("better", [True, False])
def test_finishing_in_memory_gives_the_weights_that_a_folder_gives(
    tmp_path: Path, average: int, better: bool
) -> None:
    runs = [trainer(folder, average=average) for folder in (tmp_path, None)]
    finals = []
    for run in runs:
        torch.manual_seed(0)
        run.evaluate = size_of_weights  # it grows, so the last weights would be wrong
        run.train()
        best = run.history[0]["loss"]
        last = weights(run.model)
        run.evaluate = lambda _, best=best: {"loss": best + (-0.1 if better else 0.1)}  # type: ignore[misc]
        finals.append(run.finish())
    assert finals[0] == finals[1] == ("average of 3" if better and average == 3 else "step 4")
    assert_same_weights(*(weights(run.model) for run in runs))
    assert any(not torch.equal(last[name], w) for name, w in weights(runs[1].model).items())


def test_a_model_that_was_never_validated_keeps_its_weights() -> None:
    run = trainer()
    run.train(ctrl_c_at(2))
    before = weights(run.model)
    assert run.finish() == "step 2"
    assert_same_weights(weights(run.model), before)


def test_finishing_needs_one_of_the_checkpoints_that_were_validated(tmp_path: Path) -> None:
    run = trainer(tmp_path)
    run.train()
    for path in list_checkpoints(tmp_path):
        path.unlink()
    with pytest.raises(CheckpointError, match="has none of the checkpoints that it validated"):
        run.finish()


# Validation loss and wrong input


def test_the_validation_loss_is_the_mean_over_tokens() -> None:
    model = small_model().eval()
    total = 0.0
    for example in EXAMPLES:
        batch = _alone(example)
        log_probs = model(batch.src, batch.tgt[:, :-1]).log_softmax(-1)
        total -= log_probs.gather(-1, batch.tgt[:, 1:, None]).sum().item()
    count = sum(len(target) + 1 for _, target in EXAMPLES)
    for max_tokens in (20, 8192):
        loss = validation_loss(model, EXAMPLES, teacher_forcing_loss, max_tokens)
        assert loss == pytest.approx(total / count, rel=1e-5)


def test_the_validation_loss_keeps_no_graphs() -> None:
    wanted: list[bool] = []

    def loss_fn(model: Transformer, src: Tensor, tgt: Tensor) -> Tensor:
        loss = teacher_forcing_loss(model, src, tgt)
        wanted.append(loss.requires_grad)
        return loss

    validation_loss(small_model().eval(), EXAMPLES, loss_fn)
    assert wanted == [False]


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("max_steps", 0, "must be 1 or more"),
        ("max_tokens", 0, "must be 1 or more"),
        ("warmup_steps", 0, "must be 1 or more"),
        ("validate_every", -1, "must be 1 or more"),
        ("average", 0, "must be 1 or more"),
        ("patience", -1, "must be 0 or more"),
        ("seed", -3, "must be 0 or more"),
        ("max_steps", 1.5, "must be a whole number"),
        ("seed", True, "must be a whole number"),
        ("average", "5", "must be a whole number"),
        ("peak_rate", 0.0, "must be above 0 and finite"),
        ("peak_rate", math.nan, "must be above 0 and finite"),
        ("clip_norm", math.inf, "must be above 0 and finite"),
        ("schedule", "linear", "must be 'cosine' or 'inverse_sqrt'"),
        ("precision", "fp8", "must be 'fp32', 'bf16' or 'fp16'"),
    ],
)
def test_a_wrong_setting_is_named(field: str, value: object, rule: str) -> None:
    with pytest.raises(ValueError, match=rf"{field} \('?{value}'?\) {rule}"):
        TrainingConfig(**{field: value})


def test_a_peak_rate_beside_the_papers_schedule_is_refused() -> None:
    message = r"peak_rate \(0\.01\) must be left out with schedule 'inverse_sqrt'"
    with pytest.raises(ValueError, match=message):
        TrainingConfig(schedule="inverse_sqrt", peak_rate=0.01)
    assert TrainingConfig(schedule="inverse_sqrt").rate(1, 4) == inverse_sqrt_rate(1, 4, 400)


def test_examples_must_fit() -> None:
    config = TrainingConfig(max_tokens=10)
    for examples, message in (
        ([], "examples is empty"),
        ([([3], [3]), ([3] * 4, [3] * 4)], r"examples\[1\] fills 11 positions"),
        ([([3] * 70, [3])], r"examples\[0\] has length 71"),
    ):
        with pytest.raises(ValueError, match=message):
            Trainer(small_model(), examples, teacher_forcing_loss, validate, config)


def test_a_checkpoint_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(CheckpointError, match=r"step-0000004\.safetensors can't be written"):
        trainer(tmp_path / "file").train()
