"""Tensors of which each process has a part (chapter 07); in checkpoints they are whole.

So any number of processes can go on with a run. (`torch.distributed.checkpoint` writes parts, but describes
them in a pickle, and the course loads none.)
"""

from collections.abc import Mapping
from typing import Any, cast

from torch import Tensor


def whole(tensor: Tensor) -> Tensor:
    """A tensor of which this process may have only a part; then all must call this.

    Args:
        tensor: a weight, a gradient, or what an optimiser remembers.

    Returns:
        All of it; the tensor itself if it is no part.
    """
    return cast("Any", tensor).full_tensor() if hasattr(tensor, "full_tensor") else tensor


def gathered(tensors: Mapping[str, Tensor], keep: bool = True) -> dict[str, Tensor]:
    """Whole tensors, one after the other, those that were parts in the processor's memory.

    Args:
        tensors: name → tensor; the same names on all processes.
        keep: False where this process only helps the others.

    Returns:
        Name → whole tensor; empty without `keep`.
    """
    found = {}
    for name, tensor in tensors.items():
        full = whole(tensor)
        if keep:
            found[name] = full if full is tensor else full.cpu()
    return found


def part_like(tensor: Tensor, other: Tensor) -> Tensor:
    """This process's part of a whole tensor; no message is sent.

    Args:
        tensor: whole.
        other: of the same shape, perhaps a part.

    Returns:
        The part of `tensor` that `other` is; `tensor` itself if that is whole.
    """
    if not hasattr(other, "full_tensor"):
        return tensor
    from torch.distributed.tensor import distribute_tensor

    mesh, placements = cast("Any", other).device_mesh, cast("Any", other).placements
    return distribute_tensor(tensor.to(other.device), mesh, placements, src_data_rank=None)
