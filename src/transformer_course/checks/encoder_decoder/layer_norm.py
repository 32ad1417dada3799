"""Exercise: layer normalisation."""

from typing import Any

import numpy as np

from transformer_course.checks.encoder_decoder.model import Array, right_layer_norm
from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases


def reference(x: Array, gain: Array, bias: Array, eps: float) -> Array:
    """Return (batch, length, d_model), each token's vector normalised."""
    return right_layer_norm(x, gain, bias, eps)


def _variant(
    axis: Any = -1,
    *,
    centred: bool = True,
    divided: bool = True,
    ddof: int = 0,
    outside: bool = False,
    root: bool = True,
    scaled: bool = True,
    moved: bool = True,
    inside: bool = False,
) -> Any:
    """Return layer norm with the mistakes asked for."""

    def layer_norm(x: Array, gain: Array, bias: Array, eps: float) -> Array:
        values = x - x.mean(axis=axis, keepdims=True) if centred else x
        variance = x.var(axis=axis, keepdims=True, ddof=ddof)
        spread = np.sqrt(variance) + eps if outside else np.sqrt(variance + eps)
        spread = spread if root else variance + eps
        values = values / spread if divided else values
        if inside:
            return gain * (values + bias)
        return (gain if scaled else 1.0) * values + (bias if moved else 0.0)

    return layer_norm


def _axis_lost(mean_kept: bool) -> Any:
    """Return layer norm whose variance, and perhaps the mean, has lost the axis of the features."""

    def layer_norm(x: Array, gain: Array, bias: Array, eps: float) -> Array:
        values = x - x.mean(axis=-1, keepdims=mean_kept)
        result: Array = gain * values / np.sqrt(x.var(axis=-1) + eps) + bias
        return result

    return layer_norm


def _root_mean_square(moved: bool) -> Any:
    """Return the norm that divides by the root of the mean square, with the mean left in."""

    def rms_norm(x: Array, gain: Array, bias: Array, eps: float) -> Array:
        values = x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps)
        result: Array = gain * values + (bias if moved else 0.0)
        return result

    return rms_norm


def _square_of_what_came_in(x: Array, gain: Array, bias: Array, eps: float) -> Array:
    values = x - x.mean(axis=-1, keepdims=True)
    result: Array = gain * values / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps) + bias
    return result


def _no_eps(x: Array, gain: Array, bias: Array, eps: float) -> Array:
    return right_layer_norm(x, gain, bias, 0.0)


def _numbers(rng: np.random.Generator, batch: int, length: int, d_model: int) -> Any:
    x = rng.normal(size=(batch, length, d_model)) * rng.uniform(0.5, 4, size=(batch, length, 1))
    x += rng.normal(size=(batch, length, 1)) * 2
    gain, bias = 1 + rng.normal(size=d_model) / 2, rng.normal(size=d_model)
    return x, gain, bias, float(rng.choice([1e-5, 0.01, 0.25]))


def _mean_magnitude(x: Array) -> Array:
    result: Array = np.abs(x - x.mean(-1, keepdims=True)).mean(-1, keepdims=True)
    return result


def draw(rng: np.random.Generator) -> tuple[Any, ...]:
    """Return tokens of different sizes, gain, bias and epsilon."""
    batch, length = (int(n) for n in rng.integers(1, 5, size=2))
    numbers: tuple[Any, ...] = _numbers(rng, batch, length, int(rng.integers(2, 7)))
    return numbers


def _plain(about: str, x: list[list[list[float]]], eps: float = 1e-5) -> Case:
    tokens = np.array(x)
    width = tokens.shape[-1]
    return Case(about, (tokens, np.arange(1.0, 1 + width), np.arange(width) / 2 + 0.5, eps))


layer_norm = Exercise(
    name="layer_norm",
    kind="implement",
    difficulty=2,
    minutes=15,
    statement=(
        "Write layer normalisation. x is (batch, length, d_model), gain and bias are (d_model,), eps is a "
        "small number. Each token's vector gets mean 0 and variance 1, then it is multiplied by the gain, and "
        "the bias is added. The variance is the biased one: the mean of the squared distances from "
        "the mean. eps is added to the variance, under the root. Return the normalised tokens, of the "
        "shape of x."
    ),
    returns=("output",),
    reference=reference,
    cases=(
        _plain("1 token of 2 numbers", [[[1.0, 3.0]]]),
        _plain("1 token of 3 numbers, a large eps", [[[1.0, 2.0, 6.0]]], 0.25),
        _plain("2 tokens of 2 numbers", [[[1.0, 3.0], [2.0, 8.0]]]),
        _plain("2 tokens, the second is larger", [[[1.0, 2.0, 6.0], [10.0, 40.0, -20.0]]]),
        _plain("2 sentences of 1 token", [[[1.0, 2.0, 6.0]], [[0.0, 5.0, 1.0]]], 0.01),
        _plain("1 token whose numbers are all equal", [[[2.0, 2.0]]], 0.25),
        *random_cases(draw, 6),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "divided by the mean magnitude",
            lambda x, gain, bias, eps: (
                gain * (x - x.mean(-1, keepdims=True)) / (_mean_magnitude(x) + eps) + bias
            ),
            "The root of the mean of squares isn't the mean of the magnitudes: take 0, 0 and 3.",
        ),
        Misconception(
            "over the tokens instead of over the features",
            _variant(-2),
            "Along which axis are the numbers of *one* token? No token may change another one.",
        ),
        Misconception(
            "over the batch",
            _variant(0),
            "A sentence must come out the same, whoever is in the batch with it.",
        ),
        Misconception(
            "over batch and tokens, as batch norm does",
            _variant((0, 1)),
            "That is batch norm: each feature over all tokens. Here each token is normalised alone.",
        ),
        Misconception(
            "over the whole sentence",
            _variant((1, 2)),
            "Then a long vector makes its neighbours small. Each token has a mean of its own.",
        ),
        Misconception(
            "over everything",
            _variant((0, 1, 2)),
            "There is not one mean, but one for each token of each sentence.",
        ),
        Misconception(
            "unbiased variance",
            _variant(ddof=1),
            "With two numbers, 1 and 3, what is the mean of the squared distances? By what do you divide?",
        ),
        Misconception(
            "unbiased standard deviation, and eps outside the root",
            _variant(ddof=1, outside=True),
            "Two things differ from the task: by what the squares are divided, and where eps is added.",
        ),
        Misconception(
            "eps outside the root",
            _variant(outside=True),
            "For a small variance it matters whether eps is added before the root is taken, or after.",
        ),
        Misconception(
            "eps left out",
            _no_eps,
            "What does your function do with a token whose numbers are all equal?",
        ),
        Misconception(
            "divided by the variance, not by its root",
            _variant(root=False),
            "Multiply a token by 10: its variance grows by 100. By what must you divide?",
        ),
        Misconception(
            "mean not subtracted", _variant(centred=False), "What is the mean of your output?"
        ),
        Misconception(
            "mean and variance lost their axis",
            _axis_lost(False),
            "A mean along an axis removes that axis, so that the tokens' means line up with the features. How "
            "can an axis of length 1 stay?",
        ),
        Misconception(
            "the variance lost its axis",
            _axis_lost(True),
            "The mean is subtracted well. A variance along an axis removes that axis: with what does it line "
            "up then?",
        ),
        Misconception(
            "RMS norm: the mean not subtracted, in the variance neither",
            _root_mean_square(True),
            "That is RMS norm, which later models use. What is done first here, before the squares?",
        ),
        Misconception(
            "RMS norm without a bias",
            _root_mean_square(False),
            "Later models use this RMS norm. Here each token first gets mean 0, and a bias in the end.",
        ),
        Misconception(
            "the mean subtracted above, but not in the variance",
            _square_of_what_came_in,
            "You square the numbers as they came in. Whose squares have the variance as their mean?",
        ),
        Misconception(
            "only centred, not divided",
            _variant(divided=False),
            "The mean is right. What about the variance of your output?",
        ),
        Misconception(
            "gain left out", _variant(scaled=False), "One of the two learned vectors is unused."
        ),
        Misconception("bias left out", _variant(moved=False), "A learned vector is still unused."),
        Misconception(
            "gain and bias left out",
            _variant(scaled=False, moved=False),
            "The normalising is right. Two learned vectors are still unused.",
        ),
        Misconception(
            "1 added to the gain",
            lambda x, gain, bias, eps: right_layer_norm(x, 1 + gain, bias, eps),
            "Some programs store the gain minus 1. What does a gain of 1 do in your function?",
        ),
        Misconception(
            "bias added before the gain",
            _variant(inside=True),
            "Is the bias multiplied by the gain in the formula of the page?",
        ),
    ),
)
