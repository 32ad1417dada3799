"""What a training remembers beside the weights (chapter 07): the optimiser's moments, and the random numbers.

A checkpoint of the right digest can still come from elsewhere, and torch's own code, which is compiled, takes
what it is given. So names, shapes and types are compared before anything reaches it.
"""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from transformer_course.checkpoints.files import CheckpointError
from transformer_course.checkpoints.parts import part_like
from transformer_course.checkpoints.tensors import not_finite

# What is one number, whatever the parameter's shape; all else has that shape.
_NUMBERS = ("step", "mu_product", "eta", "mu")
_UNFIT = "the optimiser's memory doesn't fit"
# What these remember of a parameter that has been updated: an entry for each group, the last for all further.
_ADAM = {"step", "exp_avg", "exp_avg_sq"}
_REMEMBERED = {"Adam": [_ADAM], "AdamW": [_ADAM], "MuonWithAdam": [{"momentum_buffer"}, _ADAM]}


def optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """What an optimiser remembers, under names that a checkpoint can hold.

    Args:
        optimizer: an optimiser whose state is made of tensors, as Adam's is.

    Returns:
        "parameter's number.what" → tensor; empty before the first update, and for an optimiser that remembers
        nothing, such as SGD without momentum.

    Raises:
        ValueError: if it remembers something that is no tensor, or has another shape than its parameter.
    """
    state, parameters = optimizer.state_dict()["state"], parameters_of(optimizer)
    named = {f"{i}.{name}": slot for i, slots in state.items() for name, slot in slots.items()}
    for name, slot in named.items():
        what = "" if isinstance(slot, Tensor | None) else f"as {type(slot).__name__}"
        if isinstance(slot, Tensor) and slot.shape != _shape(name, parameters):
            what = f"in another shape than its parameter's, {tuple(slot.shape)}"
        if what:
            raise ValueError(
                f"optimizer ({type(optimizer).__name__}) remembers {name} {what}; a checkpoint takes a tensor "
                "of the parameter's shape"
            )
    return {name: slot for name, slot in named.items() if slot is not None}


def load_optimizer(
    optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor], least: int = 0
) -> None:
    """Give an optimiser its memory back, as `optimizer_tensors` took it.

    Args:
        optimizer: an optimiser of the same kind, for the same parameters in the same order.
        tensors: what `optimizer_tensors` returned.
        least: how many tensors there must be.

    Raises:
        CheckpointError: if a name isn't "number.what", something is missing, has another shape or type than its
            parameter (or isn't a single number, where it must be one), or holds NaN or an infinite number. The
            optimiser is then as it was before.
    """
    parameters = parameters_of(optimizer)
    state: dict[int, dict[str, Tensor]] = {}
    for key, tensor in tensors.items():
        number, _, name = key.partition(".")
        if not (number.isdecimal() and int(number) < len(parameters) and name):
            raise CheckpointError(f"{_UNFIT}: there is no place for {key}")
        parameter = parameters[int(number)]
        kind = torch.float32 if name in _NUMBERS else parameter.dtype
        shape = _shape(key, parameters)
        if tensor.shape != shape or tensor.dtype != kind:
            raise CheckpointError(
                f"{_UNFIT}: {key} must have shape {tuple(shape)} of {kind}, "
                f"got {tuple(tensor.shape)} of {tensor.dtype}"
            )
        # A copy: what was read lies in the file, which may be cut or changed while the training goes on.
        own = tensor if name in _NUMBERS else part_like(tensor, parameter)
        state.setdefault(int(number), {})[name] = own.clone()
    if name := not_finite(tensors):
        raise CheckpointError(f"{_UNFIT}: {name} holds NaN or an infinite number")
    kind_name, first = type(optimizer).__name__, 0
    needed = _REMEMBERED.get(kind_name, [set()])
    for i, group in enumerate(optimizer.param_groups):
        last = first + len(group["params"])
        whole = {frozenset(state[n]) for n in range(first, last) if n in state}
        if len(whole) > 1:
            raise CheckpointError(f"{_UNFIT}: parameters remember unlike things")
        if missing := needed[min(i, len(needed) - 1)] - set(*whole) if whole else None:
            raise CheckpointError(
                f"{_UNFIT}: {kind_name} remembers {', '.join(sorted(missing))}, and it isn't there"
            )
        first = last
    if len(tensors) < least:
        raise CheckpointError(f"{_UNFIT}: there must be {least} tensors of it, got {len(tensors)}")
    optimizer.load_state_dict(optimizer.state_dict() | {"state": state})


def parameters_of(optimizer: torch.optim.Optimizer) -> list[Tensor]:
    """What an optimiser updates.

    Args:
        optimizer: any.

    Returns:
        The parameters of all its groups, in their order.
    """
    return [p for group in optimizer.param_groups for p in group["params"]]


def _shape(key: str, parameters: Sequence[Tensor]) -> torch.Size:
    """The shape that what is remembered under "number.what" must have."""
    number, _, name = key.partition(".")
    return torch.Size() if name in _NUMBERS else parameters[int(number)].shape


def random_state(device: torch.device) -> dict[str, Tensor]:
    """Where torch's streams of random numbers stand: the processor's, and the graphics processor's if used.

    Args:
        device: where the model computes.

    Returns:
        "cpu", and "cuda" or "mps" if `device` is of that kind → the stream's state, bytes in one dimension
        (uint8).
    """
    states = {"cpu": torch.get_rng_state()}
    if device.type == "cuda":
        states["cuda"] = torch.cuda.get_rng_state(device)
    if device.type == "mps":
        states["mps"] = torch.mps.get_rng_state()
    return states


def set_random_state(tensors: Mapping[str, Tensor], device: torch.device) -> None:
    """Go back to where `random_state` was called.

    Args:
        tensors: what `random_state` returned.
        device: where the model computes; if its kind isn't among them, its stream stays where it is.

    Raises:
        CheckpointError: if the processor's state is missing, or a state is none that torch takes.
    """
    try:
        torch.set_rng_state(tensors["cpu"])
        if device.type == "cuda" and "cuda" in tensors:
            torch.cuda.set_rng_state(tensors["cuda"], device)
        if device.type == "mps" and "mps" in tensors:
            torch.mps.set_rng_state(tensors["mps"])
    except (KeyError, TypeError, RuntimeError) as error:
        raise CheckpointError(f"the state of the random numbers doesn't fit: {error}") from error
