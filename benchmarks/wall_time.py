"""Where a training run's time goes: `python -m benchmarks.wall_time`.

It does the training of `transformer-course train --corpus NAME`, from the first sentence to the translator on
disk, and times each kind of work by itself. An update is: loss, gradients, new weights; at the end of an epoch
also cutting the next one into batches. Starting Python and importing torch isn't counted. Writes
`results/wall_time_NAME.json` and the table of the results page.

Multi30k is read from the folder that the variable MULTI30K names, or downloaded where there is none.
"""

import argparse
import json
import os
import platform
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch

from benchmarks.report import write_wall_time
from benchmarks.speed import ROOT, processor
from transformer_course.corpus.vocabulary import Vocabulary
from transformer_course.recipe import train as training_of_a_translator
from transformer_course.recipe import train_translator
from transformer_course.runs import RECIPES, Data
from transformer_course.training import Trainer

UPDATES = "updates"
VARIABLES = (  # of the environment, which change how fast it is
    "ONEDNN_PRIMITIVE_CACHE_CAPACITY",
    "GLIBC_TUNABLES",
    "MALLOC_TRIM_THRESHOLD_",
    "MALLOC_MMAP_THRESHOLD_",
)
# What is timed, and under which name. None of them calls another one.
PARTS: list[tuple[Any, str, str]] = [
    (Data, "load", "making or reading the sentences"),
    (Vocabulary, "train", "learning the subwords"),
    (training_of_a_translator, "encode_pairs", "sentences to subwords"),
    (Trainer, "_update", UPDATES),
    (Trainer, "_validate", "validation"),
    (Trainer, "save", "checkpoints"),
    (Trainer, "finish", "choosing the final weights"),
]


@contextmanager
def timed(seconds: dict[str, float]) -> Iterator[None]:
    """Add the time that each part takes to `seconds`, under its name."""

    def watch(function: Callable[..., Any], name: str) -> Callable[..., Any]:
        def run(*arguments: Any, **named: Any) -> Any:
            start = time.perf_counter()
            try:
                return function(*arguments, **named)
            finally:
                seconds[name] += time.perf_counter() - start

        return run

    with ExitStack() as patches:
        for owner, attribute, name in PARTS:
            function = watch(getattr(owner, attribute), name)
            patches.enter_context(patch.object(owner, attribute, function))
        yield


def main(arguments: list[str] | None = None) -> None:
    """Train once, and write record and table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", choices=sorted(RECIPES), default="grammar")
    parser.add_argument("--precision", choices=["fp32", "bf16"], default="fp32")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, help="all of the recipe's if left out")
    parser.add_argument("--pairs", type=int, default=Data.n_pairs, help="only for the grammar")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks/results", help="record")
    parser.add_argument("--book", type=Path, default=ROOT / "book/_generated", help="table")
    options = parser.parse_args(arguments)
    torch.set_num_threads(options.threads)
    setup = replace(RECIPES[options.corpus].training, precision=options.precision)
    if options.steps is not None:
        setup = replace(setup, max_steps=options.steps)
    folder_of_text = os.environ.get("MULTI30K") if options.corpus == "multi30k" else None
    data = Data(options.corpus, options.pairs, folder=folder_of_text)
    seconds: dict[str, float] = defaultdict(float)
    with tempfile.TemporaryDirectory() as folder, timed(seconds):
        start = time.perf_counter()
        train, valid, _ = data.load()
        train_translator(train, valid, folder, replace(RECIPES[options.corpus], training=setup))
        whole = time.perf_counter() - start
    seconds["all else"] = whole - sum(seconds.values())
    pairs = f" --pairs {options.pairs}" if options.corpus == "grammar" else ""
    results = {
        "corpus": options.corpus,
        "steps": setup.max_steps,
        "command": f"python -m benchmarks.wall_time --corpus {options.corpus}"
        f" --precision {options.precision} --threads {options.threads} --steps {setup.max_steps}{pairs}",
        "date": time.strftime("%Y-%m-%d"),
        "processor": processor(),
        "threads": options.threads,
        "versions": {"python": platform.python_version(), "torch": version("torch")},
        "variables": {name: os.environ[name] for name in VARIABLES if name in os.environ},
        "seconds": round(whole, 1),
        "shares": {name: round(part / whole, 4) for name, part in seconds.items()},
    }
    path: Path = options.out / f"wall_time_{options.corpus}.json"
    path.write_text(json.dumps(results, indent=1) + "\n")
    write_wall_time(sorted(options.out.glob("wall_time_*.json")), options.book)
    print(results["seconds"], results["shares"])


if __name__ == "__main__":
    os.environ["TOKENIZERS_PARALLELISM"] = "true"  # both as the command line does
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "20000")
    main()
