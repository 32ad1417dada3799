"""Pre-trained, then fine-tuned, against trained from scratch: were two words of a sentence exchanged?"""

from collections import Counter
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch
from experiment_training import trained_on
from sklearn.linear_model import LogisticRegression
from torch import Tensor

from transformer_course.corpus import grammar
from transformer_course.corpus.grammar.orthography import PLAIN
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

CONFIG: dict[str, Any] = {
    "n_text": 40_000,  # sentences without labels
    "n_test": 1000,
    "vocab_size": 600,
    "labels": [16, 64, 256, 1024, 4096],
    "layer": {"d_model": 64, "n_heads": 4, "d_ff": 256, "dropout": 0.0},
    "n_layers": 3,
    "batch_size": 64,
    "pre-training": {
        "max_steps": 2500,
        "peak_rate": 2e-3,
        "warmup_steps": 200,
        "validate_every": 500,
    },
    "fine-tuning": {"max_steps": 200, "warmup_steps": 20, "validate_every": 200},
    "fine-tuning rate": {"pre-trained": 5e-4, "from scratch": 1e-3, "body frozen": 5e-3},
    "poolings": ["first", "mean", "last"],
}
PROBE: dict[str, Any] = {
    "n_text": 400,
    "n_test": 20,
    "vocab_size": 300,
    "labels": [16],
    "batch_size": 8,
    "pre-training": {"max_steps": 12, "warmup_steps": 4, "validate_every": 6},
    "fine-tuning": {"max_steps": 4, "warmup_steps": 2, "validate_every": 4},
    "poolings": ["last"],
}


def run(seed: int, config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Pre-train one encoder and one decoder; fine-tune them with few and with many labels."""
    text = [p.source for p in grammar.generate("train", config["n_text"], style=PLAIN)]
    vocabulary = Vocabulary.train(text, config["vocab_size"])
    labelled = examples(text[: max(config["labels"])], vocabulary, seed)
    held_text = [p.source for p in grammar.generate("test", config["n_test"], style=PLAIN)]
    held = examples(held_text, vocabulary, seed)
    encoder = pretrained("encoder", seed, config, vocabulary, text, held_text, folder)
    decoder = pretrained("decoder", seed, config, vocabulary, text, held_text, folder)
    right: dict[str, dict[str, float]] = {}

    def tuned(name: str, body: Any, n: int, pooling: Any, **how: Any) -> None:
        place = folder / f"{name}, {n}"
        scores = fine_tuned(body, seed, config, labelled, held, n, pooling, place, **how)
        right.setdefault(name, {})[str(n)] = scores

    for n in config["labels"]:
        fresh = fresh_model("encoder", seed, config, vocabulary)
        tuned("pre-trained", encoder, n, "mean")
        tuned("from scratch", fresh, n, "mean")
        tuned("body frozen", encoder, n, "mean", frozen=True)
        right.setdefault("bag of words", {})[str(n)] = bag_of_words(labelled, held, n, 1)
        right.setdefault("bag of neighbours", {})[str(n)] = bag_of_words(labelled, held, n, 2)
    most = max(config["labels"])
    for pooling in config["poolings"]:
        tuned(f"decoder, {pooling}", decoder, most, pooling)
    return {"curves": {}, "scores": {"right": right}}


def examples(
    sentences: list[str], vocabulary: Vocabulary, seed: int
) -> tuple[list[list[int]], list[int]]:
    """Rows of ids from <s> to </s>, and whether two neighbouring words were exchanged: in every second one."""
    chance = Random(seed)
    texts, labels = [], []
    for i, sentence in enumerate(sentences):
        words = sentence.split()
        places = [j for j in range(len(words) - 1) if words[j] != words[j + 1]]
        spoilt = i % 2 == 1 and bool(places)
        if spoilt:
            j = chance.choice(places)
            words[j], words[j + 1] = words[j + 1], words[j]
        texts.append(" ".join(words))
        labels.append(int(spoilt))
    return [[1, *ids, 2] for ids in vocabulary.encode(texts)], labels


def fresh_model(kind: str, seed: int, config: dict[str, Any], vocabulary: Vocabulary) -> Any:
    """A model that has seen nothing; the id after the vocabulary's is [MASK]."""
    torch.manual_seed(seed)
    if kind == "encoder":
        layer = LayerConfig(**config["layer"], activation="gelu")
        return EncoderOnly(EncoderConfig(len(vocabulary) + 1, layer, config["n_layers"]))
    layer = LayerConfig(**config["layer"], activation="gelu_tanh")
    return DecoderOnly(DecoderConfig(len(vocabulary) + 1, layer, config["n_layers"]))


def pretrained(
    kind: str,
    seed: int,
    config: dict[str, Any],
    vocabulary: Vocabulary,
    text: list[str],
    held: list[str],
    folder: Path,
) -> Any:
    """A model trained on text without labels."""
    size = config["batch_size"]
    rows, test = (
        Rows([[1, *ids, 2] for ids in vocabulary.encode(t)], batch_size=size) for t in (text, held)
    )

    def hidden(model: EncoderOnly, ids: Tensor) -> Tensor:
        return masked_loss(model, ids, len(vocabulary))

    objective = hidden if kind == "encoder" else language_model_loss
    model = fresh_model(kind, seed, config, vocabulary)
    training = config["pre-training"] | {"seed": seed}
    model, _ = trained_on(model, rows, test, training, folder / kind, objective)
    return model


def fine_tuned(
    body: Any,
    seed: int,
    config: dict[str, Any],
    labelled: tuple[list[list[int]], list[int]],
    held: tuple[list[list[int]], list[int]],
    n: int,
    pooling: Any,
    folder: Path,
    frozen: bool = False,
) -> float:
    """Train a copy of the body and a new output with n labels; share of held-out sentences judged right."""
    torch.manual_seed(seed)
    model = Classifier(deepcopy(body), 2, pooling)
    if frozen:
        model.body.requires_grad_(False)
    kind = (
        "body frozen" if frozen else "from scratch" if "scratch" in folder.name else "pre-trained"
    )
    training = config["fine-tuning"] | {
        "peak_rate": config["fine-tuning rate"][kind],
        "seed": seed,
    }
    size = min(config["batch_size"], n)
    rows, test = Rows(labelled[0][:n], labelled[1][:n], batch_size=size), Rows(*held)
    model, _ = trained_on(model, rows, test, training, folder, classification_loss)
    right = 0
    with torch.no_grad():
        for batch in test.epoch():
            ids, labels = test.tensors(batch)
            right += int((model(ids).argmax(-1) == labels).sum())
    return round(right / len(held[0]), 5)


def bag_of_words(
    labelled: tuple[list[list[int]], list[int]],
    held: tuple[list[list[int]], list[int]],
    n: int,
    length: int,
) -> float:
    """Logistic regression on which runs of `length` subwords there are, in no order."""
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
    return round(float(method.score(table(held[0]), held[1])), 5)
