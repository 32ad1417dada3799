"""Packages that only some commands need (chapter 14): a missing one is told in one sentence."""

from importlib import import_module
from typing import Any

_INSTALL = {  # by extra
    "export": 'run pip install ".[export]" in the folder of the course',
    "serve": 'run pip install ".[serve]" in the folder of the course',
    "watch": 'run pip install ".[watch]" in the folder of the course',
}


def needed(name: str, extra: str) -> Any:
    """Import a package that may be missing.

    Args:
        name: the module.
        extra: of this package, which brings it: "export", "serve" or "watch".

    Returns:
        The module.

    Raises:
        ValueError: if it is missing; the sentence says how to install it.

    >>> needed("no_such_engine", "export")
    Traceback (most recent call last):
    ValueError: no_such_engine is missing: run pip install ".[export]" in the folder of the course
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise ValueError(f"{error.name} is missing: {_INSTALL[extra]}") from error
