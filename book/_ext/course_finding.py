"""What the search and the previews of the glossary read: the text of every section, and every term.

`_static/sections.js` has the sections: address, page, title, topics, text without code and TeX, and
whether it belongs to a chapter, to another page, to the glossary or to the API. `_static/terms.js` has
what the glossary says. `book/static/finding.js` loads one or the other when a reader asks for it, from the
disk as well: therefore scripts, and not JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

LEFT_OUT = (nodes.literal_block, nodes.doctest_block, nodes.math_block, nodes.raw, nodes.comment)
CODE = {"cell_code_source", "cell_code_output"}
NUMBERED = {"numref": "the figure", "eq": "the equation"}
TOLD_ELSEWHERE = {"Quiz", "Exercises", "References"}  # sections of chapters
SIGNS = {
    "sqrt": "√",
    "cdot": "·",
    "times": "×",
    "top": "ᵀ",
    "le": "≤",
    "ge": "≥",
    "to": "→",
    "in": "∈",
}
SIGNS |= {"dots": "…", "ldots": "…", "alpha": "α", "beta": "β", "epsilon": "ε", "varepsilon": "ε"}


def formula(tex: str) -> str:
    r"""Return a short formula as plain text, and an ellipsis for one that needs more than signs.

    >>> formula(r"\sqrt{d_k}"), formula("Q K^\\top"), formula(r"\varepsilon = q_1^2"), formula(r"\frac{a}{b}")
    ('√d_k', 'Q Kᵀ', 'ε = q_1²', '…')
    """
    text = re.sub(r"\^?\\(sqrt\s?|[a-z]+)", lambda m: SIGNS.get(m[1].strip(), m[0]), tex)
    text = re.sub(r"\{(\w+)\}", r"\1", text).replace("^2", "²")
    return "…" if re.search(r"[\\{}]", text) else text


def plain(node: nodes.Node, env: BuildEnvironment, page: str) -> str:
    """Return what a reader reads of a node: no code, no TeX, nothing of the sections in it."""
    if isinstance(node, nodes.Text):
        return str(node)
    if isinstance(node, nodes.math):
        return formula(node.astext())
    if not isinstance(node, nodes.Element) or isinstance(node, LEFT_OUT):
        return " "
    if isinstance(node, nodes.section | addnodes.desc | addnodes.glossary | addnodes.toctree):
        return " "  # entries of their own
    if node.tagname == "quiz_block":
        return " "  # its wrong answers would be found, too
    children = node.children
    if node.get("nb_element") in CODE:
        children = list(node.findall(nodes.caption))
    if isinstance(node, addnodes.pending_xref) and not node.get("refexplicit"):
        target = env.relfn2path(node["reftarget"], page)[0] if node.get("reftarget") else ""
        if (name := re.sub(r"\.(md|ipynb)$", "", target)) in env.titles:
            return env.titles[name].astext()
        if node.get("refdomain") == "cite":
            return re.sub(
                r"([a-z]+)(\d{4})\w*", lambda m: f"{m[1].title()} {m[2]}", node["reftarget"]
            )
        if node.get("reftype") in NUMBERED:
            return NUMBERED[node["reftype"]]
    text = "".join(plain(child, env, page) for child in children)
    return text if isinstance(node, nodes.Inline) else f"{text} "


def tidy(text: str) -> str:
    """Return a text with one space between its words, and none before a full stop or a comma."""
    return re.sub(r" (?=[.,;:!?)])", "", " ".join(text.split()))


def topics(section: nodes.section) -> str:
    """Return what a section is about, whatever its title: its labels, terms and words in bold."""
    words = section["ids"][1:]
    for child in section.children[1:]:
        if isinstance(child, nodes.Element) and not isinstance(child, nodes.section):
            marked = child.findall(
                lambda node: (
                    isinstance(node, nodes.strong)
                    or (isinstance(node, addnodes.pending_xref) and node.get("reftype") == "term")
                )
            )
            words += [*child.get("ids", []), *(node.astext() for node in marked)]
    return " ".join(words).replace("-", " ")


def kind_of(page: str) -> str:
    """Return to what a page belongs.

    >>> [kind_of(page) for page in ("chapters/01_attention", "book/walk", "book/api/model")]
    ['chapter', 'page', 'api']
    """
    if page.startswith("chapters/"):
        return "chapter"
    return "api" if page.startswith("book/api") else "page"


def sections_of(page: str, doctree: nodes.document, env: BuildEnvironment) -> Iterator[list[str]]:
    """Yield the sections of a page, the terms of a glossary and the objects of an API."""
    title, kind = env.titles[page].astext(), kind_of(page)
    for count, section in enumerate(doctree.findall(nodes.section)):
        heading = section[0].astext()
        if kind == "chapter" and heading in TOLD_ELSEWHERE:
            continue
        text = "".join(plain(child, env, page) for child in section.children[1:])
        place = f"#{section['ids'][0]}" if count else ""
        yield [f"{page}.html{place}", title, heading, topics(section), tidy(text), kind]
    for item in doctree.findall(nodes.definition_list_item):
        if isinstance(item.parent.parent, addnodes.glossary):
            said = tidy(plain(item[-1], env, page))
            term = next(item.findall(nodes.term))
            yield [f"{page}.html#{term['ids'][0]}", title, term.astext(), "", said, "glossary"]
    for entry in doctree.findall(addnodes.desc):
        ids = next((s["ids"] for s in entry.findall(addnodes.desc_signature) if s["ids"]), None)
        if ids:
            said = tidy("".join(plain(child, env, page) for child in entry[-1].children))
            yield [f"{page}.html#{ids[0]}", title, ids[0], "", said, "api"]


def write(app: Sphinx, error: Exception | None) -> None:
    """Write both files."""
    if error or app.builder.format != "html":
        return
    env = app.env
    rows = [
        row
        for page in sorted(env.found_docs)
        for row in sections_of(page, env.get_doctree(page), env)
    ]
    terms = {row[0].split("#")[1]: [row[2], row[4]] for row in rows if row[5] == "glossary"}
    folder = Path(app.outdir) / "_static"
    for name, value in (("sections", rows), ("terms", terms)):
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        (folder / f"{name}.js").write_text(f"window.course_{name} = {text};\n", encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Write when everything else is written."""
    app.connect("build-finished", write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
