"""Exercise: what the scale does to variance and entropy, measured."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases

Array = NDArray[Any]
Four = tuple[float, float, float, float]


def _softmax(scores: Array, axis: int = -1) -> Array:
    powers = np.exp(scores - scores.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def _bits(weights: Array, axis: int = -1) -> Array:
    """Return the entropy, in bits, of the weights along an axis."""
    return -(weights * np.log2(np.where(weights > 0, weights, 1.0))).sum(axis)


def _entropies(scores: Array) -> Array:
    """Return the entropy, in bits, of each row's weights."""
    return _bits(_softmax(scores))


def _measured(
    spread: Any = np.var,
    entropy: Any = lambda scores: _entropies(scores).mean(),
    scale: Any = lambda queries, keys: np.sqrt(queries.shape[-1]),
    turned: Any = np.transpose,
) -> Any:
    """Return the measurement, with other ways to measure."""

    def measure(queries: Array, keys: Array) -> Four:
        scores = queries @ turned(keys)
        scaled = scores / scale(queries, keys)
        values = (spread(scores), spread(scaled), entropy(scores), entropy(scaled))
        return tuple(float(value) for value in values)  # type: ignore[return-value]

    return measure


def reference(queries: Array, keys: Array) -> Four:
    """Return variance and mean entropy, before and after scaling."""
    result: Four = _measured()(queries, keys)
    return result


def _zero_times_infinity(scores: Array) -> Any:
    weights = _softmax(scores)
    return -(weights * np.log2(weights)).sum(-1).mean()


def _no_shift(scores: Array) -> Any:
    powers = np.exp(scores)
    weights = powers / powers.sum(-1, keepdims=True)
    return _bits(weights).mean()


def _in_order(*order: int) -> Any:
    """Return the measurement with its four numbers in another order."""
    return lambda queries, keys: tuple(reference(queries, keys)[place] for place in order)


def _root_for_variance(queries: Array, keys: Array) -> Four:
    variance, _, entropy, scaled_entropy = reference(queries, keys)
    return variance, variance / float(np.sqrt(queries.shape[-1])), entropy, scaled_entropy


def draw(rng: np.random.Generator) -> tuple[Array, Array]:
    """Return queries and keys of unit variance, at times so large that weights underflow to 0."""
    n_queries, n_keys, d_k = (int(n) for n in rng.integers(2, 8, size=3))
    size = rng.choice([1.0, 1.0, 1.0, 60.0])
    return rng.normal(size=(n_queries, d_k)) * size, rng.normal(size=(n_keys, d_k)) * size


measure_scores = Exercise(
    name="measure_scores",
    kind="experiment",
    difficulty=3,
    minutes=25,
    statement=(
        "Write the measurement. Given queries (n_queries, d_k) and keys (n_keys, d_k), return "
        "four numbers: the variance of all scores, as np.var computes it; the variance of the "
        "scores divided by √d_k; the entropy of the weights in bits, -Σ w log₂ w (0 log₂ 0 counts "
        "as 0), averaged over the queries, without scaling; the same with scaling."
    ),
    returns=("variance", "scaled_variance", "entropy", "scaled_entropy"),
    reference=reference,
    cases=(
        Case("one query, two keys", (np.array([[1.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 1.0]]))),
        Case(
            "two queries, two keys", (np.array([[1.0, 2], [0, 1]]), np.array([[1.0, 0], [1, -1]]))
        ),
        Case("width 1", (np.array([[1.0], [-2.0]]), np.array([[1.0], [0.5], [-1.0]]))),
        *random_cases(draw, 5),
        Case(
            "a weight of exactly 0",
            (np.array([[1.0, 0]]), np.array([[0.0, 0], [-900, 0], [0, 1]])),
        ),
        Case(
            "huge scores",
            (np.array([[60.0, 0], [0, 50]]), np.array([[70.0, 1], [0, 60], [-50, 40]])),
        ),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "0 times the logarithm of 0 gives NaN",
            _measured(entropy=_zero_times_infinity),
            "Where a weight is exactly 0, its logarithm is minus infinity, and 0 times infinity "
            "is NaN. Such a weight adds nothing to the entropy: keep it out of the logarithm.",
        ),
        Misconception(
            "no shift before the exponential",
            _measured(entropy=_no_shift),
            "Small scores work. With huge ones the exponential overflows: use your softmax.",
        ),
        Misconception(
            "results in the wrong order",
            _in_order(0, 2, 1, 3),
            "All four numbers are right. Read again in which order they are to come.",
        ),
        Misconception(
            "the two entropies in the wrong order",
            _in_order(0, 1, 3, 2),
            "Both variances are right. Which entropy comes first: that of the scores as they are, "
            "or of the scaled ones?",
        ),
        Misconception(
            "the two variances in the wrong order",
            _in_order(1, 0, 2, 3),
            "Both entropies are right. Which variance comes first: that of the scores as they are, "
            "or of the scaled ones?",
        ),
        Misconception(
            "first the scaled numbers, then those without scaling",
            _in_order(1, 0, 3, 2),
            "All four numbers are right, but in each pair the scaled one should come second.",
        ),
        Misconception(
            "standard deviation instead of variance",
            _measured(spread=np.std),
            "You return the root of what is asked for. The variance is the mean of the squared "
            "distances from the mean.",
        ),
        Misconception(
            "variance divided by n - 1",
            _measured(spread=lambda x: np.var(x, ddof=1)),
            "NumPy divides by n, torch's `var` by n - 1 unless you say `correction=0`. The task "
            "wants n.",
        ),
        Misconception(
            "mean square instead of variance",
            _measured(spread=lambda x: (x**2).mean()),
            "These are the same only if the mean is 0. Here it isn't exactly.",
        ),
        Misconception(
            "variance of each query, then averaged",
            _measured(spread=lambda x: x.var(-1).mean()),
            "The task asks for one variance of all scores together.",
        ),
        Misconception(
            "entropy in another unit than bits",
            _measured(entropy=lambda x: _entropies(x).mean() * np.log(2)),
            "Your entropies are right in another unit. Which logarithm does the task name?",
        ),
        Misconception(
            "the sign of the entropy",
            _measured(entropy=lambda x: -_entropies(x).mean()),
            "The logarithm of a weight is never positive, but an entropy is never negative.",
        ),
        Misconception(
            "entropies added, not averaged",
            _measured(entropy=lambda x: _entropies(x).sum()),
            "Your number grows with the number of queries. The task asks for the mean over them.",
        ),
        Misconception(
            "averaged over the keys too",
            _measured(entropy=lambda x: _entropies(x).mean() / x.shape[-1]),
            "The entropy of a query is a sum over its keys; only then comes the mean over the "
            "queries.",
        ),
        Misconception(
            "entropy of the average weights",
            _measured(entropy=lambda x: _bits(_softmax(x).mean(0))),
            "First the entropy of each query, then the mean. In the other order, sharp weights "
            "look broad.",
        ),
        Misconception(
            "scaled by d_k",
            _measured(scale=lambda queries, keys: queries.shape[-1]),
            "Look at your scaled variance when d_k grows: it should stay near 1, not fall.",
        ),
        Misconception(
            "scaled by the number of queries",
            _measured(scale=lambda queries, keys: np.sqrt(len(queries))),
            "`len` counts the rows, and each row is a query. A score is a sum over the width: which "
            "axis is that?",
        ),
        Misconception(
            "scaled by the number of keys",
            _measured(scale=lambda queries, keys: np.sqrt(len(keys))),
            "A score is a sum over the width of one key, not over the keys. Which axis is the width?",
        ),
        Misconception(
            "the variance divided by √d_k, not the scores",
            _root_for_variance,
            "Your entropies are right. If all numbers are divided by c, by what is their variance "
            "divided? It is a mean of squares.",
        ),
        Misconception(
            "softmax over the queries",
            _measured(entropy=lambda x: _bits(_softmax(x, 0)).mean()),
            "Your variances are right. The weights of one query should sum to 1 over the keys: "
            "along which axis of the scores do the keys lie?",
        ),
        Misconception(
            "softmax and entropy over the queries",
            _measured(entropy=lambda x: _bits(_softmax(x, 0), 0).mean()),
            "Your variances are right. Your entropies are those of columns, one for each key. Each "
            "query should have one.",
        ),
        Misconception(
            "keys not transposed",
            _measured(turned=lambda keys: keys),
            "A score compares a whole query with a whole key. Which axis of the keys must meet the "
            "queries' last axis?",
        ),
        Misconception(
            "scale left out",
            _measured(scale=lambda queries, keys: 1.0),
            "Your numbers with and without scaling are the same. Where do you divide?",
        ),
    ),
)
