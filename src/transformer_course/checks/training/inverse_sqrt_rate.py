"""Exercise: the paper's learning rate, eq. 3."""

from collections.abc import Callable

import numpy as np

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases

Rate = Callable[[int, int, int], float]


def reference(step: int, d_model: int, warmup_steps: int) -> float:
    """Return the rate of a step; steps count from 1."""
    return float(d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5))


def draw(rng: np.random.Generator) -> tuple[int, int, int]:
    """Return a step, a width and a number of warm-up steps."""
    warmup = int(rng.integers(2, 8000))
    step = max(1, int(warmup * rng.choice([0.1, 0.5, 0.9, 1.0, 1.1, 2.0, 5.0])))
    return step, int(rng.integers(8, 1025)), warmup


def _from(start: int, width: int, warmup: int, rate: Rate) -> Rate:
    """Return a rate that changes what it gets by a constant."""
    return lambda step, d_model, warmup_steps: rate(
        step + start, d_model + width, warmup_steps + warmup
    )


inverse_sqrt_rate = Exercise(
    name="inverse_sqrt_rate",
    kind="implement",
    difficulty=1,
    minutes=10,
    statement=(
        "Write the learning rate of eq. 3, d_model^(-0.5) · min(step^(-0.5), step · warmup_steps^(-1.5)). "
        "step is a whole number from 1, d_model the width of the model, warmup_steps the number of steps in "
        "which the rate rises. Return a number."
    ),
    returns=("rate",),
    reference=reference,
    cases=(
        Case("the peak of the base model", (4000, 512, 4000)),
        Case("the first step", (1, 512, 4000)),
        Case("half of the warm-up", (2, 16, 4)),
        Case("after the warm-up", (16, 16, 4)),
        Case("one step of warm-up", (9, 4, 1)),
        *random_cases(draw, 8),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "no warm-up",
            lambda step, d_model, warmup_steps: d_model**-0.5 * step**-0.5,
            "At step 1 your rate is higher than at any other step. Which of the two parts is the smaller one "
            "there?",
        ),
        Misconception(
            "warm-up without an end",
            lambda step, d_model, warmup_steps: d_model**-0.5 * step * warmup_steps**-1.5,
            "Your rate rises for ever. What should it do after the warm-up?",
        ),
        Misconception(
            "the larger of the two parts",
            lambda step, d_model, warmup_steps: (
                d_model**-0.5 * max(step**-0.5, step * warmup_steps**-1.5)
            ),
            "Draw both parts over the steps. Which one lies below the other at the beginning, and which one at "
            "the end?",
        ),
        Misconception(
            "the width left out",
            lambda step, d_model, warmup_steps: min(step**-0.5, step * warmup_steps**-1.5),
            "A wider model gets a lower rate. Where do you use `d_model`?",
        ),
        Misconception(
            "divided by the width, not by its root",
            lambda step, d_model, warmup_steps: (
                min(step**-0.5, step * warmup_steps**-1.5) / d_model
            ),
            "Four times the width should give half of the rate. What do you get?",
        ),
        Misconception(
            "multiplied by the root of the width",
            lambda step, d_model, warmup_steps: (
                d_model**0.5 * min(step**-0.5, step * warmup_steps**-1.5)
            ),
            "In your function a wider model gets a higher rate. Look at the sign of the exponent.",
        ),
        Misconception(
            "a line up to 1",
            lambda step, d_model, warmup_steps: (
                d_model**-0.5 * min(step**-0.5, step / warmup_steps)
            ),
            "Where do your two parts meet? In eq. 3 they meet at the end of the warm-up.",
        ),
        Misconception(
            "the exponent of the step left out",
            lambda step, d_model, warmup_steps: (
                d_model**-0.5 * min(warmup_steps**-0.5, step * warmup_steps**-1.5)
            ),
            "After the warm-up your rate stays the same. What should it fall with?",
        ),
        Misconception(
            "steps counted from 0",
            lambda step, d_model, warmup_steps: (
                d_model**-0.5 * min(max(step - 1, 1e-9) ** -0.5, (step - 1) * warmup_steps**-1.5)
            ),
            "Your rate is one step late. The first step has the number 1.",
        ),
        Misconception(
            "too large by the root of the warm-up",
            lambda step, d_model, warmup_steps: (
                d_model**-0.5 * min((warmup_steps / step) ** 0.5, step / warmup_steps)
            ),
            "The form of your curve is right. At the end of the warm-up both parts of eq. 3 are "
            "warmup_steps^(−0.5). What are yours?",
        ),
        Misconception(
            "the width in the falling part only",
            lambda step, d_model, warmup_steps: min(
                d_model**-0.5 * step**-0.5, step * warmup_steps**-1.5
            ),
            "After the warm-up you are right. Does the width stand inside the brackets of eq. 3, or before "
            "them?",
        ),
        Misconception(
            "the width in the rising part only",
            lambda step, d_model, warmup_steps: min(
                step**-0.5, d_model**-0.5 * step * warmup_steps**-1.5
            ),
            "In the warm-up you are right. Does the width stand inside the brackets of eq. 3, or before them?",
        ),
        Misconception(
            "one added to the step",
            lambda step, d_model, warmup_steps: reference(step + 1, d_model, warmup_steps),
            "Your rate is one step early. The first step has the number 1 already.",
        ),
        Misconception(
            "falling with the step, not with its root",
            lambda step, d_model, warmup_steps: (
                d_model**-0.5
                * min(step * warmup_steps**-1.5, warmup_steps**-0.5 * warmup_steps / step)
            ),
            "At four times the warm-up, half of the peak should be left. How much is left in your function?",
        ),
    ),
)
