"""What the interactive figures share: each is `widget.js` and `widget.css` with files of its own after them."""

from pathlib import Path


def joined(*names: str) -> str:
    """Return the text of files of this folder, one after the other.

    A notebook stores a figure's script and style as one text each, so the built page needs no file of ours.

    Args:
        names: names of files.

    >>> joined("widget.css", "attention_plane.css").count(".tc-figure {")
    1
    """
    folder = Path(__file__).parent
    return "".join((folder / name).read_text(encoding="utf-8") for name in names)
