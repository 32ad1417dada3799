"""Keep on one line what belongs together: a formula and a full stop beside it, the digits of "40 000".

A browser treats a formula in a line of text like a picture: it may break the line before and after it, so
that a full stop begins the next line, or a bracket is left behind at the end of one. And it breaks a line at
any space, the one between thousands, too.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

BETWEEN_THOUSANDS = re.compile(r"(?<=\d) (?=\d{3}\b)")
BEFORE, AFTER = re.compile(r"\S+\Z"), re.compile(r"\A\S+")


def keep_together(formula: nodes.math) -> None:
    """Put a formula into one span with the characters that touch it."""
    parent = formula.parent
    at = parent.index(formula)
    parts: list[nodes.Node] = [formula.deepcopy()]
    for place, pattern in ((at - 1, BEFORE), (at + 1, AFTER)):
        beside = parent[place] if 0 <= place < len(parent) else None
        found = pattern.search(beside.astext()) if isinstance(beside, nodes.Text) else None
        if found:
            parts.insert(len(parts) if place > at else 0, nodes.Text(found.group()))
            parent[place] = nodes.Text(pattern.sub("", beside.astext()))
    if len(parts) > 1:
        parent[at] = nodes.inline("", "", *parts, classes=["together"])


class KeepTogether(SphinxPostTransform):
    """Every formula and every number in a line of text, in pages of HTML."""

    default_priority = 900
    formats = ("html",)

    def run(self, **_: Any) -> None:
        """Change the document in place."""
        for formula in list(self.document.findall(nodes.math)):
            keep_together(formula)
        for text in list(self.document.findall(nodes.Text)):
            if not isinstance(text.parent, nodes.FixedTextElement | nodes.literal | nodes.raw):
                whole = BETWEEN_THOUSANDS.sub("\N{NO-BREAK SPACE}", text)
                if whole != text:
                    text.parent.replace(text, nodes.Text(whole))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the change with Sphinx."""
    app.add_post_transform(KeepTogether)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
