"""Translating in one pass (chapter 13): the model of Gu et al. 2018, told by fertilities how long to write."""

import torch
from torch import Tensor, nn

from transformer_course.corpus.batches import EOS_ID
from transformer_course.decoding import Hypothesis
from transformer_course.encoder_decoder import Transformer, TransformerConfig
from transformer_course.loss import log_softmax
from transformer_course.masking import padding_mask
from transformer_course.multi_head import reset_linear
from transformer_course.non_autoregressive.searching import (
    best_tokens,
    check_parallel,
    finished,
)

N_FERTILITIES = 50  # 0 … 49 target tokens for one of the source


class FertilityTransformer(nn.Module):
    """A Transformer that writes all tokens at once (Gu et al. 2018, §3), told by fertilities how many.

    Each source token says how many target tokens it writes, its fertility. The decoder reads the source with
    each token copied so often, without a causal mask, and replaces every copy by a target token.

    From the paper's decoder two things are left out: positional attention, a fourth sub-layer, and the mask
    that hides a position from itself.

    Args:
        config: sizes, as for a `Transformer`.

    Raises:
        ValueError: if the embeddings aren't tied: what the decoder reads are embeddings of the source.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        if not config.tie_embeddings:
            raise ValueError("tie_embeddings (False) must be True: the decoder reads the source")
        self.config = config
        self.body = Transformer(config)
        self.fertility = nn.Linear(config.d_model, N_FERTILITIES)
        reset_linear(self.fertility)

    @property
    def output(self) -> nn.Linear:
        """The matrix that turns states into scores."""
        return self.body.output

    def read(self, src: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Read the source, and score the fertilities of its tokens.

        Args:
            src: token ids, (batch, src_len), each row ended by </s>.

        Returns:
            The memory, (batch, src_len, d_model); its mask, (batch, 1, 1, src_len), True = may attend; and log-
            probabilities of the fertilities, (batch, src_len, N_FERTILITIES). </s> and padding write nothing.

        Raises:
            ValueError: as `Transformer.encode` does.
        """
        src_mask = padding_mask(src, self.config.pad_id)
        memory = self.body.encode(src, src_mask)
        log_probs = log_softmax(self.fertility(memory))
        silent = torch.full_like(log_probs, -torch.inf)
        silent[..., 0] = 0.0
        return memory, src_mask, torch.where(self.words(src)[..., None], log_probs, silent)

    def words(self, src: Tensor) -> Tensor:
        """Which source tokens have a fertility: all but </s> and padding.

        Args:
            src: token ids, (batch, src_len).

        Returns:
            (batch, src_len), boolean.
        """
        return (src != self.config.pad_id) & (src != EOS_ID)

    def write(self, src: Tensor, fertilities: Tensor, memory: Tensor, src_mask: Tensor) -> Tensor:
        """Read the copies, all at once.

        Args:
            src: token ids, (batch, src_len).
            fertilities: (batch, src_len), int64.
            memory: from `read`, (batch, src_len, d_model).
            src_mask: from `read`, (batch, 1, 1, src_len); True = may attend.

        Returns:
            States, (batch, tgt_len, d_model), tgt_len being the largest sum of fertilities.

        Raises:
            ValueError: as `copy_by_fertility` and `Transformer.decode` do.
        """
        copies = copy_by_fertility(src, fertilities, self.config.pad_id)  # (batch, tgt_len)
        everything = padding_mask(copies, self.config.pad_id)
        return self.body.decode(copies, memory, src_mask, everything)

    def forward(self, src: Tensor, fertilities: Tensor) -> Tensor:
        """Scores of all target tokens.

        Args:
            src: token ids, (batch, src_len).
            fertilities: (batch, src_len), int64.

        Returns:
            Logits, (batch, tgt_len, vocab_size).

        Raises:
            ValueError: as `read` and `write` do.
        """
        memory, src_mask, _ = self.read(src)
        return self.output(self.write(src, fertilities, memory, src_mask))

    def most_hypotheses(self, max_len: int) -> int:
        """One, that of the most probable fertilities (see `decoding.ParallelModel`).

        Args:
            max_len: as for `translate_ids`.

        Returns:
            The most that `top_beams` can be.
        """
        return 1

    def translate_ids(
        self, src: Tensor, max_len: int = 100, *, beam: int = 1, top_beams: int = 1
    ) -> list[list[Hypothesis]]:
        """Translate with the most probable fertilities and tokens (argmax decoding; Gu et al. 2018, §3.4).

        Args:
            src: token ids, (batch, src_len).
            max_len: most tokens of a translation, </s> included.
            beam: without effect: there is one candidate; `NoisyParallel` has more.
            top_beams: must be 1.

        Returns:
            For each sentence a list of one hypothesis; its log-probability is that of fertilities and tokens.

        Raises:
            ValueError: if `top_beams` isn't 1, the model is in training mode, or `max_len` or ids are out of
                range.
        """
        check_parallel(self, max_len, self.most_hypotheses(max_len), top_beams)
        with torch.inference_mode():
            memory, src_mask, log_probs = self.read(src)
            best = within(log_probs.argmax(-1), log_probs, max_len - 1)
            return [[found] for found in self.written(src, best, memory, src_mask, log_probs)]

    def written(
        self, src: Tensor, fertilities: Tensor, memory: Tensor, src_mask: Tensor, log_probs: Tensor
    ) -> list[Hypothesis]:
        """The most probable tokens for given fertilities.

        Args:
            src: token ids, (batch, src_len).
            fertilities: (batch, src_len), int64.
            memory: from `read`, (batch, src_len, d_model).
            src_mask: from `read`, (batch, 1, 1, src_len); True = may attend.
            log_probs: of the fertilities, from `read`.

        Returns:
            A hypothesis for each row.

        Raises:
            ValueError: as `write` does.
        """
        states = self.write(src, fertilities, memory, src_mask)
        of_tokens, tokens = best_tokens(self.output(states), self.config.pad_id)
        places = torch.arange(tokens.shape[1], device=tokens.device)
        real = places < fertilities.sum(-1, keepdim=True)  # (batch, tgt_len)
        of_fertilities = log_probs.gather(-1, fertilities[..., None]).sum((1, 2))
        total = of_fertilities + of_tokens.masked_fill(~real, 0.0).sum(-1)
        pad_id = self.config.pad_id
        return finished(tokens.masked_fill(~real, pad_id), total, total, pad_id)


def copy_by_fertility(src: Tensor, fertilities: Tensor, pad_id: int = 0) -> Tensor:
    """Write each source token as often as its fertility says (Gu et al. 2018, §3.2).

    Args:
        src: token ids, (batch, src_len).
        fertilities: (batch, src_len), int64, 0 or more.
        pad_id: fills up the shorter rows.

    Returns:
        Token ids, (batch, tgt_len), tgt_len being the largest sum of fertilities.

    Raises:
        ValueError: if the shapes differ, a fertility is negative, or a row has none above 0.

    >>> copy_by_fertility(torch.tensor([[5, 6, 7], [8, 9, 0]]), torch.tensor([[2, 0, 1], [0, 1, 0]]))
    tensor([[5, 5, 7],
            [9, 0, 0]])
    """
    if src.shape != fertilities.shape:
        raise ValueError(
            f"fertilities of shape {tuple(fertilities.shape)} must have the shape of src, "
            f"{tuple(src.shape)}"
        )
    if (least := int(fertilities.min())) < 0:
        raise ValueError(f"fertilities must be 0 or more, got {least}")
    ends = fertilities.cumsum(-1)  # where each token's copies end
    if int(ends[:, -1].min()) < 1:
        raise ValueError("fertilities must have one above 0 in each row")
    places = torch.arange(int(ends[:, -1].max()), device=src.device).repeat(len(src), 1)
    owner = torch.searchsorted(ends, places, right=True)  # (batch, tgt_len)
    copies = src.gather(1, owner.clamp(max=src.shape[1] - 1))
    return copies.masked_fill(places >= ends[:, -1:], pad_id)


def within(fertilities: Tensor, log_probs: Tensor, most: int) -> Tensor:
    """Mend fertilities that can't be used: a sum of 0, or one that is too large.

    Where all are 0, the token that is least sure of its 0 gets a 1; of a sum that is too large, the end is cut.
    The paper (Gu et al. 2018) doesn't say what it does.

    Args:
        fertilities: (batch, src_len), int64.
        log_probs: of the fertilities, (batch, src_len, N_FERTILITIES).
        most: the largest sum, 1 or more.

    Returns:
        (batch, src_len), int64.
    """
    ends = fertilities.cumsum(-1).clamp(max=most)
    fertilities = ends.diff(dim=-1, prepend=torch.zeros_like(ends[:, :1]))
    unsure = nn.functional.one_hot(log_probs[..., 0].argmin(-1), fertilities.shape[1])
    return torch.where(ends[:, -1:] > 0, fertilities, unsure)
