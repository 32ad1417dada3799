"""Two layers of attention learn to copy what followed before; one doesn't, and a fixed period is a trap."""

from pathlib import Path
from typing import Any

import torch
from torch import nn

from transformer_course.inspecting import (
    AttentionOnly,
    changed_attention,
    copy_accuracy,
    equal_weights,
    pattern_scores,
    repeated,
)
from transformer_course.multi_head import record_attention

CONFIG: dict[str, Any] = {
    "vocab_size": 64,
    "length": 40,
    "batch": 64,
    "sizes": {"d_model": 64, "n_heads": 4, "max_len": 40},
    "rate": 3e-3,
    "steps": 900,
    "curve_every": 50,
    "models": {
        "two layers, periods 10 to 18": [2, [10, 18], "sinusoidal"],
        "one layer, periods 10 to 18": [1, [10, 18], "sinusoidal"],
        "two layers, period 14": [2, [14, 14], "sinusoidal"],
        "one layer, period 14": [1, [14, 14], "sinusoidal"],
        "two layers, period 14, learned positions": [2, [14, 14], "learned"],
    },
    "tested": [8, 9, 12, 14, 18, 20],
    "n_test": 256,
}
PROBE: dict[str, Any] = {"steps": 20, "curve_every": 5, "n_test": 32}


def run(seed: int, config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Train each model; test it on periods it saw and on others; look at the heads of the first one."""
    del folder  # nothing is kept: it takes a minute
    curves: dict[str, list[float]] = {}
    scores: dict[str, Any] = {"copied right": {}}
    for name, (n_layers, periods, positions) in config["models"].items():
        torch.manual_seed(seed)
        model = AttentionOnly(
            config["vocab_size"], n_layers=n_layers, positions=positions, **config["sizes"]
        )
        curves[name] = _train(model, periods, seed, config)
        scores["copied right"][name] = {
            str(period): round(_accuracy(model, period, config), 4) for period in config["tested"]
        }
        if name == next(iter(config["models"])):
            scores |= _heads(model, config)
    return {"curves": curves, "scores": scores}


def _train(
    model: AttentionOnly, periods: list[int], seed: int, config: dict[str, Any]
) -> list[float]:
    """Adam at a constant rate, the loss where the next token is clear; gives the accuracy as it grows."""
    dice = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["rate"])
    curve = []
    for step in range(1, config["steps"] + 1):
        tokens, of_each = _draw(config["batch"], periods, dice, config)
        logits = model(tokens[:, :-1])
        known = torch.arange(tokens.shape[1] - 1)[None] >= of_each[:, None]
        loss = nn.functional.cross_entropy(logits[known], tokens[:, 1:][known])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % config["curve_every"] == 0:
            fresh = _draw(config["n_test"], periods, torch.Generator().manual_seed(1000), config)
            curve.append(round(copy_accuracy(model, *fresh), 4))
    return curve


def _draw(
    n: int, periods: list[int], dice: torch.Generator, config: dict[str, Any]
) -> tuple[torch.Tensor, torch.Tensor]:
    shortest, longest = periods
    return repeated(n, config["length"], config["vocab_size"], (shortest, longest), dice)


def _accuracy(model: nn.Module, period: int, config: dict[str, Any]) -> float:
    dice = torch.Generator().manual_seed(2000)
    return copy_accuracy(model, *_draw(config["n_test"], [period, period], dice, config))


@torch.no_grad()
def _heads(model: AttentionOnly, config: dict[str, Any]) -> dict[str, Any]:
    """How much each head looks back by one, and at what followed; and what is left without a layer."""
    period = 14
    tokens, _ = _draw(32, [period, period], torch.Generator().manual_seed(3000), config)
    with record_attention(model) as maps:
        model(tokens)
    heads = {}
    copied = {"whole": round(_accuracy(model, period, config), 4)}
    for number, (name, weights) in enumerate(maps.items(), 1):
        back = torch.stack([pattern_scores(w)["previous"] for w in weights]).mean(0)
        # Column t + 1 - period: what followed when this token came last.
        followed = weights.diagonal(1 - period, 2, 3).mean((0, 2))
        for head in range(weights.shape[1]):
            heads[f"layer {number}, head {head + 1}"] = {
                "looks back by one": round(float(back[head]), 3),
                "looks at what followed": round(float(followed[head]), 3),
            }
        with changed_attention(model, {name: equal_weights}):
            equal = round(_accuracy(model, period, config), 4)
        copied[f"equal weights in layer {number}"] = equal
    return {"two layers": copied, "heads": heads}
