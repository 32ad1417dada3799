"""What the figure of chapter 14 must compute: the states of the package's ring, and counted numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch

from transformer_course.figures.ring_explorer import MOST, PARTS
from transformer_course.scaling import RingState, ring_all_reduce, ring_steps

from .node import Call

FIGURE = "ring_explorer"
NUMBERS = 60  # of each worker in the figure
START = {"parts": [list(part) for part in PARTS], "workers": 4, "step": 0}


def states(p: int) -> list[RingState]:
    """All states of the package's ring; each chunk is the first number of one of the figure."""
    return list(ring_steps([torch.tensor(part[:p]) for part in PARTS[:p]]))


def summed(p: int) -> list[RingState]:
    """The same with ones: of how many parts each chunk is the sum."""
    return list(ring_steps([torch.ones(p, dtype=torch.int64)] * p))


def numbers(state: RingState) -> list[list[int]]:
    """For each worker the numbers of its chunks."""
    return [[int(chunk) for chunk in mine] for mine in state.chunks]


def cells_after(p: int, step: int) -> list[list[dict[str, Any]]]:
    """For each worker and chunk what the figure must know of it."""
    now, sent = states(p)[step], states(p)[step].sent
    counts = numbers(summed(p)[step])
    return [
        [
            {"number": number, "summed": counts[i][c], "came": step > 0 and sent[i - 1] == c}
            for c, number in enumerate(mine)
        ]
        for i, mine in enumerate(numbers(now))
    ]


def rows_after(p: int, step: int) -> list[list[str]]:
    """The table of numbers sent, with 60 numbers for each worker."""
    sent = list(ring_steps([torch.zeros(NUMBERS)] * p))
    _, ring = ring_all_reduce([torch.zeros(NUMBERS)] * p)
    back = sum(NUMBERS for worker in range(p) if worker > 0)  # by the one to each of the others
    return [
        ["ring: each worker", str(sent[step].numbers[0]), str(ring[0])],
        ["all to one: the one", "", str(back)],
        ["all to one: the others", "", str(NUMBERS)],
    ]


def sentence_after(p: int, step: int) -> str:
    """What the figure says."""
    if not step:
        return (
            f"Start: each of {p} workers has its own 60 numbers, cut into {p} chunks of {60 // p}. "
            "All want the sum."
        )
    before, after = states(p)[step - 1 : step + 1]
    chunk = after.sent[0]
    letter, had, has = (
        numbers(s)[w][chunk] for s, w in ((before, 0), (before, 1 % p), (after, 1 % p))
    )
    adds = step <= p - 1
    name = "reduce-scatter" if adds else "all-gather"
    does = f"adds it: {had} + {letter} = {has}." if adds else f"puts {has} in the place of {had}."
    end = {2 * (p - 1): " Now all workers have all sums."}
    end = {p - 1: " Now each worker has one whole sum."} | end
    return (
        f"Step {step} of {2 * (p - 1)}, {name}. Worker 0 sends chunk {chunk} to worker 1, which {does}"
        f"{end.get(step, '')}"
    )


def calls() -> Iterator[Call]:
    """Every number of workers and every step."""
    for p in range(2, MOST + 1):
        yield Call(FIGURE, "stepsOf", [p], len(states(p)) - 1)
        yield Call(FIGURE, "chosenWorkers", [p], {"workers": p, "step": 0})
        for step in range(2 * (p - 1) + 1):
            state = START | {"workers": p, "step": step}
            found: dict[str, Any] = {"cells": cells_after(p, step)}
            if step:
                sent = states(p)[step].sent
                yield Call(FIGURE, "sentIn", [p, step], sent)
                found["letters"] = [
                    {"from": i, "to": (i + 1) % p, "chunk": c} for i, c in enumerate(sent)
                ]
            yield Call(FIGURE, "stateAt", [START["parts"], p, step], found)
            yield Call(FIGURE, "sentRows", [p, step], rows_after(p, step))
            chunk = NUMBERS // p
            counted = {"chunk": chunk, "now": step * chunk, "others": NUMBERS}
            yield Call(FIGURE, "sentNumbers", [p, step], counted)
            yield Call(FIGURE, "ringSentence", [state], sentence_after(p, step))
        for along in (0, 0.5):
            turns = [2 * math.pi * (i + along) / p for i in range(p)]
            places = [{"x": math.sin(t), "y": -math.cos(t), "turn": t} for t in turns]
            yield Call(FIGURE, "placesOf", [p, along], places)
