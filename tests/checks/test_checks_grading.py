"""A learner's notebooks marked in one go: every kind of verdict, as text and as JSON, and nothing changed."""

import csv
import io
import json
import os
import signal
import socket
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest

from transformer_course import cli
from transformer_course.checks import fence, grading
from transformer_course.checks.discovery import exercises_by_chapter
from transformer_course.checks.grading import VARIABLE, Mark, find_notebooks, mark_notebook
from transformer_course.checks.marks_table import marks_table

ROOT = Path(__file__).resolve().parents[2]
IMPORTS = "import numpy as np\nfrom transformer_course.checks import keep, masking as check"
RIGHT = """
def decoder_mask(ids, pad_id=0):
    real = np.asarray(ids) != pad_id
    return np.tril(np.ones(2 * real.shape[1:], dtype=bool)) & real[:, None, None, :]
"""
WRONG = "def decoder_mask(ids, pad_id=0):\n    return np.asarray(ids) == pad_id"
STUB = "def decoder_mask(ids, pad_id=0):\n    raise NotImplementedError"
CHECK = "report = check.decoder_mask(decoder_mask)"
MASKING = [exercise.name for exercise in exercises_by_chapter()["masking"]]
SPEAK = f"""
import json, os
line = {{"exercise": "softmax", "verdict": "right", "misconception": None, "message": "Passed."}}
with open(os.environ["{VARIABLE}"], "a") as file:
    file.write(json.dumps(line) + "\\n")
"""  # what a check does when it speaks, without the time that importing one takes
UNFENCED = "Note: no fence: the notebooks run with all your rights\n"
ENDLESS = """
import time
while True:
    try:
        time.sleep(60)
    except:
        pass
"""


def notebook(path: Path, *cells: str, imports: str = IMPORTS, kernel: str = "python3") -> Path:
    """Write a notebook of code cells."""
    made = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(cell) for cell in (imports, *cells)],
        metadata={"kernelspec": {"name": kernel, "display_name": "Mine"}},
    )
    nbformat.write(made, path)
    return path


def marked(path: Path, seconds: int = 120) -> list[Mark]:
    """The marks of the exercises that are in the notebook."""
    return [mark for mark in mark_notebook(path, seconds) if mark.verdict != "not in the notebook"]


def verdicts(path: Path) -> dict[str, str]:
    """The verdict on each exercise."""
    return {mark.exercise: mark.verdict for mark in mark_notebook(path)}


def command(*arguments: Path | str) -> int:
    """Run `transformer-course check` and return its exit status."""
    with pytest.raises(SystemExit) as end:
        cli.app(["check", *map(str, arguments)])
    assert end.value.code is None or isinstance(end.value.code, int)
    return end.value.code or 0


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
    assert (
        [(mark.exercise, mark.verdict) for mark in marks]
        == [
            ("decoder_mask", "right"),  # the last verdict counts
            ("scaled_dot_product_attention", "no verdict"),
            *((name, "not in the notebook") for name in MASKING[2:]),
        ]
    )
    assert "NameError: name 'learner_forgot'" in marks[1].message
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.ipynb"]  # keep wrote its file elsewhere
    assert VARIABLE not in os.environ


def test_a_misconception_is_named_and_a_stub_is_not_attempted(tmp_path: Path) -> None:
    inverted = RIGHT.replace("!= pad_id", "== pad_id")
    [mark] = marked(notebook(tmp_path / "a.ipynb", inverted, CHECK))
    assert mark.verdict == "not yet right"
    assert mark.misconception
    assert mark.message
    [mark] = marked(notebook(tmp_path / "b.ipynb", STUB, CHECK))
    assert (mark.verdict, mark.misconception) == ("not attempted", None)


def test_an_answer_that_asks_or_exits_is_an_attempt(tmp_path: Path) -> None:
    asks = "def decoder_mask(ids, pad_id=0):\n    return input('mask? ')"
    quits = "def predict(question):\n    quit()"
    cells = (asks, CHECK, quits, "check.predict(predict)", "check.influence(forgotten)")
    marks = marked(notebook(tmp_path / "a.ipynb", *cells))
    assert [mark.verdict for mark in marks] == ["not yet right", "not yet right", "no verdict"]
    assert "asks for input" in marks[0].message
    assert "calls `exit`" in marks[1].message
    assert "NameError" in marks[2].message  # the kernel lived on


def test_a_cell_without_an_end_is_stopped_and_the_next_one_runs(tmp_path: Path) -> None:
    endless = "while True: pass\ncheck.nothing()"
    path = notebook(tmp_path / "a.ipynb", endless, SPEAK, imports="import time")
    assert [(mark.exercise, mark.verdict, mark.message) for mark in mark_notebook(path, 2)] == [
        ("nothing", "no verdict", "its cell took longer than 2 seconds"),
        ("softmax", "right", "Passed."),
    ]


def test_a_cell_that_catches_the_interrupt_is_ended_with_its_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(grading, "GRACE", 1.0)
    failing = "check.before()"  # NameError
    notebook(tmp_path / "a.ipynb", failing, ENDLESS, "check.after()", imports=SPEAK)
    notebook(tmp_path / "b.ipynb", imports=SPEAK)
    assert command(tmp_path, "--seconds", "2", "--json", tmp_path / "marks.json") == 0
    marks = json.loads((tmp_path / "marks.json").read_text(encoding="utf-8"))
    assert [(Path(m["notebook"]).name, m["exercise"], m["verdict"]) for m in marks] == [
        ("a.ipynb", "before", "no verdict"),
        ("a.ipynb", "after", "no verdict"),
        ("a.ipynb", "softmax", "right"),
        ("b.ipynb", "softmax", "right"),
    ]
    assert marks[0]["message"] == "its cell stopped with NameError: name 'check' is not defined"
    told = "no verdict: a cell took longer than 2 seconds and didn't stop"
    assert marks[1]["message"] == told.removeprefix("no verdict: ")
    printed = capsys.readouterr().out
    assert f"after                           {told}" in printed
    assert printed.endswith("2 no verdict, 2 right\n")


def test_ctrl_c_ends_everything_without_a_traceback(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    stop = "import os, signal, time\nos.kill(os.getppid(), signal.SIGINT)\ntime.sleep(60)"
    path = notebook(tmp_path / "a.ipynb", imports=stop)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert command(path, path) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    assert capfd.readouterr() == ("", f"{UNFENCED}\nstopped\n")


def test_a_kernel_that_dies(tmp_path: Path) -> None:
    path = notebook(tmp_path / "a.ipynb", "import os; os._exit(1)", RIGHT, CHECK)
    [mark] = marked(path)
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
    path = next((ROOT / folder).glob("03_masking*.ipynb"))
    assert command(path, "--json", out) == 0
    marks = [Mark(**mark) for mark in json.loads(out.read_text(encoding="utf-8"))]
    assert len(marks) >= 5
    wanted = "right" if folder.endswith("solutions") else "not attempted"
    assert {mark.verdict for mark in marks} == {wanted}
    printed = capsys.readouterr().out
    assert all(mark.exercise in printed for mark in marks)
    assert f"{len(marks)} {wanted}" in printed


def test_a_table_has_one_line_a_notebook_and_exercise(tmp_path: Path) -> None:
    """With the learner, who is the folder; it may be written again, over itself."""
    (tmp_path / "ada").mkdir()
    notebook(tmp_path / "ada" / "a.ipynb", imports=SPEAK)
    notebook(tmp_path / "ada" / "b.ipynb", "check.nothing()", imports="")
    out = tmp_path / "marks.csv"
    for _ in range(2):
        assert command(tmp_path / "ada", "--csv", out) == 0
    with out.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [
        (r["learner"], Path(r["notebook"]).name, r["exercise"], r["verdict"]) for r in rows
    ] == [
        ("ada", "a.ipynb", "softmax", "right"),
        ("ada", "b.ipynb", "nothing", "no verdict"),
    ]
    assert (rows[0]["misconception"], rows[0]["message"]) == ("", "Passed.")
    assert rows[1]["message"].startswith("its cell stopped with NameError")
    assert out.read_bytes().startswith(b"\xef\xbb\xbflearner,")  # the mark that spreadsheets want


def test_a_spreadsheet_computes_nothing_that_a_learner_wrote() -> None:
    wicked = Mark(
        "ada/a.ipynb", "softmax", "not yet right", "=1+1", '=HYPERLINK("x")\nsecond, line'
    )
    [row] = csv.DictReader(io.StringIO(marks_table([wicked]).decode("utf-8-sig"), newline=""))
    assert row["misconception"] == "'=1+1"
    assert row["message"] == '\'=HYPERLINK("x")\nsecond, line'
    assert (row["learner"], row["exercise"]) == ("ada", "softmax")


def test_no_table_is_written_over_something_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nor over what is read, nor twice into one file; the notebooks aren't run before that is said."""
    path = notebook(tmp_path / "a.ipynb", imports=SPEAK)
    other, before = tmp_path / "names.csv", "name,mark\nAda,1\n"
    other.write_text(before, encoding="utf-8")
    told = {
        other: "is there already and holds no marks: choose another name",
        path: "is read from: choose another name",
        tmp_path: "can't be written: it is no plain file",
    }
    for target, sentence in told.items():
        assert command(path, "--csv", target) == 1
        said = capsys.readouterr()
        assert (said.out, said.err) == ("", f"error: {target} {sentence}\n")
    assert command(path, "--csv", tmp_path / "x", "--json", tmp_path / "x") == 1
    assert f"--json and --csv ({tmp_path / 'x'}) must be two files" in capsys.readouterr().err
    assert other.read_text(encoding="utf-8") == before


def test_any_name_of_the_kernel_means_the_running_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    foreign = tmp_path / "jupyter/kernels/python3"  # of another Python, found before ours
    foreign.mkdir(parents=True)
    spec = {"argv": ["/nowhere/python"], "display_name": "Python 3", "language": "python"}
    (foreign / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    same = f"import sys\nassert sys.executable == {sys.executable!r}"
    for kernel in ("transformer-course-env", "python3", ""):
        path = notebook(tmp_path / "a.ipynb", f"{same}\n{SPEAK}", imports="", kernel=kernel)
        assert verdicts(path) == {"softmax": "right"}


def test_an_exercise_without_a_call_of_its_check_is_not_in_the_notebook(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = (
        "# check.decoder_mask(decoder_mask)",
        "later = '''\ncheck.predict(predict)\n'''",
        "print('check.influence(influence)', \"check.causal_weights('c')\")",
    )
    path = notebook(tmp_path / "a.ipynb", *cells)
    assert verdicts(path) == dict.fromkeys(MASKING, "not in the notebook")
    out = tmp_path / "marks.json"
    notebook(path, RIGHT, CHECK, *cells)
    assert command(path, "--json", out) == 0
    marks = json.loads(out.read_text(encoding="utf-8"))
    assert {mark["exercise"]: mark["verdict"] for mark in marks} == {
        "decoder_mask": "right",
        **dict.fromkeys(MASKING[1:], "not in the notebook"),
    }
    assert marks[1]["message"] == "the notebook doesn't call its check"
    printed = capsys.readouterr().out
    assert "  influence                       not in the notebook\n" in printed
    assert printed.endswith("1 right, 6 not in the notebook\n")


@pytest.mark.parametrize(
    "imports",
    [
        "from transformer_course.checks import masking as mine, keep",
        "from transformer_course.checks import (\n    keep,  # both\n    masking as mine,\n)",
        "from transformer_course.checks import keep, \\\n    masking as mine",
        "import transformer_course.checks.masking as mine",
        "%matplotlib inline\nfrom transformer_course.checks import masking as mine",
    ],
)
def test_a_chapter_under_a_name_of_the_learners(imports: str, tmp_path: Path) -> None:
    path = notebook(tmp_path / "a.ipynb", "mine.predict(forgotten)", imports=imports)
    assert verdicts(path) == {
        "predict": "no verdict",
        **{name: "not in the notebook" for name in MASKING if name != "predict"},
    }


def test_a_call_in_an_odd_cell_is_in_the_notebook(tmp_path: Path) -> None:
    cells = (
        "%%time\ncheck.predict(forgotten)",
        "!echo don't\n%time check . influence (forgotten)",
        "print('oh)\ncheck.causal_weights(causal_weights",  # a SyntaxError
        f"{RIGHT}\njudge = getattr(check, 'decoder_mask')\njudge(decoder_mask)",
    )
    found = verdicts(notebook(tmp_path / "a.ipynb", *cells))
    assert {name for name in MASKING if found[name] == "no verdict"} == {
        "predict",
        "influence",
        "causal_weights",
    }
    assert found["decoder_mask"] == "right"


def test_the_figures_of_another_chapter_bring_no_exercises(tmp_path: Path) -> None:
    other = "from transformer_course.checks.attention.explore import attention_table"
    path = notebook(tmp_path / "a.ipynb", imports=f"{IMPORTS}\n{other}")
    assert list(verdicts(path)) == MASKING


def test_a_notebook_without_any_check_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = notebook(tmp_path / "a.ipynb", imports="print('hello')")
    assert command(path) == 0
    told = "no verdict: the notebook has no check of the course"
    assert capsys.readouterr().out == f"{path}\n  {told}\n1 no verdict\n"


def test_a_torn_notebook_loses_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, torn = tmp_path / "marks.json", tmp_path / "b.ipynb"
    torn.write_text('{\n "cells": [', encoding="utf-8")
    for name in ("a", "c"):
        notebook(tmp_path / f"{name}.ipynb", imports=SPEAK)
    assert command(tmp_path, "--json", out) == 1
    marks = [Mark(**mark) for mark in json.loads(out.read_text(encoding="utf-8"))]
    words = "the file is not JSON from line 2 on; it may be cut off"
    assert [mark.verdict for mark in marks] == ["right", "not run", "right"]
    assert marks[1] == Mark(str(torn), "", "not run", None, words)
    printed = capsys.readouterr()
    assert f"\n{torn}\n  not run: {words}\n" in printed.out
    assert printed.out.endswith("\n2 right, 1 not run\n")
    assert printed.err == f"{UNFENCED}error: 1 of 3 notebooks could not be run: {torn}\n"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "the file is empty"),
        (b"  \n", "the file is empty"),
        (b"{", "the file is not JSON from line 1 on; it may be cut off"),
        (b"\xff\xfe", "the file is not text in UTF-8"),
        (b"[]", "the file is JSON, but not a notebook"),
        (b"null", "the file is JSON, but not a notebook"),
        (b"[" * 100_000, "the file is JSON, but not a notebook"),
        (b"1" * 5000, "the file is JSON, but not a notebook"),
        (b"{}", "the file is JSON, but not a notebook"),
        (b'{"nbformat": 4, "nbformat_minor": 5}', "the file is JSON, but not a notebook"),
    ],
)
def test_says_what_is_wrong_with_a_file(content: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    path.write_bytes(content)
    assert mark_notebook(path) == [Mark(str(path), "", "not run", None, words)]


@pytest.mark.parametrize(
    "cell",
    ["1", "{}", '{"id": "a", "cell_type": "code", "metadata": {}, "outputs": [], "source": 5}'],
)
def test_says_that_a_cell_is_none(cell: str, tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    text = f'{{"nbformat": 4, "nbformat_minor": 5, "metadata": {{}}, "cells": [{cell}]}}'
    path.write_text(text, encoding="utf-8")
    assert mark_notebook(path)[0].message == "the file is JSON, but not a notebook"


def test_what_stands_around_the_code_does_not_matter(tmp_path: Path) -> None:
    path = notebook(tmp_path / "a.ipynb", imports=SPEAK)
    read = json.loads(path.read_text(encoding="utf-8"))
    read["metadata"]["kernelspec"] = 3
    read["cells"][0] |= {"metadata": {"tags": 3}, "outputs": [{"output_type": "error"}]}
    path.write_text(json.dumps(read), encoding="utf-8")
    assert verdicts(path) == {"softmax": "right"}


def test_a_notebook_that_cannot_be_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = notebook(tmp_path / "a.ipynb", imports=SPEAK)
    (tmp_path / "my_transformer.py").mkdir()
    [mark] = mark_notebook(path)
    assert (mark.exercise, mark.verdict) == ("", "not run")
    assert mark.message == f"Is a directory: {tmp_path / 'my_transformer.py'}"
    (tmp_path / "my_transformer.py").rmdir()
    (tmp_path / "ipykernel_launcher.py").write_text("raise SystemExit(1)", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)  # no kernel can start
    [mark] = mark_notebook(path)
    assert mark.verdict == "not run"
    assert mark.message.startswith("its kernel failed: ")


def test_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ipykernel", None)
    with pytest.raises(
        ValueError, match=r"`pip install \"\.\[learn\]\"` in the folder of the course"
    ):
        mark_notebook(notebook(tmp_path / "a.ipynb"))


def test_refuses_what_is_no_notebook(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.txt").write_text("hello", encoding="utf-8")
    good = notebook(tmp_path / "good.ipynb")
    for name, message in (
        ("empty", "empty has no notebook"),
        ("text.txt", "text.txt must be a notebook"),
        ("missing", "missing must be a notebook"),
    ):
        with pytest.raises(ValueError, match=message):
            find_notebooks([tmp_path / name])
        assert command(good, tmp_path / name) == 1
        printed = capsys.readouterr()
        assert message in printed.err
        assert not printed.out  # nothing has run


# Notebooks of strangers


def test_a_report_that_no_check_wrote_costs_nobody_a_mark(tmp_path: Path) -> None:
    lines = [
        "{}",
        "[]",
        "null",
        "no JSON",
        "[" * 100_000,
        "\udcff",
        json.dumps({"exercise": "softmax", "verdict": "right"}),
        json.dumps(dict.fromkeys(("exercise", "verdict", "misconception", "message"), 3)),
        json.dumps(
            {"exercise": "made up", "verdict": "right", "misconception": None, "message": ""}
        ),
        json.dumps(
            {"exercise": "softmax", "verdict": "best", "misconception": None, "message": ""}
        ),
        json.dumps({"exercise": [], "verdict": {}, "misconception": None, "message": ""}),
    ]
    forge = f"with open(os.environ['{VARIABLE}'], 'ab') as file:\n"
    forge += "".join(
        f"    file.write({(line + chr(10)).encode('utf-8', 'replace')!r})\n" for line in lines
    )
    path = notebook(
        tmp_path / "a.ipynb", SPEAK.replace("Passed.", "\\x1b[2JPassed."), forge, imports=""
    )
    [mark] = mark_notebook(path)
    assert (mark.exercise, mark.verdict, mark.message) == ("softmax", "right", "\ufffd[2JPassed.")


def test_a_notebook_does_not_see_the_teachers_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEACHERS_TOKEN", "secret")
    seen = SPEAK.replace('"Passed."', "repr(os.environ.get('TEACHERS_TOKEN'))")
    [mark] = mark_notebook(notebook(tmp_path / "a.ipynb", seen, imports=""))
    assert mark.message == "None"


TRY = """
import json, os, pathlib, socket
def tried(what):
    try:
        what()
        return "done"
    except (OSError, MemoryError) as error:
        return type(error).__name__
message = [
    tried(lambda: socket.create_connection(("127.0.0.1", PORT), 2)),
    tried(lambda: pathlib.Path("OUTSIDE").write_text("x")),
    tried(lambda: pathlib.Path("inside").write_text("x")),
    FURTHER
]
"""


def test_a_fence_keeps_a_notebook_from_network_and_files(
    tmp_path: Path, needs: Callable[[object, str], None]
) -> None:
    with tempfile.TemporaryDirectory() as place:
        needs(not fence.missing(place), "this system allows no fence")
    with socket.create_server(("127.0.0.1", 0)) as server:
        attempt = TRY.replace("PORT", str(server.getsockname()[1])).replace(
            "OUTSIDE", str(tmp_path / "x")
        )
        path = notebook(
            tmp_path / "a.ipynb",
            attempt,
            SPEAK.replace('"Passed."', "' '.join(message)"),
            imports="",
        )
        memory = path.read_text(encoding="utf-8").replace(
            "FURTHER", "tried(lambda: bytearray(20 << 30))"
        )
        inside = tmp_path / "b.ipynb"
        inside.write_text(memory, encoding="utf-8")
        [mark] = mark_notebook(inside, fenced=True)
        assert mark.message.split()[1:] == ["OSError", "done", "MemoryError"]
        assert mark.message.split()[0] in ("OSError", "ConnectionRefusedError")
        path.write_text(path.read_text(encoding="utf-8").replace("FURTHER", ""), encoding="utf-8")
        [mark] = mark_notebook(path)
        assert mark.message.split() == ["done", "done", "done"]


def test_where_there_is_no_fence_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = notebook(tmp_path / "a.ipynb", imports=SPEAK)
    monkeypatch.setattr(fence.sys, "platform", "plan9")
    assert command(path, "--fence") == 1
    assert (
        "error: no fence on this system: there is no sandbox for plan9" in capsys.readouterr().err
    )
    assert command(path) == 0
    assert capsys.readouterr().err == UNFENCED
