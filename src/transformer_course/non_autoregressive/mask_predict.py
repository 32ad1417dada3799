"""Translating in a few passes (chapter 13): mask-predict, Ghazvininejad et al. 2019."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from transformer_course.corpus.batches import BOS_ID
from transformer_course.decoding import Hypothesis
from transformer_course.encoder_decoder import Transformer, TransformerConfig
from transformer_course.families import pool
from transformer_course.loss import log_softmax
from transformer_course.masking import padding_mask
from transformer_course.multi_head import reset_linear
from transformer_course.non_autoregressive.searching import (
    best_tokens,
    check_parallel,
    finished,
)

MASK_ID = BOS_ID  # <s> stands in none of these targets, so its vector is free


@dataclass(frozen=True)
class Pass:
    """What stands there after a pass of mask-predict.

    Args:
        tokens: ids, (batch, tgt_len), padded.
        log_probs: of each token, in nats, from the pass that wrote it, (batch, tgt_len); 0 for padding.
        written: the places that this pass wrote, (batch, tgt_len), boolean.
    """

    tokens: Tensor
    log_probs: Tensor
    written: Tensor


class MaskPredict(nn.Module):
    """A conditional masked language model, and its length (Ghazvininejad et al. 2019, §2).

    A `Transformer` whose decoder reads a target with gaps, without a causal mask, and fills the gaps. The
    length is a class, read from the encoder's state of </s>; the paper reads it from a token of its own. The
    mask is <s>.

    Args:
        config: sizes, as for a `Transformer`.
        passes: how often a translation is gone over, T in the paper. It may be changed at any time.

    Raises:
        ValueError: if `passes` is below 1.
    """

    def __init__(self, config: TransformerConfig, passes: int = 10) -> None:
        super().__init__()
        _check_passes(passes)
        self.config, self.passes = config, passes
        self.body = Transformer(config)
        self.length = nn.Linear(config.d_model, config.max_len)
        reset_linear(self.length)

    @property
    def output(self) -> nn.Linear:
        """The matrix that turns states into scores."""
        return self.body.output

    def read(self, src: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Read the source, and score the length of its translation.

        Args:
            src: token ids, (batch, src_len), each row ended by </s>.

        Returns:
            The memory, (batch, src_len, d_model); its mask, (batch, 1, 1, src_len), True = may attend; and
            logits of the lengths 0 … max_len − 1, without </s>, (batch, max_len).

        Raises:
            ValueError: as `Transformer.encode` does.
        """
        src_mask = padding_mask(src, self.config.pad_id)
        memory = self.body.encode(src, src_mask)
        return memory, src_mask, self.length(pool(memory, src != self.config.pad_id, "last"))

    def fill(self, tgt: Tensor, memory: Tensor, src_mask: Tensor) -> Tensor:
        """Read a target with gaps.

        Args:
            tgt: token ids, (batch, tgt_len), `MASK_ID` where something is to be guessed.
            memory: from `read`, (batch, src_len, d_model).
            src_mask: from `read`, (batch, 1, 1, src_len); True = may attend.

        Returns:
            States, (batch, tgt_len, d_model).

        Raises:
            ValueError: as `Transformer.decode` does.
        """
        return self.body.decode(tgt, memory, src_mask, padding_mask(tgt, self.config.pad_id))

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        """Scores of the tokens at all places of a target with gaps.

        Args:
            src: token ids, (batch, src_len).
            tgt: token ids, (batch, tgt_len).

        Returns:
            Logits, (batch, tgt_len, vocab_size).

        Raises:
            ValueError: as `read` and `fill` do.
        """
        memory, src_mask, _ = self.read(src)
        return self.output(self.fill(tgt, memory, src_mask))

    def go_over(self, lengths: Tensor, memory: Tensor, src_mask: Tensor) -> Iterator[Pass]:
        """Write a translation of a given length in `passes` passes (Ghazvininejad et al. 2019, §3).

        All places are guessed at first. Before the next pass, the least probable tokens become gaps again: N(T
        − t)/T of them before pass t, counted from 0, rounded down. A token that stays keeps its old
        probability.

        Args:
            lengths: of each row, (batch,), int64, 1 or more.
            memory: from `read`, (batch, src_len, d_model).
            src_mask: from `read`, (batch, 1, 1, src_len); True = may attend.

        Yields:
            What stands there after each pass.

        Raises:
            ValueError: if `passes` is below 1.
        """
        pad_id, total = self.config.pad_id, self.passes
        _check_passes(total)
        places = torch.arange(int(lengths.max()), device=memory.device)
        real = places < lengths[:, None]  # (batch, tgt_len)
        gaps = real
        tokens = torch.full(real.shape, MASK_ID, device=memory.device).masked_fill(~real, pad_id)
        log_probs = torch.zeros(real.shape, device=memory.device)
        for done in range(1, total + 1):
            states = self.fill(tokens, memory, src_mask)
            of_best, best = best_tokens(self.output(states), pad_id)
            tokens = torch.where(gaps, best, tokens)
            log_probs = torch.where(gaps, of_best, log_probs)
            yield Pass(tokens, log_probs, gaps)
            gaps = least_probable(log_probs, real, lengths * (total - done) // total)
            tokens = tokens.masked_fill(gaps, MASK_ID)

    def most_hypotheses(self, max_len: int) -> int:
        """One for each length (see `decoding.ParallelModel`).

        Args:
            max_len: as for `translate_ids`.

        Returns:
            The most that `top_beams` can be.
        """
        return max_len - 1

    def translate_ids(
        self, src: Tensor, max_len: int = 100, *, beam: int = 1, top_beams: int = 1
    ) -> list[list[Hypothesis]]:
        """Translate in `passes` passes, for the `beam` most probable lengths side by side.

        Ghazvininejad et al. 2019, §3.3, rank the candidates by their mean log-probability per token.

        Args:
            src: token ids, (batch, src_len).
            max_len: most tokens of a translation, </s> included.
            beam: lengths that are tried; fewer if `max_len` allows fewer.
            top_beams: hypotheses for each sentence, at most `beam`.

        Returns:
            For each sentence its best hypotheses; their log-probability is that of length and tokens.

        Raises:
            ValueError: if the model is in training mode, or a number or ids are out of range.
        """
        if beam < 1:
            raise ValueError(f"beam ({beam}) must be 1 or more")
        n = min(beam, self.most_hypotheses(max_len))
        check_parallel(self, max_len, n, top_beams)
        with torch.inference_mode():
            memory, src_mask, logits = self.read(src)
            log_probs = log_softmax(logits)  # (batch, max_len)
            of_lengths, lengths = log_probs[:, 1:max_len].topk(n)  # not 0
            flat = lengths.flatten() + 1  # (batch · n,)
            memory, src_mask = (x.repeat_interleave(n, 0) for x in (memory, src_mask))
            for last in self.go_over(flat, memory, src_mask):
                sums = last.log_probs.sum(-1)
            total = sums + of_lengths.flatten()
            found = finished(last.tokens, total, sums / flat, self.config.pad_id)
        groups = [found[i : i + n] for i in range(0, len(found), n)]
        return [sorted(group, key=lambda h: -h.score)[:top_beams] for group in groups]


def _check_passes(passes: int) -> None:
    if passes < 1:
        raise ValueError(f"passes ({passes}) must be 1 or more")


def least_probable(log_probs: Tensor, real: Tensor, counts: Tensor) -> Tensor:
    """The places that mask-predict guesses again (Ghazvininejad et al. 2019, §3.1).

    Args:
        log_probs: of each token, (batch, tgt_len).
        real: (batch, tgt_len), boolean; False for padding.
        counts: how many of each row, (batch,), at most its real places.

    Returns:
        (batch, tgt_len), boolean; of equal probabilities the first ones.

    >>> log_probs = torch.tensor([[-1.0, -3.0, -2.0]])
    >>> least_probable(log_probs, log_probs < 0, torch.tensor([2]))
    tensor([[False,  True,  True]])
    """
    order = log_probs.masked_fill(~real, torch.inf).argsort(dim=-1, stable=True)
    return order.argsort(-1) < counts[:, None]
