"""Notice where a right answer calls what it was to write: the course's own function, or a library's.

What the function calls is seen while it runs, so names, aliases and helpers don't matter. Only its own calls
count, not those that a library makes by itself.
"""

import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from transformer_course.checks.running import run
from transformer_course.checks.task import Arguments, Task

COURSE = "transformer_course"
LIBRARIES = ("numpy", "scipy", "torch", "transformers", "sacrebleu")
# What a chapter's notebook hands to the learner of the chapter's own module.
HANDED = {
    "masking": ("padding_mask",),
    "seq2seq": ("attention_cost", "convolution_cost", "recurrent_cost"),
}


def ready_made_call(
    task: Task, function: Callable[..., Any], arguments: Arguments, seconds: float
) -> str:
    """Return what the function calls ready-made, in words; nothing if it calls no such thing.

    Args:
        task: what was to be written. Only in *implement* exercises the course's functions are the task.
        function: what the learner wrote.
        arguments: those of one case.
        seconds: the time that the call may take.

    Returns:
        For example "torch's ready-made `softmax`".
    """
    if task.kind != "implement":
        return ""
    found: list[str] = []

    def watch(frame: types.FrameType, event: str, argument: Any) -> None:
        caller = frame.f_back if event == "call" else frame
        if event in ("call", "c_call") and caller is not None and not _in_library(caller):
            called = _called(frame) if event == "call" else _called_compiled(argument)
            found.extend(filter(None, [_words(task, *called)]))

    def watched(*given: Any) -> Any:
        with _profile(watch):
            return function(*given)

    run(watched, arguments, seconds)
    return found[0] if found else ""


@contextmanager
def _profile(watch: Callable[[types.FrameType, str, Any], None]) -> Iterator[None]:
    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        yield
    finally:
        sys.setprofile(before)


def _in_library(frame: types.FrameType) -> bool:
    """True for code of the course or of a library; what this module calls is the learner's function."""
    module = _module(frame)
    return module != __name__ and module.split(".")[0] in (COURSE, *LIBRARIES)


def _module(frame: types.FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def _called(frame: types.FrameType) -> tuple[str, tuple[str, ...]]:
    """Return the module of a function of Python, and its name after the names of its classes."""
    return _module(frame), tuple(frame.f_code.co_qualname.split("."))


def _called_compiled(function: Any) -> tuple[str, tuple[str, ...]]:
    """Return the module of a compiled function, or of the class whose method it is, and its name."""
    owner = getattr(function, "__module__", None) or type(function.__self__).__module__
    return str(owner), (str(function.__name__),)


def _words(task: Task, module: str, names: tuple[str, ...]) -> str:
    """Put into words what was called; nothing if the exercise wasn't to write it."""
    root = module.split(".")[0]
    same = next((name for name in names if _plain(name) == _plain(task.name)), "")
    if root in LIBRARIES and same:
        return f"{root}'s ready-made `{same}`"
    if root != COURSE or names[0] == "<module>":  # an import
        return ""
    stem = task.reference.__module__.split(".")[2:3]
    of_chapter = stem and f"{module}.".startswith(f"{COURSE}.{stem[0]}.")
    if same or (of_chapter and names[0] not in HANDED.get(stem[0], ())):
        return f"the course's own `{same or names[0]}`"
    return ""


def _plain(name: str) -> str:
    """Return a name as it is spelt alike for a function and for a layer.

    >>> [_plain(name) for name in ("MultiheadAttention", "TransformerEncoderLayer", "GRUCell", "adam_step")]
    ['multiheadattention', 'encoderlayer', 'gru', 'adam']
    """
    plain = name.lower().replace("_", "")
    plain = plain.removeprefix("transformer") or plain
    return plain.removesuffix("cell").removesuffix("step")
