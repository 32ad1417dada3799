"""What a training run of the command line is made from (chapter 07), and where that is written down."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from transformer_course.checkpoints import CheckpointError, read_json
from transformer_course.corpus import grammar, multi30k
from transformer_course.corpus.pairs import CorpusError, Pair
from transformer_course.corpus.readers import read_pairs, read_tsv
from transformer_course.recipe import Recipe, split_pairs
from transformer_course.training import TrainingConfig

# The grammar never runs out of sentences, so nothing is learnt by heart: no dropout, no smoothing.
# Sized for five minutes of two cores. Twice the peak rate, or 4,000 subwords and 2,400 updates in the same
# time, left more than one held-out sentence in ten wrong.
GRAMMAR_RECIPE = Recipe(
    vocab_size=3000,
    dropout=0.0,
    label_smoothing=0.0,
    training=TrainingConfig(
        max_steps=2700, max_tokens=1280, peak_rate=2e-3, warmup_steps=200, validate_every=300
    ),
)

# 29,000 sentences, read sixty times: dropout and smoothing keep the model from learning them by heart.
MULTI30K_RECIPE = Recipe(
    preset="narrow",
    vocab_size=10_000,
    dropout=0.3,
    label_smoothing=0.1,
    training=TrainingConfig(
        max_steps=14_000,
        max_tokens=4096,
        peak_rate=5e-3,
        warmup_steps=1000,
        validate_every=500,
        average=10,
    ),
)
RECIPES = {"grammar": GRAMMAR_RECIPE, "multi30k": MULTI30K_RECIPE}


@dataclass(frozen=True)
class Data:
    """Where sentence pairs come from; kept in a run's `run.json`.

    Args:
        corpus: "grammar" or "multi30k"; empty for files of one's own.
        n_pairs: how many pairs of the grammar to train on, 0 or more.
        files: two aligned files, or one tab-separated file.
        valid_files: the same for validation; parts of `files` are held out if there are none.
        folder: where the files of Multi30k are; downloaded if left out.
        languages: "en-de", "en-fr", "de-en" or "fr-en", for Multi30k.
        form: "lc.norm.tok" or "raw", for Multi30k.

    Raises:
        ValueError: if there is no such corpus, both a corpus and files are given, there are files to validate
            on but none to train on, or `languages` isn't two.
    """

    corpus: str = ""
    n_pairs: int = 170_000
    files: tuple[str, ...] = ()
    valid_files: tuple[str, ...] = ()
    folder: str | None = None
    languages: str = "en-de"
    form: str = "lc.norm.tok"

    def __post_init__(self) -> None:
        if self.corpus and self.corpus not in RECIPES:
            raise ValueError(f"corpus ({self.corpus!r}) must be {' or '.join(map(repr, RECIPES))}")
        if self.corpus and (self.files or self.valid_files):
            raise ValueError("give either --corpus or files of your own, not both")
        if self.valid_files and not self.files:
            raise ValueError("files to validate on need files to train on, by --pairs or --tsv")
        if self.languages.count("-") != 1:
            raise ValueError(f"languages ({self.languages!r}) must be two, such as 'en-de'")

    def load(self) -> tuple[list[Pair], list[Pair], list[Pair]]:
        """Pairs to train on, to validate on, and, held out from files, to test on.

        Returns:
            The three lists; no pairs to test on for a corpus by name, or where `valid_files` are given.

        Raises:
            CorpusError: if a file is missing, can't be downloaded, breaks a rule of `corpus.readers`, or has
                fewer than two different sources.
            ValueError: if `n_pairs` is negative, Multi30k lacks a language or the form, or there is neither a
                corpus nor one or two files.
        """
        if self.corpus == "grammar":
            train = list(grammar.generate("train", self.n_pairs, seed=0))
            return train, list(grammar.generate("valid", 1000, seed=0)), []
        if self.corpus == "multi30k":
            return self._multi30k("train"), self._multi30k("val"), []
        if self.valid_files:
            return read_files(self.files), read_files(self.valid_files), []
        pairs = read_files(self.files)
        try:
            return split_pairs(pairs)
        except ValueError as error:
            raise CorpusError(f"{' and '.join(self.files)}: {error}") from error

    def load_test(self) -> list[Pair]:
        """Pairs that training has not seen.

        Returns:
            1,000 pairs of the grammar's test split, the 2016 test set of Multi30k, or what was held out from
            the files.

        Raises:
            CorpusError: as `load` does.
            ValueError: if nothing was held out from the files, or as `load` does.
        """
        if self.corpus == "grammar":
            return list(grammar.generate("test", 1000, seed=0))
        if self.corpus == "multi30k":
            return self._multi30k("test_2016_flickr")
        if test := self.load()[2]:
            return test
        raise ValueError("this run held out no pairs to test on: name some by --pairs or --tsv")

    def where(self, pair: Pair) -> str:
        """File and line of a pair, as far as it comes from a file.

        Args:
            pair: the pair, as `load` gave it.

        Returns:
            File, line and a colon, to start a message with; empty if the pair stands in none of the files.

        Raises:
            CorpusError: if a file can no longer be read.
        """
        for files in (self.files, self.valid_files):
            pairs = read_files(files) if files else []
            if pair in pairs:
                return f"{files[0]}, line {pairs.index(pair) + 1}: "
        return ""

    def _multi30k(self, split: str) -> list[Pair]:
        source, target = self.languages.split("-")
        return multi30k.load_pairs(split, source, target, folder=self.folder, form=self.form)


def read_files(files: tuple[str, ...]) -> list[Pair]:
    """Pairs from two aligned files, or from one tab-separated file.

    Args:
        files: (sources, translations), or (tab-separated file,).

    Returns:
        One pair a line, in the order of the files.

    Raises:
        CorpusError: as `read_pairs` and `read_tsv` do.
        ValueError: if it isn't one file or two.
    """
    if len(files) not in (1, 2):
        raise ValueError(f"files {list(files)} must be one tab-separated file or two aligned ones")
    return read_pairs(*files) if len(files) == 2 else read_tsv(*files)


def digest(pairs: Sequence[Pair]) -> str:
    """A fingerprint of pairs, by which `load_held_out` knows them again.

    Args:
        pairs: any number of them, in any order.

    Returns:
        A SHA-256 of all sources and translations, in hexadecimal digits.
    """
    texts = sorted(json.dumps([pair.source, *pair.targets]) for pair in pairs)
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def load_held_out(folder: Path) -> tuple[Data, list[Pair]]:
    """The pairs that a run was not trained on, and where they come from.

    Args:
        folder: the run's, with a `run.json`.

    Returns:
        The data, and its test pairs.

    Raises:
        CheckpointError: if `run.json` is missing or damaged.
        CorpusError: if the files hold other test pairs than when the run was started, or as `Data.load_test`
            does.
        ValueError: as `Data.load_test` does.
    """
    data, _ = load_run(folder)
    test = data.load_test()
    if not data.corpus and digest(test) != read_json(folder / "run.json").get("test"):
        raise CorpusError(
            f"{' and '.join(data.files)}: not the pairs that {folder} was started with, so some to test on may "
            "have been trained on: name a test set by --pairs or --tsv"
        )
    return data, test


def load_run(folder: Path) -> tuple[Data, int]:
    """Where a run's pairs come from, and on how many threads it was started.

    Args:
        folder: the run's, with a `run.json`.

    Returns:
        The data, and the number of threads.

    Raises:
        CheckpointError: if `run.json` is missing or damaged.
    """
    path = folder / "run.json"
    if not path.exists():
        raise CheckpointError(
            f"{path} is missing: {folder} is not a run of this command; a translator trained in Python "
            "is evaluated with --pairs or --tsv, and resumed in Python"
        )
    record = read_json(path)
    try:
        for name in ("files", "valid_files"):
            record["data"][name] = tuple(record["data"][name])
        return Data(**record["data"]), int(record["threads"])
    except (ValueError, TypeError, KeyError) as error:
        raise CheckpointError(f"{path} is damaged: {error}") from error
