"""Run the experiments whose record is missing or out of date: python tools/run_experiments.py [NAME ...]

With --seeds, only those seeds; the record then has all that are done.

An experiment is a script book/experiments/<name>.py with

    CONFIG   what it is run with, anything JSON can say
    REDUCED  values of CONFIG for a run of seconds, which the tests use
    MODULES  the package modules its result depends on; those of a translator are in fingerprint.TRANSLATOR
    run(seed, config, folder) -> {"curves": {name: [...]}, "scores": {name: number}}
                                 and perhaps "texts", examples that a chapter shows, and
                                 "seconds", if not those that this call took
    APART    True if it takes hours, or text that isn't ours: it is run only if it is named

It is run with three seeds; a seed that is done is kept in runs/experiments, so an interrupted run resumes. The
record goes to book/experiments/<name>.json.
"""

import argparse
import ast
import importlib.util
import json
import platform
import time
from collections.abc import Collection
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from fingerprint import fingerprint, names_in, parsed

import transformer_course
from transformer_course.checkpoints import write_atomically

ROOT = Path(__file__).resolve().parent.parent
RECORDS = ROOT / "book" / "experiments"
TOOLS = ROOT / "tools"
SEEDS = (0, 1, 2)


def names(apart: bool = True) -> list[str]:
    """Every experiment there is; with `apart` false, without those that have to be named."""
    found = sorted(path.stem for path in RECORDS.glob("*.py"))
    return [name for name in found if apart or not getattr(load(name), "APART", False)]


def load(name: str) -> ModuleType:
    """Import an experiment's script."""
    spec = importlib.util.spec_from_file_location(f"experiment_{name}", RECORDS / f"{name}.py")
    if spec is None or spec.loader is None:
        raise ValueError(f"there is no experiment {name!r}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def digest(script: ModuleType) -> str:
    """Fingerprint of an experiment's config and of the code it uses; a record is stale if it differs."""
    codes = [parsed(Path(str(script.__file__)))]
    imported = {f"{n.module}.py" for n in codes[0].body if isinstance(n, ast.ImportFrom)}
    helpers = imported - {"fingerprint.py"}  # that one only says what counts
    codes += [parsed(path) for path in sorted(TOOLS.glob("*.py")) if path.name in helpers]
    kinds = (ast.FunctionDef, ast.ClassDef)
    functions = [ast.dump(n) for code in codes for n in code.body if isinstance(n, kinds)]
    uses = (name for code in codes for name in names_in(code))
    return fingerprint([script.CONFIG, functions], script.MODULES, uses)


def is_current(name: str) -> bool:
    """Whether the committed record was made by the code as it is now."""
    path = RECORDS / f"{name}.json"
    return path.exists() and json.loads(path.read_text())["digest"] == digest(load(name))


def recorded(name: str) -> dict[int, Any]:
    """The seeds of the committed record, if it was made by the code as it is now."""
    if not is_current(name):
        return {}
    record = json.loads((RECORDS / f"{name}.json").read_text())
    return {result["seed"]: result for result in record["seeds"]}


def run_experiment(name: str, seeds: Collection[int] = SEEDS) -> None:
    """Run those of the seeds that are not done yet; as each ends, the record is written."""
    script = load(name)
    wanted = digest(script)
    for seed in seeds:
        if seed in recorded(name):
            continue
        folder = ROOT / "runs" / "experiments" / name / wanted[:12] / f"seed-{seed}"
        done = folder / "result.json"
        if not done.exists():
            print(f"{name}, seed {seed} ...", flush=True)
            started = time.perf_counter()
            result = script.run(seed, script.CONFIG, folder)
            seconds = round(time.perf_counter() - started, 1)
            write_json(done, {"seed": seed, "seconds": seconds, **result})
        result = json.loads(done.read_text())
        print(f"{name}, seed {seed}: {result['seconds']} seconds", flush=True)
        write_record(name, script, recorded(name) | {seed: result})  # others may run beside it


def write_record(name: str, script: ModuleType, results: dict[int, Any]) -> None:
    """Write the record of the seeds that are done."""
    record = {
        "name": name,
        "command": f"python tools/run_experiments.py {name}",
        "config": script.CONFIG,
        "seeds": [results[seed] for seed in sorted(results)],
        "versions": {
            "python": platform.python_version(),
            "torch": torch.__version__.split("+")[0],
            "transformer-course": transformer_course.__version__,
        },
        "processor": processor(),
        "digest": digest(script),
    }
    write_json(RECORDS / f"{name}.json", record)


def write_json(path: Path, value: Any) -> None:
    """Write JSON, whole or not at all."""
    write_atomically(path, (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode())


def processor() -> str:
    """The processor in words, with the number of threads torch uses."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        model = lines[0].split(":")[1].strip() if lines else model
    capability = torch.backends.cpu.get_cpu_capability()
    threads = torch.get_num_threads()
    return f"{model}, {capability}, {threads} thread{'s' if threads > 1 else ''}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("names", nargs="*", help="some experiments only")
    parser.add_argument("--seeds", nargs="+", type=int, choices=SEEDS, default=SEEDS)
    arguments = parser.parse_args()
    for experiment in arguments.names or names(apart=False):
        if set(arguments.seeds) <= set(recorded(experiment)):
            print(f"{experiment} is up to date")
        else:
            run_experiment(experiment, arguments.seeds)
