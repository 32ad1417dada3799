"""Training from shards on the disk (chapter 07): batches of one shard after the other."""

from bisect import bisect
from collections.abc import Sequence
from itertools import accumulate

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from transformer_course.corpus.batches import (
    BOS_ID,
    EOS_ID,
    PAD_ID,
    Lengths,
    batches_of_lengths,
)
from transformer_course.corpus.shards import Shard, Shards


class ShardBatches:
    """Shards as `Batches`: what the trainer calls an epoch is one shard here, and they come in turn.

    A shard is a random sample of the corpus (`corpus.prepare`), so no batch needs pairs of two shards. Inside
    of one, they are shuffled as those of `PairBatches`. One shard at a time is in memory.

    Args:
        shards: the data.
        max_tokens: the most positions in a batch, padding included, source and target together.
        max_len: the longest sentence on either side, with one special token.

    Raises:
        ValueError: if a pair is too long for `max_len` or `max_tokens`.
    """

    def __init__(self, shards: Shards, max_tokens: int, max_len: int) -> None:
        self.shards, self.max_tokens, self.max_len = shards, max_tokens, max_len
        src, tgt, both = shards.longest
        if max(src, tgt) + 1 > max_len or both + 3 > max_tokens:
            raise ValueError(
                f"{shards.folder} has sentences of {max(src, tgt)} subwords and pairs of {both}: with special "
                f"tokens more than the model takes ({max_len}), or than max_tokens ({max_tokens})"
            )
        self._starts = [0, *accumulate(shards.sizes)]
        self._open: tuple[int, Shard] | None = None

    def epoch(self, seed: int | None = None) -> list[list[int]]:
        """The batches of one shard.

        Args:
            seed: decides which shard, so that as many seeds in a row as there are shards give each once; and
                the order. None gives the batches of all shards, short sentences first in each.

        Returns:
            The members of each batch, as numbers among all pairs.
        """
        n = len(self.shards.sizes)
        if seed is None:
            return [batch for number in range(n) for batch in self._batches(number, None)]
        return self._batches(seed % n, seed)

    def _batches(self, number: int, seed: int | None) -> list[list[int]]:
        start, lengths = self._starts[number], self._shard(number).lengths
        batches = batches_of_lengths(lengths, self.max_tokens, seed=seed, max_len=self.max_len)
        return [[start + row for row in batch] for batch in batches]

    def _shard(self, number: int) -> Shard:
        if self._open is None or self._open[0] != number:
            self._open = None  # its memory first
            self._open = number, self.shards.open(number)
        return self._open[1]

    def _place(self, batch: Sequence[int]) -> tuple[Shard, list[int]]:
        """The shard of a batch, and the rows in it."""
        number = bisect(self._starts, batch[0]) - 1
        return self._shard(number), [index - self._starts[number] for index in batch]

    def tensors(self, batch: Sequence[int]) -> tuple[Tensor, ...]:
        """The pairs of a batch, padded, as `corpus.batches.collate` does, but for all rows at once.

        Args:
            batch: one that `epoch` gave, or a part of one.

        Returns:
            src (batch, src_len) and tgt (batch, tgt_len), both int64.
        """
        shard, rows = self._place(batch)
        n_src, n_tgt = shard.lengths[rows].T
        middle = shard.ends[rows] - n_tgt  # where sources end and targets begin
        src = _padded(shard.ids, middle - n_src, n_src)
        tgt = _padded(shard.ids, middle, n_tgt)
        return torch.from_numpy(src), functional.pad(torch.from_numpy(tgt), (1, 0), value=BOS_ID)

    def n_predicted(self, batch: Sequence[int]) -> int:
        """Target tokens that the decoder must predict, </s> included.

        Args:
            batch: one that `epoch` gave, or a part of one.

        Returns:
            Their number.
        """
        shard, rows = self._place(batch)
        return int(shard.lengths[rows, 1].sum()) + len(rows)

    @property
    def digest(self) -> str:
        """A fingerprint of all pairs, in their order."""
        return self.shards.digest


def _padded(ids: npt.NDArray[np.integer], starts: Lengths, lengths: Lengths) -> Lengths:
    """Rows of ids, each with </s> behind, padded on the right."""
    columns = np.arange(lengths.max() + 1)
    inside = columns < lengths[:, None]
    rows = np.full(inside.shape, PAD_ID, np.int64)
    rows[inside] = ids[(starts[:, None] + columns)[inside]]
    rows[np.arange(len(rows)), lengths] = EOS_ID
    return rows
