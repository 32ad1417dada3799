"""What the slides of a chapter say: taken from its notebook, its exercises, and the notes for teachers.

Nothing is written twice: figures with their captions and descriptions, labelled equations, sentences in bold
with their paragraph, what to expect before an experiment, common mistakes, the quiz and the summary come from
the core of the page. What goes deeper stays there.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lengths import DEEPER, HEADING
from quiz_yaml import parse_quiz

ROOT = Path(__file__).resolve().parent.parent
NOTES = ROOT / "book" / "teachers" / "notes.md"
OPENING = re.compile(r"^(`{3,}|:{3,})\{(\w+)\} ?(.*)$")
STATEMENT = re.compile(r"\*\*[A-Z][^*]{20,240}[.?!]\*\*")
QUESTION = re.compile(r"\*\*The question of this chapter: (.+?)\*\*")
EXPECT = "**What do you expect?**"
MISTAKES, SUMMARY = "Common mistakes", "Summary"


@dataclass
class Slide:
    """One slide.

    Args:
        title: its heading, Markdown.
        text: what stands below, Markdown.
        image: a file, or the bytes of a PNG.
        alt: the image in words.
        answer: Markdown that is shown at the next key; never together with an image.
        link: an address below the built book that the slide leads to.
        notes: what the speaker sees, Markdown.
    """

    title: str
    text: str = ""
    image: Path | bytes | None = None
    alt: str = ""
    answer: str = ""
    link: str = ""
    notes: str = ""


@dataclass
class Block:
    """A directive of a page, or a run of plain text; `kind` is empty for the latter."""

    kind: str
    title: str
    options: dict[str, str] = field(default_factory=dict)
    body: str = ""


def blocks(source: str) -> Iterator[Block]:
    r"""Yield the directives of a Markdown cell, and the text between them, in order.

    >>> [(block.kind, block.body) for block in blocks("One.\n```{math}\n:label: a\nx\n```\nTwo.")]
    [('', 'One.'), ('math', 'x'), ('', 'Two.')]
    """
    lines, text = iter(source.splitlines()), list[str]()
    for line in lines:
        if not (opening := OPENING.match(line)):
            text.append(line)
            continue
        yield Block("", "", body="\n".join(text).strip())
        text = []
        block = Block(opening[2], opening[3])
        body = list[str]()
        for inner in lines:
            if inner.rstrip() == opening[1]:
                break
            option = re.match(r":([\w-]+): *(.*)", inner)
            if option and not body:
                block.options[option[1]] = option[2].strip('"')
            else:
                body.append(inner)
        block.body = "\n".join(body).strip()
        yield block
    yield Block("", "", body="\n".join(text).strip())


def core(notebook: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield the cells of a page's core: the heading of the section, the cell, and its source.

    A cell of text that holds several headings is cut at them.
    """
    title, deeper = "", 0
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] != "markdown":
            if not deeper:
                yield title, cell, source
            continue
        for part in re.split(r"\n(?=#{1,4} )", source):
            if heading := HEADING.search(part):
                if not deeper or len(heading[1]) <= deeper:
                    deeper = len(heading[1]) if heading[2].startswith(DEEPER) else 0
                if len(heading[1]) > 1 and not deeper:
                    title = heading[2]
            if not deeper:
                yield title, cell, HEADING.sub("", part)


def shown(page: str, title: str, cell: dict[str, Any]) -> Slide | None:
    """Return the slide of a cell's figure, if it has one; an interactive one is linked."""
    figure = cell["metadata"].get("mystnb", {}).get("figure")
    if not figure:
        return None
    alt = cell["metadata"]["mystnb"].get("image", {}).get("alt", "")
    for output in cell["outputs"]:
        if png := output.get("data", {}).get("image/png"):
            return Slide(title, figure["caption"], base64.b64decode(png), alt)
    return Slide(title, figure["caption"], link=f"chapters/{page}.html#{figure['name']}")


def of_text(title: str, source: str) -> Iterator[Slide]:
    """Yield the slides of a piece of text: maps, labelled equations, mistakes, quiz, statements."""
    for block in blocks(source):
        if block.kind == "figure":
            path = (ROOT / "chapters" / block.title).resolve()
            yield Slide(title, block.body, path, block.options.get("alt", ""))
        elif block.kind == "math" and "label" in block.options:
            yield Slide(title, f"$$\n{block.body}\n$$")
        elif block.kind == "admonition" and title == MISTAKES:
            yield Slide(block.title, "True or false? Why?", answer=block.body)
        elif block.kind == "quiz":
            yield from of_quiz(block.body)
        elif not block.kind:
            yield from of_paragraphs(title, block.body)


def of_paragraphs(title: str, text: str) -> Iterator[Slide]:
    """Yield the summary, what is expected of an experiment, and the paragraphs that have a statement."""
    if title == SUMMARY:
        yield Slide(title, "\n".join(line for line in text.splitlines() if line.startswith("- ")))
        return
    if EXPECT in text:
        before, _, after = (part.strip() for part in text.partition(EXPECT))
        yield Slide("What do you expect?", after or before)
        return
    for paragraph in re.split(r"\n\s*\n(?!\$\$)", text):  # a formula goes with the words before it
        if STATEMENT.search(paragraph) and not QUESTION.search(paragraph):
            yield Slide(title, paragraph)


def of_quiz(body: str) -> Iterator[Slide]:
    """Yield a slide a question: its choices, and at the next key which are right, and why."""
    for question in parse_quiz(body):
        choices = "\n".join(f"- {choice.text}" for choice in question.choices)
        right = "\n".join(f"- **{c.text}** {c.why}" for c in question.choices if c.correct)
        wrong = "\n".join(f"- {c.text}: {c.why}" for c in question.choices if not c.correct)
        yield Slide("Quiz", f"{question.text}\n\n{choices}", answer=right, notes=wrong)


def teachers_notes(chapter: str) -> str:
    """Return what the notes for teachers say on a chapter, "01"; empty if they say nothing."""
    text = NOTES.read_text(encoding="utf-8")
    found = re.search(rf"^## {chapter} [^\n]+\n(.*?)(?=^\([\w-]+\)=$|^## |\Z)", text, re.M | re.S)
    return found[1].strip() if found else ""


def of_exercises(exercises: tuple[Any, ...]) -> Slide:
    """Return the slide that lists the exercises with their times."""
    rows = [f"- `{e.name}`: {e.kind}, {e.minutes} minutes" for e in exercises]
    total = sum(exercise.minutes for exercise in exercises)
    return Slide(f"Exercises: {total} minutes", "\n".join(rows))


def slides_of(page: str, notebook: dict[str, Any], exercises: tuple[Any, ...]) -> list[Slide]:
    """Return the slides of a chapter.

    Args:
        page: the notebook's name, such as "01_attention".
        notebook: as it is stored.
        exercises: of the chapter, those of its package of checks.

    Returns:
        Slides, in the order of the page. The notes of the first are those for teachers; those of a figure are
        the text that follows it on the page.

    Raises:
        ValueError: if the page doesn't say which question it answers.
    """
    first = "".join(notebook["cells"][0]["source"])
    question = QUESTION.search(first)
    if not question:
        raise ValueError(f"{page} doesn't say which question it answers")
    name = first.splitlines()[0].removeprefix("# ")
    found = [Slide(name, question[1].capitalize(), notes=teachers_notes(page[:2]))]
    for title, cell, source in core(notebook):
        if cell["cell_type"] == "code":
            new = [slide for slide in [shown(page, title, cell)] if slide]
        else:
            if found[-1].image and not found[-1].notes:
                found[-1].notes = next(blocks(source)).body
            new = list(of_text(title, source))
        found += new
    return [*found, of_exercises(exercises)]
