"""Exercise: what of a token is left after many layers, with residual connections and without."""

from typing import Any

import numpy as np

from transformer_course.checks.encoder_decoder.model import Array
from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases


def _cosines(first: Array, second: Array) -> Array:
    lengths = np.linalg.norm(first, axis=-1) * np.linalg.norm(second, axis=-1)
    with np.errstate(invalid="ignore"):
        cosines: Array = (first * second).sum(axis=-1) / lengths
    return cosines


def _variant(
    *,
    always: bool = False,
    never: bool = False,
    to_start: bool = False,
    inside: bool = False,
    relu: bool = True,
    neighbour: bool = False,
    dot: bool = False,
    of_mean: bool = False,
    summed: bool = False,
    first_token: bool = False,
    one_matrix: bool = False,
) -> Any:
    """Return the function of the exercise with the mistakes asked for."""

    def carried(x: Array, weights: Array, residual: bool) -> Array:
        start, now, found = x, x, []
        for matrix in weights:
            made = now @ (weights[0] if one_matrix else matrix)
            kept = now if (residual or always) and not never else 0.0
            before = now
            if inside:
                now = np.maximum(kept + made, 0.0)
            else:
                made = np.maximum(made, 0.0) if relu else made
                now = (start if to_start and residual else kept) + made
            other = before if neighbour else start
            if of_mean:
                found.append(_cosines(now.mean(axis=0), other.mean(axis=0)))
                continue
            cosines = (now * other).sum(axis=-1) if dot else _cosines(now, other)
            found.append(cosines[0] if first_token else cosines.sum() if summed else cosines.mean())
        return np.array(found, dtype=float)

    return carried


def reference(x: Array, weights: Array, residual: bool) -> Array:
    """Return the mean cosine with the start after each layer, (depth,)."""
    result: Array = _variant()(x, weights, residual)
    return result


def draw(rng: np.random.Generator) -> tuple[Any, ...]:
    """Return tokens, matrices for some layers, and whether there are residual connections."""
    while True:
        tokens, depth = (int(n) for n in rng.integers(2, 6, size=2))
        width = int(rng.integers(6, 12))
        x = rng.normal(size=(tokens, width)) * rng.uniform(0.5, 3, size=(tokens, 1))
        weights = rng.normal(size=(depth, width, width)) * np.sqrt(2 / width)
        residual = bool(rng.random() < 0.5)
        if np.isfinite(reference(x, weights, residual)).all():  # no token became zero
            return x, weights, residual


_TURN = np.array([[[0.0, 1.0], [1.0, 0.0]], [[1.0, -1.0], [0.0, 1.0]]])

carried = Exercise(
    name="carried",
    kind="experiment",
    difficulty=2,
    minutes=20,
    statement=(
        "Push tokens through a stack of layers and measure what is left of them. x is (tokens, width), "
        "weights is (depth, width, width). A layer makes max(0, x @ weights[i]); with residual True, this is "
        "added to what came in, else it takes its place. After each layer, compare each token with what it "
        "was at the very start, by the cosine of the angle between the two, and take the mean over the "
        "tokens. Return the means as one array, (depth,). In the cases of the check no token becomes zero."
    ),
    returns=("cosines",),
    reference=reference,
    cases=(
        Case("1 token, 2 layers, no residual", (np.array([[2.0, 1.0]]), _TURN, False)),
        Case("1 token, 2 layers, residual", (np.array([[2.0, 1.0]]), _TURN, True)),
        Case("2 tokens, 2 layers, residual", (np.array([[2.0, 1.0], [3.0, 4.0]]), _TURN, True)),
        Case("2 tokens, no residual", (np.array([[2.0, 1.0], [1.0, 4.0]]), _TURN[:1], False)),
        *random_cases(draw, 6),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "always with residual connections",
            _variant(always=True),
            "Your stack keeps what came in even where the task says it should not.",
        ),
        Misconception(
            "never with residual connections",
            _variant(never=True),
            "One argument changes nothing in your function.",
        ),
        Misconception(
            "the start added again in every layer",
            _variant(to_start=True),
            "A residual connection adds what came into *this* layer.",
        ),
        Misconception(
            "the addition inside the non-linearity",
            _variant(inside=True),
            "Your tokens can never be negative. What is compared with 0: what the layer makes, or the sum?",
        ),
        Misconception(
            "no non-linearity",
            _variant(relu=False),
            "A layer here does two things with x. Yours does one.",
        ),
        Misconception(
            "compared with the layer before",
            _variant(neighbour=True),
            "The first number is right. With what does the task compare the second one?",
        ),
        Misconception(
            "dot product instead of the cosine",
            _variant(dot=True),
            "A cosine doesn't change when a token gets twice as long.",
        ),
        Misconception(
            "cosine of the mean tokens",
            _variant(of_mean=True),
            "First an angle for each token, then the mean over the tokens.",
        ),
        Misconception(
            "summed over the tokens", _variant(summed=True), "No mean of cosines is larger than 1."
        ),
        Misconception(
            "the first token only",
            _variant(first_token=True),
            "The task asks for the mean over all tokens.",
        ),
        Misconception(
            "the same matrix in every layer",
            _variant(one_matrix=True),
            "Layers don't share their weights.",
        ),
    ),
)
