"""The source of a packaged function, shown in a notebook as it stands in the file."""

import ast
import inspect
import textwrap
from collections.abc import Callable
from typing import Any


class Source:
    """The code of a function or class, read from its file at the moment it is shown; never pasted.

    The docstrings are left out: the API pages show them. Comments stay.

    Args:
        thing: a function or class of the package.
        since: words of the first line to show; by default all lines are shown.

    Raises:
        TypeError: if it is built into Python, so that there is no source to show.
        ValueError: if no line has those words.

    >>> def double(x):
    ...     '''Twice x.'''
    ...     return 2 * x  # or x + x
    >>> print(Source(double).code)
    def double(x):
        return 2 * x  # or x + x
    >>> print(Source(double, since="return").code)
    return 2 * x  # or x + x
    """

    def __init__(self, thing: Callable[..., Any], since: str = "") -> None:
        self.name = f"{thing.__module__}.{thing.__qualname__}"
        lines = without_docstrings(textwrap.dedent(inspect.getsource(thing))).splitlines()
        first = next((n for n, line in enumerate(lines) if since in line), None)
        if first is None:
            raise ValueError(f"since ({since!r}) must be words of a line of {self.name}")
        self.code = textwrap.dedent("\n".join(lines[first:]))

    def __repr__(self) -> str:
        return f"The source of {self.name}"

    def _repr_markdown_(self) -> str:
        return f"```python\n{self.code}\n```"


def without_docstrings(code: str) -> str:
    """Return the code without the docstrings of its functions and classes.

    Args:
        code: one function or class, not indented.

    Returns:
        The other lines, as they are.

    Raises:
        SyntaxError: if it isn't Python.

    >>> without_docstrings("def f():\\n    'Nothing.'\\n    return 0")
    'def f():\\n    return 0'
    """
    lines = code.splitlines()
    hidden: set[int] = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            start, end = node.body[0].lineno, node.body[0].end_lineno or 0
            hidden |= set(range(start, end + 1))
            if end < len(lines) and not lines[end].strip():
                hidden.add(end + 1)  # the empty line after it
    return "\n".join(line for n, line in enumerate(lines, start=1) if n not in hidden).rstrip()
