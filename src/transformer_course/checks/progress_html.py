"""A learner's progress for the eye: the book's map of the model, filled in, and a table that says the same."""

import re
from collections.abc import Iterable, Mapping
from html import escape
from importlib.resources import files

FILL = re.compile(
    r'(<rect class="map-fill" data-chapters="([\d ]+)" data-width="(\d+)" x="\d+" y="\d+" width=)"0"'
)
TICK = re.compile(r'(<g class="map-tick" data-chapters="(\d\d)") visibility="hidden"')
CAPTION = "caption-side:top;text-align:left;color:inherit;font-weight:700"
CELL = "padding:.15em .6em;text-align:left;border-bottom:1px solid rgba(128,128,128,.35)"


def filled_map(shares: Mapping[str, float]) -> str:
    """Return the map as SVG: each part filled by the mean share of its chapters, with a tick where one is done.

    Args:
        shares: number of a chapter → how much of it is done, 0 to 1.

    Returns:
        The SVG element.
    """

    def fill(found: re.Match[str]) -> str:
        chapters = found[2].split()
        mean = sum(shares.get(chapter, 0.0) for chapter in chapters) / len(chapters)
        return f'{found[1]}"{mean * int(found[3]):.0f}"'

    def tick(found: re.Match[str]) -> str:
        return found[1] if shares.get(found[2], 0.0) >= 1 else found[0]

    svg = files("transformer_course.checks").joinpath("transformer_map.svg").read_text("utf-8")
    svg = svg.replace("<svg ", '<svg style="width:20rem;max-width:100%;height:auto" ', 1)
    return TICK.sub(tick, FILL.sub(fill, svg))


def table(
    summary: str,
    rows: Iterable[tuple[str, int, int, str]],
    next_step: str,
    notebook: str,
    notes: Iterable[str],
) -> str:
    """Return the chapters in words, what comes next, and a link to its notebook.

    Args:
        summary: the table's caption.
        rows: for each chapter its title, how many exercises are solved, how many there are, and the time left.
        next_step: a sentence; the notebook's name in it becomes a link.
        notebook: the next one, beside the one that shows this; or "".
        notes: further sentences.

    Returns:
        A piece of HTML.
    """
    lines = "".join(
        f'<tr><th scope="row" style="{CELL};font-weight:400">{escape(title)}</th>'
        f'<td style="{CELL}">{"✓ " if solved == total else ""}{solved} of {total}</td>'
        f'<td style="{CELL}">{"" if solved == total else left}</td></tr>'
        for title, solved, total, left in rows
    )
    heads = "".join(
        f'<th scope="col" style="{CELL};font-weight:700">{head}</th>'
        for head in ("Chapter", "Solved", "Left")
    )
    link = f'<a href="{escape(notebook)}">{escape(notebook)}</a>'
    sentence = escape(next_step, quote=False)
    if notebook:
        sentence = sentence.replace(escape(notebook, quote=False), link)
    further = "".join(f"<p>{escape(note)}</p>" for note in notes)
    caption = f'<caption style="{CAPTION}">{escape(summary)}</caption>'
    return (
        f'<div><p><strong>{sentence}</strong></p>{further}<table style="border-collapse:collapse">'
        f"{caption}<thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table></div>"
    )
