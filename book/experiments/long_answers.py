"""How far back an answer may lie: stories read in segments, with a memory, a window, or whole."""

from collections import Counter
from pathlib import Path
from typing import Any

import torch
from story_reading import SETTINGS, SMALL, Reader, judged, most_frequent, readers, trained
from story_texts import Texts, fresh_vocabulary, texts
from torch import Tensor

from transformer_course.families import DecoderOnly

APART = True  # hours on a processor; it was run on a graphics card
CONFIG: dict[str, Any] = {
    **SETTINGS,
    "bounds": [0, 2, 4, 8, 16, 24, 32],  # of distances, in sentences
    "places": 8,  # parts of a segment
    "contexts": [16, 32, 64, 128, 256, 440],  # words that are shown of those before the last
    "last": 64,
    "training": {
        "max_steps": 2000,
        "peak_rate": 2e-3,
        "warmup_steps": 400,
        "validate_every": 1000,
        "precision": "bf16",
    },
}
PROBE: dict[str, Any] = SMALL | {"contexts": [16, 64], "last": 16}


def run(seed: int, config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Train each system on the same rows; what it answers by distance, and its loss by place and by context."""
    data, vocabulary = stories(config)
    curves: dict[str, list[float]] = {}
    scores: dict[str, Any] = {}
    for name, read in readers(config).items():
        model, curves[name] = trained(read, data, len(vocabulary), seed, config, folder / name)
        for measure, found in measured(model, read, data["test"], config).items():
            scores.setdefault(measure, {})[name] = found
    scores["answers"] = counts(data["test"], config)
    scores["most frequent answer"] = most_frequent(data["train"], data["test"])
    return {"curves": curves, "scores": scores}


def stories(config: dict[str, Any]) -> tuple[dict[str, Texts], dict[str, int]]:
    """The texts of each split, the same for all systems and seeds, and the vocabulary of those to train on.

    There are more questions to learn from than in the test, and they may come twice. Those of the test don't,
    so no answer can be copied from an earlier one.
    """
    vocabulary, length = fresh_vocabulary(), config["length"]
    learnt = texts("train", config["n_train"], length, vocabulary, every=1, once=False)
    asked = {
        split: texts(split, config[f"n_{split}"], length, vocabulary) for split in ("valid", "test")
    }
    data = {"train": learnt, **asked}
    return data, vocabulary


@torch.no_grad()
def measured(
    model: DecoderOnly, read: Reader, test: Texts, config: dict[str, Any]
) -> dict[str, Any]:
    """What a decoder has learnt of texts that it hasn't seen.

    Returns:
        The share of answers whose words are all the likeliest, by kind and by distance; the loss by place
        within a segment, without the first one; and the loss of the last words, by how many words came
        before them.
    """
    device = next(model.parameters()).device
    right: dict[str, dict[str, list[bool]]] = {}
    losses = []
    for first in range(0, len(test.ids), config["batch_size"]):
        ids = test.ids[first : first + config["batch_size"]]
        logits = read(model, ids.to(device)).float().cpu()
        losses.append(_losses(logits, ids))
        asked = test.asked[first : first + config["batch_size"]]
        for one, is_right in judged(logits.argmax(-1), ids, asked):
            found = right.setdefault(one.kind, {})
            found.setdefault("all", []).append(is_right)
            found.setdefault(bucket(one.distance, config), []).append(is_right)
    every, segment = torch.cat(losses), config["segment"]
    parts = config["places"]
    by_place = every[:, segment - 1 : every.shape[1] // segment * segment - 1]
    by_place = by_place.reshape(len(every), -1, parts, segment // parts).mean((0, 1, 3))
    return {
        "held-out loss": round(float(every.mean()), 5),
        **{
            f"{kind}, by distance": {
                name: round(sum(some) / len(some), 5) for name, some in sorted(found.items())
            }
            for kind, found in right.items()
        },
        "loss by place": {
            f"{place * (segment // parts):03}": round(loss, 5)
            for place, loss in enumerate(by_place.tolist())
        },
        "loss by context": {
            str(n): _loss_after(model, read, test, n, config) for n in config["contexts"]
        },
    }


def counts(test: Texts, config: dict[str, Any]) -> dict[str, dict[str, int]]:
    """How many answers there are of each kind, by distance."""
    found: dict[str, Counter[str]] = {}
    for asked in test.asked:
        for one in asked:
            found.setdefault(one.kind, Counter()).update(["all", bucket(one.distance, config)])
    return {kind: dict(sorted(some.items())) for kind, some in found.items()}


def bucket(distance: int, config: dict[str, Any]) -> str:
    """Where a distance belongs: "04" is from 4 to before the next bound."""
    return f"{max(bound for bound in config['bounds'] if bound <= distance):02}"


def _losses(logits: Tensor, ids: Tensor) -> Tensor:
    """Of each word but the first, (batch, length − 1)."""
    return -logits[:, :-1].log_softmax(-1).gather(-1, ids[:, 1:, None])[..., 0]


def _loss_after(
    model: DecoderOnly, read: Reader, test: Texts, n: int, config: dict[str, Any]
) -> float:
    """Mean loss of the last words of each row, of which only n words before are shown."""
    device = next(model.parameters()).device
    last = config["last"]
    rows = torch.cat([test.ids[:, :1], test.ids[:, -n - last :]], 1)  # <s> stays at the beginning
    found = [
        _losses(read(model, ids.to(device)).float().cpu(), ids)[:, -last:]
        for ids in rows.split(config["batch_size"])
    ]
    return round(float(torch.cat(found).mean()), 5)
