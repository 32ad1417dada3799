"""Trained on short texts, read on longer ones: the loss by position with seven ways to tell positions."""

from pathlib import Path
from typing import Any

import torch
from experiment_training import trained_on
from story_texts import PAD, fresh_vocabulary, loss_of, texts
from torch import Tensor

from transformer_course.encoder_decoder import LayerConfig
from transformer_course.families import DecoderConfig, DecoderOnly, Rows
from transformer_course.loss import log_softmax

APART = True  # hours on a processor; it was run on a graphics card
CONFIG: dict[str, Any] = {
    "n_train": 20_000,
    "n_valid": 100,
    "n_test": 500,
    "piece": 64,  # words of a training row
    "length": 512,  # words of a test row
    "layer": {"d_model": 128, "n_heads": 4, "d_ff": 512, "dropout": 0.0},
    "n_layers": 4,
    "schemes": {
        "no positions": {},
        "sinusoids": {"positions": "sinusoidal"},
        "rotary": {"rotary_base": 10000.0},
        "ALiBi": {"relative": "alibi"},
        "T5": {"relative": "t5"},
        "Shaw": {"relative": "shaw"},
        "Transformer-XL": {"relative": "xl"},
        "rotary, trained on whole texts": {"rotary_base": 10000.0, "whole": True},
    },
    "bin": 32,  # positions of a point of the curve
    "batch_size": 128,  # pieces
    "training": {
        "max_steps": 1000,
        "peak_rate": 1e-3,
        "warmup_steps": 100,
        "validate_every": 500,
    },
}
PROBE: dict[str, Any] = {
    "n_train": 12,
    "n_valid": 2,
    "n_test": 2,
    "piece": 16,
    "length": 64,
    "layer": {"d_model": 32, "n_heads": 2, "d_ff": 64},
    "n_layers": 2,
    "bin": 16,
    "batch_size": 8,
    "training": {"max_steps": 6, "warmup_steps": 2, "validate_every": 3},
}


def run(seed: int, config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Train with each scheme on pieces of the same texts; the loss of whole texts, by position."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    vocabulary, length, piece = fresh_vocabulary(), config["length"], config["piece"]
    ids = {
        split: texts(split, config[f"n_{split}"], length, vocabulary, once=False).ids
        for split in ("train", "valid", "test")
    }
    curves: dict[str, list[float]] = {}
    scores: dict[str, Any] = {"loss by position": {}}
    for name, scheme in config["schemes"].items():
        choices = dict(scheme)
        cut = length if choices.pop("whole", False) else piece
        positions = choices.pop("positions", "none")
        rows = {
            split: Rows(
                ids[split].view(-1, cut), batch_size=config["batch_size"] * piece // cut or 1
            )
            for split in ("train", "valid")
        }
        torch.manual_seed(seed)
        sizes = DecoderConfig(
            len(vocabulary),
            LayerConfig(**config["layer"], **choices),
            config["n_layers"],
            length,
            positions=positions,
        )
        model, _ = trained_on(
            DecoderOnly(sizes).to(device),
            rows["train"],
            rows["valid"],
            config["training"] | {"seed": seed},
            folder / name,
            lambda model, ids: loss_of(model(ids), ids),
        )
        losses = by_position(model, ids["test"].to(device))
        curves[name] = [round(x, 5) for x in _binned(losses, config["bin"])]
        scores["loss by position"][name] = {
            f"{last // 2 + 1 if last > piece else 2} to {last}": losses[
                last // 2 - 1 if last > piece else 0 : last - 1
            ]
            .mean()
            .item()
            for last in _doublings(piece, length)
        }
    return {"curves": curves, "scores": scores}


def _doublings(first: int, last: int) -> list[int]:
    return [first * 2**i for i in range((last // first).bit_length())]


def _binned(losses: Tensor, size: int) -> list[float]:
    return [part.mean().item() for part in losses.split(size)]


@torch.no_grad()
def by_position(model: DecoderOnly, ids: Tensor) -> Tensor:
    """Mean loss of the words at each position but the first, in nats, (length − 1,)."""
    sums, counts = torch.zeros(2, ids.shape[1] - 1, device=ids.device)
    for some in ids.split(50):
        of_words = log_softmax(model(some)[:, :-1]).gather(-1, some[:, 1:, None])[..., 0]
        real = some[:, 1:] != PAD
        sums -= (of_words * real).sum(0)
        counts += real.sum(0)
    return (sums / counts.clamp(min=1)).cpu()
