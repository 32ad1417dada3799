"""Time and memory of our model beside its peers: `python -m benchmarks.speed`.

All contenders live in one process and take turns within every round, so that whatever else the machine does
hits all of them alike; what counts is the ratio of two times of the same round, its median and quartiles over
the rounds. Peak memory is measured apart, each contender and task in processes of its own; the median of three.
"""

import argparse
import json
import multiprocessing
import platform
import statistics
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor

from benchmarks.contenders import CONTENDERS, PAD, Contender, Sizes
from benchmarks.report import write_report

Key = TypeVar("Key")

ROOT = Path(__file__).parents[1]
REST = 0.25  # seconds between two turns
TRIES = 3  # measurements of memory: from one process to the next, the same task differs by up to a quarter
LIBRARIES = ("torch", "transformers", "x-transformers", "ctranslate2")
QUICK = Sizes(d_model=16, n_heads=2, n_layers=1, d_ff=32, vocab_size=50, max_len=40)


@dataclass(frozen=True)
class Task:
    """One thing to be timed.

    Args:
        name: heading in the table.
        kind: "train", "encode", "greedy" or "beam".
        batch: sentences.
        length: tokens of the longest source, and in training of the longest target.
        steps: tokens decoded for each sentence; 0 in training.
        repeats: how often it runs in one turn.
    """

    name: str
    kind: str
    batch: int
    length: int
    steps: int = 0
    repeats: int = 1


TASKS = {
    "train_64x20": Task("training step, 64 × 20", "train", 64, 20),
    "train_16x128": Task("training step, 16 × 128", "train", 16, 128),
    "encode_64x20": Task("encoding, 64 × 20", "encode", 64, 20, repeats=5),
    "greedy_64x30": Task("greedy, 64 sentences × 30", "greedy", 64, 20, 30),
    "beam4_64x30": Task("beam 4, 64 sentences × 30", "beam", 64, 20, 30),
    "greedy_1x30": Task("greedy, 1 sentence × 30", "greedy", 1, 20, 30, repeats=3),
    "beam4_1x30": Task("beam 4, 1 sentence × 30", "beam", 1, 20, 30, repeats=3),
}


def random_ids(batch: int, length: int, vocab_size: int) -> Tensor:
    """Sentences of three quarters of `length` to all of it, padded: what length buckets give."""
    ids = torch.randint(3, vocab_size, (batch, length))
    lengths = torch.randint(-(-3 * length // 4), length + 1, (batch, 1))
    lengths[0] = length
    return ids.masked_fill(torch.arange(length) >= lengths, PAD)


def job(contender: Contender, task: Task, vocab_size: int) -> Callable[[], object]:
    """What is timed: `task` done once by `contender`, on the same ids for all contenders."""
    torch.manual_seed(17)
    src = random_ids(task.batch, task.length, vocab_size)
    tgt = random_ids(task.batch, task.length + 1, vocab_size)
    if task.kind == "train":
        return lambda: contender.train_step(src, tgt)
    if task.kind == "encode":
        return lambda: contender.read(src)
    if task.kind == "greedy":
        return lambda: contender.greedy(src, task.steps)
    return lambda: contender.beam(src, 4, task.steps)


def interleave(
    jobs: dict[Key, Callable[[], object]], rounds: int, repeats: int
) -> dict[Key, list[float]]:
    """Seconds of every job in every round; who begins changes from round to round.

    A rest lies between two turns: threads of OpenMP spin for a while when their work is done, on a core that
    the next contender needs.
    """
    seconds: dict[Key, list[float]] = {name: [] for name in jobs}
    for run in jobs.values():
        run()  # warm-up: the first call allocates
    names = list(jobs)
    for r in range(rounds):
        for name in names[r % len(names) :] + names[: r % len(names)]:
            time.sleep(REST)
            start = time.perf_counter()
            for _ in range(repeats):
                jobs[name]()
            seconds[name].append((time.perf_counter() - start) / repeats)
    return seconds


def ratios(seconds: dict[str, list[float]], ours: str = "ours") -> dict[str, dict[str, float]]:
    """Ours divided by each other's, round by round: median and quartiles; and all medians in seconds."""
    result = {}
    for name, theirs in seconds.items():
        pairs = [mine / other for mine, other in zip(seconds[ours], theirs, strict=True)]
        low, middle, high = statistics.quantiles(pairs, n=4, method="inclusive")
        result[name] = {
            "seconds": statistics.median(theirs),
            "ratio": middle,
            "ratio_q1": low,
            "ratio_q3": high,
        }
    return result


def time_all(
    names: list[str], sizes: Sizes, tasks: dict[str, Task], rounds: int
) -> dict[str, dict[str, Any]]:
    """Every task by every contender that can do it: the ratios of ours, and of ours in bf16."""
    torch.manual_seed(0)
    threads = torch.get_num_threads()
    contenders = {name: CONTENDERS[name](sizes) for name in names}
    results: dict[str, dict[str, Any]] = {
        name: {} for name in ("ours", "ours_bf16") if name in names
    }
    for key, task in tasks.items():
        jobs = {
            name: job(contender, task, sizes.vocab_size)
            for name, contender in contenders.items()
            if task.kind not in contender.lacks
        }
        seconds = interleave(jobs, rounds, task.repeats)
        if torch.get_num_threads() != threads:
            raise RuntimeError(f"a contender has set torch's threads to {torch.get_num_threads()}")
        for ours in results:
            results[ours][key] = ratios(seconds, ours)
        line = ", ".join(f"{name} {r['ratio']:.2f}" for name, r in results["ours"][key].items())
        print(f"{task.name}: ours takes this share of the time of {line}", flush=True)
    return results


def peak_memory(name: str, task: Task, sizes: Sizes, threads: int) -> float:
    """MiB that the process grew by, at most, while the task ran twice; weights are there before.

    The highest resident set during the task minus the resident set before it. Linux keeps both numbers.
    """
    torch.set_num_threads(threads)
    run = job(CONTENDERS[name](sizes), task, sizes.vocab_size)
    before = _status_kib("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the high-water mark starts afresh
    run()
    run()
    return (_status_kib("VmHWM") - before) / 1024


def _status_kib(field: str) -> int:
    """A line of what Linux says on this process, in KiB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1])
    raise ValueError(f"field ({field}) must be one that /proc/self/status has")


def memory_all(
    names: list[str], sizes: Sizes, tasks: dict[str, Task], threads: int
) -> dict[str, dict[str, float]]:
    """Peak memory in MiB: task → contender → number. Empty where the system is not Linux.

    Must run before torch has started threads of its own: each measurement is a fork of this process.
    """
    if not Path("/proc/self/clear_refs").exists():
        print("peak memory not measured: only Linux tells it")
        return {}
    for name in names:
        if CONTENDERS[name].survives_fork:
            CONTENDERS[name](QUICK)  # imports the libraries once, for all forks
    result: dict[str, dict[str, float]] = {}
    for key, task in tasks.items():
        result[key] = {}
        for name in [name for name in names if task.kind not in CONTENDERS[name].lacks]:
            with multiprocessing.get_context("fork").Pool(1, maxtasksperchild=1) as pool:
                each = [(name, task, sizes, threads)] * TRIES
                tries = pool.starmap(peak_memory, each, chunksize=1)
            result[key][name] = round(statistics.median(tries), 1)
        print(f"{task.name}: peak MiB {result[key]}", flush=True)
    return result


def processor() -> str:
    """The processor's name as the system gives it, and the vector instructions that matter here."""
    info = Path("/proc/cpuinfo")
    text = info.read_text() if info.exists() else ""
    names = [line.split(":")[1].strip() for line in text.splitlines() if "model name" in line]
    flags = [flag for flag in ("avx2", "avx512f", "avx512_bf16", "amx_bf16") if flag in text]
    return f"{len(names)} × {names[0]} ({', '.join(flags)})" if names else platform.processor()


def computes_bf16() -> bool:
    """Whether the processor has instructions for numbers of 16 bits."""
    return "avx512_bf16" in processor() or "amx_bf16" in processor()


def quick_sizes(task: Task) -> Task:
    """The same task, small enough for a test."""
    return Task(task.name, task.kind, min(task.batch, 3), 8, 5 if task.steps else 0)


def main(arguments: list[str] | None = None) -> None:
    """Measure and write the results as JSON and as the book's table and figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15, help="rounds of each task")
    parser.add_argument("--threads", type=int, default=2, help="threads of torch")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: does everything run?")
    parser.add_argument("--tasks", nargs="+", choices=list(TASKS), default=list(TASKS))
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks/results/speed.json")
    parser.add_argument("--book", type=Path, default=ROOT / "book/_generated", help="table, figure")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    tasks = {key: TASKS[key] for key in options.tasks}
    if options.quick:
        tasks = {key: quick_sizes(task) for key, task in TASKS.items() if key in tasks}
    sizes = QUICK if options.quick else Sizes()
    bf16 = options.quick or computes_bf16()
    names = [name for name, make in CONTENDERS.items() if bf16 or not make.needs_bf16]
    torch.set_num_threads(1)
    memory = memory_all(names, sizes, tasks, options.threads)
    torch.set_num_threads(options.threads)
    time_of = time_all(names, sizes, tasks, options.rounds)
    results = {
        "command": "python -m benchmarks.speed"
        + f" --rounds {options.rounds} --threads {options.threads}"
        + " --quick" * options.quick,
        "date": time.strftime("%Y-%m-%d"),
        "processor": processor(),
        "threads": options.threads,
        "rounds": options.rounds,
        "versions": {"python": platform.python_version()}
        | {name: version(name) for name in LIBRARIES},
        "sizes": asdict(sizes),
        "contenders": {
            name: {"name": CONTENDERS[name].name, "dtype": CONTENDERS[name](sizes).dtype}
            for name in names
        },
        "tasks": {key: asdict(task) for key, task in tasks.items()},
        "bf16": "measured"
        if bf16
        else "not measured: this processor computes no bf16 (no avx512_bf16, no amx_bf16)",
        "time": time_of["ours"],
        "time_bf16": time_of.get("ours_bf16", {}),
        "peak_mib": memory,
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(results, indent=1) + "\n")
    write_report(results, options.book)


if __name__ == "__main__":
    main()
