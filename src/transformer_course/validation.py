"""Rules that the settings of several modules share (all chapters)."""

import dataclasses
from collections.abc import Mapping
from typing import Any

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
        if smallest is not None and (value < smallest or too_large):
            rule = f"{smallest} or more" + ("" if bits is None else f", and below 2**{bits}")
            raise ValueError(f"{name} ({value}) must be {rule}")
