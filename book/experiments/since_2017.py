"""What changed in the layer since 2017: each change alone and all together, at equal updates and size."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from experiment_training import trained_on

from transformer_course.corpus import grammar
from transformer_course.corpus.grammar.orthography import PLAIN
from transformer_course.corpus.vocabulary import Vocabulary
from transformer_course.encoder_decoder import LayerConfig
from transformer_course.families import DecoderConfig, DecoderOnly, Rows, language_model_loss

CONFIG: dict[str, Any] = {
    "n_train": 40_000,
    "n_valid": 500,
    "vocab_size": 600,
    "layer": {"d_model": 64, "n_heads": 4, "d_ff": 256, "dropout": 0.0},
    "n_layers": 3,
    "changes": {
        "as in 2017": {},
        "RMS norm": {"norm_kind": "rms"},
        "SwiGLU": {"activation": "swiglu", "d_ff": 172},
        "no biases": {"bias": False},
        "grouped keys": {"n_key_heads": 2, "d_ff": 288},  # what they save goes into the net
        "rotary positions": {"rotary_base": 10000.0},
        "norm of queries and keys": {"qk_norm": True},
    },
    "d_ff, all together": 208,
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
    together: dict[str, Any] = {}
    for change in config["changes"].values():
        together |= change
    together["d_ff"] = config["d_ff, all together"]
    curves: dict[str, list[float]] = {}
    scores: dict[str, Any] = {
        "held-out loss": {},
        "weights": {},
        "cache bytes a token": {},
    }
    for name, change in (config["changes"] | {"all together": together}).items():
        torch.manual_seed(seed)
        model, trainer = trained_on(
            built(config, change, len(vocabulary)),
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


def built(config: dict[str, Any], change: dict[str, Any], vocab_size: int) -> DecoderOnly:
    """A decoder with one change; without rotation its positions are learned."""
    layer = replace(LayerConfig(**config["layer"]), **change)
    positions = "none" if layer.rotary_base else "learned"
    sizes = DecoderConfig(vocab_size, layer, config["n_layers"], positions=positions)
    return DecoderOnly(sizes)


def cache_bytes(model: DecoderOnly) -> int:
    """Bytes that the keys and values of one token take in all layers, in single precision."""
    caches = model.stack.start_caches(1, 1)
    return sum(x.numel() * x.element_size() for c in caches for x in (c.keys, c.values))
