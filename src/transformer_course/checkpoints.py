"""Checkpoints (chapter 07): tensors and plain values in one safetensors file that no crash can spoil.

A file is written under a temporary name, synced to the disk and renamed; so under its own name there is always
a whole file. Nothing is pickled: values beside the tensors are JSON in the file's header.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor, nn


class CheckpointError(ValueError):
    """A file of a run that can't be used or written; the message names it."""


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Write a file whole or not at all: temporary file, sync, rename, sync of the folder.

    Args:
        path: where the file goes; its folder is made if need be.

    Yields:
        The temporary path to write to. When the block ends well it is renamed to `path`.

    Raises:
        CheckpointError: if it can't be written; `path` is then as it was before.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
        _sync_folder(path.parent)
    except OSError as error:
        in_the_way = path.parent.exists() and not path.parent.is_dir()
        reason = f"{path.parent} is not a folder" if in_the_way else error.strerror or error
        raise CheckpointError(f"{path} can't be written: {reason}") from error
    finally:
        with suppress(OSError):
            temporary.unlink()


def write_atomically(path: Path, data: bytes) -> None:
    """Write bytes to a file, whole or not at all (`replacing`).

    Args:
        path: where the file goes; replaced if it exists.
        data: all that the file shall hold.

    Raises:
        CheckpointError: if it can't be written; `path` is then as it was before.
    """
    with replacing(path) as temporary:
        temporary.write_bytes(data)


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object.

    Args:
        path: the file, in UTF-8.

    Returns:
        The object's names and values.

    Raises:
        CheckpointError: if the file is missing, can't be read, or doesn't hold one.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CheckpointError(_unreadable(path, error)) from error
    except ValueError as error:
        raise CheckpointError(f"{path} is damaged: {error}") from error
    if not isinstance(value, dict):
        raise CheckpointError(f"{path} is damaged: it must hold a JSON object")
    return value


def write_json(path: Path, value: Any) -> None:
    """Write a value as JSON, whole or not at all (`replacing`).

    Args:
        path: where the file goes; replaced if it exists.
        value: anything that JSON can say.

    Raises:
        CheckpointError: if the file can't be written; `path` is then as it was before.
        TypeError: if JSON can't say the value.
    """
    write_atomically(path, (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode())


def save_tensors(path: Path, tensors: Mapping[str, Tensor], values: dict[str, Any]) -> None:
    """Write tensors and JSON values to `path`; the same ones give the same bytes.

    Args:
        path: where to; replaced if it exists.
        tensors: name → tensor of any shape; tensors must not share memory.
        values: name → anything that JSON can say.

    Raises:
        CheckpointError: if the file can't be written; `path` is then as it was before.
        RuntimeError: if tensors share memory.
        TypeError: if JSON can't say the values.
    """
    contiguous = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    header = {"values": json.dumps(values)}  # one entry only: safetensors shuffles several
    write_atomically(path, safetensors.torch.save(contiguous, header))


def load_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what `save_tensors` wrote.

    Args:
        path: the file.

    Returns:
        The tensors, in the processor's memory, and the values.

    Raises:
        CheckpointError: if the file is missing, can't be read, is cut short, or is not one of ours.
    """
    if not path.is_file():
        raise CheckpointError(f"{path} is missing")
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            values = json.loads((file.metadata() or {})["values"])
    except OSError as error:
        raise CheckpointError(_unreadable(path, error)) from error
    except (safetensors.SafetensorError, ValueError, KeyError) as error:
        raise CheckpointError(f"{path} is damaged or not a checkpoint ({error})") from error
    return tensors, values


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
    """
    paths = (folder / "checkpoints").glob("step-*.safetensors")
    return sorted(paths, key=lambda path: (len(path.name), path.name))


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
        return load_tensors(path)
    except CheckpointError as error:
        good = next((p.name for p in reversed(paths) if p != path and _is_whole(p)), None)
        offer = (
            f"the last good one is {good}: resume with --checkpoint {good}"
            if good
            else "there is no other"
        )
        raise CheckpointError(f"{error}; {offer}") from error


def weights_of(model: nn.Module) -> dict[str, Tensor]:
    """Parameters by name; a tied matrix once.

    Args:
        model: any module.

    Returns:
        Name → the parameter itself, not a copy.
    """
    return dict(model.named_parameters())


def load_weights(model: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Put tensors into the parameters of the same names; all or none.

    Args:
        model: the module whose parameters are overwritten, in place.
        tensors: name → tensor of the parameter's shape, as `weights_of` names them.

    Raises:
        CheckpointError: if names or shapes differ.
    """
    parameters = weights_of(model)
    for name in sorted(parameters.keys() ^ tensors.keys()):
        where = "tensors" if name in parameters else "model"
        raise CheckpointError(f"the weights don't fit the model: {where} has no {name}")
    for name, parameter in parameters.items():
        if parameter.shape != tensors[name].shape:
            raise CheckpointError(
                f"the weights don't fit the model: {name} must have shape {tuple(parameter.shape)}, "
                f"got {tuple(tensors[name].shape)}"
            )
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(tensors[name])


def optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """What an optimiser remembers, under names that a checkpoint can hold.

    Args:
        optimizer: an optimiser whose state is made of tensors, as Adam's is.

    Returns:
        "parameter's number.what" → tensor; empty before the first update.
    """
    state = optimizer.state_dict()["state"]
    return {f"{i}.{name}": tensor for i, slots in state.items() for name, tensor in slots.items()}


def load_optimizer(optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Give an optimiser its memory back, as `optimizer_tensors` took it.

    Args:
        optimizer: an optimiser of the same kind, for the same parameters in the same order.
        tensors: what `optimizer_tensors` returned.

    Raises:
        ValueError: if a name isn't "number.what".
    """
    state: dict[int, dict[str, Tensor]] = {}
    for key, tensor in tensors.items():
        number, name = key.split(".", 1)
        state.setdefault(int(number), {})[name] = tensor
    optimizer.load_state_dict(optimizer.state_dict() | {"state": state})


def random_state(device: torch.device) -> dict[str, Tensor]:
    """Where torch's streams of random numbers stand: the processor's, and the graphics card's if used.

    Args:
        device: where the model computes.

    Returns:
        "cpu", and "cuda" if `device` is a graphics card → the stream's state, bytes in one dimension (uint8).
    """
    cuda = {"cuda": torch.cuda.get_rng_state(device)} if device.type == "cuda" else {}
    return {"cpu": torch.get_rng_state()} | cuda


def set_random_state(tensors: Mapping[str, Tensor], device: torch.device) -> None:
    """Go back to where `random_state` was called.

    Args:
        tensors: what `random_state` returned.
        device: where the model computes.

    Raises:
        KeyError: if the processor's state is missing.
    """
    torch.set_rng_state(tensors["cpu"])
    if device.type == "cuda" and "cuda" in tensors:
        torch.cuda.set_rng_state(tensors["cuda"], device)


def with_prefix(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The tensors whose names start with `prefix`, under the rest of their names.

    Args:
        tensors: name → tensor.
        prefix: what the names shall start with.

    Returns:
        The rest of the name → the tensor itself.
    """
    return {n.removeprefix(prefix): t for n, t in tensors.items() if n.startswith(prefix)}


def _is_whole(path: Path) -> bool:
    try:
        load_tensors(path)
    except CheckpointError:
        return False
    return True


def _sync_folder(folder: Path) -> None:
    """Make a rename last; not every system can, and the file itself is safe already."""
    if os.name == "posix":
        with suppress(OSError):
            handle = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


def _unreadable(path: Path, error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return f"{path} is missing"
    return f"{path} can't be read: {error.strerror or error}"
