"""What the last cells of the exercises of chapter 14 call: a ring step by step, and an epoch dealt out."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from transformer_course.checks.comparing import Array, loose_parts
from transformer_course.checks.running import SECONDS, run


def ring_table(ring_state: Callable[..., Any], workers: int = 4, steps: int = 3) -> None:
    """Print what the workers of a ring have after some steps, and how many numbers were sent.

    Worker 0 begins with 1 1 1 …, worker 1 with 10 10 10 …, and so on: a 1 in each place is a finished sum.

    Args:
        ring_state: the learner's function.
        workers: number of workers, 2 or more.
        steps: steps done; more than there are count as all.

    >>> from transformer_course.checks.scaling.ring_state import reference
    >>> ring_table(reference, workers=3, steps=2)
    chunk        0    1    2
    worker 0     1  111  101
    worker 1    11   10  111
    worker 2   111  110  100
    Step 2 of 4. Finished sums: 3 of 9. Each worker has sent 2 numbers.
    In the end each has sent 4. All to worker 0 and back: worker 0 receives 6 and sends 6.
    """
    last = 2 * (workers - 1)
    steps = min(steps, last)
    parts = np.repeat(10.0 ** np.arange(workers)[:, None], workers, axis=1)
    state = _result(ring_state, (parts, steps), (workers, workers))
    if state is None:
        print("The sliders come to life when ring_state passes its check.")
        return
    print("chunk    " + "".join(f" {chunk:>{workers + 1}}" for chunk in range(workers)))
    for worker, row in enumerate(state):
        print(f"worker {worker} " + "".join(f" {number:>{workers + 1}.0f}" for number in row))
    finished = int((np.abs(state - parts.sum(0)) < 0.5).sum())
    print(
        f"Step {steps} of {last}. Finished sums: {finished} of {workers**2}. "
        f"Each worker has sent {steps} number{'s' * (steps != 1)}."
    )
    whole = (workers - 1) * workers
    print(
        f"In the end each has sent {last}. All to worker 0 and back: worker 0 receives {whole} and "
        f"sends {whole}."
    )


def epoch_table(part_of_epoch: Callable[..., Any], n: int = 12) -> None:
    """Print what processes read in two epochs; in the second one, three go on where two have stopped.

    Args:
        part_of_epoch: the learner's function.
        n: examples, 6 or more.

    >>> from transformer_course.checks.scaling.part_of_epoch import reference
    >>> epoch_table(reference, n=6)
    epoch 0, process 0 of 2: 4 2 5
    epoch 0, process 1 of 2: 0 1 3
    epoch 1, process 0 of 2: 1 0
    epoch 1, process 1 of 2: 4 3
    a restart after 4 examples
    epoch 1, process 0 of 3: 2
    epoch 1, process 1 of 3: 5
    epoch 1, process 2 of 3:
    Epoch 0 has read 6 of 6, twice 0. Epoch 1 has read 6 of 6, twice 0.
    """
    stop = n // 4 * 2 + 2
    lines: list[str] = []
    read: tuple[list[int], list[int]] = [], []
    for epoch, processes, done in ((0, 2, 0), (1, 2, 0), (1, 3, stop)):
        if done:
            lines.append(f"a restart after {stop} examples")
        for rank in range(processes):
            found = _result(part_of_epoch, (n, rank, processes, 1, epoch, done), None)
            if found is None or found.ndim != 1 or found.dtype.kind not in "iu":
                print("Your epochs are read here when part_of_epoch passes its check.")
                return
            ids = found.tolist()
            if epoch == 1 and not done:  # these two stop before the end
                ids = ids[: stop // 2]
            read[epoch].extend(ids)
            said = f"epoch {epoch}, process {rank} of {processes}: {' '.join(map(str, ids))}"
            lines.append(said.rstrip())
    counted = (
        f"Epoch {epoch} has read {len(set(ids))} of {n}, twice {len(ids) - len(set(ids))}."
        for epoch, ids in enumerate(read)
    )
    print(*lines, " ".join(counted), sep="\n")


def _result(
    function: Callable[..., Any], arguments: tuple[Any, ...], shape: tuple[int, ...] | None
) -> Array | None:
    """Return the result, by NumPy or else by torch; None if it hasn't this shape."""
    for kind in (np.asarray, torch.tensor):
        given = (kind(x) if isinstance(x, np.ndarray) else x for x in arguments)
        outcome = run(function, tuple(given), SECONDS)
        parts = None if outcome.trouble else loose_parts(outcome.value, 1)
        if parts is not None and (shape is None or parts[0].shape == shape):
            return parts[0]
    return None
