"""A model that no process has whole (chapter 07): each keeps a part of every weight, and what belongs to it.

Before a layer computes, its weights are gathered from all processes, and given up again afterwards; gradients
are added up such that each process gets those of its own part (FSDP2 of torch; Zhao et al. 2023, after
Rajbhandari et al. 2020). Checkpoints hold whole weights (`checkpoints.parts`).
"""

from collections.abc import Iterator
from typing import Any, cast

import torch
from torch import Tensor, nn

_LOSS = "_loss_of_whole_model"  # the method of a sharded model that gathers its weights


def shard(model: nn.Module, device: torch.device) -> None:
    """Leave to each process its part of a model (Zhao et al. 2023), and move that to where it computes.

    What is gathered at a time is one of its `layers`, which must be called as modules. All that stands
    elsewhere in the model is gathered for as long as a loss is computed.

    Args:
        model: the same on all processes, in the processor's memory; changed in place. Its optimiser must be
            made afterwards. It computes losses by `loss_of`, and nothing else.
        device: where it shall compute, "cpu" or "cuda".

    Raises:
        ValueError: if torch is older than 2.7.
    """
    if torch.torch_version.TorchVersion(torch.__version__) < (2, 7):
        raise ValueError(f"shard needs torch 2.7 or later, this is {torch.__version__}")
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard, register_fsdp_forward_method

    if device.index is not None:
        torch.cuda.set_device(device)
    mesh = init_device_mesh(device.type, (torch.distributed.get_world_size(),))
    for layer in layers(model):
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh, reshard_after_forward=True)
    # Losses call encode, decode and more. One call around them all gathers the weights once, for any loss.
    setattr(model, _LOSS, lambda loss_fn, *tensors: loss_fn(model, *tensors))
    register_fsdp_forward_method(model, _LOSS)


def layers(model: nn.Module) -> Iterator[nn.Module]:
    """The members of a model's module lists; lists inside of them belong to them.

    Args:
        model: any module.

    Yields:
        One layer after the other.
    """
    for part in model.children():
        yield from part if isinstance(part, nn.ModuleList) else layers(part)


def is_sharded(model: object) -> bool:
    """Whether `shard` has had a model.

    Args:
        model: any model.

    Returns:
        True if this process has only a part of it.
    """
    return hasattr(model, _LOSS)


def loss_of(model: Any, loss_fn: Any, *tensors: Tensor) -> Tensor:
    """A loss, of a sharded model too; then all processes must call this equally often.

    Args:
        model: a model.
        loss_fn: as for `Trainer`.
        *tensors: of a batch.

    Returns:
        What `loss_fn` says.
    """
    if is_sharded(model):
        return cast("Tensor", getattr(model, _LOSS)(loss_fn, *tensors))
    return cast("Tensor", loss_fn(model, *tensors))
