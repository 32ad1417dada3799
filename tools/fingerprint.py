"""A fingerprint of code: what it does counts, not its comments, its docstrings or what nobody uses.

Of the grammar what it writes counts, not how its rules are written.
"""

import ast
import hashlib
import json
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from transformer_course.corpus import grammar
from transformer_course.corpus.grammar.splits import SPLITS

GRAMMAR = "corpus/grammar"
PACKAGE = Path(__file__).resolve().parent.parent / "src" / "transformer_course"
TRANSLATOR = (  # the modules that decide what a trained translator writes
    "attention.py",
    "corpus/batches.py",
    GRAMMAR,
    "corpus/scoring.py",
    "corpus/vocabulary.py",
    "decoding.py",
    "encoder_decoder.py",
    "loss.py",
    "masking.py",
    "multi_head.py",
    "positional_encoding.py",
    "recipe.py",
    "training.py",
    "translator.py",
)


def fingerprint(config: Any, modules: Iterable[str], uses: Iterable[str]) -> str:
    """SHA-256 of a config and of the package's code that gives it meaning.

    A function or class counts if it is used, directly or through others of these modules. "Used" means that its
    name occurs, also within a string: too much may count, but never too little.

    Args:
        config: anything JSON can say.
        modules: files or folders below the package, such as "training.py" or "corpus/grammar".
        uses: the names from which the search starts, such as those in an experiment's script.

    Raises:
        ValueError: if there is no such file or folder.
    """
    state = hashlib.sha256(json.dumps(config, sort_keys=True).encode())
    definitions: list[ast.stmt] = []
    for name in sorted(modules):
        if name == GRAMMAR:
            state.update(grammar_digest())
            continue
        path = PACKAGE / name
        if not path.exists():
            raise ValueError(f"modules names {name!r}, which isn't in the package")
        files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
        for file in files:
            if file.suffix == ".py":
                definitions += parsed(file).body
    for code in sorted(map(ast.dump, _reached(definitions, set(uses)))):
        state.update(code.encode())
    return state.hexdigest()


@cache
def grammar_digest() -> bytes:
    """SHA-256 of a sample that the grammar writes, and of its data: a rare word may not be in the sample."""
    pairs = [pair for split in SPLITS for pair in grammar.generate(split, 5000)]
    for phenomenon in grammar.PHENOMENA:
        pairs += grammar.sentences_with(phenomenon, "test", 20)
    state = hashlib.sha256(repr(pairs).encode())
    for file in sorted((PACKAGE / GRAMMAR / "data").iterdir()):
        state.update(file.read_bytes())
    return state.digest()


def parsed(path: Path) -> ast.Module:
    """A file's code without its docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and _is_docstring(body[0]):
            node.body = body[1:]  # type: ignore[attr-defined]
    return tree


def names_in(node: ast.AST) -> Iterator[str]:
    """Every name that occurs in a piece of code, also as an attribute, an import or a string."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Attribute):
            yield part.attr
        elif isinstance(part, ast.alias):
            yield part.name.rpartition(".")[2]
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value


def _reached(definitions: list[ast.stmt], names: set[str]) -> list[ast.stmt]:
    """The definitions that are used, in the order of the files; imports say nothing by themselves."""
    waiting = [d for d in definitions if not isinstance(d, ast.Import | ast.ImportFrom)]
    found: list[ast.stmt] = []
    while True:
        new = [d for d in waiting if not (defined := _defined(d)) or defined & names]
        if not new:
            return found
        found += new
        waiting = [d for d in waiting if d not in new]
        names |= {name for d in new for name in names_in(d)}


def _defined(statement: ast.stmt) -> set[str]:
    """The names that a statement at the top of a module gives a meaning; empty if it does something else."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    return {part.id for t in targets for part in ast.walk(t) if isinstance(part, ast.Name)}


def _is_docstring(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
