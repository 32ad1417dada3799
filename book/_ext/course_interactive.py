"""Interactive figures: a sign in a page's table of contents, and a gallery that lists them all.

A figure is interactive when its caption begins with "Interactive: ". What follows is its name, up to the first
full stop, and what to do with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective
from sphinx.util.osutil import relative_uri

BEGINS = "Interactive: "
SIGN = "interactive figure"


@dataclass(frozen=True)
class Interactive:
    """An interactive figure: its id, the id and heading of its section, its name, what one does with it."""

    ident: str
    section: str
    heading: str
    name: str
    action: str


def named(caption: str) -> tuple[str, str]:
    """Return the name and the action that a caption tells.

    >>> named("Interactive: the tree of a search. Choose a width, and go on.")
    ('The tree of a search', 'Choose a width, and go on.')
    >>> named("Interactive: scores drawn again.")
    ('Scores drawn again', '')
    """
    name, _, action = caption.removeprefix(BEGINS).partition(". ")
    return name[:1].upper() + name[1:].rstrip("."), action


def figures_of(document: nodes.document) -> Iterator[Interactive]:
    """Yield the interactive figures of a page, in order."""
    for figure in document.findall(nodes.figure):
        caption = next(figure.findall(nodes.caption), None)
        if caption is None or not caption.astext().startswith(BEGINS):
            continue
        section = figure.parent
        while not isinstance(section, nodes.section):
            section = section.parent
        heading = section[0].astext()
        yield Interactive(figure["ids"][0], section["ids"][0], heading, *named(caption.astext()))


def sign(contents: nodes.Node, sections: set[str]) -> None:
    """Put the sign behind the entries of a table of contents that lead to these sections."""
    for entry in contents.findall(nodes.reference):
        if entry.get("anchorname", "").removeprefix("#") in sections:
            entry += nodes.inline("", f" ({SIGN})", classes=["has-interactive"])


def collect(app: Sphinx, document: nodes.document) -> None:
    """Remember the figures of a page, and mark their sections in its contents."""
    env = app.env
    found = list(figures_of(document))
    of_pages(env)[env.docname] = found
    sign(env.tocs[env.docname], {figure.section for figure in found})


def of_pages(env: BuildEnvironment) -> dict[str, list[Interactive]]:
    """Return the interactive figures by page."""
    if not hasattr(env, "interactive_figures"):
        env.interactive_figures = {}  # type: ignore[attr-defined]
    return env.interactive_figures  # type: ignore[attr-defined]


def forget(_app: Sphinx, env: BuildEnvironment, page: str) -> None:
    """Forget a page that is read again, or is gone."""
    of_pages(env).pop(page, None)


def merge(_app: Sphinx, env: BuildEnvironment, pages: list[str], other: BuildEnvironment) -> None:
    """Take over what another process has read."""
    of_pages(env).update({page: of_pages(other)[page] for page in pages if page in of_pages(other)})


class GalleryNode(nodes.General, nodes.Element):
    """Where the gallery stands, until all pages are read and numbered."""


class Gallery(SphinxDirective):
    """`{interactive-figures}`: all of them, by page, in the order of the book."""

    def run(self) -> list[nodes.Node]:
        """Leave a place."""
        self.env.metadata[self.env.docname]["gallery"] = "yes"
        return [GalleryNode()]


def in_order(env: BuildEnvironment, page: str) -> Iterator[str]:
    """Yield a page and those below it, as the book has them."""
    yield page
    for below in env.toctree_includes.get(page, []):
        yield from in_order(env, below)


def listed(env: BuildEnvironment) -> list[tuple[str, str, Interactive]]:
    """Return page, number and figure of all, in the order of the book."""
    numbers = env.toc_fignumbers
    return [
        (page, ".".join(map(str, numbers[page]["figure"][figure.ident])), figure)
        for page in in_order(env, env.config.root_doc)
        for figure in of_pages(env).get(page, [])
    ]


def renew(_app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Return the pages to write again, because a figure or its number has changed."""
    before, now = getattr(env, "gallery_listed", None), listed(env)
    env.gallery_listed = now  # type: ignore[attr-defined]
    return [] if now == before else [p for p, said in env.metadata.items() if "gallery" in said]


def entry(
    app: Sphinx, gallery: str, page: str, number: str, figure: Interactive
) -> nodes.list_item:
    """Return what the gallery says of one figure: its picture, a link, where it is, what to do."""
    here = app.builder.get_target_uri(gallery)
    there = app.builder.get_relative_uri(gallery, page)
    picture = relative_uri(here, f"_static/gallery/{figure.ident}.png")
    link = nodes.reference(
        "", f"Fig. {number}: {figure.name}", refuri=f"{there}#{figure.ident}", internal=True
    )
    where = nodes.inline(
        "", f"{app.env.titles[page].astext()}, {figure.heading}", classes=["where"]
    )
    return nodes.list_item(
        "",
        nodes.image(
            uri=picture,
            alt=f"A picture of {figure.name}",
            loading="lazy",
            candidates={"?": picture},
        ),
        nodes.paragraph("", "", link),
        nodes.paragraph("", "", where),
        nodes.paragraph("", figure.action),
    )


def fill(app: Sphinx, document: nodes.document, page: str) -> None:
    """Put the list into its place."""
    for place in list(document.findall(GalleryNode)):
        entries = [entry(app, page, *row) for row in listed(app.env)]
        place.replace_self(nodes.bullet_list("", *entries, classes=["gallery"]))


def setup(app: Sphinx) -> dict[str, Any]:
    """Come after Sphinx' own collectors, and after the numbers of course_numbers."""
    app.add_node(GalleryNode)
    app.add_directive("interactive-figures", Gallery)
    app.connect("doctree-read", collect, priority=600)
    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", merge)
    app.connect("env-get-updated", renew, priority=700)
    app.connect("doctree-resolved", fill)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
