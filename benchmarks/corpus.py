"""The grammar's speed, and how many different pairs it writes: `python -m benchmarks.corpus`.

Speed is that of one process: the median over rounds of 10,000 pairs each. Writes `results/corpus.json`.
"""

import argparse
import json
import platform
import statistics
import time
from pathlib import Path

from benchmarks.speed import ROOT, processor
from transformer_course.corpus import grammar

ROUND = 10_000


def main(pairs: int, folder: Path) -> None:
    """Draw `pairs` pairs, timing each round of 10,000 and counting the different ones."""
    seen: set[tuple[str, str]] = set()
    speeds: list[float] = []
    source = grammar.generate("train", pairs, seed=0)
    for _ in range(pairs // ROUND):
        start = time.perf_counter()
        batch = [next(source) for _ in range(ROUND)]
        speeds.append(ROUND / (time.perf_counter() - start))
        seen.update((pair.source, pair.target) for pair in batch)
    result = {
        "command": f"python -m benchmarks.corpus --pairs {pairs}",
        "pairs": pairs,
        "different": len(seen),
        "pairs per second": round(statistics.median(speeds)),
        "quartiles": [round(quartile) for quartile in statistics.quantiles(speeds)[::2]],
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
