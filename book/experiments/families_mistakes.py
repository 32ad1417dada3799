"""Which mistake does a sentence hold? An encoder, pre-trained or not, names one of three kinds."""

from copy import deepcopy
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

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

from transformer_course.corpus import grammar
from transformer_course.corpus.grammar.orthography import PLAIN
from transformer_course.corpus.vocabulary import Vocabulary
from transformer_course.families import Classifier, EncoderOnly, Rows

NUMBER = {"is": "are", "was": "were", "has": "have", "doesn't": "don't", "isn't": "aren't"}
CASE = {"he": "him", "they": "them", "we": "us"}
NUMBER |= {plural: singular for singular, plural in NUMBER.items()}
CASE |= {objective: subjective for subjective, objective in CASE.items()}
KINDS = ("right", "order", "number", "case")
CONFIG: dict[str, Any] = {
    **SETTINGS,
    "n_drawn": 400_000,  # sentences from which those that take every mistake are chosen
    "n_test": 1600,
    "labels": [64, 256, 1024, 4096],
    "pre-training": {"encoder": ENCODER},
    "fine-tuning": {
        "warmup_steps": 40,
        "validate_every": 400,
        "max_steps": 400,
        "peak_rate": 1e-3,
    },
    "longer": 2000,  # updates from scratch, with most labels
    "pooling": ["first", "last"],  # beside the mean, with most labels
}
PROBE: dict[str, Any] = {
    "n_text": 400,
    "vocab_size": 300,
    "batch_size": 8,
    "n_drawn": 4000,
    "n_test": 20,
    "labels": [16],
    "pre-training": {"encoder": {"max_steps": 12, "warmup_steps": 4, "validate_every": 6}},
    "fine-tuning": {"max_steps": 4, "warmup_steps": 2, "validate_every": 4},
    "longer": 8,
}


def run(seed: int, config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Pre-train an encoder; then name the mistake in held-out sentences, with few and with many labels."""
    text = [p.source for p in grammar.generate("train", config["n_text"], style=PLAIN)]
    vocabulary = Vocabulary.train(text, config["vocab_size"])
    held_text = [p.source for p in grammar.generate("test", 1000, style=PLAIN)]
    train, held = (
        Rows([[1, *ids, 2] for ids in vocabulary.encode(lines)], batch_size=config["batch_size"])
        for lines in (text, held_text)
    )
    encoder, _ = pretrained("encoder", seed, config, vocabulary, train, held, folder)
    most = max(config["labels"])
    labelled = examples(sentences("train", config, most, set(text)), vocabulary, seed)
    judged = examples(sentences("test", config, config["n_test"], set()), vocabulary, seed)
    fresh = fresh_model("encoder", seed, config, vocabulary)
    shares: dict[str, dict[str, dict[str, float]]] = {}

    def tuned(name: str, body: EncoderOnly, n: int, pooling: Any = "mean", **other: Any) -> None:
        torch.manual_seed(seed)
        model = Classifier(deepcopy(body), len(KINDS), pooling)
        training = config["fine-tuning"] | other | {"seed": seed}
        size = min(config["batch_size"], n)
        place = folder / f"{name}, {n}"
        guesses = guesses_after(model, training, labelled, judged, n, size, place)
        shares.setdefault(name, {})[str(n)] = by_kind(guesses, judged[1])

    for n in config["labels"]:
        tuned("pre-trained", encoder, n)
        tuned("from scratch", fresh, n)
        for length, name in ((1, "words counted"), (2, "pairs counted")):
            guesses = bag_of_words(labelled, judged, n, length)
            shares.setdefault(name, {})[str(n)] = by_kind(guesses, judged[1])
    tuned("from scratch, five times as long", fresh, most, max_steps=config["longer"])
    for pooling in config["pooling"]:
        tuned(f"pre-trained, {pooling} token", encoder, most, pooling)
    return {"curves": {}, "scores": {"right": shares}}


def sentences(split: str, config: dict[str, Any], n: int, known: set[str]) -> list[str]:
    """n sentences that take every mistake, so that what a sentence is about doesn't give its label away."""
    drawn = (p.source for p in grammar.generate(split, config["n_drawn"], style=PLAIN))
    fit = (s for s in drawn if s not in known and all(any(places(s, k)) for k in KINDS[1:]))
    found = list(islice(dict.fromkeys(fit), n))
    if len(found) < n:
        raise ValueError(f"only {len(found)} sentences of {config['n_drawn']} take every mistake")
    return found


def places(sentence: str, kind: str) -> list[int]:
    """Where a sentence can get a mistake of this kind, as a word's number."""
    words = sentence.split()
    if kind == "order":  # not the first two: exchanged, they may begin a question
        return [i for i in range(1, len(words) - 1) if words[i] != words[i + 1]]
    forms = NUMBER if kind == "number" else CASE
    return [i for i, word in enumerate(words) if word in forms]


def spoilt(sentence: str, kind: str, chance: Random) -> str:
    """The sentence with one mistake: neighbours exchanged, a verb or a pronoun in another form."""
    words = sentence.split()
    i = chance.choice(places(sentence, kind))
    if kind == "order":
        words[i], words[i + 1] = words[i + 1], words[i]
    else:
        words[i] = (NUMBER if kind == "number" else CASE)[words[i]]
    return " ".join(words)


def examples(lines: list[str], vocabulary: Vocabulary, seed: int) -> Labelled:
    """Rows of ids from <s> to </s>, and the number of the kind: every fourth sentence is left as it is."""
    chance = Random(seed)
    labels = [i % len(KINDS) for i in range(len(lines))]
    texts = [
        spoilt(line, KINDS[label], chance) if label else line
        for line, label in zip(lines, labels, strict=True)
    ]
    return [[1, *ids, 2] for ids in vocabulary.encode(texts)], labels


def by_kind(guesses: list[int], labels: list[int]) -> dict[str, float]:
    """Share of right answers, of all sentences and of those of each kind."""
    pairs = list(zip(guesses, labels, strict=True))
    shares = {
        kind: share_right(*zip(*[pair for pair in pairs if pair[1] == number], strict=True))
        for number, kind in enumerate(KINDS)
    }
    return {"all": share_right(guesses, labels), **shares}
