"""How time and memory grow with length and batch: `python -m benchmarks.growth`.

Our model and MarianMT do each task at several sizes, in turns, in one process; peak memory is measured apart,
each size in a process of its own. An exponent is the slope of the last three points, both axes logarithmic: 1
means twice as much for twice the size, 2 means four times as much.
"""

import argparse
import json
import math
import statistics
import time
import warnings
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from benchmarks.contenders import CONTENDERS, Sizes
from benchmarks.report import write_growth
from benchmarks.speed import QUICK, ROOT, Task, interleave, job, memory_all, processor

NAMES = ["ours", "marian"]
KINDS = {"train": "training step", "encode": "encoding", "greedy": "greedy"}
BATCH, LENGTH = 8, 32  # of the tasks in which the other one grows
BATCHES = (2, 4, 8, 16, 32, 64)
LENGTHS = (16, 32, 64, 128, 256)
FITTED = 3  # points


def tasks_of(kind: str, quick: bool) -> dict[str, dict[int, Task]]:
    """What grows → its size → the task."""

    def task(batch: int, length: int) -> Task:
        return Task(KINDS[kind], kind, batch, length, length if kind == "greedy" else 0)

    if quick:
        return {
            "length": {n: task(2, n) for n in (4, 6, 8)},
            "batch": {n: task(n, 4) for n in (1, 2, 4)},
        }
    return {
        "length": {n: task(BATCH, n) for n in LENGTHS},
        "batch": {n: task(n, LENGTH) for n in BATCHES},
    }


def exponent(sizes: list[int], values: list[float]) -> float:
    """Slope of a straight line through the last points, by least squares on logarithms.

    >>> round(exponent([1, 2, 4, 8], [9.0, 4.0, 16.0, 64.0]), 6)
    2.0
    """
    x = [math.log(n) for n in sizes[-FITTED:]]
    y = [math.log(max(value, 1e-9)) for value in values[-FITTED:]]
    return statistics.linear_regression(x, y).slope


def measure(sizes: Sizes, rounds: int, threads: int, quick: bool) -> dict[str, Any]:
    """Kind of task → what grows → sizes, and for each model seconds, peak memory and their exponents."""
    torch.set_num_threads(1)
    wanted = {kind: tasks_of(kind, quick) for kind in KINDS}
    memory = {
        kind: {
            axis: memory_all(NAMES, sizes, {str(n): task for n, task in tasks.items()}, threads)
            for axis, tasks in axes.items()
        }
        for kind, axes in wanted.items()
    }
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    models = {name: CONTENDERS[name](sizes) for name in NAMES}
    results: dict[str, Any] = {kind: {} for kind in wanted}
    for kind, axes in wanted.items():
        # All sizes take turns: a disturbance hits all alike. One task stands on both axes, and is timed once.
        jobs = {
            (name, task): job(models[name], task, sizes.vocab_size)
            for name in NAMES
            for tasks in axes.values()
            for task in tasks.values()
        }
        medians = {key: statistics.median(s) for key, s in interleave(jobs, rounds, 1).items()}
        for axis, tasks in axes.items():
            ns = list(tasks)
            results[kind][axis] = {"sizes": ns}
            for name in NAMES:
                seconds = [medians[name, task] for task in tasks.values()]
                result = {
                    "seconds": [float(f"{s:.4g}") for s in seconds],
                    "exponent of seconds": round(exponent(ns, seconds), 2),
                }
                if peaks := [peak[name] for peak in memory[kind][axis].values()]:
                    result |= {"mib": peaks, "exponent of mib": round(exponent(ns, peaks), 2)}
                results[kind][axis][name] = result
            print(KINDS[kind], axis, results[kind][axis], flush=True)
    return results


def main(arguments: list[str] | None = None) -> None:
    """Measure and write the results as JSON and as the book's table and figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="rounds of each size")
    parser.add_argument("--threads", type=int, default=1, help="threads of torch")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: does everything run?")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks/results/growth.json")
    parser.add_argument("--book", type=Path, default=ROOT / "book/_generated", help="table, figure")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    sizes = replace(QUICK if options.quick else Sizes(), max_len=max(LENGTHS) + 1)
    results = {
        "command": f"python -m benchmarks.growth --rounds {options.rounds} --threads {options.threads}"
        + " --quick" * options.quick,
        "date": time.strftime("%Y-%m-%d"),
        "processor": processor(),
        "threads": options.threads,
        "versions": {name: version(name) for name in ("torch", "transformers")},
        "sizes": asdict(sizes),
        "contenders": {name: CONTENDERS[name].name for name in NAMES},
        "kinds": KINDS,
        "growth": measure(sizes, options.rounds, options.threads, options.quick),
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(results, indent=1) + "\n")
    write_growth(results, options.book)


if __name__ == "__main__":
    main()
