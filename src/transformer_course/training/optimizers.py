"""What changes the weights (chapter 07): the paper's Adam, or another of torch's optimisers."""

import torch

from transformer_course.training.batches import Trainable


def adam(model: Trainable) -> torch.optim.Optimizer:
    """Adam (Kingma and Ba 2015) with the settings of Vaswani et al. 2017, §5.3.

    Args:
        model: whose parameters it updates.

    Returns:
        The optimiser; its learning rate is 0 until somebody sets it.
    """
    return torch.optim.Adam(model.parameters(), lr=0.0, betas=(0.9, 0.98), eps=1e-9, fused=True)


def check_optimizer(optimizer: torch.optim.Optimizer, model: Trainable) -> None:
    """Refuse an optimiser that would train nothing, or another model.

    Args:
        optimizer: the optimiser.
        model: what it should train, or a part of it.

    Raises:
        ValueError: if it holds no parameter, or one that isn't the model's.
    """
    held = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    known = {id(parameter) for parameter in model.parameters()}
    if not held or any(id(parameter) not in known for parameter in held):
        raise ValueError(
            f"optimizer ({type(optimizer).__name__}) must hold parameters of the model, and no others"
        )
