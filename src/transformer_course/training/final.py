"""The weights that a training ends with (chapter 07): the best validation's, or a mean of the last ones."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from torch import Tensor

from transformer_course.checkpoints import (
    HasParameters,
    checkpoint_path,
    gathered,
    read_checkpoint,
    weights_of,
    with_prefix,
)

History = list[dict[str, float]]


def best_and_last(history: History, average: int) -> set[int]:
    """The steps whose weights the end may need: that with the lowest loss, and those to be averaged.

    Args:
        history: a record for each validation, with "step" and "loss".
        average: how many of the last are averaged.

    Returns:
        The steps; none without a validation.

    >>> history = [{"step": s, "loss": loss} for s, loss in ((4, 1.0), (8, 3.0), (12, 2.0))]
    >>> sorted(best_and_last(history, 1))
    [4, 12]
    """
    best = [min(history, key=lambda record: record["loss"])] if history else []
    return {int(record["step"]) for record in best + history[-average:]}


class KeptWeights:
    """The weights of earlier validations: in the checkpoints of a folder, or in memory where there is none.

    Args:
        folder: the run's; None for memory.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._in_memory: dict[int, dict[str, Tensor]] = {}

    def keep(self, step: int, model: HasParameters, needed: set[int]) -> None:
        """Copy a model's weights into memory, and forget those that aren't needed.

        Args:
            step: under which they are kept.
            model: whose weights.
            needed: the steps that stay.
        """
        weights = gathered(weights_of(model))
        copy = {name: weight.detach().clone() for name, weight in weights.items()}
        kept = self._in_memory | {step: copy}
        self._in_memory = {step: weights for step, weights in kept.items() if step in needed}

    def has(self, step: int) -> bool:
        """Whether the weights of a step can be had; after going back by several checkpoints some are gone.

        Args:
            step: the step.

        Returns:
            True if they are kept.
        """
        if self.folder is None:
            return step in self._in_memory
        return checkpoint_path(self.folder, step).exists()

    def mean(self, steps: Sequence[int]) -> dict[str, Tensor]:
        """Mean of the weights of several steps.

        Args:
            steps: one or more of those that are kept.

        Returns:
            Parameter name → mean tensor.

        Raises:
            ValueError: if there is no step.
            CheckpointError: if a file is damaged.
        """
        if self.folder is None:
            return _mean(self._in_memory[step] for step in steps)
        return average_checkpoints([checkpoint_path(self.folder, step) for step in steps])


def average_checkpoints(paths: Sequence[Path]) -> dict[str, Tensor]:
    """Mean of the weights in several checkpoints (Vaswani et al. 2017, §6.1, averages the last 5).

    Args:
        paths: checkpoint files of one run.

    Returns:
        Parameter name → mean tensor.

    Raises:
        ValueError: if there is no path, or two models differ in the names or shapes of their weights.
        CheckpointError: if a file is missing or damaged.
    """
    if not paths:
        raise ValueError("paths is empty; there must be at least one checkpoint")
    return _mean(with_prefix(read_checkpoint(path)[0], "model.") for path in paths)


def _mean(several: Iterable[dict[str, Tensor]]) -> dict[str, Tensor]:
    """Read one after the other, so that only two sets of weights are in memory."""
    total: dict[str, Tensor] = {}
    count = 0
    for weights in several:
        count += 1
        _check_alike(total or weights, weights)
        total = {name: total[name] + x if total else x for name, x in weights.items()}
    return {name: tensor / count for name, tensor in total.items()}


def _check_alike(first: dict[str, Tensor], other: dict[str, Tensor]) -> None:
    for name in sorted(first.keys() | other.keys()):
        one, two = (tuple(w[name].shape) if name in w else "missing" for w in (first, other))
        if one != two:
            raise ValueError(f"can't average weights of two models: {name} is {one} and {two}")
