"""What each trick for speed gives by itself: `python -m benchmarks.tricks`.

One thread, processor time instead of the clock, variants taking turns; a trick's number is its time divided by
the time without it, median over the rounds.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor, nn

from benchmarks import contenders
from benchmarks.contenders import Ours, Readable, Sizes
from benchmarks.speed import ROOT, TASKS, job, processor, random_ids
from transformer_course import attention
from transformer_course.encoder_decoder import DecoderCache, Transformer
from transformer_course.loss import chunked_cross_entropy, cross_entropy

Job = Callable[[], object]


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


@contextmanager
def without_checks() -> Iterator[None]:
    """Masks and ids are taken as they come."""
    with (
        patch.object(attention, "check_mask", lambda *_: None),
        patch.object(Transformer, "_check_ids", lambda *_: None),
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

    def run(loss: Callable[[], Tensor]) -> Job:
        return lambda: torch.autograd.grad(loss(), (states, weight))

    jobs = {
        "cross_entropy": run(lambda: cross_entropy(states @ weight.T, labels, 0, 0.1)),
        "torch's": run(lambda: contenders.torch_loss(states @ weight.T, labels)),
    }
    for chunk in (128, 512):
        jobs[f"chunked, {chunk}"] = run(
            lambda chunk=chunk: chunked_cross_entropy(states, weight, labels, 0, 0.1, chunk)
        )
    return jobs


def model_jobs(task: str, sizes: Sizes) -> dict[str, Job]:
    """The readable model, then with one thing changed at a time, on one task of the speed table."""
    readable, ours, plain_adam, no_dropout = (
        Readable(sizes),
        Ours(sizes),
        Readable(sizes),
        Readable(sizes),
    )
    fused = Readable(sizes)
    fused.fused = fused.fused_beam = True
    plain_adam.optimizer = torch.optim.Adam(plain_adam.net.parameters(), 1e-4)
    for module in no_dropout.net.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0

    def run(contender: Ours) -> Job:
        return job(contender, TASKS[task], sizes.vocab_size)

    jobs = {"readable": run(readable), "fused attention": run(fused)}
    if TASKS[task].kind == "train":
        jobs |= {"fused attention, chunked loss": run(ours)}
        jobs |= {"Adam not fused": run(plain_adam), "no dropout at all": run(no_dropout)}
    else:
        jobs["cross-attention cache not in one piece"] = inside(scattered_cache, run(readable))
        jobs["fused, cache not in one piece"] = inside(scattered_cache, run(fused))
    jobs["no checks of ids and masks"] = inside(without_checks, run(readable))
    jobs["readable once more (noise)"] = inside(nullcontext, run(readable))
    return jobs


def main() -> None:
    """Measure every trick and write `results/tricks.json`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks/results/tricks.json")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    sizes = Sizes()
    results: dict[str, Any] = {
        "command": f"python -m benchmarks.tricks --rounds {options.rounds}",
        "processor": processor(),
        "torch": torch.__version__,
        "output layer and loss, 1280 tokens": compare(loss_jobs(sizes), options.rounds),
    }
    for key in TASKS:
        results[TASKS[key].name] = compare(model_jobs(key, sizes), options.rounds)
        print(TASKS[key].name, results[TASKS[key].name], flush=True)
    options.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
