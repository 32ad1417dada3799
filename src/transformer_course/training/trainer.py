"""The trainer (chapter 07): one update after the other, with validation, checkpoints and exact resume."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any, Literal

import torch
from torch import Tensor

from transformer_course import forks  # noqa: F401 - children of a fork compute on one thread
from transformer_course.checkpoints import (
    CheckpointError,
    checkpoint_path,
    gathered,
    keep_only,
    list_checkpoints,
    load_checkpoint,
    load_optimizer,
    load_weights,
    optimizer_tensors,
    random_state,
    save_tensors,
    set_random_state,
    weights_of,
    whole,
    with_prefix,
    write_json,
)
from transformer_course.corpus.batches import Example
from transformer_course.interrupts import catch_interrupt
from transformer_course.training.batches import (
    Batches,
    Evaluate,
    LossFn,
    PairBatches,
    Trainable,
    as_batches,
)
from transformer_course.training.config import TrainingConfig
from transformer_course.training.diverging import DivergedError, first_not_finite
from transformer_course.training.final import History, KeptWeights, best_and_last
from transformer_course.training.gradients import Gradients
from transformer_course.training.optimizers import adam, check_optimizer
from transformer_course.training.processes import ALONE, Processes
from transformer_course.training.progress import Clock, Progress
from transformer_course.training.resuming import (
    VERSION,
    check_place,
    check_same_run,
    checked_values,
    same_run,
)
from transformer_course.training.sharding import loss_of
from transformer_course.training.telling import (
    Spikes,
    tell,
    tell_of_history,
    tell_of_missing,
)

Outcome = Literal["finished", "stopped early", "interrupted"]


class Trainer:
    """Trains a model, validates, writes checkpoints, and resumes to the last bit.

    The optimiser is Adam (Kingma and Ba 2015) with the settings of Vaswani et al. 2017, §5.3, if no other one
    is given. Setting a trainer up sets torch's random seed. A resumed run gets the same weights as an
    undisturbed one where processor, number of threads and version of torch are the same.

    Args:
        model: the model to train, in place: a Transformer, or another module with a config (`Trainable`).
        examples: pairs of id lists without special tokens, or other data that offers `Batches`.
        loss_fn: (model, the tensors of a batch) → one number, the mean per predicted token; for pairs the
            tensors are src (batch, src_len) and tgt (batch, tgt_len), as for
            `transformer_course.loss.teacher_forcing_loss`.
        evaluate: gives at least "loss" on held-out data; lower is better.
        config: how to train.
        folder: where checkpoints and `history.json` go; None writes nothing.
        optimizer: updates the model's parameters; `config` sets its learning rate before every update.
        held_out: the data that `evaluate` uses, if a run shall not be resumed with another.
        processes: those that train together (`training.processes`). Each makes a trainer of its own, with the
            same arguments and the same folder; the first one writes, and `evaluate` must give the same on all.

    Raises:
        ValueError: if there are no examples, one is too long for the model or for a batch, `config` sets the
            size of batches that bring their own, or the optimiser holds no parameter or another model's.
    """

    def __init__(
        self,
        model: Trainable,
        examples: Sequence[Example] | Batches,
        loss_fn: LossFn,
        evaluate: Evaluate,
        config: TrainingConfig,
        folder: Path | None = None,
        *,
        optimizer: torch.optim.Optimizer | None = None,
        held_out: Sequence[Example] | Batches | None = None,
        processes: Processes = ALONE,
    ) -> None:
        self.model, self.loss_fn, self.evaluate = model, loss_fn, evaluate
        self.config, self.folder, self.processes = config, folder, processes
        max_len, default = model.config.max_len, TrainingConfig.max_tokens
        self.data = as_batches(examples, config.max_tokens, max_len, default)
        self.optimizer = optimizer or adam(model)
        check_optimizer(self.optimizer, model)
        self._gradients = Gradients(model, self.data, self._loss, config, processes)
        self.step = 0
        self.epoch = 0
        self.position = 0  # batches of this epoch that are done
        self.history: History = []
        self._seconds = 0.0  # spent so far, earlier runs included
        self._loss_sum, self._loss_count = 0.0, 0  # since the last validation
        self._spikes = Spikes()
        self._norm = 0.0  # of the last gradient
        self._batches = self._batches_of(0)
        self._kept = KeptWeights(folder)
        held = None if held_out is None else as_batches(held_out, default, max_len, default)
        kind = type(self.optimizer).__name__
        own_size = getattr(self.data, "max_tokens", config.max_tokens)
        recorded = replace(config, max_tokens=own_size)
        self._same = same_run(recorded, model.config, kind, self.data, held)
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
            DivergedError: if the loss or the gradient is no longer a number (the update is not made), or that
                of the validation.
            ValueError: if `evaluate` gives no "loss", an example holds the id of a special token, or the
                processes don't train the same.
            CheckpointError: if a checkpoint can't be written.
            LostProcessError: if another process has ended.
            KeyboardInterrupt: at a second Ctrl-C.
        """
        self._check_same_everywhere()
        if self._out_of_patience():  # a run that had stopped early was resumed
            return "stopped early"
        clock, before = Clock(self.step), self._seconds
        self.model.train()
        with catch_interrupt() as interrupted:
            while self.step < self.config.max_steps:
                batch = self._batches[self.position]
                loss = self._update(batch)
                clock.tick(self.data.n_predicted(batch))
                self._seconds = before + clock.seconds
                if report:
                    report(self._progress(loss, clock))
                if outcome := self._after_update(interrupted):
                    break
            else:
                outcome = "finished"
        self.processes.wait()  # the first one's files are there
        return outcome

    def _loss(self, *inputs: Any) -> Tensor:
        """What `loss_fn` says now: it may be another one than at the start."""
        return self.loss_fn(*inputs)

    def _check_same_everywhere(self) -> None:
        """Refuse what differs from the first process: other data there, other settings, another checkpoint."""
        mine = self._same | {"step": self.step, "epoch": self.epoch, "position": self.position}
        theirs = json.loads(self.processes.share(json.dumps(mine)))
        for part, value in mine.items():
            if theirs[part] != value:
                raise ValueError(
                    f"process {self.processes.rank} has other values than process 0: {part} is {value}, not "
                    f"{theirs[part]}"
                )

    def _update(self, batch: Sequence[int]) -> float:
        """One update of the weights; returns the batch's loss."""
        for group in self.optimizer.param_groups:
            group["lr"] = self._rate(self.step + 1)
        self.model.zero_grad(set_to_none=True)
        self.processes.draw_anew(self.config.seed, self.step)
        loss = self._gradients.compute(self.optimizer, batch)
        value = self._checked(loss, self._gradients.clip(self.optimizer))
        self._gradients.update(self.optimizer)
        self._count(value)
        return value

    def _watch(self, loss: float) -> None:
        """Tell of a loss that has jumped; its update is made, and training goes on."""
        before = self._spikes.above(loss)
        if before is not None:
            tell(
                f"the loss jumped to {loss:.2f} at {self._where()}; before, it was about {before:.2f}. "
                f"If it stays there: {self._lower_rate()}"
            )

    def _checked(self, of_batch: Tensor, of_gradient: Tensor) -> float:
        """The loss as a number; stops before the weights are spoilt. Waits for the device once, not twice."""
        loss, norm = torch.stack([of_batch.to(of_gradient.dtype), of_gradient]).tolist()
        self._norm = norm
        if math.isfinite(loss) and (math.isfinite(norm) or self._gradients.may_overflow()):
            return float(loss)
        raise DivergedError(
            f"loss is {loss} and the gradient's norm {norm} at {self._where()}, "
            f"first in {self._where_it_began(loss)}: {self._gentler()}"
        )

    def _gentler(self) -> str:
        """What to do against numbers that are none, and what is kept."""
        saved = list_checkpoints(self.folder) if self.folder else []
        last = f"; the weights of {saved[-1].stem} are kept" if saved else ""
        return f"{self._lower_rate()}{last}"

    def _lower_rate(self) -> str:
        """What makes the learning rate lower from here on: later, a longer warm-up may make a cosine higher."""
        c = self.config
        ways = [f"lower peak_rate ({c.peak_rate})"] if c.schedule == "cosine" else []
        if self.step < c.warmup_steps:
            ways.append(f"raise warmup_steps ({c.warmup_steps})")
        elif not ways:
            ways.append(f"raise warmup_steps ({c.warmup_steps}) above {self.step}")
        return " or ".join(ways)

    def _where(self) -> str:
        """The update under way, and members of its batch."""
        batch = self._batches[self.position]
        members = ", ".join(map(str, batch[:5])) + (", …" if len(batch) > 5 else "")
        place = f"batch {self.position + 1} of epoch {self.epoch + 1}"
        return f"step {self.step + 1}, {place} (examples {members})"

    def _where_it_began(self, loss: float) -> str:
        """What computed the first number that is none; its update was not made."""
        name = ""
        parts = [p for p in self._gradients.parts(self._batches[self.position]) if p]
        for part in parts:
            name = name or self._first_not_finite(self._gradients.tensors(part))
        if name or not math.isfinite(loss):
            return name or "the loss"
        for part in parts:
            name = name or self._first_gradient_not_finite(self._gradients.tensors(part))
        return f"the gradient of {name}" if name else "the gradient"

    def _first_not_finite(self, tensors: Sequence[Tensor]) -> str:
        with self._gradients.autocast(), torch.no_grad():
            return first_not_finite(self.model, lambda: loss_of(self.model, self.loss_fn, *tensors))

    def _first_gradient_not_finite(self, tensors: Sequence[Tensor]) -> str:
        """Whose gradient was the first, on the way back. Once more, since clipping spreads it over all."""
        found: list[str] = []

        def look(name: str, parameter: Tensor) -> None:
            if not found and not bool(whole(parameter.grad).isfinite().all()):  # type: ignore[arg-type]
                found.append(name)

        self.model.zero_grad(set_to_none=True)
        hooks = [
            parameter.register_post_accumulate_grad_hook(partial(look, name))  # type: ignore[no-untyped-call]
            for name, parameter in self.model.named_parameters()
        ]
        with self._gradients.autocast():
            loss = loss_of(self.model, self.loss_fn, *tensors)
        loss.backward()  # type: ignore[no-untyped-call]
        for hook in hooks:
            hook.remove()
        return found[0] if found else ""

    def _count(self, loss: float) -> None:
        """One step further; at the end of an epoch to the next one. A loss that has jumped is told of."""
        self._watch(loss)
        self.step += 1
        self._loss_sum, self._loss_count = self._loss_sum + loss, self._loss_count + 1
        self.position += 1
        if self.position == len(self._batches):
            self.epoch, self.position = self.epoch + 1, 0
            self._batches = self._batches_of(self.epoch)

    def _rate(self, step: int) -> float:
        return self.config.rate(step, self.model.config.d_model)

    def _batches_of(self, epoch: int) -> Sequence[Sequence[int]]:
        batches = self.data.epoch(self.config.seed * 100_003 + epoch)
        if not batches:
            raise ValueError(f"examples has no batch in epoch {epoch}; there must be at least one")
        return batches

    def _progress(self, loss: float, clock: Clock) -> Progress:
        valid_loss = self.history[-1]["loss"] if self.history else None
        steps = self.config.max_steps
        left = clock.seconds_left(self.step, steps)
        pace, rate = clock.tokens_per_second, self._rate(self.step)
        return Progress(self.step, steps, loss, valid_loss, pace, left, rate, self._norm)

    def _after_update(self, interrupted: Event) -> Outcome | None:
        """Validate and save when it is time to; says how training ends, if it does."""
        done = self.step == self.config.max_steps
        if self.step % self.config.validate_every == 0 or done:
            self._validate()
            self.save()
            if self._out_of_patience():
                return "stopped early"
            stop = self._somebody(interrupted)
        else:
            stop = self._somebody(interrupted)
            if stop:
                self.save()
        return "interrupted" if stop and not done else None

    def _somebody(self, interrupted: Event) -> bool:
        """Whether any process shall stop; all hear of it after the same update."""
        return bool(self.processes.sums(interrupted.is_set())[0])

    def _validate(self) -> None:
        """Add a record to the history."""
        record = {
            "step": self.step,
            "seconds": round(self._seconds, 1),
            "rate": self._rate(self.step),
            "train_loss": self._loss_sum / max(1, self._loss_count),
        }
        if self._spikes.count:
            record["spikes"] = self._spikes.count
        self.history.append(record | self._evaluated())
        self._loss_sum, self._loss_count, self._spikes.count = 0.0, 0, 0

    def _evaluated(self) -> dict[str, float]:
        """What `evaluate` says. Dropout's random numbers go on as if nothing had happened."""
        was_training = self.model.training
        self.model.eval()
        state = random_state(self.device)
        began = ""
        try:
            with torch.no_grad():  # what is gathered in inference mode can't be trained any more
                scores = {name: float(score) for name, score in self.evaluate(self.model).items()}
                if not math.isfinite(scores.get("loss", 0.0)):
                    began = first_not_finite(self.model, lambda: self.evaluate(self.model))
        finally:
            set_random_state(state, self.device)
            self.model.train(was_training)
        if "loss" not in scores:
            raise ValueError(f"evaluate must give a 'loss', got {scores} at step {self.step}")
        if not math.isfinite(scores["loss"]):
            raise DivergedError(
                f"validation gives {scores} at step {self.step}, "
                f"first in {began or 'what evaluate computes'}: {self._gentler()}"
            )
        return scores

    def _out_of_patience(self) -> bool:
        losses = [record["loss"] for record in self.history]
        since_best = len(losses) - 1 - losses.index(min(losses)) if losses else 0
        return 0 < self.config.patience <= since_best

    def save(self) -> None:
        """Write a checkpoint and the history; drop checkpoints that won't be needed any more.

        Without a folder it keeps in memory what `finish` may need. Of several processes, the first one writes.

        Raises:
            CheckpointError: if a file can't be written.
            OSError: if a checkpoint can't be deleted.
            ValueError: if the optimiser remembers something that is no tensor.
        """
        # What finishing needs now, and what it would need after going back by one checkpoint.
        needed = best_and_last(self.history, self.config.average)
        if self.folder is None:
            self._kept.keep(self.step, self.model, needed)
            return
        tensors = {
            "model.": weights_of(self.model),
            "optimizer.": optimizer_tensors(self.optimizer),
            "random.": random_state(self.device),
        }
        flat = {prefix + n: t for prefix, named in tensors.items() for n, t in named.items()}
        flat = gathered(flat, keep=self.processes.first)
        if not self.processes.first:
            return
        values = self._values() | {"remembered": len(tensors["optimizer."])}
        save_tensors(checkpoint_path(self.folder, self.step), flat, values)
        write_json(self.folder / "history.json", self.history)
        needed |= best_and_last(self.history[:-1], self.config.average)
        keep_only(self.folder, {self.step} | needed)

    def _values(self) -> dict[str, Any]:
        return self._same | {
            "version": VERSION,
            "step": self.step,
            "epoch": self.epoch,
            "position": self.position,
            "seconds": self._seconds,
            "loss_sum": self._loss_sum,
            "loss_count": self._loss_count,
            "recent": self._spikes.recent,
            "spikes": self._spikes.count,
            "history": self.history,
            "scaler": self._gradients.state(),
        }

    def resume(self, checkpoint: str | None = None) -> None:
        """Go back to where a checkpoint was written; training then goes on as if it had never stopped.

        With a lower `peak_rate` or more `warmup_steps` a run that has diverged goes on more gently; with more
        `patience`, or 0, one that has stopped early goes on. With more `max_steps` than the checkpoint was
        trained with, it is made longer. The learning rate of each further update is the one that `config` gives
        for its step. So the warm-up is not repeated; a cosine, which has come down, jumps up to where that of
        the longer run is.

        Args:
            checkpoint: file name in the run's folder; the newest if left out.

        Raises:
            CheckpointError: if the trainer has no folder, there is no checkpoint, it is damaged, or it belongs
                to another model, to other examples or to another way of training; or if the run shall be made
                longer and has stopped early, without more `patience`.
            ValueError: if the data has no batch in the checkpoint's epoch.
        """
        if self.folder is None:
            raise CheckpointError("a trainer without a folder has nothing to resume from")
        tensors, values = load_checkpoint(self.folder, checkpoint)
        values = checked_values(self.folder, values)
        check_same_run(self.folder, values, self._same, self.model.config)
        tell_of_history(self.folder, values["history"], newest=checkpoint is None)
        batches = self._batches_of(values["epoch"])
        check_place(self.folder, values, len(batches), alike=isinstance(self.data, PairBatches))
        load_weights(self.model, with_prefix(tensors, "model."))
        memory = with_prefix(tensors, "optimizer.")
        load_optimizer(self.optimizer, memory, values["remembered"])
        set_random_state(with_prefix(tensors, "random."), self.device)
        self._gradients.load_state(values["scaler"])
        self.step, self.epoch, self.position = values["step"], values["epoch"], values["position"]
        self._seconds, self.history = values["seconds"], values["history"]
        self._loss_sum, self._loss_count = values["loss_sum"], values["loss_count"]
        self._spikes = Spikes(values["recent"], values["spikes"])
        self._batches = batches
        steps, patience = self.config.max_steps, self.config.patience
        if steps > values["training"].get("max_steps", steps) and self._out_of_patience():
            raise CheckpointError(
                f"{self.folder} stopped early at step {self.step}, after {patience} validations "
                f"without a better loss: max_steps ({steps}) alone can't make it longer, it needs more patience"
            )

    def finish(self) -> str:
        """Give the model its final weights: the best validation's, or the average's if that validates better.

        The model is then in evaluation mode. The average is that of `average_checkpoints`; the paper takes it
        in any case (Vaswani et al. 2017, §6.1). A model that was never validated keeps the weights it has.

        A checkpoint that this needs and that is missing is told of by a `TrainingWarning`.

        Returns:
            Which weights it has now, "step N" or "average of K".

        Raises:
            CheckpointError: if a checkpoint is damaged, or none of the history's is left.
            DivergedError: if the loss of the averaged weights is no number.
            LostProcessError: if another process has ended.
            ValueError: if `evaluate` gives no "loss".
        """
        self.model.eval()
        if not self.history:
            return f"step {self.step}"
        every = {int(record["step"]): record["loss"] for record in self.history}
        losses = {step: loss for step, loss in every.items() if self._kept.has(step)}
        if not losses:
            raise CheckpointError(f"{self.folder} has none of the checkpoints that it validated")
        taken = self._take(losses)
        if self.folder:
            missing = best_and_last(self.history, self.config.average) - losses.keys()
            tell_of_missing(self.folder, missing, taken)
        return taken

    def _take(self, losses: dict[int, float]) -> str:
        """Load the best weights of these steps, or the average of the last ones."""
        best = min(losses, key=lambda step: losses[step])
        best_weights = self._kept.mean([best])
        last = list(losses)[-self.config.average :]
        if len(last) > 1:
            load_weights(self.model, self._kept.mean(last))
            if self._evaluated()["loss"] < losses[best]:
                return f"average of {len(last)}"
        load_weights(self.model, best_weights)
        return f"step {best}"
