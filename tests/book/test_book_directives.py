"""What the book adds to Sphinx: quizzes, records, and formulas kept with their punctuation."""

from __future__ import annotations

import io
import json
import re
import sys
from html import unescape
from pathlib import Path
from typing import Any

import nbformat
import pytest
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import docutils_namespace, patch_docutils
from typer.testing import CliRunner

from transformer_course.cli import app

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "book" / "_ext"))

from course_experiment import mean_and_deviation, read_record  # noqa: E402
from quiz_yaml import QuizError, parse_quiz  # noqa: E402

PROGRAM = "transformer-course"
QUIZ = """\
- question: What do the weights $w_i$ sum to?
  choices:
    - text: 1
      correct: true
      why: Softmax divides by the sum.
    - text: "$n$"
      why: That is the sum of `n` ones.
"""
RECORD: dict[str, Any] = {
    "name": "heads",
    "command": "python experiments/heads.py",
    "config": {"preset": "tiny", "optimiser": {"rate": 0.001}},
    "seeds": [
        {"seed": seed, "curves": {}, "scores": {"bleu": bleu, "by": {"elision": 1.0}}, "seconds": 9}
        for seed, bleu in enumerate([90.0, 92.0, 94.0])
    ],
    "versions": {"torch": "2.13.0"},
    "processor": "two cores",
    "commit": "0123abc",
    "probes": [{"commit": "0123abc", "values": {}}],
}


def build(folder: Path, pages: dict[str, str], *further: str) -> tuple[str, str]:
    """Build pages with Sphinx, and with `further` extensions.

    Returns the HTML of `index` and everything Sphinx complained about.
    """
    for name, text in pages.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    complaints = io.StringIO()
    with patch_docutils(folder), docutils_namespace():
        app = Sphinx(
            folder,
            confdir=None,
            outdir=folder / "_build",
            doctreedir=folder / "_trees",
            buildername="html",
            confoverrides={
                "extensions": [
                    *("myst_nb", "course_quiz", "course_experiment", "course_formulas"),
                    *further,
                ],
                "myst_enable_extensions": ["dollarmath"],
                "nb_execution_mode": "off",
                "exclude_patterns": ["_build"],
            },
            status=None,
            warning=complaints,
        )
        app.build()
    html = folder / "_build" / "index.html"
    return html.read_text(encoding="utf-8") if html.exists() else "", complaints.getvalue()


def page(quiz: str) -> dict[str, str]:
    """Return a page whose quiz starts in line 4."""
    return {"index.md": f"# Title\n\n```{{quiz}}\n{quiz}```\n"}


def test_quiz_becomes_native_form_controls(tmp_path: Path) -> None:
    """A question is a form with legend, labelled radio buttons, explanations and a button."""
    html, complaints = build(tmp_path, page(QUIZ))
    assert complaints == ""
    assert html.count('<form class="quiz-question"><fieldset>') == 1
    assert html.count('<input type="radio"') == 2
    assert '<label for="quiz-0-0">1</label>' in " ".join(html.split()).replace("> ", ">")
    assert 'aria-label="n"' in html  # a formula alone would leave the control without a name
    assert '<div class="quiz-choice" data-correct="true"><input type="radio" id="quiz-0-0"' in html
    assert '<div class="quiz-choice" data-correct="false"><input type="radio" id="quiz-0-1"' in html
    assert html.count('class="math notranslate nohighlight"') == 2
    assert "<strong>Right.</strong>" in html
    assert "<strong>Wrong.</strong>" in html
    assert '<button type="submit" class="quiz-check">Check</button>' in html


def test_the_digits_of_a_number_stay_on_one_line(tmp_path: Path) -> None:
    """The space between thousands doesn't break in text; code stays as it was written."""
    html, _ = build(
        tmp_path, {"index.md": "# T\n\nFor 100 000 of 12 345 words, not `1 000`, 7 people.\n"}
    )
    assert "For 100\N{NO-BREAK SPACE}000 of 12\N{NO-BREAK SPACE}345 words" in html
    assert '<span class="pre">1</span> <span class="pre">000</span>' in html


def test_several_right_choices_make_check_boxes(tmp_path: Path) -> None:
    """More than one right choice: check boxes, and the reader is told so."""
    html, _ = build(tmp_path, page(QUIZ + "    - {text: one, correct: true, why: The same.}\n"))
    assert html.count('<input type="checkbox"') == 3
    assert "choose all that are right" in html


def test_quiz_from_a_file(tmp_path: Path) -> None:
    """The questions may stand in a file beside the page."""
    pages = {"index.md": "# Title\n\n```{quiz} q.yml\n```\n", "q.yml": QUIZ}
    html, complaints = build(tmp_path, pages)
    assert complaints == ""
    assert html.count("quiz-choice") == 2


def test_two_quizzes_have_different_ids(tmp_path: Path) -> None:
    """Choices of different questions never share a name: they would exclude each other."""
    html, _ = build(
        tmp_path, {"index.md": f"# T\n\n```{{quiz}}\n{QUIZ}{QUIZ}```\n\n```{{quiz}}\n{QUIZ}```\n"}
    )
    assert all(html.count(f'id="quiz-{n}-0"') == 1 for n in range(3))


@pytest.mark.parametrize(
    ("quiz", "line", "words"),
    [
        ("- question: a: b\n", 4, "not valid YAML"),
        ("- question: a\n  choices: [\n", 5, "not valid YAML"),
        ("", 4, "the quiz is empty"),
        ("- just text\n", 4, "`choices`, `question`"),
        ("- question: a\n", 4, "lacks `choices`"),
        ("- question: a\n  choices: b\n", 5, "two or more"),
        (QUIZ.replace("      correct: true\n", ""), 4, "no choice has"),
        (QUIZ.replace("correct: true", "correct: perhaps"), 6, "true or false, not 'perhaps'"),
        (QUIZ.replace("      why: Softmax divides by the sum.\n", ""), 6, "lacks `why`"),
        (QUIZ.replace("why: Softmax", "because: Softmax"), 6, "lacks `why`"),
        (QUIZ + "      hint: no\n", 9, "unknown key `hint`"),
        (QUIZ + "      why: again\n", 11, "'why' twice"),
        (QUIZ.replace("text: 1", "text: [1]"), 6, "put it in quotes"),
        (QUIZ.replace('"$n$"', '""'), 9, "text is empty"),
        (QUIZ.replace('"$n$"', "1"), 4, "same text"),
    ],
)
def test_bad_yaml_names_file_and_line(tmp_path: Path, quiz: str, line: int, words: str) -> None:
    """Every fault in a quiz is an error of the build that says where it is."""
    with pytest.raises(QuizError, match=words.replace("(", r"\(")) as fault:
        parse_quiz(quiz.rstrip())
    assert fault.value.line == line - 3
    _, complaints = build(tmp_path, page(quiz))
    if quiz:  # an empty directive is reported by its own line
        assert f"index.md, line {line}: quiz: " in complaints
    assert "ERROR" in complaints
    assert words in complaints


def test_bad_yaml_in_a_notebook_names_the_cell(tmp_path: Path) -> None:
    """In a notebook the error names cell and line."""
    notebook = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_markdown_cell("# Title"),
            nbformat.v4.new_markdown_cell("Text.\n\n```{quiz}\n- question: a\n```"),
        ]
    )
    _, complaints = build(tmp_path, {"index.ipynb": nbformat.writes(notebook)})
    assert "index.ipynb, cell 2, line 4: quiz: a question lacks `choices`" in complaints


def test_missing_quiz_file_is_an_error(tmp_path: Path) -> None:
    """A quiz file that does not exist stops the build by name."""
    _, complaints = build(tmp_path, {"index.md": "# T\n\n```{quiz} none.yml\n```\n"})
    assert "there is no file none.yml" in complaints


def test_scalars_stay_as_they_are_written() -> None:
    """YAML's own ideas of numbers and truth don't change what the reader sees."""
    quiz = parse_quiz(QUIZ.replace("text: 1", "text: 4.10").replace('"$n$"', "yes"))
    assert [choice.text for choice in quiz[0].choices] == ["4.10", "yes"]


def test_experiment_shows_how_it_was_run_and_its_scores(tmp_path: Path) -> None:
    """The record becomes two tables with everything needed to repeat the run."""
    pages = {
        "index.md": "# T\n\n```{experiment} heads\n```\n",
        "book/experiments/heads.json": json.dumps(RECORD),
    }
    html, complaints = build(tmp_path, pages)
    assert complaints == ""
    text = html.replace('</span> <span class="pre">', " ")
    for shown in [
        "python experiments/heads.py",
        "optimiser: rate = 0.001",
        "0, 1, 2",
        "two cores",
        "torch = 2.13.0",
        "92.0 ± 2.0",
        "by: elision",
        "1 ± 0",
        "0123abc",
        "; the code behaves as it did then",
    ]:
        assert shown in text, shown


def test_scores_of_several_systems_become_a_table_of_their_own(tmp_path: Path) -> None:
    """A row for each respect, a column for each system, the mean over the seeds in each cell."""
    pages = {
        "index.md": "# T\n\n```{experiment} heads\n```\n",
        "book/experiments/heads.json": with_kinds([0.5, 0.9], "AB"),
    }
    html, complaints = build(tmp_path, pages)
    assert complaints == ""
    table = html[html.index("by kind, mean over 2 seeds") :]
    cells = re.findall(r"<p>(.*?)</p>", table)
    assert cells[:9] == ["by kind", "A", "B", "elision", "0.70", "0.10", "order", "1.00", "0.00"]
    assert "by kind: elision" not in html


def with_kinds(shares: list[float], systems: str, order: str = "order") -> str:
    """A record: the first of two systems has these shares for elision, one a seed."""
    first, second = systems
    seeds = [
        {
            "seed": seed,
            "curves": {},
            "seconds": 9,
            "scores": {
                "bleu": 1,
                "by kind": {"elision": {first: share, second: 0.1}, order: {first: 1, second: 0}},
            },
        }
        for seed, share in enumerate(shares)
    ]
    return json.dumps(RECORD | {"seeds": seeds})


def test_systems_of_another_record_stand_beside(tmp_path: Path) -> None:
    """`:beside:` adds the columns of another record, or says that its respects are others."""
    pages = {
        "index.md": "# T\n\n```{experiment} heads\n:beside: tails\n```\n",
        "book/experiments/heads.json": with_kinds([0.5, 0.9], "AB"),
        "book/experiments/tails.json": with_kinds([0.2], "CD"),
    }
    html, complaints = build(tmp_path / "same", pages)
    assert complaints == ""
    table = html[html.index("“heads” beside “tails”: by kind") :]
    cells = re.findall(r"<p>(.*?)</p>", table)
    assert cells[:5] == ["by kind", "A", "B", "C", "D"]
    assert cells[5:10] == ["elision", "0.70", "0.10", "0.20", "0.10"]

    pages["book/experiments/tails.json"] = with_kinds([0.2], "CD", "number")
    _, complaints = build(tmp_path / "other", pages)
    assert "experiment 'heads': 'by kind' differs in 'tails'" in complaints


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (None, "there is no record book/experiments/heads.json: run `make experiments`"),
        ("{", "line 1"),
        (json.dumps({key: value for key, value in RECORD.items() if key != "commit"}), "commit"),
        (json.dumps(RECORD | {"seeds": []}), "no seeds"),
        (json.dumps(RECORD | {"seeds": [RECORD["seeds"][0], {"scores": {}}]}), "same scores"),
    ],
)
def test_bad_record_stops_the_build(tmp_path: Path, record: str | None, words: str) -> None:
    """A missing, broken or incomplete record is an error of the build that names it."""
    pages = {"index.md": "# T\n\n```{experiment} heads\n```\n"}
    if record is not None:
        pages["book/experiments/heads.json"] = record
    _, complaints = build(tmp_path, pages)
    assert "ERROR" in complaints
    assert words in complaints
    with pytest.raises(ValueError, match="heads"):
        read_record(tmp_path / "book" / "experiments" / "heads.json")


def test_deviation_is_that_of_a_sample() -> None:
    """Seeds are a sample: n − 1 in the denominator; two significant digits of the deviation."""
    assert mean_and_deviation([1.0, 2.0, 3.0]) == "2.0 ± 1.0"
    assert mean_and_deviation([0.5, 0.25]) == "0.38 ± 0.18"
    assert mean_and_deviation([1234.0, 1834.0]) == "1\N{NO-BREAK SPACE}534 ± 424"


def test_a_formula_stays_with_what_touches_it(tmp_path: Path) -> None:
    """Bracket, full stop and the rest of a word share a span with the formula; free formulas have none."""
    docstring = "```{eval-rst}\nThe line ends\n:math:`e`\nhere, or (:math:`f`).\n```"
    text = "One ($a$), an $n$-gram, *with $b$.* Then\n$c$ and $d$"
    html, complaints = build(tmp_path, {"index.md": f"# Title\n\n{text}\n\n{docstring}\n"})
    assert complaints == ""
    spans = re.findall(r'<span class="together">(.*?)</span>(.*?)</span>', html)
    inner = [re.sub(r"<.*?>", "", before) + after for before, after in spans]
    assert inner == [r"(\(a\)),", r"\(n\)-gram,", r"\(b\).", r"(\(f\))."]
    read = " ".join(re.sub(r"<.*?>", "", html).split())
    assert r"One (\(a\)), an \(n\)-gram, with \(b\). Then \(c\) and \(d\)" in read
    assert r"The line ends \(e\) here, or (\(f\))." in read


def test_a_section_that_goes_deeper_is_folded_with_all_below_its_heading(tmp_path: Path) -> None:
    """Up to the next heading of its level; other sections are left alone."""
    text = """# Title

## First

one

### Going deeper: more (1 minute)

```{dropdown} Read on
two
```

#### Inside

three

```{dropdown} Read on
and **more**
```

## Second

four, not Going deeper: here
"""
    html, complaints = build(tmp_path, {"index.md": text}, "sphinx_design", "course_deeper")
    assert complaints == ""
    assert html.count('<details class="deeper">') == html.count("</details>") == 1
    before, rest = html.split('<details class="deeper">')
    inside, after = rest.split("</details>")
    assert re.match(r"<summary>\s*<h3>Going deeper: more \(1 minute\).*?</h3>\s*</summary>", inside)
    assert [word in inside for word in ("one", "<p>two", "Inside", "<p>three", "four")] == [
        False,
        True,
        True,
        True,
        False,
    ]
    assert "<p>and <strong>more" in inside, (
        "the text of a dropdown stands in the section's own fold"
    )
    assert "Read on" not in html
    assert "<p>one" in before
    assert "<p>four" in after


def test_commands_show_their_usage_and_the_help_of_each_option(tmp_path: Path) -> None:
    """The page says of the options what `--help` says, word for word."""
    page = "# T\n\n```{eval-rst}\n.. automodule:: transformer_course.cli\n   :members:\n```\n"
    extensions = ("sphinx.ext.autodoc", "sphinx.ext.napoleon", "course_docstrings")
    html, complaints = build(tmp_path, {"index.md": page}, *extensions)
    assert complaints == ""
    assert "Annotated" not in html
    commands = {"train": 26, "translate": 8, "evaluate": 8, "check_notebooks": 3}
    commands |= {"score": 5, "attention": 5, "show_progress": 1}
    commands |= {"info": 2, "export_translator": 4, "serve_translator": 4}
    commands |= {"prepare_data": 7}
    assert html.count('<dt class="sig sig-object py"') == len(commands)
    for function, least in commands.items():
        name = re.sub("^show_|_(notebooks|translator|data)$", "", function)
        entry = html.split(f'id="transformer_course.cli.{function}"')[1].split('"sig sig-object')[0]
        shown = unescape(re.sub(r"<[^>]+>", "", entry))
        shown = " ".join(shown.replace("…", "...").replace("’", "'").split())
        told = CliRunner().invoke(app, [name, "--help"], terminal_width=200, prog_name=PROGRAM)
        lines = [line.strip() for line in told.output.splitlines()]
        usage = next(line for line in lines if line.startswith("Usage: "))
        assert usage in shown
        rows = [re.split(r" {2,}", line, maxsplit=1) for line in lines]
        rows = [row for row in rows if len(row) == 2 and row[0] != "--help"]
        assert len(rows) >= least
        for written, meaning in rows:
            assert f"{written} – {' '.join(meaning.split())}" in shown


MAP = """\
```{figure} map.svg
:name: the-map
:class: fills-in
:width: 9px
:alt: A "map" & more

Words.
```
"""


def test_a_map_that_fills_in_stands_in_the_page(tmp_path: Path) -> None:
    """As SVG, with the alt text as its name, its number and its words; other pictures stay files."""
    svg = '<svg role="img"><rect class="map-fill"/></svg>'
    pages = {"index.md": f"# Title\n\n{MAP}\n![b](other.svg)\n", "map.svg": svg, "other.svg": svg}
    html, complaints = build(tmp_path, pages, "course_progress")
    assert complaints == ""
    assert (
        '<svg id="progress-map" style="width:9px" aria-label="A &quot;map&quot; &amp; more" '
        'role="img"><rect class="map-fill"/></svg>'
    ) in html
    assert html.count("<img") == html.count("other.svg") == 1
    assert 'id="the-map"' in html


def test_a_picture_with_nothing_to_fill_in_is_an_error(tmp_path: Path) -> None:
    pages = {"index.md": f"# Title\n\n{MAP}", "map.svg": "<svg></svg>"}
    with pytest.raises(ExtensionError, match=r"map\.svg has nothing to fill in"):
        build(tmp_path, pages, "course_progress")
