"""The demo translator's training in full, with three seeds: its curves, and its scores by phenomenon.

The table has the baselines that understand nothing beside it.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from transformer_course.corpus import grammar
from transformer_course.corpus.baselines import BASELINES, Baseline
from transformer_course.corpus.pairs import Pair
from transformer_course.corpus.scoring import (
    TWO_WAY,
    exact_match,
    group_by_length,
    pronoun_accuracy,
)
from transformer_course.evaluation import evaluate_pairs
from transformer_course.recipe import Recipe, train_translator
from transformer_course.runs import GRAMMAR_RECIPE, Data
from transformer_course.training import TrainingConfig
from transformer_course.translator import Translator

CONFIG: dict[str, Any] = {
    "n_pairs": Data.n_pairs,
    "n_test": 1000,
    "n_valid": 1000,
    "n_baseline": 20_000,
    "n_challenge": 160,
    "lengths": [1, 7, 10, 12],  # fewest words of each group of test sentences
    "watched": ["The cat sleeps on the chair.", "She does not see the tree."],
    "recipe": GRAMMAR_RECIPE.record() | {"training": asdict(GRAMMAR_RECIPE.training)},
}
CONFIG["recipe"]["training"] |= {"validate_every": 300, "precision": "bf16"}
PROBE: dict[str, Any] = {
    "n_pairs": 400,
    "n_test": 10,
    "n_valid": 30,
    "n_baseline": 200,
    "n_challenge": 2,
    "recipe": {
        "vocab_size": 500,
        "training": {"max_steps": 12, "max_tokens": 256, "warmup_steps": 4, "validate_every": 4},
    },
}
HISTORY, SAID = "history.json", "said.json"


System = Callable[[Sequence[Pair]], list[str]]


def run(seed: int, config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Train with one seed; return curves, scores on held-out combinations, and scores by phenomenon."""
    recipe = config["recipe"]
    training = TrainingConfig(**recipe["training"] | {"seed": seed})
    train = list(grammar.generate("train", config["n_pairs"], seed=0))
    valid = list(grammar.generate("valid", config["n_valid"], seed=0))
    test = list(grammar.generate("test", config["n_test"], seed=0))
    sets = {k: v[: config["n_challenge"]] for k, v in grammar.challenge_sets(seed=0).items()}

    def watch(translator: Translator) -> dict[str, float]:
        some, it = valid[:200], sets["antecedent"]
        keep_what_is_said(folder, translator.translate(config["watched"], beam=1))
        return {
            "exact match": exact_match(some, searching(translator, beam=1)(some)),
            "il or elle": pronoun_accuracy(it, searching(translator, beam=1)(it)),
        }

    translator, _ = train_translator(
        train,
        valid,
        folder,
        Recipe(**recipe | {"training": training}),
        resume=(folder / "recipe.json").exists(),
        evaluate=watch,
    )
    history = read_list(folder / HISTORY)
    curves = ("step", "train_loss", "loss", "exact match", "il or elle")
    scores = evaluate_pairs(translator, test)
    systems = {"Transformer": searching(translator, beam=4)} | {
        name: one_by_one(make(train[: config["n_baseline"]])) for name, make in BASELINES.items()
    }
    greedy = {"Transformer": searching(translator, beam=1)}
    groups = group_by_length(test, config["lengths"])
    return {
        "curves": {name: [round(record[name], 5) for record in history] for name in curves},
        "scores": {
            "exact match": scores.exact_match,
            "exact match, greedy search": score(exact_match, greedy, test)["Transformer"],
            "BLEU": scores.bleu,
            "il or elle": {n: score(pronoun_accuracy, systems, sets[n]) for n in TWO_WAY},
            "by phenomenon": {n: score(exact_match, systems, pairs) for n, pairs in sets.items()},
            "by words, greedy search": {
                n: score(exact_match, greedy, pairs) for n, pairs in groups.items()
            },
        },
        "texts": {"said": read_list(folder / SAID)},
    }


def keep_what_is_said(folder: Path, texts: list[str]) -> None:
    """Add the translations at this validation to those of the validations that the history has."""
    said, history = (read_list(folder / name) for name in (SAID, HISTORY))
    (folder / SAID).write_text(json.dumps([*said[: len(history)], texts]), encoding="utf-8")


def read_list(path: Path) -> list[Any]:
    """What a file holds, or an empty list if there is none."""
    return list(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else []


def searching(translator: Translator, beam: int) -> System:
    """The translator as a system with this width of beam."""
    return lambda pairs: translator.translate([pair.source for pair in pairs], beam=beam)


def one_by_one(baseline: Baseline) -> System:
    """A baseline as a system."""
    return lambda pairs: [baseline(pair.source) for pair in pairs]


def score(
    measure: Callable[[Sequence[Pair], Sequence[str]], float],
    systems: dict[str, System],
    pairs: Sequence[Pair],
) -> dict[str, float]:
    """What each system scores on a challenge set."""
    return {name: round(measure(pairs, system(pairs)), 5) for name, system in systems.items()}
