"""What an update costs in four ways, and how long answers take when requests arrive one by one or in crowds."""

import asyncio
import random
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import torch
from tensor_peak import Peak
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from transformer_course.decoding import greedy
from transformer_course.encoder_decoder import Transformer, TransformerConfig
from transformer_course.loss import teacher_forcing_loss
from transformer_course.scaling import training_flops
from transformer_course.serve.batching import Batcher
from transformer_course.training.compiling import compile_layers
from transformer_course.training.optimizers import adam
from transformer_course.training.sharding import layers

CONFIG: dict[str, Any] = {
    "model": {"vocab_size": 1000, "d_model": 128, "n_heads": 4, "d_ff": 512, "dropout": 0.0},
    "n_layers": 3,
    "batch": 16,
    "length": 32,
    "ways": ["plain", "in four parts", "checkpointed", "bf16", "compiled"],
    "rounds": 8,
    "serving": {
        "words": 8,
        "rates": [5, 20, 80],  # requests a second
        "batches": [1, 8, 64],  # most sentences of a batch
        "requests": 80,
    },
}
PROBE: dict[str, Any] = {
    "model": {"vocab_size": 50, "d_model": 8, "n_heads": 2, "d_ff": 16},
    "n_layers": 2,
    "batch": 4,
    "length": 6,
    "ways": ["plain", "in four parts", "checkpointed"],  # to compile takes half a minute
    "rounds": 2,
    "serving": {"words": 3, "rates": [50], "batches": [1, 8], "requests": 6},
}


def run(seed: int, config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Both measurements, on one thread."""
    torch.manual_seed(seed)
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return {
            "curves": {},
            "scores": _updates(config) | _serving(seed, config),
        }
    finally:
        torch.set_num_threads(before)


def _model(config: dict[str, Any]) -> Transformer:
    n = config["n_layers"]
    sizes = TransformerConfig(**config["model"], n_encoder_layers=n, n_decoder_layers=n)
    return Transformer(sizes)


# An update


def _updates(config: dict[str, Any]) -> dict[str, Any]:
    """Median milliseconds of an update, the most bytes of gradients and activations, the first loss."""
    shape = config["batch"], config["length"] + 1
    src, tgt = (torch.randint(3, config["model"]["vocab_size"], shape) for _ in range(2))
    weights = _model(config).state_dict()
    updates: dict[str, Callable[[], float]] = {}
    losses, peaks, first = {}, {}, {}
    for way in config["ways"]:
        model = _model(config)
        model.load_state_dict(weights)
        if way == "compiled":
            compile_layers(model, torch.device("cpu"))
        if way == "checkpointed":
            for layer in layers(model):
                layer.forward = partial(checkpoint, layer.forward, use_reentrant=False)
        compute = partial(_gradients, model, src[:, 1:], tgt, way)
        started = time.perf_counter()
        losses[way] = compute()
        first[way] = time.perf_counter() - started
        model.zero_grad(set_to_none=True)
        if way != "compiled":  # what a compiled program makes inside isn't seen
            with Peak() as measured:
                compute()
            peaks[way] = measured.peak / 1e6
        updates[way] = _update(model, compute)
        updates[way]()  # makes the memory of the optimizer
    times: dict[str, list[float]] = {way: [] for way in updates}
    for _ in range(config["rounds"]):
        for way, update in updates.items():  # in turns, so that a slow moment hits all of them
            times[way].append(update())
    plain = times["plain"]
    flops = training_flops(_model(config).config, shape[1] - 1, shape[1] - 1, shape[0])
    return {
        "milliseconds of an update": {w: 1000 * statistics.median(t) for w, t in times.items()},
        "share of plain seconds": {
            way: statistics.median(a / b for a, b in zip(t, plain, strict=True))
            for way, t in times.items()
        },
        "MB of gradients and activations": peaks,
        "loss": losses,
        "seconds of the first gradient": first,
        "GFLOP of an update": flops / 1e9,
        "GFLOP/s, from seconds": flops / 1e9 / statistics.median(plain),
        "GFLOP/s of products, from seconds": _peak_speed(),
    }


def _gradients(model: Transformer, src: Tensor, tgt: Tensor, way: str) -> float:
    """Add the gradient of the mean loss, and return that."""
    parts = 4 if way == "in four parts" else 1
    total = 0.0
    for some_src, some_tgt in zip(src.chunk(parts), tgt.chunk(parts), strict=True):
        with torch.autocast("cpu", torch.bfloat16) if way == "bf16" else nullcontext():
            loss = (
                teacher_forcing_loss(model, some_src, some_tgt) / parts
            )  # equal numbers of tokens
        loss.backward()
        total += loss.item()
    return total


def _update(model: Transformer, compute: Callable[[], float]) -> Callable[[], float]:
    """A function that takes one step of training and returns its seconds."""
    optimizer = adam(model)  # at rate 0, which takes as long as any other

    def update() -> float:
        started = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        compute()
        optimizer.step()
        return time.perf_counter() - started

    return update


def _peak_speed() -> float:
    """The most billions of operations a second seen in ten products of large matrices."""
    a, b = torch.randn(2, 1024, 1024)
    best = float("inf")
    for _ in range(10):
        started = time.perf_counter()
        a @ b
        best = min(best, time.perf_counter() - started)
    return 2 * 1024**3 / best / 1e9


# Requests


def _serving(seed: int, config: dict[str, Any]) -> dict[str, Any]:
    """The server's queue, with requests at random moments; each sentence gets the same number of words."""
    serving = config["serving"]
    n_words, vocab_size = serving["words"], config["model"]["vocab_size"]
    model = _model(config).eval()
    model.output.weight.data[2] = 0.0  # </s> is never the likeliest
    ids = torch.randint(3, vocab_size, (64, n_words))

    @torch.no_grad()
    def translate(sentences: Sequence[str], beam: int) -> list[Any]:
        return list(greedy(model, ids[: len(sentences)], n_words))

    translate(["warm up"] * 64, 1)
    scores: dict[str, Any] = {}
    for rate in serving["rates"]:
        rng = random.Random(seed)
        gaps = [rng.expovariate(rate) for _ in range(serving["requests"])]
        with ThreadPoolExecutor(1) as thread:  # another loop may be at work in the caller's
            scores[f"serving, {rate} requests/s"] = {
                f"batches of {most} at most": thread.submit(
                    asyncio.run, _served(translate, gaps, most)
                ).result()
                for most in serving["batches"]
            }
    return scores


async def _served(translate: Any, gaps: Sequence[float], most: int) -> dict[str, float]:
    """Seconds until each request is answered, and until all are."""
    batcher = Batcher(translate, batch=most, waiting=len(gaps))
    worker = asyncio.create_task(batcher.run())
    began = time.perf_counter()

    async def ask(at: float) -> float:
        await asyncio.sleep(at)
        asked = time.perf_counter()
        await batcher.translate(["a sentence"], 1)
        return time.perf_counter() - asked

    moments = [sum(gaps[: i + 1]) for i in range(len(gaps))]
    waits = sorted(await asyncio.gather(*map(ask, moments)))
    took = time.perf_counter() - began
    worker.cancel()
    return {
        "milliseconds, half of the answers": 1000 * statistics.median(waits),
        "milliseconds, 99 of 100": 1000 * waits[int(0.99 * (len(waits) - 1))],
        "answers/s, from seconds": len(gaps) / took,
    }
