"""Which combination of lemmas belongs to which split."""

from collections.abc import Iterable
from functools import cache
from zlib import crc32

SPLITS = ("train", "valid", "test")
SHARES = 20  # one combination in twenty is held out for validation, one for the test
SHARES_OF_IT = 5  # one in five of what decides il or elle: a neighbour must not give it away

Combination = tuple[str, ...]


@cache
def split_of(combination: Combination) -> str:
    """The only split in which two lemmas may meet, the same on every platform.

    >>> split_of(("cat", "mat"))
    'train'
    """
    shares = SHARES_OF_IT if combination[0] == "il" else SHARES
    share = crc32("+".join(combination).encode()) % shares
    return "valid" if share == 0 else "test" if share == 1 else "train"


def check_request(split: str, n: int, seed: int) -> None:
    """Refuse what nobody can draw; of a negative seed Python's generator would take the absolute value.

    Raises:
        ValueError: for an unknown split, a negative number of pairs or a negative seed.
    """
    if split not in SPLITS:
        raise ValueError(f"split ({split!r}) must be one of {', '.join(SPLITS)}")
    for name, number in (("n", n), ("seed", seed)):
        if number < 0:
            raise ValueError(f"{name} ({number}) must not be negative")


def belongs(combinations: Iterable[Combination], split: str, wholly: bool = False) -> bool:
    """Whether a sentence belongs to a split.

    Training has no held-out combination; the other splits have at least one of their own (if
    `wholly`, nothing else) and none of the other's.
    """
    found = set(map(split_of, combinations))
    if wholly:
        return found == {split}
    if split == "train":
        return found.isdisjoint(("valid", "test"))
    other = "test" if split == "valid" else "valid"
    return split in found and other not in found


def allowed(split: str, wholly: bool = False) -> frozenset[str]:
    """The splits whose combinations may stand in a sentence of a split.

    >>> sorted(allowed("test"))
    ['test', 'train']
    """
    return frozenset((split,) if wholly else ("train", split))
