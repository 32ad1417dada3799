"""The text of `my_transformer.py`: what a part of the learner needs in it, and where it goes."""

import ast
import builtins
import importlib
import inspect
import linecache
import symtable
import sys
import textwrap
import types
from collections.abc import Callable
from itertools import takewhile
from pathlib import Path
from typing import Any

from transformer_course.checks import running
from transformer_course.checks.guards import random_states_kept

NAME = "my_transformer"
FILE = f"{NAME}.py"
HEAD = '''"""My Transformer: the parts that I wrote in the exercises. `keep` adds to it; I may edit it too."""

from __future__ import annotations

'''
IMPORTS = (ast.Import, ast.ImportFrom)
_ABSENT = object()


class CannotKeep(Exception):
    """A part that can't be written or read; the message is the sentence for the learner."""


def read() -> str:
    """Return the text of the file in this folder, or the head of a new one."""
    path = Path(FILE)
    return path.read_text(encoding="utf-8") if path.exists() else HEAD


def load(text: str) -> dict[str, Any]:
    """Run the text as a module and return what it defines.

    Raises:
        CannotKeep: if it isn't Python, or doesn't run.
    """
    try:
        code = compile(text, str(Path(FILE).resolve()), "exec")
    except (SyntaxError, ValueError) as error:
        where = f", line {error.lineno}" if isinstance(error, SyntaxError) else ""
        raise CannotKeep(f"{FILE} can't be read as Python{where}. Mend it there first.") from None
    module = sys.modules[NAME] = types.ModuleType(NAME)
    with random_states_kept():
        outcome = running.run(lambda: exec(code, vars(module)), (), running.SECONDS)
    if outcome.trouble:
        sentence = outcome.sentence or "Your function stopped with NotImplementedError."
        raise CannotKeep(sentence.replace("Your function", FILE))
    return vars(module)


def source_of(thing: Any) -> str:
    """Return the source of a function or class, defined in a file or in a cell of a notebook.

    Raises:
        CannotKeep: if the source isn't there.
    """
    try:
        if inspect.isfunction(thing):
            text = textwrap.dedent(inspect.getsource(thing))
            return "".join(text.splitlines(keepends=True)[: ast.parse(text).body[0].end_lineno])
        lines = linecache.getlines(_method(thing).__code__.co_filename)
        body = ast.parse("".join(lines)).body
        nodes = [n for n in body if getattr(n, "name", "") == thing.__name__]
        return "".join(lines[_start(nodes[-1]) : nodes[-1].end_lineno])
    except (OSError, IndexError, SyntaxError):
        raise CannotKeep("Its source isn't there. Define it in a cell of the notebook.") from None


def _method(cls: type) -> Any:
    """Return one of the methods that a class itself defines; a class of a notebook knows no file."""
    methods = [member for member in vars(cls).values() if inspect.isfunction(member)]
    if not methods:
        raise CannotKeep("It has no method of its own.")
    return methods[0]


def blocks_for(
    thing: Any, written: Callable[[Any], str], seen: frozenset[str] = frozenset()
) -> dict[str, str]:
    """Return what `thing` needs, then itself, as blocks of source by their names.

    Args:
        thing: a function or class.
        written: returns the source to write for a function or class of the notebook.
        seen: names that are being looked at already.

    Raises:
        CannotKeep: if it uses something that can't be written as a line of Python.
    """
    source = written(thing)
    blocks: dict[str, str] = {}
    scope = (thing if inspect.isfunction(thing) else _method(thing)).__globals__
    seen |= {thing.__name__}
    for name in _globals_used(source):
        value = scope.get(name, _ABSENT)
        if value is _ABSENT or name in seen:
            continue
        own = inspect.isfunction(value) or inspect.isclass(value)
        if own and value.__module__ == thing.__module__ and value.__name__ == name:
            blocks |= blocks_for(value, written, seen)
        elif line := _line(name, value):
            blocks[name] = line
    return {**blocks, thing.__name__: source}


def _globals_used(source: str) -> list[str]:
    """Return the names that a definition takes from outside, sorted."""
    names, tables = set(), [symtable.symtable(source, "part", "exec")]
    for table in tables:
        top = table.get_type() == "module"
        names |= {
            s.get_name()
            for s in table.get_symbols()
            if (s.is_referenced() and not s.is_assigned() if top else s.is_global())
        }
        tables += table.get_children()
    return sorted(name for name in names if not hasattr(builtins, name))


def _line(name: str, value: Any) -> str:
    """Return the line that makes `name` in another file; nothing if the file has it already."""
    if inspect.ismodule(value):
        return f"import {value.__name__}" + ("" if value.__name__ == name else f" as {name}") + "\n"
    value = inspect.unwrap(value) if inspect.isfunction(value) else value  # as `part` gives it out
    origin, original = getattr(value, "__module__", None), getattr(value, "__name__", name)
    if origin == NAME:
        return "" if name == original else f"{name} = {original}\n"
    for place in (origin, "numpy", "torch", "math"):
        module = importlib.import_module(place) if place and place != "__main__" else None
        found = getattr(module, original, _ABSENT)
        if found is value or getattr(found, "__wrapped__", _ABSENT) is value:
            alias = "" if name == original else f" as {name}"
            return f"from {place} import {original}{alias}\n"
    try:
        if ast.literal_eval(repr(value)) == value:
            return f"{name} = {value!r}\n"
    except (ValueError, SyntaxError):
        pass
    raise CannotKeep(f"It uses `{name}` from outside. Make `{name}` inside it, or a parameter.")


def put(text: str, name: str, block: str, before: str) -> str:
    """Return the text with a block in it: in place of the older one, else before `before`, else at the end.

    >>> print(put("import math\\n\\n\\ndef f():\\n    return 1\\n", "f", "def f():\\n    return 2\\n", "f"))
    import math
    <BLANKLINE>
    <BLANKLINE>
    def f():
        return 2
    <BLANKLINE>
    """
    lines, nodes = text.splitlines(keepends=True), ast.parse(text).body
    if isinstance(ast.parse(block).body[0], IMPORTS):
        if ast.unparse(ast.parse(block)) not in map(ast.unparse, nodes):
            head = list(takewhile(lambda node: isinstance(node, (ast.Expr, *IMPORTS)), nodes))
            lines.insert(head[-1].end_lineno or 0 if head else 0, block)
        return "".join(lines)
    for node in nodes:
        if _binds(node) == name:
            lines[_start(node) : node.end_lineno] = [block]
            return "".join(lines)
    place = next((_start(node) for node in nodes if _binds(node) == before), None)
    if place is None:
        return text.rstrip("\n") + "\n\n\n" + block
    lines.insert(place, block + "\n\n")
    return "".join(lines)


def _binds(node: ast.stmt) -> str:
    """Return the name that a definition or simple assignment makes, or nothing."""
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    return getattr(node, "name", "")


def _start(node: ast.stmt) -> int:
    """Return the number of lines before a statement and its decorators."""
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno, *(d.lineno for d in decorators)]) - 1
