"""What longer contexts cost: attention by length, a step of decoding by key heads, segments with a memory."""

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from tensor_peak import Peak
from torch import Tensor

from transformer_course.attention import scaled_dot_product_attention
from transformer_course.encoder_decoder import LayerConfig
from transformer_course.families import DecoderConfig, DecoderOnly
from transformer_course.long_context import (
    local_attention,
    read_in_segments,
    running_softmax_attention,
    strided_attention,
)
from transformer_course.masking import causal_mask
from transformer_course.multi_head import KeyValueCache, MultiHeadAttention

CONFIG: dict[str, Any] = {
    "threads": 1,
    "lengths": [256, 512, 1024, 2048, 4096, 8192],
    "n_heads": 2,
    "d_k": 64,
    "block": 128,
    "window": 128,
    "stride": 128,
    "rounds": 5,
    "fit": [2048, 4096, 8192],  # the lengths through which the exponents are drawn
    "decoding": {
        "d_model": 512,
        "n_heads": 8,
        "key_heads": [8, 4, 2, 1],
        "context": 4096,
        "batch": 4,
        "rounds": 30,
    },
    "scoring": {
        "vocab_size": 1000,
        "layer": {"d_model": 128, "n_heads": 4, "d_ff": 512, "dropout": 0.0, "relative": "xl"},
        "n_layers": 4,
        "tokens": 512,
        "context": 128,
        "windows at once": 32,
        "rounds": 3,
    },
}
PROBE: dict[str, Any] = {
    "lengths": [8, 16, 32],
    "block": 4,
    "window": 4,
    "stride": 4,
    "rounds": 2,
    "fit": [16, 32],
    "decoding": {"d_model": 16, "context": 8, "rounds": 2},
    "scoring": {
        "layer": {"d_model": 8, "n_heads": 2, "d_ff": 8},
        "n_layers": 1,
        "tokens": 12,
        "context": 4,
        "rounds": 2,
    },
}
Attention = Callable[[Tensor, Tensor, Tensor], Tensor]


def run(seed: int, config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """All three measurements; in each the rivals take turns."""
    torch.manual_seed(seed)
    with _threads(config["threads"]):
        curves, scores = _by_length(config)
        scores |= _decoding(config["decoding"])
        scores |= _scoring(config["scoring"])
    return {"curves": curves, "scores": scores}


# Attention by length


def _by_length(config: dict[str, Any]) -> tuple[dict[str, list[float]], dict[str, Any]]:
    """Median seconds and peak memory of each attention, at each length, for one text."""
    lengths = config["lengths"]
    jobs = {
        f"{name}, {way}": _job(attention, way == "forward and backward")
        for name, attention in _attentions(config).items()
        for way in ("forward", "forward and backward")
    }
    curves: dict[str, list[float]] = {"length": [float(n) for n in lengths]}
    curves |= {f"{kind}, {job}": [] for kind in ("seconds", "MB") for job in jobs}
    for n in lengths:
        tensors = [torch.randn(1, config["n_heads"], n, config["d_k"]) for _ in range(3)]
        for name, job in jobs.items():  # the first call isn't timed
            curves[f"MB, {name}"].append(_peak_bytes(job, tensors) / 1e6)
        times = _in_turns({name: _call(job, tensors) for name, job in jobs.items()}, config)
        for name, seconds in times.items():
            curves[f"seconds, {name}"].append(statistics.median(seconds))
    scores: dict[str, Any] = {}
    for kind in ("seconds", "MB"):
        slopes = {job: _exponent(lengths, curves[f"{kind}, {job}"], config["fit"]) for job in jobs}
        scores[f"exponent of {kind}"] = _as_table(slopes)
    last = {job: 1000 * curves[f"seconds, {job}"][-1] for job in jobs}
    scores[f"milliseconds, {lengths[-1]} tokens"] = _as_table(last)
    last = {job: curves[f"MB, {job}"][-1] for job in jobs}
    scores[f"MB, {lengths[-1]} tokens"] = _as_table(last)
    return curves, scores


def _attentions(config: dict[str, Any]) -> dict[str, Attention]:
    """Causal attentions; the first three compute the same."""
    return {
        "written out": lambda q, k, v: scaled_dot_product_attention(
            q, k, v, causal_mask(q.shape[-2])
        )[0],
        "fused": lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        "running softmax": lambda q, k, v: running_softmax_attention(
            q, k, v, causal=True, block=config["block"]
        ),
        "local": lambda q, k, v: local_attention(q, k, v, config["window"]),
        "strided": lambda q, k, v: strided_attention(q, k, v, config["stride"]),
    }


def _job(attention: Attention, backward: bool) -> Callable[[list[Tensor]], object]:
    """A function that runs an attention, and with `backward` finds the gradients of all inputs, too."""

    def run(tensors: list[Tensor]) -> object:
        leaves = [tensor.requires_grad_(backward) for tensor in tensors]
        output = attention(*leaves)
        return torch.autograd.grad(output, leaves, torch.ones_like(output)) if backward else output

    return run


def _call(job: Callable[[list[Tensor]], object], tensors: list[Tensor]) -> Callable[[], object]:
    return lambda: job(tensors)


def _peak_bytes(job: Callable[[list[Tensor]], object], tensors: list[Tensor]) -> int:
    """Peak of what is made while the job runs; the inputs don't count."""
    with Peak() as measured:
        job(tensors)
    return measured.peak


# A step of decoding


def _decoding(config: dict[str, Any]) -> dict[str, Any]:
    """One layer reads one more token: bytes of its cache, and seconds, by the number of key heads."""
    d_model, n_heads, batch = config["d_model"], config["n_heads"], config["batch"]
    table, difference = {}, 0.0
    for n_key_heads in config["key_heads"]:
        attention = MultiHeadAttention(d_model, n_heads, n_key_heads=n_key_heads).eval()
        cache = attention.start_cache(batch, config["context"])
        cache.keys.normal_()
        cache.values.normal_()
        x = torch.randn(batch, 1, d_model)
        steps = {
            "keys repeated": _step(lambda x, c, a=attention: a(x, cache=c)[0], x, cache),
            "keys read once": _step(lambda x, c, a=attention: _shared(a, x, c), x, cache),
        }
        once, again = (step() for step in steps.values())
        difference = max(difference, float((once - again).abs().max()))
        times = _in_turns(steps, config)
        table[f"{n_key_heads} key head{'s' * (n_key_heads > 1)}"] = {
            "MB of the cache": (cache.keys.nbytes + cache.values.nbytes) / 1e6
        } | {f"milliseconds, {name}": 1000 * statistics.median(s) for name, s in times.items()}
    return {"decoding step": table, "largest difference of the two steps": difference}


def _step(
    attend: Callable[[Tensor, KeyValueCache], Tensor], x: Tensor, cache: KeyValueCache
) -> Callable[[], Tensor]:
    """A step that fills the last place of the cache."""

    @torch.no_grad()
    def step() -> Tensor:
        cache.length = cache.keys.shape[2] - 1
        return attend(x, cache)

    return step


def _shared(attention: MultiHeadAttention, x: Tensor, cache: KeyValueCache) -> Tensor:
    """The same for one token, without repeating keys: the heads of a group are rows of one product."""
    q = attention.split_heads(attention.w_query(x))  # (batch, heads, 1, d_k)
    cache.append(*(attention.split_heads(w(x)) for w in (attention.w_key, attention.w_value)))
    groups = q.view(
        len(x), attention.n_key_heads, -1, q.shape[-1]
    )  # (batch, key heads, group, d_k)
    heads, _ = scaled_dot_product_attention(groups, cache.keys, cache.values)
    return attention.w_output(heads.reshape(len(x), 1, -1))


# Scoring a text


@torch.no_grad()
def _scoring(config: dict[str, Any]) -> dict[str, Any]:
    """Every token of a text is scored after some that stand before it: from a memory, or read again."""
    vocab_size, n, context = config["vocab_size"], config["tokens"], config["context"]
    layer = LayerConfig(**config["layer"])
    model = DecoderOnly(
        DecoderConfig(vocab_size, layer, config["n_layers"], n, positions="none", pad_id=-1)
    ).eval()
    ids = torch.randint(vocab_size, (1, n))
    jobs = {
        "memory": lambda: read_in_segments(model, ids, context, memory=context),
        "recomputed": lambda: _recomputed(model, ids, context, config["windows at once"]),
    }
    times = _in_turns(jobs, config)
    scores = {f"seconds, {name}": statistics.median(s) for name, s in times.items()}
    faster = [b / a for a, b in zip(times["memory"], times["recomputed"], strict=True)]
    return {f"scoring {n} tokens": scores | {"times faster": statistics.median(faster)}}


def _recomputed(model: DecoderOnly, ids: Tensor, context: int, at_once: int) -> Tensor:
    """Logits, (n, vocab_size); for each token the last `context` ones, itself included, are read afresh."""
    first = model(ids[:, :context])[0]
    windows = ids[0].unfold(0, context, 1)[1:]  # (n - context, context)
    rest = [model.output(model.states(some)[:, -1]) for some in windows.split(at_once)]
    return torch.cat([first, *rest])


# For all of them


def _in_turns(
    jobs: dict[str, Callable[[], object]], config: dict[str, Any]
) -> dict[str, list[float]]:
    """Seconds of each round; jobs take turns, so that a slow moment hits all of them."""
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(config["rounds"]):
        for name, job in jobs.items():
            started = time.perf_counter()
            job()
            times[name].append(time.perf_counter() - started)
    return times


def _exponent(lengths: list[int], values: list[float], fit: list[int]) -> float:
    """Slope of the straight line through the points in a picture with two logarithmic axes."""
    chosen = [(n, value) for n, value in zip(lengths, values, strict=True) if n in fit]
    x, y = torch.tensor(chosen, dtype=torch.float64).log().T.tolist()
    return statistics.linear_regression(x, y).slope


def _as_table(values: dict[str, float]) -> dict[str, dict[str, float]]:
    """{"fused, forward": 1, …} as a row for each way and a column for each attention."""
    table: dict[str, dict[str, float]] = {}
    for key, value in values.items():
        name, _, way = key.partition(", ")
        table.setdefault(way, {})[name] = value
    return table


@contextmanager
def _threads(n: int) -> Iterator[None]:
    """Compute with so many threads, then with as many as before."""
    before = torch.get_num_threads()
    torch.set_num_threads(n)
    try:
        yield
    finally:
        torch.set_num_threads(before)
