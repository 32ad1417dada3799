"""Exercise notebooks and their checks say the same, and the learner's notebook is made from the solution."""

import ast
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from plain_markdown import leftovers

from tools import make_exercises
from transformer_course.checks.discovery import exercises_by_chapter
from transformer_course.checks.exercise import Exercise

ROOT = Path(__file__).resolve().parents[2]
SOLUTIONS = sorted((ROOT / "exercises/solutions").glob("*.ipynb"))


def learners(solution: Path) -> Path:
    """Return the learner's notebook of a solution."""
    return ROOT / "exercises" / make_exercises.learners_name(solution)


def stem_of(solution: Path) -> str:
    """Return the stem of the chapter."""
    return learners(solution).stem[3:]


EXERCISES = [
    (path, exercise)
    for path in SOLUTIONS
    for exercise in exercises_by_chapter().get(stem_of(path), ())
]
BOTH = [path for solution in SOLUTIONS for path in (solution, learners(solution))]
every_exercise = pytest.mark.parametrize(
    ("path", "exercise"), EXERCISES, ids=lambda x: getattr(x, "name", None)
)


def cells(path: Path) -> list[Any]:
    return nbformat.read(path, as_version=4).cells


def place(found: list[Any], start: str) -> int:
    """Return where the only cell stands that begins so."""
    places = [i for i, cell in enumerate(found) if cell.source.startswith(start)]
    assert len(places) == 1, f"{len(places)} cells begin with {start!r}"
    return places[0]


def test_every_chapter_of_checks_has_a_notebook() -> None:
    assert {stem_of(path) for path in SOLUTIONS} == set(exercises_by_chapter())


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: path.stem)
def test_the_learners_notebook_is_up_to_date(path: Path) -> None:
    made = make_exercises.learner_notebook(nbformat.read(path, as_version=4), path.name)
    stored = learners(path).read_text(encoding="utf-8")
    assert nbformat.writes(made) + "\n" == stored, "make exercises"


@every_exercise
def test_the_notebook_says_what_the_exercise_declares(path: Path, exercise: Exercise) -> None:
    found = cells(path)
    at = place(found, f"def {exercise.name}(")
    text = "\n".join(cell.source for cell in found[max(at - 3, 0) : at])
    level = f"difficulty {exercise.difficulty} of 3, about {exercise.minutes} minutes.*"
    assert f"*{exercise.kind.capitalize()}, {level}" in text
    assert f"\n\n**Task.** {exercise.statement}\n" in f"{text}\n"


@every_exercise
def test_stub_check_hint_and_link_follow_each_other(path: Path, exercise: Exercise) -> None:
    found = cells(learners(path))
    at = place(found, f"def {exercise.name}(")
    assert found[at].source.rstrip().endswith("    raise NotImplementedError")
    assert found[at + 1].source == f"report = check.{exercise.name}({exercise.name})"
    hint = next(cell for cell in found[at + 2 :] if "hint" in cell.metadata.get("tags", []))
    assert hint.source.startswith("<details><summary><b>Hint</b> (press to open)</summary>\n\n")
    assert "\n\n</details>\n\n[Solution](" in hint.source
    assert "$" not in hint.source.split("</details>")[0]  # JupyterLab sets no formulas in there
    assert hint.source.endswith(f"(solutions/{path.name}#cell-id={found[at].id})")
    [solved] = [cell for cell in cells(path) if cell.id == found[at].id]
    assert f"def {exercise.name}(" in solved.source
    assert "### BEGIN SOLUTION" in solved.source


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: path.stem)
def test_exercises_stand_in_the_order_of_the_package(path: Path) -> None:
    found, chapter = cells(path), exercises_by_chapter()[stem_of(path)]
    places = [place(found, f"def {exercise.name}(") for exercise in chapter]
    assert places == sorted(places)
    assert 5 <= len(chapter) <= 8
    assert len({exercise.kind for exercise in chapter}) >= 3


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: path.stem)
def test_exercises_are_numbered_as_figures_are(path: Path) -> None:
    """Exercise 3.2 is the second of chapter 03, in its heading and where another text names it."""
    text = "\n".join(cell.source for cell in cells(path) if cell.cell_type == "markdown")
    chapter = int(path.stem[:2])
    numbers = re.findall(r"^## Exercise (\S+): ", text, re.M)
    count = len(exercises_by_chapter()[stem_of(path)])
    assert numbers == [f"{chapter}.{i}" for i in range(1, count + 1)]
    assert not re.search(r"\bexercises? \d+(?!\.?\d)", text)


@pytest.mark.parametrize("path", BOTH, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_an_exercise_needs_no_extension(path: Path) -> None:
    """Plain Markdown, which VS Code and Colab show as JupyterLab does: no directive, role or label of MyST."""
    texts = {cell.id: cell.source for cell in cells(path) if cell.cell_type == "markdown"}
    assert {ident: left for ident, text in texts.items() if (left := leftovers(text))} == {}


@pytest.mark.parametrize(
    "text",
    [
        "```{exercise} A\nDo it.\n```",
        ":::{hint}\nThink.\n:::",
        "See {term}`keys <key>`.",
        "See {eq}`eq-a`, and more.",
        "(a-label)=\n## A",
        "> ```{math}\n> x\n> ```",
        "<details><summary>A</summary>\nnot **bold** there: the line before must be empty\n</details>",
        "<details><summary>A</summary>\nno [link](b.md) either\n</details>",
    ],
)
def test_what_needs_an_extension_is_seen(text: str) -> None:
    assert leftovers(text) != []
    assert leftovers("## A\n\n*b* `{c}` **d** [e](f.md): $x_{i} * y$ is 5 %.\n\n- `a[0](b)`") == []


@pytest.mark.parametrize("path", BOTH, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_links_lead_to_files(path: Path) -> None:
    for cell in cells(path):
        for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", cell.source):
            assert link.startswith("http") or (path.parent / link).exists(), link


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: path.stem)
@pytest.mark.parametrize("installed", ["0.0.9", "0.10", None])
def test_the_first_cell_says_how_to_mend_a_wrong_package(
    path: Path, installed: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    import importlib.metadata as metadata

    def version(name: str) -> str:
        if installed is None:
            raise metadata.PackageNotFoundError
        return installed

    first = next(cell.source for cell in cells(path) if cell.cell_type == "code")
    exec(compile(ast.parse(first), str(path), "exec"), {})
    monkeypatch.setattr(metadata, "version", version)
    with pytest.raises(RuntimeError, match=f"installed: {installed or 'none'}.*`make lab`"):
        exec(compile(ast.parse(first), str(path), "exec"), {})


def solution(*sources: str, tags: tuple[str, ...] = ()) -> Any:
    made = [nbformat.v4.new_markdown_cell("## Exercise 1: To be, or not")]
    made += [nbformat.v4.new_code_cell(source, execution_count=1) for source in sources]
    made[-1].metadata["tags"] = list(tags)
    return nbformat.v4.new_notebook(cells=made)


def test_what_is_between_the_markers_is_taken_out() -> None:
    source = (
        "def f(x):\n    ### BEGIN SOLUTION\n    y = x\n\n    return y\n    ### END SOLUTION\n"
        "\n\ndef g(x):\n    ### BEGIN SOLUTION\n    return x\n    ### END SOLUTION"
    )
    made = make_exercises.learner_notebook(solution(source), "01.ipynb")
    stub = "    raise NotImplementedError"
    assert made.cells[1].source == f"def f(x):\n{stub}\n\n\ndef g(x):\n{stub}"
    assert made.cells[1].execution_count is None
    shown = make_exercises.learner_notebook(solution(source, tags=("solution",)), "01.ipynb")
    assert len(shown.cells) == 1


@pytest.mark.parametrize("marker", ["BEGIN", "END"])
def test_a_marker_without_its_partner_is_refused(marker: str) -> None:
    source = f"def f(x):\n    ### {marker} SOLUTION\n    return x"
    with pytest.raises(ValueError, match=r"01\.ipynb: a solution marker without its partner"):
        make_exercises.learner_notebook(solution(source), "01.ipynb")


def test_check_fails_if_a_file_would_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "exercises/solutions").mkdir(parents=True)
    nbformat.write(solution("x = 1"), tmp_path / "exercises/solutions/01_a_solutions.ipynb")
    monkeypatch.setattr(make_exercises, "ROOT", tmp_path)
    assert make_exercises.main(["--check"]) == 1
    assert "exercises/01_a.ipynb: out of date" in capsys.readouterr().out
    assert not (tmp_path / "exercises/01_a.ipynb").exists()
    assert (make_exercises.main([]), make_exercises.main(["--check"])) == (0, 0)
