"""Training (chapter 07): batches in, better weights out.

The trainer knows neither text nor any particular loss: it takes id pairs, a loss function, and a function that
evaluates the model.
"""

import hashlib
import json
import math
import signal
import threading
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor

from transformer_course.checkpoints import (
    CheckpointError,
    checkpoint_path,
    list_checkpoints,
    load_latest,
    load_tensors,
    save_tensors,
    write_atomically,
)
from transformer_course.corpus.batches import Batch, Example, collate, token_batches
from transformer_course.encoder_decoder import Transformer


def inverse_sqrt_rate(step: int, d_model: int, warmup_steps: int) -> float:
    r"""The paper's learning rate (§5.3, eq. 3): up in a line, then down with the root of the step.

    $d_{model}^{-0.5} \cdot \min(step^{-0.5},\; step \cdot warmup^{-1.5})$. Steps count from 1.

    >>> f"{inverse_sqrt_rate(4000, 512, 4000):.2e}"
    '6.99e-04'
    """
    return float(d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5))


def cosine_rate(step: int, peak_rate: float, warmup_steps: int, max_steps: int) -> float:
    """Up in a line to `peak_rate`, then down along half a cosine to 0 at `max_steps`. Steps count from 1.

    >>> [round(cosine_rate(step, 1.0, 10, 110), 2) for step in (5, 10, 60, 110)]
    [0.5, 1.0, 0.5, 0.0]
    """
    if step <= warmup_steps:
        return peak_rate * step / warmup_steps
    done = (step - warmup_steps) / max(1, max_steps - warmup_steps)
    return peak_rate * 0.5 * (1 + math.cos(math.pi * min(1.0, done)))


@dataclass(frozen=True)
class TrainingConfig:
    """How to train.

    Args:
        max_steps: updates of the weights.
        max_tokens: padded positions in a batch, source and target together.
        schedule: "cosine" (`cosine_rate`) or "inverse_sqrt" (`inverse_sqrt_rate`, the paper's).
        peak_rate: highest learning rate of the cosine; the paper's schedule sets its own.
        warmup_steps: updates until the learning rate is highest.
        clip_norm: the gradient's norm is cut to this (Pascanu et al. 2013).
        validate_every: updates between two validations; each writes a checkpoint.
        patience: stop after this many validations without a better loss; 0 = never.
        average: how many of the last checkpoints are averaged at the end; 1 = none.
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
        for name in ("max_steps", "max_tokens", "warmup_steps", "validate_every", "average"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} ({getattr(self, name)}) must be 1 or more")
        for name in ("patience", "seed"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} ({getattr(self, name)}) must be 0 or more")
        for name in ("peak_rate", "clip_norm"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} ({getattr(self, name)}) must be above 0")
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
        loss: the batch's loss.
        tokens_per_second: target tokens learned from, per second of this run.
        seconds_left: estimate of the time to the end.
    """

    step: int
    max_steps: int
    loss: float
    tokens_per_second: float
    seconds_left: float


LossFn = Callable[[Tensor, Tensor], Tensor]
Evaluate = Callable[[Transformer], dict[str, float]]
Outcome = Literal["finished", "stopped early", "interrupted"]


class Trainer:
    """Trains a Transformer, validates, writes checkpoints, and resumes to the last bit.

    Args:
        model: the model to train, in place.
        examples: pairs of id lists without special tokens.
        loss_fn: (logits (batch, tgt_len, vocab_size), labels (batch, tgt_len)) → one number.
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
        self.optimizer = torch.optim.Adam(model.parameters(), lr=0.0, betas=(0.9, 0.98), eps=1e-9)
        self.step = 0
        self.epoch = 0
        self.position = 0  # batches of this epoch that are done
        self.history: list[dict[str, float]] = []
        self._seconds = 0.0  # spent by earlier runs
        self._loss_sum = self._loss_count = 0.0  # since the last validation
        self._batches = self._batches_of(0)
        torch.manual_seed(config.seed)

    def train(self, report: Callable[[Progress], None] | None = None) -> Outcome:
        """Train until `max_steps`, until the loss has stopped falling, or until Ctrl-C.

        Ctrl-C ends the run after the update that is under way, and writes a checkpoint.

        Args:
            report: called after every update.

        Returns:
            "finished", "stopped early" or "interrupted".

        Raises:
            ValueError: if the loss is no longer a number.
        """
        started, tokens, first = time.perf_counter(), 0, self.step
        before = self._seconds
        self.model.train()
        with _catch_interrupt() as interrupted:
            while self.step < self.config.max_steps:
                batch = collate(self.examples, self._batches[self.position])
                loss = self._update(batch)
                tokens += batch.n_tgt_tokens - len(batch)
                seconds = time.perf_counter() - started
                self._seconds = before + seconds
                if report:
                    per_step = seconds / (self.step - first)
                    left = per_step * (self.config.max_steps - self.step)
                    report(Progress(self.step, self.config.max_steps, loss, tokens / seconds, left))
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
        device = next(self.model.parameters()).device
        src, tgt = batch.src.to(device), batch.tgt.to(device)
        rate = self._rate(self.step + 1)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.zero_grad(set_to_none=True)
        with self._autocast(device.type):
            loss = self.loss_fn(self.model(src, tgt[:, :-1]), tgt[:, 1:])
        if not math.isfinite(value := loss.item()):
            raise ValueError(
                f"loss is {value} at step {self.step + 1}: lower peak_rate ({self.config.peak_rate}) "
                f"or raise warmup_steps ({self.config.warmup_steps})"
            )
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config.clip_norm)
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

    def _autocast(self, device_type: str) -> Any:
        if self.config.precision == "fp32":
            return nullcontext()
        return torch.autocast(device_type, torch.bfloat16)

    def _batches_of(self, epoch: int) -> list[list[int]]:
        return token_batches(
            self.examples,
            self.config.max_tokens,
            seed=self.config.seed * 100_003 + epoch,
            max_len=self.model.config.max_len,
        )

    def _validate(self) -> None:
        """Add a record to the history. Dropout's random numbers go on as if nothing had happened."""
        self.model.eval()
        with torch.random.fork_rng(), torch.inference_mode():
            scores = self.evaluate(self.model)
        self.model.train()
        record = {
            "step": self.step,
            "seconds": round(self._seconds, 1),
            "rate": self._rate(self.step),
            "train_loss": self._loss_sum / max(1.0, self._loss_count),
        }
        self._loss_sum = self._loss_count = 0.0
        self.history.append(record | scores)

    def _out_of_patience(self) -> bool:
        losses = [record["loss"] for record in self.history]
        since_best = len(losses) - 1 - losses.index(min(losses))
        return 0 < self.config.patience <= since_best

    def save(self) -> None:
        """Write a checkpoint and the history; drop checkpoints that averaging won't need."""
        if self.folder is None:
            return
        state = self.optimizer.state_dict()["state"]
        tensors = {f"model.{name}": tensor for name, tensor in _weights(self.model).items()}
        for index, slots in state.items():
            tensors |= {f"optimizer.{index}.{name}": tensor for name, tensor in slots.items()}
        tensors["random.cpu"] = torch.get_rng_state()
        if torch.cuda.is_available():
            tensors["random.cuda"] = torch.cuda.get_rng_state()
        values = {
            "step": self.step,
            "epoch": self.epoch,
            "position": self.position,
            "seconds": self._seconds,
            "losses": [self._loss_sum, self._loss_count],
            "history": self.history,
            "training": asdict(self.config),
            "data": _digest(self.examples),
        }
        save_tensors(checkpoint_path(self.folder, self.step), tensors, values)
        history = json.dumps(self.history, indent=1) + "\n"
        write_atomically(self.folder / "history.json", history.encode())
        kept = {checkpoint_path(self.folder, step) for step in self._steps_to_keep()}
        for path in set(list_checkpoints(self.folder)) - kept:
            path.unlink()

    def _steps_to_keep(self) -> set[int]:
        """The newest step, the best one, and those that will be averaged (two at least, for safety)."""
        validated = [int(record["step"]) for record in self.history]
        return {self.step, *self._best_step(), *validated[-max(2, self.config.average) :]}

    def _best_step(self) -> list[int]:
        """The validated step with the lowest loss, if there is one yet."""
        best = min(self.history, key=lambda record: record["loss"], default=None)
        return [int(best["step"])] if best else []

    def resume(self, checkpoint: str | None = None) -> None:
        """Go back to where a checkpoint was written; training then goes on as if it had never stopped.

        Args:
            checkpoint: file name in the run's folder; the newest if left out.

        Raises:
            CheckpointError: if there is none, it is damaged, or it belongs to another model or to another way
                of training.
        """
        if self.folder is None:
            raise CheckpointError("a trainer without a folder has nothing to resume from")
        tensors, values = load_latest(self.folder, checkpoint)
        self._check_same_run(values)
        try:
            _load_weights(self.model, _with_prefix(tensors, "model."))
        except RuntimeError as error:
            raise CheckpointError(f"{self.folder}: the checkpoint is of another model") from error
        state = self.optimizer.state_dict()
        state["state"] = {}
        for name, tensor in _with_prefix(tensors, "optimizer.").items():
            index, slot = name.split(".", 1)
            state["state"].setdefault(int(index), {})[slot] = tensor
        self.optimizer.load_state_dict(state)
        torch.set_rng_state(tensors["random.cpu"])
        if "random.cuda" in tensors and torch.cuda.is_available():
            torch.cuda.set_rng_state(tensors["random.cuda"])
        self.step, self.epoch, self.position = values["step"], values["epoch"], values["position"]
        self._seconds, self.history = values["seconds"], values["history"]
        self._loss_sum, self._loss_count = values["losses"]
        self._batches = self._batches_of(self.epoch)

    def _check_same_run(self, values: dict[str, Any]) -> None:
        if values["data"] != _digest(self.examples):
            raise CheckpointError(f"{self.folder}: the checkpoint was trained on other examples")
        for field in fields(self.config):
            old, new = values["training"].get(field.name), getattr(self.config, field.name)
            if old != new:
                raise CheckpointError(
                    f"{self.folder}: the checkpoint was trained with {field.name} = {old}, not {new}"
                )

    def finish(self) -> str:
        """Give the model its final weights: the best checkpoint's, or the average's if that validates better.

        Returns:
            Which it is: "step N" or "average of K".
        """
        if self.folder is None or not self.history:
            return f"step {self.step}"
        best = self._best_step()[0]
        weights = average_checkpoints([checkpoint_path(self.folder, best)])
        steps = [int(record["step"]) for record in self.history[-self.config.average :]]
        if len(steps) > 1:
            _load_weights(
                self.model, average_checkpoints([checkpoint_path(self.folder, s) for s in steps])
            )
            self.model.eval()
            with torch.inference_mode():
                loss = self.evaluate(self.model)["loss"]
            if loss < min(record["loss"] for record in self.history):
                return f"average of {len(steps)}"
        _load_weights(self.model, weights)
        return f"step {best}"


def average_checkpoints(paths: Sequence[Path]) -> dict[str, Tensor]:
    """Mean of the weights in several checkpoints (Vaswani et al. 2017, §6.1, averages the last 5).

    Args:
        paths: checkpoint files of one run.

    Returns:
        Parameter name → mean tensor.

    Raises:
        ValueError: if there is no path, or a file is damaged.
    """
    if not paths:
        raise ValueError("paths is empty; there must be at least one checkpoint")
    total: dict[str, Tensor] = {}
    for path in paths:
        for name, tensor in _with_prefix(load_tensors(path)[0], "model.").items():
            total[name] = total[name] + tensor if name in total else tensor
    return {name: tensor / len(paths) for name, tensor in total.items()}


def validation_loss(
    model: Transformer, examples: Sequence[Example], loss_fn: LossFn, max_tokens: int = 8192
) -> float:
    """Mean loss per target token over held-out examples, in nats.

    Args:
        model: in evaluation mode.
        examples: pairs of id lists without special tokens.
        loss_fn: mean loss of a batch per token that isn't padding.
        max_tokens: padded positions in a batch.

    Returns:
        The mean over all tokens (not over batches).
    """
    device = next(model.parameters()).device
    total = count = 0.0
    for indices in token_batches(examples, max_tokens, max_len=model.config.max_len):
        batch = collate(examples, indices)
        tokens = batch.n_tgt_tokens - len(batch)
        tgt = batch.tgt.to(device)
        total += loss_fn(model(batch.src.to(device), tgt[:, :-1]), tgt[:, 1:]).item() * tokens
        count += tokens
    return total / count


def _digest(examples: Sequence[Example]) -> str:
    """A fingerprint of the training data, to notice when it changed between two runs."""
    state = hashlib.sha256()
    for source, target in examples:
        state.update(array("q", [len(source), *source, *target]).tobytes())
    return state.hexdigest()


def _weights(model: Transformer) -> dict[str, Tensor]:
    """Parameters by name; a tied matrix once."""
    return dict(model.named_parameters())


def _load_weights(model: Transformer, tensors: dict[str, Tensor]) -> None:
    """Put tensors into the parameters of the same names; all or none."""
    parameters = _weights(model)
    if {n: p.shape for n, p in parameters.items()} != {n: t.shape for n, t in tensors.items()}:
        raise RuntimeError("names or shapes of the weights differ")
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(tensors[name])


def _with_prefix(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {n.removeprefix(prefix): t for n, t in tensors.items() if n.startswith(prefix)}


@contextmanager
def _catch_interrupt() -> Iterator[threading.Event]:
    """Turn Ctrl-C into an event while the block runs; a second Ctrl-C stops at once."""
    interrupted = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield interrupted  # only the main thread may handle signals
        return
    previous = signal.getsignal(signal.SIGINT)

    def handle(_signal: int, _frame: object) -> None:
        interrupted.set()
        signal.signal(signal.SIGINT, previous)

    signal.signal(signal.SIGINT, handle)
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, previous)
