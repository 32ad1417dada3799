"""Number figures, tables and equations page by page: Fig. 1.1 is the first of chapter 01.

Sphinx would count through the whole book, by the place of a page in the table of contents. A chapter's
number is its own: it is in the name of its file. On a page that is no chapter, the count has no number in
front: Fig. 1.
"""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

Numbers = dict[str, dict[str, tuple[int, ...]]]


def of_the_page(page: str, numbers: Numbers) -> Numbers:
    """Return the numbers of a page's figures, counted anew; `numbers` has them by kind and id, in order.

    >>> of_the_page("chapters/01_attention", {"figure": {"map": (11,), "tide": (12,)}})
    {'figure': {'map': (1, 1), 'tide': (1, 2)}}
    >>> of_the_page("book/walk", {"figure": {"map": (57,)}, "displaymath": {"eq-a": (9,)}})
    {'figure': {'map': (1,)}, 'displaymath': {'eq-a': (1,)}}
    """
    chapter = re.match(r"chapters/(\d\d)_", page)
    front = (int(chapter[1]),) if chapter else ()
    return {
        kind: {ident: (*front, count) for count, ident in enumerate(idents, start=1)}
        for kind, idents in numbers.items()
    }


def remember(_app: Sphinx, env: Any, _pages: list[str]) -> None:
    """Give Sphinx its own count of the last build back, else it writes every page anew."""
    env.toc_fignumbers = getattr(env, "counted_by_sphinx", env.toc_fignumbers)


def number_pages(_app: Sphinx, env: Any) -> list[str]:
    """Number all pages, after Sphinx has; return those to write again."""
    before = getattr(env, "counted_by_page", {})
    env.counted_by_sphinx = env.toc_fignumbers
    env.counted_by_page = {
        page: of_the_page(page, numbers) for page, numbers in env.toc_fignumbers.items()
    }
    env.toc_fignumbers = env.counted_by_page
    return [page for page, numbers in env.counted_by_page.items() if numbers != before.get(page)]


def setup(app: Sphinx) -> dict[str, Any]:
    """Come after Sphinx' own count, whose priority is 500."""
    app.connect("env-before-read-docs", remember)
    app.connect("env-get-updated", number_pages, priority=600)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
