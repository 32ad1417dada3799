"""English text without labels: what a pre-trained encoder saves, and a decoder beside counts of n-grams."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from copy import deepcopy
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch
from encoder_training import (
    ENCODER,
    SETTINGS,
    Labelled,
    bag_of_words,
    fresh_model,
    guesses_after,
    pretrained,
    share_right,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from transformer_course.corpus import grammar
from transformer_course.corpus.grammar.orthography import PLAIN
from transformer_course.corpus.vocabulary import Vocabulary
from transformer_course.families import (
    Classifier,
    DecoderOnly,
    EncoderOnly,
    Rows,
    token_losses,
)

CONFIG: dict[str, Any] = {
    **SETTINGS,
    "n_test": 1000,
    "labels": [16, 64, 256, 1024, 4096],
    "pre-training": {
        "encoder": ENCODER,
        "decoder": {
            "max_steps": 4000,
            "peak_rate": 2e-3,
            "warmup_steps": 300,
            "validate_every": 1000,
        },
    },
    "fine-tuning": {"warmup_steps": 40, "validate_every": 400},
    "fine-tuned": {  # what is kept, and how the labels are learned
        "pre-trained": {"max_steps": 400, "peak_rate": 1e-3},
        "from scratch": {"max_steps": 400, "peak_rate": 1e-3},
        "body frozen": {"max_steps": 400, "peak_rate": 5e-3},
        "from scratch, five times as long": {"max_steps": 2000, "peak_rate": 1e-3},
    },
    "orders": [1, 2, 3, 4, 5],  # of the n-grams
}
PROBE: dict[str, Any] = {
    "n_text": 400,
    "n_test": 20,
    "vocab_size": 300,
    "labels": [16],
    "batch_size": 8,
    "pre-training": {
        "encoder": {"max_steps": 12, "warmup_steps": 4, "validate_every": 6},
        "decoder": {"max_steps": 12, "warmup_steps": 4, "validate_every": 6},
    },
    "fine-tuning": {"warmup_steps": 2, "validate_every": 4},
    "fine-tuned": {
        "pre-trained": {"max_steps": 4},
        "from scratch": {"max_steps": 4},
        "body frozen": {"max_steps": 4},
        "from scratch, five times as long": {"max_steps": 8},
    },
    "orders": [1, 3],
}


def run(seed: int, config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Pre-train an encoder, fine-tune it with few and with many labels; train a decoder, and count n-grams."""
    n_text, n_labels = config["n_text"], max(config["labels"])
    drawn = grammar.generate("train", n_text + 2 * n_labels, style=PLAIN)
    text = [pair.source for pair in islice(drawn, n_text)]
    known = set(text)  # those with labels are others: intact ones would be known by heart
    apart = [pair.source for pair in drawn if pair.source not in known][:n_labels]
    held_text = [p.source for p in grammar.generate("test", config["n_test"], style=PLAIN)]
    vocabulary = Vocabulary.train(text, config["vocab_size"])
    size = config["batch_size"]
    train, held = (
        Rows([[1, *ids, 2] for ids in vocabulary.encode(t)], batch_size=size)
        for t in (text, held_text)
    )
    encoder, hidden = pretrained("encoder", seed, config, vocabulary, train, held, folder)
    decoder, written = pretrained("decoder", seed, config, vocabulary, train, held, folder)
    letters = sum(len(line) + 1 for line in held_text)  # one for the end
    labelled = examples(apart, vocabulary, seed)
    judged = examples(held_text, vocabulary, seed)
    right = judgements(seed, config, vocabulary, encoder, labelled, judged, folder)
    counts = Counts(train.rows, 4, len(vocabulary))
    for name, surprise in (
        ("surprise of 4-grams", lambda row: [-p for p in counts.log_probs(row)]),
        ("surprise of the decoder", lambda row: token_losses(decoder, torch.tensor([row]))[0]),
    ):
        right[name] = {str(n): by_surprise(surprise, labelled, judged, n) for n in config["labels"]}
    return {
        "curves": {"encoder": hidden, "decoder": written},
        "scores": {
            "right": right,
            **language_scores(config, len(vocabulary), decoder, train, held, letters),
        },
    }


def judgements(
    seed: int,
    config: dict[str, Any],
    vocabulary: Vocabulary,
    encoder: EncoderOnly,
    labelled: Labelled,
    judged: Labelled,
    folder: Path,
) -> dict[str, dict[str, float]]:
    """Share of held-out sentences judged right, by what was kept and by the number of labels."""
    right: dict[str, dict[str, float]] = {}
    most = max(config["labels"])
    for name in config["fine-tuned"]:
        for n in [most] if name.endswith("long") else config["labels"]:
            fresh = fresh_model("encoder", seed, config, vocabulary)
            body = fresh if name.startswith("from scratch") else encoder
            score = fine_tuned(name, body, seed, config, labelled, judged, n, folder)
            right.setdefault(name, {})[str(n)] = score
    for n in config["labels"]:
        for length, name in ((1, "words counted"), (2, "pairs counted")):
            guesses = bag_of_words(labelled, judged, n, length)
            right.setdefault(name, {})[str(n)] = share_right(guesses, judged[1])
    return right


def examples(sentences: list[str], vocabulary: Vocabulary, seed: int) -> Labelled:
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


def fine_tuned(
    name: str,
    body: EncoderOnly,
    seed: int,
    config: dict[str, Any],
    labelled: Labelled,
    judged: Labelled,
    n: int,
    folder: Path,
) -> float:
    """Train a copy of the body and a new output with n labels; share of held-out sentences judged right."""
    torch.manual_seed(seed)
    model = Classifier(deepcopy(body), 2, "mean")
    if name == "body frozen":
        model.body.requires_grad_(False)
    training = config["fine-tuning"] | config["fine-tuned"][name] | {"seed": seed}
    size = min(config["batch_size"], n)
    guesses = guesses_after(model, training, labelled, judged, n, size, folder / f"{name}, {n}")
    return share_right(guesses, judged[1])


@torch.no_grad()
def by_surprise(
    surprise: Callable[[list[int]], Any], labelled: Labelled, held: Labelled, n: int
) -> float:
    """Logistic regression on two numbers a sentence: the mean and the highest surprise of its tokens."""

    def table(rows: list[list[int]]) -> Any:
        losses = [np.asarray(surprise(row)) for row in rows]
        return np.array([[found.mean(), found.max()] for found in losses])

    method = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    method.fit(table(labelled[0][:n]), labelled[1][:n])
    return round(float(method.score(table(held[0]), held[1])), 5)


def language_scores(
    config: dict[str, Any],
    vocab_size: int,
    decoder: DecoderOnly,
    train: Rows,
    held: Rows,
    letters: int,
) -> dict[str, dict[str, float]]:
    """Perplexity and bits per character of held-out sentences, by the decoder and by counts."""
    with torch.no_grad():
        total = sum(
            token_losses(decoder, *held.tensors(batch)).sum().item() for batch in held.epoch()
        )
    nats = {"decoder": total}
    for order in config["orders"]:
        counts = Counts(train.rows, order, vocab_size)
        nats[f"{order}-grams"] = -sum(sum(counts.log_probs(row)) for row in held.rows)
    tokens = sum(len(row) - 1 for row in held.rows)
    return {
        "perplexity": {name: round(math.exp(n / tokens), 5) for name, n in nats.items()},
        "bits per character": {
            name: round(n / math.log(2) / letters, 5) for name, n in nats.items()
        },
    }


class Counts:
    """An n-gram model of ids, interpolated after Witten and Bell: new contexts fall back to shorter ones."""

    def __init__(self, rows: Sequence[Sequence[int]], order: int, vocab_size: int) -> None:
        self.order, self.vocab_size = order, vocab_size
        self.followed: dict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
        for row in rows:
            for i in range(1, len(row)):
                for n in range(min(order, i + 1)):
                    self.followed[tuple(row[i - n : i])][row[i]] += 1
        self.total = {context: sum(after.values()) for context, after in self.followed.items()}

    def log_probs(self, row: Sequence[int]) -> list[float]:
        """Log-probability of each id but the first, in nats."""
        found = []
        for i in range(1, len(row)):
            p = 1 / self.vocab_size
            for n in range(min(self.order, i + 1)):
                context = tuple(row[i - n : i])
                if context in self.total:
                    after = self.followed[context]
                    kinds, seen = len(after), self.total[context]
                    p = (after[row[i]] + kinds * p) / (seen + kinds)
            found.append(math.log(p))
        return found
