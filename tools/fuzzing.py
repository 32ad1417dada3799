"""Random changes of bytes, of JSON and of tensors, drawn by a seed: what readers of files must live with."""

import copy
from collections.abc import Iterator
from random import Random
from typing import Any

# What programs stumble over: other types, edges of numbers, halves of characters, nothing.
ATOMS: list[Any] = [
    *(None, True, False, -1, 0, 1, 1.5, 1e308, float("nan"), float("inf"), 10**20, 10**400),
    *("", "x", "\ud800", "\x00", "a" * 10_000, [], {}, [[]], ["a", "b"], {"a": 1}),
]
PIECES = [
    *(b"\x00", b"\xff", b"\n", b"\r", b"\t", b"  ", b"{", b"[", b'"', b"\\", b"</s>", b"9" * 30),
    *(b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80", b"\xe2\x80\xae", b"\xe2\x80\xa8"),
    *(b"\x1f\x8b", b"\xc2\x85"),
]


def changed_bytes(data: bytes, dice: Random) -> bytes:
    """The same bytes with some turned, put in, taken out or cut off."""
    changed = bytearray(data)
    for _ in range(dice.choice([1, 1, 1, 2, 4, 8])):
        place, kind = dice.randrange(len(changed) + 1), dice.random()
        if kind < 0.4 and changed:
            changed[place % len(changed)] ^= 1 << dice.randrange(8)
        elif kind < 0.65:
            changed[place:place] = dice.choice(PIECES) * dice.choice([1, 1, 1, 3, 1000])
        elif kind < 0.8:
            del changed[place : place + dice.choice([1, 2, 10, 1000])]
        elif kind < 0.9:
            start = dice.randrange(len(changed) + 1)
            changed[place:place] = changed[start : start + dice.choice([1, 10, 100])]
        else:
            del changed[place:]
    return bytes(changed)


def changed_json(value: Any, dice: Random) -> Any:
    """A copy of a value with some parts taken out or replaced."""
    value = copy.deepcopy(value)
    for _ in range(dice.choice([1, 1, 1, 2, 3])):
        places = [place for place in _places(value) if place]
        if not places:
            return dice.choice(ATOMS)
        depth = dice.randint(1, max(map(len, places)))  # few parts stand near the top
        *way, last = dice.choice([place for place in places if len(place) == depth])
        part = value
        for name in way:
            part = part[name]
        if dice.random() < 0.25:
            del part[last]
        else:
            part[last] = copy.deepcopy(dice.choice(ATOMS))
    return value


def _places(value: Any, so_far: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to each part."""
    yield so_far
    names = (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    for name in names:
        yield from _places(value[name], (*so_far, name))
