"""What two experiments on English text share: an encoder trained on text without labels, then on labels."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from experiment_training import TODAYS_LAYER, trained_on
from sklearn.linear_model import LogisticRegression
from torch import Tensor

from transformer_course.corpus.vocabulary import Vocabulary
from transformer_course.encoder_decoder import LayerConfig
from transformer_course.families import (
    Classifier,
    DecoderConfig,
    DecoderOnly,
    EncoderConfig,
    EncoderOnly,
    Rows,
    classification_loss,
    language_model_loss,
    masked_loss,
)
from transformer_course.fast import use_fast

Labelled = tuple[list[list[int]], list[int]]
SETTINGS: dict[str, Any] = {
    "n_text": 40_000,  # sentences without labels
    "vocab_size": 600,
    "layer": TODAYS_LAYER,
    "n_layers": 3,
    "batch_size": 64,
}
ENCODER = {"max_steps": 8000, "peak_rate": 2e-3, "warmup_steps": 300, "validate_every": 1000}


def fresh_model(kind: str, seed: int, config: dict[str, Any], vocabulary: Vocabulary) -> Any:
    """A model that has seen nothing; the id after the vocabulary's is [MASK]."""
    torch.manual_seed(seed)
    layer = LayerConfig(**config["layer"])
    sizes: Any = {
        "vocab_size": len(vocabulary) + 1,
        "layer": layer,
        "n_layers": config["n_layers"],
        "positions": "none",
    }
    if kind == "encoder":
        return use_fast(EncoderOnly(EncoderConfig(**sizes)))
    return use_fast(DecoderOnly(DecoderConfig(**sizes)))


def pretrained(
    kind: str,
    seed: int,
    config: dict[str, Any],
    vocabulary: Vocabulary,
    train: Rows,
    held: Rows,
    folder: Path,
) -> tuple[Any, list[float]]:
    """A model trained on text without labels, and its held-out losses."""

    def hidden(model: EncoderOnly, ids: Tensor) -> Tensor:
        return masked_loss(model, ids, len(vocabulary))

    objective = hidden if kind == "encoder" else language_model_loss
    training = config["pre-training"][kind] | {"seed": seed}
    fresh = fresh_model(kind, seed, config, vocabulary)
    model, trainer = trained_on(fresh, train, held, training, folder / kind, objective)
    return model, [round(record["loss"], 5) for record in trainer.history]


def guesses_after(
    model: Classifier,
    training: dict[str, Any],
    labelled: Labelled,
    judged: Labelled,
    n: int,
    batch_size: int,
    folder: Path,
) -> list[int]:
    """Train with the first n labels; what the model then says of each held-out sentence."""
    rows = Rows(labelled[0][:n], labelled[1][:n], batch_size=batch_size)
    test = Rows(*judged)
    model, _ = trained_on(model, rows, test, training, folder, classification_loss)
    guesses = [0] * len(judged[0])
    with torch.no_grad():
        for batch in test.epoch():
            for place, guess in zip(batch, model(test.tensors(batch)[0]).argmax(-1), strict=True):
                guesses[place] = int(guess)
    return guesses


def share_right(guesses: Sequence[int], labels: Sequence[int]) -> float:
    """Share of the guesses that are the labels."""
    return round(sum(map(int.__eq__, guesses, labels)) / len(labels), 5)


def bag_of_words(
    labelled: Labelled,
    held: Labelled,
    n: int,
    length: int,
) -> list[int]:
    """Logistic regression on which runs of `length` subwords there are, in no order: its guesses."""
    grams = [
        {tuple(row[i : i + length]) for i in range(len(row) - length + 1)}
        for row in labelled[0][:n]
    ]
    counted = Counter(gram for row in grams for gram in row)
    column = {gram: i for i, (gram, _) in enumerate(counted.most_common(4000))}

    def table(rows: list[list[int]]) -> Any:
        found = np.zeros((len(rows), len(column)), dtype=np.float32)
        for i, row in enumerate(rows):
            for j in range(len(row) - length + 1):
                place = column.get(tuple(row[j : j + length]))
                if place is not None:
                    found[i, place] = 1
        return found

    method = LogisticRegression(max_iter=2000).fit(table(labelled[0][:n]), labelled[1][:n])
    return [int(guess) for guess in method.predict(table(held[0]))]
