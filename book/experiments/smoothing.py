"""What does label smoothing change in a trained model? Three amounts, few and many pairs, three seeds."""

from pathlib import Path
from typing import Any

import torch
from experiment_training import prepared, trained
from torch import Tensor

from transformer_course.checkpoints import read_json, write_json
from transformer_course.corpus.batches import Example, collate, token_batches
from transformer_course.corpus.scoring import exact_match
from transformer_course.corpus.vocabulary import Vocabulary
from transformer_course.encoder_decoder import Transformer, TransformerConfig
from transformer_course.fast import use_fast
from transformer_course.loss import cross_entropy, log_softmax, teacher_forcing_loss
from transformer_course.training import Trainer
from transformer_course.translator import Translator

CONFIG: dict[str, Any] = {
    "smoothing": [0.0, 0.1, 0.3],
    "phenomenon": "clitic order",  # he gives it to her; some words have two right translations
    "n_train": {"few pairs": 500, "many pairs": 20_000},  # few: each pair is read many times
    "n_valid": 300,
    "n_test": 300,
    "n_bins": 10,
    "temperatures": [round(0.3 + 0.05 * i, 2) for i in range(55)],
    "vocab_size": 600,
    "model": {
        "d_model": 64,
        "n_heads": 4,
        "d_ff": 256,
        "n_encoder_layers": 2,
        "n_decoder_layers": 2,
    },
    "training": {
        "max_steps": 480,
        "max_tokens": 1024,
        "peak_rate": 5e-3,
        "warmup_steps": 80,
        "validate_every": 48,
    },
}
PROBE: dict[str, Any] = {
    "n_train": {"few pairs": 60, "many pairs": 400},
    "n_valid": 20,
    "n_test": 4,
    "training": {"max_steps": 9, "max_tokens": 256, "warmup_steps": 4, "validate_every": 3},
}


def run(seed: int, config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Train a model for each number of pairs and each ε; measure all on the same held-out pairs."""
    n_most = max(config["n_train"].values())
    pairs, vocabulary, examples = prepared(config | {"n_train": n_most}, seed)
    curves: dict[str, list[float]] = {}
    scores: dict[str, dict[str, float]] = {}
    for amount, n_train in config["n_train"].items():
        for smoothing in config["smoothing"]:
            name = f"{amount}, ε = {smoothing}"
            done = folder / f"{n_train}-{smoothing}.json"
            if not done.exists():
                seen = examples["train"][:n_train]
                parts = {"train": seen, "valid": examples["valid"]}
                trainer = _trained(smoothing, seed, config, vocabulary, parts, done.with_suffix(""))
                found, lists = _measured(trainer.model, parts, config)
                lists["loss"] = [record["loss"] for record in trainer.history]
                translations = Translator(trainer.model, vocabulary).translate(
                    [pair.source for pair in pairs["test"]], beam=1
                )
                found["exact match"] = exact_match(pairs["test"], translations)
                write_json(done, {"scores": found, "curves": lists})
            result = read_json(done)
            for score, value in result["scores"].items():
                scores.setdefault(score, {})[name] = value
            for curve, values in result["curves"].items():
                curves[f"{curve}, {name}"] = values
    return {"curves": curves, "scores": scores}


def _trained(
    smoothing: float,
    seed: int,
    config: dict[str, Any],
    vocabulary: Vocabulary,
    examples: dict[str, list[Example]],
    folder: Path,
) -> Trainer:
    """Train a model, or go on where an earlier run was interrupted."""

    def smoothed(model: Transformer, src: Tensor, tgt: Tensor) -> Tensor:
        return teacher_forcing_loss(model, src, tgt, smoothing)

    torch.manual_seed(seed)
    sizes = TransformerConfig(len(vocabulary), dropout=0.0, **config["model"])
    return trained(
        use_fast(Transformer(sizes)),
        examples["train"],
        examples["valid"],
        config["training"] | {"seed": seed},
        folder,
        smoothed,
    )


def _measured(
    model: Transformer, examples: dict[str, list[Example]], config: dict[str, Any]
) -> tuple[dict[str, float], dict[str, list[float]]]:
    """Logits, entropy and calibration of a trained model, given the true tokens so far."""
    seen, _ = _logits(model, examples["train"][: config["n_valid"]])
    logits, labels = _logits(model, examples["valid"])
    log_probs = log_softmax(logits)
    confidence, chosen = log_probs.exp().max(-1)
    right = (chosen == labels).float()
    bins = (confidence * config["n_bins"]).long().clamp(max=config["n_bins"] - 1)

    def by_bin(values: Tensor) -> list[float]:
        return [values[bins == i].sum().item() for i in range(config["n_bins"])]

    counts, sums, hits = by_bin(torch.ones_like(right)), by_bin(confidence), by_bin(right)
    losses = {t: cross_entropy(logits / t, labels, -1).item() for t in config["temperatures"]}
    best = min(losses, key=losses.__getitem__)
    scores = {
        "confidence": confidence.mean().item(),
        "right tokens": right.mean().item(),
        "calibration error": sum(map(lambda s, h: abs(s - h), sums, hits)) / len(labels),
        "loss": cross_entropy(logits, labels, -1).item(),
        "loss at the best temperature": losses[best],
        "best temperature": best,
        "entropy": -(log_probs.exp() * log_probs).sum(-1).mean().item(),
        "lead of the first logit": _lead(logits),
        "lead of the first logit, seen pairs": _lead(seen),
    }
    return scores, {
        "tokens": counts,
        "confidence": _means(sums, counts),
        "right": _means(hits, counts),
    }


@torch.inference_mode()
def _logits(model: Transformer, examples: list[Example]) -> tuple[Tensor, Tensor]:
    """Logits (n, vocab_size) and labels (n,) of all target tokens."""
    logits, labels = [], []
    for indices in token_batches(examples, max_tokens=4096, seed=None, max_len=None):
        batch = collate(examples, indices)
        src, tgt = torch.as_tensor(batch.src), torch.as_tensor(batch.tgt)
        wanted = tgt[:, 1:]
        real = wanted != model.config.pad_id
        logits.append(model(src, tgt[:, :-1])[real])
        labels.append(wanted[real])
    return torch.cat(logits), torch.cat(labels)


def _lead(logits: Tensor) -> float:
    """How far the largest logit lies above the mean of all others, on average over the tokens."""
    first = logits.amax(-1)
    others = (logits.sum(-1) - first) / (logits.shape[-1] - 1)
    return (first - others).mean().item()


def _means(sums: list[float], counts: list[float]) -> list[float]:
    return [s / n if n else 0.0 for s, n in zip(sums, counts, strict=True)]
