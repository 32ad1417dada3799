"""Exercise: scale the embeddings, and add the positions."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases
from transformer_course.checks.positional_encoding.waves import waves

Array = NDArray[Any]


def _variant(
    scale: Callable[[int], float] = lambda width: float(np.sqrt(width)),
    *,
    scale_positions: bool = False,
    offset: bool = True,
    fixed: bool = False,
    multiply: bool = False,
    by_batch: bool = False,
    extra: int = 0,
    added: bool = True,
) -> Callable[[Array, int], Array]:
    """The function with a mistake."""

    def mistaken(x: Array, start: int = 0) -> Array:
        batch, length, width = x.shape
        begin = (start if offset else 0) + extra
        rows = waves(batch if by_batch else length, width, first=begin)
        if fixed:
            rows = np.repeat(rows[:1], length, axis=0)
        if by_batch:
            rows = rows[:, None]
        factor = scale(width)
        if scale_positions:
            return factor * (x + rows)
        if multiply:
            return factor * x * rows
        return factor * x + (rows if added else 0)

    return mistaken


def reference(x: Array, start: int = 0) -> Array:
    """Return embeddings times the root of d_model, plus positions, (batch, length, d_model)."""
    return _variant()(x, start)


def draw(rng: np.random.Generator) -> tuple[Array, int]:
    """Return a batch of embeddings, and the position of the first token."""
    batch, length = (int(n) for n in rng.integers(2, 6, size=2))
    return rng.normal(size=(batch, length, 2 * int(rng.integers(2, 6)))), int(rng.integers(0, 30))


add_positions = Exercise(
    name="add_positions",
    kind="implement",
    difficulty=2,
    minutes=15,
    statement=(
        "Write the first step of the Transformer. x holds embeddings, (batch, length, d_model), with "
        "d_model even. Multiply them by the root of d_model, and add to each token the code of its position: "
        "dimension 2i holds sin(pos / 10000^(2i/d_model)), dimension 2i + 1 the cosine of the same angle. The "
        "first token of every sentence has the position start, the next one start + 1, and so on. Return the "
        "sum, (batch, length, d_model)."
    ),
    returns=("sum",),
    reference=reference,
    cases=(
        Case("1 token of zeros", (np.zeros((1, 1, 2)), 0)),
        Case("1 token", (np.array([[[1.0, 2.0]]]), 0)),
        Case("2 tokens of ones, width 4", (np.ones((1, 2, 4)), 0)),
        Case("2 tokens of zeros", (np.zeros((1, 2, 2)), 0)),
        Case("2 sentences of 2 tokens", (np.arange(16.0).reshape(2, 2, 4), 0)),
        Case("2 tokens, the first at position 3", (np.zeros((1, 2, 2)), 3)),
        Case("3 sentences, 1 token at position 7", (np.ones((3, 1, 6)), 7)),
        Case("16 sentences, 1 token at position 1200", (np.zeros((16, 1, 2)), 1200)),
        *random_cases(draw, 5),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "embeddings not scaled",
            _variant(lambda width: 1.0),
            "The positions are right. What happens to the embeddings before?",
        ),
        Misconception(
            "positions scaled too",
            _variant(scale_positions=True),
            "Only one of the two is multiplied. Which one was too small?",
        ),
        Misconception(
            "multiplied by d_model, not by its root",
            _variant(float),
            "Which norm should a word get, if it starts with 1?",
        ),
        Misconception(
            "divided by the root of d_model",
            _variant(lambda width: float(width**-0.5)),
            "That is what attention does with its scores. Are the embeddings too large or too small here?",
        ),
        Misconception(
            "start ignored",
            _variant(offset=False),
            "With start 0 you are right. Which rows are wanted when the first token is further on?",
        ),
        Misconception(
            "positions counted from 1",
            _variant(extra=1),
            "Which position has the first token when start is 0?",
        ),
        Misconception(
            "the same position for every token",
            _variant(fixed=True),
            "Your first tokens are right. What is the position of the second one?",
        ),
        Misconception(
            "multiplied by the positions",
            _variant(multiply=True),
            "The paper adds them. What becomes of a word at position 0 in your version?",
        ),
        Misconception(
            "positions along the batch",
            _variant(by_batch=True),
            "Which axis counts the tokens of a sentence? All sentences start at the same position.",
        ),
        Misconception(
            "positions left out",
            _variant(added=False),
            "The embeddings are scaled as they should be. What is still missing?",
        ),
    ),
)
