"""Exercise: which examples a process reads in an epoch, also after a restart with other processes."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, random_cases
from transformer_course.checks.tables import with_tables

Array = NDArray[Any]


def _part(
    *,
    shuffled_by: Callable[[int, int, int], Any] = lambda seed, epoch, rank: [seed, epoch],
    left: Callable[[Array, int, int], Array] = lambda order, done, p: order[done:],
    chosen: Callable[[Array, int, int], Array] = lambda order, rank, p: order[rank::p],
) -> Callable[[int, int, int, int, int, int], Array]:
    """Return the function of the exercise with another rule here or there.

    Args:
        shuffled_by: (seed, epoch, rank) → what the random numbers come from.
        left: (order, examples done, processes) → what is still to be read.
        chosen: (what is left, rank, processes) → the part of one process.
    """

    def part_of_epoch(
        n: int, rank: int, n_processes: int, seed: int, epoch: int, done: int
    ) -> Array:
        order = np.random.default_rng(shuffled_by(seed, epoch, rank)).permutation(n)
        return chosen(left(order, done, n_processes), rank, n_processes)

    return part_of_epoch


def reference(n: int, rank: int, n_processes: int, seed: int, epoch: int, done: int) -> Array:
    """Return the ids that process `rank` still reads in this epoch, in their order."""
    return _part()(n, rank, n_processes, seed, epoch, done)


def _not_shuffled(n: int, rank: int, n_processes: int, seed: int, epoch: int, done: int) -> Array:
    return np.arange(n)[done:][rank::n_processes]


def _own_share(n: int, rank: int, n_processes: int, seed: int, epoch: int, done: int) -> Array:
    share = np.arange(n)[done:][rank::n_processes]
    return np.random.default_rng([seed, epoch]).permutation(share)


def _dealt_before(n: int, rank: int, n_processes: int, seed: int, epoch: int, done: int) -> Array:
    order = np.random.default_rng([seed, epoch]).permutation(n)
    return order[[i for i in range(done, n) if i % n_processes == rank]]


def _done_divided(n: int, rank: int, n_processes: int, seed: int, epoch: int, done: int) -> Array:
    order = np.random.default_rng([seed, epoch]).permutation(n)
    return np.asarray(order[rank::n_processes][done // n_processes :])


def _padded(order: Array, rank: int, p: int) -> Array:
    missing = -len(order) % p
    return np.concatenate([order, np.resize(order, missing)])[rank::p]


def _blocks(order: Array, rank: int, p: int) -> Array:
    return np.asarray(np.array_split(order, p)[rank])


def draw(rng: np.random.Generator) -> tuple[int, ...]:
    """Return the size of an epoch, a process, how many there are, a seed, an epoch, and what was done."""
    n, processes = int(rng.integers(8, 25)), int(rng.integers(2, 6))
    rank, seed, epoch = (int(number) for number in rng.integers((0, 1, 1), (processes, 100, 9)))
    done = int(rng.integers(n - 3))
    return n, rank, processes, seed, epoch, n if rng.random() < 0.2 else done


CASES = (
    Case("four examples, process 0 of two", (4, 0, 2, 4, 0, 0)),
    Case("four examples, process 1 of two", (4, 1, 2, 4, 0, 0)),
    Case("the next epoch", (4, 1, 2, 4, 1, 0)),
    Case("another seed", (6, 1, 2, 5, 2, 0)),
    Case("five examples, process 1 of two", (5, 1, 2, 1, 0, 0)),
    Case("seven examples, process 2 of three", (7, 2, 3, 2, 3, 0)),
    Case("five examples, one of them done", (5, 0, 2, 4, 1, 1)),
    Case("six examples, one of them done", (6, 0, 2, 4, 1, 1)),
    Case("two examples of eight are done", (8, 1, 2, 1, 2, 2)),
    Case("two examples of nine are done, now three processes", (9, 2, 3, 1, 1, 2)),
    Case("eight examples of nine are done", (9, 0, 2, 1, 1, 8)),
    Case("one process", (5, 0, 1, 3, 4, 0)),
    Case("two examples are left, process 2 of three", (7, 2, 3, 1, 1, 5)),
    Case("all examples are done", (5, 0, 2, 1, 1, 5)),
)
_mistake = with_tables(reference, CASES, ("ids",))

part_of_epoch = Exercise(
    name="part_of_epoch",
    kind="implement",
    difficulty=2,
    minutes=20,
    statement=(
        "Say which examples a process reads in an epoch. There are n examples with the ids 0, …, n − 1, and "
        "n_processes processes, counted from 0; `rank` is the number of one of them. In each epoch all "
        "examples are shuffled anew: their order is `np.random.default_rng([seed, epoch]).permutation(n)`, the "
        "same in every process. Then they are dealt out like cards: the first one goes to process 0, the next "
        "one to process 1, and so on, and after the last process comes process 0 again. Each example is read "
        "once, so some processes may have one example fewer. After a restart, the first `done` examples of the "
        "order have been read already, by all processes together, and dealing begins with the next example, "
        "at process 0; done is 0 to n, and the number of processes may be another than before. Return the ids "
        "that process `rank` still has to read in this epoch, in their order: an array of whole numbers.\n\n"
        "An example: the order is 3 0 4 1 2, and there are two processes. If nothing is done, process 0 reads "
        "3 4 2 and process 1 reads 0 1. If two examples are done, 4 1 2 are left, and process 0 reads 4 2."
    ),
    returns=("ids",),
    reference=reference,
    cases=(*CASES, *random_cases(draw, 6, "a random epoch")),
    draw=draw,
    misconceptions=(
        _mistake(
            "the epoch forgotten",
            _part(shuffled_by=lambda seed, epoch, rank: seed),
            "Your order is the same in every epoch. What has to change when a new epoch begins?",
        ),
        _mistake(
            "seed and epoch added",
            _part(shuffled_by=lambda seed, epoch, rank: seed + epoch),
            "With the sum, seed 1 in epoch 2 is shuffled as seed 2 is in epoch 1. The task gives both as a "
            "list.",
        ),
        _mistake(
            "seed and epoch exchanged",
            _part(shuffled_by=lambda seed, epoch, rank: [epoch, seed]),
            "The order of the list counts. Which one comes first?",
        ),
        _mistake(
            "each process shuffles in its own way",
            _part(shuffled_by=lambda seed, epoch, rank: [seed, epoch, rank]),
            "If each process has an order of its own, two of them read the same example, and another one is "
            "read by nobody.",
        ),
        _mistake(
            "shuffled by the number of the process",
            _part(shuffled_by=lambda seed, epoch, rank: [seed, rank]),
            "If each process has an order of its own, two of them read the same example. And where "
            "is the epoch?",
        ),
        _mistake(
            "each process shuffles its own share",
            _own_share,
            "You deal out ids that are still in order; then each process shuffles its share. What comes first: "
            "the shuffling or the dealing?",
        ),
        _mistake(
            "dealt out first, what is done left out afterwards",
            _dealt_before,
            "You deal out the whole order, and leave out afterwards what is done. After a restart, who gets "
            "the first example that is left?",
        ),
        _mistake(
            "dealt out first, then a part of done left out in each process",
            _done_divided,
            "You deal out the whole order; then each process leaves out its part of done. Before the restart, "
            "there may have been more processes, or fewer. Was it dealt out in the same way?",
        ),
        _mistake(
            "not shuffled",
            _not_shuffled,
            "Your ids are in order. Where is the shuffling?",
        ),
        _mistake(
            "filled up, so that all have as many",
            _part(chosen=_padded),
            "To give all processes as many examples, you read some of them twice. In an evaluation they would "
            "count twice.",
        ),
        _mistake(
            "the rest dropped, so that all have as many",
            _part(chosen=lambda order, rank, p: order[: len(order) // p * p][rank::p]),
            "To give all processes as many examples, you leave some of them unread.",
        ),
        _mistake(
            "a block of neighbours for each process",
            _part(chosen=_blocks),
            "Each example is read once. But they are dealt out one by one: what does process 1 get first?",
        ),
        _mistake(
            "what is done is read again",
            _part(left=lambda order, done, p: order),
            "Where do you use done? What was read before the restart is read again.",
        ),
        _mistake(
            "counted from the end, where nothing is left",
            _part(left=lambda order, done, p: order[-(len(order) - done) :]),
            "In Python −0 is 0. What does your slice give if done is n?",
        ),
        _mistake(
            "done counted in each process",
            _part(left=lambda order, done, p: order[done * p :]),
            "How many examples have all processes together read: done, or done in each of them?",
        ),
        _mistake(
            "one example too many is left out",
            _part(left=lambda order, done, p: order[done + 1 :]),
            "If nothing is done, nothing is left out. Where does the slice begin?",
        ),
        _mistake(
            "what is done in place of what is left",
            _part(left=lambda order, done, p: order[:done]),
            "You return what was read before the restart.",
        ),
        _mistake(
            "dealt out by one process fewer",
            _part(chosen=lambda order, rank, p: order[rank :: max(p - 1, 1)]),
            "With two processes, how many places further in the order is the next example of process 0?",
        ),
        _mistake(
            "all examples in each process",
            _part(chosen=lambda order, rank, p: order),
            "Each process reads everything. Where do you use rank?",
        ),
    ),
)
