"""Does it matter which weights attention averages with? Trained with equal ones, tested with borrowed ones."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import torch
from experiment_training import prepared, trained
from torch import Tensor

from transformer_course.corpus.batches import Example, collate
from transformer_course.corpus.vocabulary import Vocabulary
from transformer_course.encoder_decoder import Transformer, TransformerConfig
from transformer_course.inspecting import changed_attention, equal_weights
from transformer_course.multi_head import MultiHeadAttention, record_attention

CONFIG: dict[str, Any] = {
    "phenomenon": "comparison",  # as slow as: order decides what is slow, and how it agrees
    "n_train": 30_000,
    "n_valid": 300,
    "n_test": 300,
    "vocab_size": 1000,
    # Which attentions never learn where to look: their weights are equal, from the first update on.
    "trained with equal weights in": {
        "none": "-",
        "cross-attention": "cross_attention",
        "the encoder": "encoder_layers",
        "all": "attention",
    },
    "model": {
        "d_model": 64,
        "n_heads": 4,
        "d_ff": 256,
        "n_encoder_layers": 2,
        "n_decoder_layers": 2,
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
    "training": {
        "max_steps": 8,
        "max_tokens": 256,
        "peak_rate": 5e-4,
        "warmup_steps": 4,
        "validate_every": 4,
    },
}
ANOTHER = 100  # added to the seed: a second training of the whole model


def run(seed: int, config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Train the models, then measure them, and the whole one with borrowed weights, on held-out sentences."""
    _, vocabulary, examples = prepared(config)
    scores: dict[str, dict[str, float]] = {}
    models: dict[str, Transformer] = {}
    for name, part in config["trained with equal weights in"].items():
        model, held = _trained(part, seed, config, vocabulary, examples, folder / name)
        with held():
            scores[f"trained with equal weights in: {name}"] = measured(model, examples["test"])
        models[name] = model
    another, _ = _trained("-", seed + ANOTHER, config, vocabulary, examples, folder / "another")
    for name, change in {
        "equal": equal_weights,
        "of another training": lambda weights, _mask: weights,
        "of another training, mean of the heads": lambda weights, _mask: weights.mean(
            1, keepdim=True
        ),
    }.items():
        scores[f"only tested with weights: {name}"] = measured(
            models["none"], examples["test"], another, change
        )
    return {"curves": {}, "scores": scores}


def _trained(
    part: str,
    seed: int,
    config: dict[str, Any],
    vocabulary: Vocabulary,
    examples: dict[str, list[Example]],
    folder: Path,
) -> tuple[Transformer, Callable[[], AbstractContextManager[None]]]:
    """A trained model, and what holds the weights of the attentions of a part equal while it runs."""
    torch.manual_seed(seed)
    model = Transformer(TransformerConfig(len(vocabulary), dropout=0.0, **config["model"]))
    changes = {
        name: equal_weights
        for name, module in model.named_modules()
        if isinstance(module, MultiHeadAttention) and part in name
    }

    def held() -> AbstractContextManager[None]:
        return changed_attention(model, changes) if changes else nullcontext()

    with held():
        settings = config["training"] | {"seed": seed}
        trained(model, examples["train"], examples["valid"], settings, folder)
    return model, held


Change = Callable[[Tensor, Tensor | None], Tensor]


@torch.no_grad()
def measured(
    model: Transformer,
    examples: list[Example],
    another: Transformer | None = None,
    change: Change | None = None,
) -> dict[str, float]:
    """Share of next subwords, and of whole sentences, that are right after the right words before.

    A sentence is wholly right so if, and only if, greedy search writes it. With `another`, cross-attention
    averages with the weights that the other model has there, after a change.
    """
    right: list[Tensor] = []
    for example in examples:
        batch = collate([example], [0])
        src, tgt = batch.src, batch.tgt
        changes: dict[str, Change] = {}
        if another is not None and change is not None:
            with record_attention(another) as maps:
                another(src, tgt[:, :-1])
            changes = {name: _always(change, w) for name, w in maps.items() if "cross" in name}
        with changed_attention(model, changes):
            right.append(model(src, tgt[:, :-1])[0].argmax(-1) == tgt[0, 1:])
    return {
        "next subword right": float(torch.cat(right).float().mean()),
        "sentence right": float(torch.stack([r.all() for r in right]).float().mean()),
    }


def _always(change: Change, borrowed: Tensor) -> Change:
    return lambda _weights, mask: change(borrowed, mask)
