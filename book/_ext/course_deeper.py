"""Fold every section whose heading starts with "Going deeper:", with all that stands below that heading.

In a notebook such a section may hold several cells, so no directive can hold it. There the text of each of its
cells stands in a `{dropdown}`, and JupyterLab shows it closed. In the page the section becomes one `<details>`,
which needs no script, and those dropdowns are opened for good.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
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


def deeper(document: nodes.document) -> list[nodes.section]:
    """Return the sections that go deeper, inner ones too."""
    sections = document.findall(nodes.section)
    return [section for section in sections if section[0].astext().startswith(DEEPER)]


class OpenDropdowns(SphinxTransform):
    """In a section that is folded as a whole, put the dropdowns' text in their place."""

    default_priority = 500

    def apply(self, **_: Any) -> None:
        """Open them."""
        for section in deeper(self.document):
            for box in list(section.findall(nodes.container)):
                if box.get("design_component") == "dropdown":
                    box.replace_self(box.children[1:])  # the first child is its title


class FoldDeeperSections(SphinxPostTransform):
    """All of them, in pages of HTML."""

    default_priority = 910
    formats = ("html",)

    def run(self, **_: Any) -> None:
        """Fold them."""
        for section in deeper(self.document):
            fold(section)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the transforms."""
    app.add_transform(OpenDropdowns)
    app.add_post_transform(FoldDeeperSections)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
