"""The modules of the checks import each other in one direction only."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import transformer_course.checks
from transformer_course.checks import discovery, task
from transformer_course.checks.exercise import Exercise

FOLDER = Path(transformer_course.checks.__path__[0])
PREFIX = "transformer_course.checks."
MODULES = {path.stem: path for path in FOLDER.glob("*.py")}


def imported(path: Path) -> set[str]:
    """Return the modules beside it that a module imports, inside functions and for type checkers too."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    below = {name.removeprefix(PREFIX).split(".")[0] for name in names if name.startswith(PREFIX)}
    return below & MODULES.keys()


def test_no_circle() -> None:
    """`static_order` raises CycleError, which names the circle."""
    graph = {name: imported(path) for name, path in MODULES.items() if name != "__init__"}
    order = list(TopologicalSorter(graph).static_order())
    places = [order.index(name) for name in ("task", "discovery", "engine", "exercise")]
    assert places == sorted(places)
    assert "judge" not in vars(task)


@pytest.mark.parametrize("chapter", discovery.exercises_by_chapter())
def test_every_exercise_prints_its_verdict(chapter: str) -> None:
    assert all(isinstance(found, Exercise) for found in discovery.exercises_by_chapter()[chapter])
