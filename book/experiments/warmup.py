"""What does warm-up prevent? Six layers, post-norm and pre-norm, with and without it, with three seeds."""

import math
from collections import Counter
from pathlib import Path
from typing import Any

import torch

from transformer_course.checkpoints import read_json, write_json
from transformer_course.corpus import grammar
from transformer_course.corpus.batches import Example
from transformer_course.corpus.vocabulary import Vocabulary
from transformer_course.encoder_decoder import Transformer, TransformerConfig
from transformer_course.fast import use_fast
from transformer_course.loss import teacher_forcing_loss
from transformer_course.recipe import encode_pairs
from transformer_course.training import Progress, Trainer, TrainingConfig, validation_loss

CONFIG: dict[str, Any] = {
    "warmup_steps": {"without": 1, "with": 100},
    "peak_rate": {"post": [2.5e-4, 5e-4, 1e-3], "pre": [1e-3]},
    "phenomenon": "clitic order",
    "n_train": 20_000,
    "n_valid": 200,
    "vocab_size": 600,
    "model": {
        "d_model": 64,
        "n_heads": 4,
        "d_ff": 256,
        "n_encoder_layers": 6,
        "n_decoder_layers": 6,
    },
    "training": {"max_steps": 330, "max_tokens": 768, "validate_every": 330},
}
PROBE: dict[str, Any] = {
    "warmup_steps": {"without": 1, "with": 6},
    "peak_rate": {"post": [5e-4], "pre": [1e-3]},
    "n_train": 300,
    "n_valid": 20,
    "model": {"n_encoder_layers": 3, "n_decoder_layers": 3},
    "training": {"max_steps": 16, "max_tokens": 256, "validate_every": 8},
}


def run(seed: int, config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Train with and without warm-up from the same weights on the same batches, at each rate and norm."""
    sizes = {"train": config["n_train"], "valid": config["n_valid"]}
    kind = config["phenomenon"]
    pairs = {s: list(grammar.sentences_with(kind, s, n, seed)) for s, n in sizes.items()}
    lines = (text for pair in pairs["train"] for text in (pair.source, pair.target))
    vocabulary = Vocabulary.train(lines, config["vocab_size"])
    examples = {split: encode_pairs(vocabulary, pairs[split]) for split in pairs}
    curves: dict[str, list[float]] = {}
    scores: dict[str, dict[str, float]] = {}
    for norm, rates in config["peak_rate"].items():
        for rate in rates:
            for warmup, warmup_steps in config["warmup_steps"].items():
                name = f"{norm}-norm, {rate:g}, {warmup}"
                done = folder / f"{norm}-{rate:g}-{warmup_steps}.json"
                if not done.exists():
                    changed = {"peak_rate": rate, "warmup_steps": warmup_steps, "seed": seed}
                    training = TrainingConfig(**config["training"] | changed)
                    model = TransformerConfig(
                        len(vocabulary), dropout=0.0, norm=norm, **config["model"]
                    )
                    write_json(done, _trained(model, training, examples))
                found = read_json(done)
                curves[name] = found["losses"]
                scores.setdefault("validation loss", {})[name] = found["loss"]
    baseline = _loss_of_frequencies(examples)
    return {"curves": curves, "scores": scores | {"loss of the frequencies alone": baseline}}


def _trained(
    sizes: TransformerConfig, training: TrainingConfig, examples: dict[str, list[Example]]
) -> dict[str, Any]:
    """The batches' losses, as means of ten updates, and the loss at the end."""
    torch.manual_seed(training.seed)
    model = use_fast(Transformer(sizes))
    losses: list[float] = []

    def report(progress: Progress) -> None:
        losses.append(progress.loss)

    trainer = Trainer(
        model,
        examples["train"],
        teacher_forcing_loss,
        lambda model: {"loss": validation_loss(model, examples["valid"], teacher_forcing_loss)},
        training,
    )
    trainer.train(report)
    tens = [losses[i : i + 10] for i in range(0, len(losses), 10)]
    means = [round(sum(ten) / len(ten), 4) for ten in tens]
    return {"losses": means, "loss": trainer.history[-1]["loss"]}


def _loss_of_frequencies(examples: dict[str, list[Example]]) -> float:
    """What a model pays on held-out pairs that knows how frequent each subword is, and nothing else."""
    end = [2]
    seen = Counter(i for _, target in examples["train"] for i in [*target, *end])
    held_out = [i for _, target in examples["valid"] for i in [*target, *end]]
    total = sum(seen.values()) + len(seen)  # one more for each, so that none is 0
    return sum(-math.log((seen[i] + 1) / total) for i in held_out) / len(held_out)
