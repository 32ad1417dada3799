"""Where a model computes (chapter 09): on the processor, or on a graphics processor that torch finds."""

import torch


def find_device(name: str, number: int = 0) -> torch.device:
    """The device of a name, if it is there.

    Apple's graphics processors ("mps") must be named: the course has never been tried on one.

    Args:
        name: "cpu", "cuda", or another that torch knows; "auto" for a CUDA card if there is one, else the
            processor.
        number: which CUDA card, if `name` doesn't say: processes that train together each have one.

    Returns:
        The device.

    Raises:
        ValueError: if torch knows no such device, finds none of that kind or number, or it is "meta".

    >>> find_device("cpu")
    device(type='cpu')
    """
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise ValueError(
            f"device ({name!r}) must be one that torch knows: 'cpu', 'cuda'"
        ) from error
    if device.type == "meta":
        raise ValueError(f"device ({name!r}) must be one that computes; 'meta' keeps no numbers")
    if device.type == "cpu" and device.index:  # torch takes any number
        raise ValueError(f"device ({name!r}) must be there: torch counts all processors as one")
    if device.type == "cuda" and device.index is None and number:
        device = torch.device(f"cuda:{number}")
    try:
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError, ImportError) as error:  # each kind says it in its own way
        raise ValueError(
            f"device ({str(device)!r}) must be there: torch finds no such graphics processor; "
            "--device cpu computes without one"
        ) from error
    return device
