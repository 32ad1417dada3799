"""The sum over processes, sent round a ring, as Patarasuk and Yuan 2009 do (chapter 14).

Each of p workers has a tensor of n numbers, cut into p chunks. There are twice p - 1 steps. In each, every
worker sends one chunk to its neighbour: first to be added there (reduce-scatter), then to replace what is there
(all-gather). If p divides n, each worker sends 2(p - 1)/p · n numbers, however many workers there are.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class RingState:
    """Where a ring of Patarasuk and Yuan 2009 is after a step.

    Args:
        chunks: for each worker, its p chunks as they are now.
        sent: for each worker, the chunk that it has sent in this step to the next worker; -1 before the first.
        numbers: for each worker, how many numbers it has sent so far.
    """

    chunks: list[list[Tensor]]
    sent: list[int]
    numbers: list[int]


def ring_steps(parts: Sequence[Tensor]) -> Iterator[RingState]:
    """Sum tensors round a ring, and stop after each step (Patarasuk and Yuan 2009).

    Args:
        parts: for each worker the tensor that it begins with; all of one shape and type.

    Yields:
        The state at the beginning, then after each of the 2(p - 1) steps. The tensors are copies.

    Raises:
        ValueError: if there is no part, or shapes or types differ.
    """
    if not parts:
        raise ValueError("parts is empty; there must be a tensor for each worker")
    for i, part in enumerate(parts):
        if part.shape != parts[0].shape or part.dtype != parts[0].dtype:
            raise ValueError(
                f"parts[{i}] is {tuple(part.shape)} of {part.dtype}, parts[0] is "
                f"{tuple(parts[0].shape)} of {parts[0].dtype}"
            )
    p = len(parts)
    chunks = [list(part.flatten().clone().tensor_split(p)) for part in parts]
    numbers = [0] * p
    yield _copied(chunks, [-1] * p, numbers)
    for step in range(2 * (p - 1)):
        adding = step < p - 1
        # First worker i sends chunk i, then always the one that has just come: first sums in the making, then,
        # from step p - 1 on, whole ones.
        sent = [(i - step) % p for i in range(p)]
        letters = [chunks[i][sent[i]] for i in range(p)]  # all are on their way at once
        for i, (chunk, letter) in enumerate(zip(sent, letters, strict=True)):
            there = chunks[(i + 1) % p]
            there[chunk] = there[chunk] + letter if adding else letter
            numbers[i] += letter.numel()
        yield _copied(chunks, sent, numbers)


def ring_all_reduce(parts: Sequence[Tensor]) -> tuple[list[Tensor], list[int]]:
    """Give every worker the sum of all parts (Patarasuk and Yuan 2009).

    Args:
        parts: as in `ring_steps`.

    Returns:
        For each worker the sum, the same bits for all of them, and how many numbers it has sent.

    Raises:
        ValueError: as `ring_steps` does.

    >>> sums, sent = ring_all_reduce([torch.ones(6), torch.full((6,), 2.0), torch.full((6,), 3.0)])
    >>> sums[0].tolist(), sent
    ([6.0, 6.0, 6.0, 6.0, 6.0, 6.0], [8, 8, 8])
    """
    *_, last = ring_steps(parts)
    return [torch.cat(mine).view(parts[0].shape) for mine in last.chunks], last.numbers


def _copied(chunks: list[list[Tensor]], sent: list[int], numbers: list[int]) -> RingState:
    return RingState([[chunk.clone() for chunk in mine] for mine in chunks], sent, list(numbers))
