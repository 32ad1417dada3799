"""Mask-predict on the grammar, with sixteen times as much training as in the experiment non_autoregressive.

It takes a graphics card four minutes, so it has to be named:
python tools/run_experiments.py mask_predict_longer --seeds 0
"""

from pathlib import Path
from typing import Any

from parallel_training import (
    SHORT,
    SHORT_PROBE,
    distilled,
    passing,
    scores_of,
    short_splits,
    told_lengths,
    trained,
)

APART = True
CONFIG: dict[str, Any] = {
    **SHORT,
    "longer": {
        "model": "mask-predict",
        "training": {"max_steps": 7500, "max_tokens": 8192, "validate_every": 750},
    },
}
PROBE: dict[str, Any] = {
    **SHORT_PROBE,
    "longer": {"training": {"max_steps": 12, "max_tokens": 256, "validate_every": 6}},
}


def run(seed: int, config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Train a teacher, and mask-predict from what it says; return scores by passes, and told the length."""
    splits = short_splits(config)
    raw, valid, test = splits["train"], splits["valid"], splits["test"]
    teacher = trained({}, seed, raw, valid, folder / "teacher", config)
    pairs = distilled(teacher, raw, folder / "distilled.json", config)
    student = trained(config["longer"], seed, pairs, valid, folder / "longer", config, teacher)
    sources = [pair.source for pair in test]
    scores: dict[str, Any] = {
        f"T = {n}": scores_of(test, passing(student, n, config["lengths"])(sources))
        for n in config["passes"]
    }
    known, texts = told_lengths(student, test, max(config["passes"]))
    told = scores_of(test, texts)
    return {"scores": scores | {"told the length": told | {"length right": known}}}
