"""README's ten lines of Python, run as they stand there, on small data and for a few updates."""

import re
from pathlib import Path

from small_runs import number_pairs

ROOT = Path(__file__).resolve().parent.parent


def first_python_block(text: str) -> str:
    """The first ```python block of a Markdown text.

    Raises:
        ValueError: if there is none.
    """
    match = re.search(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    if not match:
        raise ValueError("README.md has no ```python block")
    return match.group(1)


def shortened(code: str) -> str:
    """The same program with twelve updates.

    Raises:
        ValueError: if the program doesn't set max_steps once.
    """
    code, count = re.subn(r"max_steps=[\d_]+", "max_steps=12", code)
    if count != 1:
        raise ValueError(f"README's program sets max_steps {count} times; it must be once")
    return code


def write_data(folder: Path) -> None:
    """The files that README's program and the page on reuse read: mine.en, mine.fr, test.en, test.fr."""
    pairs = number_pairs(longest=2)
    for name, chosen in (("mine", pairs), ("test", pairs[:3])):
        for language, side in (("en", "source"), ("fr", "target")):
            lines = [f"{getattr(pair, side)}\n" for pair in chosen]
            (folder / f"{name}.{language}").write_text("".join(lines), encoding="utf-8")
