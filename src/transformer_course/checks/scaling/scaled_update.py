"""Exercise: three mistakes in an update with loss scaling."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases
from transformer_course.checks.mixtures import mixtures
from transformer_course.checks.tables import with_tables

Array = NDArray[Any]
Result = tuple[Array, float, float]
RETURNS = ("gradient", "scale", "good")


def _shorter(gradient: Array, max_norm: float) -> Array:
    norm = np.sqrt((gradient**2).sum())
    return gradient * (max_norm / norm) if norm > max_norm else gradient


def _all_as_long(gradient: Array, max_norm: float) -> Array:
    norm = np.sqrt((gradient**2).sum())
    return gradient * (max_norm / norm) if norm > 0 else gradient


def _variant(
    *,
    early: bool = False,
    patched: bool = False,
    stuck: bool = False,
    divided: bool = True,
    limit: Callable[[Array, float], Array] = _shorter,
    less: Callable[[float], float] = lambda scale: scale / 2,
    more: float = 2.0,
    late: int = 0,
    counts_on: bool = False,
    kept: bool = False,
    bad: Callable[[Array], Any] = lambda gradient: ~np.isfinite(gradient),
) -> Callable[[Array, float, float, int, int], Result]:
    """Return the function of the exercise with some mistakes.

    Args:
        early: whether the gradient is clipped before the division by the scale.
        patched: whether what overflowed becomes 0, and the rest is used.
        stuck: whether the scale stays after an overflow.
        divided: whether the gradient is divided by the scale.
        limit: (gradient, largest norm) → a gradient that is no longer.
        less: scale → scale after an overflow.
        more: factor of the scale after enough good updates.
        late: how many updates later it grows.
        counts_on: whether the count goes on after the scale has grown.
        kept: whether the count goes on after an overflow.
        bad: gradient → which numbers overflowed.
    """

    def scaled_update(
        gradient: Array, scale: float, max_norm: float, good: int, patience: int
    ) -> Result:
        wrong, by = bad(gradient), scale if divided else 1.0
        if np.any(wrong):
            gradient = np.where(wrong if patched else True, 0.0, gradient)
            after, good = (scale if stuck else less(scale)), good if kept else 0
        else:
            good += 1
            grows = good >= patience + late
            after, good = (scale * more if grows else scale), 0 if grows and not counts_on else good
        if early:
            return limit(gradient, max_norm) / by, float(after), float(good)
        return limit(gradient / by, max_norm), float(after), float(good)

    return scaled_update


def reference(gradient: Array, scale: float, max_norm: float, good: int, patience: int) -> Result:
    """Return the gradient to be used, the new scale, and how many updates in a row were good."""
    return _variant()(gradient, scale, max_norm, good, patience)


def draw(rng: np.random.Generator) -> tuple[Any, ...]:
    """Return a scaled gradient, which may have overflowed, its scale, a norm, and two counts."""
    n, patience = int(rng.integers(2, 6)), int(rng.integers(2, 6))
    scale = float(2 ** rng.integers(0, 12))
    gradient = rng.choice([-1.0, 1.0], n) * rng.integers(4, 40, n) * scale / 8
    if rng.random() < 0.4:
        gradient[rng.integers(n)] = rng.choice([np.inf, -np.inf, np.nan])
    return gradient, scale, float(rng.integers(1, 16)), int(rng.integers(patience)), patience


def _case(
    about: str, gradient: list[float], scale: float, max_norm: float, good: int, patience: int
) -> Case:
    return Case(about, (np.array(gradient), scale, max_norm, good, patience))


CASES = (
    _case("a short gradient", [16.0, -8.0], 8.0, 10.0, 0, 5),
    _case("a gradient that is short before the division, too", [2.0, 0.0], 2.0, 10.0, 0, 5),
    _case("a long gradient", [48.0, 64.0], 8.0, 5.0, 0, 5),
    _case("a gradient that is long only before the division", [24.0, 32.0], 8.0, 10.0, 1, 5),
    _case("an overflow", [np.inf, 8.0], 8.0, 10.0, 2, 5),
    _case("an overflow below zero", [8.0, -np.inf], 8.0, 10.0, 2, 5),
    _case("NaN", [np.nan, 8.0], 8.0, 10.0, 2, 5),
    _case("the last update before the scale grows", [16.0, -8.0], 8.0, 10.0, 4, 5),
    _case("the last update but one before the scale grows", [16.0, -8.0], 8.0, 10.0, 3, 5),
    _case("an overflow where the scale would have grown", [np.inf, 8.0], 8.0, 10.0, 4, 5),
    _case("an overflow with the scale 1", [np.inf, 2.0], 1.0, 5.0, 0, 5),
    _case("zeros", [0.0, 0.0], 8.0, 10.0, 0, 5),
)
_mistake = with_tables(reference, CASES, RETURNS)

PARTS = {
    "early": (
        "what is clipped",
        "Is the norm that you compare with max_norm the norm of the gradient, or of something larger?",
    ),
    "patched": (
        "what an overflow does to the other numbers",
        "The numbers beside an infinite one are used in your function. Is that still the gradient of the loss?",
    ),
    "stuck": (
        "the scale after an overflow",
        "The gradient was too large for the number format. What will happen in the next update if nothing "
        "changes?",
    ),
}


def _still_wrong() -> tuple[Misconception, ...]:
    """Return every mixture of the three mistakes: which are still there, and what to look at."""
    return tuple(_mistake(name, _variant(**there), hint) for there, name, hint in mixtures(PARTS))


scaled_update = Exercise(
    name="scaled_update",
    kind="spot the bug",
    difficulty=2,
    minutes=20,
    statement=(
        "The function below is meant to prepare an update in fp16. The loss was multiplied by `scale`, so that "
        "small gradients don't become 0; `gradient`, (n,), is what came of it, and all its numbers are too "
        "large by this factor. If one of them is infinite or not a number (NaN), the update is left out: the "
        "gradient to be used is all zeros, the scale is halved, and good becomes 0. Otherwise the gradient is "
        "divided by scale, and then clipped: if its norm (the root of the sum of squares) is above max_norm, "
        "it is shortened to max_norm. Then good, the number of good updates in a row, grows by 1; when it "
        "reaches patience, the scale is doubled and good becomes 0. good is less than patience when the "
        "function is called. Return the gradient (n,), the new scale, and the new good. The function runs, and "
        "it holds three mistakes. Write it without them.\n\n"
        "An example: gradient [48, 64], scale 8, max_norm 5, good 0, patience 5. Divided by 8 it is [6, 8], "
        "its norm is 10, and it is shortened to [3, 4]. The scale stays 8, and good is 1."
    ),
    returns=RETURNS,
    reference=reference,
    cases=(*CASES, *random_cases(draw, 8, "a random gradient")),
    draw=draw,
    misconceptions=(
        *_still_wrong(),
        _mistake(
            "not divided by the scale",
            _variant(divided=False),
            "The gradient is still that of the loss times scale.",
        ),
        _mistake(
            "not clipped",
            _variant(limit=lambda gradient, max_norm: gradient),
            "Where do you use max_norm?",
        ),
        _mistake(
            "each number clipped",
            _variant(limit=lambda gradient, max_norm: np.clip(gradient, -max_norm, max_norm)),
            "Clipping each number turns the gradient into another direction. What should become shorter?",
        ),
        _mistake(
            "short gradients made longer",
            _variant(limit=_all_as_long),
            "A gradient whose norm is below max_norm stays as it is.",
        ),
        _mistake(
            "half of the scale, rounded down",
            _variant(less=lambda scale: scale // 2),
            "What is 1 // 2? And what does the next update divide by?",
        ),
        _mistake(
            "the scale grows after an overflow",
            _variant(less=lambda scale: scale * 2),
            "The numbers were too large. A larger scale makes them larger still.",
        ),
        _mistake(
            "the scale never grows",
            _variant(more=1.0),
            "After each overflow the scale is halved. If it never grows again, where does it end?",
        ),
        _mistake(
            "the scale grows one update late",
            _variant(late=1),
            "Count: good is one below patience, and this update is good, too.",
        ),
        _mistake(
            "the scale grows one update early",
            _variant(late=-1),
            "Count: how many good updates are there when this one is done?",
        ),
        _mistake(
            "the count goes on after the scale has grown",
            _variant(counts_on=True),
            "Where the scale has been doubled, counting begins anew.",
        ),
        _mistake(
            "the count goes on after an overflow",
            _variant(kept=True),
            "good counts the good updates *in a row*. Does a row go on after an overflow?",
        ),
        _mistake(
            "NaN overlooked",
            _variant(bad=np.isinf),
            "Infinite minus infinite is NaN: an overflow can come as that, too.",
        ),
    ),
)
