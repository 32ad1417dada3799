"""What is still wrong in code that held several mistakes: every mixture of them."""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any


def mixtures(
    parts: Mapping[str, tuple[str, str]], untouched: str = "nothing is mended yet"
) -> Iterator[tuple[dict[str, Any], str, str]]:
    """Go through all mixtures of the mistakes of a spot-the-bug exercise, all of them together first.

    Args:
        parts: mistake → what is wrong then, in words, and what to look at.
        untouched: what the mixture of all is called.

    Yields:
        Which mistakes are still there, what that is called, and what to look at.

    >>> [name for _, name, _ in mixtures({"a": ("the sign", "?"), "b": ("the axis", "?")})]
    ['nothing is mended yet', 'still wrong: the sign', 'still wrong: the axis']
    """
    for flags in product((True, False), repeat=len(parts)):
        there = dict(zip(parts, flags, strict=True))
        wrong = [parts[part] for part in parts if there[part]]
        if wrong:
            name = untouched if all(flags) else f"still wrong: {' and '.join(w for w, _ in wrong)}"
            yield there, name, " ".join(hint for _, hint in wrong)
