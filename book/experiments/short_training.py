"""The first minute of a translator: 500 updates on the running corpus, with three seeds."""

import json
from pathlib import Path
from typing import Any

from transformer_course.corpus import grammar
from transformer_course.evaluation import evaluate_pairs
from transformer_course.recipe import Recipe, train_translator
from transformer_course.training import TrainingConfig

CONFIG: dict[str, Any] = {
    "n_pairs": 70_000,
    "n_test": 500,
    "recipe": Recipe(
        vocab_size=4000,
        dropout=0.0,
        label_smoothing=0.0,
        training=TrainingConfig(
            max_steps=500,
            max_tokens=1280,
            peak_rate=2.5e-3,
            warmup_steps=100,
            validate_every=50,
        ),
    ).record(),
}
PROBE: dict[str, Any] = {
    "n_pairs": 300,
    "n_test": 20,
    "recipe": {
        "vocab_size": 500,
        "training": {"max_steps": 16, "max_tokens": 256, "warmup_steps": 6, "validate_every": 8},
    },
}


def run(seed: int, config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Train with one seed; return the curves of training and the scores on held-out combinations."""
    recipe = config["recipe"]
    training = TrainingConfig(**recipe["training"] | {"seed": seed})
    train = list(grammar.generate("train", config["n_pairs"], seed=0))
    valid = list(grammar.generate("valid", 1000, seed=0))
    resume = (folder / "recipe.json").exists()
    translator, _ = train_translator(
        train, valid, folder, Recipe(**recipe | {"training": training}), resume=resume
    )
    test = list(grammar.generate("test", config["n_test"], seed=0))
    scores = evaluate_pairs(translator, test)
    history = json.loads((folder / "history.json").read_text(encoding="utf-8"))
    return {
        "curves": {name: [record[name] for record in history] for name in history[0]},
        "scores": {
            "exact match": scores.exact_match,
            "BLEU": scores.bleu,
            "validation loss": history[-1]["loss"],
        },
    }
