"""Training (chapter 07): batches in, better weights out.

The trainer knows neither text nor any particular loss: it takes id pairs, a loss function, and a function that
evaluates the model.
"""

import hashlib
import math
import time
from array import array
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor

from transformer_course.checkpoints import (
    CheckpointError,
    checkpoint_path,
    keep_only,
    load_checkpoint,
    load_optimizer,
    load_tensors,
    load_weights,
    optimizer_tensors,
    random_state,
    save_tensors,
    set_random_state,
    weights_of,
    with_prefix,
    write_json,
)
from transformer_course.corpus.batches import Batch, Example, collate, token_batches
from transformer_course.encoder_decoder import Transformer
from transformer_course.interrupts import catch_interrupt


def inverse_sqrt_rate(step: int, d_model: int, warmup_steps: int) -> float:
    r"""The paper's learning rate (Vaswani et al. 2017, §5.3, eq. 3): up in a line, then down.

    It is $d_{model}^{-0.5}$ times the smaller one of $step^{-0.5}$ and $step \cdot warmup^{-1.5}$: the fall is
    by the root of the step. Steps count from 1.

    Args:
        step: number of the update, 1 or more.
        d_model: width of the model, 1 or more.
        warmup_steps: updates until the rate is highest, 1 or more.

    Returns:
        The learning rate of this update.

    Raises:
        ValueError: if an argument is below 1.

    >>> f"{inverse_sqrt_rate(4000, 512, 4000):.2e}"
    '6.99e-04'
    """
    for name, value in (("step", step), ("d_model", d_model), ("warmup_steps", warmup_steps)):
        if value < 1:
            raise ValueError(f"{name} ({value}) must be 1 or more")
    return float(d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5))


def cosine_rate(step: int, peak_rate: float, warmup_steps: int, max_steps: int) -> float:
    """Up in a line to `peak_rate`, then down along half a cosine to 0 at `max_steps`. Steps count from 1.

    The fall is one cycle of the schedule of Loshchilov and Hutter 2017; the rise is added here.

    Args:
        step: number of the update, 1 or more; after `max_steps` the rate stays 0.
        peak_rate: the highest rate.
        warmup_steps: updates until the rate is highest, 0 or more.
        max_steps: updates in all; if no more than `warmup_steps`, the rate only rises until then.

    Returns:
        The learning rate of this update.

    Raises:
        ValueError: if `step` is below 1.

    >>> [round(cosine_rate(step, 1.0, 10, 110), 2) for step in (5, 10, 60, 110)]
    [0.5, 1.0, 0.5, 0.0]
    """
    if step < 1:
        raise ValueError(f"step ({step}) must be 1 or more")
    if step <= warmup_steps:
        return peak_rate * step / warmup_steps
    done = (step - warmup_steps) / max(1, max_steps - warmup_steps)
    return peak_rate * 0.5 * (1 + math.cos(math.pi * min(1.0, done)))


@dataclass(frozen=True)
class TrainingConfig:
    """How to train.

    Args:
        max_steps: updates of the weights.
        max_tokens: the most positions in a batch, padding included, source and target together.
        schedule: "cosine" (`cosine_rate`) or "inverse_sqrt" (`inverse_sqrt_rate`, the paper's).
        peak_rate: highest learning rate of the cosine; the paper's schedule sets its own.
        warmup_steps: updates until the learning rate is highest.
        clip_norm: the gradient's norm is cut to this (Pascanu et al. 2013).
        validate_every: updates between two validations; each writes a checkpoint.
        patience: stop after this many validations without a better loss; 0 = never.
        average: how many of the last checkpoints are averaged at the end (Vaswani et al. 2017, §6.1); 1 = none.
        precision: "fp32", or "bf16" for mixed precision where the processor has bf16 instructions.
        seed: decides dropout and the order of the batches.

    Raises:
        ValueError: naming the field, its value and the rule it breaks.
    """

    max_steps: int = 4000
    max_tokens: int = 4096
    schedule: Literal["cosine", "inverse_sqrt"] = "cosine"
    peak_rate: float = 2e-3
    warmup_steps: int = 400
    clip_norm: float = 1.0
    validate_every: int = 500
    patience: int = 0
    average: int = 1
    precision: Literal["fp32", "bf16"] = "fp32"
    seed: int = 0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.type is int and (not isinstance(value, int) or isinstance(value, bool)):
                raise ValueError(f"{field.name} ({value!r}) must be a whole number")
            least = 0 if field.name in ("patience", "seed") else 1
            if field.type is int and not least <= value < 2**63:
                raise ValueError(f"{field.name} ({value}) must be {least} or more, and below 2**63")
        for name in ("peak_rate", "clip_norm"):
            if not 0 < getattr(self, name) < math.inf:
                raise ValueError(f"{name} ({getattr(self, name)}) must be above 0 and finite")
        if self.schedule not in ("cosine", "inverse_sqrt"):
            raise ValueError(f"schedule ({self.schedule!r}) must be 'cosine' or 'inverse_sqrt'")
        if self.precision not in ("fp32", "bf16"):
            raise ValueError(f"precision ({self.precision!r}) must be 'fp32' or 'bf16'")


@dataclass(frozen=True)
class Progress:
    """Where a training run stands, told after every update.

    Args:
        step: updates so far.
        max_steps: updates in all.
        loss: the batch's loss, in nats per target token for the losses of chapter 08.
        valid_loss: the loss of the latest validation, in the same unit; None before the first.
        tokens_per_second: target tokens learned from, per second of this run.
        seconds_left: estimate of the time to the end, in seconds.
    """

    step: int
    max_steps: int
    loss: float
    valid_loss: float | None
    tokens_per_second: float
    seconds_left: float


LossFn = Callable[[Transformer, Tensor, Tensor], Tensor]
Evaluate = Callable[[Transformer], dict[str, float]]
Outcome = Literal["finished", "stopped early", "interrupted"]


class Trainer:
    """Trains a Transformer, validates, writes checkpoints, and resumes to the last bit.

    The optimiser is Adam (Kingma and Ba 2015) with the settings of Vaswani et al. 2017, §5.3.
    Setting one up sets torch's random seed. A resumed run gets the same weights as an undisturbed one where
    processor, number of threads and version of torch are the same.

    Args:
        model: the model to train, in place.
        examples: pairs of id lists without special tokens.
        loss_fn: (model, src (batch, src_len), tgt (batch, tgt_len)) → one number, the mean per predicted
            token; for example `transformer_course.loss.teacher_forcing_loss`.
        evaluate: gives at least "loss" on held-out data; lower is better.
        config: how to train.
        folder: where checkpoints and `history.json` go; None writes nothing.

    Raises:
        ValueError: if there are no examples, or one is too long for the model or for a batch.
    """

    def __init__(
        self,
        model: Transformer,
        examples: Sequence[Example],
        loss_fn: LossFn,
        evaluate: Evaluate,
        config: TrainingConfig,
        folder: Path | None = None,
    ) -> None:
        self.model, self.examples, self.loss_fn = model, examples, loss_fn
        self.evaluate, self.config, self.folder = evaluate, config, folder
        self.optimizer = torch.optim.Adam(
            model.parameters(), lr=0.0, betas=(0.9, 0.98), eps=1e-9, fused=True
        )
        self.step = 0
        self.epoch = 0
        self.position = 0  # batches of this epoch that are done
        self.history: list[dict[str, float]] = []
        self._seconds = 0.0  # spent so far, earlier runs included
        self._loss_sum, self._loss_count = 0.0, 0  # since the last validation
        self._batches = self._batches_of(0)
        # What must be the same on resuming; as JSON gives it back.
        self._same = {
            "training": asdict(config),
            "model": asdict(model.config),
            "examples": {"digest": _digest(examples)},
        }
        torch.manual_seed(config.seed)

    @property
    def device(self) -> torch.device:
        """Where the model computes."""
        return next(self.model.parameters()).device

    def train(self, report: Callable[[Progress], None] | None = None) -> Outcome:
        """Train until `max_steps`, until the loss has stopped falling, or until Ctrl-C.

        The first Ctrl-C ends the run after the update (and validation) under way and writes a checkpoint; a
        second one raises KeyboardInterrupt at once.

        Args:
            report: called after every update.

        Returns:
            "finished", "stopped early" or "interrupted".

        Raises:
            ValueError: if the loss or the gradient is no longer a number, `evaluate` gives no finite "loss", or
                an example holds the id of a special token.
            CheckpointError: if a checkpoint can't be written.
            KeyboardInterrupt: at a second Ctrl-C.
        """
        if self._out_of_patience():  # a run that had stopped early was resumed
            return "stopped early"
        started, tokens, first, before = time.perf_counter(), 0, self.step, self._seconds
        self.model.train()
        with catch_interrupt() as interrupted:
            while self.step < self.config.max_steps:
                batch = collate(self.examples, self._batches[self.position])
                loss = self._update(batch)
                tokens += batch.n_tgt_tokens - len(batch)
                seconds = time.perf_counter() - started
                self._seconds = before + seconds
                if report:
                    left = seconds / (self.step - first) * (self.config.max_steps - self.step)
                    report(self._progress(loss, tokens / seconds, left))
                done = self.step == self.config.max_steps
                if self.step % self.config.validate_every == 0 or done:
                    self._validate()
                    self.save()
                    if self._out_of_patience():
                        return "stopped early"
                elif interrupted.is_set():
                    self.save()
                if interrupted.is_set() and not done:
                    return "interrupted"
        return "finished"

    def _update(self, batch: Batch) -> float:
        """One update of the weights; returns the batch's loss."""
        src, tgt = batch.src.to(self.device), batch.tgt.to(self.device)
        for group in self.optimizer.param_groups:
            group["lr"] = self._rate(self.step + 1)
        self.optimizer.zero_grad(set_to_none=True)
        with self._autocast():
            loss = self.loss_fn(self.model, src, tgt)
        loss.backward()  # type: ignore[no-untyped-call]
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config.clip_norm)
        value = loss.item()
        if not (math.isfinite(value) and math.isfinite(norm.item())):
            raise ValueError(
                f"loss is {value} and the gradient's norm {norm.item()} at step {self.step + 1}: lower "
                f"peak_rate ({self.config.peak_rate}) or raise warmup_steps ({self.config.warmup_steps})"
            )
        self.optimizer.step()
        self.step += 1
        self._loss_sum, self._loss_count = self._loss_sum + value, self._loss_count + 1
        self.position += 1
        if self.position == len(self._batches):
            self.epoch, self.position = self.epoch + 1, 0
            self._batches = self._batches_of(self.epoch)
        return value

    def _rate(self, step: int) -> float:
        c = self.config
        if c.schedule == "inverse_sqrt":
            return inverse_sqrt_rate(step, self.model.config.d_model, c.warmup_steps)
        return cosine_rate(step, c.peak_rate, c.warmup_steps, c.max_steps)

    def _autocast(self) -> AbstractContextManager[Any]:
        if self.config.precision == "fp32":
            return nullcontext()
        return torch.autocast(self.device.type, torch.bfloat16)

    def _batches_of(self, epoch: int) -> list[list[int]]:
        return token_batches(
            self.examples,
            self.config.max_tokens,
            seed=self.config.seed * 100_003 + epoch,
            max_len=self.model.config.max_len,
        )

    def _progress(self, loss: float, tokens_per_second: float, seconds_left: float) -> Progress:
        valid_loss = self.history[-1]["loss"] if self.history else None
        steps = self.config.max_steps
        return Progress(self.step, steps, loss, valid_loss, tokens_per_second, seconds_left)

    def _validate(self) -> None:
        """Add a record to the history."""
        record = {
            "step": self.step,
            "seconds": round(self._seconds, 1),
            "rate": self._rate(self.step),
            "train_loss": self._loss_sum / max(1, self._loss_count),
        }
        self.history.append(record | self._evaluated())
        self._loss_sum, self._loss_count = 0.0, 0

    def _evaluated(self) -> dict[str, float]:
        """What `evaluate` says. Dropout's random numbers go on as if nothing had happened."""
        was_training = self.model.training
        self.model.eval()
        cards = [self.device] if self.device.type == "cuda" else []
        with torch.random.fork_rng(devices=cards), torch.inference_mode():
            scores = {name: float(score) for name, score in self.evaluate(self.model).items()}
        self.model.train(was_training)
        if not math.isfinite(scores.get("loss", math.nan)):
            raise ValueError(
                f"evaluate must give a finite 'loss', got {scores} at step {self.step}"
            )
        return scores

    def _out_of_patience(self) -> bool:
        losses = [record["loss"] for record in self.history]
        since_best = len(losses) - 1 - losses.index(min(losses)) if losses else 0
        return 0 < self.config.patience <= since_best

    def save(self) -> None:
        """Write a checkpoint and the history; drop checkpoints that won't be needed any more.

        Without a folder it does nothing.

        Raises:
            CheckpointError: if a file can't be written.
            OSError: if a checkpoint can't be deleted.
        """
        if self.folder is None:
            return
        tensors = {
            "model.": weights_of(self.model),
            "optimizer.": optimizer_tensors(self.optimizer),
            "random.": random_state(self.device),
        }
        values = self._same | {
            "step": self.step,
            "epoch": self.epoch,
            "position": self.position,
            "seconds": self._seconds,
            "loss_sum": self._loss_sum,
            "loss_count": self._loss_count,
            "history": self.history,
        }
        flat = {prefix + n: t for prefix, named in tensors.items() for n, t in named.items()}
        save_tensors(checkpoint_path(self.folder, self.step), flat, values)
        write_json(self.folder / "history.json", self.history)
        # What finishing needs now, and what it would need after going back by one checkpoint.
        needed = self._best_and_last(self.history) | self._best_and_last(self.history[:-1])
        keep_only(self.folder, {self.step} | needed)

    def _best_and_last(self, history: list[dict[str, float]]) -> set[int]:
        """The step with the lowest loss, and those to be averaged."""
        best = [min(history, key=lambda record: record["loss"])] if history else []
        return {int(record["step"]) for record in best + history[-self.config.average :]}

    def resume(self, checkpoint: str | None = None) -> None:
        """Go back to where a checkpoint was written; training then goes on as if it had never stopped.

        Args:
            checkpoint: file name in the run's folder; the newest if left out.

        Raises:
            CheckpointError: if the trainer has no folder, there is no checkpoint, it is damaged, or it belongs
                to another model, to other examples or to another way of training.
        """
        if self.folder is None:
            raise CheckpointError("a trainer without a folder has nothing to resume from")
        tensors, values = load_checkpoint(self.folder, checkpoint)
        self._check_same_run(values)
        load_weights(self.model, with_prefix(tensors, "model."))
        load_optimizer(self.optimizer, with_prefix(tensors, "optimizer."))
        set_random_state(with_prefix(tensors, "random."), self.device)
        self.step, self.epoch, self.position = values["step"], values["epoch"], values["position"]
        self._seconds, self.history = values["seconds"], values["history"]
        self._loss_sum, self._loss_count = values["loss_sum"], values["loss_count"]
        self._batches = self._batches_of(self.epoch)

    def _check_same_run(self, values: dict[str, Any]) -> None:
        for part, settings in self._same.items():
            for name, new in settings.items():
                if part not in values:
                    raise CheckpointError(f"{self.folder}: the file is not a training checkpoint")
                old = values[part].get(name)
                if old != new and part == "examples":
                    raise CheckpointError(
                        f"{self.folder}: the checkpoint was trained on other examples"
                    )
                if old != new:
                    raise CheckpointError(
                        f"{self.folder}: the checkpoint was trained with {name} = {old}, not {new}"
                    )

    def finish(self) -> str:
        """Give the model its final weights: the best checkpoint's, or the average's if that validates better.

        The model is then in evaluation mode. The average is that of `average_checkpoints`; the paper takes it
        in any case (Vaswani et al. 2017, §6.1).

        Returns:
            Which weights it has now, "step N" or "average of K".

        Raises:
            CheckpointError: if a checkpoint is damaged.
            ValueError: if none of the history's checkpoints is left, or `evaluate` gives no finite "loss".
        """
        self.model.eval()
        if self.folder is None or not self.history:
            return f"step {self.step}"
        paths = [checkpoint_path(self.folder, int(record["step"])) for record in self.history]
        # After going back by several checkpoints some of the earlier ones may be gone.
        losses = {p: r["loss"] for p, r in zip(paths, self.history, strict=True) if p.exists()}
        best = min(losses, key=lambda path: losses[path])
        best_weights = average_checkpoints([best])
        last = list(losses)[-self.config.average :]
        if len(last) > 1:
            load_weights(self.model, average_checkpoints(last))
            if self._evaluated()["loss"] < losses[best]:
                return f"average of {len(last)}"
        load_weights(self.model, best_weights)
        return f"step {int(self.history[paths.index(best)]['step'])}"


def average_checkpoints(paths: Sequence[Path]) -> dict[str, Tensor]:
    """Mean of the weights in several checkpoints (Vaswani et al. 2017, §6.1, averages the last 5).

    Args:
        paths: checkpoint files of one run.

    Returns:
        Parameter name → mean tensor.

    Raises:
        ValueError: if there is no path.
        CheckpointError: if a file is missing or damaged.
    """
    if not paths:
        raise ValueError("paths is empty; there must be at least one checkpoint")
    total: dict[str, Tensor] = {}
    for path in paths:
        for name, tensor in with_prefix(load_tensors(path)[0], "model.").items():
            total[name] = total[name] + tensor if name in total else tensor
    return {name: tensor / len(paths) for name, tensor in total.items()}


def validation_loss(
    model: Transformer, examples: Sequence[Example], loss_fn: LossFn, max_tokens: int = 8192
) -> float:
    """Mean loss per target token over held-out examples, in nats.

    Args:
        model: in evaluation mode.
        examples: pairs of id lists without special tokens.
        loss_fn: as for `Trainer`.
        max_tokens: the most positions in a batch, padding included, source and target together.

    Returns:
        The mean over all tokens, </s> included (not over batches).

    Raises:
        ValueError: if there are no examples, one is too long for the model or for a batch, or one holds the id
            of a special token.
    """
    device = next(model.parameters()).device
    total = count = 0.0
    for indices in token_batches(examples, max_tokens, max_len=model.config.max_len):
        batch = collate(examples, indices)
        tokens = batch.n_tgt_tokens - len(batch)
        total += loss_fn(model, batch.src.to(device), batch.tgt.to(device)).item() * tokens
        count += tokens
    return total / count


def _digest(examples: Sequence[Example]) -> str:
    """A fingerprint of the training data, to notice when it changed between two runs."""
    state = hashlib.sha256()
    for source, target in examples:
        state.update(array("q", [len(source), *source, *target]).tobytes())
    return state.hexdigest()
