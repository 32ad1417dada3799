"""Exercise: attention rollout, the maps of all layers multiplied."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases

Array = NDArray[Any]


def _rollout(
    *, stay: float = 0.5, move: float = 0.5, heads: str = "mean", later_first: bool = True
) -> Any:
    """Return the function of the exercise with the mistakes asked for."""

    def attention_rollout(maps: Array) -> Array:
        n = maps.shape[-1]
        mixed = np.eye(n)
        for layer in maps:
            weights = {
                "mean": layer.mean(0),
                "max": layer.max(0),
                "sum": layer.sum(0),
                "first": layer[0],
            }
            step = move * weights[heads] + stay * np.eye(n)
            mixed = step @ mixed if later_first else mixed @ step
        return mixed

    return attention_rollout


def reference(maps: Array) -> Array:
    """Return how much of each input has mixed into each output."""
    return np.asarray(_rollout()(maps))


def _mean_of_layers(maps: Array) -> Array:
    return np.asarray((maps.mean((0, 1)) + np.eye(maps.shape[-1])) / 2)


def _last_layer(maps: Array) -> Array:
    return np.asarray((maps[-1].mean(0) + np.eye(maps.shape[-1])) / 2)


def _elementwise(maps: Array) -> Array:
    steps = (maps.mean(1) + np.eye(maps.shape[-1])) / 2
    return np.asarray(steps.prod(0))


def _head_by_head(maps: Array) -> Array:
    heads = range(maps.shape[1])
    return np.asarray(np.mean([reference(maps[:, h : h + 1]) for h in heads], axis=0))


def _own_half_at_the_end(maps: Array) -> Array:
    mixed = _rollout(stay=0.0, move=1.0)(maps)
    return np.asarray((mixed + np.eye(maps.shape[-1])) / 2)


def draw(rng: np.random.Generator) -> tuple[Array]:
    """Return the maps of some layers."""
    n_layers, n_heads, n = (int(k) for k in rng.integers(2, 5, size=3))
    return (rng.dirichlet(np.ones(n), size=(n_layers, n_heads, n)).round(3),)


_ONE = np.array([[[[1.0, 0.0], [1.0, 0.0]]]])
_SHIFT = np.array([[[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
_FIRST = np.array([[[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]])
_BOTH = np.array([np.concatenate([_SHIFT, _FIRST]), np.concatenate([_FIRST, _FIRST])])

attention_rollout = Exercise(
    name="attention_rollout",
    kind="implement",
    difficulty=2,
    minutes=15,
    statement=(
        "Write attention rollout. maps is (n_layers, n_heads, n, n), the first layer first; each row sums to "
        "1. For each layer, take the mean of its heads; half of each vector comes from there, half stays "
        "where it is. Multiply the layers' matrices so that entry (i, j) of the result, (n, n), says how much "
        "of input j has mixed into output i of the last layer."
    ),
    returns=("mixed",),
    reference=reference,
    cases=(
        Case("one layer, one head, two positions", (_ONE,)),
        Case("two layers, one head", (np.stack([_SHIFT, _FIRST]),)),
        Case("two layers, two heads", (_BOTH,)),
        *random_cases(draw, 6, "random maps"),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "the part that stays left out",
            _rollout(stay=0.0, move=1.0),
            "Each layer adds to a vector, by the residual connection. Where is the vector's own half?",
        ),
        Misconception(
            "not halved",
            _rollout(stay=1.0, move=1.0),
            "What does a row of your result sum to? A half from attention and a half that stays make 1.",
        ),
        Misconception(
            "layers multiplied in the wrong order",
            _rollout(later_first=False),
            "The second layer mixes what the first one has mixed. Which matrix is on the left?",
        ),
        Misconception(
            "the largest weight of the heads instead of their mean",
            _rollout(heads="max"),
            "What does a row of your result sum to?",
        ),
        Misconception(
            "heads added up",
            _rollout(heads="sum"),
            "What does a row of your result sum to? With one head you are right.",
        ),
        Misconception(
            "the first head only",
            _rollout(heads="first"),
            "With one head you are right. And with two?",
        ),
        Misconception(
            "layers averaged instead of multiplied",
            _mean_of_layers,
            "A path goes through the first layer *and then* through the second.",
        ),
        Misconception(
            "the last layer only",
            _last_layer,
            "What has been mixed before the last layer?",
        ),
        Misconception(
            "each head followed by itself, averaged at the end",
            _head_by_head,
            "With one head you are right. What one head has moved, another head can move on in the next "
            "layer. When do you take the mean of the heads?",
        ),
        Misconception(
            "the own half added once, at the end",
            _own_half_at_the_end,
            "With one layer you are right. Each layer has a residual connection of its own.",
        ),
        Misconception(
            "multiplied entry by entry",
            _elementwise,
            "From input j to output i there are many ways, over every position in between. Add them up.",
        ),
    ),
)
