"""Exercise: all-reduce on a ring, step by step: reduce-scatter, then all-gather."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, random_cases
from transformer_course.checks.tables import with_tables

Array = NDArray[Any]


def _ring(
    *,
    first: Callable[[int, int, int], int] = lambda worker, step, p: worker - step,
    then: Callable[[int, int, int], int] = lambda worker, step, p: worker - step,
    turn: int = 1,
    rounds: Callable[[int], int] = lambda p: p - 1,
    always: str = "",
) -> Callable[[Array, int], Array]:
    """Return the function of the exercise with another rule here or there.

    Args:
        first: (worker, step, number of workers) → the chunk sent while sums are made; step counts on.
        then: the same for the steps after that.
        turn: how many places further on the ring the receiver is.
        rounds: number of workers → steps in which what comes is added.
        always: "add" or "replace" in all steps.
    """

    def ring_state(parts: Array, steps: int) -> Array:
        state, p = parts.copy(), len(parts)
        for step in range(steps):
            adding = step < rounds(p)
            before = state.copy()
            for worker in range(p):
                chunk = (first if adding else then)(worker, step, p) % p
                to = (worker + turn) % p
                if always == "add" or (adding and always != "replace"):
                    state[to, chunk] += before[worker, chunk]
                else:
                    state[to, chunk] = before[worker, chunk]
        return state

    return ring_state


def reference(parts: Array, steps: int) -> Array:
    """Return what each worker has after so many steps, (workers, workers)."""
    return _ring()(parts, steps)


def _all_to_one(parts: Array, steps: int) -> Array:
    """Return the state where worker 0 gets all numbers of another worker in each step, then sends the sum."""
    state, p = parts.copy(), len(parts)
    for step in range(steps):
        other = step % (p - 1) + 1
        if step < p - 1:
            state[0] += parts[other]
        else:
            state[other] = state[0]
    return state


def draw(rng: np.random.Generator) -> tuple[Array, int]:
    """Return the numbers of 3 to 5 workers, and a number of steps."""
    p = int(rng.integers(3, 6))
    return rng.integers(1, 1000, size=(p, p)) / 4, int(rng.integers(1, 2 * p - 1))


def _case(about: str, p: int, steps: int) -> Case:
    """Return a case of powers of ten that say whose they are: worker 1 has 10 or 20 or 30."""
    parts = 10.0 ** np.arange(p)[:, None] * np.arange(1, p + 1)
    return Case(about, (parts, steps))


CASES = (
    _case("two workers, one step", 2, 1),
    _case("two workers, two steps: all", 2, 2),
    _case("two workers, no step", 2, 0),
    Case("two workers, two steps, a sum of 0", (np.array([[1.0, 2.0], [-1.0, 5.0]]), 2)),
    _case("three workers, one step", 3, 1),
    _case("three workers, two steps: the sums are made", 3, 2),
    _case("three workers, three steps", 3, 3),
    _case("three workers, four steps: all", 3, 4),
    _case("four workers, two steps", 4, 2),
    _case("four workers, three steps: the sums are made", 4, 3),
    _case("four workers, five steps", 4, 5),
    _case("four workers, six steps: all", 4, 6),
)
_mistake = with_tables(reference, CASES, ("state",))

ring_state = Exercise(
    name="ring_state",
    kind="implement",
    difficulty=3,
    minutes=30,
    statement=(
        "Add up the numbers of p workers on a ring. parts is (p, p), floating point: row = worker, column = "
        "chunk. A chunk is one number here. In each step every worker sends one chunk to the next worker (the "
        "last one sends to worker 0), and all send at the same time. There are 2(p − 1) steps, counted from 0. "
        "In step s worker r sends chunk (r − s) modulo p. In the first p − 1 steps (reduce-scatter) the "
        "receiver *adds* what comes to its own chunk of the same number. In the other p − 1 steps (all-gather) "
        "the receiver *replaces* its own chunk by what comes. Return what the workers have after the first "
        "`steps` steps, (p, p); steps is 0 to 2(p − 1). After all steps each worker has the sums of all.\n\n"
        "An example: worker 0 has [1, 2], worker 1 has [10, 20]. In step 0 worker 0 sends its 1 (chunk 0), and "
        "worker 1 sends its 20 (chunk 1). After it, worker 0 has [1, 22] and worker 1 has [11, 20]. In step 1 "
        "worker 0 sends chunk 1, which is 22, and worker 1 sends chunk 0, which is 11. Now both have [11, 22]."
    ),
    returns=("state",),
    reference=reference,
    cases=(*CASES, *random_cases(draw, 8, "random numbers")),
    draw=draw,
    misconceptions=(
        _mistake(
            "added in all steps",
            _ring(always="add"),
            "In the second half a finished sum comes. What happens if you add it to what is there?",
        ),
        _mistake(
            "replaced in all steps",
            _ring(always="replace"),
            "In the first half nobody has a sum yet. If the receiver throws its own number away, who has it?",
        ),
        _mistake(
            "the same chunk in every step",
            _ring(first=lambda worker, step, p: worker, then=lambda worker, step, p: worker),
            "Your worker sends the same chunk again and again. Which chunk has it received, one step before?",
        ),
        _mistake(
            "the chunks in the other order",
            _ring(
                first=lambda worker, step, p: worker + step,
                then=lambda worker, step, p: worker + step,
            ),
            "A worker must pass on what it received one step before. Which chunk did the worker before it "
            "send then?",
        ),
        _mistake(
            "sent the other way round the ring",
            _ring(turn=-1),
            "To which worker does worker 0 send: to worker 1, or to the last one?",
        ),
        _mistake(
            "one step of adding too many",
            _ring(rounds=lambda p: p),
            "With p workers, a chunk that starts at one of them meets how many others?",
        ),
        _mistake(
            "one step of adding too few",
            _ring(rounds=lambda p: p - 2),
            "With two workers, how often must something be added?",
        ),
        _mistake(
            "the second half begins again with the first chunk",
            _ring(then=lambda worker, step, p: worker - (step - p + 1)),
            "After the first half, which chunk of worker 0 is a finished sum? The steps are counted on: the "
            "first one of the second half isn't step 0.",
        ),
        _mistake(
            "the same chunk from all workers",
            _ring(first=lambda worker, step, p: step, then=lambda worker, step, p: step),
            "In one step each worker sends another chunk. Where does the number of the worker come in?",
        ),
        _mistake(
            "all sums at once",
            lambda parts, steps: np.tile(parts.sum(0), (len(parts), 1)),
            "That is what all have in the end. The task asks for what they have on the way, after `steps` "
            "steps.",
        ),
        _mistake(
            "nothing sent",
            lambda parts, steps: parts.copy(),
            "You return what the workers had at first.",
        ),
        _mistake(
            "all numbers to worker 0",
            _all_to_one,
            "The sum is right in the end. But worker 0 receives everything while the others wait: that isn't "
            "the ring.",
        ),
    ),
)
