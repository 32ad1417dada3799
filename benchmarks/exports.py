"""A run beside its exports, in words and in time: `python -m benchmarks.exports runs/demo`.

First held-out sentences are translated, greedily and with beam 4: how many translations are the same as the
translator's, to the last subword, and how far the log-probabilities of these are apart. Then all translate the
same sentences in turns, on one thread: the time of ours divided by that of the others, quartiles of the rounds.
Writes `results/exports.json`.
"""

import argparse
import json
import platform
import statistics
import tempfile
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from benchmarks.speed import ROOT, processor
from transformer_course.export import (
    EngineTranslator,
    OnnxTranslator,
    export_ctranslate2,
    export_onnx,
)
from transformer_course.fast import use_fast
from transformer_course.recipe.folder import load_held_out
from transformer_course.translator import Translator

BEAMS = {"greedy": 1, "beam 4": 4}
AT_ONCE = (64, 1)  # sentences


def exported(translator: Translator, folder: Path) -> dict[str, Any]:
    """The exports, opened, by name."""
    for quantization in ("float32", "int8"):
        export_ctranslate2(translator, folder / quantization, quantization)
    export_onnx(translator, folder / "onnx")
    return {
        "CTranslate2": EngineTranslator(folder / "float32"),
        "CTranslate2, int8": EngineTranslator(folder / "int8"),
        "ONNX Runtime": OnnxTranslator(folder / "onnx"),
    }


def agreement(
    translator: Translator, others: dict[str, Any], sentences: Sequence[str]
) -> dict[str, Any]:
    """Same translations, and the largest difference of their log-probabilities, by search and export."""
    table: dict[str, Any] = {}
    for search, beam in BEAMS.items():
        ours = [found[0] for found in translator.search(sentences, beam=beam)]
        for name, other in others.items():
            theirs = [found[0] for found in other.search(sentences, beam=beam)]
            gaps = [
                abs(a.log_prob - b.log_prob)
                for a, b in zip(ours, theirs, strict=True)
                if a.ids == b.ids
            ]
            row = {"same": len(gaps), "largest difference": float(f"{max(gaps):.2g}")}
            table.setdefault(name, {})[search] = row
    return table


def speed(
    translator: Translator, others: dict[str, Any], sentences: Sequence[str], rounds: int
) -> dict[str, Any]:
    """Seconds of ours, and its time divided by that of each other, medians and quartiles."""
    table: dict[str, Any] = {}
    for n in AT_ONCE:
        for search, beam in BEAMS.items():
            seconds: dict[str, list[float]] = {}
            for i in range(rounds + 1):  # the first warms up
                chosen = [sentences[j % len(sentences)] for j in range(i * n, (i + 1) * n)]
                for name, one in {"ours": translator, **others}.items():
                    start = time.perf_counter()
                    one.search(chosen, beam=beam)
                    seconds.setdefault(name, []).append(time.perf_counter() - start)
            ours = seconds.pop("ours")[1:]
            row: dict[str, Any] = {"ours, seconds": round(statistics.median(ours), 4)}
            for name, found in seconds.items():
                ratios = [a / b for a, b in zip(ours, found[1:], strict=True)]
                row[name] = [round(q, 2) for q in statistics.quantiles(ratios)]
            table[f"{n} sentences, {search}"] = row
    return table


def main(run: Path, rounds: int, count: int, folder: Path) -> None:
    """Export the run, compare, write the record."""
    torch.set_num_threads(1)
    translator = Translator.load(run)
    use_fast(translator.model, attention=False)
    sentences = [pair.source for pair in load_held_out(run)[1]][:count]
    with tempfile.TemporaryDirectory() as place:
        others = exported(translator, Path(place))
        sizes = {
            path.relative_to(place).as_posix(): path.stat().st_size
            for path in sorted(Path(place).glob("*/*"))
            if path.suffix in (".bin", ".onnx")
        }
        result = {
            "command": f"python -m benchmarks.exports {run} --rounds {rounds} --sentences {count}",
            "sentences": len(sentences),
            "agreement": agreement(translator, others, sentences),
            "ours divided by theirs (quartiles)": speed(translator, others, sentences, rounds),
            "bytes": sizes,
            "versions": {n: version(n) for n in ("torch", "ctranslate2", "onnxruntime")},
            "python": platform.python_version(),
            "processor": processor(),
        }
    folder.mkdir(exist_ok=True)
    text = json.dumps(result, indent=1, ensure_ascii=False)
    (folder / "exports.json").write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results")
    arguments = parser.parse_args()
    main(arguments.run, arguments.rounds, arguments.sentences, arguments.out)
