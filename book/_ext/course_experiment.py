"""The `experiment` directive: the record of an experiment as two tables.

::

    ```{experiment} heads
    :name: experiment-heads
    ```

reads book/experiments/heads.json, which `make experiments` wrote, and shows how it was run
(command, settings, versions, processor, seconds, digest) and its scores: mean ± standard deviation
over the seeds. `:name:` is the target of links; give it in one place only.
"""

from __future__ import annotations

import json
import math
import statistics
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

FOLDER = Path("book") / "experiments"
KEYS = ("name", "command", "config", "seeds", "versions", "processor", "digest")


def read_record(path: Path) -> dict[str, Any]:
    """Read one record and check that nothing in it is missing.

    Raises:
        ValueError: the file is missing, is not JSON, lacks a key, or its seeds differ in scores.
    """
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(
            f"there is no record {FOLDER / path.name}: run `make experiments`"
        ) from None
    except json.JSONDecodeError as error:
        raise ValueError(f"{FOLDER / path.name}, line {error.lineno}: {error.msg}") from None
    missing = [key for key in KEYS if key not in record]
    if missing:
        raise ValueError(f"{FOLDER / path.name} lacks {', '.join(missing)}")
    if not record["seeds"]:
        raise ValueError(f"{FOLDER / path.name} has no seeds")
    names = [sorted(flatten(seed["scores"])) for seed in record["seeds"]]
    if any(other != names[0] for other in names):
        raise ValueError(f"{FOLDER / path.name}: not every seed has the same scores")
    return dict(record)


def flatten(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested settings or scores as one level.

    >>> flatten({"bleu": 91.2, "exact match": {"elision": 0.98}})
    {'bleu': 91.2, 'exact match: elision': 0.98}
    """
    flat: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, dict):
            flat |= flatten(value, f"{prefix}{key}: ")
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def mean_and_deviation(values: list[float]) -> str:
    """Return mean ± sample standard deviation, the deviation with two significant digits.

    >>> mean_and_deviation([0.931, 0.944, 0.939]), mean_and_deviation([27.0, 27.0])
    ('0.9380 ± 0.0066', '27 ± 0')
    >>> mean_and_deviation([0.93125])
    '0.9313'
    """
    mean = statistics.fmean(values)
    if len(values) == 1:
        return f"{mean:.4g}"
    deviation = statistics.stdev(values)
    if deviation == 0:
        return f"{mean:.4g} ± 0"
    decimals = max(0, 1 - math.floor(math.log10(deviation)))
    return f"{mean:.{decimals}f} ± {deviation:.{decimals}f}"


class ExperimentDirective(SphinxDirective):
    """Show the record of an experiment; see the module's docstring."""

    required_arguments = 1
    option_spec: ClassVar = {"name": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        """Build the two tables, or stop the build naming what is wrong with the record."""
        name = self.arguments[0]
        path = Path(self.env.srcdir) / FOLDER / f"{name}.json"
        self.env.note_dependency(str(path))
        try:
            record = read_record(path)
        except ValueError as fault:
            raise self.error(f"experiment {name!r}: {fault}") from None
        seeds = record["seeds"]
        block = nodes.container(classes=["experiment"])
        run = make_table(f"How the experiment “{name}” was run", None, self._run(record))
        self.add_name(run)
        heading = "Mean ± standard deviation" if len(seeds) > 1 else "One run"
        title = (
            f"Scores of “{name}” over {len(seeds)} seeds"
            if len(seeds) > 1
            else f"Scores of “{name}”"
        )
        scores = [
            (
                key,
                nodes.paragraph("", mean_and_deviation([flatten(s["scores"])[key] for s in seeds])),
            )
            for key in flatten(seeds[0]["scores"])
        ]
        block += run
        block += make_table(title, ("Score", heading), scores)
        return [block]

    def _run(self, record: dict[str, Any]) -> list[tuple[str, nodes.Element]]:
        """Return the rows that say how the experiment was run."""
        seconds = mean_and_deviation([float(seed["seconds"]) for seed in record["seeds"]])
        seeds = ", ".join(str(seed["seed"]) for seed in record["seeds"])
        return [
            ("Command", code(record["command"])),
            ("Settings", assignments(record["config"])),
            ("Seeds", nodes.paragraph("", seeds)),
            ("Seconds a seed", nodes.paragraph("", seconds)),
            ("Processor", nodes.paragraph("", str(record["processor"]))),
            ("Versions", assignments(record["versions"])),
            ("Digest", code(str(record["digest"])[:16])),
        ]


def code(text: str) -> nodes.paragraph:
    """Return a paragraph of program text."""
    return nodes.paragraph("", "", nodes.literal(text, text))


def assignments(values: dict[str, Any]) -> nodes.paragraph:
    """Return settings as `key = value`, separated by commas."""
    paragraph = nodes.paragraph()
    for index, (key, value) in enumerate(flatten(values).items()):
        text = f"{key} = {value}"
        paragraph += [nodes.Text(", ")] * bool(index) + [nodes.literal(text, text)]
    return paragraph


def make_table(
    title: str, head: tuple[str, str] | None, rows: list[tuple[str, nodes.Element]]
) -> nodes.table:
    """Return a table of two columns with a title, the first column naming each row."""
    group = nodes.tgroup("", nodes.colspec(colwidth=25, stub=1), nodes.colspec(colwidth=75), cols=2)
    if head:
        cells = [nodes.entry("", nodes.paragraph("", text)) for text in head]
        group += nodes.thead("", nodes.row("", *cells))
    body = nodes.tbody()
    for name, value in rows:
        body += nodes.row("", nodes.entry("", nodes.paragraph("", name)), nodes.entry("", value))
    group += body
    return nodes.table("", nodes.title("", title), group, classes=["experiment-table"])


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive with Sphinx."""
    app.add_directive("experiment", ExperimentDirective)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
