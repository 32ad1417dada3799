"""Four translators of about one size: GRU without and with attention, convolutions, Transformer.

They learn chains of short sentences: "..., then ..., then ...". A chain has any length, and each of its parts
is as hard as the others: nothing but the length differs. Parts have no capitals and no marks.
"""

import random
from pathlib import Path
from typing import Any

import torch
from experiment_training import trained

from transformer_course.checkpoints import read_json, write_json
from transformer_course.corpus import grammar
from transformer_course.corpus.grammar.orthography import PLAIN
from transformer_course.corpus.pairs import Pair
from transformer_course.corpus.vocabulary import Vocabulary
from transformer_course.encoder_decoder import Transformer, TransformerConfig
from transformer_course.fast import use_fast
from transformer_course.recipe import encode_pairs
from transformer_course.seq2seq import (
    ConvolutionalSeq2Seq,
    RecurrentSeq2Seq,
    Seq2Seq,
    Seq2SeqConfig,
)
from transformer_course.translator import Translator

CONFIG: dict[str, Any] = {
    "chained": "profession",
    "n_different": {"train": 4000, "valid": 200, "test": 400},  # sentences that chains are made of
    "lengths": [1, 2, 3, 4],
    "longer": [6, 8],
    "n_chains": {"train": 16_000, "valid": 200},
    "n_test": 100,  # chains of each length
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
        "max_steps": 1500,
        "max_tokens": 1024,
        "peak_rate": 4e-3,
        "warmup_steps": 100,
        "validate_every": 150,
    },
}
PROBE: dict[str, Any] = {
    "n_different": {"train": 60, "valid": 10, "test": 10},
    "n_chains": {"train": 200, "valid": 10},
    "n_test": 2,
    "training": {"max_steps": 8, "max_tokens": 256, "warmup_steps": 4, "validate_every": 4},
}


def run(seed: int, config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Train the four models on the same chains; score them by length."""
    train, valid = _pairs(config, "train"), _pairs(config, "valid")
    lines = (text for pair in train for text in (pair.source, pair.target))
    vocabulary = Vocabulary.train(lines, config["vocab_size"])
    examples = encode_pairs(vocabulary, train), encode_pairs(vocabulary, valid)
    curves: dict[str, list[float]] = {}
    scores: dict[str, dict[str, Any]] = {}
    for name, sizes in config["models"].items():
        done = folder / f"{name}.json"
        if not done.exists():
            torch.manual_seed(seed)
            model = _model(name, len(vocabulary), sizes)
            training = config["training"] | {"seed": seed}
            trainer = trained(model, *examples, training, folder / name)
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
    n = config["n_chains"][split] // len(config["lengths"])
    return [_joined(chain) for k in config["lengths"] for chain in _chains(config, split, k, n)]


def _chains(config: dict[str, Any], split: str, length: int, n: int) -> list[list[Pair]]:
    """`n` lists of `length` sentences each, drawn from the different sentences of a split."""
    n_different = config["n_different"][split]
    found = grammar.sentences_with(config["chained"], split, n_different, style=PLAIN)
    sentences, dice = list(found), random.Random(length)
    return [dice.choices(sentences, k=length) for _ in range(n)]


def _joined(chain: list[Pair]) -> Pair:
    """One pair of a chain."""
    source = ", then ".join(pair.source for pair in chain)
    return Pair(source, (", puis ".join(pair.target for pair in chain),))


def _model(name: str, vocab_size: int, sizes: dict[str, Any]) -> Transformer | Seq2Seq:
    """A fresh model; to trainer, loss and search all four look alike."""
    if name == "Transformer":
        return use_fast(Transformer(TransformerConfig(vocab_size, dropout=0.0, **sizes)))
    config = Seq2SeqConfig(vocab_size, dropout=0.0, **sizes)
    kind = ConvolutionalSeq2Seq if name == "convolution" else RecurrentSeq2Seq
    return kind(config)


def _scores(translator: Translator, config: dict[str, Any]) -> dict[str, Any]:
    """Share of right answers for each length of chain."""
    found: dict[str, Any] = {"words": {}, "parts right": {}, "chains right": {}}
    for length in config["lengths"] + config["longer"]:
        chains = _chains(config, "test", length, config["n_test"])
        pairs = [_joined(chain) for chain in chains]
        right = []
        for chain, text in zip(chains, _translate(translator, pairs), strict=True):
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


def _translate(translator: Translator, pairs: list[Pair]) -> list[str]:
    return translator.translate([pair.source for pair in pairs], beam=1)
