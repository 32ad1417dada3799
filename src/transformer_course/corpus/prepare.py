"""A corpus of any size made ready for training (chapter 07): cleaned, cut into subwords, in shards on the disk.

1. Blocks of lines are cleaned (`corpus.cleaning`). What stays of a block is a file, sorted by a hash of the
   source.
2. Each shard is a range of that hash: a random sample of the corpus, in which all pairs of a source meet, and
   so do duplicates. The lowest hashes are held out. The subwords are learnt from the first shards.
3. The pairs of each shard go through the vocabulary, and are written (`corpus.shards`).

Blocks and shards are done by several processes, each file whole or not at all. Started again, it goes on with
what is missing, and the result is the same. In memory are a block or a shard for each process, and once the
sample that the subwords are learnt from.
"""

import hashlib
import json
import math
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import xxhash

from transformer_course.checkpoints import (
    read_json,
    read_sealed,
    replacing,
    write_atomically,
    write_json,
    write_sealed,
)
from transformer_course.corpus.bilingual import Sides, read_bilingual
from transformer_course.corpus.cleaning import REASONS, main_script, reason_to_drop, too_many
from transformer_course.corpus.pairs import CorpusError
from transformer_course.corpus.shards import PLAN, RECORD, write_shard
from transformer_course.corpus.sharing import abandoned, share_out
from transformer_course.corpus.vocabulary import LARGEST, Vocabulary

Texts = list[tuple[str, str]]

_FIRST = 10_000  # pairs that decide which scripts are right
_SAMPLE = 500_000  # pairs that subwords are learnt from
_SHOWN = 10_000  # pairs that are kept as text, to see what translations depend on
_HASHES = 1 << 64


@dataclass(frozen=True)
class _Plan:
    files: tuple[str, ...]
    languages: str
    sizes: tuple[int, ...]  # of the files, in bytes
    scripts: tuple[str, str]
    vocab_size: int
    lines_per_block: int
    pairs_per_shard: int
    digests: tuple[str, ...] = ()  # of the files; plans of before have none


def check_wishes(
    files: Sequence[str], folder: str | Path, languages: str = "", vocab_size: int = 32_000
) -> None:
    """Refuse what `prepare` can't do, as far as the beginning of the files shows; nothing is written.

    Args:
        files: as for `prepare`.
        folder: the same.
        languages: the same.
        vocab_size: the same.

    Raises:
        CorpusError: if a file can't be read, or the folder holds something else.
        ValueError: if there aren't one file or two, `languages` don't fit, or `vocab_size` is out of range.
    """
    if not 259 <= vocab_size <= LARGEST:
        raise ValueError(f"vocab_size ({vocab_size}) must be 259 or more and at most {LARGEST:,}")
    for name in files:
        if Path(name).exists() and not Path(name).is_file():
            raise CorpusError(f"{name} is no file that can be read several times")
    _beginning(files, languages)
    strange = [p.name for p in Path(folder).glob("*") if not p.name.startswith(".")]
    if strange and PLAN not in strange:
        raise CorpusError(f"{folder} holds other files ({strange[0]}): choose a new folder")


def prepare(
    files: Sequence[str],
    folder: str | Path,
    *,
    languages: str = "",
    vocab_size: int = 32_000,
    processes: int = 1,
    begin: Callable[[str], None] = lambda part: None,
    lines_per_block: int = 50_000,
    pairs_per_shard: int = 100_000,
) -> dict[str, Any]:
    """Clean a corpus, learn its subwords, and write it as ids; or go on with that.

    Args:
        files: as for `read_bilingual`.
        folder: new or empty, or one in which the same was begun.
        languages: as for `read_bilingual`.
        vocab_size: subwords of both languages together, 259 to a million.
        processes: how many work.
        begin: called with the name of each part.
        lines_per_block: pairs that are cleaned together.
        pairs_per_shard: about how many pairs a shard has.

    Returns:
        The record that the folder keeps. Of the pairs that were "read", some are in the shards ("pairs"), some
        held out ("valid" and "test"), and the others counted under "dropped" by their reason. So many of those
        in the shards are kept as text, too ("sample").

    Raises:
        CorpusError: if a file can't be read, too little is left, the folder holds something else, a file was
            changed since the folder was begun, or a process has ended before its work was done.
        CheckpointError: if a file can't be written.
        ValueError: if `vocab_size` or another number is too small, or `vocab_size` too large.

    """
    for name, number in (
        ("processes", processes),
        ("lines_per_block", lines_per_block),
        ("pairs_per_shard", pairs_per_shard),
    ):
        if number < 1:
            raise ValueError(f"{name} ({number}) must be 1 or more")
    check_wishes(files, folder, languages, vocab_size)
    folder = Path(folder)
    begin("looking at the files")
    _vocabulary.cache_clear()  # of another corpus that was in this folder
    plan = _made_plan(tuple(files), languages, vocab_size, lines_per_block, pairs_per_shard)
    _begin_or_go_on(folder, plan)
    if not (folder / RECORD).exists():
        if not _all_cleaned(folder):
            begin("cleaning")
            share_out(_clean_share, folder, processes)
        if not (folder / "parts" / "split.json").exists():
            begin("learning subwords")
            _split(folder, plan)
        begin("cutting into subwords")
        share_out(_encode_share, folder, processes)
        _finish(folder, plan)
    shutil.rmtree(folder / "parts", ignore_errors=True)
    return read_sealed(folder / RECORD)


def report_text(record: dict[str, Any]) -> str:
    """What became of each pair, for people.

    Args:
        record: what `prepare` returned.

    Returns:
        A line for each number; they add up to that of the pairs that were read.
    """
    lines = [
        ("pairs read", record["read"], ""),
        ("to train on", record["pairs"], f"shards: {len(record['shards'])}"),
        ("to validate on", record["valid"], ""),
        ("for evaluate", record["test"], ""),
    ]
    for reason, count in record["dropped"].items():
        first = record["first"].get(reason)
        where = f"; the first is pair {first:,}" if first else ""
        lines.append((f"left out: {reason}", count, REASONS[reason] + where))
    return "\n".join(f"{name:<22}{count:>13,}   {what}".rstrip() for name, count, what in lines)


def _made_plan(
    files: tuple[str, ...], languages: str, vocab_size: int, block: int, shard: int
) -> _Plan:
    first = _beginning(files, languages)
    scripts = main_script(src for src, _ in first), main_script(tgt for _, tgt in first)
    sizes = tuple(Path(name).stat().st_size for name in files)
    digests = tuple(map(_digest, files))
    return _Plan(files, languages, sizes, scripts, vocab_size, block, shard, digests)


def _beginning(files: Sequence[str], languages: str) -> list[Sides]:
    return list(islice(read_bilingual(tuple(files), languages), _FIRST))


def _digest(name: str) -> str:
    with open(name, "rb") as file:
        return hashlib.file_digest(file, xxhash.xxh3_128).hexdigest()


def _begin_or_go_on(folder: Path, plan: _Plan) -> None:
    """Write the plan down; refuse a folder with another one."""
    wanted = json.loads(json.dumps(asdict(plan)))
    path = folder / PLAN
    if not path.exists():
        write_sealed(path, wanted)
    begun = read_sealed(path)
    digests = begun.pop("digests", ())
    same_files = begun["files"] == wanted["files"]
    for name, before, now in zip(plan.files, digests, plan.digests, strict=False):
        if same_files and before != now:
            raise CorpusError(f"{name} was changed since {folder} was begun: choose a new folder")
    for name, value in begun.items():
        if wanted[name] != value:
            raise CorpusError(
                f"{folder} was begun with {name} = {value!r}, not {wanted[name]!r}: choose a new folder"
            )


def _plan_of(folder: Path) -> _Plan:
    record = read_sealed(folder / PLAN)
    lists: dict[str, Any] = {n: tuple(v) for n, v in record.items() if isinstance(v, list)}
    return _Plan(**record | lists)


# Blocks


def _block_path(folder: Path, number: int) -> Path:
    return folder / "parts" / f"block-{number:06}.json"


def _clean_share(folder: Path, rank: int, count: int) -> None:
    """Clean every `count`-th block; each process reads all files."""
    plan, number, read = _plan_of(folder), 0, 0
    for number, block in enumerate(_blocks(plan), 1):
        path = _block_path(folder, number)
        if abandoned():
            return
        if number % count == rank and not path.exists():
            _clean(path, block, read + 1, plan.scripts)
        read += len(block)
    if rank == 0:
        write_json(folder / "parts" / "read.json", {"blocks": number, "read": read})


def _all_cleaned(folder: Path) -> bool:
    """Whether all blocks are there; the process that counts them may end before the others."""
    path = folder / "parts" / "read.json"
    if not path.exists():
        return False
    return all(_block_path(folder, n + 1).exists() for n in range(read_json(path)["blocks"]))


def _blocks(plan: _Plan) -> Iterator[list[Sides]]:
    pairs = read_bilingual(plan.files, plan.languages)
    while block := list(islice(pairs, plan.lines_per_block)):
        yield block


def _clean(path: Path, block: Iterable[Sides], number: int, scripts: tuple[str, str]) -> None:
    """Write what stays of a block, in the order of the sources' hashes, and what was left out."""
    counts: Counter[str] = Counter()
    first: dict[str, int] = {}
    kept: list[tuple[int, bytes]] = []
    for place, sides in enumerate(block, number):
        source, target, reason = reason_to_drop(sides, scripts)
        if reason:
            counts[reason] += 1
            first.setdefault(reason, place)
        else:
            line = f"{source}\t{target}\n".encode()
            kept.append((xxhash.xxh3_64_intdigest(source.encode()), line))
    kept.sort(key=lambda pair: pair[0])
    ends = np.fromiter((len(line) for _, line in kept), np.uint64, len(kept)).cumsum()
    index = np.stack([np.fromiter((h for h, _ in kept), np.uint64, len(kept)), ends])
    write_atomically(path.with_suffix(".tsv"), b"".join(line for _, line in kept))
    with replacing(path.with_suffix(".npy")) as temporary, temporary.open("wb") as file:
        np.save(file, index, allow_pickle=False)
    # Last, as a sign that the block is there.
    write_json(path, {"kept": len(kept), "dropped": counts, "first": first})


def _gathered(
    folder: Path, blocks: int, low: int, high: int
) -> tuple[npt.NDArray[np.uint64], Texts]:
    """The hashes and pairs of a range of hashes, `high` not included, in their order, from all blocks."""
    hashes, texts = [np.empty(0, np.uint64)], []
    for number in range(1, blocks + 1):
        path = _block_path(folder, number)
        known, ends = np.load(path.with_suffix(".npy"), mmap_mode="r", allow_pickle=False)
        start = int(np.searchsorted(known, np.uint64(low)))
        end = len(known) if high == _HASHES else int(np.searchsorted(known, np.uint64(high)))
        if start < end:
            place = int(ends[start - 1]) if start else 0
            with path.with_suffix(".tsv").open("rb") as file:
                file.seek(place)
                lines = file.read(int(ends[end - 1]) - place).decode().split("\n")[:-1]
            texts += [tuple(line.split("\t")) for line in lines]
            hashes.append(np.array(known[start:end]))
    together = np.concatenate(hashes)
    order = np.argsort(together, kind="stable")
    return together[order], [texts[i] for i in order.tolist()]


# Shards


@dataclass(frozen=True)
class _Split:
    blocks: int
    shards: int
    after: int  # hashes from here on are trained on
    dropped: dict[str, int]  # of what was held out
    valid: int
    test: int
    sample: int = 0  # not yet counted by the first versions

    def range(self, number: int) -> tuple[int, int]:
        """The hashes of a shard."""
        low, high = (n * _HASHES // self.shards for n in (number, number + 1))
        return max(low, self.after), high


def _split(folder: Path, plan: _Plan) -> None:
    """Hold pairs out, learn the subwords, and write down which shards there will be."""
    parts = folder / "parts"
    blocks = read_json(parts / "read.json")["blocks"]
    cleaned = [read_json(_block_path(folder, n + 1)) for n in range(blocks)]
    kept = sum(block["kept"] for block in cleaned)
    shards = max(1, math.ceil(kept / plan.pairs_per_shard))
    hashes, texts = _gathered(folder, blocks, 0, _HASHES // shards)
    sources = np.unique(hashes)
    if len(sources) < 2:
        raise CorpusError(
            f"{' and '.join(plan.files)}: after cleaning, {kept} pairs with {len(sources)} different sources "
            f"are left in the first part; there must be 2 or more, to hold one out"
            f"{_left_out(plan, [block['dropped'] for block in cleaned])}"
        )
    valid, test = _held_out(len(sources), len(sources) * shards)
    after_valid, after = (int(sources[n - 1]) + 1 for n in (valid, valid + test))
    split = _Split(blocks, shards, after, {}, 0, 0)
    vocabulary = _learn(folder, split, plan.vocab_size)
    bounds = np.searchsorted(hashes, np.array([after_valid, after], np.uint64)).tolist()
    dropped: Counter[str] = Counter()
    written = {}
    for name, some in (
        ("valid", texts[: bounds[0]]),
        ("test", texts[bounds[0] : bounds[1]]),
        ("sample", texts[bounds[1] :][:_SHOWN]),
    ):
        fit, left_out = _fit(vocabulary, some)
        lines = "".join(f"{source}\t{target}\n" for (source, target), _ in fit)
        write_atomically(folder / f"{name}.tsv", lines.encode())
        written[name] = len(fit)
        dropped += left_out if name != "sample" else Counter()
    record = asdict(split) | {
        "dropped": dropped,
        "valid": written["valid"],
        "test": written["test"],
        "sample": written["sample"],
    }
    write_json(parts / "split.json", record)


def _left_out(plan: _Plan, dropped: Iterable[dict[str, int]]) -> str:
    """How many pairs were left out for which reason, and what was wrong with the first that can't be read."""
    counts: Counter[str] = Counter()
    for part in dropped:
        counts.update(part)
    told = [
        f"{reason} {counts[reason]:,} ({why})" for reason, why in REASONS.items() if counts[reason]
    ]
    sides = (side for pair in _beginning(plan.files, plan.languages) for side in pair)
    first = next((side for side in sides if isinstance(side, CorpusError)), None)
    hint = f"; the first that can't be read: {first}" if first else ""
    return f"; left out: {', '.join(told)}{hint}" if told else ""


def _held_out(here: int, everywhere: int) -> tuple[int, int]:
    """How many sources are held out, to validate and to test: as `split_pairs`, a half of `here` at most."""
    held = min(everywhere // 10, max(20, everywhere // 50), 1000, here // 4)
    return max(1, held), held if everywhere >= 10 else 0


def _learn(folder: Path, split: _Split, size: int) -> Vocabulary:
    """The vocabulary of the first shards; if these aren't all, it doesn't claim to know all words."""
    lines: list[str] = []
    number = 0
    while number < split.shards and len(lines) < 2 * _SAMPLE:
        _, texts = _gathered(folder, split.blocks, *split.range(number))
        lines += [text for pair in texts for text in pair]
        number += 1
    vocabulary = Vocabulary.train(lines, size, remember=number == split.shards)
    with replacing(folder / "vocabulary.json") as temporary:
        vocabulary.save(temporary)
    return vocabulary


def _fit(
    vocabulary: Vocabulary, texts: Texts
) -> tuple[list[tuple[tuple[str, str], tuple[list[int], list[int]]]], Counter[str]]:
    """Each pair once, with its ids, if it isn't too long; and how many were left out."""
    once = list(dict.fromkeys(texts))
    sides = [vocabulary.encode([pair[side] for pair in once]) for side in (0, 1)]
    all_pairs = list(zip(once, zip(*sides, strict=True), strict=True))
    fit = [pair for pair in all_pairs if not too_many(*map(len, pair[1]))]
    left_out = {"subwords": len(once) - len(fit), "duplicate": len(texts) - len(once)}
    return fit, Counter(left_out)


@lru_cache(maxsize=1)
def _vocabulary(path: Path) -> Vocabulary:
    return Vocabulary.load(path)


def _encode_share(folder: Path, rank: int, count: int) -> None:
    """Write every `count`-th shard."""
    split = _Split(**read_json(folder / "parts" / "split.json"))
    vocabulary = _vocabulary(folder / "vocabulary.json")
    for number in range(rank, split.shards, count):
        done = folder / "parts" / f"shard-{number:06}.json"
        if abandoned():
            return
        if not done.exists():
            _, texts = _gathered(folder, split.blocks, *split.range(number))
            fit, left_out = _fit(vocabulary, texts)
            examples = [ids for _, ids in fit]
            known = (
                write_shard(folder, f"shard-{number:06}", examples, len(vocabulary))
                if fit
                else None
            )
            write_json(done, {"shard": known, "dropped": left_out})


def _finish(folder: Path, plan: _Plan) -> None:
    """Write the record, with which the folder is complete."""
    parts = folder / "parts"
    split = _Split(**read_json(parts / "split.json"))
    read = read_json(parts / "read.json")["read"]
    blocks = [read_json(_block_path(folder, n + 1)) for n in range(split.blocks)]
    shards = [read_json(parts / f"shard-{n:06}.json") for n in range(split.shards)]
    known = [shard["shard"] for shard in shards if shard["shard"]]
    dropped: Counter[str] = Counter(split.dropped)
    for part in [*blocks, *shards]:
        dropped.update(part["dropped"])
    first: dict[str, int] = {}
    for block in blocks:
        first = block["first"] | first
    if not known:
        raise CorpusError(
            f"{' and '.join(plan.files)}: no pair is left to train on{_left_out(plan, [dropped])}"
        )
    record = {
        "read": read,
        "pairs": sum(shard["pairs"] for shard in known),
        "valid": split.valid,
        "test": split.test,
        "sample": split.sample,
        "dropped": {reason: dropped[reason] for reason in REASONS},
        "first": first,
        "vocabulary": _vocabulary(folder / "vocabulary.json").digest,
        "shards": known,
    }
    for path in folder.glob(".*.tmp"):  # of processes that were killed
        path.unlink()
    write_sealed(folder / RECORD, record)
