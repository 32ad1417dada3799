"""Data beyond memory: `python -m benchmarks.large_data`.

Made-up pairs, 10⁵ to 10⁷, go through `transformer-course prepare`, and each time the same training reads them:
`transformer-course train --data`. Told are seconds and memory of both; how long it takes from the command to
the first update; and which share of the time until the last one is spent in updates. Writes
`results/large_data.json`. It takes some 5 GB on the disk for 10⁷ pairs, and an hour.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.speed import ROOT, processor
from benchmarks.wall_time import UPDATES, timed
from transformer_course.__main__ import main as command
from transformer_course.corpus.shards import RECORD
from transformer_course.training import Trainer

WORDS = 50_000  # in each of the two languages
AT_ONCE = 100_000
MIB = 2**20
DURING = (UPDATES, "validation", "checkpoints")


def write_pairs(count: int, folder: Path) -> list[Path]:
    """Two files of made-up words, as frequent as Zipf's law says; a sentence has 4 to 16 of them."""
    dice = np.random.default_rng(0)
    letters = np.array(list("abcdefghilmnoprstuv"))
    shapes = dice.choice(letters, (2, WORDS, 7))
    lengths = dice.integers(3, 8, (2, WORDS))
    both = [
        ["".join(row[:n]) for row, n in zip(side, of_side, strict=True)]
        for side, of_side in zip(shapes, lengths, strict=True)
    ]
    files = [folder / "pairs.a", folder / "pairs.b"]
    with files[0].open("w") as one, files[1].open("w") as other:
        for done in range(0, count, AT_ONCE):
            size = min(AT_ONCE, count - done)
            numbers = (WORDS ** dice.random((size, 16))).astype(int) - 1
            for row, n in zip(numbers.tolist(), dice.integers(4, 17, size).tolist(), strict=True):
                for file, words in zip((one, other), both, strict=True):
                    file.write(" ".join([words[i] for i in row[:n]]) + "\n")
    return files


def memory() -> dict[str, int]:
    """This process's resident memory in MiB: all of it, and what belongs to no file."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return {name: int(status[name].split()[0]) // 1024 for name in ("VmRSS", "RssAnon", "VmHWM")}


def train(data: Path, updates: int, started: float) -> None:
    """Train in this process as the command does; print what was measured as the last line."""
    seconds: dict[str, float] = defaultdict(float)
    found: dict[str, Any] = {}
    whole = Trainer.train

    def watched(self: Trainer, report: Any) -> Any:
        found["seconds to the first update"] = round(time.time() - started, 2)
        start = time.perf_counter()
        outcome = whole(self, report)
        spent = time.perf_counter() - start
        found["seconds of training"] = round(spent, 1)
        found["shares"] = {name: round(seconds[name] / spent, 4) for name in DURING}
        found["MiB"] = memory()
        return outcome

    with patch.object(Trainer, "train", watched), timed(seconds):
        sys.argv[1:] = ["train", "--data", str(data), "--steps", str(updates)]
        sys.argv += ["--out", str(data.parent / "run"), "--threads", "1"]
        try:
            command()
        except SystemExit as end:
            if end.code:
                raise
    print(json.dumps(found))


def told(arguments: list[str]) -> tuple[str, float, int]:
    """What a command printed, its seconds, and the memory in MiB of its largest process."""
    started = time.perf_counter()
    with subprocess.Popen([sys.executable, *arguments], stdout=subprocess.PIPE, text=True) as job:
        assert job.stdout
        printed = job.stdout.read()
        _, status, usage = os.wait4(job.pid, 0)
        job.returncode = os.waitstatus_to_exitcode(status)
    if job.returncode:
        sys.exit(f"{' '.join(arguments)} ended with {job.returncode}")
    return printed, time.perf_counter() - started, usage.ru_maxrss * 1024 // MIB


def measured(count: int, updates: int, folder: Path, processes: int) -> dict[str, Any]:
    """Prepare so many pairs, and train on them."""
    files = write_pairs(count, folder)
    data = folder / "data"
    prepare = ["-m", "transformer_course", "prepare", "--pairs", *map(str, files)]
    prepare += ["--out", str(data), "--processes", str(processes)]
    _, seconds, peak = told(prepare)
    size = sum(path.stat().st_size for path in data.rglob("*") if path.is_file())
    this = ["-m", "benchmarks.large_data", "--train", str(data), "--updates", str(updates)]
    printed, *_ = told([*this, "--started", str(time.time())])
    record = json.loads((data / RECORD).read_text())
    return {
        "pairs": count,
        "prepare": {"seconds": round(seconds, 1), "MiB, largest process": peak},
        "MiB of the data": size // MIB,
        "pairs to train on": record["pairs"],
        "train": json.loads(printed.splitlines()[-1]),
    }


def main() -> None:
    """Measure, and write the record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, nargs="+", default=[10**5, 10**6, 10**7])
    parser.add_argument("--updates", type=int, default=60)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results")
    parser.add_argument("--train", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--started", type=float, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.train:
        train(options.train, options.updates, options.started)
        return
    sizes = []
    for count in options.pairs:
        with tempfile.TemporaryDirectory(dir=options.out) as folder:
            sizes.append(measured(count, options.updates, Path(folder), options.processes))
        print(json.dumps(sizes[-1]), flush=True)
    result = {
        "command": " ".join(["python -m benchmarks.large_data", *sys.argv[1:]]),
        "date": time.strftime("%Y-%m-%d"),
        "processor": processor(),
        "versions": {"python": platform.python_version(), "torch": version("torch")},
        "sizes": sizes,
    }
    (options.out / "large_data.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
