"""Exercise: a feed-forward block split over processes: columns of the first matrix, rows of the second."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, random_cases
from transformer_course.checks.tables import with_tables

Array = NDArray[Any]
Function = Callable[[Array, Array, Array, Array, Array, int, int], Array]


def _part(
    *,
    own: Callable[[int, int, int], Any] = lambda rank, n, d_ff: slice(
        rank * (d_ff // n), (rank + 1) * (d_ff // n)
    ),
    with_bias: Callable[[int, int], float] = lambda rank, n: float(rank == 0),
    first_bias: float = 1.0,
    relu: bool = True,
    relu_after: bool = False,
    factor: Callable[[int], float] = lambda n: 1.0,
) -> Function:
    """Return the function of the exercise with another rule here or there.

    Args:
        own: (rank, processes, d_ff) → the hidden numbers of a process.
        with_bias: (rank, processes) → how much of b2 a process adds.
        first_bias: how much of b1.
        relu: whether negative hidden numbers become 0.
        relu_after: whether negative outputs do.
        factor: processes → what the product is multiplied by.
    """

    def feed_forward_part(
        x: Array, w1: Array, b1: Array, w2: Array, b2: Array, rank: int, n_processes: int
    ) -> Array:
        mine = own(rank, n_processes, w1.shape[1])
        hidden = x @ w1[:, mine] + first_bias * b1[mine]
        hidden = np.maximum(hidden, 0) if relu else hidden
        output = hidden @ w2[mine] * factor(n_processes) + with_bias(rank, n_processes) * b2
        return np.asarray(np.maximum(output, 0) if relu_after else output)

    return feed_forward_part


def reference(
    x: Array, w1: Array, b1: Array, w2: Array, b2: Array, rank: int, n_processes: int
) -> Array:
    """Return the part of the output that one process adds, (length, d_model)."""
    return _part()(x, w1, b1, w2, b2, rank, n_processes)


def _input_split(
    x: Array, w1: Array, b1: Array, w2: Array, b2: Array, rank: int, n_processes: int
) -> Array:
    width = w1.shape[0] // n_processes
    own = slice(rank * width, (rank + 1) * width)
    hidden = np.maximum(x[:, own] @ w1[own] + b1, 0)
    return np.asarray(hidden @ w2 + (rank == 0) * b2)


def draw(rng: np.random.Generator) -> tuple[Any, ...]:
    """Return an input, the four tensors of a block, a process, and the number of processes."""
    length, d_model, share, processes = (int(n) for n in rng.integers((1, 2, 2, 2), (4, 5, 4, 5)))
    d_ff = share * processes
    shapes = ((length, d_model), (d_model, d_ff), (d_ff,), (d_ff, d_model), (d_model,))
    numbers = (rng.choice([-1, 1], shape) * rng.integers(1, 25, shape) / 8 for shape in shapes)
    return (*numbers, int(rng.integers(processes)), processes)


def _case(
    about: str, w1: list[float], b1: list[float], w2: list[float], rank: int, n_processes: int
) -> Case:
    """Return a case of one token with one number, 1, and b2 = 100."""
    return Case(
        about,
        (
            np.ones((1, 1)),
            np.array([w1]),
            np.array(b1),
            np.array(w2)[:, None],
            np.array([100.0]),
            rank,
            n_processes,
        ),
    )


CASES = (
    _case("process 0 of two", [2.0, 3.0], [0.0, 0.0], [10.0, 20.0], 0, 2),
    _case("process 1 of two", [2.0, 3.0], [0.0, 0.0], [10.0, 20.0], 1, 2),
    _case("process 1 of two, with b1", [2.0, 3.0], [1.0, 2.0], [10.0, 20.0], 1, 2),
    _case("a negative hidden number", [2.0, -3.0], [0.0, 1.0], [10.0, 20.0], 1, 2),
    _case("four hidden numbers", [1.0, 2.0, 3.0, 4.0], 4 * [0.0], [1.0, 5.0, 7.0, 9.0], 0, 2),
    _case("a negative output", [1.0, 2.0, 3.0, 4.0], 4 * [0.0], 4 * [-1.0], 1, 2),
    _case("one process", [2.0, 3.0], [1.0, -5.0], [10.0, 20.0], 0, 1),
    _case("process 2 of three", [1.0, 2.0, 4.0], [1.0, 0.0, 1.0], [3.0, 5.0, 7.0], 2, 3),
)
_mistake = with_tables(reference, CASES, ("part",))

feed_forward_part = Exercise(
    name="feed_forward_part",
    kind="implement",
    difficulty=2,
    minutes=20,
    statement=(
        "Split a feed-forward block over processes (tensor parallelism). The whole block is "
        "relu(x w1 + b1) w2 + b2: x is (length, d_model), w1 (d_model, d_ff), b1 (d_ff,), w2 (d_ff, d_model), "
        "b2 (d_model,), all floating point. n_processes divides d_ff. The d_ff hidden numbers are cut into "
        "n_processes pieces of neighbours, and process `rank` (counted from 0) computes the piece of its own "
        "number, and nothing of the others. It multiplies its piece by the rows of w2 that belong to it. "
        "Process 0 alone adds b2. Return what process `rank` has then, (length, d_model). An all-reduce adds "
        "up the parts of all processes: the sum must be what the whole block gives.\n\n"
        "An example: one token x = 1, w1 = [2, 3], b1 = 0, w2 = [10, 20], b2 = 100, two processes. The hidden "
        "numbers are 2 and 3. Process 0 has 2 · 10 + 100 = 120, process 1 has 3 · 20 = 60, and the whole block "
        "gives 180."
    ),
    returns=("part",),
    reference=reference,
    cases=(*CASES, *random_cases(draw, 8, "a random block")),
    draw=draw,
    misconceptions=(
        _mistake(
            "b2 in every process",
            _part(with_bias=lambda rank, n: 1.0),
            "The parts are added up. How often is b2 in the sum?",
        ),
        _mistake(
            "b2 in no process",
            _part(with_bias=lambda rank, n: 0.0),
            "The parts are added up, and nothing comes after that. Where is b2?",
        ),
        _mistake(
            "b2 in the last process",
            _part(with_bias=lambda rank, n: float(rank == n - 1)),
            "One process adds b2, and that is right. The task says which one.",
        ),
        _mistake(
            "a share of b2 in each process",
            _part(with_bias=lambda rank, n: 1 / n),
            "The sum over all processes is right, up to rounding. But the task says which process adds b2, "
            "and then it is whole.",
        ),
        _mistake(
            "no ReLU",
            _part(relu=False),
            "A negative hidden number must become 0 before the second product.",
        ),
        _mistake(
            "ReLU on the output",
            _part(relu=False, relu_after=True),
            "ReLU comes between the two products. After the sum over processes, too, nothing is set to 0.",
        ),
        _mistake(
            "ReLU on the output, too",
            _part(relu_after=True),
            "A part may be negative: another process may add more than is missing.",
        ),
        _mistake(
            "b1 left out",
            _part(first_bias=0.0),
            "Each hidden number has a bias of its own, and it belongs to the process that computes it.",
        ),
        _mistake(
            "every n-th hidden number",
            _part(own=lambda rank, n, d_ff: slice(rank, None, n)),
            "The sum over all processes is right. But a process has neighbours: which ones does process 0 "
            "have, if there are four hidden numbers and two processes?",
        ),
        _mistake(
            "the pieces from the last one on",
            _part(
                own=lambda rank, n, d_ff: slice(
                    d_ff - (rank + 1) * d_ff // n, d_ff - rank * d_ff // n
                )
            ),
            "Which piece does process 0 compute: the first one, or the last one?",
        ),
        _mistake(
            "the whole block in each process",
            _part(own=lambda rank, n, d_ff: slice(None), with_bias=lambda rank, n: 1.0),
            "Each process does all the work, and their sum is too large. Which hidden numbers are its own?",
        ),
        _mistake(
            "the whole product in each process",
            _part(own=lambda rank, n, d_ff: slice(None)),
            "b2 is in the right place. But each process computes all hidden numbers.",
        ),
        _mistake(
            "the whole block, divided",
            _part(
                own=lambda rank, n, d_ff: slice(None),
                with_bias=lambda rank, n: 1 / n,
                factor=lambda n: 1 / n,
            ),
            "The sum over processes is right, but each process did all the work.",
        ),
        _mistake(
            "the input split",
            _input_split,
            "Half of the input gives half of a sum, and ReLU of two halves isn't ReLU of the whole. Which axis "
            "of w1 can be cut without a sum before ReLU?",
        ),
    ),
)
