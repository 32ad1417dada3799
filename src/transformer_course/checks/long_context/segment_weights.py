"""Exercise: three mistakes in the attention of a segment with a memory (Dai et al. 2019, §3.3)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases
from transformer_course.checks.long_context.relative_shift import trick
from transformer_course.checks.mixtures import mixtures
from transformer_course.checks.tables import with_tables

Array = NDArray[Any]


def _variant(
    *,
    before: bool = False,
    corner: bool = False,
    half_scaled: bool = False,
    twice: bool = False,
    late: int = 0,
    masked: bool = True,
    shifted: bool = True,
    memory: bool = True,
    biases: str = "uv",
    nearest_first: bool = False,
    scale: float = 0.5,
    axis: int = -1,
    weights: bool = True,
    fill: float = -np.inf,
    after_softmax: bool = False,
) -> Any:
    """Return the function of the exercise with the mistakes asked for.

    Args:
        before: the mask stands before the shift.
        corner: the mask begins at the first key, as if there were no memory.
        half_scaled: only the scores by content are divided by √d_k.
        twice: the scores by content are divided a second time.
        late: how many keys after the query can be seen; −1 hides the query's own.
        masked: whether there is a mask.
        shifted: whether there is a shift.
        memory: whether the memory can be seen.
        biases: which of u and v is added for content, and which for distance; "–" = none.
        nearest_first: whether the distances are read in the other order.
        scale: exponent of d_k, by which the scores are divided.
        axis: of softmax.
        weights: whether scores become weights.
        fill: the score of what is hidden.
        after_softmax: whether what is hidden gets the weight 0 only when softmax is done.
    """

    def segment_weights(q: Array, k: Array, r: Array, u: Array, v: Array) -> Array:
        (q_len, d_k), k_len = q.shape, len(k)
        bias = {"u": u, "v": v, "–": np.zeros(d_k)}
        by_content = (q + bias[biases[0]]) @ k.T
        by_distance = (q + bias[biases[1]]) @ (r[::-1] if nearest_first else r).T
        first = (0 if corner else k_len - q_len) + late
        future = ~np.tri(q_len, k_len, first, dtype=bool)
        if not memory:
            future |= np.arange(k_len) < k_len - q_len
        if before:
            by_distance = np.where(future, -np.inf, by_distance)
        by_key = trick(by_distance[None])[0] if shifted else by_distance
        root = d_k**scale
        by_content = by_content / root if twice else by_content
        scores = by_content / root + by_key if half_scaled else (by_content + by_key) / root
        if masked and not before and not after_softmax:
            scores = np.where(future, fill, scores)
        if not weights:
            return np.asarray(scores)
        powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
        found = powers / powers.sum(axis=axis, keepdims=True)
        return np.where(future, 0.0, found) if after_softmax else np.asarray(found)

    return segment_weights


def reference(q: Array, k: Array, r: Array, u: Array, v: Array) -> Array:
    """Return the weights of one head, (q_len, k_len)."""
    return np.asarray(_variant()(q, k, r, u, v))


def draw(rng: np.random.Generator) -> tuple[Array, ...]:
    """Return queries, keys, vectors of the distances, and two biases."""
    q_len, memory, d_k = (int(n) for n in rng.integers((2, 1, 2), (5, 5, 5)))
    rows = (q_len, q_len + memory, q_len + memory)
    return (
        *(rng.normal(size=(n, d_k)).round(2) for n in rows),
        *rng.normal(size=(2, d_k)).round(2),
    )


def _case(about: str, q: list[float], k: list[float], r: list[float], bias: float = 0.0) -> Case:
    """Return a case whose queries, keys and distances have d_k equal numbers; u is 0, v is `bias`."""
    d_k = 4 if about.endswith("d_k = 4") else 1
    columns = (np.repeat(np.array(numbers)[:, None], d_k, axis=1) for numbers in (q, k, r))
    return Case(about, (*columns, np.zeros(d_k), np.full(d_k, bias)))


_TWO, _THREE, _FOUR = np.log([2.0, 3.0, 4.0])
CASES = (
    _case("one query, a memory of one", [1.0], [0.0, 0.0], [_THREE, 0.0]),
    _case("two queries, no memory", [1.0, 1.0], [0.0, 0.0], [_THREE, 0.0]),
    _case("two queries, a memory of one", [1.0, 1.0], [0.0, 0.0, 0.0], [_FOUR, _THREE, 0.0]),
    _case("two queries, keys that differ", [1.0, 2.0], [_TWO, 0.0, _THREE], [0.0, 0.0, 0.0]),
    _case("one query, a bias", [0.0], [0.0, 0.0], [_THREE, 0.0], 1.0),
    _case("one query, a memory of one, d_k = 4", [1.0], [0.0, 0.0], [_THREE / 2, 0.0]),
)
_mistake = with_tables(reference, CASES, ("weights",))

PARTS = {
    "before": (
        "where the mask is",
        "Before the shift, which distance does column 0 of your mask stand for, and what becomes of it?",
    ),
    "corner": (
        "where the first query is",
        "What may the first query of a segment see of the memory? torch's `is_causal=True` would hide it, too.",
    ),
    "half_scaled": (
        "what is divided by √d_k",
        "Which parts of a score does your division reach?",
    ),
}


def _still_wrong() -> tuple[Misconception, ...]:
    """Return every mixture of the three mistakes: which are still there, and what to look at."""
    return tuple(_mistake(name, _variant(**there), hint) for there, name, hint in mixtures(PARTS))


segment_weights = Exercise(
    name="segment_weights",
    kind="spot the bug",
    difficulty=3,
    minutes=25,
    statement=(
        "The function below is meant to return the weights of one head of Transformer-XL, for a segment with a "
        "memory. There are k_len keys, at the positions 0, …, k_len − 1: first the memory, then the segment. "
        "The queries are the segment, the last q_len of these positions. q is (q_len, d_k); k is (k_len, d_k); "
        "r, (k_len, d_k), holds a vector for each distance, the furthest first: k_len − 1, …, 1, 0; u and v "
        "are (d_k,). All are floating point. The score of a query q_i and a key k_j is ((q_i + u) · k_j + (q_i "
        "+ v) · r_d) / √d_k, d being how many places the key is before the query. A query sees the memory, "
        "the segment before it, and itself. The function runs, and it holds three mistakes. Write it without "
        "them. Return the weights, (q_len, k_len), each row with the sum 1.\n\n"
        "An example: one query and a memory of one token, d_k = 1, q = 1, both keys 0, u = v = 0, and r = "
        "1.099 (the logarithm of 3) for distance 1, 0 for distance 0. The scores are 1.099 and 0, the weights "
        "0.75 and 0.25."
    ),
    returns=("weights",),
    reference=reference,
    cases=(*CASES, *random_cases(draw, 8, "a random segment")),
    draw=draw,
    misconceptions=(
        *_still_wrong(),
        _mistake(
            "no mask left",
            _variant(masked=False),
            "A query sees what comes after it, and its scores there are what slid in from the next row. Where "
            "must the mask come?",
        ),
        _mistake(
            "hidden scores set to 0",
            _variant(fill=0.0),
            "Which weight does softmax give to a score of 0?",
        ),
        _mistake(
            "the mask after softmax",
            _variant(after_softmax=True),
            "What is hidden has the weight 0 in your result. Do the rows still have the sum 1?",
        ),
        _mistake(
            "the mask one key too early",
            _variant(late=-1),
            "May a query see itself? Without a memory, what would your first query see?",
        ),
        _mistake(
            "the mask one key too late",
            _variant(late=1),
            "One key after the query is open. Which key is the last that the first query may see?",
        ),
        _mistake(
            "the memory hidden",
            _variant(memory=False),
            "Your segment sees itself only. What is the memory for?",
        ),
        _mistake(
            "not shifted",
            _variant(shifted=False),
            "The mask is right now. But column j of the scores by distance doesn't belong to key j.",
        ),
        _mistake(
            "the nearest distance first",
            _variant(nearest_first=True),
            "Which distance does the first row of r belong to?",
        ),
        _mistake(
            "u and v exchanged",
            _variant(biases="vu"),
            "Which of the two goes with the keys, and which with the distances?",
        ),
        _mistake("u for both", _variant(biases="uu"), "Where do you use v?"),
        _mistake(
            "u and v left out",
            _variant(biases="––"),
            "Both were right in the function with mistakes. What are u and v added to?",
        ),
        _mistake(
            "not divided at all",
            _variant(scale=0.0),
            "Which part was divided, and which part wasn't? Both should be.",
        ),
        _mistake(
            "a part divided twice",
            _variant(twice=True),
            "Each part is divided now. How often is the part by content divided?",
        ),
        _mistake(
            "divided by d_k",
            _variant(scale=1.0),
            "Are the scores divided by the width, or by something smaller?",
        ),
        _mistake(
            "softmax over the queries",
            _variant(axis=0),
            "Your columns sum to 1. For each query the weights of all keys should.",
        ),
        _mistake(
            "scores instead of weights",
            _variant(weights=False),
            "The scores are right. What is still to be done with them?",
        ),
    ),
)
