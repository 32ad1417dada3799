"""The checkpoints in a run's folder (chapter 07): where they stand, which ones stay, which one is read."""

import os
import re
from pathlib import Path
from typing import Any

from torch import Tensor

from transformer_course.checkpoints.files import CheckpointError, unreadable
from transformer_course.checkpoints.tensors import load_tensors


def checkpoint_path(folder: Path, step: int) -> Path:
    """Where the checkpoint of a step stands in a run's folder.

    Args:
        folder: the run.
        step: updates of the weights so far, 0 or more.

    Returns:
        The file's path, whether it exists or not.

    >>> checkpoint_path(Path("run"), 400).name
    'step-0000400.safetensors'
    """
    return folder / "checkpoints" / f"step-{step:07d}.safetensors"


def list_checkpoints(folder: Path) -> list[Path]:
    """The checkpoints of a run, the oldest first; unfinished temporary files are not among them.

    Args:
        folder: the run.

    Returns:
        The files' paths, by step; none if there is no such folder.

    Raises:
        CheckpointError: if the folder can't be read.
    """
    place = folder / "checkpoints"
    try:  # a folder that can't be read isn't an empty one
        names = [entry.name for entry in os.scandir(place)] if place.exists() else []
    except OSError as error:
        raise CheckpointError(unreadable(place, error)) from error
    # Another name is somebody's own copy.
    found = [n for n in names if re.fullmatch(r"step-\d{7,}\.safetensors", n)]
    return [place / name for name in sorted(found, key=lambda name: (len(name), name))]


def keep_only(folder: Path, steps: set[int]) -> None:
    """Delete a run's other checkpoints, and the temporary files that a killed run left behind.

    Args:
        folder: the run.
        steps: the steps whose checkpoints stay.

    Raises:
        OSError: if a file can't be deleted.
    """
    kept = {checkpoint_path(folder, step) for step in steps}
    leftovers = (folder / "checkpoints").glob(".step-*.tmp")
    for path in {*list_checkpoints(folder), *leftovers} - kept:
        path.unlink(missing_ok=True)


def load_checkpoint(
    folder: Path, name: str | None = None
) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read a run's newest checkpoint, or the one called `name`.

    Args:
        folder: the run.
        name: file name of a checkpoint in it; the newest if left out.

    Returns:
        The tensors and the values, as `load_tensors` gives them.

    Raises:
        CheckpointError: if there is none, `name` is in another folder, or it is missing or damaged; then the
            message names the last good one.
    """
    paths = list_checkpoints(folder)
    if not paths:
        raise CheckpointError(f"{folder} has no checkpoint to resume from")
    path = folder / "checkpoints" / Path(name).name if name else paths[-1]
    if name and Path(name).name != name and Path(name).resolve() != path.resolve():
        raise CheckpointError(f"checkpoint ({name}) must be in {folder / 'checkpoints'}")
    try:
        return read_checkpoint(path)
    except CheckpointError as error:
        good = next((p.name for p in reversed(paths) if p != path and _is_whole(p)), None)
        offer = (
            f"the last good one is {good}: resume with --checkpoint {good}"
            if good
            else "there is no other"
        )
        raise CheckpointError(f"{error}; {offer}") from error


def read_checkpoint(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read one checkpoint, which must hold the step that its name says.

    Args:
        path: as `checkpoint_path` gives it.

    Returns:
        The tensors and the values, as `load_tensors` gives them.

    Raises:
        CheckpointError: if it is missing or damaged, or holds another step.
    """
    tensors, values = load_tensors(path)
    step = values.get("step")
    if isinstance(step, int) and path.name != checkpoint_path(path, step).name:
        raise CheckpointError(f"{path} holds step {str(step)[:20]}, so it was given another name")
    return tensors, values


def _is_whole(path: Path) -> bool:
    try:
        read_checkpoint(path)
    except CheckpointError:
        return False
    return True
