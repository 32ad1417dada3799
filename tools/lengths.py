"""How long every chapter is, and how long it takes to read: python tools/lengths.py [--write] [NOTEBOOK ...]

The *core* of a page is what a reader sees without opening anything: all words of its text outside
`{dropdown}`, markup and quiz among them, and all lines of code, blank ones too, outside cells tagged
`hide-input` or `hide-cell`. The whole page is all of it.

Reading time: 200 words a minute, as one reads technical text, and ten lines of code a minute. With
`--write` the line of reading time on top of a page and the minutes in headings "Going deeper:" are brought up
to date.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
WORDS_A_MINUTE = 200
LINES_A_MINUTE = 10
DEEPER = "Going deeper:"
FOLDED_TAGS = {"hide-input", "hide-cell"}
HEADING = re.compile(r"(#{1,6}) (.+)")
LABEL = re.compile(r"\([\w-]+\)=")
MINUTES = re.compile(r" \(\d+ minutes?\)$")
TIME_LINE = re.compile(r"\*Reading time: [^*\n]+\*")


@dataclass
class Length:
    """What a part of a page holds: words, lines of code, asserts."""

    words: int = 0
    lines: int = 0
    asserts: int = 0

    def add(self, other: Length) -> None:
        """Add the numbers of another part."""
        self.words += other.words
        self.lines += other.lines
        self.asserts += other.asserts

    @property
    def minutes(self) -> int:
        """Reading time, at least one minute."""
        return max(1, round(self.words / WORDS_A_MINUTE + self.lines / LINES_A_MINUTE))


@dataclass
class Piece:
    """A line of text or a cell of code, with the section "Going deeper" it stands in, if any."""

    length: Length
    seen: bool  # without opening anything
    deeper: str | None  # heading of that section
    cell: str  # its id


def _markdown(source: str) -> Iterator[tuple[str, bool]]:
    """Yield the lines of a Markdown cell, and whether they are seen without a click."""
    fence, folded = "", False
    for line in source.splitlines():
        opening = re.match(r"(`{3,}|:{3,})(\{[\w-]+\})?", line)
        closing = bool(fence) and line.startswith(fence)
        if opening and not fence:
            fence, folded = opening[1], opening[2] == "{dropdown}"
        yield line, not folded
        if closing:
            fence, folded = "", False


def _code(cell: dict[str, Any]) -> Length:
    """Count a cell's code, and the packaged code that it shows."""
    lines = "".join(cell["source"]).splitlines()
    for output in cell["outputs"]:
        shown = "".join(output.get("data", {}).get("text/markdown", ""))
        if shown.startswith("```python"):
            lines += shown.splitlines()[1:-1]
    asserts = sum(line.strip().startswith("assert ") for line in lines)
    return Length(lines=len(lines), asserts=asserts)


def pieces(notebook: dict[str, Any]) -> Iterator[Piece]:
    """Yield the page piece by piece, in order."""
    deeper, level = None, 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            folded = FOLDED_TAGS & set(cell["metadata"].get("tags", []))
            yield Piece(_code(cell), not folded, deeper, cell.get("id", ""))
            continue
        for line, seen in _markdown("".join(cell["source"])):
            heading = HEADING.fullmatch(line)
            if heading and (deeper is None or len(heading[1]) <= level):
                deeper = heading[2] if heading[2].startswith(DEEPER) else None
                level = len(heading[1])
            # A label belongs to the heading that follows, not to the section that ends.
            section = None if LABEL.fullmatch(line) else deeper
            yield Piece(Length(words=len(line.split())), seen, section, cell.get("id", ""))


def lengths(notebook: dict[str, Any]) -> tuple[Length, Length, dict[str, Length]]:
    """Measure a page.

    Args:
        notebook: as it is stored.

    Returns:
        Its core, the whole of it, and each section that goes deeper by its heading.
    """
    core, whole, folds = Length(), Length(), dict[str, Length]()
    for piece in pieces(notebook):
        whole.add(piece.length)
        if piece.deeper is not None:
            folds.setdefault(piece.deeper, Length()).add(piece.length)
        if piece.seen:
            core.add(piece.length)
    return core, whole, folds


def time_line(core: Length, whole: Length) -> str:
    """Return the line that stands on top of a page.

    >>> time_line(Length(words=4000, lines=250), Length(words=6000, lines=300))
    '*Reading time: core 45 minutes, whole page 60 minutes.*'
    """
    return f"*Reading time: core {core.minutes} minutes, whole page {whole.minutes} minutes.*"


def with_times(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return the notebook with the reading times that it should show."""
    core, whole, folds = lengths(notebook)
    new = json.loads(json.dumps(notebook))
    for cell in new["cells"]:
        if cell["cell_type"] == "markdown":
            source = TIME_LINE.sub(time_line(core, whole), "".join(cell["source"]))
            for title, length in folds.items():
                unit = "minute" if length.minutes == 1 else "minutes"
                wanted = f"{MINUTES.sub('', title)} ({length.minutes} {unit})"
                source = source.replace(f"# {title}\n", f"# {wanted}\n")
            cell["source"] = source.splitlines(keepends=True)
    return dict(new)


def main() -> int:
    """Print the table; with --write, bring reading times up to date."""
    parser = argparse.ArgumentParser(description="How long the chapters are.")
    parser.add_argument("paths", nargs="*", type=Path, help="some notebooks only")
    parser.add_argument("--write", action="store_true", help="store the reading times in the pages")
    options = parser.parse_args()
    print("page                      core: words  lines  asserts  min   whole: words  lines  min")
    for path in options.paths or sorted((ROOT / "chapters").glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        core, whole, _ = lengths(notebook)
        numbers = f"{core.words:17} {core.lines:6} {core.asserts:8} {core.minutes:4}"
        print(f"{path.stem:20} {numbers} {whole.words:14} {whole.lines:6} {whole.minutes:4}")
        if options.write and (new := with_times(notebook)) != notebook:
            text = json.dumps(new, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
            path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
