"""Mutants: break the package on purpose and see that its tests notice.

    python tools/mutants.py [--module M ...] [--count N] [--seed S] [--drawn-only] [--jobs J]
    python tools/mutants.py --probes decoding

There are two sorts. The named faults of tools/faults.txt are mistakes that people make; each must be caught.
Then N changes of the code itself are drawn, by the seed: a comparison, a constant, an axis, an argument, …
Whether one that survives is a hole in the tests or means the same as before, you have to judge.
A mutant runs in a copy of the package, against the tests of its module, a named one also against its chapter's.

With --probes, the named faults run against probes of experiments instead (tools/probes.py): which of them would
make a record's probe differ? Some can't: nothing trains with another layout of positions, say.
"""

import argparse
import ast
import functools
import multiprocessing
import os
import random
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from ast_mutations import mutate, replaced

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "transformer_course"
FAULTS = ROOT / "tools" / "faults.txt"
ELSEWHERE = {"checks", "figures", "corpus", "runs.py", "validation.py"}  # no modules of the core
PROBE = "test_code_behaves_as_it_did_when_the_record_was_made"
# The fast ways of several modules are tested in one place.
SHARED_TESTS = "test_fast*.py"
# Where the system can, a process starts as a copy of one that has imported the large libraries.
PROCESSES: Any = multiprocessing.get_context("forkserver" if hasattr(os, "fork") else "spawn")
if hasattr(os, "fork"):
    PROCESSES.set_forkserver_preload(["torch", "hypothesis", "pytest", "sacrebleu", "tokenizers"])


class FaultError(ValueError):
    """A named fault that doesn't fit the package; the message says why."""


@dataclass(frozen=True)
class Fault:
    """A fault planted by hand.

    Args:
        chapter: stem of the chapter whose tests must notice.
        name: what is wrong, in a few words.
        where: qualified name of a function, with "module:" before it if there are several.
        old: an expression that stands there once.
        new: the expression that takes its place.
        probe: the experiment whose probe must notice, too; empty if there is none.
    """

    chapter: str
    name: str
    where: str
    old: str
    new: str
    probe: str = ""


@dataclass(frozen=True)
class Mutant:
    """A changed module.

    Args:
        label: what was changed, for the reader.
        path: the module, relative to the package.
        text: its new code.
        tests: the test files that must notice.
    """

    label: str
    path: Path
    text: str
    tests: tuple[Path, ...]


def named_faults() -> list[Fault]:
    """Read tools/faults.txt."""
    faults, chapter, block = list[Fault](), "", list[str]()
    for line in FAULTS.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            chapter = line[3:]
        elif line.startswith("    probe: ") and faults and not block:
            faults[-1] = replace(faults[-1], probe=line.split(": ")[1])
        elif line.strip() and not line.startswith("#"):
            block.append(line.strip())
        if len(block) == 3:
            found = re.fullmatch(r"((?:\w+:)?[\w.]+): (.+)", block[1])
            if not found or not block[2].startswith("-> "):
                raise FaultError(f"{block[0]}: must be followed by 'where: old' and '-> new'")
            faults.append(Fault(chapter, block[0], found[1], found[2], block[2][3:]))
            block = []
    if block:
        raise FaultError(f"{block[0]}: must be followed by two lines")
    return faults


@functools.cache
def modules() -> dict[Path, str]:
    """The core's modules, relative to the package, and their code."""
    paths = [path.relative_to(PACKAGE) for path in sorted(PACKAGE.rglob("*.py"))]
    chosen = [path for path in paths if path.parts[0] not in ELSEWHERE and path.stem != "__init__"]
    return {path: (PACKAGE / path).read_text(encoding="utf-8") for path in chosen}


def definitions(tree: ast.AST, within: str = "") -> Iterator[tuple[str, ast.AST]]:
    """Qualified names and nodes of all functions and classes below a node."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            name = f"{within}.{node.name}".lstrip(".")
            yield name, node
            yield from definitions(node, name)
        else:
            yield from definitions(node, within)


@functools.cache
def names_of_definitions(code: str) -> tuple[str, ...]:
    """Qualified names of all functions and classes of a module."""
    return tuple(name for name, _ in definitions(ast.parse(code)))


def mutant_of(fault: Fault) -> Mutant:
    """Plant a named fault.

    Raises:
        FaultError: if its function or its expression isn't found, or is found more than once.
    """
    stem, _, function = fault.where.rpartition(":")
    places = [
        path
        for path, code in modules().items()
        if stem in ("", path.stem)
        for name in names_of_definitions(code)
        if name == function
    ]
    if len(places) != 1:
        where = ", ".join(map(str, places)) or "nowhere"
        raise FaultError(f"{fault.name}: {fault.where} must be in one place, found in {where}")
    path = places[0]
    tree = ast.parse(modules()[path])
    node = next(node for name, node in definitions(tree) if name == function)
    wanted = ast.parse(fault.old, mode="eval").body
    same = [
        found
        for found in ast.walk(node)
        if type(found) is type(wanted) and ast.unparse(found) == ast.unparse(wanted)
    ]
    if len(same) != 1:
        raise FaultError(
            f"{fault.name}: `{fault.old}` must stand in {fault.where} once, found {len(same)} times"
        )
    text = ast.unparse(replaced(tree, same[0], ast.parse(fault.new, mode="eval").body))
    tests = tuple(dict.fromkeys((*tests_named(fault.chapter), *tests_of(path))))
    return Mutant(f"{fault.chapter}: {fault.name}", path, text, tests)


def tests_named(stem: str) -> list[Path]:
    """The test file of a chapter or a module, wherever it is in tests/."""
    return sorted((ROOT / "tests").rglob(f"test_{stem}.py"))


TESTED_ELSEWHERE = {  # by what the tests are named, if not by module or package
    "encoder_decoder/newer.py": "families",
    "encoder_decoder/relative.py": "long_context",
    "long_context/costs.py": "long_context_attention",
    "long_context/local.py": "long_context_attention",
    "long_context/running.py": "long_context_attention",
    "training/gradients.py": "training_processes",
    "training/trainer.py": "training_processes",
    "training/validation.py": "training_processes",
}


def tests_of(path: Path) -> tuple[Path, ...]:
    """The tests of a module: its own, its package's, and the shared ones; none if it has none of its own."""
    package = path.parts[0] if len(path.parts) > 1 else path.stem
    own = {path.stem, package, f"{package}_{path.stem}", f"{path.stem}_paths"} - {"__init__"}
    own |= {TESTED_ELSEWHERE.get(path.as_posix(), path.stem)}
    found = [test for stem in sorted(own) for test in tests_named(stem)]
    return (*found, *sorted((ROOT / "tests").rglob(SHARED_TESTS))) if found else ()


def probe_of(name: str) -> Path:
    """The test that compares the probe of an experiment, as pytest calls it."""
    file = next((ROOT / "tests").rglob("test_experiments.py"))
    return Path(f"{file}::{PROBE}[{name}]")


def stays(node: ast.AST) -> bool:
    """Whether drawn mutants leave a node alone: errors and what only leads to them, messages, imports."""
    match node:
        case ast.Raise() | ast.Assert() | ast.JoinedStr() | ast.Import() | ast.ImportFrom():
            return True
        case ast.If(body=[ast.Raise()], orelse=[]):
            return True
        case ast.FunctionDef(name=name):
            return name.lstrip("_").startswith("check")
        case ast.Call(func=ast.Name(id="cast")):
            return True
        case _:
            return False


def drawn(paths: Sequence[Path], count: int, seed: int) -> list[Mutant]:
    """Draw mutants of modules, each module in turn, no change twice.

    Args:
        paths: the modules, relative to the package.
        count: how many mutants.
        seed: the same seed gives the same mutants while the code is the same.
    """
    rng = random.Random(seed)
    plain = {path: ast.unparse(ast.parse(modules()[path])) for path in paths}
    seen, found = set(plain.values()), list[Mutant]()
    for i in range(20 * count):
        path = paths[i % len(paths)]
        tree, site = mutate(ast.parse(modules()[path]), rng, stays)
        text = ast.unparse(tree)
        if text in seen:
            continue
        seen.add(text)
        was, now = first_difference(plain[path], text)
        line = getattr(site.node, "lineno", 0)  # of today, for the reader only
        label = f"{path.as_posix()}:{site.function or 'module'}: `{was}` -> `{now}` (line {line})"
        found.append(Mutant(label, path, text, tests_of(path)))
        if len(found) == count:
            break
    return found


def first_difference(old: str, new: str) -> tuple[str, str]:
    """The first line that differs, in both texts; the second is empty where lines are gone."""
    pairs = zip([*old.splitlines(), ""], [*new.splitlines(), ""], strict=False)
    return next(((a.strip(), b.strip()) for a, b in pairs if a != b), ("", ""))


def run(tests: Sequence[Path], mutant: Mutant | None, seconds: float) -> str:
    """Run tests on a copy of the package.

    Args:
        tests: the test files.
        mutant: what to change in the copy; None changes nothing.
        seconds: when to stop.

    Returns:
        "passed", "failed", "no end" if it was stopped, or "broken" if the tests couldn't even be read.
    """
    command = ["-x", "-q", "-p", "no:cacheprovider", *map(str, tests)]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "src"
        copied, printed = source / PACKAGE.name, Path(folder) / "printed"
        shutil.copytree(PACKAGE, copied, ignore=shutil.ignore_patterns("__pycache__"))
        if mutant:
            (copied / mutant.path).write_text(mutant.text, encoding="utf-8")
        process = PROCESSES.Process(target=run_pytest, args=(command, folder))
        process.start()
        process.join(seconds)
        if process.is_alive():
            process.kill()
            process.join()
            return "no end"
        broken = "during collection" in printed.read_text(encoding="utf-8", errors="replace")
    if process.exitcode == 0:
        return "passed"
    return "failed" if process.exitcode == 1 and not broken else "broken"


def run_pytest(command: Sequence[str], folder: str) -> None:
    """In a process of its own: run pytest with the package in `folder`, and print into a file there."""
    source = str(Path(folder) / "src")
    os.environ |= {
        "PYTHONPATH": source,  # for what the tests start
        "PYTHONDONTWRITEBYTECODE": "1",
        "HYPOTHESIS_STORAGE_DIRECTORY": str(Path(folder) / "hypothesis"),
        "OMP_NUM_THREADS": "1",
    }
    sys.path.insert(0, source)
    os.chdir(ROOT)
    with open(Path(folder) / "printed", "w", encoding="utf-8") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
        sys.exit(pytest.main(list(command)))


def time_limits(mutants: Sequence[Mutant]) -> dict[tuple[Path, ...], float]:
    """How long the tests of each mutant may take: ten times as long as without a mutant, and a minute.

    Raises:
        FaultError: if tests fail without a mutant, so that nothing can be learned.
    """
    limits = {}
    for tests in dict.fromkeys(mutant.tests for mutant in mutants):
        started = time.perf_counter()
        if (outcome := run(tests, None, 1800)) != "passed":
            names = ", ".join(test.name for test in tests)
            raise FaultError(f"{names}: {outcome} without a mutant, nothing can be learned")
        limits[tests] = 60 + 10 * (time.perf_counter() - started)
    return limits


def survivors(
    title: str, mutants: Sequence[Mutant], jobs: int, noticed: Sequence[str]
) -> list[Mutant]:
    """Run mutants, print a line for each, and return those whose outcome isn't in `noticed`."""
    limits = time_limits(mutants)
    print(f"{title}: {len(mutants)}", flush=True)
    survived = []
    one: Callable[[Mutant], str] = lambda m: run(m.tests, m, limits[m.tests])  # noqa: E731
    with ThreadPoolExecutor(jobs) as pool:
        for mutant, outcome in zip(mutants, pool.map(one, mutants), strict=True):
            verdict = {"failed": "caught", "passed": "SURVIVES"}.get(
                outcome, outcome
            )  # or as it is
            print(f"  {verdict:<8} {mutant.label}", flush=True)
            survived += [mutant] * (outcome not in noticed)
    print(f"  {len(mutants) - len(survived)} of {len(mutants)} caught\n", flush=True)
    return survived


def main(arguments: Sequence[str]) -> int:
    """Run named and drawn mutants and print a report.

    Returns:
        0, or 1 if a named fault isn't caught or doesn't fit the package.
    """
    tested = [path for path in modules() if tests_of(path)]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--module", nargs="+", default=[], help="only these chapters or modules")
    parser.add_argument("--count", type=int, default=60, help="how many mutants to draw")
    parser.add_argument("--seed", type=int, default=0, help="of the draws")
    parser.add_argument("--drawn-only", action="store_true", help="no named faults")
    parser.add_argument("--jobs", type=int, default=1, help="mutants at a time")
    parser.add_argument(
        "--probes", nargs="+", default=[], help="probes of these experiments notice"
    )
    options = parser.parse_args(arguments)
    known = {part for path in tested for part in path.with_suffix("").parts}
    known |= {fault.chapter for fault in named_faults()}
    if unknown := set(options.module) - known:
        names = ", ".join(sorted(known - {"__init__"}))
        parser.error(f"no such module: {', '.join(sorted(unknown))}; there are {names}")
    wanted = set(options.module) or known
    faults = [fault for fault in named_faults() if fault.chapter in wanted]
    paths = [path for path in tested if wanted & set(path.with_suffix("").parts)]
    try:
        named = [] if options.drawn_only else [mutant_of(fault) for fault in faults]
        if options.probes:
            probes = tuple(map(probe_of, options.probes))
            survivors(
                "named faults",
                [replace(m, tests=probes) for m in named],
                options.jobs,
                ("failed", "no end"),
            )
            return 0
        missed = survivors("named faults", named, options.jobs, ("failed", "no end"))
        others = drawn(paths, options.count, options.seed) if paths else []
        unnoticed = survivors("drawn mutants", others, options.jobs, ("failed", "no end", "broken"))
    except FaultError as error:
        print(error)
        return 1
    for mutant in missed + unnoticed:
        print(f"SURVIVES {mutant.label}")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
