"""Seconds of an update with each change since 2017: the models of since_2017, and some four times as wide."""

import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from changes_since_2017 import FIRST, SETTINGS, decoder, layers
from torch import Tensor

from transformer_course.encoder_decoder import LayerConfig
from transformer_course.families import DecoderOnly, language_model_loss
from transformer_course.training.optimizers import adam

AGAIN = f"{FIRST}, again"  # how far the times of equal models differ
CONFIG: dict[str, Any] = {
    **SETTINGS,
    "sizes": {  # times the widths of the layer; sentences, and tokens of each
        "64 wide": {"times": 1, "batch": 64, "length": 12, "rounds": 60},
        "256 wide": {"times": 4, "batch": 8, "length": 128, "rounds": 20},
    },
}
PROBE: dict[str, Any] = {
    "n_layers": 1,
    "sizes": {
        "64 wide": {"batch": 2, "length": 4, "rounds": 2},
        "256 wide": {"batch": 2, "length": 4, "rounds": 2},
    },
}


def run(seed: int, config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Updates of all models in rounds that take turns: median seconds, and median share of the 2017 model's."""
    torch.manual_seed(seed)
    scores: dict[str, Any] = {}
    for size, numbers in config["sizes"].items():
        kinds = layers(config)
        models = {
            name: decoder(
                widened(layer, numbers["times"]), config["n_layers"], config["vocab_size"]
            )
            for name, layer in (kinds | {AGAIN: kinds[FIRST]}).items()
        }
        ids = torch.randint(3, config["vocab_size"], (numbers["batch"], numbers["length"]))
        updates = {name: update_of(model, ids) for name, model in models.items()}
        for update in updates.values():
            update()  # the first one makes the memory of the optimizer
        times: dict[str, list[float]] = {name: [] for name in models}
        for _ in range(numbers["rounds"]):
            for name, update in updates.items():  # in turns, so that a slow moment hits all of them
                times[name].append(update())
        scores[f"weights, {size}"] = {
            name: sum(p.numel() for p in model.parameters()) for name, model in models.items()
        }
        scores[f"seconds, {size}"] = {name: statistics.median(s) for name, s in times.items()}
        scores[f"share of seconds, {size}"] = {
            name: statistics.median(a / b for a, b in zip(s, times[FIRST], strict=True))
            for name, s in times.items()
        }
    return {"curves": {}, "scores": scores}


def widened(layer: LayerConfig, times: int) -> LayerConfig:
    """The layer with all its widths multiplied; the number of heads stays."""
    return replace(layer, d_model=times * layer.d_model, d_ff=times * layer.d_ff)


def update_of(model: DecoderOnly, ids: Tensor) -> Callable[[], float]:
    """A function that takes one step of training and returns its seconds."""
    optimizer = adam(model)  # at rate 0, which takes as long as any other

    def update() -> float:
        started = time.perf_counter()
        optimizer.zero_grad()
        language_model_loss(model, ids).backward()
        optimizer.step()
        return time.perf_counter() - started

    return update
