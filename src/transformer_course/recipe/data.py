"""The sentence pairs of a run (chapter 07): where they come from, how they are split, and as ids."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from transformer_course.corpus import multi30k
from transformer_course.corpus.batches import Example
from transformer_course.corpus.pairs import CorpusError, Pair
from transformer_course.corpus.readers import read_pairs, read_tsv
from transformer_course.corpus.shards import Shards
from transformer_course.corpus.vocabulary import Vocabulary
from transformer_course.recipe.settings import RECIPES

# Which corpus uses what; the others would ignore it.
USED_BY = {
    "n_pairs": ("grammar", "everyday"),
    "folder": ("multi30k",),
    "languages": ("grammar", "everyday", "multi30k"),
    "form": ("multi30k",),
}
WRITTEN = ("grammar", "everyday")  # by rules, as many pairs as are asked for
# From which language into which; the first is taken if nothing is said.
LANGUAGES = {
    "grammar": ("en-fr", "fr-en"),
    "everyday": ("en-fr", "fr-en"),
    "multi30k": ("en-de", "en-fr", "de-en", "fr-en", "de-fr", "fr-de"),
}


def uses(corpus: str, name: str) -> bool:
    """Whether a corpus uses a field of `Data`.

    Args:
        corpus: "grammar", "everyday" or "multi30k"; empty for files of one's own.
        name: the field.

    Returns:
        False if it would ignore it.

    >>> uses("grammar", "form")
    False
    """
    return corpus in USED_BY.get(name, (corpus,))


def check_use(corpus: str, given: Iterable[str]) -> None:
    """Refuse what a corpus would ignore.

    Args:
        corpus: "grammar", "everyday" or "multi30k"; empty for files of one's own.
        given: names of fields of `Data`.

    Raises:
        ValueError: naming the field, and the corpus it is for.

    >>> check_use("grammar", ["n_pairs"])
    """
    for name in sorted(given):
        if not uses(corpus, name):
            here = f"corpus {corpus!r}" if corpus else "files of your own"
            users = " or ".join(map(repr, USED_BY[name]))
            raise ValueError(f"{name} is for corpus {users}, {here} would ignore it")


@dataclass(frozen=True)
class Data:
    """Where sentence pairs come from; kept in a run's `run.json`.

    Args:
        corpus: "grammar", "everyday" or "multi30k"; empty for files of one's own.
        n_pairs: how many pairs of the grammar, or of everyday speech, to train on, 0 or more.
        files: two aligned files, or one tab-separated file.
        valid_files: the same for validation; parts of `files` are held out if there are none.
        folder: where the files of Multi30k are; downloaded if left out.
        languages: for these two "en-fr" or "fr-en", for Multi30k "en-de" or another two of en, de and fr.
            Left out, it becomes the first of these; it stays empty for files of one's own.
        form: "lc.norm.tok" or "raw", for Multi30k.
        prepared: a folder that `corpus.prepare` wrote.

    Raises:
        ValueError: if a field is of another type, there is no such corpus, more than one of a corpus, files and
            a prepared folder is given, there are files to validate on but none to train on, the corpus hasn't
            these `languages`, or it would ignore what is set.
    """

    corpus: str = ""
    n_pairs: int = 345_000
    files: tuple[str, ...] = ()
    valid_files: tuple[str, ...] = ()
    folder: str | None = None
    languages: str = ""
    form: str = "lc.norm.tok"
    prepared: str = ""

    def __post_init__(self) -> None:
        self._check_types()
        if self.corpus and self.corpus not in RECIPES:
            raise ValueError(f"corpus ({self.corpus!r}) must be {' or '.join(map(repr, RECIPES))}")
        if bool(self.corpus) + bool(self.files or self.valid_files) + bool(self.prepared) > 1:
            raise ValueError(
                "give either --corpus or files of your own or --data, not more of them"
            )
        if self.valid_files and not self.files:
            raise ValueError("files to validate on need files to train on, by --pairs or --tsv")
        defaults = Data.__dataclass_fields__
        check_use(self.corpus, {n for n in USED_BY if getattr(self, n) != defaults[n].default})
        if self.corpus:
            known = LANGUAGES[self.corpus]
            object.__setattr__(self, "languages", self.languages or known[0])
            if self.languages not in known:
                raise ValueError(f"languages ({self.languages!r}) must be {' or '.join(known)}")

    def _check_types(self) -> None:
        """A `run.json` may say anything: a number among the files would be the number of an open one."""
        for name in ("corpus", "languages", "form", "prepared"):
            if not isinstance(getattr(self, name), str):
                raise ValueError(f"{name} ({getattr(self, name)!r}) must be text")
        for name, given in (
            ("files", self.files),
            ("valid_files", self.valid_files),
            ("folder", (self.folder,) if self.folder is not None else ()),
        ):
            if not isinstance(given, tuple) or not all(isinstance(path, str) for path in given):
                raise ValueError(f"{name} ({given!r}) must be the names of files")
        if type(self.n_pairs) is not int:
            raise ValueError(f"n_pairs ({self.n_pairs!r}) must be a whole number")

    def load(self) -> tuple[list[Pair] | Shards, list[Pair], list[Pair]]:
        """Pairs to train on, to validate on, and, held out from files, to test on.

        Returns:
            The three lists, the first one of a prepared folder on the disk; no pairs to test on for a corpus by
            name, or where `valid_files` are given.

        Raises:
            CorpusError: if a file is missing, can't be downloaded, breaks a rule of `corpus.readers`, or has
                fewer than two different sources.
            CheckpointError: if the prepared folder isn't one, or isn't finished.
            ValueError: if `n_pairs` is negative, Multi30k lacks the form, or there is neither a
                corpus nor one or two files.
        """
        if self.corpus in WRITTEN:
            return self._written("train", self.n_pairs), self._written("valid", 1000), []
        if self.corpus == "multi30k":
            return self._multi30k("train"), self._multi30k("val"), []
        if self.prepared:
            shards = Shards(self.prepared)
            return shards, shards.texts("valid"), shards.texts("test")
        if self.valid_files:
            return read_files(self.files), read_files(self.valid_files), []
        pairs = read_files(self.files)
        try:
            return split_pairs(pairs)
        except ValueError as error:
            raise CorpusError(f"{' and '.join(self.files)}: {error}") from error

    def load_test(self) -> list[Pair]:
        """Pairs that training has not seen; of fr-en, a few French sources stand there beside other English.

        Returns:
            1,000 pairs of the test split of the grammar or of everyday speech, the 2016 test set of
            Multi30k, or what was held out from the files.

        Raises:
            CorpusError: as `load` does.
            ValueError: if nothing was held out from the files, or as `load` does.
        """
        if self.corpus in WRITTEN:
            return self._written("test", 1000)
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

    def _written(self, split: str, n: int) -> list[Pair]:
        # Every command would wait half a second for its lexicon.
        from transformer_course.corpus import everyday, grammar

        corpus = grammar if self.corpus == "grammar" else everyday
        pairs = corpus.generate(split, n, seed=0)
        return list(pairs if self.languages == "en-fr" else map(Pair.turned, pairs))

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


def split_pairs(pairs: Sequence[Pair]) -> tuple[list[Pair], list[Pair], list[Pair]]:
    """Split pairs into those to train on, to validate on, and to test on.

    Held out for validation and again for the test are 2 % of the sources: at least 20, but never more than a
    tenth, and at most 1,000. With fewer than ten sources, one is for validation and none for the test. Pairs of
    one source stay together, so that nothing held out was seen in training. Which ones are held out depends on
    the sentences alone, not on their order.

    Args:
        pairs: with at least two different sources.

    Returns:
        Training, validation and test pairs, each in the order of `pairs`.

    Raises:
        ValueError: if there are fewer than two different sources.

    >>> pairs = [Pair(f"sentence {i}", (f"phrase {i}",)) for i in range(500)]
    >>> [len(part) for part in split_pairs(pairs)]
    [460, 20, 20]
    """
    sources = {pair.source for pair in pairs}
    if len(sources) < 2:
        raise ValueError(
            f"pairs have {len(sources)} different sources; there must be 2 or more, to hold one out"
        )
    held = max(1, min(len(sources) // 10, max(20, len(sources) // 50), 1000))
    drawn = sorted(sources, key=lambda source: hashlib.sha256(source.encode()).digest())
    valid = set(drawn[:held])
    test = set(drawn[held : 2 * held]) if len(sources) >= 10 else set()
    held_out = valid | test
    return (
        [pair for pair in pairs if pair.source not in held_out],
        [pair for pair in pairs if pair.source in valid],
        [pair for pair in pairs if pair.source in test],
    )


def encode_pairs(vocabulary: Vocabulary, pairs: Sequence[Pair]) -> list[Example]:
    """Source and first translation of each pair as lists of ids, without special tokens.

    Args:
        vocabulary: the subwords of both languages.
        pairs: the sentences.

    Returns:
        One (source ids, target ids) a pair, in the order of `pairs`.

    Raises:
        ValueError: if a sentence is no text that UTF-8 can write.
    """
    sources = vocabulary.encode([pair.source for pair in pairs])
    targets = vocabulary.encode([pair.target for pair in pairs])
    return list(zip(sources, targets, strict=True))


def digest(pairs: Sequence[Pair]) -> str:
    """A fingerprint of pairs, by which `load_held_out` knows them again.

    Args:
        pairs: any number of them, in any order.

    Returns:
        A SHA-256 of all sources and translations, in hexadecimal digits.
    """
    texts = sorted(json.dumps([pair.source, *pair.targets]) for pair in pairs)
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()
