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
    except (safetensors.SafetensorError, ValueError, KeyError) as error:
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


def load_weights(model: HasParameters, tensors: Mapping[str, Tensor]) -> None:
    """Put tensors into the parameters of the same names; all or none.

    Args:
        model: the module whose parameters are overwritten, in place.
        tensors: name → tensor of the parameter's shape, as `weights_of` names them.

    Raises:
        CheckpointError: if names or shapes differ, or a number is infinite or none.
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
    if name := not_finite(tensors):
        raise CheckpointError(f"the weights can't be used: {name} holds NaN or an infinite number")
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(tensors[name])


def optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """What an optimiser remembers, under names that a checkpoint can hold.

    Args:
        optimizer: an optimiser whose state is made of tensors, as Adam's is.

    Returns:
        "parameter's number.what" → tensor; empty before the first update, and for an optimiser that remembers
        nothing, such as SGD without momentum.

    Raises:
        ValueError: if it remembers something that is no tensor.
    """
    state = optimizer.state_dict()["state"]
    named = {f"{i}.{name}": slot for i, slots in state.items() for name, slot in slots.items()}
    for name, slot in named.items():
        if not isinstance(slot, Tensor | None):
            raise ValueError(
                f"optimizer ({type(optimizer).__name__}) remembers {name} as {type(slot).__name__}; it must be "
                "a tensor to go into a checkpoint"
            )
    return {name: slot for name, slot in named.items() if slot is not None}


def load_optimizer(optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Give an optimiser its memory back, as `optimizer_tensors` took it.

    Args:
        optimizer: an optimiser of the same kind, for the same parameters in the same order.
        tensors: what `optimizer_tensors` returned.

    Raises:
        CheckpointError: if a name isn't "number.what", or what is remembered has neither the shape of its
            parameter nor a single number, which torch's own code would not notice.
    """
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    state: dict[int, dict[str, Tensor]] = {}
    for key, tensor in tensors.items():
        number, _, name = key.partition(".")
        if not (number.isdecimal() and int(number) < len(parameters) and name):
            raise CheckpointError(
                f"the optimiser's memory doesn't fit: there is no place for {key}"
            )
        shape = parameters[int(number)].shape
        if tensor.numel() != 1 and tensor.shape != shape:
            raise CheckpointError(
                f"the optimiser's memory doesn't fit: {key} must have shape {tuple(shape)}, got "
                f"{tuple(tensor.shape)}"
            )
        state.setdefault(int(number), {})[name] = tensor
    whole = {frozenset(slots) for slots in state.values()}
    if len(whole) > 1:
        raise CheckpointError(
            "the optimiser's memory doesn't fit: parameters remember unlike things"
        )
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
