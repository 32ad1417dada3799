"""Exercise: a few heads of keys for many heads of queries (grouped queries; Ainslie et al. 2023)."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases

Array = NDArray[Any]
Whose = Callable[[Array, int, int], Array]


def _taken(whose: Whose) -> Callable[[Array, int], Array]:
    """Return a function by a rule of: the head, the number of heads, the number of key heads."""

    def share_keys(k: Array, n_heads: int) -> Array:
        return k[:, whose(np.arange(n_heads), n_heads, k.shape[1])]

    return share_keys


def reference(k: Array, n_heads: int) -> Array:
    """Return the keys of each head, (batch, n_heads, length, d_k)."""
    return _taken(lambda head, n_heads, n_keys: head // (n_heads // n_keys))(k, n_heads)


def _along(axis: int) -> Callable[[Array, int], Array]:
    return lambda k, n_heads: np.repeat(k, n_heads // k.shape[1], axis=axis)


def _spread(k: Array, n_heads: int) -> Array:
    batch, n_keys, length, d_k = k.shape
    return np.repeat(k, n_heads // n_keys, axis=2).reshape(batch, n_heads, length, d_k)


def _mean(k: Array, n_heads: int) -> Array:
    return np.repeat(k.mean(axis=1, keepdims=True), n_heads, axis=1)


def _divided(k: Array, n_heads: int) -> Array:
    return reference(k, n_heads) * k.shape[1] / n_heads


def _shown(name: str, whose: Whose, hint: str) -> Misconception:
    """Return a misconception whose hint shows which head gets which keys."""
    heads = np.arange(4)
    rows = (
        ("head", heads),
        ("its keys", heads // 2),
        ("in yours", np.broadcast_to(whose(heads, 4, 2), 4)),
    )
    lines = [f"{label:<11}" + " ".join(map(str, row)) for label, row in rows]
    given = "With 4 heads and 2 key heads:\n  " + "\n  ".join(lines)
    return Misconception(name, _taken(whose), f"{given}\n{hint}")


def draw(rng: np.random.Generator) -> tuple[Array, int]:
    """Return keys, and a number of heads."""
    batch, n_keys, length, d_k, group = (
        int(n) for n in rng.integers((1, 2, 2, 2, 2), (4, 4, 5, 5, 4))
    )
    return rng.normal(size=(batch, n_keys, length, d_k)).round(2), n_keys * group


def _case(about: str, sizes: tuple[int, int, int, int], n_heads: int) -> Case:
    """Return a case of numbers that say where they are: 1230 is sentence 1, key head 2, position 3."""
    sentence, head, place, number = np.indices(sizes)
    k = 1000.0 * sentence + 100 * head + 10 * place + number
    return Case(about, (k, n_heads))


share_keys = Exercise(
    name="share_keys",
    kind="implement",
    difficulty=1,
    minutes=10,
    statement=(
        "Give each head of queries its keys, in grouped-query attention. There are fewer heads of keys than "
        "heads of queries: k is (batch, key_heads, length, d_k), and n_heads is a multiple of key_heads. "
        "Neighbouring heads are a group, and a group shares one key head: the first n_heads / key_heads heads "
        "take key head 0, the next ones key head 1, and so on. Return the keys as ordinary attention takes "
        "them: (batch, n_heads, length, d_k), numbers unchanged. Values are treated alike.\n\n"
        "An example: 4 heads and 2 key heads. Heads 0 and 1 take key head 0; heads 2 and 3 take key head 1."
    ),
    returns=("keys",),
    reference=reference,
    cases=(
        _case("2 key heads, 4 heads; the hundreds are the key head", (1, 2, 1, 1), 4),
        _case("2 key heads, 4 heads, 2 tokens; the hundreds are the key head", (1, 2, 2, 2), 4),
        _case("1 key head, 3 heads", (1, 1, 2, 2), 3),
        _case("as many key heads as heads", (1, 3, 2, 2), 3),
        _case("2 sentences, 2 key heads, 6 heads", (2, 2, 2, 3), 6),
        _case("3 key heads, 6 heads", (2, 3, 2, 1), 6),
        *random_cases(draw, 6),
    ),
    draw=draw,
    misconceptions=(
        _shown(
            "the key heads again and again",
            lambda head, n_heads, n_keys: head % n_keys,
            "You repeat the row of key heads as a whole. The shape is right. Which heads are a group?",
        ),
        _shown(
            "the last key head first",
            lambda head, n_heads, n_keys: head[::-1] // (n_heads // n_keys),
            "The groups are right. Which key head does the first one share?",
        ),
        _shown(
            "key head 0 for all",
            lambda head, n_heads, n_keys: 0 * head,
            "That is multi-query attention: one head of keys. Here there may be more.",
        ),
        _shown(
            "the last key head for all",
            lambda head, n_heads, n_keys: 0 * head + n_keys - 1,
            "All heads look for the same keys. What are the others for?",
        ),
        _shown(
            "the key heads again and again, the last one first",
            lambda head, n_heads, n_keys: n_keys - 1 - head % n_keys,
            "Which heads are a group? And which key head does the first group take?",
        ),
        _shown(
            "one head for each key head but the last, all the others for the last",
            lambda head, n_heads, n_keys: np.minimum(head, n_keys - 1),
            "How many heads are in a group? All groups are alike.",
        ),
        Misconception(
            "each token repeated in the place of each head",
            _along(2),
            "Your keys are longer, but there are as many heads of them as before. Which axis are the heads?",
        ),
        Misconception(
            "the batch repeated",
            _along(0),
            "You have more sentences than before. Which axis are the heads?",
        ),
        Misconception(
            "the numbers of a key repeated",
            _along(3),
            "Your keys are wider than the queries. Which axis are the heads?",
        ),
        Misconception(
            "tokens repeated, then cut into heads",
            _spread,
            "The shape is right. But in head 0 each token comes several times, and others are missing. "
            "Repeat along the axis of the heads.",
        ),
        Misconception(
            "each key head repeated once for every head",
            lambda k, n_heads: np.repeat(k, n_heads, axis=1),
            "You have too many heads of keys. How many heads are in a group?",
        ),
        Misconception(
            "the groups as an axis of their own",
            lambda k, n_heads: reference(k, n_heads).reshape(*k.shape[:2], -1, *k.shape[2:]),
            "All keys are where they should be. Two axes have to become one.",
        ),
        Misconception(
            "nothing repeated",
            lambda k, n_heads: k,
            "Where do you use n_heads? Some heads of queries have no keys.",
        ),
        Misconception(
            "the mean of the key heads",
            _mean,
            "Averaging makes all key heads one. A group takes its key head as it is.",
        ),
        Misconception(
            "the keys divided among their heads",
            _divided,
            "Sharing costs nothing: each head of a group sees the whole key.",
        ),
    ),
)
