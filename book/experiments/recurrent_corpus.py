"""GRUs without and with attention, a convolutional model and the Transformer, on the running corpus.

All have the same sentences, batches and updates, and decode greedily. Beside `running_corpus`, these are
a quarter of the sentences and a fifth of the updates.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from experiment_training import trained

from transformer_course.checkpoints import read_json, write_json
from transformer_course.corpus import grammar
from transformer_course.corpus.pairs import Pair
from transformer_course.corpus.scoring import (
    TWO_WAY,
    exact_match,
    group_by_length,
    pronoun_accuracy,
)
from transformer_course.corpus.vocabulary import Vocabulary
from transformer_course.encoder_decoder import Transformer
from transformer_course.fast import use_fast
from transformer_course.recipe import encode_pairs
from transformer_course.runs import GRAMMAR_RECIPE
from transformer_course.seq2seq import (
    ConvolutionalSeq2Seq,
    RecurrentSeq2Seq,
    Seq2Seq,
    Seq2SeqConfig,
)
from transformer_course.translator import Translator

CONFIG: dict[str, Any] = {
    "n_pairs": 86_000,  # each is read once
    "n_test": 1000,
    "n_valid": 1000,
    "n_challenge": 160,
    "vocab_size": GRAMMAR_RECIPE.vocab_size,
    "models": {
        "GRU, one vector": {"d_model": 160, "n_layers": 2, "attention": False},
        "GRU, attention": {"d_model": 160, "n_layers": 2, "attention": True},
        "convolution": {"d_model": 128, "n_layers": 4, "kernel_size": 3},
        "Transformer": {},  # as the recipe has it
    },
    "lengths": [1, 7, 10, 12],
    "training": asdict(GRAMMAR_RECIPE.training) | {"max_steps": 1350, "validate_every": 270},
}
PROBE: dict[str, Any] = {
    "n_pairs": 400,
    "n_test": 10,
    "n_valid": 30,
    "n_challenge": 2,
    "models": {
        name: {"d_model": 32} for name in ("GRU, one vector", "GRU, attention", "convolution")
    },
    "training": {"max_steps": 12, "max_tokens": 256, "warmup_steps": 4, "validate_every": 4},
}

Measure = Callable[[Sequence[Pair], Sequence[str]], float]


def run(seed: int, config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Train the models with one seed; score them on held-out sentences and by phenomenon."""
    train = list(grammar.generate("train", config["n_pairs"], seed=0))
    valid = list(grammar.generate("valid", config["n_valid"], seed=0))
    lines = (text for pair in train for text in (pair.source, pair.target))
    vocabulary = Vocabulary.train(lines, config["vocab_size"])
    examples = encode_pairs(vocabulary, train), encode_pairs(vocabulary, valid)
    test = list(grammar.generate("test", config["n_test"], seed=0))
    sets = {k: v[: config["n_challenge"]] for k, v in grammar.challenge_sets(seed=0).items()}
    curves: dict[str, list[float]] = {}
    scores: dict[str, dict[str, Any]] = {}
    for name, sizes in config["models"].items():
        done = folder / f"{name}.json"
        if not done.exists():
            torch.manual_seed(seed)
            model = _model(name, len(vocabulary), sizes)
            training = config["training"] | {"seed": seed}
            trainer = trained(model, *examples, training, folder / name)
            translator = Translator(trainer.model, vocabulary)
            found = _scores(translator, test, sets, config["lengths"])
            found["parameters"] = sum(p.numel() for p in model.parameters())
            write_json(done, {"scores": found, "loss": [r["loss"] for r in trainer.history]})
        result = read_json(done)
        curves[f"loss, {name}"] = result["loss"]
        for score, value in result["scores"].items():
            table = scores.setdefault(score, {})
            if isinstance(value, dict):
                for respect, share in value.items():
                    table.setdefault(respect, {})[name] = share
            else:
                table[name] = value
    return {"curves": curves, "scores": scores}


def _model(name: str, vocab_size: int, sizes: dict[str, Any]) -> Transformer | Seq2Seq:
    if name == "Transformer":
        return use_fast(Transformer(GRAMMAR_RECIPE.config(vocab_size)))
    kind = ConvolutionalSeq2Seq if name == "convolution" else RecurrentSeq2Seq
    return kind(Seq2SeqConfig(vocab_size, dropout=0.0, **sizes))


def _scores(
    translator: Translator, test: list[Pair], sets: dict[str, list[Pair]], lengths: list[int]
) -> dict[str, Any]:
    """Exact match on held-out sentences, by length and by phenomenon; il or elle where it is one of the two."""
    sources = list({pair.source: None for pairs in (test, *sets.values()) for pair in pairs})
    said = dict(zip(sources, translator.translate(sources, beam=1), strict=True))

    def measured(measure: Measure, pairs: list[Pair]) -> float:
        return round(measure(pairs, [said[pair.source] for pair in pairs]), 5)

    groups = group_by_length(test, lengths)
    return {
        "exact match, greedy search": measured(exact_match, test),
        "il or elle": {name: measured(pronoun_accuracy, sets[name]) for name in TWO_WAY},
        "by phenomenon": {name: measured(exact_match, pairs) for name, pairs in sets.items()},
        "by words, greedy search": {
            name: measured(exact_match, pairs) for name, pairs in groups.items()
        },
    }
