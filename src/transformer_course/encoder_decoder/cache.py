"""What a Transformer keeps between two steps of a search (chapter 06); chapter 09 uses it."""

from dataclasses import dataclass

from torch import Tensor

from transformer_course.multi_head import KeyValueCache


@dataclass
class DecoderCache:
    """What decoding one token after the other needs to keep (chapter 09). Made by `Transformer.start_cache`.

    Args:
        self_attention: one cache a layer, of the target tokens so far.
        cross_attention: one cache a layer, of the memory's keys and values.
    """

    self_attention: list[KeyValueCache]
    cross_attention: list[KeyValueCache]

    @property
    def length(self) -> int:
        """Number of target tokens in the cache; in beam search rivals for one place are counted one by one."""
        return self.self_attention[0].length

    def select(self, rows: Tensor) -> "DecoderCache":
        """The cache of some sentences of the batch.

        Args:
            rows: their indices, (new_batch,), int64.

        Returns:
            A new cache with copies of their keys and values, as long.
        """
        return DecoderCache(
            [cache.select(rows) for cache in self.self_attention],
            [cache.select(rows) for cache in self.cross_attention],
        )


@dataclass
class DecoderState:
    """Where a search stands (chapter 09). Made by `Transformer.start`, carried on by `Transformer.step`.

    The cache holds one entry for each token that ever stood on a beam. Which entries a beam may see, its own
    ancestors, is said by a mask. So nothing is copied when beams change places, and the source is read once,
    not once a beam.

    Args:
        cache: keys and values of all tokens so far, and of the memory.
        src_mask: (batch, 1, 1, src_len); True = may attend.
        ancestry: (batch, beams, entries in the cache); True = an ancestor of the beam, or itself. A single beam
            needs none: it stays empty.
        length: number of steps so far.
    """

    cache: DecoderCache
    src_mask: Tensor
    ancestry: Tensor
    length: int = 0

    def select(self, rows: Tensor) -> "DecoderState":
        """The state of some sentences of the batch.

        Args:
            rows: their indices, (new_batch,), int64.

        Returns:
            A new state with copies of what belongs to them.
        """
        cache = self.cache.select(rows)
        return DecoderState(cache, self.src_mask[rows], self.ancestry[rows], self.length)

    def reorder(self, parents: Tensor) -> None:
        """Let each beam go on from another one.

        Args:
            parents: for each beam the one that it goes on from, (batch, beams), int64.
        """
        entries = self.ancestry.shape[-1]
        self.ancestry = self.ancestry.gather(1, parents[:, :, None].expand(-1, -1, entries))
