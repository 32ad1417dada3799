"""Exercise: one step of Adam for all weights of a vector."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases

Array = NDArray[Any]
BETA_1, BETA_2, EPSILON = 0.9, 0.98, 1e-9


def _adam(
    *,
    corrected: tuple[bool, bool] = (True, True),
    from_zero: bool = False,
    root: bool = True,
    square: bool = True,
    ascending: bool = False,
    beta_2: float = BETA_2,
    swapped: bool = False,
    weights_mixed: bool = False,
    old: bool = False,
    momentum: bool = True,
    forgets: bool = False,
    stores_corrected: bool = False,
    inside: bool = False,
    as_first: bool = False,
    outside: bool = False,
    times: bool = False,
    epsilon: float = EPSILON,
    early: bool = False,
) -> Any:
    """Return the function of the exercise with the mistakes asked for."""

    def step_of(
        weight: Array, gradient: Array, m: Array, v: Array, step: int, rate: float
    ) -> tuple[Array, Array, Array]:
        first, second = (beta_2, BETA_1) if swapped else (BETA_1, beta_2)
        shares = (first, second) if weights_mixed else (1 - first, 1 - second)
        keeps = (1 - first, 1 - second) if weights_mixed else (first, second)
        before = (m, v)
        m = shares[0] * gradient + (0 if forgets else keeps[0] * m)
        v = shares[1] * (gradient**2 if square else np.abs(gradient)) + keeps[1] * v
        t = step - 1 if from_zero and step > 1 else step
        t = 1 if as_first else t
        used_m, used_v = before if old else (m, v)
        first_left, second_left = (first * t, second * t) if times else (first**t, second**t)
        top = used_m / (1 - first_left) if corrected[0] else used_m
        repair = (1 - second_left) if corrected[1] else 1.0
        low = used_v / repair
        top = top if momentum else gradient
        size = np.sqrt(low) if root else low
        size = np.sqrt(used_v) / repair if outside else size
        bottom = np.sqrt(low + epsilon) if inside else size + epsilon
        bottom = (np.sqrt(used_v) + epsilon) / np.sqrt(repair) if early else bottom
        moved = rate * top / bottom
        new = weight + moved if ascending else weight - moved
        return (new, top, low) if stores_corrected else (new, m, v)

    return step_of


def reference(
    weight: Array, gradient: Array, m: Array, v: Array, step: int, rate: float
) -> tuple[Array, Array, Array]:
    """Return the new weights, m and v."""
    result: tuple[Array, Array, Array] = _adam()(weight, gradient, m, v, step, rate)
    return result


def draw(rng: np.random.Generator) -> tuple[Array, Array, Array, Array, int, float]:
    """Return weights, gradients of all sizes, averages of some earlier steps, the step and the rate."""
    count, step = int(rng.integers(2, 6)), int(rng.integers(2, 40))
    sizes = 10.0 ** rng.uniform(-9, 2, size=count)
    gradients = sizes * (0.5 + rng.normal(size=(step, count)))
    m, v = np.zeros(count), np.zeros(count)
    for gradient in gradients[:-1]:
        m = BETA_1 * m + (1 - BETA_1) * gradient
        v = BETA_2 * v + (1 - BETA_2) * gradient**2
    return rng.normal(size=count), gradients[-1], m, v, step, float(rng.uniform(0.05, 0.5))


_ZERO = np.zeros(2)

adam_step = Exercise(
    name="adam_step",
    kind="implement",
    difficulty=3,
    minutes=25,
    statement=(
        "Write one step of Adam. weight, gradient, m and v are vectors of the same length: the weights, their "
        "gradients, and the running averages of the gradients and of their squares, as they were before this "
        "step (0 before the first one). step counts from 1, rate is the learning rate. Take beta_1 = 0.9, "
        "beta_2 = 0.98 and epsilon = 1e-9. m becomes beta_1 m + (1 - beta_1) gradient, v becomes beta_2 v + "
        "(1 - beta_2) gradient². The weight moves by -rate · m̂ / (√v̂ + epsilon), with m̂ = m / (1 - "
        "beta_1^step) and v̂ = v / (1 - beta_2^step). Return the new weights, the new m and the new v."
    ),
    returns=("weight", "m", "v"),
    reference=reference,
    cases=(
        Case(
            "the first step",
            (np.array([1.0, -2.0]), np.array([0.2, -50.0]), _ZERO, _ZERO, 1, 0.01),
        ),
        Case(
            "the second step of the page",
            (
                np.array([-0.01, 1.0]),
                np.array([0.1, 3.0]),
                np.array([0.02, 0.3]),
                np.array([8e-4, 0.18]),
                2,
                0.01,
            ),
        ),
        Case(
            "a gradient that turns",
            (
                np.array([0.5, 0.5]),
                np.array([-4.0, 1.0]),
                np.array([1.0, 1.0]),
                np.array([2.0, 3.0]),
                10,
                0.1,
            ),
        ),
        Case(
            "tiny gradients",
            (np.array([1.0, -2.0]), np.array([3e-5, -1e-6]), _ZERO, _ZERO, 1, 0.01),
        ),
        Case(
            "a weight whose gradient was always 0",
            (np.array([1.0, -2.0]), np.array([0.0, 0.5]), _ZERO, _ZERO, 1, 0.01),
        ),
        Case("gradients of ten epsilons", (_ZERO, np.array([1e-8, -1e-8]), _ZERO, _ZERO, 1, 0.01)),
        Case(
            "a long training",
            (
                np.array([1.0, 3.0]),
                np.array([2.0, -1.0]),
                np.array([0.5, -0.5]),
                np.array([4.0, 9.0]),
                1000,
                0.5,
            ),
        ),
        *random_cases(draw, 6),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "beta times the step",
            _adam(times=True),
            "The first step is right. How often was an average multiplied by its beta until now?",
        ),
        Misconception(
            "no correction of the start",
            _adam(corrected=(False, False)),
            "In the first step, your weights don't move by the rate. What repairs averages that began at 0?",
        ),
        Misconception(
            "only m corrected",
            _adam(corrected=(True, False)),
            "Two averages begin at 0. How many of them do you repair?",
        ),
        Misconception(
            "only v corrected",
            _adam(corrected=(False, True)),
            "You repair one of the averages that began at 0. What about the other one?",
        ),
        Misconception(
            "steps counted from 0",
            _adam(from_zero=True),
            "Which power of the betas belongs to the second step?",
        ),
        Misconception(
            "corrected as in the first step, in every step",
            _adam(as_first=True),
            "In the first step all is right. Should the correction be as large in step 1000?",
        ),
        Misconception(
            "no root",
            _adam(root=False),
            "With gradients ten times as large your steps are ten times as small. Look below the fraction.",
        ),
        Misconception(
            "v corrected outside the root",
            _adam(outside=True),
            "In the first step, your weights don't move by the rate. Of what is the root taken: of v, or of v̂?",
        ),
        Misconception(
            "epsilon under the root",
            _adam(inside=True),
            "A weight with a tiny gradient hardly moves in your step. Is epsilon added before the root is "
            "taken, or after?",
        ),
        Misconception(
            "the usual epsilon, 1e-8",
            _adam(epsilon=1e-8),
            "Many programs take this one. The paper's is smaller.",
        ),
        Misconception(
            "epsilon before the correction",
            _adam(early=True),
            "You add epsilon to a root, and then correct both. To the root of what does the task add it?",
        ),
        Misconception(
            "the size of the gradient instead of its square",
            _adam(square=False),
            "What is v an average of?",
        ),
        Misconception(
            "uphill",
            _adam(ascending=True),
            "Your step makes the loss larger. Which sign belongs in front of it?",
        ),
        Misconception(
            "the usual beta_2",
            _adam(beta_2=0.999),
            "Your second average looks back 1000 steps. The paper's looks back less far.",
        ),
        Misconception(
            "the two betas exchanged",
            _adam(swapped=True),
            "Which of the two averages has the longer memory?",
        ),
        Misconception(
            "new and old exchanged in the averages",
            _adam(weights_mixed=True),
            "How much of a running average is new in each step: a tenth, or nine tenths?",
        ),
        Misconception(
            "moved by the old averages",
            _adam(old=True),
            "Your weights move by what was known before this step. Which comes first?",
        ),
        Misconception(
            "the gradient instead of its average",
            _adam(momentum=False),
            "What is above the fraction line, this gradient or an average?",
        ),
        Misconception(
            "m forgets",
            _adam(forgets=True),
            "Your m depends on this gradient alone.",
        ),
        Misconception(
            "the corrected averages handed on",
            _adam(stores_corrected=True),
            "The next step corrects again. What has to be handed on to it?",
        ),
    ),
)
