"""What the last cells of the exercises of chapter 07 call: sliders, and a valley that Adam walks down."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from transformer_course.checks.comparing import loose_parts
from transformer_course.checks.running import SECONDS, Outcome, run

BAR = 40  # characters for the highest rate
STEEPNESS = np.array([100.0, 0.01])  # a valley: steep in one direction, flat in the other


def rate_table(rate: Callable[..., Any], d_model: int = 512, warmup_steps: int = 4000) -> None:
    """Print the learner's rate at some steps before and after the warm-up.

    Args:
        rate: the learner's inverse_sqrt_rate.
        d_model: width of the model.
        warmup_steps: steps of the warm-up.

    >>> from transformer_course.checks.training.inverse_sqrt_rate import reference
    >>> rate_table(reference, 512, 4000)
    step  1000: 1.75e-04 ##########
    step  2000: 3.49e-04 ####################
    step  4000: 6.99e-04 ########################################
    step  8000: 4.94e-04 ############################
    step 16000: 3.49e-04 ####################
    """
    steps = [max(1, int(warmup_steps * part)) for part in (0.25, 0.5, 1, 2, 4)]
    found = []
    for step in steps:
        value = _number(run(rate, (step, d_model, warmup_steps), SECONDS))
        if value is None or not value > 0:
            print("The sliders come to life when inverse_sqrt_rate passes its check.")
            return
        found.append(value)
    for step, value in zip(steps, found, strict=True):
        print(f"step {step:5}: {value:.2e} {'#' * round(BAR * value / max(found))}")


def _number(outcome: Outcome) -> float | None:
    """The result of a call, if it is a single number."""
    parts = None if outcome.trouble else loose_parts(outcome.value, 1)
    return float(parts[0].reshape(())) if parts is not None and parts[0].size == 1 else None


def walk_down(adam_step: Callable[..., Any], steps: int = 200, rate: float = 0.02) -> None:
    """Print how far plain gradient descent and the learner's Adam come in a valley with one steep side.

    Args:
        adam_step: the learner's function.
        steps: how many steps each of the two takes.
        rate: learning rate of Adam; plain descent gets the highest one that doesn't throw it out.

    >>> from transformer_course.checks.training.adam_step import reference
    >>> walk_down(reference)
    start             steep 1.00   flat 1.00
    gradient descent  steep 0.00   flat 0.96
    Adam              steep 0.00   flat 0.00
    """
    plain, place = np.ones(2), np.ones(2)
    m, v = np.zeros(2), np.zeros(2)
    kind: Callable[[Any], Any] = np.asarray
    for step in range(1, steps + 1):
        plain = plain - 1.9 / STEEPNESS.max() * STEEPNESS * plain
        arguments = (place, STEEPNESS * place, m, v, step, rate)
        outcome = run(adam_step, arguments, SECONDS)
        if outcome.trouble and kind is np.asarray:  # perhaps written with torch
            kind = torch.as_tensor
        if kind is not np.asarray:
            tensors = tuple(kind(x) if isinstance(x, np.ndarray) else x for x in arguments)
            outcome = run(adam_step, tensors, SECONDS)
        parts = None if outcome.trouble else loose_parts(outcome.value, 3)
        if parts is None or any(part.shape != (2,) for part in parts):
            print("Adam walks here when adam_step passes its check.")
            return
        place, m, v = (np.asarray(part, dtype=float) for part in parts)
    for name, (steep, flat) in (
        ("start", (1.0, 1.0)),
        ("gradient descent", plain),
        ("Adam", place),
    ):
        print(f"{name:17} steep {abs(steep):.2f}   flat {abs(flat):.2f}")
