"""Two tips: how large should a batch be, and does an average of checkpoints help? With three seeds."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from transformer_course.checkpoints import (
    checkpoint_path,
    list_checkpoints,
    load_weights,
    read_json,
    write_json,
)
from transformer_course.corpus import grammar
from transformer_course.corpus.batches import Example
from transformer_course.corpus.vocabulary import Vocabulary
from transformer_course.encoder_decoder import Transformer, TransformerConfig
from transformer_course.loss import teacher_forcing_loss
from transformer_course.recipe import encode_pairs
from transformer_course.training import (
    Trainer,
    TrainingConfig,
    average_checkpoints,
    validation_loss,
)

CONFIG: dict[str, Any] = {
    "max_tokens": [256, 1024, 4096],
    "peak_rate": [1.25e-3, 2.5e-3, 5e-3, 1e-2],
    "tokens": 400_000,  # positions that each model sees, whatever its batches are
    "phenomenon": "clitic order",
    "n_train": 20_000,
    "n_valid": 300,
    "vocab_size": 600,
    "model": {
        "d_model": 64,
        "n_heads": 4,
        "d_ff": 256,
        "n_encoder_layers": 2,
        "n_decoder_layers": 2,
    },
    "averaging": {
        "max_steps": 800,
        "max_tokens": 1024,
        "schedule": "inverse_sqrt",
        "warmup_steps": 400,
        "validate_every": 20,
        "average": 20,
    },
    "n_averaged": [1, 2, 5, 10, 20],
}
REDUCED: dict[str, Any] = {
    "tokens": 8192,
    "peak_rate": [5e-3],
    "n_train": 100,
    "n_valid": 10,
    "averaging": {"max_steps": 8, "warmup_steps": 4, "validate_every": 1, "average": 5},
    "n_averaged": [1, 5],
}
MODULES = [
    "attention.py",
    "corpus/batches.py",
    "corpus/grammar",
    "corpus/vocabulary.py",
    "encoder_decoder.py",
    "loss.py",
    "masking.py",
    "multi_head.py",
    "positional_encoding.py",
    "recipe.py",
    "training.py",
]


def run(seed: int, config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """One model for each size of batch and each rate; then one more, whose checkpoints are averaged."""
    sizes = {"train": config["n_train"], "valid": config["n_valid"]}
    kind = config["phenomenon"]
    pairs = {s: list(grammar.sentences_with(kind, s, n, seed)) for s, n in sizes.items()}
    lines = (text for pair in pairs["train"] for text in (pair.source, pair.target))
    vocabulary = Vocabulary.train(lines, config["vocab_size"])
    examples = {split: encode_pairs(vocabulary, pairs[split]) for split in pairs}
    shape = TransformerConfig(len(vocabulary), dropout=0.0, **config["model"])
    by_batch: dict[str, dict[str, float]] = {}
    for rate in config["peak_rate"]:
        for max_tokens in config["max_tokens"]:
            steps = config["tokens"] // max_tokens
            training = TrainingConfig(
                max_steps=steps,
                max_tokens=max_tokens,
                peak_rate=rate,
                warmup_steps=max(1, steps // 8),
                validate_every=steps,
                seed=seed,
            )

            def final_loss(training: TrainingConfig = training) -> dict[str, float]:
                return {"loss": _trained(shape, training, examples).history[-1]["loss"]}

            found = _once(folder / f"batch-{max_tokens}-{rate:g}.json", final_loss)
            by_batch.setdefault(f"rate {rate:g}", {})[f"{max_tokens} positions"] = found["loss"]
    averaging = TrainingConfig(**config["averaging"] | {"seed": seed})
    averages = _once(
        folder / "averaging.json",
        lambda: _averages(shape, averaging, examples, config["n_averaged"], folder / "averaging"),
    )
    return {
        "curves": {"averaged checkpoints, loss": list(averages.values())},
        "scores": {
            "loss by size of the batch": by_batch,
            "loss of an average of checkpoints": averages,
        },
    }


def _once(path: Path, make: Callable[[], dict[str, float]]) -> dict[str, float]:
    """What a file holds; made if there is none yet, so that an interrupted run goes on."""
    if not path.exists():
        write_json(path, make())
    found: dict[str, float] = read_json(path)
    return found


def _trained(
    shape: TransformerConfig,
    training: TrainingConfig,
    examples: dict[str, list[Example]],
    folder: Path | None = None,
) -> Trainer:
    torch.manual_seed(training.seed)
    trainer = Trainer(
        Transformer(shape).use_fused(),
        examples["train"],
        teacher_forcing_loss,
        lambda model: {"loss": validation_loss(model, examples["valid"], teacher_forcing_loss)},
        training,
        folder,
    )
    if folder is not None and list_checkpoints(folder):
        trainer.resume()
    trainer.train()
    return trainer


def _averages(
    shape: TransformerConfig,
    training: TrainingConfig,
    examples: dict[str, list[Example]],
    counts: list[int],
    folder: Path,
) -> dict[str, float]:
    """The loss of the last weights, and of averages of the last checkpoints."""
    trainer = _trained(shape, training, examples, folder)
    paths = [checkpoint_path(folder, int(record["step"])) for record in trainer.history]
    losses = {}
    model = trainer.model.eval()
    with torch.inference_mode():
        for count in counts:
            load_weights(model, average_checkpoints(paths[-count:]))
            losses[f"last {count}"] = validation_loss(
                model, examples["valid"], teacher_forcing_loss
            )
    return losses
