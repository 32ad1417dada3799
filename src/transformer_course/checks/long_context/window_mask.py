"""Exercise: the causal mask of a window, for a text at once, with a memory, and with a cache."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, random_cases
from transformer_course.checks.tables import with_tables

Array = NDArray[Any]


def _mask(
    rule: Callable[[Array, Array, int, int], Any], place: Callable[[int, int], int] | None = None
) -> Callable[[int, int, int], Array]:
    """Return a mask by a rule of: the query's position, the key's, the window, the length of the memory.

    Args:
        rule: what is open.
        place: (q_len, k_len) → position of the first query; the right one if left out.
    """

    def window_mask(q_len: int, k_len: int, window: int) -> Array:
        first = place(q_len, k_len) if place else k_len - q_len
        query, key = first + np.arange(q_len)[:, None], np.arange(k_len)[None]
        open_ones = rule(query, key, window, k_len - q_len)
        return np.broadcast_to(open_ones, (q_len, k_len)).copy()

    return window_mask


def _near(query: Array, key: Array, window: int, memory: int) -> Any:
    return (key <= query) & (key > query - window)


def reference(q_len: int, k_len: int, window: int) -> Array:
    """Return the mask, True = may attend, (q_len, k_len)."""
    return _mask(_near)(q_len, k_len, window)


def _last_row(q_len: int, k_len: int, window: int) -> Array:
    return np.repeat(reference(q_len, k_len, window)[-1:], q_len, axis=0)


def draw(rng: np.random.Generator) -> tuple[int, int, int]:
    """Return the numbers of queries and of keys, and a window."""
    q_len, memory, window = (int(n) for n in rng.integers((3, 3, 2), (20, 20, 24)))
    return q_len, q_len + memory, window


CASES = (
    Case("two queries, a memory of two", (2, 4, 2)),
    Case("a whole text, no memory", (3, 3, 2)),
    Case("one token", (1, 1, 1)),
    Case("one query, a cache of three", (1, 4, 2)),
    Case("a window of one", (2, 3, 1)),
    Case("a window wider than the text", (2, 3, 9)),
    Case("three queries, a memory of two", (3, 5, 3)),
    Case("four queries, a memory of four", (4, 8, 3)),
)
_mistake = with_tables(reference, CASES, ("mask",))

window_mask = Exercise(
    name="window_mask",
    kind="implement",
    difficulty=1,
    minutes=15,
    statement=(
        "Write the causal mask of a window. There are k_len tokens, at the positions 0, 1, …, k_len − 1; each "
        "of them is a key. Only the last q_len of them are queries: those before are a memory, or a cache. "
        "Each query sees the last window tokens: itself, and the window − 1 tokens before it, if there are so "
        "many. It sees none that comes after it. Return True and False (dtype bool), shape (q_len, k_len): row "
        "= the query, column = the key, True = may attend. q_len is 1 to k_len, window 1 or more.\n\n"
        "An example: of 4 tokens the last 2 are queries, and the window is 2. The first query is at "
        "position 2 and sees the positions 1 and 2, the second one sees 2 and 3. So the rows are F T T F and "
        "F F T T."
    ),
    returns=("mask",),
    reference=reference,
    cases=(*CASES, *random_cases(draw, 5, "a longer text")),
    draw=draw,
    misconceptions=(
        _mistake(
            "the polarity turned round",
            lambda q_len, k_len, window: ~reference(q_len, k_len, window),
            "Every answer is the opposite of what is asked for. What does True mean in this course?",
        ),
        _mistake(
            "queries counted from the first key",
            _mask(_near, lambda q_len, k_len: 0),
            "Your mask begins in the corner at the top left, as if there were no memory. At which position "
            "is the first query?",
        ),
        _mistake(
            "one key too many",
            _mask(lambda query, key, window, memory: (key <= query) & (key >= query - window)),
            "Count the open keys of the last row. The window counts the token itself, too.",
        ),
        _mistake(
            "one key too few",
            _mask(lambda query, key, window, memory: (key <= query) & (key > query - window + 1)),
            "Count the open keys of the last row, and compare with the window.",
        ),
        _mistake(
            "the window ends before the token",
            _mask(lambda query, key, window, memory: (key < query) & (key >= query - window)),
            "The number of open keys is right. Which one is the last: may a token see itself?",
        ),
        _mistake(
            "a token doesn't see itself",
            _mask(lambda query, key, window, memory: (key < query) & (key > query - window)),
            "What does the first token of a text see, if it doesn't see itself?",
        ),
        _mistake(
            "the queries one place too late",
            _mask(_near, lambda q_len, k_len: k_len - q_len + 1),
            "Your queries see a token that comes after them. Positions count from 0: at which one is the "
            "last query?",
        ),
        _mistake(
            "a causal mask without a window",
            _mask(lambda query, key, window, memory: key <= query),
            "The future is hidden. Where do you use window?",
        ),
        _mistake(
            "the future left open",
            _mask(lambda query, key, window, memory: key > query - window),
            "The far past is hidden. What about tokens that come after the query?",
        ),
        _mistake(
            "a window on both sides",
            _mask(lambda query, key, window, memory: abs(key - query) < window),
            "That is the window of an encoder. This one is causal.",
        ),
        _mistake(
            "the window looks ahead",
            _mask(lambda query, key, window, memory: (key >= query) & (key < query + window)),
            "Your queries see what comes after them. On which side of a row is the past?",
        ),
        _mistake(
            "the memory always open",
            _mask(lambda query, key, window, memory: _near(query, key, window, 0) | (key < memory)),
            "A token of the memory may be as far away as any other. Does the window hold for it?",
        ),
        _mistake(
            "the memory hidden",
            _mask(
                lambda query, key, window, memory: _near(query, key, window, 0) & (key >= memory)
            ),
            "Your queries see each other only. What is the memory for?",
        ),
        _mistake(
            "blocks instead of a window that moves",
            _mask(
                lambda query, key, window, memory: (
                    (key <= query) & (key // window == query // window)
                )
            ),
            "You cut the text into blocks. How many tokens does the first token of a block see in your mask?",
        ),
        _mistake(
            "a stride in the place of a window",
            _mask(
                lambda query, key, window, memory: (key <= query) & ((query - key) % window == 0)
            ),
            "Your query sees single tokens, far apart. A window is made of neighbours.",
        ),
        _mistake(
            "the window of the last query for all",
            _last_row,
            "All your rows are alike. Where is each query?",
        ),
        _mistake(
            "rows and columns exchanged",
            lambda q_len, k_len, window: reference(q_len, k_len, window).T,
            "Rows are the queries, columns the keys. With two queries and four keys, which shape is asked for?",
        ),
        _mistake(
            "a mask to be added",
            lambda q_len, k_len, window: np.where(reference(q_len, k_len, window), 0.0, -np.inf),
            "These are numbers to add to the scores. The task asks for True and False.",
        ),
    ),
)
