"""What the interactive figures have in common: the text of their scripts and style sheets.

An anywidget's script is one text, stored in the notebook: the shared part is put in front of each figure's own.
"""

from pathlib import Path

_HERE = Path(__file__).parent


def script(name: str) -> str:
    """Return the shared script and the one of the figure `name`, as one text.

    Args:
        name: the figure's file name, without ending.

    Returns:
        The text.

    Raises:
        OSError: if there is no such file.

    >>> "export default { render }" in script("attention_plane")
    True
    """
    return _joined(name, "js")


def styles(name: str) -> str:
    """Return the shared styles and those of the figure `name`, as one text.

    Args:
        name: the figure's file name, without ending.

    Returns:
        The text.

    Raises:
        OSError: if there is no such file.

    >>> ".tc-widget {" in styles("attention_plane")
    True
    """
    return _joined(name, "css")


def _joined(name: str, suffix: str) -> str:
    parts = (_HERE / f"{part}.{suffix}" for part in ("shared", name))
    return "\n".join(part.read_text(encoding="utf-8") for part in parts)
