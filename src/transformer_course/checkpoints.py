"""Checkpoints: tensors and plain values in one safetensors file, written so that no crash can spoil it.

A file is written under a temporary name, synced to the disk and renamed; so under its own name there is always
a whole file. Nothing is pickled: values beside the tensors are JSON in the file's header.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
from torch import Tensor


class CheckpointError(ValueError):
    """A checkpoint that can't be used; the message names the file."""


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file whole or not at all: temporary file, sync, rename, sync of the folder.

    Args:
        path: where it goes; its folder is made if need be.
        data: what goes in.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    if os.name == "posix":
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def save_tensors(path: Path, tensors: Mapping[str, Tensor], values: Mapping[str, Any]) -> None:
    """Write tensors and JSON values to `path`.

    Args:
        path: where to; replaced if it exists.
        tensors: name → tensor; tensors must not share memory.
        values: name → anything that JSON can say.
    """
    contiguous = {name: tensor.detach().contiguous() for name, tensor in tensors.items()}
    header = {name: json.dumps(value) for name, value in values.items()}
    write_atomically(path, safetensors.torch.save(contiguous, header))


def load_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what `save_tensors` wrote.

    Args:
        path: the file.

    Returns:
        The tensors and the values.

    Raises:
        CheckpointError: if the file is missing, cut short, or not one of ours.
    """
    if not path.is_file():
        raise CheckpointError(f"{path} is missing")
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            values = {name: json.loads(text) for name, text in (file.metadata() or {}).items()}
    except (safetensors.SafetensorError, ValueError, OSError) as error:
        raise CheckpointError(f"{path} is damaged or not a checkpoint ({error})") from error
    return tensors, values


def checkpoint_path(folder: Path, step: int) -> Path:
    """Where the checkpoint of a step stands in a run's folder."""
    return folder / "checkpoints" / f"step-{step:07d}.safetensors"


def list_checkpoints(folder: Path) -> list[Path]:
    """The checkpoints of a run, the oldest first; unfinished temporary files are not among them."""
    return sorted((folder / "checkpoints").glob("step-*.safetensors"))


def load_latest(folder: Path, name: str | None = None) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read a run's newest checkpoint, or the one called `name`.

    Args:
        folder: the run.
        name: file name of a checkpoint in it.

    Returns:
        The tensors and the values.

    Raises:
        CheckpointError: if there is none, or it is damaged; then the message names the last good one.
    """
    paths = list_checkpoints(folder)
    if not paths:
        raise CheckpointError(f"{folder} has no checkpoint to resume from")
    path = folder / "checkpoints" / name if name else paths[-1]
    try:
        return load_tensors(path)
    except CheckpointError as error:
        good = next((p for p in reversed(paths) if p != path and _is_whole(p)), None)
        offer = f"the last good one is {good.name}" if good else "there is no other"
        raise CheckpointError(f"{error}; {offer}") from error


def _is_whole(path: Path) -> bool:
    try:
        load_tensors(path)
    except CheckpointError:
        return False
    return True
