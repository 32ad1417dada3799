"""How a translator learns: what it makes of four sentences after 100, 200, 400, ... updates."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from shutil import rmtree
from typing import Any

from transformer_course.corpus import grammar
from transformer_course.recipe import Recipe, train_translator
from transformer_course.runs import GRAMMAR_RECIPE
from transformer_course.training import TrainingConfig
from transformer_course.translator import Translator

CONFIG: dict[str, Any] = {
    "n_pairs": 150_000,
    "n_valid": 500,
    "sentences": [
        "the cat sleeps on the chair",
        "the little girl reads a red book",
        "she does not see the tree",
        "the dog did not cross the street because it was too tired",
    ],
    "show": [100, 200, 400, 800, 1600],
    "recipe": asdict(
        replace(
            GRAMMAR_RECIPE,
            training=replace(
                GRAMMAR_RECIPE.training, max_steps=1600, warmup_steps=200, validate_every=100
            ),
        )
    ),
}
REDUCED: dict[str, Any] = {
    "n_pairs": 400,
    "n_valid": 20,
    "show": [4, 8],
    "recipe": {"training": {"max_steps": 8, "warmup_steps": 4, "validate_every": 4}},
}
MODULES = [
    "attention.py",
    "corpus/batches.py",
    "corpus/grammar",
    "corpus/vocabulary.py",
    "decoding.py",
    "encoder_decoder.py",
    "loss.py",
    "masking.py",
    "multi_head.py",
    "positional_encoding.py",
    "recipe.py",
    "training.py",
    "translator.py",
]


def run(seed: int, config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Train once; keep the translations at the steps that are shown, and the losses there."""
    recipe = config["recipe"]
    training = TrainingConfig(**recipe["training"] | {"seed": seed})
    train = list(grammar.generate("train", config["n_pairs"], seed=0))
    valid = list(grammar.generate("valid", config["n_valid"], seed=0))
    said: list[list[str]] = []

    def listen(translator: Translator) -> dict[str, float]:
        said.append(translator.translate(config["sentences"], beam=1))
        return {}

    run_folder = folder / "run"
    rmtree(run_folder, ignore_errors=True)  # what was said before an interruption is gone
    train_translator(
        train, valid, run_folder, Recipe(**recipe | {"training": training}), evaluate=listen
    )
    history = json.loads((run_folder / "history.json").read_text(encoding="utf-8"))
    shown = [i for i, record in enumerate(history) if record["step"] in config["show"]]
    curves: dict[str, list[Any]] = {
        name: [history[i][name] for i in shown] for name in ("step", "train_loss", "loss")
    }
    for number, sentence in enumerate(config["sentences"]):
        curves[sentence] = [said[i][number] for i in shown]
    return {"curves": curves, "scores": {"validation loss": history[-1]["loss"]}}
