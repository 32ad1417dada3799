"""What changed in the layer since 2017: each change alone and all together, at equal updates and size."""

from pathlib import Path
from typing import Any

import torch
from changes_since_2017 import SETTINGS, decoder, layers
from experiment_training import trained_on

from transformer_course.corpus import grammar
from transformer_course.corpus.grammar.orthography import PLAIN
from transformer_course.corpus.vocabulary import Vocabulary
from transformer_course.families import DecoderOnly, Rows, language_model_loss

CONFIG: dict[str, Any] = {
    "n_train": 40_000,
    "n_valid": 500,
    **SETTINGS,
    "batch_size": 64,
    "training": {
        "max_steps": 800,
        "peak_rate": 2e-3,
        "warmup_steps": 80,
        "validate_every": 200,
    },
}
PROBE: dict[str, Any] = {
    "n_train": 300,
    "n_valid": 20,
    "vocab_size": 300,
    "batch_size": 4,
    "n_layers": 2,
    "training": {"max_steps": 6, "warmup_steps": 2, "validate_every": 3},
}


def run(seed: int, config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Train every variant; held-out loss, weights and bytes of cache."""
    text = {
        split: [p.source for p in grammar.generate(split, config[f"n_{split}"], style=PLAIN)]
        for split in ("train", "valid")
    }
    vocabulary = Vocabulary.train(text["train"], config["vocab_size"])
    rows = {
        split: Rows(
            [[1, *ids, 2] for ids in vocabulary.encode(lines)], batch_size=config["batch_size"]
        )
        for split, lines in text.items()
    }
    curves: dict[str, list[float]] = {}
    scores: dict[str, Any] = {
        "held-out loss": {},
        "weights": {},
        "cache bytes a token": {},
    }
    for name, layer in layers(config).items():
        torch.manual_seed(seed)
        model, trainer = trained_on(
            decoder(layer, config["n_layers"], len(vocabulary)),
            rows["train"],
            rows["valid"],
            config["training"] | {"seed": seed},
            folder / name,
            language_model_loss,
        )
        scores["weights"][name] = sum(p.numel() for p in model.parameters())
        scores["cache bytes a token"][name] = cache_bytes(model)
        curves[name] = [round(record["loss"], 5) for record in trainer.history]
        scores["held-out loss"][name] = curves[name][-1]
    return {"curves": curves, "scores": scores}


def cache_bytes(model: DecoderOnly) -> int:
    """Bytes that the keys and values of one token take in all layers, in single precision."""
    caches = model.stack.start_caches(1, 1)
    return sum(x.numel() * x.element_size() for c in caches for x in (c.keys, c.values))
