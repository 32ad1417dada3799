"""The gradient of a batch (chapter 07): in one piece, in parts one after the other, or on several processes.

The loss of a batch is a mean over its tokens. So the gradient of the batch is the sum of the gradients of its
parts, each weighted by its share of the tokens. A mean of the parts' means would be another number.
"""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from transformer_course.checkpoints import whole
from transformer_course.checkpoints.memory import parameters_of
from transformer_course.training.batches import Batches, LossFn, Trainable, to_device
from transformer_course.training.config import TrainingConfig
from transformer_course.training.processes import Processes
from transformer_course.training.sharding import is_sharded, loss_of

_TYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}


class Gradients:
    """Computes gradients of batches, in the precision and in as many parts as a config says.

    In fp16 the loss is scaled, so that small gradients don't become 0 (Micikevicius et al. 2018), by torch's
    `GradScaler`.

    Args:
        model: whose gradients.
        data: what batches are made from.
        loss_fn: as for `Trainer`.
        config: its `precision` and `accumulate`.
        processes: which compute the parts.

    Raises:
        ValueError: if several processes shall add up gradients of a device for which torch has no way to.
    """

    def __init__(
        self,
        model: Trainable,
        data: Batches,
        loss_fn: LossFn,
        config: TrainingConfig,
        processes: Processes,
    ) -> None:
        self.model, self.data, self.loss_fn = model, data, loss_fn
        self.config, self.processes = config, processes
        if processes.count > 1 and self.device.type not in ("cpu", "cuda"):
            raise ValueError(
                f"device ({self.device.type!r}) must be 'cpu' or 'cuda' where {processes.count} processes "
                "train together"
            )
        scaled = config.precision == "fp16"
        self.scaler = torch.amp.GradScaler(self.device.type, enabled=scaled)

    @property
    def device(self) -> torch.device:
        """Where the model computes."""
        return next(self.model.parameters()).device

    def parts(self, batch: Sequence[int]) -> list[Sequence[int]]:
        """What all processes compute of a batch, one part after the other.

        Args:
            batch: indices of examples.

        Returns:
            As many parts as there are processes, times `accumulate`; see `cut`.
        """
        return cut(batch, self.processes.count * self.config.accumulate)

    def tensors(self, part: Sequence[int]) -> list[Tensor]:
        """What the loss function gets, where the model computes.

        Args:
            part: indices of examples.

        Returns:
            The tensors of the data.
        """
        return [to_device(tensor, self.device) for tensor in self.data.tensors(part)]

    def autocast(self) -> AbstractContextManager[Any]:
        """The context in which a loss is computed in the config's precision."""
        if self.config.precision == "fp32":
            return nullcontext()
        return torch.autocast(self.device.type, _TYPES[self.config.precision])

    def compute(self, optimizer: torch.optim.Optimizer, batch: Sequence[int]) -> Tensor:
        """Add the gradient of a batch's loss to the model's parameters, which must have none.

        Args:
            optimizer: which will use it.
            batch: indices of examples, the same on all processes.

        Returns:
            The batch's loss, a single number: the mean per predicted token.

        Raises:
            LostProcessError: if another process has ended.
        """
        parts = self.parts(batch)
        if len(parts) == 1:
            loss = self._backward(batch)
        else:
            n, rank = self.config.accumulate, self.processes.rank
            loss = self._of_parts(parts[rank * n : (rank + 1) * n], batch)
        if is_sharded(self.model):
            self.processes.add_up(loss)  # gradients have been
        elif self.processes.count > 1:
            loss = self._add_up(loss)
        self.scaler.unscale_(optimizer)
        return loss

    def _backward(self, part: Sequence[int], share: float | None = None) -> Tensor:
        with self.autocast():
            loss = loss_of(self.model, self.loss_fn, *self.tensors(part))
        if share is not None:
            loss = loss * share
        # What is sharded gets the mean over processes of its gradients, not their sum.
        count = self.processes.count if is_sharded(self.model) else 1
        self.scaler.scale(loss * count).backward()  # type: ignore[no-untyped-call]
        return loss.detach()

    def _of_parts(self, parts: Iterable[Sequence[int]], batch: Sequence[int]) -> Tensor:
        """The share that some parts have in the loss of a batch.

        All processes must compute equally often what is sharded: in place of an empty part, something that
        counts nothing.
        """
        loss = torch.zeros((), device=self.device)
        tokens = self.data.n_predicted(batch)
        for part in parts:
            n = self.data.n_predicted(part) if part else 0
            if n or is_sharded(self.model):
                loss = loss + self._backward(part if n else batch[-1:], n / tokens)
        return loss

    def _add_up(self, loss: Tensor) -> Tensor:
        """Add up gradients and losses of all processes, in one message.

        A parameter that no process has a gradient for gets none, as if there were one process. Which ones these
        are, the processors tell each other: to read it from a card's message would be to wait for the card.
        """
        parameters = [p for p in self.model.parameters() if p.requires_grad]
        pieces = [torch.zeros_like(p) if p.grad is None else p.grad for p in parameters]
        known = self.processes.sums(*(float(p.grad is not None) for p in parameters))
        flat = torch.cat([piece.reshape(-1) for piece in pieces] + [loss.reshape(1)])
        self.processes.add_up(flat)
        *sums, loss = torch.split(flat, [*(p.numel() for p in parameters), 1])
        for p, piece, n in zip(parameters, sums, known, strict=True):
            p.grad = piece.view_as(p).to(p.dtype) if n else None
        return loss.squeeze(0)

    def clip(self, optimizer: torch.optim.Optimizer) -> Tensor:
        """Cut the gradient to `clip_norm`.

        Args:
            optimizer: what it doesn't update, counts nothing.

        Returns:
            Its norm before, a single number.
        """
        held = set(map(id, parameters_of(optimizer)))
        parameters = [p for p in self.model.parameters() if id(p) in held]
        limit = self.config.clip_norm
        return whole(torch.nn.utils.clip_grad_norm_(parameters, limit))

    def update(self, optimizer: torch.optim.Optimizer) -> None:
        """Change the weights; in fp16 not if the gradient has an infinite number, and then the scale is halved.

        Args:
            optimizer: which has the gradient.
        """
        self.scaler.step(optimizer)
        self.scaler.update()

    def may_overflow(self) -> bool:
        """Whether a gradient may be infinite because of the scale; its update is then left out."""
        return self.scaler.is_enabled() and self.scaler.get_scale() >= 1

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps of the scale.

        Returns:
            By name; empty if the loss isn't scaled.
        """
        return dict(self.scaler.state_dict())

    def load_state(self, state: dict[str, Any]) -> None:
        """Go back to where `state` was called.

        Args:
            state: what it returned.
        """
        if state and self.scaler.is_enabled():
            self.scaler.load_state_dict(state)


def cut(batch: Sequence[int], n: int) -> list[Sequence[int]]:
    """Cut a batch into parts of like size; neighbours, which are of like length, stay together.

    Args:
        batch: indices of examples.
        n: how many parts, 1 or more.

    Returns:
        The parts in order; some are empty where there are more parts than members.

    >>> cut([5, 6, 7, 8, 9], 2)
    [[5, 6], [7, 8, 9]]
    """
    ends = [len(batch) * i // n for i in range(n + 1)]
    return [batch[start:end] for start, end in pairwise(ends)]
