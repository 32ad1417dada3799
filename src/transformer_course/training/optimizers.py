"""What changes the weights (chapter 07): the paper's Adam, Muon beside it, or another of torch's optimisers."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from transformer_course.checkpoints.memory import parameters_of
from transformer_course.training.batches import Trainable


def adam(model: Trainable) -> torch.optim.Optimizer:
    """Adam (Kingma and Ba 2015) with the settings of Vaswani et al. 2017, §5.3.

    Args:
        model: whose parameters it updates.

    Returns:
        The optimiser; its learning rate is 0 until somebody sets it.
    """
    return _adam(list(model.parameters()))


def _adam(parameters: list[nn.Parameter]) -> torch.optim.Adam:
    return torch.optim.Adam(parameters, lr=0.0, betas=(0.9, 0.98), eps=1e-9, fused=True)


class MuonWithAdam(torch.optim.Optimizer):
    """Muon (Jordan et al. 2024) for the matrices inside the layers, `adam` for all other parameters.

    Muon takes the momentum of a matrix's gradients and makes it nearly orthogonal: its singular values become
    about 1. So directions that are rare in the gradients move as far as frequent ones. The root mean square of
    a step's numbers is 0.2 times the rate, about that of Adam's steps (Liu et al. 2025, §2.2): both take one
    learning rate. For each matrix and update it computes fifteen products of matrices in bf16, whatever the
    batch; a processor that can't compute bf16 takes long for them.

    Args:
        model: whose parameters it updates. Matrices inside the layers are the weights of each `nn.Linear` whose
            name has "layers." in it: neither embeddings nor what predicts words, as Muon's authors advise.

    Raises:
        ValueError: if the model has no such matrices, or torch is older than 2.9.
    """

    def __init__(self, model: nn.Module) -> None:
        if not hasattr(torch.optim, "Muon"):
            raise ValueError(
                f"the optimiser muon needs torch 2.9 or newer, this is {torch.__version__}"
            )
        matrices = [
            module.weight
            for name, module in model.named_modules()
            if isinstance(module, nn.Linear) and "layers." in name
        ]
        inside = set(map(id, matrices))
        others = [parameter for parameter in model.parameters() if id(parameter) not in inside]
        if not matrices:
            raise ValueError(
                f"{type(model).__name__} has no matrices inside layers for the optimiser muon"
            )
        muon = torch.optim.Muon(matrices, lr=0.0, weight_decay=0.0, adjust_lr_fn="match_rms_adamw")
        self._parts = (muon, _adam(others))
        super().__init__([group for part in self._parts for group in part.param_groups], {})

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Tensor | None:  # type: ignore[override]
        """Change the weights by their gradients.

        Args:
            closure: computes the loss anew, as torch's optimisers take it.

        Returns:
            The loss that `closure` returned, or None.
        """
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        # Settings and memory are those of this optimiser, also after `load_state_dict` has made them anew.
        for part, group in zip(self._parts, self.param_groups, strict=True):
            part.param_groups, part.state = [group], self.state
            part.step()
        return loss


def check_optimizer(optimizer: torch.optim.Optimizer, model: Trainable) -> None:
    """Refuse an optimiser that would train nothing, or another model.

    Args:
        optimizer: the optimiser.
        model: what it should train, or a part of it.

    Raises:
        ValueError: if it holds no parameter, or one that isn't the model's.
    """
    held = parameters_of(optimizer)
    known = {id(parameter) for parameter in model.parameters()}
    if not held or any(id(parameter) not in known for parameter in held):
        raise ValueError(
            f"optimizer ({type(optimizer).__name__}) must hold parameters of the model, and no others"
        )
