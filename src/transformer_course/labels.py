"""Labels and label smoothing (chapter 08): what the readable loss and the fast one both refuse."""

import torch
from torch import Tensor


def check_smoothing(label_smoothing: float) -> None:
    """Refuse a share of label smoothing that is out of range.

    Args:
        label_smoothing: ε of Szegedy et al. 2016, §7.

    Raises:
        ValueError: if it isn't at least 0 and below 1.
    """
    if not 0 <= label_smoothing < 1:
        raise ValueError(f"label_smoothing ({label_smoothing}) must be at least 0 and below 1")


def check_labels(labels: Tensor, vocab_size: int) -> None:
    """Refuse labels that are no ids of the vocabulary.

    Args:
        labels: the right ids, of any shape.
        vocab_size: number of ids.

    Raises:
        ValueError: if they aren't int64, or one is below 0 or at least `vocab_size`.
    """
    if labels.dtype != torch.int64:
        raise ValueError(f"labels must be whole numbers (int64), got {labels.dtype}")
    # On a graphics card, looking at the values would wait for the card at every step.
    if labels.numel() and labels.device.type == "cpu" and not torch.compiler.is_compiling():
        low, high = (int(x) for x in torch.aminmax(labels))
        if low < 0 or high >= vocab_size:
            raise ValueError(
                f"labels has the id {low if low < 0 else high}, which is outside the vocabulary of "
                f"{vocab_size} ids"
            )
