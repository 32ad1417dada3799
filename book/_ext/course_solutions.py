"""A book without solutions, for teachers: with SOLUTIONS=no in the environment, no page links or offers one.

A chapter's sentence "..., and the same with solutions" loses its end, an exercise its link "Solution". What
would lead to a solution all the same stops the build.
"""

from __future__ import annotations

import os
import re
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import ConfigError, ExtensionError

FOLDER = "solutions/"
OFFER = re.compile(r",? and \{download\}`[^`<]*<[^`>]*solutions/[^`>]*>`")
HINT = re.compile(r"\s*\[Solution\]\(solutions/[^)]*\)")
LEFT = re.compile(r"\]\([^)]*solutions/|<[^<>\s]*solutions/[^<>\s]*>")


def wanted() -> bool:
    """Return whether this build has solutions.

    Raises:
        ConfigError: if the variable says neither yes nor no.
    """
    value = os.environ.get("SOLUTIONS") or "yes"
    if value not in ("yes", "no"):
        raise ConfigError(f"SOLUTIONS ({value!r}) must be yes or no")
    return value == "yes"


def without(text: str) -> str:
    """Return a page, or a cell, without its links to solutions.

    >>> without("Here are {download}`the exercises <e.ipynb>`, and {download}`the same <solutions/s.ipynb>`.")
    'Here are {download}`the exercises <e.ipynb>`.'
    >>> without("Think of keys.\\n\\n[Solution](solutions/01_attention_solutions.ipynb#cell-id=softmax)")
    'Think of keys.'
    """
    return HINT.sub("", OFFER.sub("", text))


def shorten(app: Sphinx, page: str, source: list[str]) -> None:
    """Take the links out of a page that is read."""
    if app.config.course_solutions:
        return
    source[0] = without(source[0])
    if page.startswith("exercises/solutions/") or LEFT.search(source[0]):
        raise ExtensionError(f"SOLUTIONS=no, but {page} leads to a solution")


def setup(app: Sphinx) -> dict[str, Any]:
    """Read every page anew when the variable has changed."""
    app.add_config_value("course_solutions", wanted(), "env")
    app.connect("source-read", shorten)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
