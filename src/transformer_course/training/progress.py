"""How far a training is (chapter 07): what is told after every update, and the clock behind it."""

import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """Where a training run stands, told after every update.

    Args:
        step: updates so far.
        max_steps: updates in all.
        loss: the batch's loss, in nats per target token for the losses of chapter 08.
        valid_loss: the loss of the latest validation, in the same unit; None before the first.
        tokens_per_second: predicted tokens learned from, per second of this run.
        seconds_left: estimate of the time to the end, in seconds.
        rate: learning rate of the update.
        gradient_norm: of the batch's gradient, before it was cut.
    """

    step: int
    max_steps: int
    loss: float
    valid_loss: float | None
    tokens_per_second: float
    seconds_left: float
    rate: float = 0.0
    gradient_norm: float = 0.0


class Clock:
    """Measures a run from now on.

    Args:
        step: updates so far; only later ones count for the pace.
    """

    def __init__(self, step: int) -> None:
        self._first, self._started, self._tokens = step, time.perf_counter(), 0
        self.seconds = 0.0

    def tick(self, tokens: int) -> None:
        """An update is done.

        Args:
            tokens: how many it learned from.
        """
        self._tokens += tokens
        self.seconds = time.perf_counter() - self._started

    @property
    def tokens_per_second(self) -> float:
        """The pace so far."""
        return self._tokens / self.seconds

    def seconds_left(self, step: int, max_steps: int) -> float:
        """Estimate of the time to the end.

        Args:
            step: updates so far.
            max_steps: updates in all.

        Returns:
            Seconds, if the rest is as fast as the updates since the clock was started.
        """
        return self.seconds / (step - self._first) * (max_steps - step)
