"""Notebooks as a reader downloads them: readable in any editor, with a first cell that says what is missing.

In the folder of the course, every file is where a notebook looks for it, and JupyterLab shows MyST. Whoever
downloads a notebook from a page has neither. So the copies that the book offers are written in plain Markdown,
and their links to files that aren't there are words. Their first cell looks for the package and the files. It
gets what is missing from a zip file of the course's folder, if the setting `course_archive` in `_config.yml`
names one; else it says what is missing, and how to come by it.
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
# This notebook was downloaded alone. This cell looks for all that it needs, and gets what is missing.
import importlib
import os
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.request import urlretrieve

{settings}


def installed():
    try:
        return version("transformer-course")
    except PackageNotFoundError:
        return "none"


def has_package():
    return f"{{installed()}}.".startswith(f"{{NEEDED}}.")


def is_there(file):
    return (Path("..") / file).exists()


missing = [file for file in FILES if not is_there(file)]
if not has_package():
    missing.insert(0, f"the package transformer-course {{NEEDED}} (installed: {{installed()}})")
if missing and not ARCHIVE:
    raise RuntimeError(
        f"Missing: {{', '.join(missing)}}. All of it is in the folder of the course: run `make demo` "
        f"and `make lab` there, and open {{PLACE}}."
    )
folder = Path(f"transformer-course-{{NEEDED}}").resolve()
if missing and not folder.exists():
    print(f"Getting the folder of the course from {{ARCHIVE}} ...")
    with TemporaryDirectory(dir=".") as here:
        urlretrieve(ARCHIVE, Path(here) / "course.zip")
        shutil.unpack_archive(Path(here) / "course.zip", Path(here) / "course")
        settings = next((Path(here) / "course").rglob("pyproject.toml"))
        shutil.move(settings.parent, folder)
if not has_package():
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", f"{{folder}}[notebooks]"], check=True)
    importlib.invalidate_caches()
    if not has_package():
        raise RuntimeError(f"{{ARCHIVE}} holds transformer-course {{installed()}}, needed is {{NEEDED}}.")
if not all(map(is_there, FILES)):
    os.chdir(folder / Path(PLACE).parent)  # where the files are that the cells below look for
    print("Working in", Path.cwd())
if "runs/demo" in FILES and not is_there("runs/demo"):
    print("Training the demo translator, once: some ten to fifteen minutes of one core ...")
    subprocess.run([sys.executable, "../tools/train_demo.py"], check=True)"""
OWN_CELL = "NEEDED = "  # in exercises, which look for the package themselves


def first_cell(place: str, needed: str, archive: str, files: list[str]) -> str:
    """Return the code that looks for what a notebook needs, and gets it from the archive, if there is one."""
    settings = (
        f'NEEDED = "{needed}"  # the version of the package\n'
        f'ARCHIVE = "{archive}"  # the folder of the course, of that version\n'
        f'PLACE = "{place}"  # where this notebook is in that folder\n'
        f"FILES = {files}"
    )
    return FIRST.format(settings=settings)


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
    >>> print(plain("```{admonition} No.\n:class: warning\nNever.\n```"))
    > **No.**
    >
    > Never.
    """
    text = BLOCK.sub(plain_block, text)
    text = LINK.sub(lambda found: found[1] or "another page", ROLE.sub(plain_role, text))
    return LABEL.sub("", text)


def standalone(notebook: Any, place: str, needed: str, archive: str = "") -> Any:
    """Return a notebook for somebody who has nothing but this file.

    Args:
        notebook: as it is in the folder of the course.
        place: its path in that folder.
        needed: the version of the package it was written for.
        archive: the address of a zip file of the folder; empty where there is none.
    """
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = plain(cell.source)
    own = [c for c in notebook.cells if c.cell_type == "code" and OWN_CELL in c.source]
    if not own:
        own = [nbformat.v4.new_code_cell(id="downloaded")]
        notebook.cells.insert(1, own[0])
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    files = sorted({found.replace('" / "', "/") for found in FILE.findall(code)})
    own[0].source = first_cell(place, needed, archive, files)
    return notebook


def write(app: Sphinx, error: Exception | None) -> None:
    """Replace the copies of notebooks that Sphinx has put beside the pages."""
    if error or app.builder.format != "html":
        return
    whole = version("transformer-course")
    needed = ".".join(whole.split(".")[:2])
    archive = app.config.course_archive.format(version=whole)
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
            nbformat.write(standalone(notebook, place, needed, archive), target)


def setup(app: Sphinx) -> dict[str, Any]:
    """Write when everything else is written."""
    app.add_config_value("course_archive", "", "html", str)
    app.connect("build-finished", write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
