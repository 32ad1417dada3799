"""Compiled layers (chapter 07): one program of several steps, where else each is a call of its own."""

import torch
from torch import nn

from transformer_course.training.sharding import layers


def compile_layers(model: nn.Module, device: torch.device) -> None:
    """Have torch compile each of a model's layers when it is first called.

    Layers that are alike share what is compiled. It serves batches of all sizes. Results are those of the model
    as it was, up to rounding, and in training dropout draws other numbers.

    Args:
        model: whose `layers`; changed in place.
        device: where it will compute.

    Raises:
        ValueError: if torch can't compile there.
    """
    try:
        torch.compile(lambda x: x + 1)(torch.zeros(2, device=device))
    except Exception as error:  # each missing part has its own
        needs = "a C++ compiler (g++, or what CXX names) and Python's headers"
        if device.type != "cpu":
            needs = "Triton and a C compiler"
        first = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise ValueError(
            f"compile needs {needs} for {device.type!r}; torch says: {first}"
        ) from error
    for layer in layers(model):
        layer.forward = torch.compile(layer.forward, dynamic=True)  # type: ignore[method-assign]
