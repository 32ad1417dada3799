"""Exercise: softmax block by block, with a maximum, a sum and weighted values that are kept."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, random_cases
from transformer_course.checks.tables import with_tables

Array = NDArray[Any]
State = tuple[float, float, Array]
RETURNS = ("maximum", "total", "weighted")


def _variant(
    *,
    top: Callable[[Any, Array], Any] = lambda maximum, scores: max(maximum, scores.max()),
    origin: Callable[[Any, Any, Array], Any] = lambda maximum, new, scores: new,
    of_total: Callable[[Any, Any], Any] = lambda maximum, new: np.exp(maximum - new),
    of_weighted: Callable[[Any, Any], Any] = lambda maximum, new: np.exp(maximum - new),
    divided: bool = False,
) -> Callable[..., State]:
    """Return the function of the exercise with another step here or there.

    Args:
        top: (old maximum, scores) → new maximum.
        origin: (old maximum, new maximum, scores) → what is subtracted from the scores of the block.
        of_total: (old maximum, new maximum) → the factor of the sum so far.
        of_weighted: the same for the weighted values so far.
        divided: whether the weighted values are divided by the sum.
    """

    def add_block(
        maximum: Array, total: Array, weighted: Array, scores: Array, values: Array
    ) -> State:
        new = top(maximum, scores)
        powers = np.exp(scores - origin(maximum, new, scores))
        total = total * of_total(maximum, new) + powers.sum()
        weighted = weighted * of_weighted(maximum, new) + powers @ values
        return float(new), float(total), weighted / total if divided else weighted

    return add_block


def reference(maximum: Array, total: Array, weighted: Array, scores: Array, values: Array) -> State:
    """Return the three things kept, as they are after one more block."""
    return _variant()(maximum, total, weighted, scores, values)


def kept(scores: Array, values: Array) -> tuple[Array, Array, Array]:
    """Return what is to be kept of all scores and values so far, in one step."""
    top = scores.max(initial=-np.inf)
    powers = np.exp(scores - top)
    return np.array(top), np.array(powers.sum()), powers @ values


def _scaled_too(
    maximum: Array, total: Array, weighted: Array, scores: Array, values: Array
) -> State:
    new, factor = max(maximum, scores.max()), np.exp(maximum - max(maximum, scores.max()))
    powers = np.exp(scores - new)
    return float(new), float((total + powers.sum()) * factor), (weighted + powers @ values) * factor


def _softmax_of_each(
    maximum: Array, total: Array, weighted: Array, scores: Array, values: Array
) -> State:
    powers = np.exp(scores - scores.max())
    added = powers @ values / powers.sum()
    return float(max(maximum, scores.max())), float(total + 1), weighted + added


def _old_maximum(
    maximum: Array, total: Array, weighted: Array, scores: Array, values: Array
) -> State:
    _, total_now, weighted_now = reference(maximum, total, weighted, scores, values)
    return float(maximum), total_now, weighted_now


def _nothing(maximum: Any, new: Any) -> float:
    return 0.0


def _as_it_was(maximum: Any, new: Any) -> float:
    return 1.0


def draw(rng: np.random.Generator) -> tuple[Array, ...]:
    """Return what was kept of 0 to 5 scores, and the scores and values of one block, 1 to 5."""
    sizes = int(rng.integers(0, 6)), int(rng.integers(1, 6))
    offset = float(rng.choice([0.0, 0.0, 1000.0, -1000.0]))
    signs = rng.choice([-1.0, 1.0], size=int(rng.integers(1, 4)))  # no sum comes near 0
    earlier, scores = (offset + rng.integers(-24, 25, size=n) / 8 for n in sizes)
    old, values = (signs * rng.integers(1, 10, size=(n, len(signs))) for n in sizes)
    return (*kept(earlier, old), scores, values)


def _case(about: str, earlier: list[float], scores: list[float]) -> Case:
    """Return a case whose values are 10, 20, …, first those before, then those of the block."""
    values = 10.0 * np.arange(1, len(earlier) + len(scores) + 1)[:, None]
    old, new = values[: len(earlier)], values[len(earlier) :]
    return Case(about, (*kept(np.array(earlier), old), np.array(scores), new))


CASES = (
    _case("a larger score", [0.0], [np.log(2)]),
    _case("a smaller score", [0.0], [-np.log(2)]),
    _case("the first block, one score", [], [0.5]),
    _case("the first block, two scores", [], [np.log(3), 0.0]),
    _case("two scores after two", [0.0, -np.log(2)], [np.log(4), np.log(2)]),
    _case("1000 once more", [1000.0], [1000.0]),
    _case("1000 after 0", [0.0], [1000.0]),
    _case("0 after 1000", [1000.0], [0.0]),
    _case("the first block, scores of 1000", [], [1000.0, 999.0]),
    _case("scores far below 0", [-1000.0, -1001.0], [-999.0, -1000.0]),
)
_mistake = with_tables(reference, CASES, RETURNS)

add_block = Exercise(
    name="add_block",
    kind="implement",
    difficulty=2,
    minutes=20,
    statement=(
        "Average values with softmax weights, block by block. The keys of one query come in blocks: scores, "
        "(n,), are the scores of one block, and values, (n, d_v), are its values. Of all blocks before, three "
        "things are kept. maximum is the largest score so far: a number, −∞ at first. total is the sum of "
        "exp(score − maximum) over the scores so far: a number, 0 at first. weighted, (d_v,), is the sum of "
        "exp(score − maximum) · value: zeros at first. Return the three as they are after this block: two "
        "numbers and an array (d_v,), all floating point. After the last block, weighted / total is what "
        "softmax over all scores gives. Scores may be 1000: no exponential may overflow.\n\n"
        "An example: a score 0 with the value 10 came first, so maximum 0, total 1, weighted [10] are kept. "
        "Now comes the score 0.693 (the logarithm of 2) with the value 40. Then maximum is 0.693, total is "
        "0.5 + 1 = 1.5, weighted is [5 + 40]; and 45 / 1.5 = 30 is the average of 10 and 40 with the weights "
        "1/3 and 2/3."
    ),
    returns=RETURNS,
    reference=reference,
    cases=(*CASES, *random_cases(draw, 10, "random scores")),
    draw=draw,
    misconceptions=(
        _mistake(
            "what was kept isn't made smaller",
            _variant(of_total=_as_it_was, of_weighted=_as_it_was),
            "What was kept is measured from the old maximum, what is new from the new one. By which factor do "
            "the two differ?",
        ),
        _mistake(
            "the weighted values keep the old maximum",
            _variant(of_weighted=_as_it_was),
            "The sum is right. Isn't the other thing that is kept measured from the old maximum, too?",
        ),
        _mistake(
            "the sum keeps the old maximum",
            _variant(of_total=_as_it_was),
            "The weighted values are right. Isn't the sum measured from the old maximum, too?",
        ),
        _mistake(
            "the factor the wrong way round",
            _variant(
                of_total=lambda maximum, new: np.exp(new - maximum),
                of_weighted=lambda maximum, new: np.exp(new - maximum),
            ),
            "When the maximum grows, does what was kept before become more important, or less?",
        ),
        _mistake(
            "the maximum of the newest block",
            _variant(top=lambda maximum, scores: scores.max()),
            "In your function the maximum can fall. Then what was kept is multiplied by a number above 1: "
            "what if the score before was 1000, and the new one is 0?",
        ),
        _mistake(
            "the maximum isn't subtracted",
            _variant(
                origin=lambda maximum, new, scores: 0.0,
                of_total=_as_it_was,
                of_weighted=_as_it_was,
            ),
            "What is exp(1000) in floating point? And from what are the old numbers measured?",
        ),
        _mistake(
            "the new scores measured from the old maximum",
            _variant(
                origin=lambda maximum, new, scores: maximum,
                of_total=_as_it_was,
                of_weighted=_as_it_was,
            ),
            "What you add is right beside what was kept. But the maximum you return is another one: what "
            "will the next block believe? And what is there to subtract in the first block?",
        ),
        _mistake(
            "the new scores measured from their own maximum",
            _variant(origin=lambda maximum, new, scores: scores.max()),
            "If an older score is the largest, what should the new ones be compared with?",
        ),
        _mistake(
            "the new block made smaller, too",
            _scaled_too,
            "The factor belongs to what was measured from the old maximum. Was the new block?",
        ),
        _mistake(
            "a softmax in each block by itself",
            _softmax_of_each,
            "In your function each block weighs the same, whether its scores are 0 or 1000.",
        ),
        _mistake(
            "this block alone",
            _variant(of_total=_nothing, of_weighted=_nothing),
            "What has become of the blocks before?",
        ),
        _mistake(
            "divided after each block",
            _variant(divided=True),
            "The division is for the end, after the last block. What should the next block add its values to?",
        ),
        _mistake(
            "the old maximum returned",
            _old_maximum,
            "The other two are measured from a maximum that you don't return.",
        ),
    ),
)
