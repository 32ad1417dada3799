"""The grammar's speed, and how many different pairs it writes: `python -m benchmarks.corpus`.

Speed is the median over rounds of 10,000 pairs each: of one process alone, then of one process for each core,
side by side, each with a seed of its own. Writes `results/corpus.json`.
"""

import argparse
import json
import multiprocessing
import os
import platform
import statistics
import time
from pathlib import Path

from benchmarks.speed import ROOT, processor
from transformer_course.corpus import grammar

ROUND = 10_000


def speeds(pairs: int, seed: int, seen: set[tuple[str, str]] | None = None) -> list[float]:
    """Pairs per second of each round; `seen` gathers the different pairs."""
    found = []
    source = grammar.generate("train", pairs, seed=seed)
    for _ in range(pairs // ROUND):
        start = time.perf_counter()
        batch = [next(source) for _ in range(ROUND)]
        found.append(ROUND / (time.perf_counter() - start))
        if seen is not None:
            seen.update((pair.source, pair.target) for pair in batch)
    return found


def main(pairs: int, folder: Path) -> None:
    """Draw `pairs` pairs alone and count the different ones; then as many again, a share on each core."""
    seen: set[tuple[str, str]] = set()
    alone = speeds(pairs, 0, seen)
    cores = os.cpu_count() or 1
    with multiprocessing.get_context("spawn").Pool(cores) as pool:
        beside = pool.starmap(
            speeds, [(pairs // cores, seed) for seed in range(cores)], chunksize=1
        )
    result = {
        "command": f"python -m benchmarks.corpus --pairs {pairs}",
        "pairs": pairs,
        "different": len(seen),
        "pairs per second": round(statistics.median(alone)),
        "quartiles": [round(quartile) for quartile in statistics.quantiles(alone)[::2]],
        "processes side by side": cores,
        "pairs per second, side by side": round(sum(map(statistics.median, beside))),
        "python": platform.python_version(),
        "processor": processor(),
    }
    folder.mkdir(exist_ok=True)
    text = json.dumps(result, indent=1, ensure_ascii=False)
    (folder / "corpus.json").write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=4_000_000)
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results")
    arguments = parser.parse_args()
    main(arguments.pairs, arguments.out)
