"""Random mutations of the solutions: the check must reject each one that doesn't mean the same.

    python tests/mutations.py [--count 1000] [CHAPTER ...]      all chapters, or the named ones ("attention", …)

A mutation changes one to three places of a solution: an operator, a constant, an axis, a comparison, a name,
the order of arguments, a step left out. "The same" means: the same results in 200 cases drawn as the exercise
draws its own, none of which its check uses. A survivor is a mutation that passes the check and differs there.
"""

import argparse
import ast
import copy
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import nbformat
import numpy as np

from transformer_course.checks import running
from transformer_course.checks.discovery import exercises_by_chapter
from transformer_course.checks.engine import judge, run_case
from transformer_course.checks.exercise import Case, Exercise

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 0.4  # the time limit of one call of a mutant; one that passes its check is given as long as a learner
DRAWS = 200
OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.MatMult)
COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
RELATED = (
    ("max", "min", "sum", "mean", "argmax", "prod"),
    ("exp", "exp2", "log", "sqrt", "square", "abs", "tanh"),
    ("log2", "log", "log10", "log1p"),
    ("var", "std"),
    ("softmax", "log_softmax", "sigmoid"),
    ("tril", "triu"),
    ("ones", "zeros"),
    ("any", "all"),
    ("sin", "cos"),
    ("shape", "size"),
)

Edit = Callable[[], ast.AST]  # makes what takes the place of a node


@dataclass
class Tally:
    """What became of the mutants of one exercise."""

    rejected: int = 0
    hinted: int = 0
    same: int = 0
    survivors: list[str] = field(default_factory=list)

    @property
    def share(self) -> float:
        """The part of the rejected mutants that got the hint of a misconception."""
        return self.hinted / max(self.rejected, 1)


def notebook_names(path: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """Run the definitions of a notebook, not its calls; return the names and each source."""
    scope: dict[str, Any] = {"__name__": "__main__"}
    sources: dict[str, str] = {}
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type != "code":
            continue
        for node in ast.parse(cell.source).body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                sources[node.name] = ast.unparse(node)
            elif not isinstance(node, (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign)):
                continue
            if not ast.unparse(node).startswith("report"):
                exec(compile(ast.Module([node], []), str(path), "exec"), scope)
    return scope, sources


def notebook_of(chapter: str, folder: str) -> Path:
    """Return the notebook of a chapter in a folder below exercises."""
    return next((ROOT / "exercises" / folder).glob(f"??_{chapter}.ipynb"))


def mutants(source: str, count: int, seed: int = 0) -> Iterator[str]:
    """Yield `count` different mutations of a definition, or fewer where there are no more."""
    rng = random.Random(seed)
    original = ast.parse(source)
    for node in ast.walk(original):  # annotations mean nothing to a check
        if isinstance(node, ast.arg):
            node.annotation = None
        if isinstance(node, ast.FunctionDef):
            node.returns = None
    plain = ast.unparse(original)
    seen = {plain}
    for _ in range(20 * count):
        tree = ast.parse(plain)
        for _ in range(rng.choice((1, 1, 1, 2, 2, 3))):
            tree = _mutated(tree, rng)
        text = ast.unparse(tree)
        if text not in seen:
            seen.add(text)
            yield text
            if len(seen) > count:
                return


def _mutated(tree: ast.Module, rng: random.Random) -> ast.Module:
    """Return the tree with one random change."""
    names = sorted(_local_names(tree))
    sites = [(node, edits) for node in ast.walk(tree) if (edits := _edits(node, names))]
    chosen, edits = rng.choice(sites)
    new = rng.choice(edits)()

    class Replace(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> Any:
            return new if node is chosen else self.generic_visit(node)

    return ast.parse(ast.unparse(ast.fix_missing_locations(Replace().visit(tree))))


def _local_names(tree: ast.AST) -> set[str]:
    """Return parameters and variables."""
    stored = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and not _loaded(n)}
    return stored | {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}


def _loaded(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Load)


def _changed(node: ast.AST, **fields: Any) -> Edit:
    """Return an edit that sets fields of a copy of the node."""

    def make() -> ast.AST:
        new = copy.copy(node)
        for name, value in fields.items():
            setattr(new, name, value)
        return new

    return make


def _edits(node: ast.AST, names: list[str]) -> list[Edit]:
    """Return what may take the place of a node."""
    match node:
        case ast.BinOp():
            others = [op for op in OPERATORS if not isinstance(node.op, op)]
            swapped = _changed(node, left=node.right, right=node.left)
            alone = [lambda: node.left, lambda: node.right]
            return [*(_changed(node, op=op()) for op in others), swapped, *alone]
        case ast.UnaryOp():
            return [lambda: node.operand]
        case ast.Compare():
            others = [op for op in COMPARISONS if not isinstance(node.ops[0], op)]
            return [_changed(node, ops=[op(), *node.ops[1:]]) for op in others]
        case ast.Constant():
            return [_changed(node, value=value) for value in _other_constants(node.value)]
        case ast.Attribute():
            found = {name for group in RELATED if node.attr in group for name in group}
            return [_changed(node, attr=name) for name in sorted(found - {node.attr})]
        case ast.Call():
            return _call_edits(node)
        case ast.Name() if _loaded(node) and node.id in names:
            negative = ast.UnaryOp(ast.USub(), node)
            return [_changed(node, id=n) for n in names if n != node.id] + [lambda: negative]
        case ast.Tuple() if len(node.elts) > 1 and isinstance(node.ctx, ast.Load):
            return [_changed(node, elts=[*node.elts[1:], node.elts[0]])]
        case ast.If() | ast.IfExp():
            return [_changed(node, test=ast.UnaryOp(ast.Not(), node.test))]
        case ast.AugAssign():
            others = [op for op in OPERATORS if not isinstance(node.op, op)]
            return [_changed(node, op=op()) for op in others] + [ast.Pass]
        case _:
            return []


def _call_edits(node: ast.Call) -> list[Edit]:
    """Return edits of a call: keywords left out, arguments exchanged, the call left out."""
    edits = [
        _changed(node, keywords=[k for k in node.keywords if k is not left])
        for left in node.keywords
    ]
    if len(node.args) > 1:
        edits.append(_changed(node, args=[node.args[1], node.args[0], *node.args[2:]]))
    if node.args and not isinstance(node.args[0], ast.Starred):
        edits.append(lambda: node.args[0])
    if isinstance(node.func, ast.Attribute):
        owner = node.func.value
        edits.append(lambda: owner)
    return edits


def _other_constants(value: object) -> list[object]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return sorted({value + 1, value - 1, -value, value + 2} - {value})
    if isinstance(value, float):
        return [value * 2, value / 2, -value, value + 1] if value else [1.0, -1.0]
    return []


def tally(exercise: Exercise, scope: dict[str, Any], source: str, count: int) -> Tally:
    """Judge `count` mutants of a solution.

    Args:
        exercise: the exercise, with a `draw`.
        scope: the names that the solution may use.
        source: the solution.
        count: how many mutants.
    """
    solution = scope[exercise.name]
    kind = kind_of(exercise, solution)
    result = Tally()
    for text in mutants(source, count):
        own = dict(scope)
        exec(compile(text, "<mutant>", "exec"), own)
        with patch.object(running, "SECONDS", SECONDS):
            report = judge(exercise, own[exercise.name], (kind,))
        if not report.passed:
            result.rejected += 1
            result.hinted += report.hint is not None
        elif means_the_same(exercise, own[exercise.name], kind):
            result.same += 1
        else:
            result.survivors.append(text)
    return result


def kind_of(exercise: Exercise, solution: Callable[..., Any]) -> str:
    """Return the kind of array that a solution is written for."""
    return next(k for k in ("numpy", "torch") if judge(exercise, solution, (k,)).passed)


def means_the_same(exercise: Exercise, function: Callable[..., Any], kind: str) -> bool:
    """True if the function is right in cases that its check never uses."""
    assert exercise.draw is not None
    tolerance = min(exercise.tolerance, 1e-4)  # a check that tolerates too much must show
    for seed in range(DRAWS):
        case = Case("drawn", exercise.draw(np.random.default_rng([2, seed])))
        raw = exercise.reference(*case.arguments)
        if not run_case(exercise, function, case, raw, kind).right(tolerance):
            return False
    return True


def chapters_tallies(chapter: str, count: int) -> dict[str, Tally]:
    """Return the tally of each exercise of a chapter that can draw cases; the others have them all already."""
    scope, sources = notebook_names(notebook_of(chapter, "solutions"))
    return {
        exercise.name: tally(exercise, scope, sources[exercise.name], count)
        for exercise in exercises_by_chapter()[chapter]
        if exercise.draw is not None
    }


def line(name: str, found: Tally) -> str:
    """Return the tally of an exercise as a line."""
    return (
        f"{name:<32} {found.rejected:4d} rejected, {found.share:4.0%} of them with a hint of their own; "
        f"{found.same:3d} the same; {len(found.survivors)} survive"
    )


def main(arguments: list[str]) -> int:
    """Print a line for each exercise, and each survivor; 1 if there is one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("chapters", nargs="*", default=[*exercises_by_chapter()])
    parser.add_argument("--count", type=int, default=1000)
    options = parser.parse_args(arguments)
    survivors = 0
    for chapter in options.chapters:
        print(chapter)
        for name, found in chapters_tallies(chapter, options.count).items():
            print(f"  {line(name, found)}", flush=True)
            survivors += len(found.survivors)
            for text in found.survivors:
                print(f"\n{text}\n")
    return int(survivors > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
