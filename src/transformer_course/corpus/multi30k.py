"""Multi30k: captions of photographs in English, German and French (chapter 15).

29,000 sentences to train on, 1,014 to validate on, and the 1,000 of the 2016 test set, each in
three languages: Elliott et al. 2016 (doi 10.18653/v1/W16-3210) for English and German, Elliott et
al. 2017 (doi 10.18653/v1/W17-4718) for French. The text is for research and education only; this
package holds none of it, and neither should your repository.

The files come from a folder of yours or, only when a function here is called without one, from
commits of https://github.com/multi30k/dataset that are fixed below. Either way the text must have
the SHA-256 listed in multi30k.tsv, so that scores of two people are scores on the same text. What
stands behind the list: the nine raw files have the MD5 sums that torchtext published for the files
of that repository. Of the nine tokenised ones only the lengths were compared with the repository's;
should one of them differ there after all, its download is refused, never used.
"""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from transformer_course.corpus.normal_form import normalise
from transformer_course.corpus.pairs import CorpusError, Pair
from transformer_course.corpus.readers import PathLike, read_bytes

SPLITS = ("train", "val", "test_2016_flickr")
LANGUAGES = ("de", "en", "fr")
FORMS = ("lc.norm.tok", "raw")

_REPOSITORY = "https://raw.githubusercontent.com/multi30k/dataset"
_COMMITS = {
    "raw": "a3d2e0d26b56f3846f66a952536ffed4e401d05a",
    "tok": "7bee46bc74186b4b6254603143610f730d40bf66",
}
_CACHE_VARIABLE = "TRANSFORMER_COURSE_CACHE"


def load(
    split: str, language: str, folder: PathLike | None = None, form: str = "lc.norm.tok"
) -> list[str]:
    """Load the sentences of one split in one language.

    English and German: Elliott et al. 2016. French: Elliott et al. 2017.

    Args:
        split: "train", "val" or "test_2016_flickr".
        language: "de", "en" or "fr".
        folder: where the files are, each plain or gzip, under their own names, such as
            train.lc.norm.tok.en.gz or train.en. None downloads what is not yet in the cache: the
            user's cache folder, or the one that the variable TRANSFORMER_COURSE_CACHE names.
        form: "lc.norm.tok" (lower case, normalised and tokenised by the authors, in which published
            scores are given) or "raw".

    Returns:
        The sentences in the order of the file, each brought to one form by `normal_form.normalise`.

    Raises:
        ValueError: if split, language or form is not one of those above.
        CorpusError: if the folder or the file in it is missing or cannot be read, the text is not the
            published one, or it cannot be downloaded.
        ImportError: if it must be downloaded and the package pooch is not installed.
    """
    return _load_all(split, [language], folder, form)[0]


def load_pairs(
    split: str,
    source: str,
    target: str,
    folder: PathLike | None = None,
    form: str = "lc.norm.tok",
) -> list[Pair]:
    """Load one split as pairs of a sentence and its translation.

    English and German: Elliott et al. 2016. French: Elliott et al. 2017.

    Args:
        split: "train", "val" or "test_2016_flickr".
        source: the language to translate from: "de", "en" or "fr".
        target: the language to translate into, another one.
        folder: where the files are, as for `load`; downloaded if left out.
        form: "lc.norm.tok" or "raw", as for `load`.

    Returns:
        One pair a line of the files, in their order.

    Raises:
        ValueError: if source and target are one language, or split, language or form is not one of
            those above.
        CorpusError: as `load` does.
        ImportError: as `load` does.
    """
    if source == target:
        raise ValueError(f"source and target ({source!r}) must be two languages")
    sources, targets = _load_all(split, [source, target], folder, form)
    return [Pair(src, (tgt,)) for src, tgt in zip(sources, targets, strict=True)]


def _load_all(
    split: str, languages: Sequence[str], folder: PathLike | None, form: str
) -> list[list[str]]:
    """Load one split in several languages, after checking that all of it is there."""
    _check("split", split, SPLITS)
    _check("form", form, FORMS)
    for language in languages:
        _check("language", language, LANGUAGES)
    hashes = _hashes()
    files = [_published_name(split, language, form) for language in languages]
    if folder is None:
        paths = [_download(file, hashes) for file in files]
    else:
        paths = _find(Path(folder), split, languages, form)
    return [_sentences(path, hashes[file][1]) for path, file in zip(paths, files, strict=True)]


def _check(name: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} ({value!r}) must be one of {', '.join(allowed)}")


def _published_name(split: str, language: str, form: str) -> str:
    """Name of a file below data/task1 of the repository."""
    if form == "raw":
        return f"raw/{split}.{language}.gz"
    return f"tok/{split}.{form}.{language}"


def _local_name(split: str, language: str, form: str) -> str:
    return Path(_published_name(split, language, form)).name.removesuffix(".gz")


def _hashes() -> dict[str, tuple[str, str]]:
    """SHA-256 of each published file and of the text in it, by the file's published name."""
    table = Path(__file__).with_name("multi30k.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in table.splitlines()[1:]]
    return {name: (of_file, of_text) for name, of_file, of_text in rows}


def _find(folder: Path, split: str, languages: Sequence[str], form: str) -> list[Path]:
    """Find the files in a folder; if one is missing, name all that is missing in its languages."""
    if not folder.is_dir():
        raise CorpusError(f"{folder}: there is no such folder")

    def find(split: str, language: str) -> Path | None:
        name = _local_name(split, language, form)
        candidates = (folder / f"{name}.gz", folder / name)
        return next((path for path in candidates if path.is_file()), None)

    paths = [path for language in languages if (path := find(split, language))]
    if len(paths) < len(languages):
        missing = [
            _local_name(other, language, form)
            for other in SPLITS
            for language in languages
            if find(other, language) is None
        ]
        raise CorpusError(f"{folder}: lacks {', '.join(missing)} (plain or with .gz)")
    return paths


def _download(file: str, hashes: dict[str, tuple[str, str]]) -> Path:
    """Fetch a file into the cache, unless it is there already."""
    from pooch.core import create
    from pooch.utils import os_cache

    kind = file.partition("/")[0]
    url = f"{_REPOSITORY}/{_COMMITS[kind]}/data/task1/{file}"
    cache = create(
        path=os_cache("transformer-course"),
        base_url="",
        env=_CACHE_VARIABLE,
        registry={f"multi30k/{file}": f"sha256:{hashes[file][0]}"},
        urls={f"multi30k/{file}": url},
    )
    try:
        return Path(cache.fetch(f"multi30k/{file}"))
    except (OSError, ValueError) as error:
        raise CorpusError(
            f"{Path(file).name}: cannot be downloaded from {url} ({_reason(error)}); with a copy "
            f"of the files at hand, name its folder instead"
        ) from error


def _reason(error: OSError | ValueError) -> str:
    """Why a download failed, in a few words: what requests says runs over several lines."""
    if not isinstance(error, OSError):
        return "what came is not the listed file, its SHA-256 differs"
    status = getattr(getattr(error, "response", None), "status_code", None)
    return f"the server answered {status}" if status else f"no answer: {type(error).__name__}"


def _sentences(path: Path, sha256: str) -> list[str]:
    """Read a file and split it into sentences, if it holds the published text."""
    data = read_bytes(path).replace(b"\r\n", b"\n")  # as git may have written it on Windows
    if hashlib.sha256(data).hexdigest() != sha256:
        raise CorpusError(
            f"{os.fspath(path)}: is not the published text of Multi30k (its SHA-256 does not begin "
            f"with {sha256[:12]}); other text can be read with read_pairs"
        )
    return [normalise(line) for line in data.decode("utf-8").removesuffix("\n").split("\n")]
