"""Seconds and memory of three layers by length: recurrent, convolutional, self-attention."""

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from transformer_course.multi_head import MultiHeadAttention
from transformer_course.seq2seq import attention_cost, convolution_cost, recurrent_cost

CONFIG: dict[str, Any] = {
    "d_model": 256,
    "n_heads": 4,
    "kernel_size": 3,
    "lengths": [32, 64, 128, 256, 512, 1024, 2048, 4096, 8192],
    "rounds": 7,
    "fit": [256, 512, 1024],  # the lengths through which the exponents are drawn
}
PROBE: dict[str, Any] = {"d_model": 8, "lengths": [8, 16, 32], "rounds": 2, "fit": [16, 32]}


def run(seed: int, config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Measure forward and backward of one layer each, for one sequence, in rounds that take turns."""
    torch.manual_seed(seed)
    d, k, lengths = config["d_model"], config["kernel_size"], config["lengths"]
    modules = {
        "self-attention": MultiHeadAttention(d, config["n_heads"]),
        "GRU": nn.GRU(d, d, batch_first=True),
        "convolution": nn.Conv1d(d, d, k, padding=k // 2),
    }
    weights = {p.untyped_storage().data_ptr() for m in modules.values() for p in m.parameters()}
    layers = {name: _as_layer(module) for name, module in modules.items()}
    curves: dict[str, list[float]] = {"length": [float(n) for n in lengths]}
    for name in layers:
        for kind in ("seconds", "MB"):
            curves[f"{kind}, {name}"] = []
    for n in lengths:
        times: dict[str, list[float]] = {name: [] for name in layers}
        for _ in range(config["rounds"]):
            for name, layer in layers.items():  # in turns, so that a slow moment hits all of them
                times[name].append(_seconds(layer, torch.randn(1, n, d)))
        for name, layer in layers.items():
            curves[f"seconds, {name}"].append(statistics.median(times[name]))
            curves[f"MB, {name}"].append(_kept_bytes(layer, torch.randn(1, n, d), weights) / 1e6)
    counts = {
        "self-attention": lambda n: attention_cost(n, d),
        "GRU": lambda n: recurrent_cost(n, d),
        "convolution": lambda n: convolution_cost(n, d, k),
    }
    for name, count in counts.items():
        curves[f"multiply-adds, {name}"] = [float(count(n).multiply_adds) for n in lengths]
    scores = {
        kind: {
            name: _exponent(lengths, curves[f"{kind}, {name}"], config["fit"]) for name in counts
        }
        for kind in ("seconds", "MB", "multiply-adds")
    }
    return {"curves": curves, "scores": {f"exponent of {k}": v for k, v in scores.items()}}


def _as_layer(module: nn.Module) -> Callable[[Tensor], Tensor]:
    """The module as a function (1, n, d) → (1, n, d)."""
    if isinstance(module, nn.Conv1d):
        return lambda x: module(x.transpose(1, 2)).transpose(1, 2)
    if isinstance(module, MultiHeadAttention):
        return lambda x: module(x, x)[0]
    return lambda x: module(x)[0]


def _seconds(layer: Callable[[Tensor], Tensor], x: Tensor) -> float:
    """One forward and one backward pass."""
    x.requires_grad_()
    started = time.perf_counter()
    layer(x).sum().backward()  # type: ignore[no-untyped-call]
    return time.perf_counter() - started


def _kept_bytes(layer: Callable[[Tensor], Tensor], x: Tensor, weights: set[int]) -> int:
    """Bytes that the forward pass keeps for the backward pass, the input among them, the weights not."""
    kept: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in weights:
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    x.requires_grad_()
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        output = layer(x)
    del output
    return sum(kept.values())


def _exponent(lengths: list[int], values: list[float], fit: list[int]) -> float:
    """Slope of the straight line through the points in a picture with two logarithmic axes."""
    chosen = [(n, value) for n, value in zip(lengths, values, strict=True) if n in fit]
    x, y = torch.tensor(chosen, dtype=torch.float64).log().T
    return float(((x - x.mean()) * (y - y.mean())).sum() / (x - x.mean()).square().sum())
