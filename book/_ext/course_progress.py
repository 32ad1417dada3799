"""The map of the model, in the page itself, where it can be filled in.

An image of class `fills-in` is put into pages of HTML as the SVG that it is, with its alt text as its name;
`progress.js` then fills in what the reader has read. Without scripts it is the picture.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.transforms.post_transforms import SphinxPostTransform


class PutMapIntoPage(SphinxPostTransform):
    """Put each image of class `fills-in` into the page as SVG."""

    default_priority = 5  # before Sphinx collects the images
    formats = ("html",)

    def run(self, **_: Any) -> None:
        """Replace them, with the link around each."""
        for image in list(self.document.findall(nodes.image)):
            if "fills-in" in image["classes"]:
                parent = image.parent
                place = parent if isinstance(parent, nodes.reference) else image
                place.replace_self(nodes.raw("", self.svg(image), format="html"))

    def svg(self, image: nodes.image) -> str:
        """Return the SVG of an image, named by the alt text, as wide as the image."""
        text = Path(self.app.srcdir, image["uri"]).read_text(encoding="utf-8")
        if not text.startswith("<svg ") or "map-fill" not in text:
            raise ExtensionError(
                f"{image['uri']} has nothing to fill in: it must be the map as SVG"
            )
        width, name = image.get("width", "100%"), escape(image.get("alt", ""))
        head = f'<svg id="progress-map" style="width:{width}" aria-label="{name}" '
        return head + text.removeprefix("<svg ")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the transform with Sphinx."""
    app.add_post_transform(PutMapIntoPage)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
