"""Fold every section whose heading starts with "Going deeper:", with all that stands below that heading.

In a notebook such a section may hold several cells, so no directive can hold it. In JupyterLab the heading
folds by itself. In the page it becomes `<details>`, which needs no script.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

DEEPER = "Going deeper:"


def fold(section: nodes.section) -> None:
    """Put the tags around the heading and around the rest."""
    title, *rest = section.children

    def tag(text: str) -> nodes.raw:
        return nodes.raw("", text, format="html")

    opening = tag('<details class="deeper"><summary>')
    section.children = []
    section.extend([opening, title, tag("</summary>"), *rest, tag("</details>")])


class FoldDeeperSections(SphinxPostTransform):
    """All of them, in pages of HTML."""

    default_priority = 910
    formats = ("html",)

    def run(self, **_: Any) -> None:
        """Fold them, inner ones too."""
        for section in list(self.document.findall(nodes.section)):
            title = section.next_node(nodes.title)
            if title is not None and title.astext().startswith(DEEPER) and title.parent is section:
                fold(section)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the transform."""
    app.add_post_transform(FoldDeeperSections)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
