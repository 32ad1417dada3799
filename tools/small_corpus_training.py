"""What the experiments with the recipe for small corpora have in common: those on Multi30k, and more scores."""

from collections import Counter
from pathlib import Path
from typing import Any

import multi30k_training
from multi30k_training import bleu_of_groups, grouped, text_of

from transformer_course.corpus.pairs import Pair
from transformer_course.evaluation import score_translations
from transformer_course.runs import SMALL_CORPUS_RECIPE
from transformer_course.translator import Translator

APART = True
PROBE = multi30k_training.PROBE
OF_SENTENCES = (0, 1, 10, 100)  # how often its rarest word stands in the training text, at least
OF_WORDS = (0, 1, 10, 100, 1000)


def settings(languages: str) -> dict[str, Any]:
    """The config of an experiment; see `multi30k_training.run`."""
    return multi30k_training.settings(languages, "lc.norm.tok", SMALL_CORPUS_RECIPE)


def run(seed: int, config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The same as for the recipe of chapter 15, with chrF, and scores by how frequent words are."""
    result = multi30k_training.run(seed, config, folder, curve_of_bleu=False)
    del result["texts"]["read"]
    data, scores = text_of(config), result["scores"]
    train, test = data.load()[0], data.load_test()
    assert isinstance(train, list)  # the captions aren't prepared in shards
    written = Translator.load(folder).translate(
        [pair.source for pair in test], beam=config["beam"], alpha=scores["length penalty"]
    )
    chrf = score_translations(test, written, tokenize=config["tokenize"]).chrf
    scores["test, chrF"] = round(chrf, 3)
    scores["test, by the rarest word of the source"] = by_rarest_word(
        train, test, written, config["tokenize"]
    )
    scores["words of the references that were written"] = share_written(train, test, written)
    return result


def by_rarest_word(
    train: list[Pair], test: list[Pair], written: list[str], tokenize: str
) -> dict[str, float]:
    """BLEU of groups of sentences, by how often the rarest word stands in the training sources."""
    often = Counter(word for pair in train for word in pair.source.split())
    rarest = [min(often[word] for word in pair.source.split()) for pair in test]
    return bleu_of_groups(test, written, grouped(rarest, OF_SENTENCES), tokenize)


def share_written(train: list[Pair], test: list[Pair], written: list[str]) -> dict[str, float]:
    """Which share of the references' words was written, by how often they stand in the training targets."""
    often = Counter(word for pair in train for word in pair.target.split())
    times, found = [], []
    for pair, translation in zip(test, written, strict=True):
        left = Counter(translation.split())
        for word in pair.target.split():
            times.append(often[word])
            found.append(left[word] > 0)
            left[word] -= 1
    groups = grouped(times, OF_WORDS)
    return {
        name: round(sum(found[i] for i in places) / len(places), 3)
        for name, places in groups.items()
    }
