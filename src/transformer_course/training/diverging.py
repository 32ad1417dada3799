"""A training that diverges (chapter 07): where the first number came from that is none."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn


class DivergedError(ValueError):
    """The loss or the gradient is no longer a number; the message says where, and what to do."""


def first_not_finite(model: object, compute: Callable[[], object]) -> str:
    """Compute something once more, and name the part of the model whose output is NaN or infinite first.

    Args:
        model: a `torch.nn.Module`; of anything else nothing is known.
        compute: what to compute with it.

    Returns:
        The part's name in the model; empty if all outputs are finite.

    >>> model = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    >>> first_not_finite(model, lambda: model(torch.tensor([1.0, torch.inf])))
    '0'
    """
    if not isinstance(model, nn.Module):
        return ""
    found: list[str] = []

    def look(name: str) -> Callable[[nn.Module, Any, object], None]:
        def hook(_module: nn.Module, _inputs: Any, output: object) -> None:
            if not all(bool(torch.isfinite(tensor).all()) for tensor in _floats(output)):
                found.append(name)

        return hook

    hooks = [part.register_forward_hook(look(name)) for name, part in model.named_modules()]
    try:
        compute()
    finally:
        for hook in hooks:
            hook.remove()
    return found[0] if found else ""


def _floats(output: object) -> Iterator[Tensor]:
    """The tensors of floating point in what a module gave; recurrent layers give several, or packed ones."""
    if isinstance(output, Tensor):
        if output.is_floating_point():
            yield output
    elif isinstance(output, tuple | list):
        for part in output:
            yield from _floats(part)
