"""What parallel models are trained to do (chapter 13): write copies anew, and fill gaps."""

import hashlib
from array import array
from collections.abc import Sequence
from functools import cached_property

import torch
from torch import Tensor

from transformer_course.corpus.batches import EOS_ID, Example
from transformer_course.families import IGNORED
from transformer_course.loss import chunked_cross_entropy, cross_entropy
from transformer_course.non_autoregressive.fertility import N_FERTILITIES, FertilityTransformer
from transformer_course.non_autoregressive.mask_predict import MASK_ID, MaskPredict
from transformer_course.training import PairBatches


class FertilityBatches(PairBatches):
    """Sentence pairs with fertilities as `Batches`: each batch three tensors, src, tgt and fertilities.

    Gu et al. 2018 get the fertilities from an aligner, and keep them fixed in training.

    Args:
        examples: pairs of id lists without special tokens.
        fertilities: for each pair a number for each source token; they sum to the target's length.
        max_tokens: the most positions in a batch, padding included, source and target together.
        max_len: the longest sentence on either side, with one special token.

    Raises:
        ValueError: if there aren't as many fertilities as pairs or source tokens, one is out of range, or they
            don't sum to the target's length.

    >>> batches = FertilityBatches([([5, 6], [7, 8, 9])], [[1, 2]], max_tokens=100, max_len=10)
    >>> [tensor.tolist() for tensor in batches.tensors([0])]
    [[[5, 6, 2]], [[1, 7, 8, 9, 2]], [[1, 2, 0]]]
    """

    def __init__(
        self,
        examples: Sequence[Example],
        fertilities: Sequence[Sequence[int]],
        max_tokens: int,
        max_len: int,
    ) -> None:
        super().__init__(examples, max_tokens, max_len)
        self.fertilities = fertilities
        if len(examples) != len(fertilities):
            raise ValueError(
                f"fertilities ({len(fertilities)}) must be as many as examples ({len(examples)})"
            )
        for number, ((src, tgt), row) in enumerate(zip(examples, fertilities, strict=True)):
            if len(row) != len(src) or sum(row) != len(tgt):
                raise ValueError(
                    f"fertilities[{number}] must be {len(src)} numbers that sum to {len(tgt)}, got {[*row]}"
                )
            if not 0 <= min(row, default=0) <= max(row, default=0) < N_FERTILITIES:
                raise ValueError(
                    f"fertilities[{number}] must be from 0 to {N_FERTILITIES - 1}, got {[*row]}"
                )

    def tensors(self, batch: Sequence[int]) -> tuple[Tensor, ...]:
        """The pairs of a batch, padded, with their fertilities; those of </s> and padding are 0.

        Args:
            batch: indices of examples.

        Returns:
            src (batch, src_len), tgt (batch, tgt_len) and fertilities (batch, src_len), all int64.

        Raises:
            ValueError: if an example holds the id of a special token.
        """
        src, tgt = super().tensors(batch)
        found = torch.zeros_like(src)
        for row, index in zip(found, batch, strict=True):
            row[: len(self.fertilities[index])] = torch.tensor(self.fertilities[index])
        return src, tgt, found

    def n_predicted(self, batch: Sequence[int]) -> int:
        """Target tokens, without </s>, which nobody predicts.

        Args:
            batch: indices of examples.

        Returns:
            Their number.
        """
        return sum(len(self.examples[index][1]) for index in batch)

    @cached_property
    def digest(self) -> str:
        """A fingerprint of all pairs and fertilities, in their order."""
        state = hashlib.sha256(super().digest.encode())
        for row in self.fertilities:
            state.update(array("q", [len(row), *row]).tobytes())
        return state.hexdigest()


def fertility_loss(
    model: FertilityTransformer,
    src: Tensor,
    tgt: Tensor,
    fertilities: Tensor,
    label_smoothing: float = 0.0,
) -> Tensor:
    r"""Say all tokens from the right copies, and the right fertilities (Gu et al. 2018).

    $-\log P(f, y \mid x)$ per target token, an upper bound of $-\log P(y \mid x)$. The decoder never reads
    fertilities that the model has chosen: to choose has no gradient.

    Args:
        model: in training mode, or not.
        src: token ids, (batch, src_len).
        tgt: token ids, (batch, tgt_len), from <s> to </s>, padded.
        fertilities: (batch, src_len), int64; each row sums to its target's length without <s> and </s>.
        label_smoothing: ε of the tokens, at least 0 and below 1; fertilities have none.

    Returns:
        A single number, in nats per target token.

    Raises:
        ValueError: if fertilities and target don't fit, or as the model and `chunked_cross_entropy` do.
    """
    labels = bare_targets(tgt, model.config.pad_id)
    sums, lengths = fertilities.sum(-1), (labels != model.config.pad_id).sum(-1)
    if not torch.equal(sums, lengths):
        raise ValueError(
            f"fertilities sum to {sums.tolist()}, but the targets have {lengths.tolist()} tokens"
        )
    memory, src_mask, log_probs = model.read(src)
    states = model.write(src, fertilities, memory, src_mask)
    pad_id, weight = model.config.pad_id, model.output.weight
    tokens = chunked_cross_entropy(states, weight, labels, pad_id, label_smoothing)
    of_fertilities = log_probs.gather(-1, fertilities[..., None]).sum()
    return tokens - of_fertilities / (labels != pad_id).sum()


def mask_predict_loss(
    model: MaskPredict,
    src: Tensor,
    tgt: Tensor,
    label_smoothing: float = 0.0,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Fill random gaps of the targets, and say their lengths (Ghazvininejad et al. 2019, §2.2 and §2.3).

    The paper adds up both; so a length weighs as much as a guessed token.

    Args:
        model: in training mode, or not.
        src: token ids, (batch, src_len).
        tgt: token ids, (batch, tgt_len), from <s> to </s>, padded.
        label_smoothing: ε of the tokens, at least 0 and below 1; lengths have none.
        generator: for gaps that can be repeated; torch's own random numbers if left out.

    Returns:
        Cross-entropy of gaps and lengths per gap, in nats.

    Raises:
        ValueError: as the model and `chunked_cross_entropy` do.
    """
    pad_id, weight = model.config.pad_id, model.output.weight
    labels = bare_targets(tgt, pad_id)
    real = labels != pad_id
    gaps = draw_gaps(real, generator)
    memory, src_mask, lengths = model.read(src)
    states = model.fill(labels.masked_fill(gaps, MASK_ID), memory, src_mask)
    guessed = labels.masked_fill(~gaps, pad_id)
    tokens = chunked_cross_entropy(states, weight, guessed, pad_id, label_smoothing)
    of_lengths = cross_entropy(lengths, real.sum(-1), IGNORED)
    return tokens + of_lengths * len(src) / gaps.sum()


def draw_gaps(real: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Choose places of each target: from one to all, each number equally likely, then which ones.

    Ghazvininejad et al. 2019, §2.2. Chapter 11's `mask_tokens` chooses each place by itself, so nearly always
    the same share of them; here a model learns to start from nothing and from nearly everything.

    Args:
        real: (batch, tgt_len), boolean; False for padding, which is never chosen.
        generator: for draws that can be repeated.

    Returns:
        (batch, tgt_len), boolean.

    >>> draw_gaps(torch.tensor([[True, False], [True, True]]))[0].tolist()
    [True, False]
    """
    counts = real.sum(-1)
    draws = torch.rand(real.shape[0], 1 + real.shape[1], generator=generator).to(real.device)
    chosen = 1 + (draws[:, 0] * counts).long().clamp(max=counts - 1)  # (batch,)
    order = draws[:, 1:].masked_fill(~real, 2.0).argsort(-1)
    return order.argsort(-1) < chosen[:, None]


def bare_targets(tgt: Tensor, pad_id: int = 0) -> Tensor:
    """Targets without <s> and </s>: what a model says that knows the length (Gu et al. 2018).

    Args:
        tgt: token ids, (batch, tgt_len), from <s> to </s>, padded.
        pad_id: the id of padding.

    Returns:
        (batch, tgt_len − 2), padded.

    Raises:
        ValueError: if no row has a token between <s> and </s>.

    >>> bare_targets(torch.tensor([[1, 5, 6, 2], [1, 7, 2, 0]]))
    tensor([[5, 6],
            [7, 0]])
    """
    inside = tgt[:, 1:-1]
    inside = inside.masked_fill(inside == EOS_ID, pad_id)
    seen = inside.device.type == "cpu"  # a card would have to be waited for
    if not inside.numel() or (seen and not (inside != pad_id).any()):
        raise ValueError(f"tgt of shape {tuple(tgt.shape)} must hold tokens between <s> and </s>")
    return inside
