"""A fingerprint of code: changes with what the code does, not with its comments and docstrings."""

import ast
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "transformer_course"


def fingerprint(config: Any, modules: Iterable[str]) -> str:
    """SHA-256 of a config and of the package modules that give it meaning.

    Args:
        config: anything JSON can say.
        modules: files or folders below the package, such as "training.py" or "corpus/grammar".

    Raises:
        ValueError: if there is no such file or folder.
    """
    state = hashlib.sha256(json.dumps(config, sort_keys=True).encode())
    for name in sorted(modules):
        path = PACKAGE / name
        if not path.exists():
            raise ValueError(f"modules names {name!r}, which isn't in the package")
        files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
        for file in files:
            if file.suffix == ".py":
                state.update(_code(file).encode())
            elif file.suffix in (".tsv", ".txt"):
                state.update(file.read_bytes())
    return state.hexdigest()


def _code(path: Path) -> str:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and _is_docstring(body[0]):
            node.body = body[1:]  # type: ignore[attr-defined]
    return ast.dump(tree)


def _is_docstring(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
