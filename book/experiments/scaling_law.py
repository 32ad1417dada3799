"""A small scaling law: five sizes and amounts of text are measured, a sixth is foretold, then measured."""

from pathlib import Path
from typing import Any

import torch
from experiment_training import trained_on

from transformer_course.corpus import grammar
from transformer_course.corpus.grammar.orthography import PLAIN
from transformer_course.corpus.vocabulary import Vocabulary
from transformer_course.encoder_decoder import LayerConfig
from transformer_course.families import DecoderConfig, DecoderOnly, Rows, language_model_loss
from transformer_course.scaling import fit_power_law

CONFIG: dict[str, Any] = {
    "n_train": 128_000,  # sentences; nothing is read twice
    "n_valid": 1000,
    "vocab_size": 600,
    "widths": [8, 12, 20, 32, 48],
    "next width": 80,
    "updates": [64, 128, 256, 512, 1024],
    "next updates": 2000,
    "width": 32,  # of the models that differ in the amount of text
    "layer": {"n_heads": 2, "dropout": 0.0},
    "n_layers": 2,
    "batch_size": 64,
    "training": {"peak_rate": 4e-3, "warmup_steps": 32},
}
PROBE: dict[str, Any] = {
    "n_train": 300,
    "n_valid": 20,
    "vocab_size": 300,
    "widths": [4, 8],
    "next width": 12,
    "updates": [4, 8],
    "next updates": 12,
    "width": 8,
    "batch_size": 8,
    "training": {"warmup_steps": 2},
}


def run(seed: int, config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Measure five, foretell the sixth by a power law, and only then train it: by size, by amount of text."""
    text = {
        split: [p.source for p in grammar.generate(split, config[f"n_{split}"], style=PLAIN)]
        for split in ("train", "valid")
    }
    vocabulary = Vocabulary.train(text["train"], config["vocab_size"])
    ids = {split: vocabulary.encode(lines) for split, lines in text.items()}
    rows = {
        split: Rows([[1, *row, 2] for row in ids[split]], batch_size=config["batch_size"])
        for split in ids
    }
    guesses = sum(len(row) + 1 for row in ids["train"]) / len(text["train"])  # in a sentence

    def trained(width: int, updates: int) -> tuple[float, int]:
        """Held-out loss, and weights without the embedding, which is only looked up."""
        torch.manual_seed(seed)
        layer = LayerConfig(d_model=width, d_ff=4 * width, **config["layer"])
        model, trainer = trained_on(
            DecoderOnly(DecoderConfig(len(vocabulary), layer, config["n_layers"])),
            rows["train"],
            rows["valid"],
            config["training"] | {"seed": seed, "max_steps": updates, "validate_every": updates},
            folder / f"{width}, {updates}",
            language_model_loss,
        )
        return trainer.history[-1]["loss"], sum(p.numel() for p in model.stack.parameters())

    longest = config["next updates"]
    curves: dict[str, list[float]] = {}
    scores: dict[str, Any] = {}
    for kind, points, last in (
        ("weights", [(w, longest) for w in config["widths"]], (config["next width"], longest)),
        ("tokens", [(config["width"], u) for u in config["updates"]], (config["width"], longest)),
    ):
        found = [trained(*point) for point in points]
        sizes = [
            weights if kind == "weights" else round(updates * guesses * config["batch_size"])
            for (_, weights), (_, updates) in zip(found, points, strict=True)
        ]
        law = fit_power_law(sizes, [loss for loss, _ in found])
        loss, weights = trained(*last)
        size = weights if kind == "weights" else round(last[1] * guesses * config["batch_size"])
        curves[kind] = [*sizes, size]
        curves[f"held-out loss by {kind}"] = [round(one, 5) for one, _ in found] + [round(loss, 5)]
        scores[kind] = {
            "exponent": round(law.exponent, 5),
            "foretold": round(law(size), 5),
            "measured": round(loss, 5),
        }
    return {"curves": curves, "scores": scores}
