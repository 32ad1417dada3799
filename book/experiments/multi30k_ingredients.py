"""What each ingredient is worth on Multi30k, English to German: one is changed at a time.

Each training has half the updates of the recipe, and all its other settings but the one that is changed. All
scores are of the validation set; the test set is kept for the models that are trained in full. It takes hours,
so it has to be named (tools/multi30k_training.py).
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from experiment_training import trained
from multi30k_training import APART, settings, text_of
from torch import Tensor

from transformer_course.checkpoints import list_checkpoints, load_weights, read_json, write_json
from transformer_course.corpus.pairs import Pair
from transformer_course.corpus.vocabulary import Vocabulary
from transformer_course.encoder_decoder import Transformer, TransformerConfig
from transformer_course.evaluation import evaluate_pairs
from transformer_course.fast import use_fast
from transformer_course.loss import teacher_forcing_loss
from transformer_course.recipe import encode_pairs
from transformer_course.training import average_checkpoints
from transformer_course.translator import Translator

__all__ = ["APART", "CONFIG", "PROBE", "run"]

FULL = settings("en-de", form="lc.norm.tok")
CONFIG: dict[str, Any] = {
    "languages": FULL["languages"],
    "form": FULL["form"],
    "beam": FULL["beam"],
    "alpha": 1.0,
    "recipe": {
        **{name: FULL["recipe"][name] for name in ("vocab_size", "label_smoothing", "dropout")},
        "tie_embeddings": True,
    },
    "variants": [
        ["all ingredients", {}],
        ["no label smoothing", {"label_smoothing": 0.0}],
        ["three matrices of embeddings", {"tie_embeddings": False}],
        ["3,000 subwords", {"vocab_size": 3000}],
    ],
    "training": FULL["recipe"]["training"] | {"max_steps": 7000, "validate_every": 250},
}
PROBE: dict[str, Any] = {
    "beam": 2,
    "recipe": {"vocab_size": 500},
    "variants": [
        ["all ingredients", {}],
        ["all but one", {"tie_embeddings": False}],
    ],
    "training": {"max_steps": 4, "max_tokens": 256, "warmup_steps": 2, "validate_every": 2},
}


def run(seed: int, config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Train each variant with one seed; BLEU by greedy search, with a beam, and with averaged weights.

    The seconds are those of the trainings alone.
    """
    train, valid, _ = text_of(config).load()
    scores: dict[str, dict[str, float]] = {}
    curves: dict[str, list[float]] = {}
    seconds = 0.0
    for name, change in config["variants"]:
        done = folder / f"{name}.json"
        if not done.exists():
            recipe = config["recipe"] | change
            training = config["training"] | {"seed": seed}
            found = measured(train, valid, recipe, training, config, done.with_suffix(""))
            write_json(done, found)
        found = read_json(done)
        scores[name] = found["scores"]
        curves["step"] = found["step"]
        curves[f"{name}: validation"] = found["loss"]
        curves[f"{name}: training"] = found["train_loss"]
        seconds += found["seconds"]
    return {
        "curves": curves,
        "scores": {"BLEU on the validation set": scores},
        "seconds": round(seconds, 1),
    }


def measured(
    train: list[Pair],
    valid: list[Pair],
    recipe: dict[str, Any],
    training: dict[str, Any],
    config: dict[str, Any],
    folder: Path,
) -> dict[str, Any]:
    """Train one variant, and score its last weights and the mean of its last checkpoints."""
    lines = (text for pair in train for text in (pair.source, pair.target))
    vocabulary = Vocabulary.train(lines, recipe["vocab_size"])
    torch.manual_seed(training["seed"])
    chosen = {name: recipe[name] for name in ("dropout", "tie_embeddings")}
    narrow = replace(TransformerConfig.narrow(len(vocabulary)), **chosen)
    model = use_fast(Transformer(narrow), attention=False)  # as the recipe has it in bf16

    def loss(model: Transformer, src: Tensor, tgt: Tensor) -> Tensor:
        return teacher_forcing_loss(model, src, tgt, recipe["label_smoothing"])

    examples = encode_pairs(vocabulary, train), encode_pairs(vocabulary, valid)
    trainer = trained(model, *examples, training, folder, loss)
    translator = Translator(model, vocabulary)

    def bleu(beam: int) -> float:
        scores = evaluate_pairs(
            translator, valid, beam=beam, alpha=config["alpha"], tokenize="none"
        )
        return round(scores.bleu, 3)

    found = {"greedy search": bleu(1), "beam search": bleu(config["beam"])}
    load_weights(model, average_checkpoints(list_checkpoints(folder)[-training["average"] :]))
    found["beam search, averaged weights"] = bleu(config["beam"])
    curves = ("step", "loss", "train_loss")
    return {
        "scores": found,
        "seconds": trainer.history[-1]["seconds"],
        **{key: [round(record[key], 5) for record in trainer.history] for key in curves},
    }
