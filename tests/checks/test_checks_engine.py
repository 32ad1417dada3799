"""Whatever the learner's function does: a sentence of its own, and the next check works as ever."""
# ruff: noqa: B006, E701, E722, NPY002, SIM105 (written as learners write)

import dataclasses
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from transformer_course import attention
from transformer_course.checks import comparing, encoder_decoder, running
from transformer_course.checks.discovery import exercises_by_chapter, exercises_named
from transformer_course.checks.engine import judge
from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases
from transformer_course.checks.report import Report

Function = Callable[..., Any]
SECONDS = 0.5


def _halves(x: Any) -> tuple[Any, float]:
    return x / 2, float(x.sum())


HALVES = Exercise(
    name="halves",
    kind="implement",
    difficulty=1,
    minutes=7,
    statement="Halve an array, and return its sum too.",
    returns=("halves", "total"),
    reference=_halves,
    cases=(
        Case("two numbers", (np.array([1.0, 3.0]),)),
        Case("a table", (np.array([[2.0, 4.0, 5.0], [1.0, 0.0, 3.0]]),)),
        *random_cases(lambda rng: (rng.normal(size=(2, 3)),), 2),
    ),
    misconceptions=(
        Misconception("doubled", lambda x: (x * 2, float(x.sum())), "Which way round?"),
        Misconception("mean for sum", lambda x: (x / 2, float(x.mean())), "How many are there?"),
    ),
)
DOUBLE = Exercise(
    name="double",
    kind="implement",
    difficulty=1,
    minutes=3,
    statement="Double an array.",
    returns=("doubled",),
    reference=lambda x: x * 2.0,
    cases=(Case("two numbers", (np.array([1.0, 3.0]),)), Case("one", (np.array([-2.0]),))),
    misconceptions=(Misconception("squared", lambda x: x**2, "What becomes of a negative one?"),),
)


@pytest.fixture(autouse=True)
def _short_and_unharmed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A short time limit; afterwards everything is as before, and a further check works."""
    monkeypatch.setattr(running, "SECONDS", SECONDS)
    before = (sys.gettrace(), signal.getsignal(signal.SIGALRM), sys.stdout, sys.stderr)
    filters, errors = list(warnings.filters), np.geterr()
    yield
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
    assert (sys.gettrace(), signal.getsignal(signal.SIGALRM), sys.stdout, sys.stderr) == before
    assert (list(warnings.filters), np.geterr()) == (filters, errors)
    monkeypatch.undo()
    assert judge(HALVES, _halves).passed
    assert judge(HALVES, lambda x: (x * 2, x.sum())).misconception == "doubled"


def in_thread(exercise: Exercise, function: Function) -> Report:
    """Judge in another thread, where the system's timer can't be used."""
    found: list[Report] = []
    thread = threading.Thread(target=lambda: found.append(judge(exercise, function)), daemon=True)
    thread.start()
    thread.join(20)
    assert found, "the check hangs"
    return found[0]


def raises(x: Any) -> Any:
    raise KeyError("no such thing")


def divides_by_zero(x: Any) -> Any:
    total = 1 // 0
    return x, total


def loops(x: Any) -> Any:
    while True:
        x = x + 1


def loops_tightly(x: Any) -> Any:
    while True: pass  # fmt: skip


def loops_and_catches(x: Any) -> Any:
    while True:
        try:
            time.sleep(0.01)
        except Exception:
            pass


def loops_and_catches_everything(x: Any) -> Any:
    while True:
        try:
            time.sleep(0.01)
        except:
            pass


def loops_and_catches_twice(x: Any) -> Any:
    while True:
        try:
            try:
                x = x + 1
            except:
                continue
        except:
            continue


def recurses(x: Any) -> Any:
    return recurses(x)


def recurses_by_two(x: Any) -> Any:
    return [recurses_by_two(x)]


def exits(x: Any) -> Any:
    sys.exit("goodbye")


def quits(x: Any) -> Any:
    raise SystemExit


def changes(x: Any) -> Any:
    x += 1
    return x / 2, 0.0


def changes_a_shape(x: Any) -> Any:
    x.resize(x.size, refcheck=False)
    return x / 2, 0.0


def random_numbers(x: Any) -> Any:
    return x / 2 + np.random.normal(size=x.shape), 0.0


def remembers(x: Any, calls: list[int] = []) -> Any:
    calls.append(0)
    return x / 2, float(len(calls))


def stub(x: Any) -> Any:
    raise NotImplementedError


def dots_only(x: Any) -> Any: ...


def dots_returned(x: Any) -> Any:
    return ...


def half_written(x: Any) -> Any:
    if x.ndim == 1:
        return _halves(x)
    raise NotImplementedError


def nothing_returned(x: Any) -> Any:
    x / 2


def writes_nan(x: Any) -> Any:
    return x / 2 * np.nan, float(x.sum())


def writes_infinity(x: Any) -> Any:
    return x / 0, float(x.sum())


TROUBLES = [
    (raises, "stopped with KeyError: 'no such thing', in your line `raise KeyError(\"no such"),
    (divides_by_zero, "division or modulo by zero, in your line `total = 1 // 0`"),
    (loops, f"didn't finish in {SECONDS:g} seconds"),
    (loops_tightly, f"didn't finish in {SECONDS:g} seconds"),
    (loops_and_catches, f"didn't finish in {SECONDS:g} seconds"),
    (recurses, "calls itself without end"),
    (recurses_by_two, "calls itself without end"),
    (exits, "calls `exit`, which would end the notebook"),
    (quits, "calls `exit`, which would end the notebook"),
    (changes, "changes its inputs"),
    (changes_a_shape, "changes its inputs"),
    (random_numbers, "gives different results for the same inputs"),
    (remembers, "gives different results for the same inputs"),
    (half_written, "still raises NotImplementedError here"),
    (nothing_returned, "Expected 2 results (halves, total), got None. Is a `return` missing?"),
    (writes_nan, "`halves[0]`: expected 0.5, got NaN (not a number)"),
    (writes_infinity, "`halves[0]`: expected 0.5, got +inf"),
    (lambda x: (x / 2,), "Expected 2 results (halves, total), got 1."),
    (lambda x: (x / 2, 0.0, 0.0), "Expected 2 results (halves, total), got 3."),
    (lambda x: x / 2, "Expected 2 results (halves, total), got an array of shape (2,)."),
    (lambda x: "half", "Expected 2 results (halves, total), got a str."),
    (lambda x: (list(x / 2), 0.0), "`halves`: expected an array (NumPy or torch), got a list of 2"),
    (lambda x: ((1, 2), 0.0), "`halves`: expected an array (NumPy or torch), got a tuple of 2"),
    (lambda x: (None, 0.0), "`halves`: expected an array (NumPy or torch), got None"),
    (lambda x: (x / 2, "4"), "`total`: expected a number, got a str"),
    (lambda x: (x / 2, True), "`total`: expected a number, got True"),
    (lambda x: (x / 2, x), "`total`: expected a number, got an array of shape (2,)"),
    (lambda x: (x[None] / 2, 0.0), "`halves`: expected shape (2,), got (1, 2)"),
    (lambda x: ((x / 2).T, float(x.sum())), "`halves`: expected shape (2, 3), got (3, 2)"),
    (lambda x: (x.astype(int), 0.0), "expected numbers with a decimal point, got dtype int64"),
    (lambda x: (x > 1, 0.0), "expected numbers with a decimal point, got dtype bool"),
    (lambda x: (x / 2, float(x.sum()) + 1), "`total`: expected 4, got 5."),
    (lambda x: (x / 2, 10**400), "`total`: expected 4, got +inf."),
    (lambda x: (x / 2, -(10**400)), "`total`: expected 4, got -inf."),
    (
        lambda x, y: (x, y),
        "Expected a function that can be called as halves(x), got one with (x, y",
    ),
    (lambda: 0, "Expected a function that can be called as halves(x), got one with ()"),
    (3, "Expected a function, got int"),
    ("halves", "Expected a function, got str"),
    (_halves(np.ones(2)), "Expected a function, got tuple"),
]


@pytest.mark.parametrize(("function", "sentence"), TROUBLES)
def test_each_trouble_has_its_own_sentence(function: Function, sentence: str) -> None:
    report = judge(HALVES, function)
    assert (report.passed, report.misconception, report.attempted) == (False, None, True)
    assert report.message.startswith("halves. Not yet right. ")
    assert sentence in report.message


def test_whole_numbers_are_asked_for_where_the_answer_has_them() -> None:
    """Ids as 2.0 can't be used as places in an array."""
    exercise = dataclasses.replace(
        HALVES,
        reference=lambda x: (x.argsort(), float(x.sum())),
        returns=("order", "total"),
        misconceptions=(),
    )
    assert judge(exercise, lambda x: (np.argsort(x), float(x.sum()))).passed
    message = judge(exercise, lambda x: (1.0 * np.argsort(x), float(x.sum()))).message
    assert "`order`: expected whole numbers, got dtype float64." in message
    message = judge(exercise, lambda x: (x.argsort() + 1, float(x.sum()))).message
    assert "`order`: expected [" in message
    message = judge(exercise, lambda x: (x.argsort()[:-1], float(x.sum()))).message
    assert "`order`: expected [" in message


def test_an_empty_array_may_have_any_type() -> None:
    """NumPy makes decimal numbers of an empty list."""
    exercise = dataclasses.replace(
        HALVES, reference=lambda x: np.flatnonzero(x > 99), returns=("places",), misconceptions=()
    )
    assert judge(exercise, lambda x: np.array([])).passed
    assert not judge(exercise, lambda x: np.ones(1)).passed


def test_no_two_troubles_share_a_message() -> None:
    """Except those that are one trouble twice."""
    once = [f for f, _ in TROUBLES if f not in (quits, loops_tightly, loops_and_catches, remembers)]
    once = [f for f in once if f not in (recurses_by_two, changes_a_shape)]
    messages = [judge(HALVES, function).message for function in once]
    assert len(set(messages)) == len(messages)


@pytest.mark.parametrize("function", [loops, loops_tightly, loops_and_catches])
def test_endless_loops_in_another_thread(function: Function) -> None:
    started = time.monotonic()
    assert "didn't finish" in in_thread(HALVES, function).message
    assert time.monotonic() - started < 20 * SECONDS
    assert in_thread(HALVES, _halves).passed


@pytest.mark.parametrize("function", [loops_and_catches_everything, loops_and_catches_twice])
def test_functions_that_catch_everything_are_stopped_too(function: Function) -> None:
    started = time.monotonic()
    assert "didn't finish" in judge(HALVES, function).message
    assert time.monotonic() - started < 10 * SECONDS


@pytest.mark.parametrize("function", [raises, recurses, exits, changes, random_numbers, stub])
def test_other_troubles_in_another_thread(function: Function) -> None:
    assert in_thread(HALVES, function).message == judge(HALVES, function).message


def test_timer_in_the_main_thread_and_trace_elsewhere() -> None:
    kinds: list[str] = []
    for call in (lambda f: f(), lambda f: _joined(f)):
        call(lambda: kinds.append(running.time_limit(1).func.__name__))  # type: ignore[attr-defined]
    assert kinds == ["_alarm", "_trace"]


def _joined(function: Callable[[], None]) -> None:
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


def test_where_there_is_no_timer_the_trace_does_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows, in the main thread."""
    monkeypatch.delattr(signal, "setitimer")
    assert "didn't finish" in judge(HALVES, loops).message


def test_keyboard_interrupt_goes_through() -> None:
    def interrupted(x: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        judge(HALVES, interrupted)


@pytest.mark.parametrize("function", [stub, dots_returned])
def test_a_stub_is_not_attempted(function: Function) -> None:
    report = judge(HALVES, function)
    assert (report.passed, report.attempted, report.misconception) == (False, False, None)
    assert report.message == (
        "halves: not attempted yet. Replace `raise NotImplementedError` by your own lines. "
        "Expected result: halves, total. About 7 minutes."
    )


def test_prints_and_warnings_are_hidden_and_prints_are_said(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def chatty(x: Any) -> Any:
        print("here I am", x)
        sys.stderr.write("here too")
        warnings.warn("and here", stacklevel=1)
        return x / 2, float(x.sum())

    report = HALVES(chatty)
    printed = capsys.readouterr()
    assert report.passed
    assert printed.out == (
        "Passed: halves.\n(Your function prints something; the check hides it.)\n"
    )
    assert printed.err == ""


def test_prints_are_said_whatever_the_verdict() -> None:
    note = "(Your function prints something; the check hides it.)"
    for factor in (2, 3):
        message = judge(HALVES, lambda x, f=factor: (print("!"), (x * f, x.sum()))[1]).message
        assert message.endswith(note)
    assert note not in judge(HALVES, lambda x: (x * 3, x.sum())).message


@pytest.mark.parametrize(
    "function",
    [
        lambda x: [x / 2, float(x.sum())],
        lambda x: (x / 2, x.sum()),
        lambda x: (x / 2, np.asarray(x.sum())),
        lambda x: ((x / 2).astype(np.float32), x.sum()),
        lambda x: (torch.as_tensor(x) / 2, torch.as_tensor(x).sum()),
        lambda x: (torch.tensor(x, requires_grad=True) / 2, torch.as_tensor(x).sum()),
        lambda x: (torch.nn.Parameter(x) / 2, torch.nn.Parameter(x).sum()),
        lambda x: (x.div(2), x.sum().item()),  # torch tensors only
        lambda x: (np.divide(x, 2), np.add.reduce(x, axis=None)),  # NumPy arrays
    ],
)
def test_numpy_and_torch_gradients_lists_and_scalars_are_accepted(function: Function) -> None:
    assert judge(HALVES, function).message == "Passed: halves."


def test_callable_objects_and_partly_filled_signatures_are_accepted() -> None:
    class Halves:
        def __call__(self, x: Any, *, more: int = 0) -> Any:
            return _halves(x)

    assert judge(HALVES, Halves()).passed
    assert judge(HALVES, lambda *x: _halves(*x)).passed


def test_a_single_result() -> None:
    assert judge(DOUBLE, lambda x: x + x).passed
    assert judge(DOUBLE, np.square).misconception == "squared"
    message = judge(DOUBLE, lambda x: None).message
    assert "Expected an array (NumPy or torch), got None. Is a `return` missing?" in message
    assert "`doubled`: expected an array" in judge(DOUBLE, lambda x: (x, x)).message


def test_the_smallest_failing_case_is_shown_with_its_inputs() -> None:
    message = judge(HALVES, lambda x: (x / 2 if x.ndim == 1 else x / 3, x.sum())).message
    assert message == (
        "halves. Not yet right. `halves[0, 0]`: expected 1, got 0.6667 (5 of 6 numbers differ; "
        "each is 0.6667 times what was expected). Right already: two numbers.\n"
        "The smallest case that fails (a table):\n"
        "  x = [[2., 4., 5.],\n"
        "       [1., 0., 3.]]"
    )
    message = judge(HALVES, lambda x: (x / 3, x.sum())).message
    assert "The smallest case that fails (two numbers):" in message
    assert "Right already" not in message


TABLE = np.array([[1.0, 2.0, 4.0], [0.0, 8.0, -3.0], [5.0, 7.0, 6.0]])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda x: x / 4, "; each is 0.25 times what was expected"),
        (lambda x: -x, "; each has the other sign"),
        (lambda x: x - 2, "; each is 2 too small"),
        (lambda x: x.T, "; rows and columns are exchanged"),
        (lambda x: x[::-1], "; they are the right ones, in other places"),
        (lambda x: x**2, ""),
        (lambda x: x * np.nan, ""),
    ],
)
def test_what_all_wrong_numbers_have_in_common_is_said(change: Any, said: str) -> None:
    task = dataclasses.replace(
        DOUBLE, reference=lambda x: x * 1.0, cases=(Case("a table", (TABLE,)),), misconceptions=()
    )
    [line, *_] = judge(task, change).message.splitlines()
    assert line.endswith(
        f" numbers differ{said})." if change(TABLE)[0, 0] == change(TABLE)[0, 0] else "."
    )


def test_cases_that_are_right_already_are_named_the_largest_last() -> None:
    cases = tuple(Case(f"{n} numbers", (np.arange(float(n)),)) for n in (5, 4, 3, 2, 7, 6, 6))
    cases += tuple(Case("random numbers", (np.arange(float(n)),)) for n in (5, 6))  # one is wrong
    task = dataclasses.replace(DOUBLE, cases=cases, misconceptions=())
    message = judge(task, lambda x: x * 2.0 if len(x) < 6 else x).message
    assert (
        "Right already: 3 numbers; 4 numbers; 5 numbers.\nThe smallest case that fails (6"
        in message
    )


def test_wrong_numbers_are_shown_rather_than_nan() -> None:
    """Far from all keys this one gives 0/0; so cases with numbers are smaller than those."""

    def kernel_regression(queries: Any, keys: Any, values: Any, bandwidth: float) -> Any:
        powers = np.exp(-((queries[:, None] - keys) ** 2) / (2 * bandwidth**3))
        return powers @ values / powers.sum(-1)

    (exercise,) = exercises_named("kernel_regression")
    report = judge(exercise, kernel_regression)
    assert "NaN" not in report.message
    assert "two queries, two keys" in report.message


def test_the_whole_transformer_is_shown_with_all_its_weights() -> None:
    (exercise,) = exercises_named("transformer")
    report = judge(exercise, lambda *given: 1.1 * exercise.reference(*given))
    assert "a dictionary with" not in report.message
    for place in ("'table'", "'encoder'][0]['self_attention'][3", "'decoder'][0]['norms'][2][1"):
        assert f"  weights[{place}] = " in report.message
    assert all(len(line) < 140 for line in report.message.splitlines())


def test_a_torch_error_is_shown_to_who_writes_torch() -> None:
    def with_torch(x: Any) -> Any:
        return torch.softmax(x, 0) @ torch.ones(17), 0.0

    def with_numpy(x: Any) -> Any:
        return np.exp(x) @ np.ones(17), 0.0

    assert "inconsistent tensor size" in judge(HALVES, with_torch).message
    assert "matmul: Input operand 1" in judge(HALVES, with_numpy).message


def _three(letter: str) -> int:
    return {"a": 1, "b": 2, "c": 3}[letter]


QUESTIONS = Exercise(
    name="questions",
    kind="predict",
    difficulty=1,
    minutes=3,
    statement="Count.",
    returns=("answer",),
    reference=lambda letter: {"a": 1.0, "b": 2.0, "c": 3.0}[letter],
    cases=(
        Case("one", ("a",)),
        Case("two", ("b",), "What comes after one?"),
        Case("three", ("c",)),
    ),
    misconceptions=(
        Misconception("began at zero", lambda x: 0 if x == "a" else _three(x), "Look at a hand."),
        Misconception("forgot two", lambda x: 3 if x == "b" else _three(x), "Not so fast."),
    ),
    secret=True,
)


def test_questions_name_the_letter_and_never_the_answer() -> None:
    report = judge(QUESTIONS, lambda x: 3 if x == "b" else _three(x))
    assert report.misconception == "forgot two"
    assert report.message == (
        "questions. Not yet right: Question 'b': forgot two.\nHint: Not so fast."
    )
    report = judge(QUESTIONS, lambda x: 1)
    assert report.message == (
        "questions. Not yet right. Question 'b' (two): Expected another answer, got 1. "
        "What comes after one?"
    )


def test_a_second_wrong_answer_is_announced() -> None:
    report = judge(QUESTIONS, lambda x: {"a": 1, "b": 3, "c": 17}[x])
    assert report.misconception == "forgot two"
    assert report.message.endswith("Hint: Not so fast.\nOther answers aren't right yet either.")


def test_a_misconception_must_explain_every_case() -> None:
    one = Case("zero", (np.array([0.0]),))
    exercise = Exercise(**{**vars(HALVES), "name": "more", "cases": (*HALVES.cases, one)})
    report = judge(exercise, lambda x: (x * 2 if x.size > 1 else x + 1, float(x.sum())))
    assert report.misconception is None


def test_numbers_that_differ_after_the_fourth_digit_are_shown_with_more() -> None:
    exercise = dataclasses.replace(DOUBLE, cases=(Case("one", (np.array([0.57512]),)),))
    message = judge(exercise, lambda x: x * 2 + 0.0002).message
    assert "`doubled[0]`: expected 1.15024, got 1.15044." in message


def test_exceptions_that_cant_be_printed() -> None:
    class Silent(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    def fails(x: Any) -> Any:
        raise Silent

    assert "stopped with" in judge(HALVES, fails).message


def test_results_that_break_when_looked_at() -> None:
    class Broken:
        def __repr__(self) -> str:
            raise RuntimeError("no words")

        def __array__(self, *_: Any, **__: Any) -> Any:
            raise RuntimeError("no numbers")

    assert "got a Broken" in judge(HALVES, lambda x: (Broken(), 0.0)).message
    meta = torch.empty(2, device="meta")
    assert not judge(HALVES, lambda x: (meta, 0.0)).passed
    ragged = [np.ones(2), [np.ones(3)]]
    assert not judge(HALVES, lambda x: (ragged, 0.0)).passed


def test_generators_are_named() -> None:
    def yields(x: Any) -> Any:
        yield x / 2

    assert "got a generator" in judge(HALVES, yields).message


def test_report_shows_what_a_reader_may_ask_for() -> None:
    report = judge(HALVES, lambda x: (x * 2, x.sum()))
    assert repr(report) == "Report(passed=False, misconception='doubled', hint='Which way round?')"


def test_shown_arrays_have_no_blanks_at_the_end_of_a_line() -> None:
    text = comparing.show("x", np.ones((2, 2, 2)))
    assert all(line == line.rstrip() for line in text.splitlines())
    assert comparing.show("x", np.ones(100)) == "x: numbers of shape (100,)"


def test_a_helper_that_fails_its_own_check_is_named() -> None:
    def uses(helper: str) -> str:
        scope: dict[str, Any] = {"np": np}
        exec(
            f"def softmax(scores, axis):\n    return {helper}\n\ndef halves(x):\n"
            "    def inner(x):\n        return softmax(x, 0)\n    return inner(x), 0.0",
            scope,
        )
        return judge(HALVES, scope["halves"]).message

    note = "It uses your `softmax`, which doesn't pass its own check yet: begin there."
    assert uses("scores").endswith(f"\n{note}")
    shifted = "np.exp(scores - scores.max(axis, keepdims=True))"
    imported: dict[str, Any] = {
        "softmax": attention.softmax
    }  # the course's own, with other parameters
    exec("def halves(x):\n    return softmax(x), 0.0", imported)
    assert note not in judge(HALVES, imported["halves"]).message
    assert note not in uses(f"{shifted} / {shifted}.sum(axis, keepdims=True)")


def test_a_method_that_has_the_name_of_an_exercise_is_no_helper_of_the_learners() -> None:
    scope: dict[str, Any] = {"torch": torch}
    exec(
        "def softmax(scores, axis):\n    raise NotImplementedError\n\n"
        "def halves(x: torch.Tensor):\n    return torch.softmax(x, 0) + x.softmax(0), 0.0",
        scope,
    )
    report = judge(HALVES, scope["halves"])
    assert report.attempted
    assert "softmax" not in report.message


def test_who_stops_with_both_kinds_of_array_hears_of_the_one_that_came_further() -> None:
    def with_tensors(x: Any) -> Any:
        first = x.transpose(-1, -1) / 2
        return first.halve(), x.sum()

    message = judge(HALVES, with_tensors).message
    assert "'Tensor' object has no attribute 'halve'" in message
    assert "return first.halve(), x.sum()" in message


def test_how_far_a_function_came_is_its_own_line_not_that_of_a_helper_above_it() -> None:
    """With tensors it comes to the helper, which is wrong; with arrays it stops before it."""

    def wrong_helper(x: Any) -> Any:
        return x.halve()

    def with_tensors(x: Any) -> Any:
        assert x.dim() == 1
        return wrong_helper(x), x.sum()

    message = judge(HALVES, with_tensors).message
    assert "'Tensor' object has no attribute 'halve', in your line `return x.halve()`" in message


def test_the_time_that_loading_a_library_takes_is_not_the_functions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "loads_slowly.py").write_text("import time\nfor _ in range(40): time.sleep(0.01)\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(running, "SECONDS", 0.1)

    def halves(x: Any) -> Any:
        import loads_slowly  # type: ignore[import-not-found]

        assert loads_slowly
        return x / 2, x.sum()

    assert judge(HALVES, halves).passed


def test_a_wrong_weight_is_shown_before_the_output_that_it_makes() -> None:
    exercise = dataclasses.replace(HALVES, returns=("output", "weights"))
    assert "`weights`: expected 4, got 5" in judge(exercise, lambda x: (x, x.sum() + 1)).message
    assert "`output[0]`: expected 0.5, got 1 " in judge(exercise, lambda x: (x, x.sum())).message


def test_a_helper_that_is_not_written_yet_is_named() -> None:
    scope: dict[str, Any] = {}
    exec(
        "def softmax(scores, axis):\n    raise NotImplementedError\n\n"
        "def halves(x):\n    return softmax(x, 0), 0.0",
        scope,
    )
    report = judge(HALVES, scope["halves"])
    assert report.message == (
        "halves. Not yet right. It uses your `softmax`, which isn't written yet: begin there."
    )
    assert (report.passed, report.attempted) == (False, True)


def test_wrong_numbers_with_one_kind_of_array_do_not_pass_with_the_other() -> None:
    """In a set, equal numbers of NumPy are one; tensors of equal value are several."""

    def each_once(x: Any) -> Any:
        return x / 2, sum(set(x.reshape(-1)))

    twice = Case("two equal numbers", (np.array([2.0, 2.0]),))
    exercise = dataclasses.replace(HALVES, cases=(*HALVES.cases, twice))
    report = judge(exercise, each_once)
    assert not report.passed
    assert "expected 4, got 2" in report.message
    assert "\n(With torch tensors it is right, but" in report.message


def test_numpy_in_a_first_line_that_says_tensors_is_told_of_both() -> None:
    def layer_norm(x: torch.Tensor, gain: torch.Tensor, bias: torch.Tensor, eps: float) -> Any:
        centred = x - x.mean(axis=-1, keepdims=True)  # type: ignore[call-overload]
        return gain * centred / (x.var(axis=-1, keepdims=True) + eps) ** 0.5 + bias  # type: ignore[call-overload]

    report = judge(encoder_decoder.layer_norm, layer_norm)
    assert report.misconception == "unbiased variance"
    assert (
        "\n(With NumPy arrays it is right, but it was called with torch tensors" in report.message
    )
    assert "`np.ndarray` belongs in its first line" in report.message
    layer_norm.__annotations__ = {"x": np.ndarray}
    assert judge(encoder_decoder.layer_norm, layer_norm).message == "Passed: layer_norm."


@pytest.mark.parametrize("chapter", exercises_by_chapter())
def test_cases_are_not_changed_by_their_use(chapter: str) -> None:
    for exercise in exercises_by_chapter()[chapter]:
        before = [repr(case.arguments) for case in exercise.cases]
        judge(exercise, lambda *arguments: arguments[0])
        assert [repr(case.arguments) for case in exercise.cases] == before
