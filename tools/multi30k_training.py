"""What the experiments on Multi30k have in common: training, and scores as the field reports them.

The text is read from the folder that the variable MULTI30K names, or downloaded where there is none. No
sentence of it goes into a record: the texts there are our own.
"""

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from transformer_course.checkpoints import list_checkpoints
from transformer_course.corpus.pairs import Pair
from transformer_course.evaluation import bleu_interval, evaluate_pairs, score_translations
from transformer_course.recipe import Recipe, train_translator
from transformer_course.runs import MULTI30K_RECIPE, Data
from transformer_course.training import TrainingConfig, average_checkpoints
from transformer_course.translator import Translator

APART = True
PROBE: dict[str, Any] = {
    "beam": 2,
    "alphas": [1.0],
    "lengths": [1],
    "watched": ["a cat sleeps ."],
    "recipe": {
        "vocab_size": 500,
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
        },
    },
}


WATCHED = {  # our own sentences, by source language and form
    ("en", "lc.norm.tok"): [
        "a woman in a red coat reads a newspaper on a bench .",
        "two dogs run through the snow behind a small child .",
        "an old man plays the violin in front of a train station .",
    ],
    ("de", "raw"): [
        "Eine Frau in einem roten Mantel liest auf einer Bank die Zeitung.",
        "Zwei Hunde laufen hinter einem kleinen Kind durch den Schnee.",
        "Ein alter Mann spielt vor einem Bahnhof Geige.",
    ],
}


def settings(languages: str, form: str, recipe: Recipe = MULTI30K_RECIPE) -> dict[str, Any]:
    """The config of an experiment; see `run`."""
    training = replace(recipe.training, precision="bf16")  # two fifths less time
    return {
        "languages": languages,
        "form": form,
        "tokenize": "13a" if form == "raw" else "none",
        "beam": 5,
        "alphas": [0.0, 0.6, 1.0, 1.4, 1.8, 2.2],
        "lengths": [1, 10, 13, 17],
        "watched": WATCHED[languages.partition("-")[0], form],
        "recipe": replace(recipe, training=training).record(),
    }


def text_of(config: dict[str, Any]) -> Data:
    """Where the text of an experiment is."""
    return Data(
        corpus="multi30k",
        folder=os.environ.get("MULTI30K"),
        languages=config["languages"],
        form=config["form"],
    )


def run(
    seed: int, config: dict[str, Any], folder: Path, *, curve_of_bleu: bool = True
) -> dict[str, Any]:
    """Train on Multi30k, choose the length penalty on the validation set, score the test set once.

    Args:
        seed: of the weights, the batches and dropout.
        config: "languages", "form", "recipe", "tokenize" (sacrebleu's tokeniser), "beam", "alphas" to choose
            from, "lengths" (fewest words of each group of test sentences), and "watched" sentences of our own.
        folder: for the run; a run that was interrupted goes on.
        curve_of_bleu: translate the validation set at every validation.

    Returns:
        Curves against updates and minutes, scores, and what was made of the watched sentences.
    """
    data, tokenize = text_of(config), config["tokenize"]
    train, valid, _ = data.load()

    def on_valid(translator: Translator, beam: int, alpha: float) -> float:
        return evaluate_pairs(translator, valid, beam=beam, alpha=alpha, tokenize=tokenize).bleu

    training = TrainingConfig(**config["recipe"]["training"] | {"seed": seed})
    translator, _ = train_translator(
        train,
        valid,
        folder,
        Recipe(**config["recipe"] | {"training": training}),
        resume=(folder / "recipe.json").exists(),
        evaluate=(lambda t: {"BLEU": on_valid(t, 1, 0.0)}) if curve_of_bleu else None,
    )
    history = json.loads((folder / "history.json").read_text(encoding="utf-8"))
    beam = config["beam"]
    by_alpha = {alpha: on_valid(translator, beam, alpha) for alpha in config["alphas"]}
    alpha = max(by_alpha, key=lambda alpha: by_alpha[alpha])
    test = data.load_test()
    sources = [pair.source for pair in test]
    translations = translator.translate(sources, beam=beam, alpha=alpha)
    searched = score_translations(test, translations, tokenize=tokenize)
    low, high = bleu_interval(test, translations, tokenize=tokenize)
    greedy = evaluate_pairs(translator, test, beam=1, tokenize=tokenize)
    watched = translator.translate(config["watched"], beam=beam, alpha=alpha)
    return {
        "seconds": round(history[-1]["seconds"], 1),  # of the training, all its parts together
        "curves": {
            "step": [record["step"] for record in history],
            "minutes": [round(record["seconds"] / 60, 2) for record in history],
            **{
                name: [round(record[name], 5) for record in history]
                for name in ("train_loss", "loss", *(["BLEU"] if curve_of_bleu else []))
            },
        },
        "scores": {
            "validation, greedy search": round(on_valid(translator, 1, 0.0), 3),
            "validation, by length penalty": {str(a): round(b, 3) for a, b in by_alpha.items()},
            "length penalty": alpha,
            "test": round(searched.bleu, 3),
            "test, 95 % interval": {"from": round(low, 3), "to": round(high, 3)},
            "test, greedy search": round(greedy.bleu, 3),
            "test, by words of the source": by_words(
                test, translations, config["lengths"], tokenize
            ),
            "exact match": searched.exact_match,
            "parameters": sum(p.numel() for p in translator.model.parameters()),
        },
        "texts": {
            "weights": kept_weights(translator, folder, training.average),
            "signature": searched.signature,
            "watched": watched,
            "read": [
                looked_at(translator, *pair)
                for pair in zip(config["watched"], watched, strict=True)
                if pair[1].strip()  # a model that has learnt nothing may write nothing
            ],
        },
    }


def by_words(
    test: list[Pair], written: list[str], least: Sequence[int], tokenize: str
) -> dict[str, float]:
    """BLEU of groups of sentences, by the words of their sources; a mark that stands apart is a word."""
    words = [len(pair.source.split()) for pair in test]
    return bleu_of_groups(test, written, grouped(words, least), tokenize)


def bleu_of_groups(
    test: list[Pair], written: list[str], groups: dict[str, list[int]], tokenize: str
) -> dict[str, float]:
    """BLEU of each group, whose sentences are named by their places in the test set."""
    scores = {
        name: score_translations(
            [test[i] for i in places], [written[i] for i in places], tokenize=tokenize
        )
        for name, places in groups.items()
    }
    return {name: round(score.bleu, 3) for name, score in scores.items()}


def grouped(numbers: Sequence[int], least: Sequence[int]) -> dict[str, list[int]]:
    """The places of numbers in groups that begin with `least`: "0", "1-9", "10+"; none is empty."""
    following = [*least[1:], None]
    groups = {
        (f"{a}+" if b is None else str(a) if b == a + 1 else f"{a}-{b - 1}"): [
            place
            for place, number in enumerate(numbers)
            if a <= number and (b is None or number < b)
        ]
        for a, b in zip(least, following, strict=True)
    }
    return {name: places for name, places in groups.items() if places}


def kept_weights(translator: Translator, folder: Path, average: int) -> str:
    """Which weights the trainer kept: the mean of the last checkpoints, or those of the best one."""
    last = list_checkpoints(folder)[-average:]
    mean, kept = average_checkpoints(last), translator.model.state_dict()
    averaged = all(torch.equal(mean[name], kept[name]) for name in mean)
    return f"average of {len(last)}" if averaged else "best checkpoint"


def looked_at(translator: Translator, source: str, translation: str) -> dict[str, Any]:
    """Where each decoder layer reads while the translation is written: the mean over its heads."""
    seen = translator.attention(source, translation)
    layers = [maps.mean(0) for name, maps in seen.maps.items() if name.endswith("cross_attention")]
    return {
        "source": seen.source,
        "target": [*seen.target[1:], "</s>"],
        "layers": [[[round(w, 3) for w in row] for row in layer.tolist()] for layer in layers],
    }
