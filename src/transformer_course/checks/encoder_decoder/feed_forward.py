"""Exercise: the position-wise feed-forward net."""

import math
from typing import Any

import numpy as np

from transformer_course.checks.encoder_decoder.model import Array, right_feed_forward
from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases


def reference(x: Array, w_1: Array, b_1: Array, w_2: Array, b_2: Array) -> Array:
    """Return max(0, x w_1 + b_1) w_2 + b_2, (batch, length, d_model)."""
    return right_feed_forward(x, w_1, b_1, w_2, b_2)


def _no_relu(x: Array, w_1: Array, b_1: Array, w_2: Array, b_2: Array) -> Any:
    return (x @ w_1 + b_1) @ w_2 + b_2


def _relu_at_the_end(x: Array, w_1: Array, b_1: Array, w_2: Array, b_2: Array) -> Any:
    return np.maximum(_no_relu(x, w_1, b_1, w_2, b_2), 0.0)


def _relu_twice(x: Array, w_1: Array, b_1: Array, w_2: Array, b_2: Array) -> Any:
    return np.maximum(reference(x, w_1, b_1, w_2, b_2), 0.0)


def _relu_first(x: Array, w_1: Array, b_1: Array, w_2: Array, b_2: Array) -> Any:
    return _no_relu(np.maximum(x, 0.0), w_1, b_1, w_2, b_2)


def _relu_before_the_bias(x: Array, w_1: Array, b_1: Array, w_2: Array, b_2: Array) -> Any:
    return (np.maximum(x @ w_1, 0.0) + b_1) @ w_2 + b_2


def _no_first_bias(x: Array, w_1: Array, b_1: Array, w_2: Array, b_2: Array) -> Any:
    return reference(x, w_1, 0 * b_1, w_2, b_2)


def _no_second_bias(x: Array, w_1: Array, b_1: Array, w_2: Array, b_2: Array) -> Any:
    return reference(x, w_1, b_1, w_2, 0 * b_2)


def _no_biases(x: Array, w_1: Array, b_1: Array, w_2: Array, b_2: Array) -> Any:
    return reference(x, w_1, 0 * b_1, w_2, 0 * b_2)


def _gathered(x: Array, w_1: Array, b_1: Array, w_2: Array, b_2: Array) -> Any:
    return reference(x.mean(axis=-2, keepdims=True) + 0 * x, w_1, b_1, w_2, b_2)


def _summed(x: Array, w_1: Array, b_1: Array, w_2: Array, b_2: Array) -> Any:
    return reference(x.sum(axis=-2, keepdims=True) + 0 * x, w_1, b_1, w_2, b_2)


def _with_residual(x: Array, w_1: Array, b_1: Array, w_2: Array, b_2: Array) -> Any:
    return x + reference(x, w_1, b_1, w_2, b_2)


def _magnitude(x: Array, w_1: Array, b_1: Array, w_2: Array, b_2: Array) -> Any:
    return abs(x @ w_1 + b_1) @ w_2 + b_2


def _zeroed_where_positive(x: Array, w_1: Array, b_1: Array, w_2: Array, b_2: Array) -> Any:
    return np.minimum(x @ w_1 + b_1, 0.0) @ w_2 + b_2


def _curved(curve: Any) -> Any:
    """Return the net with another curve in the middle."""

    def net(x: Array, w_1: Array, b_1: Array, w_2: Array, b_2: Array) -> Any:
        return curve(x @ w_1 + b_1) @ w_2 + b_2

    return net


def _gelu(z: Array) -> Any:
    return z * (1 + np.vectorize(math.erf, otypes=[float])(z / np.sqrt(2))) / 2


def _softmax(z: Array) -> Any:
    powers = np.exp(z - z.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def _numbers(rng: np.random.Generator, batch: int, length: int, d_model: int, d_ff: int) -> Any:
    return (
        rng.normal(size=(batch, length, d_model)),
        rng.normal(size=(d_model, d_ff)),
        rng.normal(size=d_ff),
        rng.normal(size=(d_ff, d_model)),
        rng.normal(size=d_model),
    )


def draw(rng: np.random.Generator) -> tuple[Array, ...]:
    """Return tokens and the weights of a net; d_ff may be smaller or larger than d_model."""
    batch, length, d_model, d_ff = (int(n) for n in rng.integers(1, 6, size=4))
    numbers: tuple[Array, ...] = _numbers(rng, batch, length, d_model, 2 * d_ff)
    return numbers


def _whole(about: str, *sizes: int) -> Case:
    rng = np.random.default_rng(2)
    x, w_1, b_1, w_2, b_2 = (np.round(2 * part) for part in _numbers(rng, *sizes))
    return Case(about, (x, w_1, b_1, w_2, b_2))


feed_forward = Exercise(
    name="feed_forward",
    kind="implement",
    difficulty=1,
    minutes=10,
    statement=(
        "Write the position-wise net, equation 2 of the paper: max(0, x w_1 + b_1) w_2 + b_2. x is (batch, "
        "length, d_model), w_1 is (d_model, d_ff), b_1 is (d_ff,), w_2 is (d_ff, d_model), b_2 is (d_model,). "
        "The matrices are on the right: x @ w_1. Return the new tokens, of the shape of x. Nothing is added "
        "to x here: that is the task of a later exercise."
    ),
    returns=("output",),
    reference=reference,
    cases=(
        _whole("1 token, width 1, d_ff 2", 1, 1, 1, 2),
        _whole("1 token, width 2, d_ff 3", 1, 1, 2, 3),
        _whole("2 tokens, width 2, d_ff 3", 1, 2, 2, 3),
        _whole("2 sentences, 3 tokens, width 2, d_ff 8", 2, 3, 2, 8),
        *random_cases(draw, 5),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "no non-linearity",
            _no_relu,
            "Two linear maps in a row are one linear map. What is between them in equation 2?",
        ),
        Misconception(
            "the non-linearity at the end",
            _relu_at_the_end,
            "What does equation 2 compare with 0: the first map, or the whole result?",
        ),
        Misconception(
            "a non-linearity after both maps",
            _relu_twice,
            "Your tokens can never be negative. How many times does equation 2 compare with 0?",
        ),
        Misconception(
            "the non-linearity on the input",
            _relu_first,
            "Which numbers does equation 2 compare with 0: d_model of them, or d_ff?",
        ),
        Misconception(
            "the first bias after the non-linearity",
            _relu_before_the_bias,
            "Does the first bias belong to what is compared with 0?",
        ),
        Misconception(
            "first bias left out", _no_first_bias, "There are two biases. Yours uses one."
        ),
        Misconception(
            "second bias left out",
            _no_second_bias,
            "There are two biases. Which numbers does yours not use?",
        ),
        Misconception("both biases left out", _no_biases, "Both maps have something to add."),
        Misconception(
            "positions gathered: their mean goes in",
            _gathered,
            "This net never looks at another position. Which part of the model does?",
        ),
        Misconception(
            "positions gathered: their sum goes in",
            _summed,
            "All your tokens come out equal. This net looks at one position at a time.",
        ),
        Misconception(
            "the residual connection already added",
            _with_residual,
            "The task says where the residual connection belongs. Return what the net itself makes.",
        ),
        Misconception(
            "magnitude instead of the non-linearity",
            _magnitude,
            "What becomes of a negative number in equation 2?",
        ),
        Misconception(
            "GELU, a curve of later models",
            _curved(_gelu),
            "Later models have this curve. What does equation 2 do with a negative number: make it small, or "
            "remove it?",
        ),
        Misconception(
            "a sigmoid between the maps",
            _curved(lambda z: 1 / (1 + np.exp(-z))),
            "Your numbers in the middle lie between 0 and 1. What does equation 2 do with a positive number?",
        ),
        Misconception(
            "tanh between the maps",
            _curved(np.tanh),
            "Your numbers in the middle lie between -1 and 1. What does equation 2 do with a positive number?",
        ),
        Misconception(
            "softmax between the maps",
            _curved(_softmax),
            "Your numbers in the middle sum to 1. In equation 2, does one of them know of the others?",
        ),
        Misconception(
            "the positive numbers set to zero",
            _zeroed_where_positive,
            "Compare with 0 once more: which of the two numbers does equation 2 keep?",
        ),
    ),
)
