"""Notebooks as a reader downloads them: readable in any editor, with a first cell that says what is missing.

In the folder of the course, JupyterLab shows MyST and every file is where a notebook looks for it. Whoever
downloads a notebook from a page has neither. So the copies that the book offers are written in plain Markdown,
their links to files that aren't there are words, and their first cell looks for the package and the files.
"""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path
from typing import Any

import nbformat
from course_solutions import without
from quiz_yaml import parse_quiz
from sphinx.application import Sphinx

BLOCK = re.compile(
    r"^(?P<fence>`{3,}|:{3,})\{(?P<name>[\w:-]+)\}[ ]?(?P<title>[^\n]*)\n"
    r"(?P<options>(?::[\w-]+:[^\n]*\n)*)(?P<body>.*?)^(?P=fence)[ ]*$",
    re.MULTILINE | re.DOTALL,
)
ROLE = re.compile(
    r"\{(?P<role>[\w:-]+)\}`(?:(?P<text>[^`<]*?) ?<(?P<target>[^`>]+)>|(?P<name>[^`]+))`"
)
LABEL = re.compile(r"^\([\w-]+\)=\n", re.MULTILINE)
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!https?:)([^)\s]*)\)")
FILE = re.compile(r'Path\("\.\.(?:"\) / "|/)((?:[\w./-]|" / ")+)"')
WORDS = {"eq": "the equation", "numref": "the figure", "ref": "another section"}
FIRST = """\
# This notebook was downloaded alone. This cell looks whether all that it needs is here.
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

try:
    installed = version("transformer-course")
except PackageNotFoundError:
    installed = "none"
missing = [file for file in {files} if not (Path("..") / file).exists()]
if not f"{{installed}}.".startswith("{needed}."):
    missing.insert(0, f"the package transformer-course {needed} (installed: {{installed}})")
if missing:
    raise RuntimeError(
        f"Missing: {{', '.join(missing)}}. All of it is in the folder of the course: run `make demo` "
        "and `make lab` there, and open {place}."
    )"""


def quoted(title: str, body: str) -> str:
    """Return a box as a quotation."""
    return "\n".join(f"> {line}".rstrip() for line in f"**{title}**\n\n{body}".split("\n"))


def folded(title: str, body: str) -> str:
    """Return a box that opens with a click."""
    return f"<details><summary>{title}</summary>\n\n{body}\n\n</details>"


def quiz(body: str) -> str:
    """Return a quiz as lists, with its answers folded."""
    asked, answers = [], []
    for number, question in enumerate(parse_quiz(body), start=1):
        choices = "".join(f"\n   - {choice.text}" for choice in question.choices)
        asked.append(f"{number}. {question.text}{choices}")
        right = (f"{choice.text} {choice.why}" for choice in question.choices if choice.correct)
        answers.append(f"{number}. {' '.join(right)}")
    return "\n".join(asked) + "\n\n" + folded("Answers", "\n".join(answers))


def plain_block(found: re.Match[str]) -> str:
    """Return a directive in plain Markdown; what it holds may have directives in its turn."""
    name, title, body = found["name"], found["title"], plain(found["body"]).strip("\n")
    match name:
        case "exercise":
            return f"**Task.** {body}"
        case "dropdown":
            return folded(title, body)
        case "math":
            return f"$$\n{body}\n$$"
        case "figure":
            return f"*A picture is here in the book:* {body}"
        case "quiz":
            return quiz(found["body"])
        case "raw":
            return ""
    return quoted(title, body) if title else body


def plain_role(found: re.Match[str]) -> str:
    """Return a role as its words."""
    role, name = found["role"], found["name"] or ""
    if found["text"]:
        return found["text"]
    name = name or found["target"]
    if role.startswith("cite"):
        keys = (
            re.sub(r"^([a-z]+)(\d{4}).*", lambda m: f"{m[1].title()} ({m[2]})", k)
            for k in name.split(",")
        )
        return ", ".join(keys)
    if role == "doc":
        chapter = re.search(r"(?:^|/)(\d\d)_\w+$", name)
        return f"chapter {chapter[1]}" if chapter else f"*{name.split('/')[-1].replace('_', ' ')}*"
    if role.startswith("py"):
        return f"`{name.lstrip('~')}`"
    return WORDS.get(role, name)


def plain(text: str) -> str:
    r"""Return MyST as Markdown that every editor of notebooks shows.

    >>> print(plain("(a-label)=\n## Masks\n\nA {term}`mask <causal mask>`: {doc}`03_masking`, [why](#why)."))
    ## Masks
    <BLANKLINE>
    A mask: chapter 03, why.
    >>> print(plain("```{exercise} Sum\n:label: sum\n\nAdd $a$ and `b`.\n```"))
    **Task.** Add $a$ and `b`.
    >>> print(plain("```{admonition} No.\n:class: warning\nNever.\n```"))
    > **No.**
    >
    > Never.
    """
    text = BLOCK.sub(plain_block, text)
    text = LINK.sub(lambda found: found[1] or "another page", ROLE.sub(plain_role, text))
    return LABEL.sub("", text)


def standalone(notebook: Any, place: str, needed: str) -> Any:
    """Return a notebook for somebody who has nothing but this file.

    Exercises look for the package themselves.

    Args:
        notebook: as it is in the folder of the course.
        place: its path in that folder.
        needed: the version of the package it was written for.
    """
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = plain(cell.source)
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    if "NEEDED = " in code:
        return notebook
    files = sorted({found.replace('" / "', "/") for found in FILE.findall(code)})
    first = FIRST.format(files=files, needed=needed, place=place)
    notebook.cells.insert(1, nbformat.v4.new_code_cell(first, id="downloaded"))
    return notebook


def write(app: Sphinx, error: Exception | None) -> None:
    """Replace the copies of notebooks that Sphinx has put beside the pages."""
    if error or app.builder.format != "html":
        return
    needed = ".".join(version("transformer-course").split(".")[:2])
    out, source = Path(app.outdir), Path(app.srcdir)
    pages = [
        (out / "_sources" / f"{page}.ipynb", f"{page}.ipynb") for page in sorted(app.env.found_docs)
    ]
    linked = [
        (out / "_downloads" / copy, name) for name, (_, copy) in sorted(app.env.dlfiles.items())
    ]
    for target, place in [*pages, *linked]:
        if target.suffix == ".ipynb" and target.exists():
            notebook = nbformat.read(source / place, as_version=4)
            if not app.config.course_solutions:
                for cell in notebook.cells:
                    cell.source = without(cell.source)
            nbformat.write(standalone(notebook, place, needed), target)


def setup(app: Sphinx) -> dict[str, Any]:
    """Write when everything else is written."""
    app.connect("build-finished", write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
