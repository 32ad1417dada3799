"""Sentence pairs as ids in files that are memory-mapped (chapter 07): what `corpus.prepare` writes.

A shard is two arrays of NumPy: the lengths of its pairs, and the ids of all, one pair after the other, source
first. So a pair is two slices, and of a corpus of any size only what is being read is in memory.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, overload

import numpy as np
import numpy.typing as npt
import xxhash

from transformer_course.checkpoints import CheckpointError, read_sealed, replacing
from transformer_course.corpus.batches import FIRST_ID, Example, Lengths
from transformer_course.corpus.pairs import CorpusError, Pair
from transformer_course.corpus.readers import read_tsv

PLAN = "plan.json"  # it begins a folder, and the record completes it
RECORD = "prepared.json"


class Shard(Sequence[Example]):
    """The pairs of one shard; each is read from its file when it is asked for.

    Args:
        lengths: (n, 2) whole numbers: ids of each source and target.
        ids: (all ids,), a pair after the other.
    """

    def __init__(self, lengths: npt.NDArray[np.integer[Any]], ids: npt.NDArray[Any]) -> None:
        self.lengths: Lengths = np.array(lengths, np.int64)
        self.ids = ids
        self.ends = self.lengths.sum(axis=1).cumsum()

    def __len__(self) -> int:
        """Number of pairs."""
        return len(self.lengths)

    @overload
    def __getitem__(self, index: int) -> Example: ...

    @overload
    def __getitem__(self, index: slice) -> list[Example]: ...

    def __getitem__(self, index: int | slice) -> Example | list[Example]:
        """A pair as two lists of ids, without special tokens; of a slice, a list of pairs."""
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        end, (n_src, n_tgt) = int(self.ends[index]), self.lengths[index].tolist()
        ids = self.ids[end - n_src - n_tgt : end].tolist()
        return ids[:n_src], ids[n_src:]


class Shards:
    """A folder of `corpus.prepare`: the shards, and what is known of them.

    Args:
        folder: the folder.

    Raises:
        CheckpointError: if it isn't one, or not finished, or its record is damaged.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        path = self.folder / RECORD
        if not path.exists():
            raise CheckpointError(
                f"{path} is missing: {folder} holds no data of the command prepare, or only a part of it"
            )
        self.record = read_sealed(path)
        try:
            shards = self.record["shards"]
            self.names = [str(shard["name"]) for shard in shards]
            self.sizes = [int(shard["pairs"]) for shard in shards]
            self.longest = [
                max(of_shard) for of_shard in zip(*(s["longest"] for s in shards), strict=True)
            ]
            self.digest = xxhash.xxh3_128(
                " ".join(s["digest"] for s in shards).encode()
            ).hexdigest()
            self._digests = [shard["digest"] for shard in shards]
        except (KeyError, TypeError, ValueError) as error:
            raise CheckpointError(f"{path} is damaged: {error!r}") from error

    def __len__(self) -> int:
        """Number of pairs in all shards."""
        return sum(self.sizes)

    def texts(self, name: str) -> list[Pair]:
        """Pairs that the folder keeps as text.

        Args:
            name: "valid" or "test", which were held out, or "sample", of those to train on.

        Returns:
            The pairs; none to test on if there were too few.

        Raises:
            CorpusError: if the file is missing or damaged.
        """
        path = self.folder / f"{name}.tsv"
        if not path.exists():
            raise CorpusError(
                f"{path} is missing: put it back, or prepare the data in a new folder"
            )
        is_empty = not path.stat().st_size and not self.record.get(name)
        return [] if is_empty else read_tsv(path)

    def open(self, number: int) -> Shard:
        """Map a shard into memory, and compare it with its digest.

        Args:
            number: which, from 0.

        Returns:
            Its pairs.

        Raises:
            CorpusError: if a file is missing, damaged, or was changed.
        """
        paths = shard_paths(self.folder, self.names[number])
        try:
            lengths, ids = (np.load(path, mmap_mode="r", allow_pickle=False) for path in paths)
            same = digest(lengths, ids) == self._digests[number]
        except (OSError, ValueError, EOFError) as error:
            raise CorpusError(
                f"{paths[0].parent / self.names[number]} can't be read: {error}"
            ) from error
        if not same:
            raise CorpusError(f"{paths[1]} was changed since it was written, or its lengths were")
        return Shard(lengths, ids)


def shard_paths(folder: Path, name: str) -> tuple[Path, Path]:
    """The two files of a shard.

    Args:
        folder: where it is.
        name: of the shard.

    Returns:
        The file of lengths, and that of ids.
    """
    return folder / f"{name}.lengths.npy", folder / f"{name}.ids.npy"


def write_shard(folder: Path, name: str, examples: Sequence[Example], n_ids: int) -> dict[str, Any]:
    """Write a shard, each file whole or not at all.

    Args:
        folder: where it goes.
        name: of the shard.
        examples: its pairs, as ids without special tokens, each 3 or more; at least one pair.
        n_ids: how many ids there are; up to 65,536 take two bytes each.

    Returns:
        What the record keeps of it: "name", "pairs", "longest" (source, target, both together) and "digest".

    Raises:
        CheckpointError: if a file can't be written.
        ValueError: if there is the id of a special token.
    """
    flat: Iterable[int] = (entry for pair in examples for side in pair for entry in side)
    ids = np.fromiter(flat, np.uint16 if n_ids <= 1 << 16 else np.uint32)
    if ids.min(initial=FIRST_ID) < FIRST_ID:
        raise ValueError(f"examples hold an id below {FIRST_ID}, of a special token")
    lengths = np.array([[len(src), len(tgt)] for src, tgt in examples], np.uint16)
    for path, array in zip(shard_paths(folder, name), (lengths, ids), strict=True):
        with replacing(path) as temporary, temporary.open("wb") as file:
            np.save(file, array, allow_pickle=False)
    both = lengths.astype(np.int64)
    longest = [*both.max(axis=0).tolist(), int(both.sum(axis=1).max())]
    return {
        "name": name,
        "pairs": len(examples),
        "longest": longest,
        "digest": digest(lengths, ids),
    }


def digest(*arrays: npt.NDArray[Any]) -> str:
    """A fingerprint of arrays.

    Args:
        *arrays: of any shapes.

    Returns:
        Hexadecimal digits.
    """
    state = xxhash.xxh3_128()
    for array in arrays:
        state.update(f"{array.dtype} {array.shape}".encode())
        state.update(np.ascontiguousarray(array).data)
    return state.hexdigest()
