"""What a decoder alone keeps between two steps of a search (chapter 11): the prompt, and all that it wrote."""

from dataclasses import dataclass

import torch
from torch import Tensor

from transformer_course.multi_head import KeyValueCache


@dataclass
class PromptState:
    """Where a search stands. Made by `DecoderOnly.start`, carried on by `DecoderOnly.step`.

    Prompts of different lengths stand side by side, padded on the right; each row goes on where its own prompt
    ends. As in `DecoderState`, the caches hold every token that ever stood on a beam, and a mask says which of
    them a beam may see.

    Args:
        caches: one a layer: keys and values of the prompt and of all tokens since.
        visible: (batch, beams, entries in the cache); True = may attend: the prompt and the beam's ancestors.
        lengths: where each row's next token stands, (batch,), int64.
        pending: logits of the first token after the prompt, (batch, vocab_size), until they are asked for.
    """

    caches: list[KeyValueCache]
    visible: Tensor
    lengths: Tensor
    pending: Tensor | None

    def select(self, rows: Tensor) -> "PromptState":
        """The state of some rows of the batch.

        Args:
            rows: their indices, (new_batch,), int64.

        Returns:
            A new state with copies of what belongs to them.
        """
        return PromptState(
            [cache.select(rows) for cache in self.caches],
            self.visible[rows],
            self.lengths[rows],
            None if self.pending is None else self.pending[rows],
        )

    def reorder(self, parents: Tensor) -> None:
        """Let each beam go on from another one.

        Args:
            parents: for each beam the one that it goes on from, (batch, beams), int64.
        """
        entries = self.visible.shape[-1]
        self.visible = self.visible.gather(1, parents[:, :, None].expand(-1, -1, entries))

    def grow(self) -> tuple[Tensor, Tensor]:
        """Make room for one more token a beam, which its own beam alone may see.

        Returns:
            Where the tokens stand, (batch, beams), int64; and the mask, (batch, 1, beams, entries), True = may
            attend.
        """
        batch, beams, _ = self.visible.shape
        itself = torch.eye(beams, dtype=torch.bool, device=self.visible.device)
        self.visible = torch.cat([self.visible, itself.expand(batch, -1, -1)], -1)
        places = self.lengths[:, None].expand(-1, beams)
        self.lengths = self.lengths + 1
        return places, self.visible[:, None]
