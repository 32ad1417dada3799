"""What does each part of the Transformer do? Trained whole, and again without one part, with three seeds."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from experiment_training import prepared, trained
from torch import Tensor, nn

from transformer_course.checkpoints import read_json, write_json
from transformer_course.corpus.batches import Example
from transformer_course.corpus.scoring import exact_match
from transformer_course.corpus.vocabulary import Vocabulary
from transformer_course.encoder_decoder import LayerNorm, Residual, Transformer, TransformerConfig
from transformer_course.fast import fused_attention, use_fast
from transformer_course.multi_head import MultiHeadAttention
from transformer_course.training import Trainer
from transformer_course.translator import Translator

CONFIG: dict[str, Any] = {
    # Each variant: what it changes in the model, in the training, or takes out of the built model.
    "variants": {
        "whole": {},
        "without positions": {"model": {"positions": "none"}},
        "without residuals": {"without": "residuals"},
        "without norms": {"without": "norms"},
        "without feed-forward": {"without": "feed-forward"},
        "with one head": {"model": {"n_heads": 1}},
        "without the scale": {"without": "scale"},
        "pre-norm": {"model": {"norm": "pre"}},
        "post-norm, no warm-up": {"training": {"warmup_steps": 1}},
        "pre-norm, no warm-up": {"model": {"norm": "pre"}, "training": {"warmup_steps": 1}},
        "d_ff 16": {"model": {"d_ff": 16}},
        "d_ff 64": {"model": {"d_ff": 64}},
    },
    "phenomenon": "comparison",  # as slow as: order decides what is slow, and how it agrees
    "n_train": 30_000,
    "n_valid": 300,
    "n_test": 300,
    "vocab_size": 1000,
    "model": {
        "d_model": 64,
        "n_heads": 4,
        "d_ff": 256,
        "n_encoder_layers": 2,
        "n_decoder_layers": 2,
        "norm": "post",
    },
    "training": {
        "max_steps": 1200,
        "max_tokens": 1024,
        "peak_rate": 3e-3,
        "warmup_steps": 120,
        "validate_every": 150,
    },
}
PROBE: dict[str, Any] = {
    "n_train": 200,
    "n_valid": 20,
    "n_test": 10,
    # Few updates at a low rate: without norms the smallest difference soon decides.
    "training": {
        "max_steps": 8,
        "max_tokens": 256,
        "peak_rate": 5e-4,
        "warmup_steps": 4,
        "validate_every": 4,
    },
}


def run(seed: int, config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Train every variant alike, and measure it on held-out sentences."""
    pairs, vocabulary, examples = prepared(config)
    curves: dict[str, list[float]] = {}
    scores: dict[str, dict[str, float]] = {}
    for name, change in config["variants"].items():
        place = folder / name.replace(" ", "-").replace(",", "")
        done = place.with_suffix(".json")
        if not done.exists():
            trainer = _trained(change, seed, config, vocabulary, examples, place)
            translations = Translator(trainer.model, vocabulary).translate(
                [pair.source for pair in pairs["test"]], beam=1
            )
            found = {
                "exact match": exact_match(pairs["test"], translations),
                "validation loss": trainer.history[-1]["loss"],
                "parameters": sum(p.numel() for p in trainer.model.parameters()),
            }
            history = [record["loss"] for record in trainer.history]
            write_json(done, {"scores": found, "loss": history})
        result = read_json(done)
        for score, value in result["scores"].items():
            scores.setdefault(score, {})[name] = value
        curves[f"loss, {name}"] = result["loss"]
    return {"curves": curves, "scores": scores}


def _trained(
    change: dict[str, Any],
    seed: int,
    config: dict[str, Any],
    vocabulary: Vocabulary,
    examples: dict[str, list[Example]],
    folder: Path,
) -> Trainer:
    """Train a variant, or go on where an earlier run was interrupted."""
    torch.manual_seed(seed)
    sizes = config["model"] | change.get("model", {})
    model = use_fast(Transformer(TransformerConfig(len(vocabulary), dropout=0.0, **sizes)))
    if "without" in change:
        REMOVALS[change["without"]](model)
    settings = config["training"] | change.get("training", {}) | {"seed": seed}
    return trained(model, examples["train"], examples["valid"], settings, folder)


class SublayerAlone(Residual):
    """A sub-layer's output alone goes on, normalised as before: norm(Sublayer(x))."""

    def after(self, x: Tensor, y: Tensor) -> Tensor:
        """Leave out `x`; both are (batch, length, d_model)."""
        return self.norm(self.dropout(y))


class LeftOut(nn.Module):
    """In the place of a sub-layer that is taken out: what comes in goes on."""

    def forward(self, x: Tensor, _sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """Return `x`, (batch, length, d_model)."""
        return x


def layers(model: Transformer) -> list[Any]:
    """All layers, the encoder's first."""
    return [*model.encoder_layers, *model.decoder_layers]


def without_residuals(model: Transformer) -> None:
    """Each sub-layer's output alone goes on."""
    for layer in layers(model):
        layer.residuals = nn.ModuleList(SublayerAlone(model.config.layer) for _ in layer.residuals)


def without_norms(model: Transformer) -> None:
    """Sums go on as they are: x + Sublayer(x)."""
    for module in model.modules():
        for name, child in module.named_children():
            if isinstance(child, LayerNorm):
                setattr(module, name, nn.Identity())


def without_feed_forward(model: Transformer) -> None:
    """Encoder layers have one sub-layer left, decoder layers two."""
    for layer in layers(model):
        layer.feed_forward, layer.residuals[-1] = nn.Identity(), LeftOut()


def unscaled_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> tuple[Tensor, None]:
    """Attention whose scores aren't divided by √d_k: queries are multiplied by it first."""
    return fused_attention(q * q.shape[-1] ** 0.5, k, v, mask), None


def without_scale(model: Transformer) -> None:
    """Scores aren't divided by √d_k."""
    for module in model.modules():
        if isinstance(module, MultiHeadAttention):
            module.attend = unscaled_attention


REMOVALS: dict[str, Callable[[Transformer], None]] = {
    "residuals": without_residuals,
    "norms": without_norms,
    "feed-forward": without_feed_forward,
    "scale": without_scale,
}
