"""Which combination of lemmas belongs to which split."""

from collections.abc import Iterable
from functools import cache
from zlib import crc32

SPLITS = ("train", "valid", "test")
SHARES = 20  # one combination in twenty is held out for validation, one for the test


@cache
def split_of(combination: tuple[str, str]) -> str:
    """The only split in which two lemmas may meet, the same on every platform.

    >>> split_of(("cat", "mat"))
    'train'
    """
    share = crc32("+".join(combination).encode()) % SHARES
    return "valid" if share == 0 else "test" if share == 1 else "train"


def belongs(combinations: Iterable[tuple[str, str]], split: str) -> bool:
    """Whether a sentence belongs to a split.

    Training has no held-out combination; the other splits have at least one of their own and none
    of the other's.
    """
    found = set(map(split_of, combinations))
    if split == "train":
        return "valid" not in found and "test" not in found
    other = "test" if split == "valid" else "valid"
    return split in found and other not in found
