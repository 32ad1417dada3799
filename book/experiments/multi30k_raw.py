"""German to English on Multi30k's raw text, with capitals and full stops as they were written.

It takes an hour or more for each seed, so it has to be named: python tools/run_experiments.py multi30k_raw
"""

from pathlib import Path
from typing import Any

import multi30k_training
from multi30k_training import APART, PROBE, settings, text_of

from transformer_course.corpus.pairs import Pair
from transformer_course.evaluation import score_translations
from transformer_course.translator import Translator

__all__ = ["APART", "CONFIG", "PROBE", "run"]

CONFIG = settings("de-en", form="raw")


def run(seed: int, config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The same as for the other languages, and the test scores without capitals: others report those."""
    result = multi30k_training.run(seed, config, folder)
    translator, test = Translator.load(folder), text_of(config).load_test()
    lower = [Pair(pair.source, (pair.target.lower(),)) for pair in test]
    searches = {
        "greedy search": (1, 0.0),
        "beam": (config["beam"], result["scores"]["length penalty"]),
    }
    for name, (beam, alpha) in searches.items():
        written = translator.translate([pair.source for pair in test], beam=beam, alpha=alpha)
        scores = score_translations(
            lower, [t.lower() for t in written], tokenize=config["tokenize"]
        )
        result["scores"][f"test without capitals, {name}"] = round(scores.bleu, 3)
    return result
