"""The learner's own Transformer: functions that pass their check gather in `my_transformer.py`."""

import ast
import inspect
import os
import pkgutil
import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import transformer_course
from transformer_course.checks import functional, running
from transformer_course.checks.array_kinds import for_arrays, has_64_bits
from transformer_course.checks.discovery import exercises_named
from transformer_course.checks.engine import judge
from transformer_course.checks.own_file import (
    FILE,
    CannotKeep,
    blocks_for,
    load,
    put,
    read,
    source_of,
)
from transformer_course.checks.running import in_depth


def keep(thing: Callable[..., Any]) -> None:
    """Write a function or class of the notebook into `my_transformer.py`, and say so.

    An older version of the same name is replaced. Nothing is written if it isn't finished, doesn't pass
    its check, or if the file can't be read as Python any more.

    Args:
        thing: the function or class itself. What it uses of the notebook (functions, classes, numbers,
            imports) is written too.
    """
    name = getattr(thing, "__name__", repr(thing))
    try:
        text, others = _text_with(name, thing)
    except CannotKeep as error:
        print(f"Not kept: {name}. {error}")
        return
    new = Path(f"{FILE}.new")
    new.write_text(text, encoding="utf-8")
    os.replace(new, FILE)  # in one step, so that nobody reads half a file
    print(f"Kept in {FILE}: {name}{f' (with {others}, which it uses)' if others else ''}.")


def part(name: str, chapter: str | None = None) -> Any:
    """Return the learner's part of this name if it passes its check with tensors, else the package's.

    Prints which of the two it is, and why.

    Args:
        name: name of the function or class.
        chapter: stem of the chapter whose check it must pass, for a part that grows: "masking" wants
            attention with a mask, "attention" is content without. By default any chapter's check will do.

    Returns:
        The learner's function or class, or the package's.

    Raises:
        ValueError: if the package has no such part, or the chapter no such exercise.
    """
    if chapter is not None and not exercises_named(name, chapter):
        raise ValueError(f"chapter ({chapter!r}) must be one with an exercise {name!r}")
    packaged = _packaged(name)
    mine, reason = None, f"{FILE} isn't in this folder"
    if Path(FILE).exists():
        try:
            mine = load(read()).get(name)
            reason = f"{FILE} has none"
        except CannotKeep as error:
            reason = str(error).rstrip(".")
    if mine is not None and _passes(name, mine, ("torch",), chapter):
        print(f"{name}: yours, from {FILE}.")
        return for_arrays(mine) if inspect.isfunction(mine) else mine
    which = f"the check of chapter {chapter}" if chapter else "its check"
    reason = reason if mine is None else f"yours in {FILE} doesn't pass {which}"
    print(f"{name}: the course's own ({reason}).")
    return packaged


def _text_with(name: str, thing: Any) -> tuple[str, str]:
    """Return the text of the file with `thing` in it, and the names of other functions written with it."""
    if not (inspect.isfunction(thing) or inspect.isclass(thing)) or not name.isidentifier():
        raise CannotKeep(
            "Give `keep` a function written with `def`, or a class, by its name alone."
        )
    if any(_raises_not_implemented(node) for node in ast.walk(ast.parse(source_of(thing)))):
        raise CannotKeep("It isn't written yet.")
    if not _passes(name, thing):
        raise CannotKeep("It doesn't pass its check yet.")
    text = read()
    load(text)  # what can't be read isn't written over
    blocks = blocks_for(thing, _written)
    for decorator in ("for_tensors", "in_32_bits"):
        if any(block.startswith(f"@{decorator}") for block in blocks.values()):
            text = put(text, "", f"from transformer_course.checks import {decorator}\n", name)
    for needed, block in blocks.items():
        text = put(text, needed, block, name)
    load(text)
    others = [n for n, block in blocks.items() if n != name and "\n" in block.rstrip()]
    return text, ", ".join(others)


def _raises_not_implemented(node: ast.AST) -> bool:
    return isinstance(node, ast.Raise) and "NotImplementedError" in ast.unparse(node)


def _written(thing: Any) -> str:
    """Return the source to write; what can't be used with torch's usual tensors is made fit for them."""
    source, name = source_of(thing), thing.__name__
    if source.startswith(("@for_tensors", "@in_32_bits")) or not exercises_named(name):
        return source
    if _makes_64_bits(name, thing):
        return f"@in_32_bits  # as torch's own numbers\n{source}"
    numpy_only = _passes(name, thing, ("numpy",)) and not _passes(name, thing, ("torch",))
    return f"@for_tensors  # written for NumPy\n{source}" if numpy_only else source


def _makes_64_bits(name: str, thing: Any) -> bool:
    """True if `thing` makes numbers of 64 bits of its own accord: no array that it gets says how many."""
    cases = [case.arguments for exercise in exercises_named(name) for case in exercise.cases]
    given: list[Any] = []
    in_depth(cases, given.append)
    if not given or any(isinstance(x, np.ndarray) for x in given):
        return False
    return has_64_bits(running.run(thing, cases[0], running.SECONDS).value)


def _passes(
    name: str, thing: Any, kinds: tuple[str, ...] | None = None, chapter: str | None = None
) -> bool:
    """True if `thing` passes a check of this name with one of the kinds of array, or if there is no check."""
    exercises = exercises_named(name, chapter)
    return not exercises or any(judge(exercise, thing, kinds).passed for exercise in exercises)


def _packaged(name: str) -> Any:
    """Return the package's function or class of this name; the function of `functional` if there is one."""
    found = getattr(functional, name, None)
    if inspect.isfunction(found) and found.__module__ == functional.__name__:
        return found
    definition = re.compile(rf"^(?:def|class) {re.escape(name)}\b", re.MULTILINE)
    folder = Path(transformer_course.__path__[0])
    for module in pkgutil.iter_modules(transformer_course.__path__):
        path = folder / f"{module.name}.py"
        if path.exists() and definition.search(path.read_text(encoding="utf-8")):
            return getattr(import_module(f"transformer_course.{module.name}"), name)
    raise ValueError(f"name ({name!r}) must be a function or class of the package")
