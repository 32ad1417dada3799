"""Recurrent translators trained as the demo translator is: the same sentences, batches and number of updates.

The Transformer's own scores on the same challenge sets are in the record of `running_corpus`.
"""

from pathlib import Path
from typing import Any

import torch
from experiment_setup import TRANSLATOR, greedy, joint_vocabulary, seq2seq_model, trained

from transformer_course.checkpoints import read_json, write_json
from transformer_course.corpus import grammar
from transformer_course.corpus.scoring import TWO_WAY, exact_match, pronoun_accuracy
from transformer_course.translator import Translator

CONFIG: dict[str, Any] = {
    "n_train": 250_000,
    "n_valid": 1000,
    "n_test": 160,
    "phenomena": list(grammar.PHENOMENA),
    "vocab_size": 4000,
    "models": {
        "GRU, one vector": {"d_model": 160, "n_layers": 2, "attention": False},
        "GRU, attention": {"d_model": 160, "n_layers": 2, "attention": True},
    },
    "training": {
        "max_steps": 3600,
        "max_tokens": 1280,
        "peak_rate": 2.5e-3,
        "warmup_steps": 400,
        "validate_every": 300,
    },
}
REDUCED: dict[str, Any] = {
    "n_train": 200,
    "n_valid": 10,
    "n_test": 2,
    "phenomena": list(TWO_WAY),
    "vocab_size": 800,
    "training": {"max_steps": 4, "warmup_steps": 2, "validate_every": 2},
}
MODULES = [*TRANSLATOR, "seq2seq.py"]


def run(seed: int, config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Train the models on the same sentences; score them by phenomenon."""
    train, valid = (list(grammar.generate(s, config[f"n_{s}"])) for s in ("train", "valid"))
    vocabulary = joint_vocabulary(train, config["vocab_size"])
    curves: dict[str, list[float]] = {}
    scores: dict[str, dict[str, Any]] = {"il or elle": {}, "by phenomenon": {}, "parameters": {}}
    for name, sizes in config["models"].items():
        done = folder / f"{name}.json"
        if not done.exists():
            torch.manual_seed(seed)
            model = seq2seq_model(name, len(vocabulary), sizes)
            training = config["training"] | {"seed": seed}
            trainer = trained(model, vocabulary, (train, valid), training, folder / name)
            found = _scores(Translator(trainer.model, vocabulary), config)
            found["parameters"] = sum(p.numel() for p in model.parameters())
            write_json(done, {"scores": found, "loss": [r["loss"] for r in trainer.history]})
        result = read_json(done)
        scores["parameters"][name] = result["scores"]["parameters"]
        for table in ("il or elle", "by phenomenon"):
            for phenomenon, share in result["scores"][table].items():
                scores[table].setdefault(phenomenon, {})[name] = share
        curves[f"loss, {name}"] = result["loss"]
    return {"curves": curves, "scores": scores}


def _scores(translator: Translator, config: dict[str, Any]) -> dict[str, Any]:
    """Exact match for each phenomenon, and the share of right pronouns; greedy search."""
    sets = {
        name: list(grammar.sentences_with(name, "test", config["n_test"]))
        for name in config["phenomena"]
    }
    texts = {name: greedy(translator, pairs) for name, pairs in sets.items()}
    return {
        "il or elle": {name: pronoun_accuracy(sets[name], texts[name]) for name in TWO_WAY},
        "by phenomenon": {name: exact_match(sets[name], texts[name]) for name in sets},
    }
