"""Random mutations of the solutions: the check must reject each one that doesn't mean the same.

    python tests/checks/mutations.py [--count 1000] [CHAPTER ...]      all chapters, or some ("attention", …)

A mutation changes one to three places of a solution, as tools/ast_mutations.py does: an operator, a constant,
an axis, a comparison, a name, the order of arguments, a step left out. "The same" means: the same results in
200 cases drawn as the exercise draws its own, none of which its check uses. A survivor is a mutation that
passes the check and differs there.
"""

import argparse
import ast
import functools
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

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from ast_mutations import mutate  # noqa: E402

SECONDS = 0.4  # the time limit of one call of a mutant; one that passes its check is given as long as a learner
DRAWS = 200


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


@functools.cache
def notebook_names(path: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """Run the definitions of a notebook, not its calls, once; return the names and each source."""
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
    ending = "_solutions" if folder == "solutions" else ""
    return next((ROOT / "exercises" / folder).glob(f"??_{chapter}{ending}.ipynb"))


def mutants(source: str, count: int, seed: int = 0) -> Iterator[str]:
    """Yield `count` different mutations of a definition, or fewer where there are no more."""
    rng = random.Random(seed)
    plain = ast.unparse(ast.parse(source))
    seen = {plain}
    for _ in range(20 * count):
        tree = ast.parse(plain)
        for _ in range(rng.choice((1, 1, 1, 2, 2, 3))):
            tree, _ = mutate(tree, rng)
        text = ast.unparse(tree)
        if text not in seen:
            seen.add(text)
            yield text
            if len(seen) > count:
                return


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
    tolerance = min(exercise.tolerance, 1e-4)  # a check that tolerates too much must show
    return all(
        run_case(exercise, function, case, raw, kind).right(tolerance)
        for case, raw in drawn(exercise)
    )


def drawn(exercise: Exercise) -> Iterator[tuple[Case, Any]]:
    """Yield the drawn cases, each with the right results: computed once, when it is first asked for."""
    assert exercise.draw is not None
    found = _drawn_so_far(exercise)
    for seed in range(DRAWS):
        if seed == len(found):
            case = Case("drawn", exercise.draw(np.random.default_rng([2, seed])))
            found.append((case, exercise.reference(*case.arguments)))
        yield found[seed]


@functools.cache
def _drawn_so_far(exercise: Exercise) -> list[tuple[Case, Any]]:
    return []


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
