"""A learner's notebooks marked in one go: every kind of verdict, as text and as JSON, and nothing changed."""

import json
import os
from pathlib import Path

import nbformat
import pytest

from transformer_course import cli
from transformer_course.checks.grading import VARIABLE, Mark, find_notebooks, mark_notebook

ROOT = Path(__file__).resolve().parents[1]
IMPORTS = "import numpy as np\nfrom transformer_course.checks import keep, masking as check"
RIGHT = """
def decoder_mask(ids, pad_id=0):
    real = np.asarray(ids) != pad_id
    return np.tril(np.ones(2 * real.shape[1:], dtype=bool)) & real[:, None, None, :]
"""
WRONG = "def decoder_mask(ids, pad_id=0):\n    return np.asarray(ids) == pad_id"
STUB = "def decoder_mask(ids, pad_id=0):\n    raise NotImplementedError"
CHECK = "report = check.decoder_mask(decoder_mask)"


def notebook(path: Path, *cells: str) -> Path:
    """Write a notebook of code cells."""
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    made = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(cell) for cell in (IMPORTS, *cells)], metadata=kernel
    )
    nbformat.write(made, path)
    return path


def test_every_verdict(tmp_path: Path) -> None:
    path = notebook(
        tmp_path / "a.ipynb",
        CHECK,  # not there yet: NameError
        STUB,
        CHECK,
        WRONG,
        CHECK,
        RIGHT,
        "check.decoder_mask(decoder_mask); keep(decoder_mask)",
        "check.scaled_dot_product_attention(learner_forgot)",
    )
    before = path.read_bytes()
    marks = mark_notebook(path)
    assert [(mark.exercise, mark.verdict) for mark in marks] == [
        ("decoder_mask", "right"),  # the last verdict counts
        ("scaled_dot_product_attention", "no verdict"),
    ]
    assert "NameError: name 'learner_forgot'" in marks[1].message
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.ipynb"]  # keep wrote its file elsewhere
    assert VARIABLE not in os.environ


def test_a_misconception_is_named_and_a_stub_is_not_attempted(tmp_path: Path) -> None:
    inverted = RIGHT.replace("!= pad_id", "== pad_id")
    [mark] = mark_notebook(notebook(tmp_path / "a.ipynb", inverted, CHECK))
    assert mark.verdict == "not yet right"
    assert mark.misconception
    assert mark.message
    [mark] = mark_notebook(notebook(tmp_path / "b.ipynb", STUB, CHECK))
    assert (mark.verdict, mark.misconception) == ("not attempted", None)


def test_a_cell_without_an_end_is_stopped_and_the_next_one_runs(tmp_path: Path) -> None:
    path = notebook(tmp_path / "a.ipynb", "while True: pass", RIGHT, CHECK)
    assert [mark.verdict for mark in mark_notebook(path, seconds=12)] == [
        "right"
    ]  # importing torch takes a few


def test_a_kernel_that_dies(tmp_path: Path) -> None:
    path = notebook(tmp_path / "a.ipynb", "import os; os._exit(1)", RIGHT, CHECK)
    [mark] = mark_notebook(path)
    assert (mark.verdict, mark.message) == ("no verdict", "the kernel died before it was called")


def test_the_learners_own_file_is_used_and_left_alone(tmp_path: Path) -> None:
    own = tmp_path / "my_transformer.py"
    own.write_text("import numpy as np\n\n\nSECRET = 7\n" + RIGHT, encoding="utf-8")
    path = notebook(tmp_path / "a.ipynb", "from my_transformer import decoder_mask", CHECK)
    assert mark_notebook(path)[0].verdict == "right"
    assert "SECRET" in own.read_text(encoding="utf-8")


@pytest.mark.parametrize("folder", ["exercises", "exercises/solutions"])
def test_the_courses_notebooks(
    folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "marks.json"
    path = ROOT / folder / "03_masking.ipynb"
    with pytest.raises(SystemExit) as end:
        cli.app(["check", str(path), "--json", str(out)])
    assert not end.value.code
    marks = [Mark(**mark) for mark in json.loads(out.read_text(encoding="utf-8"))]
    assert len(marks) >= 5
    wanted = "right" if folder.endswith("solutions") else "not attempted"
    assert {mark.verdict for mark in marks} == {wanted}
    printed = capsys.readouterr().out
    assert all(mark.exercise in printed for mark in marks)
    assert f"{len(marks)} {wanted}" in printed


def test_refuses_what_is_no_notebook(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.txt").write_text("hello", encoding="utf-8")
    (tmp_path / "torn.ipynb").write_text("{", encoding="utf-8")
    for name, message in (
        ("empty", "empty has no notebook"),
        ("text.txt", "text.txt must be a notebook"),
        ("missing", "missing must be a notebook"),
    ):
        with pytest.raises(ValueError, match=message):
            find_notebooks([tmp_path / name])
    with pytest.raises(SystemExit) as end:
        cli.app(["check", str(tmp_path / "torn.ipynb")])
    assert end.value.code == 1
    assert "torn.ipynb is not a notebook" in capsys.readouterr().err
