"""What the figure of chapter 14 must compute: the steps of the package's ring."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from transformer_course.scaling import RingState, ring_steps

from .node import Call

FIGURE = "ring_explorer"
NUMBERS = 60


def states(workers: int) -> list[RingState]:
    """All states of the ring, worker i beginning with the number i + 1 everywhere."""
    return list(ring_steps([torch.full((NUMBERS,), i + 1) for i in range(workers)]))


def told(workers: int, step: int, state: RingState) -> str:
    """The sentence below the figure."""
    if step == 0:
        return f"{workers} workers, each with {workers} chunks. The sum of each column is wanted, by everyone."
    sums = [int(chunk[0]) == sum(range(workers + 1)) for own in state.chunks for chunk in own]
    adding = step < workers
    what = "which adds it to its own" if adding else "which takes it in place of its own"
    end = " Everyone has all sums." if all(sums) else ""
    return (
        f"Step {step} of {2 * (workers - 1)}: each worker has sent one chunk to the next, {what}. "
        f"Whole sums: {sum(sums)} of {workers**2}.{end}"
    )


def calls() -> Iterator[Call]:
    """All functions of the figure, for all numbers of workers and all steps."""
    for workers in range(2, 7):
        found = states(workers)
        yield Call(FIGURE, "stepsOf", [workers], len(found) - 1)
        yield Call(FIGURE, "whole", [workers], int(found[-1].chunks[0][0][0]))
        for step, state in enumerate(found):
            chunks = [[int(chunk[0]) for chunk in own] for own in state.chunks]
            yield Call(FIGURE, "after", [workers, step], chunks)
            yield Call(FIGURE, "sentence", [workers, step], told(workers, step, state))
            expected = {
                "each": state.numbers[0],
                "end": found[-1].numbers[0],
                "other": NUMBERS,
                "first": (workers - 1) * NUMBERS,
            }
            yield Call(FIGURE, "traffic", [workers, step], expected)
            if step:
                yield Call(FIGURE, "sentIn", [workers, step], state.sent)
