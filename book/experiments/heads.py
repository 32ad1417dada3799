"""Does it matter how many heads there are, and which? Four models, then heads taken out, with three seeds."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from experiment_training import prepared, trained
from torch import Tensor

from transformer_course.attention import scaled_dot_product_attention
from transformer_course.checkpoints import read_json, write_json
from transformer_course.corpus.batches import Example
from transformer_course.corpus.scoring import exact_match
from transformer_course.corpus.vocabulary import Vocabulary
from transformer_course.encoder_decoder import Transformer, TransformerConfig
from transformer_course.fast import use_fast
from transformer_course.loss import teacher_forcing_loss
from transformer_course.multi_head import MultiHeadAttention
from transformer_course.training import Trainer, validation_loss
from transformer_course.translator import Translator

CONFIG: dict[str, Any] = {
    "n_heads": [1, 2, 4, 8],
    "phenomenon": "clitic order",  # he gives it to her: who, what, to whom
    "n_train": 20_000,
    "n_valid": 300,
    "n_test": 300,
    "vocab_size": 600,
    "model": {"d_model": 64, "d_ff": 256, "n_encoder_layers": 2, "n_decoder_layers": 2},
    "training": {
        "max_steps": 960,
        "max_tokens": 1024,
        "peak_rate": 5e-3,
        "warmup_steps": 120,
        "validate_every": 120,
    },
}
PROBE: dict[str, Any] = {
    "n_train": 200,
    "n_valid": 20,
    "n_test": 10,
    "training": {"max_steps": 12, "max_tokens": 256, "warmup_steps": 4, "validate_every": 4},
}


def run(seed: int, config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Train one model for each number of heads; measure them whole, and with heads taken out."""
    pairs, vocabulary, examples = prepared(config)
    curves: dict[str, list[float]] = {}
    scores: dict[str, dict[str, float]] = {}
    for n_heads in config["n_heads"]:
        name = f"{n_heads} head{'s' * (n_heads > 1)}"
        done = folder / f"heads-{n_heads}.json"
        if not done.exists():
            trainer = _trained(n_heads, seed, config, vocabulary, examples, folder)
            translations = Translator(trainer.model, vocabulary).translate(
                [pair.source for pair in pairs["test"]], beam=1
            )
            found = {"exact match": exact_match(pairs["test"], translations)}
            found |= {"validation loss": trainer.history[-1]["loss"]}
            history = [record["loss"] for record in trainer.history]
            removed = _removals(trainer.model, examples["valid"]) if n_heads > 1 else {}
            write_json(done, {"scores": found, "loss": history, "removed": removed})
        result = read_json(done)
        for score, value in result["scores"].items():
            scores.setdefault(score, {})[name] = value
        curves[f"loss, {name}"] = result["loss"]
        if result["removed"]:
            _add_removals(name, result["removed"], curves, scores)
    return {"curves": curves, "scores": scores}


def _trained(
    n_heads: int,
    seed: int,
    config: dict[str, Any],
    vocabulary: Vocabulary,
    examples: dict[str, list[Example]],
    folder: Path,
) -> Trainer:
    """Train a model, or go on where an earlier run was interrupted."""
    torch.manual_seed(seed)
    sizes = TransformerConfig(len(vocabulary), n_heads=n_heads, dropout=0.0, **config["model"])
    return trained(
        use_fast(Transformer(sizes)),
        examples["train"],
        examples["valid"],
        config["training"] | {"seed": seed},
        folder / f"heads-{n_heads}",
    )


@torch.inference_mode()
def _removals(model: Transformer, examples: list[Example]) -> dict[str, Any]:
    """The loss without each head, with each head alone in its attention, and with averaged maps."""

    def loss() -> float:
        return validation_loss(model, examples, teacher_forcing_loss)

    without: dict[str, list[float]] = {}
    alone: dict[str, list[float]] = {}
    for name, attention in model.named_modules():
        if isinstance(attention, MultiHeadAttention):
            heads = set(range(attention.n_heads))
            without[name], alone[name] = [], []
            for head in sorted(heads):
                with _removed(attention, {head}):
                    without[name].append(loss())
                with _removed(attention, heads - {head}):
                    alone[name].append(loss())
    for attention in model.modules():
        if isinstance(attention, MultiHeadAttention):
            attention.attend = _with_mean_map
    shared = loss()
    return {"without": without, "alone": alone, "mean map": shared}


@contextmanager
def _removed(attention: MultiHeadAttention, heads: set[int]) -> Iterator[None]:
    """Silence heads while the block runs: their columns of W^O are 0."""
    weight = attention.w_output.weight
    before, width = weight.clone(), weight.shape[1] // attention.n_heads
    for head in heads:
        weight[:, head * width : (head + 1) * width] = 0.0
    try:
        yield
    finally:
        weight.copy_(before)


def _with_mean_map(
    queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Attention in which all heads of a sentence look where they look on average."""
    _, weights = scaled_dot_product_attention(queries, keys, values, mask)
    shared = weights.mean(1, keepdim=True).expand_as(weights)
    return shared @ values, shared


def _add_removals(
    name: str,
    removed: dict[str, Any],
    curves: dict[str, list[float]],
    scores: dict[str, dict[str, float]],
) -> None:
    """Put the losses with heads taken out into the record."""
    kinds = {"without": "loss without one head", "alone": "loss with one head of an attention"}
    for kind, title in kinds.items():
        losses = [loss for found in removed[kind].values() for loss in found]
        scores.setdefault(title, {})[f"{name}, mean"] = sum(losses) / len(losses)
        worst, bound = (max, "highest") if kind == "without" else (min, "lowest")
        scores[title][f"{name}, {bound}"] = worst(losses)
    scores.setdefault("loss with the mean map in every head", {})[name] = removed["mean map"]
    for attention, losses in removed["without"].items():
        if len(losses) == 8:  # the length of the other curves
            curves[f"without a head, {attention}"] = losses
            curves[f"one head alone, {attention}"] = removed["alone"][attention]
