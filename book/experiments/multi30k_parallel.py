"""Translating in one pass or in a few, English to German on Multi30k: quality from raw and distilled pairs.

It trains a teacher and seven students, so it has to be named, and a graphics card saves a day:
python tools/run_experiments.py multi30k_parallel --seeds 0
"""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from multi30k_training import text_of
from parallel_training import (
    curve,
    distilled,
    strong,
    students,
    times,
    told_lengths,
    trained,
    ways_of,
    word_by_word,
)

from transformer_course.corpus.pairs import Pair
from transformer_course.evaluation import score_translations
from transformer_course.non_autoregressive import (
    IbmModel,
    MaskPredict,
    conditional_entropy,
    repeated_words,
)
from transformer_course.runs import MULTI30K_RECIPE

APART = True
# As many sentences as in multi30k_de, in a fifth of the batches: to a card, a larger batch costs the same.
_TRAINING = replace(
    MULTI30K_RECIPE.training,
    max_steps=2800,
    max_tokens=20_480,
    warmup_steps=200,
    validate_every=100,
    average=5,
    precision="bf16",
)
CONFIG: dict[str, Any] = {
    "languages": "en-de",
    "form": "lc.norm.tok",
    "n_aligned": 29_000,  # pairs whose entropy is measured
    "updates": 5,  # of IBM model 1, then of model 2
    "beam": 5,
    "candidates": [1, 10, 100],
    "passes": [1, 2, 4, 10],
    "lengths": 5,
    "rounds": 5,  # of the times
    "batch": 64,
    "recipe": MULTI30K_RECIPE.record() | {"training": asdict(_TRAINING)},
    "models": {  # what differs from the recipe
        "word by word": {},
        "deep encoder": {"n_layers": 8, "n_decoder_layers": 1},
        "fertilities": {"model": "nat"},
        "mask-predict": {"model": "mask-predict"},
    },
    "only distilled": ["word by word"],
}
PROBE: dict[str, Any] = {
    "n_aligned": 40,
    "updates": 1,
    "beam": 2,
    "candidates": [1, 3],
    "passes": [1, 2],
    "lengths": 2,
    "rounds": 1,
    "batch": 4,
    "recipe": {
        "vocab_size": 400,
        "n_layers": 1,
        "d_model": 32,
        "n_heads": 2,
        "d_ff": 64,
        "training": {
            "max_steps": 8,
            "max_tokens": 256,
            "warmup_steps": 4,
            "validate_every": 4,
            "average": 2,
            "precision": "fp32",
        },
    },
    "models": {"deep encoder": {"n_layers": 2}},
}


def run(seed: int, config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Train teacher and students with one seed; return scores, complexity of the data, and times.

    The distilled pairs and the translations stay in the run's folder: they are made of Multi30k's text.
    """
    data = text_of(config)
    raw, valid, _ = data.load()
    test = data.load_test()
    teacher = trained({}, seed, raw, valid, folder / "teacher", config)
    kinds = {"raw": raw, "distilled": distilled(teacher, raw, folder / "distilled.json", config)}
    systems = word_by_word(teacher, config, folder)
    curves: dict[str, Any] = {}
    lengths: dict[str, Any] = {}
    for kind, name, student in students(seed, kinds, valid, folder, config, teacher):
        place = folder / f"{name}, {kind}"
        curves[place.name] = curve(place)
        for way, system in ways_of(student, teacher, config).items():
            systems[f"{name}{way}, {kind}"] = system
        if isinstance(student.model, MaskPredict):
            known, texts = told_lengths(student, test, max(config["passes"]))
            lengths[kind] = scores_of(test, texts) | {"length right": known}
        if name == "deep encoder" and kind == "distilled":
            systems |= strong(student, place / "exported", f"{name}, {kind}")
    sources = [pair.source for pair in test]
    said = {name: system(sources) for name, system in systems.items()}
    return {
        "curves": curves,
        "scores": {
            **{name: scores_of(test, texts) for name, texts in said.items()},
            "told the length": lengths,
            "entropy": {kind: entropy(pairs, config) for kind, pairs in kinds.items()},
            **times(systems, sources, config),
        },
    }


def scores_of(pairs: list[Pair], texts: list[str]) -> dict[str, float]:
    """BLEU on text that is tokenised already, and how often a word repeats the one before."""
    scores = score_translations(pairs, texts, tokenize="none")
    return {"BLEU": round(scores.bleu, 3), "repeated words": round(repeated_words(texts), 5)}


def entropy(pairs: list[Pair], config: dict[str, Any]) -> dict[str, float]:
    """Conditional entropy after IBM model 1, and after model 2."""
    rows = [(pair.source.split(), pair.target.split()) for pair in pairs[: config["n_aligned"]]]
    model, found = IbmModel(rows), {}
    for number, positions in enumerate((False, True), 1):
        for _ in range(config["updates"]):
            model.update(positions)
        found[f"model {number}"] = round(conditional_entropy(rows, model.align(rows)), 5)
    return found
