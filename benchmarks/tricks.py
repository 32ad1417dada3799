"""What each trick for speed gives by itself: `python -m benchmarks.tricks`.

One thread, processor time instead of the clock, variants taking turns; a trick's number is the time with it
divided by the time of the readable path, median over the rounds. Writes `results/tricks.json` and the tables of
the results page.
"""

import argparse
import json
import platform
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks import contenders
from benchmarks.contenders import Ours, OursInBf16, Readable, Sizes
from benchmarks.report import BATCHES, LOSS, write_tricks
from benchmarks.speed import (
    QUICK,
    ROOT,
    TASKS,
    Task,
    computes_bf16,
    job,
    processor,
    quick_sizes,
    random_ids,
)
from transformer_course import attention, fast
from transformer_course.corpus import batches, grammar
from transformer_course.encoder_decoder import DecoderCache, Transformer, model
from transformer_course.loss import chunked_cross_entropy, cross_entropy

Job = Callable[[], object]
# What the speed table has, and long sentences: attention's maps grow with the square of the length.
MEASURED = [*TASKS.values(), Task("training step, 8 × 256", "train", 8, 256)]


def compare(jobs: dict[str, Job], rounds: int) -> dict[str, float]:
    """Processor time of each job divided by that of the first one: median of the rounds."""
    seconds: dict[str, list[float]] = {name: [] for name in jobs}
    for run in jobs.values():
        run()
    names = list(jobs)
    for r in range(rounds):
        for name in names[r % len(names) :] + names[: r % len(names)]:
            start = time.process_time()
            jobs[name]()
            seconds[name].append(time.process_time() - start)
    base = seconds[names[0]]
    return {
        name: round(statistics.median(x / y for x, y in zip(s, base, strict=True)), 3)
        for name, s in seconds.items()
    }


def scattered_cache() -> Any:
    """The cross-attention's keys and values as views of the projection, not in one piece."""
    start = Transformer.start_cache

    def start_cache(self: Transformer, *arguments: Any) -> DecoderCache:
        cache = start(self, *arguments)
        for part in cache.cross_attention:
            part.keys = part.keys.transpose(1, 2).contiguous().transpose(1, 2)
            part.values = part.values.transpose(1, 2).contiguous().transpose(1, 2)
        return cache

    return patch.object(Transformer, "start_cache", start_cache)


def torchs_dropout() -> Any:
    """Dropout by torch's own function."""
    return patch.object(fast.RandomBitsDropout, "forward", nn.Dropout.forward)


def loss_as_in_fp32() -> Any:
    """In mixed precision, the loss does what it does in single precision."""
    return patch.object(fast, "_in_mixed_precision", fast._in_own_precision)


def unsorted_batches() -> Any:
    """Sentences stay in the random order that they were shuffled into."""
    return patch.object(batches, "_by_length", lambda src_len, _: np.arange(len(src_len)))


@contextmanager
def without_checks() -> Iterator[None]:
    """Masks and ids are taken as they come."""
    with (
        patch.object(attention, "check_mask", lambda *_: None),
        patch.object(model, "check_ids", lambda *_: None),
    ):
        yield


def inside(context: Callable[[], Any], run: Job) -> Job:
    """`run` within a fresh `context()`."""

    def run_inside() -> object:
        with context():
            return run()

    return run_inside


def loss_jobs(sizes: Sizes, tokens: int = 1280) -> dict[str, Job]:
    """Forward and backward of output layer and loss: all logits, torch's own, and in chunks."""
    states = torch.randn(tokens, sizes.d_model, requires_grad=True)
    weight = (torch.randn(sizes.vocab_size, sizes.d_model) / 16).requires_grad_()
    labels = random_ids(64, tokens // 64, sizes.vocab_size).flatten()

    def run(make: Callable[[], Tensor]) -> Job:
        return lambda: torch.autograd.grad(make(), (states, weight))

    jobs = {
        "cross_entropy": run(lambda: cross_entropy(states @ weight.T, labels, 0, 0.1)),
        "torch's": run(lambda: contenders.torch_loss(states @ weight.T, labels)),
    }
    for chunk in (128, 512):
        jobs[f"chunked, {chunk}"] = run(
            lambda chunk=chunk: chunked_cross_entropy(states, weight, labels, 0, 0.1, chunk)
        )
    return jobs


def batch_jobs(sizes: Sizes, pairs: int, max_tokens: int = 2048) -> dict[str, Job]:
    """One pass over random ids, as long as sentences of the grammar: batches by length, and in random order."""
    ours = Ours(sizes)
    examples = [
        tuple(
            random_ids(1, len(text.split()) + 2, sizes.vocab_size)[0].tolist()
            for text in (pair.source, pair.target)
        )
        for pair in grammar.generate("train", pairs, seed=0)
    ]

    def run() -> None:
        for indices in batches.token_batches(examples, max_tokens, seed=0):
            batch = batches.collate(examples, indices)
            ours.train_step(batch.src, batch.tgt)

    return {
        "batches by length": run,
        "batches in random order": inside(unsorted_batches, run),
    }


def bf16_jobs(run: Callable[[Ours], Job], sizes: Sizes) -> dict[str, Job]:
    """Our model in bf16, then with one thing undone at a time."""
    fused = OursInBf16(sizes)
    fused.fused = True
    return {
        "bf16": run(OursInBf16(sizes)),
        "bf16, fused attention": run(fused),
        "bf16, loss as in fp32": inside(loss_as_in_fp32, run(OursInBf16(sizes))),
        "bf16, torch's dropout": inside(torchs_dropout, run(OursInBf16(sizes))),
    }


def model_jobs(task: Task, sizes: Sizes, bf16: bool) -> dict[str, Job]:
    """The readable model, then with one thing changed at a time, on one task of the speed table."""
    readable, fused, plain_adam, no_dropout = (Readable(sizes) for _ in range(4))
    fused.fused = fused.fused_search = True
    plain_adam.optimizer = torch.optim.Adam(plain_adam.net.parameters(), 1e-4)
    for module in no_dropout.net.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0

    def run(contender: Ours) -> Job:
        return job(contender, task, sizes.vocab_size)

    jobs = {"readable": run(readable), "fused attention": run(fused)}
    if task.kind == "train":
        jobs |= {"fused attention, chunked loss": run(Ours(sizes))}
        jobs |= {"Adam not fused": run(plain_adam), "no dropout at all": run(no_dropout)}
        jobs |= bf16_jobs(run, sizes) if bf16 else {}
    elif task.kind != "encode":
        jobs["keys and values of the source not in one piece"] = inside(
            scattered_cache, run(readable)
        )
    jobs["no checks of ids and masks"] = inside(without_checks, run(readable))
    jobs["nothing: noise"] = inside(nullcontext, run(readable))
    return jobs


def main(arguments: list[str] | None = None) -> None:
    """Measure every trick, and write record and table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="tiny sizes: only to see that it runs")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks/results/tricks.json")
    parser.add_argument("--book", type=Path, default=ROOT / "book/_generated", help="table")
    options = parser.parse_args(arguments)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    sizes = QUICK if options.quick else Sizes()
    bf16 = options.quick or computes_bf16()
    shares = {LOSS: compare(loss_jobs(sizes), options.rounds)}
    shares[BATCHES] = compare(batch_jobs(sizes, 40 if options.quick else 800), options.rounds)
    for task in MEASURED:
        shares[task.name] = compare(
            model_jobs(quick_sizes(task) if options.quick else task, sizes, bf16), options.rounds
        )
        print(task.name, shares[task.name], flush=True)
    torch.set_num_threads(threads)
    results = {
        "command": f"python -m benchmarks.tricks --rounds {options.rounds}"
        + " --quick" * options.quick,
        "date": time.strftime("%Y-%m-%d"),
        "processor": processor(),
        "threads": 1,
        "versions": {"python": platform.python_version(), "torch": version("torch")},
        "shares": shares,
    }
    options.out.write_text(json.dumps(results, indent=1) + "\n")
    write_tricks(results, options.book)


if __name__ == "__main__":
    main()
