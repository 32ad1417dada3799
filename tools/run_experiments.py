"""Run the experiments whose record is missing or out of date: python tools/run_experiments.py [NAME ...]

With --seeds, only those seeds; the record then has all that are done.

An experiment is a script book/experiments/<name>.py with

    CONFIG   what it is run with, anything JSON can say
    PROBE    values of CONFIG for a run of seconds: it shows whether a record is current (probes.py)
    run(seed, config, folder) -> {"curves": {name: [...]}, "scores": {name: number}}
                                 and perhaps "texts", examples that a chapter shows, and
                                 "seconds", if not those that this call took
    APART    True if it takes hours, or text that isn't ours: it is run only if it is named

It is run with three seeds; a seed that is done is kept in runs/experiments, so an interrupted run resumes. The
record goes to book/experiments/<name>.json. It is current as long as the code behaves as it did then, whatever
its text says: --probe tells. Where behaviour was changed on purpose and the record is kept, --accept adds the
new probe, and book/experiments/ledger.yml says what was changed and why. Where the code is the same and another
processor rounds otherwise, --settle marks the values that differ as chance: nobody compares them any more.
"""

import argparse
import importlib.util
import json
import platform
import subprocess
import time
from collections.abc import Collection
from dataclasses import fields
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from probes import Probe, changes_of, probe, settled, settled_probe, tolerance

import transformer_course
from transformer_course.checkpoints import write_atomically
from transformer_course.recipe import Recipe
from transformer_course.training import TrainingConfig

ROOT = Path(__file__).resolve().parent.parent
RECORDS = ROOT / "book" / "experiments"
TOOLS = ROOT / "tools"
SEEDS = (0, 1, 2)
DEFAULTS = {
    field.name: field.default for owner in (Recipe, TrainingConfig) for field in fields(owner)
}


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


def read_record(name: str) -> dict[str, Any] | None:
    """The committed record, if there is one."""
    path = RECORDS / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def same_config(then: Any, now: Any) -> bool:
    """Whether two configs say the same; a setting that a recipe had not yet *then* counts as at its default."""
    if isinstance(then, list) and isinstance(now, list):
        return len(then) == len(now) and all(map(same_config, then, now))
    if not (isinstance(then, dict) and isinstance(now, dict)):
        return bool(then == now)
    later = now.keys() - then.keys()
    return (
        then.keys() <= now.keys()
        and all(same_config(value, now[name]) for name, value in then.items())
        and all(name in DEFAULTS and now[name] == DEFAULTS[name] for name in later)
    )


def seeds_of(record: dict[str, Any] | None) -> set[int]:
    """The seeds that a record has."""
    return {result["seed"] for result in record["seeds"]} if record else set()


def changes(name: str) -> list[str]:
    """What differs between a record and the code as it is now; empty if the record is current.

    The last of the record's probes counts: the first was made with the record, each further one was accepted
    with a reason in the ledger.
    """
    record, script = read_record(name), load(name)
    if record is None:
        return ["there is no record"]
    if not same_config(record["config"], json.loads(json.dumps(script.CONFIG))):
        return ["the script's CONFIG is another one than the record's"]
    capability = torch.backends.cpu.get_cpu_capability()
    same = f", {capability}," in record["processor"]
    return changes_of(script, record["probes"][-1]["values"], probe(script), same)


def run_experiment(name: str, seeds: Collection[int] = SEEDS) -> None:
    """Run those of the seeds that are not done yet; as each ends, the record is written."""
    script = load(name)
    folder = ROOT / "runs" / "experiments" / name
    fresh = _probe_of_runs(script, folder)
    for seed in seeds:
        if seed in _recorded(name, script, fresh):
            continue
        place = folder / f"seed-{seed}"
        done = place / "result.json"
        if not done.exists():
            print(f"{name}, seed {seed} ...", flush=True)
            started = time.perf_counter()
            result = script.run(seed, script.CONFIG, place)
            seconds = round(time.perf_counter() - started, 1)
            write_json(done, {"seed": seed, "seconds": seconds, **result})
        result = json.loads(done.read_text(encoding="utf-8"))
        print(f"{name}, seed {seed}: {result['seconds']} seconds", flush=True)
        others = _recorded(name, script, fresh)  # others may run beside it
        write_record(name, script, others | {seed: result}, fresh)


def _probe_of_runs(script: ModuleType, folder: Path) -> Probe:
    """The code's probe now. Seeds that were begun with code of another behaviour are put aside."""
    fresh, path = settled_probe(script), folder / "probe.json"
    begun = {"config": json.loads(json.dumps(script.CONFIG)), "values": fresh}
    if path.exists():
        before = json.loads(path.read_text(encoding="utf-8"))
        same = same_config(before["config"], begun["config"])
        if same and not changes_of(script, before["values"], fresh):
            return fresh
        aside = folder.with_name(f"{folder.name}-before-{time.strftime('%Y%m%d-%H%M%S')}")
        print(f"{folder.name}: the code behaves otherwise now; what was begun is in {aside.name}")
        folder.rename(aside)
    write_json(path, begun)
    return fresh


def _recorded(name: str, script: ModuleType, fresh: Probe) -> dict[int, Any]:
    """The seeds of the committed record, if the code still behaves as it did then."""
    record = read_record(name)
    if record is None or not same_config(record["config"], json.loads(json.dumps(script.CONFIG))):
        return {}
    if changes_of(script, record["probes"][0]["values"], fresh):
        return {}
    return {result["seed"]: result for result in record["seeds"]}


def write_record(name: str, script: ModuleType, results: dict[int, Any], fresh: Probe) -> None:
    """Write the record of the seeds that are done."""
    commit = current_commit()
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
        "commit": commit,
        "probes": [{"commit": commit, "values": fresh}],
    }
    write_whole(name, record)


def accept(name: str) -> bool:
    """Add the code's probe to a record that is no longer current; the ledger has to say why. True if added."""
    record, script = read_record(name), load(name)
    if record is None:
        raise ValueError(f"{name} has no record")
    fresh = settled_probe(script)
    if not changes_of(script, record["probes"][-1]["values"], fresh):
        return False
    record["probes"].append({"commit": current_commit(), "values": fresh})
    write_whole(name, record)
    return True


def settle(name: str) -> bool:
    """Mark as chance what this processor computes otherwise; the code must be that of the record's last probe.

    Returns:
        Whether there was anything to mark.
    """
    script, record = load(name), read_record(name)
    if record is None:
        raise ValueError(f"{name} has no record to settle")
    last = record["probes"][-1]
    fresh = settled_probe(script)
    if not changes_of(script, last["values"], fresh):
        return False
    last["values"] = settled(last["values"], fresh, tolerance(script))
    write_whole(name, record)
    return True


def current_commit() -> str:
    """The commit that the working tree is at, short; "+" where something isn't committed."""

    def git(*arguments: str) -> str:
        found = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
        return found.stdout.strip()

    return git("rev-parse", "--short", "HEAD") + (
        "+" if git("status", "--porcelain", "src") else ""
    )


def write_whole(name: str, record: dict[str, Any]) -> None:
    """Write a record; each of its probes, which nobody reads, on a line."""
    probes = ",\n  ".join(json.dumps(p, ensure_ascii=False) for p in record["probes"])
    text = json.dumps(record | {"probes": []}, indent=1, ensure_ascii=False)
    text = text.replace('"probes": []', f'"probes": [\n  {probes}\n ]')
    write_atomically(RECORDS / f"{name}.json", (text + "\n").encode())


def write_json(path: Path, value: Any) -> None:
    """Write JSON, whole or not at all."""
    write_atomically(path, (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode())


def processor() -> str:
    """The processor in words, with the number of threads torch uses, and the graphics card if there is one."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        model = lines[0].split(":")[1].strip() if lines else model
    capability = torch.backends.cpu.get_cpu_capability()
    threads = torch.get_num_threads()
    card = f"{torch.cuda.get_device_name()}, " if torch.cuda.is_available() else ""
    return f"{card}{model}, {capability}, {threads} thread{'s' if threads > 1 else ''}"


def main() -> None:
    """Run, probe or accept what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("names", nargs="*", help="some experiments only")
    parser.add_argument("--seeds", nargs="+", type=int, choices=SEEDS, default=SEEDS)
    parser.add_argument("--probe", action="store_true", help="only say which records are current")
    parser.add_argument("--accept", action="store_true", help="add a probe; see ledger.yml")
    parser.add_argument("--settle", action="store_true", help="same code, another processor")
    arguments = parser.parse_args()
    if arguments.probe or arguments.accept or arguments.settle:
        torch.set_num_threads(1)  # as in the tests: two threads would wait for each other
    for name in arguments.names or names(apart=arguments.probe):
        if arguments.accept:
            print(f"{name}: {'a probe was added' if accept(name) else 'is current'}")
            continue
        if arguments.settle:
            print(f"{name}: {'values were marked as chance' if settle(name) else 'is current'}")
            continue
        found = changes(name)
        if arguments.probe:
            print(f"{name}: {'; '.join(found[:3]) or 'current'}", flush=True)
        elif not found and set(arguments.seeds) <= seeds_of(read_record(name)):
            print(f"{name} is up to date")
        else:
            run_experiment(name, arguments.seeds)


if __name__ == "__main__":
    main()
