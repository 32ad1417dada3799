"""Batches by token budget: sentences of like length together, padded, as tensors (chapter 07).

An example is a pair of lists of subword ids without special tokens. `token_batches` decides which
examples share a batch, `collate` makes the tensors, and `padding_share` says what the grouping
saved.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

Example = tuple[list[int], list[int]]
Lengths = npt.NDArray[np.int64]

PAD_ID, BOS_ID, EOS_ID = 0, 1, 2
FIRST_ID = 3
_SRC_EXTRA, _TGT_EXTRA = 1, 2  # </s> after a source; <s> before and </s> after a target


@dataclass(frozen=True, slots=True)
class Batch:
    """Sentence pairs as two tensors of ids, each row padded with 0 to the longest of its tensor.

    Args:
        src: (batch, src_len) int64; each row the source and </s>.
        tgt: (batch, tgt_len) int64; each row <s>, the target and </s>. The decoder reads
            `tgt[:, :-1]` and has to predict `tgt[:, 1:]`.
    """

    src: torch.Tensor
    tgt: torch.Tensor

    def __len__(self) -> int:
        """Number of sentence pairs."""
        return self.src.shape[0]

    @property
    def n_src_tokens(self) -> int:
        """Source tokens, </s> included, padding not."""
        return int((self.src != PAD_ID).sum())

    @property
    def n_tgt_tokens(self) -> int:
        """Target tokens, <s> and </s> included, padding not; one a row fewer are predicted."""
        return int((self.tgt != PAD_ID).sum())


def token_batches(
    examples: Sequence[Example],
    max_tokens: int,
    *,
    seed: int | None = None,
    max_len: int | None = None,
) -> list[list[int]]:
    """Group examples of like length into batches of at most `max_tokens` padded positions.

    A batch of n examples fills n · (src_len + tgt_len) positions, where src_len and tgt_len are its
    widest rows as `collate` makes them, special tokens and padding included. Examples are sorted by
    source length and, within one source length, by target length, upwards and downwards in turn, so
    that neighbours stay close on both sides; then they are cut into batches one after the other.
    The paper, too, puts sentences of similar length together (Vaswani et al. 2017, §5.1).

    Args:
        examples: pairs of id lists, without special tokens.
        max_tokens: the most positions a batch may fill, source and target together.
        seed: None gives the same batches every time, short sentences first. A seed shuffles the
            batches, and the examples of equal lengths among them; one seed gives one order on
            every platform.
        max_len: the longest sentence allowed on either side, in ids and one special token (what an
            encoder or a decoder gets to see of it at once); None for no limit.

    Returns:
        One list of indices into `examples` a batch; every example is in exactly one.

    Raises:
        ValueError: if there are no examples, `seed` is negative, or an example is longer than
            `max_len` or fills more than `max_tokens` positions by itself.

    >>> examples = [([5, 6, 7], [5, 6]), ([8], [9]), ([5, 6], [7, 8]), ([9], [8])]
    >>> token_batches(examples, max_tokens=10)
    [[1, 3], [2], [0]]
    """
    if not examples:
        raise ValueError("examples is empty; there must be at least one")
    return batches_of_lengths(_lengths(examples), max_tokens, seed=seed, max_len=max_len)


def batches_of_lengths(
    lengths: Lengths, max_tokens: int, *, seed: int | None = None, max_len: int | None = None
) -> list[list[int]]:
    """Group examples of which only the lengths are known, as `token_batches` does (Vaswani et al. 2017, §5.1).

    Args:
        lengths: (n, 2) whole numbers: ids of the source and of the target, without special tokens.
        max_tokens: as for `token_batches`.
        seed: as for `token_batches`.
        max_len: as for `token_batches`.

    Returns:
        One list of rows of `lengths` a batch; every row is in exactly one.

    Raises:
        ValueError: as `token_batches` does.

    >>> batches_of_lengths(np.array([[3, 2], [1, 1], [2, 2], [1, 1]]), max_tokens=10)
    [[1, 3], [2], [0]]
    """
    src_len, tgt_len = lengths[:, 0] + _SRC_EXTRA, lengths[:, 1] + _TGT_EXTRA
    _check_lengths(src_len, tgt_len, max_tokens, max_len)
    if seed is None:
        return _cut(_by_length(src_len, tgt_len), src_len, tgt_len, max_tokens)
    if seed < 0:
        raise ValueError(f"seed ({seed}) must be 0 or more")
    stream = np.random.PCG64(seed)
    shuffled = _shuffled(len(lengths), stream)
    order = shuffled[_by_length(src_len[shuffled], tgt_len[shuffled])]
    batches = _cut(order, src_len, tgt_len, max_tokens)
    return [batches[i] for i in _shuffled(len(batches), stream)]


def collate(examples: Sequence[Example], indices: Sequence[int]) -> Batch:
    """Make a padded batch of the examples at `indices`.

    Args:
        examples: pairs of id lists, without special tokens.
        indices: which examples, in which order.

    Returns:
        The batch; source rows end with </s>, target rows start with <s> and end with </s>.

    Raises:
        ValueError: if `indices` is empty or holds an index that `examples` hasn't, or an example
            holds the id of a special token.

    >>> batch = collate([([5, 6], [7]), ([8], [9])], [0, 1])
    >>> batch.src.tolist(), batch.tgt.tolist()
    ([[5, 6, 2], [8, 2, 0]], [[1, 7, 2], [1, 9, 2]])
    """
    if len(indices) == 0:
        raise ValueError("indices is empty; a batch must hold at least one example")
    for index in indices:
        if not 0 <= index < len(examples):
            raise ValueError(f"indices holds {index}; it must be in 0 … {len(examples) - 1}")
        if min(min(ids, default=FIRST_ID) for ids in examples[index]) < FIRST_ID:
            raise ValueError(
                f"examples[{index}] holds an id below {FIRST_ID}; <pad>, <s> and </s> "
                f"(0, 1, 2) must be left to collate"
            )
    src = _padded([[*examples[i][0], EOS_ID] for i in indices])  # (batch, src_len)
    tgt = _padded([[BOS_ID, *examples[i][1], EOS_ID] for i in indices])  # (batch, tgt_len)
    return Batch(src, tgt)


def padding_share(examples: Sequence[Example], batches: Sequence[Sequence[int]]) -> float:
    """Measure which part of all positions in the batches is padding, from 0 up to 1.

    Args:
        examples: pairs of id lists, without special tokens.
        batches: lists of indices into `examples`.

    Returns:
        Padded positions divided by all positions, source and target together.

    Raises:
        ValueError: if there is no batch, or one is empty.
        IndexError: if a batch holds an index that `examples` hasn't.

    >>> padding_share([([5, 6, 7], [8]), ([5], [8])], [[0, 1]])
    0.14285714285714285
    """
    if not batches or any(len(batch) == 0 for batch in batches):
        raise ValueError("batches must hold at least one batch, and each batch one example")
    rows = _lengths(examples) + np.array([_SRC_EXTRA, _TGT_EXTRA])  # with their special tokens
    filled = positions = 0
    for batch in batches:
        src, tgt = rows[batch].T
        filled += int(src.sum() + tgt.sum())
        positions += len(batch) * int(src.max() + tgt.max())
    return (positions - filled) / positions


def _lengths(examples: Sequence[Example]) -> Lengths:
    """Ids of source and target of each example: (n, 2)."""
    n = len(examples)
    src = np.fromiter((len(src) for src, _ in examples), np.int64, n)
    tgt = np.fromiter((len(tgt) for _, tgt in examples), np.int64, n)
    return np.stack([src, tgt], axis=1)


def _check_lengths(
    src_len: Lengths, tgt_len: Lengths, max_tokens: int, max_len: int | None
) -> None:
    """Refuse an example that is too long by itself, and say which."""
    if max_len is not None:
        seen = np.maximum(src_len, tgt_len - 1)
        if (seen > max_len).any():
            index = int(np.argmax(seen > max_len))
            raise ValueError(
                f"examples[{index}] has length {seen[index]} with its special token, more than "
                f"max_len ({max_len})"
            )
    positions = src_len + tgt_len
    if (positions > max_tokens).any():
        index = int(np.argmax(positions > max_tokens))
        raise ValueError(
            f"examples[{index}] fills {positions[index]} positions (source {src_len[index]}, "
            f"target {tgt_len[index]}), more than max_tokens ({max_tokens})"
        )


def _by_length(src_len: Lengths, tgt_len: Lengths) -> Lengths:
    """Order by source length, then by target length, upwards for odd source lengths, else down."""
    up_and_down = np.where(src_len % 2 == 1, tgt_len, -tgt_len)
    return np.lexsort((up_and_down, src_len))


def _cut(order: Lengths, src_len: Lengths, tgt_len: Lengths, max_tokens: int) -> list[list[int]]:
    """Fill one batch after the other up to the budget."""
    batches: list[list[int]] = []
    batch: list[int] = []
    widest_src = widest_tgt = 0
    rows = zip(order.tolist(), src_len[order].tolist(), tgt_len[order].tolist(), strict=True)
    for index, src, tgt in rows:
        widest_src, widest_tgt = max(widest_src, src), max(widest_tgt, tgt)
        if (len(batch) + 1) * (widest_src + widest_tgt) > max_tokens:
            batches.append(batch)
            batch, widest_src, widest_tgt = [], src, tgt
        batch.append(index)
    return [*batches, batch]


def _shuffled(n: int, stream: np.random.PCG64) -> Lengths:
    """Draw a permutation of 0 … n-1.

    NumPy promises to keep the raw stream of a bit generator on every platform and in every version,
    but not what `Generator.permutation` makes of it (NEP 19).
    """
    return np.argsort(stream.random_raw(n), kind="stable")


def _padded(rows: list[list[int]]) -> torch.Tensor:
    """Rows of ids as one int64 tensor, padded on the right."""
    array = np.full((len(rows), max(map(len, rows))), PAD_ID, dtype=np.int64)
    for filled, row in zip(array, rows, strict=True):
        filled[: len(row)] = row
    return torch.from_numpy(array)
