"""Everything `make test` runs, in stages: python tools/check.py [STAGE ...]

lint             style of Python files and notebooks (ruff)
types            type hints (mypy)
book             build the web book, warnings are errors; SOLUTIONS=no in the environment: one without solutions
tests            unit and property tests, doctests, and the browser tests on the built book
notebooks        notebooks under strict nbval: each stored output is compared
demo             train the demo translator, once
demo-notebooks   the notebooks that load the demo translator, under strict nbval, too

Only when asked for, for `tests` holds it:
quick            tests of the package's core, without browser, demo and what takes long: under a minute

The demo is trained beside the stages before it, on one thread: two would wait for each other while tests run.

Where Chromium is missing, the browser tests say so and how to get it; as root on Debian it is installed. With
CI set, nothing is skipped.
"""

import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from setup_venv import install_debian_package

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = Path(sys.executable).parent
PYTHON = sys.executable
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
NOTEBOOK_FOLDERS = ("book", "chapters", "exercises/solutions", "exercises")
DEMO = r"\"runs\" / \"demo\""  # as it stands in the file of a notebook
WITHOUT_SOLUTIONS = "_build/without_solutions"
PYTEST = [PYTHON, "-m", "pytest", "-q", "-n", "2", "--dist", "loadfile"]


def lint() -> list[list[str]]:
    """Commands that check style."""
    ruff = str(SCRIPTS / "ruff")
    return [[ruff, "check", "."], [ruff, "format", "--check", "."]]


def types() -> list[list[str]]:
    """Commands that check types."""
    return [[PYTHON, "-m", "mypy"]]


def demo() -> list[list[str]]:
    """Commands that train the demo translator."""
    return [[PYTHON, "tools/train_demo.py"]]


def book() -> list[list[str]]:
    """Commands that build the book."""
    build = [str(SCRIPTS / "jupyter-book"), "build", "."]
    # In a folder of its own: files of a former build would stay beside the pages.
    elsewhere = ["--path-output", WITHOUT_SOLUTIONS] if os.environ.get("SOLUTIONS") == "no" else []
    return [
        [PYTHON, "tools/fetch_vendor.py"],
        [*build, *elsewhere, "--warningiserror", "--keep-going", "--nitpick"],
    ]


def tests() -> list[list[str]]:
    """Commands that run pytest."""
    if not any(map(shutil.which, BROWSERS)):
        if hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"):
            install_debian_package("chromium")
        else:
            print("Chromium is missing, so the browser tests won't run. On Debian or Ubuntu:")
            print("  sudo apt-get install chromium", flush=True)
            if os.environ.get("CI"):
                sys.exit("In CI nothing is skipped.")
    order = "--no-loadscope-reorder"  # tests/conftest.py says what comes first
    return [[*PYTEST, order, "--durations=25", "--doctest-modules", "tests", "src"]]


def quick() -> list[list[str]]:
    """Commands that run the tests of the core, without those that start processes or train for long."""
    return [[*PYTEST, "-m", "not slow", "tests/core"]]


def nbval(with_demo: bool) -> list[list[str]]:
    """Commands that run the notebooks that load the demo translator, or the others, and compare outputs."""
    found = [p for folder in NOTEBOOK_FOLDERS for p in sorted((ROOT / folder).glob("*.ipynb"))]
    chosen = [p for p in found if (DEMO in p.read_text(encoding="utf-8")) == with_demo]
    kernels = ["-p", "tests.nbval_kernels", "--nbval", "--nbval-current-env"]
    limits = ["--nbval-cell-timeout", "300", "--nbval-sanitize-with", "tests/nbval_sanitize.cfg"]
    return [[*PYTEST, *kernels, *limits, *(str(p.relative_to(ROOT)) for p in chosen)]]


def notebooks() -> list[list[str]]:
    """Commands that run the notebooks that need no demo translator."""
    return nbval(with_demo=False)


def demo_notebooks() -> list[list[str]]:
    """Commands that run the notebooks that load the demo translator."""
    return nbval(with_demo=True)


def environment(stage: str) -> dict[str, str]:
    """What runs side by side gets one thread each: with two, they would wait for each other."""
    alone = {} if stage == "book" else {"OMP_NUM_THREADS": "1"}
    return os.environ | alone


STAGES = {
    f.__name__.replace("_", "-"): f
    for f in (lint, types, book, tests, notebooks, demo, demo_notebooks)
}
EXTRA = {"quick": quick}  # not part of `make test`
BESIDE_DEMO = ("types", "book", "tests", "notebooks")


def run(name: str) -> None:
    """Run the commands of a stage; the first that fails ends all."""
    started = time.perf_counter()
    print(f"--- {name}", flush=True)
    for command in (STAGES | EXTRA)[name]():
        if subprocess.run(command, cwd=ROOT, env=environment(name)).returncode:
            sys.exit(f"--- {name} failed: {' '.join(command)}")
    print(f"--- {name}: {time.perf_counter() - started:.0f} s", flush=True)


def main(names: list[str]) -> None:
    """Run the stages in the order given; stop at the first that fails."""
    known = STAGES | EXTRA
    if unknown := set(names) - set(known):
        sys.exit(f"no such stage: {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    chosen = names or list(STAGES)
    training: Future[None] | None = None
    with ThreadPoolExecutor(1) as pool:
        for name in chosen:
            if name in BESIDE_DEMO and "demo" in chosen and not training:
                training = pool.submit(run, "demo")
            if name == "demo" and training:
                training.result()
            else:
                run(name)


if __name__ == "__main__":
    main(sys.argv[1:])
