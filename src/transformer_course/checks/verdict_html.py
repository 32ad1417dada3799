"""A verdict as HTML: sign and word, the sentences, and the numbers expected and got, side by side.

All styles stand in the elements: JupyterLab takes style sheets out of notebooks it doesn't trust. Colours let
the page's own shine through, light or dark, and nothing is told by colour alone.
"""

import re
from html import escape

import numpy as np

from transformer_course.checks.comparing import Array, number
from transformer_course.checks.differing import Difference
from transformer_course.checks.report import Report

UNSEEN = (
    "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap"
)
# Sign, words, colour of the plate: white on it has a contrast above 5.
SIGNS = {
    "right": ("✓", "Passed", "#00664b"),
    "not yet right": ("✗", "Not yet right", "#a34700"),
    "not attempted": ("○", "Not attempted yet", "#4a5560"),
}
POSITIVE, NEGATIVE = "86,180,233", "230,159,0"  # Okabe and Ito's sky blue and orange
STRONGEST = 0.45  # how much of its colour the largest number has: text stays readable on it
BOX = (
    "font-family:var(--jp-content-font-family,sans-serif);line-height:1.5;max-width:46rem;"
    "border:1px solid rgba(128,128,128,.45);border-left:5px solid {colour};border-radius:6px;"
    "padding:.6em .9em"
)
PAIR = "display:flex;flex-wrap:wrap;align-items:flex-start;gap:.6em 1.4em;margin-top:.6em;overflow-x:auto"
TABLE = "border-collapse:separate;border-spacing:2px;margin:0;font-size:.92em"
CELL = (
    "padding:.2em .5em;text-align:right;min-width:3.4em;border:2px solid transparent;"
    "font-variant-numeric:tabular-nums;white-space:nowrap"
)
FRAME = "border:2px solid currentColor;font-weight:700"
HEAD = "padding:.1em .4em;font-weight:400;text-align:{side};opacity:.85"
CAPTION = "caption-side:top;text-align:left;padding:0 0 .2em;color:inherit;white-space:nowrap"


def verdict_html(name: str, report: Report, seconds: float) -> str:
    """Return a verdict as a piece of HTML.

    Args:
        name: the exercise's name.
        report: the verdict.
        seconds: how long the check took.

    Returns:
        One `<section>`, complete in itself.
    """
    sign, words, colour = SIGNS[report.verdict]
    plate = (
        f'<span style="background:{colour};color:#fff;border-radius:4px;padding:.1em .55em;'
        f'font-weight:700"><span aria-hidden="true">{sign}</span> {words}</span>'
    )
    took = f'<span style="opacity:.85">checked in {seconds:.2f} s</span>'
    head = f'<p style="margin:0">{plate} <code>{escape(name)}</code> {took}</p>'
    told = "".join(_paragraphs(_without_head(name, report.message)))
    tables = ""
    if found := report.difference:
        said = found.place in report.message
        told += "" if said else "".join(_paragraphs(f"{found.sentence()} Case: {report.case}."))
        tables = _tables(found)
    style = BOX.format(colour=colour)
    label = f"Verdict on {name}: {words}"
    return f'<section aria-label="{escape(label)}" style="{style}">{head}{told}{tables}</section>'


def _without_head(name: str, message: str) -> str:
    """Return the message without the words that the plate shows."""
    head = rf"(Passed: {re.escape(name)}\.|{re.escape(name)}(\. Not yet right|: not attempted yet))[:.]?\s*"
    rest = re.sub(rf"\A{head}", "", message)
    return rest[:1].upper() + rest[1:]


def _paragraphs(text: str) -> list[str]:
    """Return the lines of a message as paragraphs; indented ones, the inputs of a case, stay as they are."""
    found: list[str] = []
    for line in text.splitlines():
        if line.startswith(" "):
            if found and found[-1].endswith("</pre>"):
                found[-1] = found[-1].removesuffix("</pre>") + f"\n{escape(line[2:])}</pre>"
            else:
                found.append(
                    f'<pre tabindex="0" style="margin:.2em 0;overflow-x:auto">{escape(line[2:])}</pre>'
                )
            continue
        marked = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(line, quote=False))
        marked = re.sub(r"\AHint:", "<strong>Hint:</strong>", marked)
        found.append(f'<p style="margin:.5em 0 0">{marked}</p>')
    return found


def _tables(found: Difference) -> str:
    """Return the cells around the first difference, as expected and as they came, side by side."""
    pair = ((found.expected, "Expected"), (found.actual, "Yours"))
    tables = "".join(_table(found, array, words, array is found.actual) for array, words in pair)
    return (
        '<div tabindex="0" role="group" aria-label="Expected and yours" '
        f'style="{PAIR}">{tables}</div>'
    )


def _table(found: Difference, array: Array, words: str, own: bool) -> str:
    """Return one heat map as a table with a caption and headers."""
    cells, wrong = found.slice_of(array), found.slice_of(found.wrong)
    largest = float(np.max(np.abs(np.asarray(found.slice_of(found.expected), float)), initial=0.0))
    rows, columns = found.window()
    heads = "".join(
        f'<th scope="col" style="{HEAD.format(side="right")}">{c}</th>' for c in columns
    )
    lines = [f'<tr><td style="padding:0"></td>{heads}</tr>']
    for r in rows:
        line = f'<th scope="row" style="{HEAD.format(side="left")}">{r}</th>'
        for c in columns:
            tone = _tone(cells[r, c], largest)
            line += _cell(cells[r, c], tone, bool(wrong[r, c]) and own, (r, c) == found.first)
        lines.append(f"<tr>{line}</tr>")
    caption = f"<strong>{words}</strong>: <code>{escape(_name(found))}</code>{_part(found)}"
    return (
        f'<table style="{TABLE}"><caption style="{CAPTION}">{caption}</caption>'
        f"<tbody>{''.join(lines)}</tbody></table>"
    )


def _cell(value: Array, tone: str, differs: bool, first: bool) -> str:
    """Return one number on its colour; what differs has a sign, and the first of all a frame."""
    style = f"{CELL};background:{tone}" + (f";{FRAME}" if first else "")
    said = "first difference" if first else "differs" if differs else ""
    sign = '<span aria-hidden="true">≠ </span>' if differs else ""
    unseen = f'<span style="{UNSEEN}"> {said}</span>' if said else ""
    return f'<td style="position:relative;{style}">{sign}{_written(value)}{unseen}</td>'


def _written(value: Array) -> str:
    if np.isnan(value):
        return "NaN"
    return number(value).replace("-", "−")


def _tone(value: Array, largest: float) -> str:
    """Return the colour of a number: the stronger the larger, on the scale of what was expected."""
    if not np.isfinite(value) or not largest:
        return "transparent"
    share = min(1.0, abs(float(value)) / largest)
    colour = POSITIVE if value >= 0 else NEGATIVE
    return f"rgba({colour},{STRONGEST * share:.2f})"


def _name(found: Difference) -> str:
    """Name the two axes that the table shows."""
    outer = found.index[:-2]
    return f"{found.name}[{', '.join(map(str, outer))}]" if outer else found.name


def _part(found: Difference) -> str:
    """Say which part is shown, where it isn't all."""
    said = [
        f"{what} {part.start} to {part.stop - 1} of {size}"
        for what, part, size in zip(("rows", "columns"), found.window(), found.sizes, strict=True)
        if len(part) < size
    ]
    return f" ({', '.join(said)})" if said else ""
