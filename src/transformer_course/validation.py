"""Rules that the settings and the token ids of several modules must keep (chapter 06)."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

WHOLE = (int, "int")  # under `from __future__ import annotations` a field's type is its text


def check_whole_numbers(
    config: Any, least: Mapping[str, int | None] | None = None, bits: int | None = None
) -> None:
    """Refuse a dataclass whose whole-number fields (annotated `int`) hold anything else, or too little.

    Args:
        config: the dataclass; call this in its `__post_init__`.
        least: the smallest value of a field where it isn't 1; None = any, because the dataclass has a rule of
            its own.
        bits: every field must be below 2 to this power; None = no such rule.

    Raises:
        ValueError: naming the field, its value and the rule it breaks; or if `least` names no such field.

    >>> @dataclasses.dataclass
    ... class Sizes:
    ...     d_model: int
    ...     patience: int = 0
    ...
    ...     def __post_init__(self) -> None:
    ...         check_whole_numbers(self, least={"patience": 0})
    >>> Sizes(4)
    Sizes(d_model=4, patience=0)
    >>> Sizes(0)
    Traceback (most recent call last):
    ValueError: d_model (0) must be 1 or more
    """
    least = least or {}
    names = [field.name for field in dataclasses.fields(config) if field.type in WHOLE]
    for name in least:
        if name not in names:
            raise ValueError(f"least ({name!r}) must name a field of whole numbers: {names}")
    for name in names:
        value = getattr(config, name)
        if not isinstance(value, int) or isinstance(value, bool):
            raise ValueError(f"{name} ({value!r}) must be a whole number")
        smallest = least.get(name, 1)
        too_large = bits is not None and value >= 2**bits
        if too_large or (smallest is not None and value < smallest):
            lowest = [] if smallest is None else [f"{smallest} or more"]
            rule = ", and ".join(lowest + ([] if bits is None else [f"below 2**{bits}"]))
            raise ValueError(f"{name} ({value}) must be {rule}")


def check_ids(name: str, ids: Tensor, vocab_size: int, max_len: int | None = None) -> None:
    """Refuse token ids of a wrong shape or type, or outside the vocabulary.

    Their values are looked at in the processor's memory only: on a graphics card that would wait for the
    card at every step, and it can't be done while torch exports or compiles a model.

    Args:
        name: how the caller calls them, for the message.
        ids: what should be token ids, (batch, length).
        vocab_size: number of ids there are.
        max_len: the longest sequence; None = no limit here.

    Raises:
        ValueError: if they are empty, haven't two dimensions, aren't int64 or int32, are longer than `max_len`,
            or are outside the vocabulary.
    """
    if ids.dim() != 2 or ids.numel() == 0:
        raise ValueError(
            f"{name} must hold at least one token, shape (batch, length), got {tuple(ids.shape)}"
        )
    if ids.dtype not in (torch.int64, torch.int32):
        raise ValueError(f"{name} must hold whole numbers (int64 or int32), got {ids.dtype}")
    if max_len is not None and ids.shape[1] > max_len:
        raise ValueError(f"{name} has a length of {ids.shape[1]}, max_len is {max_len}")
    if ids.device.type != "cpu" or torch.compiler.is_compiling():
        return
    low, high = (int(x) for x in torch.aminmax(ids))
    if low < 0 or high >= vocab_size:
        raise ValueError(
            f"{name} has the id {low if low < 0 else high}, which is outside the vocabulary of "
            f"{vocab_size} ids"
        )
