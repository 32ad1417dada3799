"""Exercise: check a worked example step by step, each step from the printed numbers before it."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases

Array = NDArray[Any]
Four = tuple[float, float, float, float]


def _softmax(scores: Array, axis: int = -1) -> Array:
    powers = np.exp(scores - scores.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def _causal(scores: Array) -> Array:
    return np.where(np.tri(len(scores), dtype=bool), scores, -np.inf)


def _steps(
    x: Array,
    w_key: Array,
    keys: Array,
    scores: Array,
    weights: Array,
    weigh: Callable[[Array, int], Array] | None = None,
) -> list[Array]:
    """Return what each step should be, from what is printed before it."""
    weigh = weigh or (lambda s, width: _softmax(_causal(s / np.sqrt(width))))
    return [x @ w_key, x @ keys.T, weigh(scores, x.shape[1]), weights @ x]


def _apart(printed: tuple[Array, ...], expected: list[Array], how: Any = np.max) -> Four:
    gaps = (np.abs(p - e) for p, e in zip(printed, expected, strict=True))
    return tuple(float(how(gap)) for gap in gaps)  # type: ignore[return-value]


def reference(
    x: Array, w_key: Array, keys: Array, scores: Array, weights: Array, output: Array
) -> Four:
    """Return the largest distance of each printed step from what the printed numbers before it give."""
    expected = _steps(x, w_key, keys, scores, weights)
    return _apart((keys, scores, weights, output), expected)


def _from_the_start(
    x: Array, w_key: Array, keys: Array, scores: Array, weights: Array, output: Array
) -> Four:
    true_keys = x @ w_key
    true_scores = x @ true_keys.T
    true_weights = _softmax(_causal(true_scores / np.sqrt(x.shape[1])))
    expected = [true_keys, true_scores, true_weights, true_weights @ x]
    return _apart((keys, scores, weights, output), expected)


def _own_weights_averaged(
    x: Array, w_key: Array, keys: Array, scores: Array, weights: Array, output: Array
) -> Four:
    expected = _steps(x, w_key, keys, scores, weights)
    return _apart((keys, scores, weights, output), [*expected[:3], expected[2] @ x])


def _from_last_right(
    x: Array, w_key: Array, keys: Array, scores: Array, weights: Array, output: Array
) -> Four:
    expected = _steps(x, w_key, keys, x @ (x @ w_key).T, weights)
    expected[1] = x @ (x @ w_key).T
    return _apart((keys, scores, weights, output), expected)


def _with(weigh: Callable[[Array, int], Array] | None = None, how: Any = np.max) -> Any:
    """Return the function with another softmax, or another way to sum up the distances."""

    def wrong(
        x: Array, w_key: Array, keys: Array, scores: Array, weights: Array, output: Array
    ) -> Four:
        expected = _steps(x, w_key, keys, scores, weights, weigh)
        return _apart((keys, scores, weights, output), expected, how)

    return wrong


def _signed(
    x: Array, w_key: Array, keys: Array, scores: Array, weights: Array, output: Array
) -> Four:
    expected = _steps(x, w_key, keys, scores, weights)
    printed = (keys, scores, weights, output)
    return tuple(float((p - e).max()) for p, e in zip(printed, expected, strict=True))  # type: ignore[return-value]


def _signed_from_right(
    x: Array, w_key: Array, keys: Array, scores: Array, weights: Array, output: Array
) -> Four:
    expected = _steps(x, w_key, keys, scores, weights)
    printed = (keys, scores, weights, output)
    return tuple(float((e - p).max()) for p, e in zip(printed, expected, strict=True))  # type: ignore[return-value]


def _keys_averaged(
    x: Array, w_key: Array, keys: Array, scores: Array, weights: Array, output: Array
) -> Four:
    expected = [*_steps(x, w_key, keys, scores, weights)[:3], weights @ keys]
    return _apart((keys, scores, weights, output), expected)


def draw(rng: np.random.Generator) -> tuple[Array, ...]:
    """Return a worked example, printed to three digits, with a mistake in some of its steps."""
    n, width = int(rng.integers(1, 6)), int(rng.integers(1, 5))
    x, w_key = rng.normal(size=(n, width)), rng.normal(size=(width, width))

    def printed(step: Array) -> Array:
        step = step.round(3)
        if rng.random() < 0.5:
            step.flat[rng.integers(step.size)] += rng.choice([-1.0, 1.0]) * rng.uniform(0.02, 0.5)
        return step

    keys = printed(x @ w_key)
    scores = printed(x @ keys.T)
    weights = printed(_softmax(_causal(scores / np.sqrt(width))))
    return x, w_key, keys, scores, weights, printed(weights @ x)


def _plain(about: str, seed: int, n: int, width: int) -> Case:
    """Return a right example in round numbers."""
    rng = np.random.default_rng(seed)
    x, w_key = rng.integers(0, 3, (n, width)) / 2.0, rng.integers(0, 3, (width, width)) / 2.0
    scores = x @ (x @ w_key).T
    weights = _softmax(_causal(scores / np.sqrt(width)))
    return Case(about, (x, w_key, x @ w_key, scores, weights, weights @ x))


largest_errors = Exercise(
    name="largest_errors",
    kind="spot the bug",
    difficulty=3,
    minutes=25,
    statement=(
        "Write a function that checks a worked example of causal attention with Q = V = X. It gets "
        "X, W_K, and what is printed: the keys, the scores *before* they are divided by √d_k, the "
        "weights, the output. Return four numbers: for each printed step the largest absolute "
        "distance from what the printed numbers *before it* give."
    ),
    returns=("keys", "scores", "weights", "output"),
    reference=reference,
    cases=(
        _plain("one token, nothing wrong", 1, 1, 2),
        _plain("two tokens, nothing wrong", 2, 2, 2),
        *random_cases(draw, 10, "printed to three digits, some steps wrong"),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "every step computed from the start",
            _from_the_start,
            "You compare with the true values. After a first error all later steps look wrong too, "
            "even those that follow from it. From which numbers does each step start?",
        ),
        Misconception(
            "the future takes part in the softmax",
            _with(lambda s, width: _softmax(s / np.sqrt(width))),
            "The example is causal. In yours, keys of the future get a share of the weight 1, even if they are "
            "hidden afterwards.",
        ),
        Misconception(
            "the future scored 0",
            _with(
                lambda s, width: _softmax(
                    np.where(np.tri(len(s), dtype=bool), s / np.sqrt(width), 0.0)
                )
            ),
            "e⁰ is 1, not 0: your future still gets a share. Which score becomes a weight of 0?",
        ),
        Misconception(
            "the output from your own weights",
            _own_weights_averaged,
            "The first three steps are right. If the printed weights are wrong, your output is right and the "
            "printed one is not. From which weights was it computed?",
        ),
        Misconception(
            "keys and scores computed anew",
            _from_last_right,
            "Where a printed key is wrong, its scores look wrong in yours, too. From which keys were they "
            "computed?",
        ),
        Misconception(
            "the scale left out",
            _with(lambda s, width: _softmax(_causal(s))),
            "The printed scores aren't divided yet. What happens to them before softmax?",
        ),
        Misconception(
            "the current token hidden",
            _with(
                lambda s, width: np.nan_to_num(
                    _softmax(np.where(np.tri(len(s), k=-1, dtype=bool), s / np.sqrt(width), -1e9))
                )
            ),
            "Your diagonal is hidden. May a token see itself?",
        ),
        Misconception(
            "softmax over the queries",
            _with(lambda s, width: _softmax(_causal(s / np.sqrt(width)), 0)),
            "Your weights sum to 1 down a column. For each query they should sum to 1.",
        ),
        Misconception(
            "distances with their sign",
            _signed,
            "A printed number can be too small as well as too large. What makes both count?",
        ),
        Misconception(
            "the magnitude of the largest difference",
            lambda *given: tuple(map(abs, _signed(*given))),
            "If only one number is wrong, and too small, its difference is negative. Is it the largest one "
            "then? Which comes first: the magnitude, or the largest?",
        ),
        Misconception(
            "distances added up",
            _with(how=np.sum),
            "The task asks for the largest distance of a step. Rounding adds up, and hides an error.",
        ),
        Misconception(
            "the mean of the distances",
            _with(how=np.mean),
            "One wrong number among many right ones vanishes in a mean. The task asks for the "
            "largest.",
        ),
        Misconception(
            "right minus printed, without the magnitude",
            _signed_from_right,
            "A printed number that is too large is wrong as well. What makes a distance of a difference?",
        ),
        Misconception(
            "keys averaged instead of values",
            _keys_averaged,
            "The first three steps are right. What is averaged with the weights? Here V = X.",
        ),
    ),
)
