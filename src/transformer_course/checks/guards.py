"""What a check keeps from the learner's function: the end of the notebook, and its random numbers."""

import builtins
import contextlib
import io
import random
import sys
from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np
import torch

_ABSENT = object()


class InputAsked(EOFError):
    """The function asks for input; an EOFError, as where nobody is there to type."""


class _NobodyTypes(io.TextIOBase):
    """Stands in for the keyboard. `exit` of plain Python closes it, and not the real one."""

    def read(self, size: int | None = -1) -> NoReturn:
        """Refuse."""
        raise InputAsked

    def readline(self, size: int | None = -1) -> NoReturn:
        """Refuse."""
        raise InputAsked


def _asked(prompt: object = "") -> NoReturn:
    raise InputAsked


def _exit() -> NoReturn:
    raise SystemExit


@contextlib.contextmanager
def _replaced(owner: Any, name: str, value: object) -> Iterator[None]:
    """Give `owner` another attribute for a while."""
    before = vars(owner).get(name, _ABSENT)
    setattr(owner, name, value)
    try:
        yield
    finally:
        if before is _ABSENT:
            delattr(owner, name)
        else:
            setattr(owner, name, before)


@contextlib.contextmanager
def doors_closed() -> Iterator[None]:
    """Let `input`, and `exit` and `quit` of a notebook, raise an exception in place of what they do.

    In a notebook `exit()` returns as if nothing had happened, and the kernel ends after the cell.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(_replaced(sys, "stdin", _NobodyTypes()))
        stack.enter_context(_replaced(builtins, "input", _asked))
        shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
        if shell is not None:
            stack.enter_context(_replaced(shell, "ask_exit", _exit))
            if hasattr(shell, "keepkernel_on_exit"):  # `exit` sets it first
                kept = shell.keepkernel_on_exit
                stack.enter_context(_replaced(shell, "keepkernel_on_exit", kept))
        yield


@contextlib.contextmanager
def random_states_kept() -> Iterator[None]:
    """Put the random numbers of Python, NumPy and torch back to where they were."""
    of_python, of_numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    gpus = range(torch.cuda.device_count()) if torch.cuda.is_initialized() else ()  # type: ignore[no-untyped-call]
    try:
        with torch.random.fork_rng(gpus):
            yield
    finally:
        random.setstate(of_python)
        np.random.set_state(of_numpy)  # noqa: NPY002
