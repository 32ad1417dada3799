"""Learning rates (chapter 07): the paper's, and a cosine; each is a number for a step."""

import math


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
