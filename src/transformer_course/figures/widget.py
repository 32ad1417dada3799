"""What the interactive figures have in common: the text of their scripts and style sheets.

An anywidget's script is one text, stored in the notebook: the shared part is put in front of each figure's own.
A figure's script has two files: its model, which computes and knows no page, and its drawing.
"""

from pathlib import Path

HERE = Path(__file__).parent


def joined(name: str, suffix: str) -> str:
    """Return the shared script or styles, and those of one figure, as one text.

    Args:
        name: the figure's file name, without ending.
        suffix: "js" or "css".

    Returns:
        The text.

    Raises:
        OSError: if there is no such file.

    >>> "export default { render }" in joined("attention_plane", "js")
    True
    >>> ".tc-widget {" in joined("attention_plane", "css")
    True
    """
    own = (f"{name}_model", name) if suffix == "js" else (name,)
    parts = (HERE / f"{part}.{suffix}" for part in ("shared", *own))
    return "\n".join(part.read_text(encoding="utf-8") for part in parts)
