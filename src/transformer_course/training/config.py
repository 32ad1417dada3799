"""How to train (chapter 07): every choice of a training, and the rate that follows from it for each step."""

import math
from dataclasses import dataclass
from typing import Literal

from transformer_course.training.schedules import cosine_rate, inverse_sqrt_rate
from transformer_course.validation import check_whole_numbers


@dataclass(frozen=True)
class TrainingConfig:
    """How to train.

    Args:
        max_steps: updates of the weights.
        max_tokens: the most positions in a batch of pairs, padding included, source and target together.
        schedule: "cosine" (`cosine_rate`) or "inverse_sqrt" (`inverse_sqrt_rate`, the paper's).
        peak_rate: highest learning rate of the cosine; the paper's schedule sets its own, so there it must be
            left out.
        warmup_steps: updates until the learning rate is highest.
        clip_norm: the gradient's norm is cut to this (Pascanu et al. 2013).
        validate_every: updates between two validations; each writes a checkpoint.
        patience: stop after this many validations without a better loss; 0 = never.
        average: how many of the last checkpoints, or all if there are fewer, are averaged at the end (Vaswani
            et al. 2017, §6.1); the mean is taken if its validation loss is lower than the best one's. 1 = none.
        precision: "fp32", or "bf16" for mixed precision where the processor has bf16 instructions, or "fp16"
            for graphics cards without them, with a loss that is scaled.
        accumulate: in how many parts a batch is computed, one after the other: for less memory, and the same
            updates up to rounding; on several processes, how many parts each has. (With the model mask-predict
            only nearly: its loss is a mean over gaps, and parts are weighed by all their tokens.)
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
    precision: Literal["fp32", "bf16", "fp16"] = "fp32"
    accumulate: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        check_whole_numbers(self, least={"patience": 0, "seed": 0}, bits=63)
        for name in ("peak_rate", "clip_norm"):
            if not 0 < getattr(self, name) < math.inf:
                raise ValueError(f"{name} ({getattr(self, name)}) must be above 0 and finite")
        if self.schedule not in ("cosine", "inverse_sqrt"):
            raise ValueError(f"schedule ({self.schedule!r}) must be 'cosine' or 'inverse_sqrt'")
        default = TrainingConfig.__dataclass_fields__["peak_rate"].default
        if self.schedule == "inverse_sqrt" and self.peak_rate != default:
            raise ValueError(
                f"peak_rate ({self.peak_rate}) must be left out with schedule 'inverse_sqrt', which sets "
                "its own"
            )
        if self.precision not in ("fp32", "bf16", "fp16"):
            raise ValueError(f"precision ({self.precision!r}) must be 'fp32', 'bf16' or 'fp16'")

    def rate(self, step: int, d_model: int) -> float:
        """The learning rate of an update.

        Args:
            step: number of the update, 1 or more.
            d_model: width of the model, which the paper's schedule depends on.

        Returns:
            The rate, by `schedule`.

        Raises:
            ValueError: if `step` is below 1, or `d_model` is and counts.

        >>> TrainingConfig(peak_rate=0.001, warmup_steps=10).rate(5, d_model=64)
        0.0005
        """
        if self.schedule == "inverse_sqrt":
            return inverse_sqrt_rate(step, d_model, self.warmup_steps)
        return cosine_rate(step, self.peak_rate, self.warmup_steps, self.max_steps)
