"""Exercise: the gradient of a whole batch from those of its shards."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, random_cases
from transformer_course.checks.tables import with_tables

Array = NDArray[Any]


def reference(gradients: Array, counts: Array) -> Array:
    """Return the gradient of the mean loss of all tokens, (n,)."""
    return np.asarray(counts @ gradients / counts.sum())


def draw(rng: np.random.Generator) -> tuple[Array, Array]:
    """Return gradients of 2 to 5 processes, all positive, and their numbers of tokens."""
    processes, n = int(rng.integers(2, 6)), int(rng.integers(1, 5))
    counts = rng.permutation(np.arange(1, 30))[:processes].astype(float)
    return rng.integers(1, 100, size=(processes, n)) / 8, counts


def _case(about: str, gradients: list[list[float]], counts: list[float]) -> Case:
    return Case(about, (np.array(gradients), np.array(counts)))


CASES = (
    _case("two processes, one weight", [[2.0], [6.0]], [3.0, 1.0]),
    _case("as many tokens in each", [[2.0], [6.0]], [5.0, 5.0]),
    _case("two processes, two weights", [[1.0, 8.0], [4.0, 2.0]], [1.0, 2.0]),
    _case("three processes", [[4.0], [0.0], [8.0]], [1.0, 2.0, 5.0]),
    _case("one process", [[3.0, -1.0]], [7.0]),
    _case("a sign that changes", [[-4.0], [8.0]], [3.0, 1.0]),
)
_mistake = with_tables(reference, CASES, ("gradient",))

batch_gradient = Exercise(
    name="batch_gradient",
    kind="implement",
    difficulty=1,
    minutes=15,
    statement=(
        "Join the gradients of several processes. Each process has the same weights and its own shard of the "
        "batch. It has computed the mean loss of its tokens, and the gradient of this mean. gradients is "
        "(processes, n): a row for each process, a column for each weight. counts, (processes,), says how many "
        "tokens each process had: 1 or more. Both are floating point. Return the gradient of the mean loss of "
        "*all* tokens, (n,): what one process with the whole batch would get.\n\n"
        "An example: 3 tokens gave the gradient 2, and 1 token in another process gave 6. In the whole batch "
        "three tokens ask for 2 on average and one asks for 6, so the gradient is (2 + 2 + 2 + 6) / 4 = 3."
    ),
    returns=("gradient",),
    reference=reference,
    cases=(*CASES, *random_cases(draw, 6, "random gradients")),
    draw=draw,
    misconceptions=(
        _mistake(
            "the mean of means",
            lambda gradients, counts: gradients.mean(0),
            "Each process weighs the same in your function, however many tokens it had. What should weigh the "
            "same?",
        ),
        _mistake(
            "the gradients added",
            lambda gradients, counts: gradients.sum(0),
            "With twice as many processes, your gradient is twice as long. Is the mean loss twice as large?",
        ),
        _mistake(
            "weighted, not divided",
            lambda gradients, counts: counts @ gradients,
            "That is the gradient of the summed loss. What makes a mean of a sum?",
        ),
        _mistake(
            "divided by the number of processes",
            lambda gradients, counts: counts @ gradients / len(counts),
            "You have the sum over tokens. How many things were added up: processes, or tokens?",
        ),
        _mistake(
            "divided twice",
            lambda gradients, counts: counts @ gradients / counts.sum() / len(counts),
            "After the division by the tokens, the mean is finished. What is the second division for?",
        ),
        _mistake(
            "added, then divided by all tokens",
            lambda gradients, counts: gradients.sum(0) / counts.sum(),
            "What you add are means already. How does a mean become the sum of its tokens again?",
        ),
        _mistake(
            "each mean divided by its tokens once more",
            lambda gradients, counts: (gradients / counts[:, None]).sum(0),
            "Each row is a mean: it has been divided by its own count. Does a process with many tokens count "
            "for more, or for less?",
        ),
        _mistake(
            "the largest shard alone",
            lambda gradients, counts: gradients[np.argmax(counts)],
            "The others have tokens, too, even if fewer.",
        ),
        _mistake(
            "the weights the wrong way round",
            lambda gradients, counts: (1 / counts) @ gradients / (1 / counts).sum(),
            "In your function the process with the fewest tokens weighs the most.",
        ),
    ),
)
