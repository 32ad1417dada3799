"""Tensors and plain values in one safetensors file (chapter 07), and what of a training goes into it.

Nothing is pickled: values beside the tensors are JSON in the file's header. Before them stands a digest of all
that the file holds, so that a flipped bit is found when it is read.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import safetensors
import safetensors.torch
import torch
import xxhash
from torch import Tensor, nn

from transformer_course.checkpoints.files import CheckpointError, unreadable, write_atomically
from transformer_course.checkpoints.parts import part_like


class HasParameters(Protocol):
    """What can be saved and loaded: anything with named parameters, such as every `torch.nn.Module`."""

    def named_parameters(self) -> Iterator[tuple[str, nn.Parameter]]:
        """Each parameter once, with its name."""
        ...


def save_tensors(path: Path, tensors: Mapping[str, Tensor], values: dict[str, Any]) -> None:
    """Write tensors and JSON values to `path`; the same ones give the same bytes.

    Args:
        path: where to; replaced if it exists.
        tensors: name → tensor of any shape; tensors must not share memory.
        values: name → anything that JSON can say.

    Raises:
        CheckpointError: if the file can't be written, or a number is infinite or none; `path` is then as it was
            before.
        RuntimeError: if tensors share memory.
        TypeError: if JSON can't say the values.
    """
    contiguous = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    if name := not_finite(contiguous):
        raise CheckpointError(f"{path} is not written: {name} holds NaN or an infinite number")
    text = json.dumps(values)
    # One entry only: safetensors shuffles several.
    header = {"values": f"{_digest(contiguous, text)} {text}"}
    write_atomically(path, safetensors.torch.save(contiguous, header))


def load_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what `save_tensors` wrote.

    Args:
        path: the file.

    Returns:
        The tensors, in the processor's memory, and the values.

    Raises:
        CheckpointError: if the file is missing, can't be read, is cut short, is not one of ours, or holds
            something else than what was written. (A file of a version before digests is taken as it is.)
    """
    if not path.is_file():
        raise CheckpointError(f"{path} is missing")
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            written = (file.metadata() or {})["values"]
        digest, text = ("", written) if written.startswith("{") else written.split(" ", 1)
        values = json.loads(text)
    except OSError as error:
        raise CheckpointError(unreadable(path, error)) from error
    except (safetensors.SafetensorError, ValueError, KeyError, RecursionError) as error:
        raise CheckpointError(f"{path} is damaged or not a checkpoint ({error})") from error
    if digest and digest != _digest(tensors, text):
        raise CheckpointError(f"{path} is damaged: it doesn't hold what was written")
    if not isinstance(values, dict):
        raise CheckpointError(f"{path} is damaged or not a checkpoint (its values are no object)")
    return tensors, values


def not_finite(tensors: Mapping[str, Tensor]) -> str:
    """The name of a tensor with NaN or an infinite number; empty if there is none.

    Args:
        tensors: name → tensor.

    Returns:
        The first such name.
    """
    for name, tensor in tensors.items():
        if tensor.is_floating_point() and tensor.numel():
            ends = torch.stack(torch.aminmax(tensor.detach()))
            if not bool(torch.isfinite(ends).all()):
                return name
    return ""


def _digest(tensors: Mapping[str, Tensor], text: str) -> str:
    """A fingerprint of names, types, shapes and numbers, and of the text beside them (XXH3, 128 bits)."""
    state = xxhash.xxh3_128(text.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        state.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        numbers: Any = tensor.reshape(-1).view(torch.uint8).numpy()
        state.update(numbers)
    return state.hexdigest()


def weights_of(model: HasParameters) -> dict[str, Tensor]:
    """Parameters by name; a tied matrix once.

    Args:
        model: any module.

    Returns:
        Name → the parameter itself, not a copy.
    """
    return dict(model.named_parameters())


def loadable_weights(model: HasParameters) -> dict[str, Tensor]:
    """The weights, if `load_weights` can put them into a new model, whose numbers have torch's default type.

    Args:
        model: any module.

    Returns:
        What `weights_of` does.

    Raises:
        CheckpointError: if a parameter is of another type.
    """
    found, kind = weights_of(model), torch.get_default_dtype()
    for name, weight in found.items():
        if weight.dtype != kind:
            raise CheckpointError(f"{name} ({weight.dtype}) can't be saved: it must be of {kind}")
    return found


def load_weights(model: HasParameters, tensors: Mapping[str, Tensor]) -> None:
    """Put tensors into the parameters of the same names; all or none.

    Args:
        model: the module whose parameters are overwritten, in place.
        tensors: name → tensor of the parameter's shape and type, as `weights_of` names them.

    Raises:
        CheckpointError: if names, shapes or types differ, or a number is infinite or none.
    """
    parameters = weights_of(model)
    for name in sorted(parameters.keys() ^ tensors.keys()):
        where = "tensors" if name in parameters else "model"
        raise CheckpointError(f"the weights don't fit the model: {where} has no {name}")
    for name, parameter in parameters.items():
        tensor = tensors[name]
        if parameter.shape != tensor.shape:
            raise CheckpointError(
                f"the weights don't fit the model: {name} must have shape {tuple(parameter.shape)}, "
                f"got {tuple(tensor.shape)}"
            )
        if parameter.dtype != tensor.dtype:
            raise CheckpointError(
                f"the weights don't fit the model: {name} must be of {parameter.dtype}, got {tensor.dtype}"
            )
    if name := not_finite(tensors):
        raise CheckpointError(f"the weights can't be used: {name} holds NaN or an infinite number")
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(part_like(tensors[name], parameter))


def with_prefix(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The tensors whose names start with `prefix`, under the rest of their names.

    Args:
        tensors: name → tensor.
        prefix: what the names shall start with.

    Returns:
        The rest of the name → the tensor itself.
    """
    return {n.removeprefix(prefix): t for n, t in tensors.items() if n.startswith(prefix)}
