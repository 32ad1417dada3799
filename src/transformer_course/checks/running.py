"""Run the learner's function so that nothing it does stops or hangs the notebook.

Two things can't be stopped: a single call into compiled code, such as `10**10**10`, which is measured once it
comes back, and, where there is no timer, a loop that catches every exception, TimeUp too.
"""

import contextlib
import io
import linecache
import signal
import sys
import threading
import time
import traceback
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from transformer_course.checks.guards import InputAsked, doors_closed

SECONDS = 3.0  # the time one call may take
ALL_SECONDS = 10.0  # the time all calls of a check may take together
LATE = 0.5  # seconds beyond its limit after which a call wasn't stopped in time
AGAIN = 0.01  # seconds after which the alarm rings again
OURS = (__file__, contextlib.__file__)  # code in which the alarm doesn't strike
LOADING = "<frozen importlib._bootstrap>"  # nor while this is at work


class TimeUp(BaseException):
    """The time limit; not an Exception, so that `except Exception` in the function doesn't catch it."""


@dataclass(frozen=True)
class Outcome:
    """What came of one call.

    Args:
        value: what the function returned, if `trouble` is empty.
        trouble: "" if it returned; else "unimplemented", "error", "time", "recursion", "exit", "input" or
            "changed".
        sentence: the trouble in words, for the learner.
        printed: number of characters that the function printed.
        line: number of the function's own line at which an exception ended it, be it in a helper that the line
            calls; 0 if there is none, or it isn't known.
    """

    value: Any = None
    trouble: str = ""
    sentence: str = ""
    printed: int = 0
    line: int = 0


class Clock:
    """Adds up the time that the calls of a check take."""

    def __init__(self) -> None:
        self.spent = 0.0

    @property
    def up(self) -> bool:
        """True if the calls have taken all their time."""
        return self.spent >= ALL_SECONDS

    @property
    def seconds(self) -> float:
        """The time that the next call may take."""
        return max(0.001, min(SECONDS, ALL_SECONDS - self.spent))


class _Sink(io.TextIOBase):
    """A file that counts what is written to it and keeps nothing."""

    def __init__(self) -> None:
        self.characters = 0

    def write(self, text: str) -> int:
        """Count the characters."""
        self.characters += len(text)
        return len(text)


@contextlib.contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Raise TimeUp in the main thread after `seconds`, then again and again, by the system's timer."""

    def ring(number: int, frame: types.FrameType | None) -> None:
        if frame is not None and frame.f_code.co_filename not in OURS and not _loading(frame):
            _strike_again(frame)
            raise TimeUp

    trace, before = sys.gettrace(), signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        sys.settrace(trace)
        signal.signal(signal.SIGALRM, before)


def _loading(frame: types.FrameType | None) -> bool:
    """True while the call loads a module: stopped midway, it would be broken for the whole notebook."""
    while frame is not None and frame.f_code.co_filename not in (LOADING, *OURS):
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename == LOADING


def _strike_again(frame: types.FrameType | None) -> None:
    """Raise TimeUp also in the next step after the coming one, for a loop with `except:` around its body."""

    def strike(frame: types.FrameType, event: str, argument: object) -> Any:
        if frame.f_code.co_filename in OURS:
            return None
        if event in ("line", "opcode"):
            raise TimeUp
        return strike

    sys.settrace(strike)
    while frame is not None and frame.f_code.co_filename not in OURS:
        frame.f_trace, frame.f_trace_opcodes = strike, True
        frame = frame.f_back


@contextlib.contextmanager
def _trace(seconds: float) -> Iterator[None]:
    """Raise TimeUp at the first step of Python after `seconds`; works in every thread and system."""
    end = time.monotonic() + seconds

    def watch(frame: types.FrameType, event: str, argument: object) -> Any:
        if time.monotonic() > end:
            raise TimeUp
        frame.f_trace_opcodes = True  # `while True: pass` never comes to another line
        return watch

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        yield
    finally:
        sys.settrace(before)


def time_limit(seconds: float) -> contextlib.AbstractContextManager[None]:
    """Return a context that raises TimeUp when its body takes longer than `seconds`."""
    in_main_thread = threading.current_thread() is threading.main_thread()
    if in_main_thread and hasattr(signal, "setitimer"):
        return _alarm(seconds)
    return _trace(seconds)


def run(function: Callable[..., Any], arguments: tuple[Any, ...], seconds: float) -> Outcome:
    """Call `function` with copies of `arguments`, and return what came of it, whatever that is.

    Only the learner's own Ctrl-C (KeyboardInterrupt) goes through.
    """
    given = copied(arguments)
    sink, start = _Sink(), time.monotonic()
    try:
        with _quiet(sink), doors_closed(), time_limit(seconds):
            value = function(*given)
    except TimeUp:
        return _late(seconds, time.monotonic() - start, ended=False)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return _failure(function, error, sink.characters)
    took = time.monotonic() - start
    if took > seconds:
        return _late(seconds, took, ended=True)
    if not unchanged(given, arguments):
        return Outcome(
            trouble="changed",
            sentence="Your function changes its inputs. Expected: inputs as they were before the call. "
            "Work on a copy, or build something new: `x += 1`, `x.sort()` and `d[name] = …` all write into "
            "the old one.",
        )
    return Outcome(value, printed=sink.characters)


@contextlib.contextmanager
def _quiet(sink: _Sink) -> Iterator[None]:
    """Keep prints and warnings off the page, and leave the settings of warnings as they were."""
    with (
        contextlib.redirect_stdout(sink),
        contextlib.redirect_stderr(sink),
        warnings.catch_warnings(),
        np.errstate(all="ignore"),
    ):
        warnings.simplefilter("ignore")
        yield


def _late(seconds: float, took: float, ended: bool) -> Outcome:
    """Return the outcome of a call that took too long, whether it `ended` or was stopped."""
    if not ended and took < seconds + LATE:
        sentence = f"Your function didn't finish in {seconds:g} seconds, and was stopped."
        ask = "Is there a loop that never ends?"
    else:
        if ended:
            sentence = (
                f"Your function took {took:.1f} seconds for one call, and may take {seconds:g}."
            )
        else:
            sentence = (
                f"Your function didn't finish in {seconds:g} seconds, and could be stopped only after "
                f"{took:.1f}."
            )
        sentence += (
            " (One step in compiled code, such as a large product, can't be stopped midway.)"
        )
        ask = "Is there an array, or a number, that grows much larger than the inputs?"
    sentence = f"{sentence} Expected: an answer at once. {ask}"
    return Outcome(trouble="time", sentence=sentence)


def _failure(function: Callable[..., Any], error: BaseException, printed: int) -> Outcome:
    """Return the outcome of a call that ended with an exception."""
    line, where = _where(function, error)
    if _is_stub(error, where):
        return Outcome(trouble="unimplemented", printed=printed)
    if isinstance(error, RecursionError):
        return Outcome(
            trouble="recursion",
            sentence="Your function calls itself without end. Expected: an answer. "
            "Does it call itself where you meant another function?",
        )
    if isinstance(error, SystemExit):
        return Outcome(
            trouble="exit",
            sentence="Your function calls `exit`, which would end the notebook. Expected: `return`.",
        )
    if isinstance(error, InputAsked):
        return Outcome(
            trouble="input",
            sentence="Your function asks for input, and nobody answers while it is checked. "
            "Expected: a result that comes from its arguments alone.",
        )
    what = traceback.format_exception_only(error)[-1].splitlines()[0][:180].rstrip(".")
    place = f", in your line `{where}`" if where else ""
    sentence = f"Your function stopped with {what}{place}."
    return Outcome(trouble="error", sentence=sentence, printed=printed, line=line)


def _is_stub(error: BaseException, where: str) -> bool:
    """True for the `raise NotImplementedError` of a stub; torch raises such errors too, with a text."""
    if type(error) is not NotImplementedError:  # of a subclass: `getpass` where nobody can type
        return False
    return not error.args or where.startswith("raise NotImplementedError")


def _where(function: Callable[..., Any], error: BaseException) -> tuple[int, str]:
    """Return the number of the function's own line where it ended, and the learner's line that raised `error`.

    They are 0 and "" if they aren't known.
    """
    code = getattr(function, "__code__", None)
    own, number, step = 0, 0, error.__traceback__
    while code is not None and step is not None:
        if step.tb_frame.f_code.co_filename == code.co_filename:
            number = step.tb_lineno
        if step.tb_frame.f_code is code:
            own = own or step.tb_lineno
        step = step.tb_next
    return own, linecache.getline(code.co_filename, number).strip() if code and number else ""


def in_depth(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return the value with `change` applied to each part of its dictionaries, lists and tuples.

    >>> in_depth({"a": [1, (2, 3)]}, lambda x: 10 * x)
    {'a': [10, (20, 30)]}
    """
    if isinstance(value, dict):
        return {name: in_depth(part, change) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([in_depth(part, change) for part in value])
    return change(value)


def copied(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the arguments with arrays, tensors, lists and dictionaries copied."""
    return tuple(in_depth(x, _copy) for x in arguments)


def _copy(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.clone()
    return value.copy() if isinstance(value, np.ndarray) else value


def unchanged(given: Any, original: Any) -> bool:
    """True if every array, list and dictionary still has its shape and values; NaN is the value NaN."""
    if isinstance(original, dict):
        return given.keys() == original.keys() and all(
            unchanged(given[name], part) for name, part in original.items()
        )
    if isinstance(original, (list, tuple)):
        return len(given) == len(original) and all(map(unchanged, given, original))
    if isinstance(original, (np.ndarray, torch.Tensor)):
        now, before = (
            np.asarray(x.detach() if isinstance(x, torch.Tensor) else x) for x in (given, original)
        )
        with_nan = before.dtype.kind in "fc"
        return np.array_equal(now, before) or np.array_equal(now, before, equal_nan=with_nan)
    return given is original or bool(given == original)
