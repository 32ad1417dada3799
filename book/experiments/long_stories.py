"""What a longer context brings: stories with questions, read in segments, with a memory, a window, or whole."""

from pathlib import Path
from typing import Any

import torch
from story_reading import SETTINGS, SMALL, Reader, judged, most_frequent, readers, trained
from story_texts import Texts, fresh_vocabulary, texts

from transformer_course.families import DecoderOnly

APART = True  # hours on a processor; it was run on a graphics card
CONFIG: dict[str, Any] = {
    **SETTINGS,
    "training": {
        "max_steps": 1000,
        "peak_rate": 2e-3,
        "warmup_steps": 200,
        "validate_every": 500,
        "precision": "bf16",
    },
}
PROBE: dict[str, Any] = SMALL


def run(seed: int, config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Train each system on the same rows; the share of right answers by kind."""
    vocabulary = fresh_vocabulary()
    data = {
        split: texts(split, config[f"n_{split}"], config["length"], vocabulary, once=False)
        for split in ("train", "valid", "test")
    }
    curves: dict[str, list[float]] = {}
    scores: dict[str, Any] = {"right by kind": {}, "held-out loss": {}}
    for name, read in readers(config).items():
        model, curves[name] = trained(read, data, len(vocabulary), seed, config, folder / name)
        scores["held-out loss"][name] = curves[name][-1]
        scores["right by kind"][name] = answered(model, read, data["test"], config)
    scores["most frequent answer"] = most_frequent(data["train"], data["test"])
    return {"curves": curves, "scores": scores}


@torch.no_grad()
def answered(
    model: DecoderOnly, read: Reader, test: Texts, config: dict[str, Any]
) -> dict[str, float]:
    """Share of answers whose words are all the likeliest, by kind of question."""
    device = next(model.parameters()).device
    right: dict[str, list[bool]] = {}
    for first in range(0, len(test.ids), config["batch_size"]):
        ids = test.ids[first : first + config["batch_size"]]
        likeliest = read(model, ids.to(device)).argmax(-1).cpu()
        for one, is_right in judged(likeliest, ids, test.asked[first : first + len(ids)]):
            right.setdefault(one.kind, []).append(is_right)
    return {kind: sum(found) / len(found) for kind, found in right.items()}
