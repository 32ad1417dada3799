"""Exercise: the mask between encoder and decoder: the prompt sees all of itself, the rest what came before."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases

Array = NDArray[Any]


def _mask(rule: Callable[[Array, Array, int, int], Any]) -> Callable[[int, int], Array]:
    """Return a mask by a rule of: the query's place, the key's place, n_prompt, length."""

    def wrong(n_prompt: int, length: int) -> Array:
        query, key = np.arange(length)[:, None], np.arange(length)[None]
        open_ones = rule(query, key, n_prompt, length)
        return np.broadcast_to(open_ones, (length, length)).copy()

    return wrong


def reference(n_prompt: int, length: int) -> Array:
    """Return the mask, True = may attend, (length, length)."""
    return _mask(lambda query, key, n, length: (key <= query) | (key < n))(n_prompt, length)


def _two_sequences(n_prompt: int, length: int) -> Array:
    mask = reference(n_prompt, length)
    mask[n_prompt:, :n_prompt] = False
    return mask


def draw(rng: np.random.Generator) -> tuple[int, int]:
    """Return the length of a prompt, and that of the whole sequence."""
    length = int(rng.integers(4, 120))
    return int(rng.integers(2, length - 1)), length


prefix_mask = Exercise(
    name="prefix_mask",
    kind="implement",
    difficulty=1,
    minutes=10,
    statement=(
        "Write the mask of a model that reads a prompt and continues it: the prefix mask, as in Raffel et al. 2020. A sequence has "
        "length tokens; the first n_prompt are the prompt, the others are its continuation. A token of the "
        "prompt may see the whole prompt and nothing else. A token of the continuation may see the whole "
        "prompt, the continuation before it, and itself. Return True and False, shape (length, length): row = "
        "the token that looks (query), column = the token that is seen (key), True = may attend. n_prompt "
        "may be 0, and it may be length."
    ),
    returns=("mask",),
    reference=reference,
    cases=(
        Case("one token", (0, 1)),
        Case("no prompt: a decoder", (0, 3)),
        Case("two tokens of a prompt, one after it", (2, 3)),
        Case("nothing but a prompt: an encoder", (3, 3)),
        Case("a prompt of one token", (1, 3)),
        Case("two tokens of a prompt, three after it", (2, 5)),
        Case("four tokens of a prompt, two after it", (4, 6)),
        *random_cases(draw, 5, "a longer sequence"),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "the polarity turned round",
            lambda n_prompt, length: ~reference(n_prompt, length),
            "Every answer is the opposite of what is asked for. What does True mean in this course?",
        ),
        Misconception(
            "the prompt is causal, too",
            _mask(lambda query, key, n, length: key <= query),
            "The future is hidden everywhere. Where do you use n_prompt? What may the prompt see?",
        ),
        Misconception(
            "everything open",
            _mask(lambda query, key, n, length: True),
            "That is an encoder. What mustn't a token of the continuation see?",
        ),
        Misconception(
            "the prompt sees the continuation",
            _mask(lambda query, key, n, length: (key <= query) | (query < n)),
            "The continuation is right. In your function, a token of the prompt sees the answer.",
        ),
        Misconception(
            "the continuation sees all of itself",
            _mask(lambda query, key, n, length: (key < n) | (query >= n)),
            "The prompt is right. A token of the continuation mustn't see what it will be asked for.",
        ),
        Misconception(
            "the prompt one token too long",
            _mask(lambda query, key, n, length: (key <= query) | (key <= n)),
            "Places count from 0. Which place has the last token of the prompt?",
        ),
        Misconception(
            "the prompt one token too short",
            _mask(lambda query, key, n, length: (key <= query) | (key < n - 1)),
            "Places count from 0. Which place has the last token of the prompt? You stop before it.",
        ),
        Misconception(
            "a token of the continuation doesn't see itself",
            _mask(lambda query, key, n, length: (key < query) | (key < n)),
            "What may the last token of the sequence see? Read the task again, to the last word.",
        ),
        Misconception(
            "the continuation doesn't see the prompt",
            _two_sequences,
            "Your two parts know nothing of each other. What should the continuation continue?",
        ),
        Misconception(
            "only the prompt can be seen",
            _mask(lambda query, key, n, length: key < n),
            "In your function no token can see what has been written since the prompt.",
        ),
        Misconception(
            "rows and columns exchanged",
            _mask(lambda query, key, n, length: (query <= key) | (query < n)),
            "Rows are the tokens that look. In your first row, what does the first token see?",
        ),
        Misconception(
            "the prompt at the end",
            _mask(lambda query, key, n, length: (key <= query) | (key >= length - n)),
            "You open the last tokens of the sequence for all others. Where is the prompt?",
        ),
        Misconception(
            "a mask to be added",
            lambda n_prompt, length: np.where(reference(n_prompt, length), 0.0, -np.inf),
            "These are numbers to add to the scores. The task asks for True and False.",
        ),
    ),
)
