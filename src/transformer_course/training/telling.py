"""What a training tells of, though it goes on (chapter 07): a loss that jumps, a file that is missing."""

import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from transformer_course.checkpoints import CheckpointError, checkpoint_path
from transformer_course.training.final import History

_BEFORE = 50  # losses that a loss is compared with
_TIMES, _NATS = (
    3,
    0.5,
)  # how far above their median: so many times as far as any of them, and in nats


class TrainingWarning(UserWarning):
    """Something that nobody should miss, though training goes on, or has ended."""


def tell(sentence: str) -> None:
    """Warn of something.

    Args:
        sentence: what there is to know.
    """
    warnings.warn(sentence, TrainingWarning, stacklevel=3)


class Spikes:
    """Finds losses far above those just before: so begins a divergence, and so show wrong examples.

    A loss is a spike if it lies above the median of the last 50 three times as far as any of them, and more
    than half a nat. (Batches of rare sentences cost much in a healthy training, too.) Then the 50 are collected
    anew, so that one jump is one spike.

    Args:
        recent: the last losses so far, 50 at most.
        count: spikes since the last validation.

    >>> spikes = Spikes([3.0, 3.1, 2.9, 3.0, 3.2] * 10)
    >>> [spikes.above(loss) for loss in (3.3, 9.0, 9.0)], spikes.count
    ([None, 3.0, None], 1)
    """

    def __init__(self, recent: Sequence[float] = (), count: int = 0) -> None:
        self.recent, self.count = list(recent), count

    def above(self, loss: float) -> float | None:
        """Look at the next loss.

        Args:
            loss: of an update.

        Returns:
            The median that it lies far above; None if it is no spike, or too few are known.
        """
        if len(self.recent) == _BEFORE:
            middle = median(self.recent)
            if loss > middle + max(_TIMES * (max(self.recent) - middle), _NATS):
                self.recent, self.count = [], self.count + 1
                return middle
        self.recent = [*self.recent, loss][-_BEFORE:]
        return None


def tell_of_missing(folder: Path, steps: set[int], taken: str) -> None:
    """Warn that a run ends with other weights than it should.

    Args:
        folder: the run's.
        steps: whose checkpoints are missing; none, and nothing is said.
        taken: which weights the model has instead.
    """
    if steps:
        names = ", ".join(checkpoint_path(folder, step).name for step in sorted(steps))
        tell(
            f"{folder} lacks {names}, with the lowest loss or to be averaged: of what is left, {taken} is taken"
        )


def tell_of_history(folder: Path, known: History, newest: bool) -> None:
    """Warn if `history.json` isn't what the checkpoint says that was written; the checkpoint counts.

    A training that was killed may not have written its last record yet.

    Args:
        folder: the run's.
        known: the checkpoint's.
        newest: whether no later checkpoint should be there.
    """
    path = folder / "history.json"
    try:
        found = _read(path)
    except (CheckpointError, OSError, ValueError, RecursionError):
        found = None
    if found is None or any(map(_differ, found, known)):
        state = "was changed since the run wrote it" if path.exists() else "is missing"
        if known or path.exists():
            tell(
                f"{path} {state}: the checkpoint's own record goes on, and the file is written anew"
            )
    elif newest and len(found) > len(known):
        step = found[-1].get("step")
        tell(
            f"{folder} was validated up to step {step}, but the checkpoint of that step is missing"
        )


def _read(path: Path) -> list[dict[str, Any]]:
    if not path.is_file():  # a FIFO would keep us waiting
        raise CheckpointError(f"{path} is no file")
    records = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        raise CheckpointError(f"{path} is no history")
    return records


def _differ(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return json.dumps(one) != json.dumps(other)  # a score may be NaN
