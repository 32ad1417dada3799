"""What a longer context brings: stories with questions, read in segments, with a memory, a window, or whole."""

from pathlib import Path
from typing import Any

import torch
from experiment_training import trained_on
from story_reading import Reader, most_frequent, readers
from story_texts import Texts, fresh_vocabulary, loss_of, texts

from transformer_course.encoder_decoder import LayerConfig
from transformer_course.families import DecoderConfig, DecoderOnly, Rows
from transformer_course.fast import use_fast

APART = True  # hours on a processor; it was run on a graphics card
CONFIG: dict[str, Any] = {
    "n_train": 20_000,
    "n_valid": 100,
    "n_test": 500,
    "length": 512,
    "layer": {
        "d_model": 128,
        "n_heads": 4,
        "d_ff": 344,
        "dropout": 0.0,
        "bias": False,
        "activation": "swiglu",
        "rotary_base": 10000.0,
    },
    "n_layers": 4,
    "segment": 128,
    "memories": {"segments": 0, "segments, memory of 128": 128},
    "batch_size": 32,
    "training": {
        "max_steps": 1000,
        "peak_rate": 2e-3,
        "warmup_steps": 200,
        "validate_every": 500,
        "precision": "bf16",
    },
}
PROBE: dict[str, Any] = {
    "n_train": 12,
    "n_valid": 2,
    "n_test": 2,
    "length": 96,
    "layer": {"d_model": 32, "n_heads": 2, "d_ff": 64},
    "n_layers": 2,
    "segment": 32,
    "batch_size": 4,
    "training": {"max_steps": 6, "warmup_steps": 2, "validate_every": 3, "precision": "fp32"},
}


def run(seed: int, config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Train each system on the same rows; the share of right answers by distance."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    vocabulary = fresh_vocabulary()
    data = {
        split: texts(split, config[f"n_{split}"], config["length"], vocabulary, once=False)
        for split in ("train", "valid", "test")
    }
    rows = {
        split: Rows(data[split].ids, batch_size=config["batch_size"])
        for split in ("train", "valid")
    }
    curves: dict[str, list[float]] = {}
    scores: dict[str, Any] = {"right by kind": {}, "held-out loss": {}}
    for name, read in readers(config).items():
        torch.manual_seed(seed)
        sizes = DecoderConfig(
            len(vocabulary),
            LayerConfig(**config["layer"]),
            config["n_layers"],
            config["length"],
            positions="none",
        )
        model, trainer = trained_on(
            use_fast(DecoderOnly(sizes)).to(device),
            rows["train"],
            rows["valid"],
            config["training"] | {"seed": seed},
            folder / name,
            lambda model, ids, read=read: loss_of(read(model, ids), ids),
        )
        curves[name] = [round(record["loss"], 5) for record in trainer.history]
        scores["held-out loss"][name] = curves[name][-1]
        scores["right by kind"][name] = answered(model, read, data["test"], config, device)
    scores["most frequent answer"] = most_frequent(data["train"], data["test"])
    return {"curves": curves, "scores": scores}


@torch.no_grad()
def answered(
    model: DecoderOnly, read: Reader, test: Texts, config: dict[str, Any], device: str
) -> dict[str, float]:
    """Share of answers whose words are all the likeliest, by kind of question."""
    right: dict[str, list[bool]] = {}
    for first in range(0, len(test.ids), config["batch_size"]):
        ids = test.ids[first : first + config["batch_size"]]
        likeliest = read(model, ids.to(device)).argmax(-1).cpu()
        for row, asked in enumerate(test.asked[first : first + config["batch_size"]]):
            for one in asked:
                said = likeliest[row, one.start - 1 : one.end - 1]
                is_right = bool(said.equal(ids[row, one.start : one.end]))
                right.setdefault(one.kind, []).append(is_right)
    return {kind: sum(found) / len(found) for kind, found in right.items()}
