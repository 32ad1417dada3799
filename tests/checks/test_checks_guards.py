"""What a check keeps from the learner's function: keyboard, the end of the notebook, random numbers, time."""
# ruff: noqa: NPY002 (written as learners write)

import builtins
import dataclasses
import io
import random
import re
import sys
import time
from _sitebuiltins import Quitter
from typing import Any

import nbformat
import numpy as np
import pytest
import torch
from nbclient import NotebookClient

from tests.checks.test_checks_engine import (
    DOUBLE,
    HALVES,
    SECONDS,
    _halves,
    _short_and_unharmed,  # noqa: F401 (used by every test)
    random_numbers,
)
from transformer_course import attention
from transformer_course.checks import running
from transformer_course.checks.engine import judge
from transformer_course.checks.exercise import Case

ASKS = "asks for input, and nobody answers while it is checked"


@pytest.mark.parametrize("ask", [input, lambda: input("x? "), lambda: sys.stdin.readline()])
def test_a_learners_prompt_does_not_hang(ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("typed"))
    keyboard, asking = sys.stdin, builtins.input
    assert ASKS in judge(HALVES, lambda x: ask()).message
    assert (sys.stdin, builtins.input) == (keyboard, asking)
    assert sys.stdin.read() == "typed"


def test_a_prompt_where_nobody_can_type_is_an_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nobody can type, a kernel raises an error that is a kind of NotImplementedError."""

    class NobodyTypes(NotImplementedError):
        pass

    def asks(x: Any) -> Any:
        raise NobodyTypes

    report = judge(HALVES, asks)
    assert report.attempted
    assert "stopped with" in report.message


def test_what_torch_cannot_compute_is_an_attempt() -> None:
    """For whole numbers torch's softmax raises NotImplementedError."""
    with pytest.raises(NotImplementedError):
        torch.arange(3).softmax(0)
    report = judge(HALVES, lambda x: torch.arange(3).softmax(0))
    assert report.attempted
    assert "not implemented for 'Long', in your line" in report.message


def test_a_stub_may_say_something() -> None:
    def todo(x: Any) -> Any:
        raise NotImplementedError("to do")

    assert not judge(HALVES, todo).attempted


def test_exit_of_plain_python_leaves_the_keyboard(monkeypatch: pytest.MonkeyPatch) -> None:
    keyboard = io.StringIO("typed")
    monkeypatch.setattr(sys, "stdin", keyboard)
    quitter = Quitter("exit", "Ctrl-D")
    assert (
        "calls `exit`, which would end the notebook" in judge(HALVES, lambda x: quitter()).message
    )
    assert not keyboard.closed


def test_a_notebook_lives_on_after_exit_and_input() -> None:
    """In a kernel `exit` and `quit` return, and the kernel ends after the cell."""
    calls = ("exit()", "quit()", "get_ipython().ask_exit()", "input('axis? ')")
    cells = [
        "from transformer_course.checks import attention as check",
        *(
            f"def softmax(scores, axis):\n    {call}\n    return scores\nreport = check.softmax(softmax)"
            for call in calls
        ),
        "print('alive', get_ipython().exit_now)",
    ]
    notebook = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, cells)))
    NotebookClient(notebook).execute()
    said = ["".join(out.text for out in cell.outputs) for cell in notebook.cells]
    for verdict in said[1:4]:
        assert "calls `exit`, which would end the notebook. Expected: `return`." in verdict
    assert ASKS in said[4]
    assert said[5] == "alive False\n"


def test_the_notebooks_random_numbers_stay_as_they_were() -> None:
    def seeds(x: Any) -> Any:
        random.seed(1)
        np.random.seed(1)
        torch.manual_seed(1)
        return x / 2 + np.random.normal() + random.random() + torch.rand(1).item(), 0.0

    def numbers() -> tuple[float, float, float]:
        return random.random(), float(np.random.random()), float(torch.rand(1))

    def seed() -> None:
        random.seed(7)
        np.random.seed(7)
        torch.manual_seed(7)

    seed()
    expected = numbers()
    for function in (seeds, random_numbers, _halves):
        seed()
        judge(HALVES, function)
        assert numbers() == expected


def test_an_input_that_holds_nan_is_unchanged() -> None:
    for nan in (np.array([np.nan, 1.0]), np.array([np.nan + 1j]), np.nan):
        exercise = dataclasses.replace(
            DOUBLE, cases=(Case("NaN", (nan,)),), misconceptions=(), reference=lambda x: np.ones(1)
        )
        assert judge(exercise, lambda x: np.ones(1)).message == "Passed: double."

    def fills(x: Any) -> Any:
        x[1] = np.nan
        return np.ones(1)

    outcome = running.run(fills, (np.array([np.nan, 1.0]),), SECONDS)
    assert outcome.trouble == "changed"


def long_sum(seconds: float) -> range:
    """Return a range whose sum takes so long, in one step of compiled code, however busy the machine is."""
    size, took = 10**6, 0.0
    while took < 0.02:
        size *= 2
        took = min(seconds_of_sum(size) for _ in range(5))
    return range(int(size * seconds / took))


def seconds_of_sum(size: int) -> float:
    """How long the sum of so many numbers takes."""
    start = time.monotonic()
    sum(range(size))
    return time.monotonic() - start


NOT_MIDWAY = "(One step in compiled code, such as a large product, can't be stopped midway.)"


def test_a_call_that_overruns_in_compiled_code_is_measured() -> None:
    numbers = long_sum(4 * SECONDS)

    def at_the_end(x: Any) -> Any:
        return x / 2, float(sum(numbers))

    started = time.monotonic()
    message = judge(HALVES, at_the_end).message
    assert time.monotonic() - started < 30 * SECONDS  # one call, not one for each case
    assert NOT_MIDWAY in message
    assert re.search(r"took \d\.\d seconds for one call|stopped only after \d\.\d\.", message)


def test_one_long_call_is_said_even_where_it_takes_the_time_of_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(running, "ALL_SECONDS", 2 * SECONDS)
    numbers = long_sum(4 * SECONDS)
    assert NOT_MIDWAY in judge(HALVES, lambda x: (x / 2, float(sum(numbers)))).message


def test_compiled_code_alone_is_measured_too() -> None:
    """No step of Python follows in which a timer could strike."""
    exercise = dataclasses.replace(
        DOUBLE, cases=(Case("many", (long_sum(4 * SECONDS),)),), reference=lambda x: 0.0
    )
    message = judge(exercise, sum).message
    assert re.search(rf"took \d\.\d seconds for one call, and may take {SECONDS:g}\. ", message)
    assert NOT_MIDWAY in message


def slow(x: Any) -> Any:
    time.sleep(0.5)
    return _halves(x)


@pytest.fixture
def soon_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time for three calls of `slow`, with much to spare on a busy machine."""
    monkeypatch.setattr(running, "SECONDS", 3.0)
    monkeypatch.setattr(running, "ALL_SECONDS", 1.9)


@pytest.mark.usefixtures("soon_up")
def test_a_whole_check_has_a_time_limit() -> None:
    started = time.monotonic()
    message = judge(HALVES, slow).message
    assert time.monotonic() - started < 3.5  # eight calls in all, of half a second
    assert message == (
        "halves. Not yet right. The check stopped after 1.9 seconds, with 1 of 4 cases done: your "
        "function is slow. So far its results are right. Expected: an answer at once, for inputs as small "
        "as these. Is something computed again and again that could be computed once?"
    )


@pytest.mark.usefixtures("soon_up")
def test_a_slow_answer_that_is_wrong_is_told_where() -> None:
    message = judge(HALVES, lambda x: (slow(x)[0], 5.0)).message
    assert "`total`: expected 4, got 5." in message
    assert message.endswith(
        "\n(The check stopped after 1.9 seconds, with 1 of 4 cases done: your function is slow.)"
    )
    assert "So far" not in message


def test_what_the_first_kind_of_array_told_stays_when_the_time_is_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Arrays first: a misconception. Then tensors, for which the time is too short."""
    monkeypatch.setattr(running, "ALL_SECONDS", 1.0)
    monkeypatch.setattr(running, "SECONDS", 3.0)

    def doubles(x: Any) -> Any:
        if type(x).__name__ == "Tensor":
            time.sleep(1.1)
        return x * 2, float(x.sum())

    assert judge(HALVES, doubles).misconception == "doubled"


@pytest.mark.usefixtures("soon_up")
def test_the_kind_of_array_that_works_tells_more_than_an_error() -> None:
    def only_tensors(x: Any) -> Any:
        total = x.clone().sum()
        time.sleep(0.5)
        return x / 2, total

    assert "So far its results are right" in judge(HALVES, only_tensors).message


def test_a_helper_is_not_blamed_when_the_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "ALL_SECONDS", 0.3)
    scope: dict[str, Any] = {"time": time, "softmax": attention.softmax}
    exec(
        "def softmax(scores, axis):\n    return scores\n\n"
        "def halves(x):\n    time.sleep(0.4)\n    return softmax(x, 0), 0.0",
        scope,
    )
    assert "softmax" not in judge(HALVES, scope["halves"]).message
