"""Exercise: a power law through measured losses, and what it says of a size that was never tried."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, random_cases
from transformer_course.checks.tables import with_tables

Array = NDArray[Any]


def _line(x: Array, y: Array) -> tuple[float, float]:
    """Return slope and height at 0 of the line with the least squares."""
    slope = ((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum()
    return float(slope), float(y.mean() - slope * x.mean())


def reference(sizes: Array, losses: Array, size: float) -> float:
    """Return the loss that the power law through the points has for another size."""
    slope, height = _line(np.log(sizes), np.log(losses))
    return float(np.exp(slope * np.log(size) + height))


def _straight(sizes: Array, losses: Array, size: float) -> float:
    slope, height = _line(sizes, losses)
    return slope * size + height


def _log_of_sizes(sizes: Array, losses: Array, size: float) -> float:
    slope, height = _line(np.log(sizes), losses)
    return float(slope * np.log(size) + height)


def _log_of_losses(sizes: Array, losses: Array, size: float) -> float:
    slope, height = _line(sizes, np.log(losses))
    return float(np.exp(slope * size + height))


def _without_exp(sizes: Array, losses: Array, size: float) -> float:
    return float(np.log(reference(sizes, losses, size)))


def _through_one(sizes: Array, losses: Array, size: float) -> float:
    x, y = np.log(sizes), np.log(losses)
    return float(np.exp((x * y).sum() / (x * x).sum() * np.log(size)))


def _between(first: int, last: int) -> Any:
    def two_points(sizes: Array, losses: Array, size: float) -> float:
        return reference(sizes[[first, last]], losses[[first, last]], size)

    return two_points


def _from_the_last(sizes: Array, losses: Array, size: float) -> float:
    slope, _ = _line(np.log(sizes), np.log(losses))
    return float(losses[-1] * (size / sizes[-1]) ** slope)


def _rising(sizes: Array, losses: Array, size: float) -> float:
    slope, height = _line(np.log(sizes), np.log(losses))
    return float(np.exp(-slope * np.log(size) + height))


def draw(rng: np.random.Generator) -> tuple[Array, Array, float]:
    """Return 3 to 6 sizes, losses near a power law, and a larger size."""
    sizes = np.cumprod(rng.integers(2, 6, size=int(rng.integers(3, 7)))).astype(float)
    exponent, noise = rng.uniform(0.1, 0.6), rng.uniform(0.8, 1.25, size=len(sizes))
    losses = (rng.uniform(4, 40) * sizes**-exponent * noise).round(3)
    return sizes, losses, float(sizes[-1] * rng.integers(2, 6))


def _case(about: str, sizes: list[float], losses: list[float], size: float) -> Case:
    return Case(about, (np.array(sizes), np.array(losses), size))


CASES = (
    _case("four times the size, half the loss", [4.0, 16.0, 64.0], [8.0, 4.0, 2.0], 256.0),
    _case("a point off the line", [4.0, 16.0, 64.0], [8.0, 6.0, 2.0], 256.0),
    _case("two points", [2.0, 8.0], [9.0, 3.0], 32.0),
    _case("a smaller size", [4.0, 16.0, 64.0], [8.0, 4.0, 2.0], 1.0),
    _case("the last point off the line", [2.0, 4.0, 8.0, 16.0], [16.0, 8.0, 4.0, 3.0], 64.0),
    _case("sizes of a million", [1e6, 4e6, 3.2e7], [5.0, 4.1, 3.0], 1e8),
)
_mistake = with_tables(reference, CASES, ("loss",))

predicted_loss = Exercise(
    name="predicted_loss",
    kind="experiment",
    difficulty=2,
    minutes=20,
    statement=(
        "Predict the loss of a model before it is trained. Models of several sizes were trained, and their "
        "losses measured: sizes and losses are both (m,), floating point, all above 0, m is 2 or more, and no "
        "two sizes are equal. A power law is loss = factor · size^(−exponent). Its logarithm is a line: "
        "log loss = log factor − exponent · log size. Fit this line to the points (log size, log loss) by "
        "least squares. Return the loss that the power law has for another size, a number: not its "
        "logarithm.\n\n"
        "An example: the sizes 4, 16, 64 have the losses 8, 4, 2. Four times the size halves the loss, so the "
        "exponent is 0.5 and the factor is 16. For the size 256 the loss is 16 · 256^(−0.5) = 1."
    ),
    returns=("loss",),
    reference=reference,
    cases=(*CASES, *random_cases(draw, 8, "random losses")),
    draw=draw,
    misconceptions=(
        _mistake(
            "a line without logarithms",
            _straight,
            "Your line goes through the sizes and losses themselves. For a size large enough it falls below 0.",
        ),
        _mistake(
            "the logarithm of the sizes only",
            _log_of_sizes,
            "A power law is a line if both axes are logarithms. Which one isn't?",
        ),
        _mistake(
            "the logarithm of the losses only",
            _log_of_losses,
            "That is exponential decay: each unit of size takes the same share away. Which axis is missing "
            "its logarithm?",
        ),
        _mistake(
            "the logarithm of the loss returned",
            _without_exp,
            "The fit is right. What do you return: a loss, or its logarithm?",
        ),
        _mistake(
            "a line through the origin",
            _through_one,
            "Your power law has the factor 1. A line has a slope and a height.",
        ),
        _mistake(
            "through the first and the last point",
            _between(0, -1),
            "The points between the first and the last one are measured, too. Least squares uses all of them.",
        ),
        _mistake(
            "through the last two points",
            _between(-2, -1),
            "Two points give a line through both, and all their noise. Least squares uses all points.",
        ),
        _mistake(
            "through the first two points",
            _between(0, 1),
            "The later points are measured, too. Least squares uses all of them.",
        ),
        _mistake(
            "the slope of the fit, from the last point on",
            _from_the_last,
            "The slope is right. The line of least squares need not go through the last point.",
        ),
        _mistake(
            "the slope turned round",
            _rising,
            "In your function a larger model has a larger loss. Is the slope of the line below 0, or above? "
            "And which sign has the exponent?",
        ),
    ),
)
