"""Exercise: rotary positions, with neighbours as pairs or with halves (Su et al. 2021)."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, random_cases
from transformer_course.checks.tables import with_tables

Array = NDArray[Any]
OTHER = {"interleaved": "halves", "halves": "interleaved"}


def _cut(x: Array, layout: str) -> tuple[Array, Array]:
    """Return the first numbers of all pairs and the second ones, each (length, d_k/2)."""
    half = x.shape[-1] // 2
    if layout == "halves":
        return x[:, :half], x[:, half:]
    return x[:, ::2], x[:, 1::2]


def _joined(first: Array, second: Array, layout: str) -> Array:
    if layout == "halves":
        return np.concatenate([first, second], axis=-1)
    return np.stack([first, second], axis=-1).reshape(len(first), -1)


def _variant(
    *,
    cut: Callable[[str], str] = lambda layout: layout,
    joined: Callable[[str], str] = lambda layout: layout,
    exponents: Callable[[Array, int], Any] = lambda pair, d_k: 2 * pair / d_k,
    angle: Callable[[Array, Array], Array] = lambda place, base: place / base,
    places: Callable[[Array], Array] = lambda positions: positions,
    signs: tuple[float, float] = (-1.0, 1.0),
    sine: Callable[[Array], Array] = np.sin,
) -> Callable[[Array, Array, str], Array]:
    """Return the function of the exercise with another step here or there.

    Args:
        cut: the layout asked for → the one by which pairs are found.
        joined: the layout asked for → the one by which pairs are put back.
        exponents: (number of the pair, d_k) → exponent of 10000.
        angle: (position, the power of 10000) → angle.
        places: positions → those that are used.
        signs: of the sine in the first and in the second number.
        sine: of the angles.
    """

    def rotate(x: Array, positions: Array, layout: str) -> Array:
        d_k = x.shape[-1]
        powers = 10000.0 ** exponents(np.arange(d_k // 2), d_k)
        angles = angle(places(positions)[:, None], powers[None])  # (length, d_k/2)
        cos, sin = np.cos(angles), sine(angles)
        first, second = _cut(x, cut(layout))
        turned = first * cos + signs[0] * second * sin, second * cos + signs[1] * first * sin
        return _joined(*turned, joined(layout))

    return rotate


def reference(x: Array, positions: Array, layout: str) -> Array:
    """Return each vector, turned."""
    return _variant()(x, positions, layout)


def _with_angles(order: Callable[[str], str]) -> Callable[[Array, Array, str], Array]:
    """Pair as asked, and give each number the angle of its pair in another layout.

    Args:
        order: the layout asked for → the one by which the angles stand.
    """

    def rotate(x: Array, positions: Array, layout: str) -> Array:
        d_k = x.shape[-1]
        angles = positions[:, None] / 10000.0 ** (2 * np.arange(d_k // 2) / d_k)
        each = _joined(angles, angles, order(layout))  # (length, d_k)
        first, second = _cut(x, layout)
        return np.asarray(x * np.cos(each) + _joined(-second, first, layout) * np.sin(each))

    return rotate


def _overwritten(x: Array, positions: Array, layout: str) -> Array:
    d_k = x.shape[-1]
    angles = positions[:, None] / 10000.0 ** (2 * np.arange(d_k // 2) / d_k)
    first, second = _cut(x, layout)
    first = first * np.cos(angles) - second * np.sin(angles)
    return _joined(first, second * np.cos(angles) + first * np.sin(angles), layout)


def _added(x: Array, positions: Array, layout: str) -> Array:
    d_k = x.shape[-1]
    angles = positions[:, None] / 10000.0 ** (2 * np.arange(d_k // 2) / d_k)
    return np.asarray(x + _joined(np.sin(angles), np.cos(angles), layout))


def draw(rng: np.random.Generator) -> tuple[Array, Array, str]:
    """Return vectors, their positions, which may begin anywhere, and a layout."""
    while True:
        length, d_k = int(rng.integers(2, 5)), 2 * int(rng.integers(3, 6))
        x = rng.normal(size=(length, d_k)).round(2)
        positions = rng.integers(1, 20) + np.sort(rng.choice(12, size=length, replace=False))
        for layout in rng.permutation(["interleaved", "halves"]):
            if abs(reference(x, positions, layout)).min() > 0.1:  # nearly 0 isn't exact in float32
                return x, positions, str(layout)


def _case(about: str, x: list[list[float]], positions: list[int], layout: str) -> Case:
    return Case(about, (np.array(x), np.array(positions), layout))


_ONE = [[1.0, 2.0, 3.0, 4.0]]
_TWO = [[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [2.0, 1.0, 4.0, 3.0, 6.0, 5.0]]
CASES = (
    _case("one pair", [[1.0, 0.0]], [1], "halves"),
    _case("one pair, interleaved", [[1.0, 0.0]], [2], "interleaved"),
    _case("two pairs in halves", _ONE, [1], "halves"),
    _case("two pairs, interleaved", _ONE, [1], "interleaved"),
    _case("position 0", _ONE, [0], "halves"),
    _case("the second number of a pair", [[0.0, 1.0]], [1], "halves"),
    _case("two vectors at one position", [[1.0, 2.0], [2.0, 1.0]], [3, 3], "interleaved"),
    _case("two vectors, three pairs, interleaved", _TWO, [2, 5], "interleaved"),
    _case("two vectors, three pairs in halves", _TWO, [2, 5], "halves"),
)
_mistake = with_tables(reference, CASES[2:], ("turned",))

rotate = Exercise(
    name="rotate",
    kind="implement",
    difficulty=2,
    minutes=20,
    statement=(
        "Turn the queries or keys of one head by their positions: rotary positions. x is (length, d_k), "
        "floating point, d_k even; positions is (length,), whole numbers, 0 or more. Two numbers of a vector "
        "are a pair, and there are d_k/2 pairs. A pair is a point of the plane; at position p, pair j = 0, 1, "
        "… is turned by the angle p / 10000^(2j/d_k), in radians: (a, b) becomes (a · cos − b · sin, b · cos + "
        'a · sin). layout says which numbers are pair j. "interleaved": the neighbours 2j and 2j + 1. '
        '"halves": number j and number j + d_k/2. Put each turned number where it was. Return an '
        "array of the shape of x.\n\n"
        "An example: x is 1 0 0 0 at position 1. Its number 0 is the first of pair 0, whose angle is 1. In "
        "halves, 0.540 0 0.841 0 comes out; interleaved, 0.540 0.841 0 0."
    ),
    returns=("turned",),
    reference=reference,
    cases=(*CASES, *random_cases(draw, 8, "random vectors")),
    draw=draw,
    misconceptions=(
        _mistake(
            "the layouts exchanged",
            _variant(cut=OTHER.__getitem__, joined=OTHER.__getitem__),
            "With one pair you are right. Which numbers are neighbours: those of which layout?",
        ),
        _mistake(
            "always in halves",
            _variant(cut=lambda layout: "halves", joined=lambda layout: "halves"),
            "One of the two layouts is right. Where do you use layout?",
        ),
        _mistake(
            "always interleaved",
            _variant(cut=lambda layout: "interleaved", joined=lambda layout: "interleaved"),
            "Neighbours are pairs in one of the layouts only. Where do you use layout?",
        ),
        _mistake(
            "put back in the other layout",
            _variant(joined=OTHER.__getitem__),
            "The pairs and their angles are right. Where does each turned number belong?",
        ),
        _mistake(
            "always put back in halves",
            _variant(joined=lambda layout: "halves"),
            "The pairs and their angles are right. When neighbours are pairs, where do the two turned numbers "
            "belong?",
        ),
        _mistake(
            "the angles in the other layout's order",
            _with_angles(OTHER.__getitem__),
            "The pairs are right. But the two numbers of a pair aren't turned by the same angle: write down "
            "which angle each number gets.",
        ),
        _mistake(
            "the angles always in the order of neighbours",
            _with_angles(lambda layout: "interleaved"),
            "Interleaved, you are right. In halves, which other number is turned by the angle of number 0?",
        ),
        _mistake(
            "the angles always in the order of halves",
            _with_angles(lambda layout: "halves"),
            "In halves, you are right. Interleaved, which other number is turned by the angle of number 0?",
        ),
        _mistake(
            "the first number overwritten before the second one is turned",
            _overwritten,
            "The first number of each pair is right. Both new numbers are made of the two old ones: which ones "
            "do you have, when you come to the second?",
        ),
        _mistake(
            "turned the other way",
            _variant(signs=(1.0, -1.0)),
            "The angles have the right size, but not the right direction. Where does (1, 0) go at position 1?",
        ),
        _mistake(
            "two signs alike",
            _variant(signs=(-1.0, -1.0)),
            "A turned vector is as long as before. Is yours?",
        ),
        _mistake(
            "no sign",
            _variant(signs=(1.0, 1.0)),
            "A turned vector is as long as before. Is yours? Compare with the two formulas of the task.",
        ),
        _mistake(
            "one angle for all pairs",
            _variant(exponents=lambda pair, d_k: 0.0 * pair),
            "With one pair you are right. Does pair 1 turn as fast as pair 0?",
        ),
        _mistake(
            "the 2 left out of the exponent",
            _variant(exponents=lambda pair, d_k: pair / d_k),
            "Pair 0 is right, and the others turn too fast. With which exponent does the last pair come near "
            "10000?",
        ),
        _mistake(
            "pairs counted from 1",
            _variant(exponents=lambda pair, d_k: 2 * (pair + 1) / d_k),
            "By how much does pair 0 turn from one position to the next?",
        ),
        _mistake(
            "multiplied by the power",
            _variant(angle=lambda place, power: place * power),
            "Pair 0 is right. Should later pairs turn faster, or more slowly?",
        ),
        _mistake(
            "positions counted from 1",
            _variant(places=lambda positions: positions + 1),
            "What happens to a vector at position 0?",
        ),
        _mistake(
            "the places in x in the place of positions",
            _variant(places=lambda positions: np.arange(len(positions))),
            "Where do you use positions? With a memory or a cache, the first vector needn't be at 0.",
        ),
        _mistake(
            "positions added, not turned",
            _added,
            "Sines and cosines are added in chapter 05. Here they turn a vector: what do they multiply?",
        ),
        _mistake(
            "only cosines",
            _variant(sine=np.zeros_like),
            "Your vectors become shorter. What does each number get from the other one of its pair?",
        ),
    ),
)
