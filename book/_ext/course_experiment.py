"""The `experiment` directive: the record of an experiment as two tables.

::

    ```{experiment} heads
    :name: experiment-heads
    ```

reads book/experiments/heads.json, which `make experiments` wrote, and shows how it was run
(command, settings, versions, processor, seconds, commit, and what the ledger says has changed since)
and its scores: mean ± standard deviation
over the seeds. Scores of several systems in several respects, {"respects": {"elision": {"model": 0.9, …}, …}},
become a table of their own: a row for each respect, a column for each system, the mean in each cell.
`:name:` is the target of links; give it in one place only. `:beside: other` adds to these tables the
systems of another record that has the same respects.
"""

from __future__ import annotations

import json
import math
import statistics
from pathlib import Path
from typing import Any, ClassVar

import yaml
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

FOLDER = Path("book") / "experiments"
KEYS = ("name", "command", "config", "seeds", "versions", "processor", "commit", "probes")
LEDGER = Path(__file__).resolve().parent.parent / "experiments" / "ledger.yml"


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
    names = [list(flatten(seed["scores"])) for seed in record["seeds"]]
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


def is_grid(group: Any) -> bool:
    """Whether a group of scores has the same systems in every respect.

    >>> is_grid({"elision": {"ours": 0.9, "theirs": 0.1}, "order": {"ours": 0.8, "theirs": 0.2}})
    True
    >>> is_grid({"elision": 0.9}), is_grid(0.9)
    (False, False)
    """
    if not isinstance(group, dict) or not all(isinstance(row, dict) for row in group.values()):
        return False
    return len({tuple(row) for row in group.values()}) == 1


def means(record: dict[str, Any], group: str) -> dict[str, dict[str, float]]:
    """Return the mean over the seeds for each respect and each system of a group of scores.

    >>> means({"seeds": [{"scores": {"kind": {"elision": {"ours": x}}}} for x in (0.5, 1.0)]}, "kind")
    {'elision': {'ours': 0.75}}
    """
    tables = [seed["scores"].get(group, {}) for seed in record["seeds"]]
    return {
        respect: {system: statistics.fmean(t[respect][system] for t in tables) for system in row}
        for respect, row in tables[0].items()
    }


def mean_and_deviation(values: list[float]) -> str:
    """Return mean ± sample standard deviation, the deviation with two significant digits.

    >>> mean_and_deviation([0.931, 0.944, 0.939]), mean_and_deviation([27.0, 27.0])
    ('0.9380 ± 0.0066', '27 ± 0')
    >>> mean_and_deviation([0.93125])
    '0.9313'
    >>> mean_and_deviation([297500, 297500]).replace("\N{NO-BREAK SPACE}", " ")  # numbers of weights
    '297 500 ± 0'
    >>> seconds = mean_and_deviation([14193.3]), mean_and_deviation([14193.3, 13765.0])
    >>> [shown.replace("\N{NO-BREAK SPACE}", " ") for shown in seconds]
    ['14 193', '13 979 ± 303']
    """
    mean = statistics.fmean(values)
    whole = mean.is_integer() or abs(mean) >= 1000
    shown = grouped(mean, 0) if whole else f"{mean:.4g}"
    if len(values) == 1:
        return shown
    deviation = statistics.stdev(values)
    if deviation == 0:
        return f"{shown} ± 0"
    decimals = max(0, 1 - math.floor(math.log10(deviation)))
    return f"{grouped(mean, decimals)} ± {grouped(deviation, decimals)}"


def grouped(number: float, decimals: int) -> str:
    """Return a number with a space between thousands."""
    return f"{number:,.{decimals}f}".replace(",", "\N{NO-BREAK SPACE}")


class ExperimentDirective(SphinxDirective):
    """Show the record of an experiment; see the module's docstring."""

    required_arguments = 1
    option_spec: ClassVar = {
        "name": directives.unchanged_required,
        "beside": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        """Build the two tables, or stop the build naming what is wrong with the record."""
        name = self.arguments[0]
        self.env.note_dependency(__file__)
        self.env.note_dependency(str(LEDGER))
        record = self._record(name)
        seeds = record["seeds"]
        scores = [seed["scores"] for seed in seeds]
        block = nodes.container(classes=["experiment"])
        run = make_table(f"How the experiment “{name}” was run", (), self._run(record))
        self.add_name(run)
        block += run
        over = f" over {len(seeds)} seeds" if len(seeds) > 1 else ""
        single = flatten({key: v for key, v in scores[0].items() if not is_grid(v)})
        if single:
            heading = "Mean ± standard deviation" if over else "One run"
            rows = [
                (key, [paragraph(mean_and_deviation([flatten(s)[key] for s in scores]))])
                for key in single
            ]
            block += make_table(f"Scores of “{name}”{over}", ("Score", heading), rows)
        beside = self.options.get("beside")
        for group in (key for key, value in scores[0].items() if is_grid(value)):
            grid, title = means(record, group), f"“{name}”"
            if beside:
                other = means(self._record(beside), group)
                if set(other) != set(grid):
                    raise self.error(f"experiment {name!r}: {group!r} differs in {beside!r}")
                grid = {respect: row | other[respect] for respect, row in grid.items()}
                title += f" beside “{beside}”"
            title += f": {group}" + (f", mean{over}" if over else "")
            rows = [
                (respect, [paragraph(f"{mean:.2f}") for mean in row.values()])
                for respect, row in grid.items()
            ]
            block += make_table(title, (group, *next(iter(grid.values()))), rows)
        return [block]

    def _record(self, name: str) -> dict[str, Any]:
        """Return a record, or stop the build naming what is wrong with it."""
        path = Path(self.env.srcdir) / FOLDER / f"{name}.json"
        self.env.note_dependency(str(path))
        try:
            return read_record(path)
        except ValueError as fault:
            raise self.error(f"experiment {name!r}: {fault}") from None

    def _run(self, record: dict[str, Any]) -> list[tuple[str, list[nodes.paragraph]]]:
        """Return the rows that say how the experiment was run."""
        seconds = mean_and_deviation([float(seed["seconds"]) for seed in record["seeds"]])
        seeds = ", ".join(str(seed["seed"]) for seed in record["seeds"])
        return [
            ("Command", [code(record["command"])]),
            ("Settings", [assignments(record["config"])]),
            ("Seeds", [paragraph(seeds)]),
            ("Seconds a seed", [paragraph(seconds)]),
            ("Processor", [paragraph(str(record["processor"]))]),
            ("Versions", [assignments(record["versions"])]),
            ("Measured at", [measured_at(record)]),
        ]


def ledger() -> list[dict[str, Any]]:
    """What was changed on purpose since records were made: entries with records, commit, reason."""
    return list(yaml.safe_load(LEDGER.read_text(encoding="utf-8")) or [])


def measured_at(record: dict[str, Any]) -> nodes.paragraph:
    """Return the commit of a record, and the reasons why the code behaves otherwise by now."""
    line = nodes.paragraph("", "commit ")
    line += nodes.literal(record["commit"], record["commit"])
    reasons = [e["reason"].strip() for e in ledger() if record["name"] in e["records"]]
    if len(record["probes"]) > 1:
        line += nodes.Text("; changed since: " + " ".join(reasons))
    else:
        line += nodes.Text("; the code behaves as it did then")
    return line


def paragraph(text: str) -> nodes.paragraph:
    """Return a paragraph of plain text."""
    return nodes.paragraph("", text)


def code(text: str) -> nodes.paragraph:
    """Return a paragraph of program text."""
    return nodes.paragraph("", "", nodes.literal(text, text))


def assignments(values: dict[str, Any]) -> nodes.paragraph:
    """Return settings as `key = value`, separated by commas."""
    line = nodes.paragraph()
    for index, (key, value) in enumerate(flatten(values).items()):
        text = f"{key} = {value}"
        line += [nodes.Text(", ")] * bool(index) + [nodes.literal(text, text)]
    return line


def make_table(
    title: str, head: tuple[str, ...], rows: list[tuple[str, list[nodes.paragraph]]]
) -> nodes.table:
    """Return a table with a title, the first column naming each row."""
    columns = len(rows[0][1])
    group = nodes.tgroup("", nodes.colspec(colwidth=25, stub=1), cols=1 + columns)
    group += [nodes.colspec(colwidth=75 // columns) for _ in range(columns)]
    if head:
        cells = [nodes.entry("", paragraph(text)) for text in head]
        group += nodes.thead("", nodes.row("", *cells))
    body = nodes.tbody()
    for name, values in rows:
        entries = [nodes.entry("", value) for value in values]
        body += nodes.row("", nodes.entry("", paragraph(name)), *entries)
    group += body
    classes = ["experiment-table"] + ["experiment-grid"] * (columns > 1)
    return nodes.table("", nodes.title("", title), group, classes=classes)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive with Sphinx."""
    app.add_directive("experiment", ExperimentDirective)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
