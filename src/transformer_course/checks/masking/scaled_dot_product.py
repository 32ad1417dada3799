"""Exercise: scaled dot-product attention with a mask, which never gives NaN."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases

Array = NDArray[Any]
Results = tuple[Array, Array]
Mask = Array | None


def _softmax(scores: Array, axis: int = -1) -> Array:
    powers = np.exp(scores - scores.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def _hidden(scores: Array, mask: Mask, low: float = -np.inf) -> Array:
    return scores if mask is None else np.where(mask, scores, low)


def _weights(scores: Array, mask: Mask) -> Array:
    """Return the weights; a row without anything to see gets zeros."""
    if mask is None:
        return _softmax(scores)
    lowest = np.where(mask, scores, np.finfo(scores.dtype).min)
    return np.where(mask, _softmax(lowest), 0.0)


def _attention(
    weigh: Callable[[Array, Mask], Array], scale: Callable[[Array], float] | None = None
) -> Callable[..., Results]:
    """Return attention with another way to turn scores and mask into weights."""

    def attention(queries: Array, keys: Array, values: Array, mask: Mask = None) -> Results:
        scores = queries @ keys.swapaxes(-2, -1)
        divisor = np.sqrt(queries.shape[-1]) if scale is None else scale(queries)
        weights = weigh(scores / divisor, mask)
        return weights @ values, weights

    return attention


def reference(queries: Array, keys: Array, values: Array, mask: Mask = None) -> Results:
    """Return the output and the weights."""
    return _attention(_weights)(queries, keys, values, mask)


def _late(scores: Array, mask: Mask) -> Array:
    return _softmax(scores) * (1.0 if mask is None else mask)


def _uniform(scores: Array, mask: Mask) -> Array:
    return _softmax(_hidden(scores, mask, -1e9))


def _added(scores: Array, mask: Mask) -> Array:
    return _softmax(scores if mask is None else scores + mask)


def _inverted(scores: Array, mask: Mask) -> Array:
    return _weights(scores, None if mask is None else ~mask)


def _inverted_with(low: float) -> Callable[[Array, Mask], Array]:
    """Return weights with the mask turned round by a fill, as most programs write it: no row is looked at."""
    return lambda scores, mask: _softmax(_hidden(scores, None if mask is None else ~mask, low))


def _inverted_by_adding(scores: Array, mask: Mask) -> Array:
    return _softmax(scores if mask is None else scores + mask * -1e9)


def _over_queries(low: float) -> Callable[[Array, Mask], Array]:
    """Return weights that sum to 1 over the queries, hidden by a fill."""
    return lambda scores, mask: _softmax(_hidden(scores, mask, low), -2)


def _high(scores: Array, mask: Mask) -> Array:
    return _softmax(_hidden(scores, mask, -1e4))


def _high_then_hidden(scores: Array, mask: Mask) -> Array:
    return _high(scores, mask) * (1.0 if mask is None else mask)


def _high_then_rows_hidden(scores: Array, mask: Mask) -> Array:
    return _high(scores, mask) * (1.0 if mask is None else mask.any(-1, keepdims=True))


def _unscaled_with_mask(queries: Array, keys: Array, values: Array, mask: Mask = None) -> Results:
    scale = None if mask is None else (lambda queries: 1.0)
    return _attention(_weights, scale)(queries, keys, values, mask)


def _no_shift(scores: Array, mask: Mask) -> Array:
    """Return weights from plain exponentials; a row without anything to see gets zeros."""
    powers = np.exp(_hidden(scores, mask))
    total = powers.sum(-1, keepdims=True)
    return powers / np.where(total == 0, 1.0, total)


def _no_shift_and_nan(scores: Array, mask: Mask) -> Array:
    powers = np.exp(_hidden(scores, mask))
    return powers / powers.sum(-1, keepdims=True)


def _output_of_zero(low: float) -> Callable[..., Results]:
    """Return attention that mends the output of a row that sees nothing, not its weights."""

    def attention(queries: Array, keys: Array, values: Array, mask: Mask = None) -> Results:
        weigh = _attention(lambda scores, mask: _softmax(_hidden(scores, mask, low)))
        return reference(queries, keys, values, mask)[0], weigh(queries, keys, values, mask)[1]

    return attention


def _shares_made_anew(scores: Array, mask: Mask) -> Array:
    """Return weights hidden after softmax and divided by their sum; a row without any gives 0/0."""
    weights = _late(scores, mask)
    return weights / weights.sum(-1, keepdims=True)


def _shift_before_hiding(scores: Array, mask: Mask) -> Array:
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    powers = powers if mask is None else np.where(mask, powers, 0.0)
    total = powers.sum(-1, keepdims=True)
    return np.asarray(powers / np.where(total == 0, 1.0, total))


def _nothing(scores: Array, mask: Mask) -> Array:
    """Return the right weights, but NaN becomes the row's plain softmax."""
    weights = _softmax(_hidden(scores, mask))
    return np.where(np.isnan(weights), _softmax(scores), weights)


def draw(rng: np.random.Generator) -> tuple[Any, ...]:
    """Return queries, keys, values, and a random mask; at times a row sees nothing, or scores are huge."""
    batch, q_len, k_len, d_k, d_v = (int(n) for n in rng.integers(1, 6, size=5))
    shapes = ((batch, q_len, d_k), (batch, k_len, d_k), (batch, k_len, d_v))
    queries, keys, values = (rng.normal(size=shape) for shape in shapes)
    arrays = (queries * rng.choice([1.0, 1.0, 5000.0]), keys, values)
    kind = rng.integers(4)
    if kind == 0:
        return (*arrays, None)
    shape = ((batch, q_len, k_len), (batch, 1, k_len), (q_len, k_len))[kind - 1]
    return (*arrays, rng.random(shape) < 0.6)


def _case(about: str, mask: Any, shape: tuple[int, ...] = (2, 2, 2, 2)) -> Case:
    """Return a case with random numbers; shape is q_len, k_len, d_k, d_v."""
    q_len, k_len, d_k, d_v = shape
    rng = np.random.default_rng(5)
    arrays = (rng.normal(size=size).round(2) for size in ((q_len, d_k), (k_len, d_k), (k_len, d_v)))
    return Case(about, (*arrays, None if mask is None else np.array(mask)))


_HUGE_HIDDEN = Case(
    "a huge score that is hidden",
    (
        np.array([[1.0]]),
        np.array([[1.0], [2.0], [900.0]]),
        np.array([[1.0], [2.0], [4.0]]),
        np.array([[True, True, False]]),
    ),
)
_FAR_BELOW_ZERO = Case(
    "scores far below 0, one key hidden",
    (
        np.array([[200.0]]),
        np.array([[-100.0], [-101.0]]),
        np.array([[1.0], [2.0]]),
        np.array([[True, False]]),
    ),
)
_HUGE = Case(
    "huge scores, one key hidden",
    (
        np.array([[900.0], [-900.0]]),
        np.array([[2.0], [1.0], [-3.0]]),
        np.array([[1.0], [2.0], [4.0]]),
        np.array([[True, True, False], [False, True, True]]),
    ),
)

scaled_dot_product_attention = Exercise(
    name="scaled_dot_product_attention",
    kind="implement",
    difficulty=3,
    minutes=25,
    statement=(
        "Write attention with a mask: softmax(Q Kᵀ / √d_k) V, with hidden keys left out of the softmax. "
        "Queries have shape (..., q_len, d_k), keys (..., k_len, d_k), values (..., k_len, d_v). The mask "
        "holds True and False, True = may attend, and can be broadcast to (..., q_len, k_len); None means "
        "that nothing is hidden. Return the output and the weights. A query that may attend to nothing gets "
        "weights of 0, and an output of 0: never NaN. Huge scores must work as well."
    ),
    returns=("output", "weights"),
    reference=reference,
    cases=(
        _case("one query, two keys, one hidden", [[True, False]], (1, 2, 1, 1)),
        _case("no mask", None),
        _case("two queries, causal", [[True, False], [True, True]]),
        _case("three keys, one is padding", [[True, True, False]], (2, 3, 4, 2)),
        _case("a query that sees nothing", [[True, True, False], [False] * 3], (2, 3, 4, 2)),
        _case("four of everything, causal", np.tri(4, dtype=bool), (4, 4, 4, 4)),
        _case("nothing hidden", np.ones((3, 5), bool), (3, 5, 2, 7)),
        _HUGE,
        _HUGE_HIDDEN,
        _FAR_BELOW_ZERO,
        *random_cases(draw, 8),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "the mask ignored",
            _attention(lambda scores, mask: _softmax(scores)),
            "Your weights are those without a mask. Where do you use `mask`?",
        ),
        Misconception(
            "the polarity turned round",
            _attention(_inverted),
            "You hide what may be seen, and show what is hidden. True means: may attend.",
        ),
        Misconception(
            "the polarity turned round: a row that sees everything becomes NaN",
            _attention(_inverted_with(-np.inf)),
            "You fill where the mask is True. What does True mean in this course: hide, or may attend?",
        ),
        Misconception(
            "the polarity turned round: a row that sees everything gets equal shares",
            _attention(_inverted_with(-1e9)),
            "The low number goes where the mask is True. What does True mean in this course: hide, or "
            "may attend?",
        ),
        Misconception(
            "the polarity turned round: a low number added where the mask is True",
            _attention(_inverted_by_adding),
            "True counts as 1, so the low number lands on the keys that may be seen. Which keys should "
            "it meet?",
        ),
        Misconception(
            "hidden scores set to 0",
            _attention(lambda scores, mask: _softmax(_hidden(scores, mask, 0.0))),
            "A score of 0 gives a weight like any other: the exponential of 0 is 1. Which score "
            "gives the weight 0?",
        ),
        Misconception(
            "weights set to 0 after the softmax",
            _attention(_late),
            "Hidden weights are 0, but the others no longer sum to 1. At which step must hiding "
            "come?",
        ),
        Misconception(
            "hidden after the shift, so a huge hidden score counts",
            _attention(_shift_before_hiding),
            "The largest score is taken away first. Which one is it, where a key that is hidden has it, and "
            "what is left of the others?",
        ),
        Misconception(
            "shares made anew after the softmax: 0/0 in a row that sees nothing",
            _attention(_shares_made_anew),
            "Where something may be seen, all is right, unless hidden scores are far above the others. What "
            "do you divide by where everything is hidden?",
        ),
        Misconception(
            "a row that sees nothing becomes NaN",
            _attention(lambda scores, mask: _softmax(_hidden(scores, mask))),
            "All is right where something may be seen. Where everything is hidden, you compute 0/0: "
            "what should such a row be?",
        ),
        Misconception(
            "a row that sees nothing sees everything in equal shares",
            _attention(_uniform),
            "All is right where something may be seen. Where all scores are the same low number, "
            "softmax gives equal weights: what should such a row be?",
        ),
        Misconception(
            "a row that sees nothing is treated as if nothing were hidden",
            _attention(_nothing),
            "All is right where something may be seen. A query that may attend to nothing must not "
            "see everything.",
        ),
        Misconception(
            "True and False added to the scores",
            _attention(_added),
            "True counts as 1 and False as 0, so nothing is hidden. What must be added to hide a "
            "key?",
        ),
        Misconception(
            "hidden scores lowered a little",
            _attention(lambda scores, mask: _softmax(_hidden(scores, mask, -10.0))),
            "Your hidden keys still have a small weight. Which score gives the weight 0, exactly?",
        ),
        Misconception(
            "a fill that scores can fall below: a row that may see a key gets zeros",
            _attention(_high_then_hidden),
            "In one case every score lies below the number that you fill in. Which key gets the weight then?",
        ),
        Misconception(
            "a fill that scores can fall below: the weight goes to a hidden key",
            _attention(_high_then_rows_hidden),
            "In one case every score lies below the number that you fill in. How low can a number of this "
            "type be?",
        ),
        Misconception(
            "a fill that scores can fall below, and equal shares in a row that sees nothing",
            _attention(_high),
            "A hidden key gets weight in two cases: where every score lies below the number that you fill "
            "in, and where nothing may be seen. Look at the second one first: what should such a row be?",
        ),
        Misconception(
            "scores not scaled where there is a mask",
            _unscaled_with_mask,
            "Without a mask you are right. What happens to the scores there that doesn't happen with one?",
        ),
        Misconception(
            "scores not scaled",
            _attention(_weights, lambda queries: 1.0),
            "The mask is right. What does the equation do with the scores before it?",
        ),
        Misconception(
            "softmax over the queries",
            _attention(lambda scores, mask: np.nan_to_num(_softmax(_hidden(scores, mask), -2))),
            "Your weights sum to 1 down a column. Each query shares out its own attention.",
        ),
        Misconception(
            "softmax over the queries, and a column that is hidden from all becomes NaN",
            _attention(_over_queries(-np.inf)),
            "Your weights sum to 1 down a column, and a column may be hidden from every query. Along "
            "which axis are the keys?",
        ),
        Misconception(
            "softmax over the queries, and a column that is hidden from all gets equal shares",
            _attention(_over_queries(-1e9)),
            "Your weights sum to 1 down a column, even that of a hidden key. Each query shares out its "
            "own attention.",
        ),
        Misconception(
            "no shift before the exponential",
            _attention(_no_shift),
            "Small scores work. With huge ones the exponential becomes infinite, or 0: remember your softmax.",
        ),
        Misconception(
            "no shift before the exponential, and 0/0 where nothing is seen",
            _attention(_no_shift_and_nan),
            "Rows come out as NaN where scores are huge, and where nothing is seen. In the first the "
            "exponential goes too far; what do you divide by in the second?",
        ),
        Misconception(
            "a row that sees nothing: the output is 0, the weights are NaN",
            _output_of_zero(-np.inf),
            "The output is right everywhere. The weights are a result too: what should they be where "
            "nothing is seen?",
        ),
        Misconception(
            "a row that sees nothing: the output is 0, the weights are equal shares",
            _output_of_zero(-1e9),
            "The output is right everywhere. The weights of a row that sees nothing still say that it "
            "looks at every key.",
        ),
        Misconception(
            "results in the wrong order",
            lambda queries, keys, values, mask=None: reference(queries, keys, values, mask)[::-1],
            "Both results are right. Read again which of them is to come first.",
        ),
    ),
)
