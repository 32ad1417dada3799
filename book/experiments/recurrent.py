"""Four translators of about one size: GRU without and with attention, convolutions, Transformer.

They learn chains of short sentences: "..., then ..., then ...". A chain has any length, and each of its parts
is as hard as the others: nothing but the length differs.
"""

from pathlib import Path
from typing import Any

import torch
from experiment_setup import TRANSLATOR, greedy, joint_vocabulary, seq2seq_model, trained

from transformer_course.checkpoints import read_json, write_json
from transformer_course.corpus import grammar
from transformer_course.corpus.pairs import Pair
from transformer_course.translator import Translator

CONFIG: dict[str, Any] = {
    "chained": "clitic order",
    "lengths": [1, 2, 3, 4],
    "longer": [6, 8],
    "n_train": 20_000,
    "n_valid": 400,
    "n_test": 160,
    "vocab_size": 800,
    "models": {
        "one vector": {"d_model": 96, "n_layers": 1, "attention": False},
        "attention": {"d_model": 96, "n_layers": 1, "attention": True},
        "convolution": {"d_model": 64, "n_layers": 4, "kernel_size": 3},
        "Transformer": {
            "d_model": 64,
            "d_ff": 256,
            "n_encoder_layers": 2,
            "n_decoder_layers": 2,
            "n_heads": 4,
        },
    },
    "training": {
        "max_steps": 3000,
        "max_tokens": 1024,
        "peak_rate": 3e-3,
        "warmup_steps": 200,
        "validate_every": 250,
    },
}
REDUCED: dict[str, Any] = {
    "n_train": 20,
    "n_valid": 10,
    "n_test": 4,
    "training": {"max_steps": 4, "warmup_steps": 2, "validate_every": 2},
}
MODULES = [*TRANSLATOR, "seq2seq.py"]


def run(seed: int, config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Train the four models on the same chains; score them by length."""
    train, valid = (_pairs(config, split) for split in ("train", "valid"))
    vocabulary = joint_vocabulary(train, config["vocab_size"])
    curves: dict[str, list[float]] = {}
    scores: dict[str, dict[str, Any]] = {}
    for name, sizes in config["models"].items():
        done = folder / f"{name}.json"
        if not done.exists():
            torch.manual_seed(seed)
            model = seq2seq_model(name, len(vocabulary), sizes)
            training = config["training"] | {"seed": seed}
            trainer = trained(model, vocabulary, (train, valid), training, folder / name)
            found = _scores(Translator(trainer.model, vocabulary), config)
            found["parameters"] = sum(p.numel() for p in model.parameters())
            found["seconds of training"] = trainer.history[-1]["seconds"]
            write_json(done, {"scores": found, "loss": [r["loss"] for r in trainer.history]})
        result = read_json(done)
        for score, value in result["scores"].items():
            scores.setdefault(score, {})[name] = value
        curves[f"loss, {name}"] = result["loss"]
    return {"curves": curves, "scores": scores}


def _pairs(config: dict[str, Any], split: str) -> list[Pair]:
    """As many chains of each length as of the others."""
    n = config[f"n_{split}"] // len(config["lengths"])
    return [_joined(chain) for k in config["lengths"] for chain in _chains(config, split, k, n)]


def _chains(config: dict[str, Any], split: str, length: int, n: int) -> list[list[Pair]]:
    """`n` lists of `length` short sentences each; another length has other sentences."""
    drawn = list(grammar.sentences_with(config["chained"], split, n * length, seed=length))
    return [drawn[i : i + length] for i in range(0, len(drawn), length)]


def _joined(chain: list[Pair]) -> Pair:
    """One pair of a chain."""
    source = ", then ".join(pair.source for pair in chain)
    return Pair(source, (", puis ".join(pair.target for pair in chain),))


def _scores(translator: Translator, config: dict[str, Any]) -> dict[str, Any]:
    """Share of right answers for each length of chain."""
    found: dict[str, Any] = {"words": {}, "parts right": {}, "chains right": {}}
    for length in config["lengths"] + config["longer"]:
        chains = _chains(config, "test", length, config["n_test"])
        pairs = [_joined(chain) for chain in chains]
        right = []
        for chain, text in zip(chains, greedy(translator, pairs), strict=True):
            parts = text.split(", puis ")
            answers = parts + [""] * (length - len(parts))  # a part that is missing is wrong
            right.append([p.accepts(a) for p, a in zip(chain, answers, strict=False)])
            if len(parts) > length:  # written too much: the chain isn't right
                right[-1].append(False)
        name = str(length)
        found["words"][name] = sum(len(p.source.split()) for p in pairs) / len(pairs)
        found["parts right"][name] = sum(sum(r) for r in right) / (length * len(right))
        found["chains right"][name] = sum(all(r) for r in right) / len(right)
    return found
