"""Noisy parallel decoding (chapter 13): several translations are written at once, and a teacher chooses."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from transformer_course.corpus.batches import BOS_ID
from transformer_course.decoding import Hypothesis
from transformer_course.encoder_decoder import Transformer
from transformer_course.loss import sentence_log_probs
from transformer_course.non_autoregressive.fertility import FertilityTransformer, within
from transformer_course.non_autoregressive.searching import check_parallel

_AT_ONCE = 256  # candidates: each has logits for the whole vocabulary at all its places, twice


class NoisyParallel(nn.Module):
    """Noisy parallel decoding (Gu et al. 2018, §3.4): several fertilities are tried, and a teacher chooses.

    The first candidate has the most probable fertilities, the others are drawn. All are written in one pass,
    and the teacher, a model that writes word by word, scores all of them in another. A `Translator` takes it as
    its model.

    Args:
        student: writes the candidates.
        teacher: says how probable each is.
        candidates: how many a sentence, 1 or more; with 1 there is nothing to choose.
        seed: of the draws; each call of `translate_ids` starts with it, and draws for the sentences in their
            order.

    Raises:
        ValueError: if there is no candidate, the two models have vocabularies of different sizes or another
            `pad_id`.
    """

    def __init__(
        self,
        student: FertilityTransformer,
        teacher: Transformer,
        candidates: int = 10,
        seed: int = 0,
    ) -> None:
        super().__init__()
        if candidates < 1:
            raise ValueError(f"candidates ({candidates}) must be 1 or more")
        sizes = student.config.vocab_size, teacher.config.vocab_size
        if sizes[0] != sizes[1]:
            raise ValueError(f"student and teacher must have one vocabulary, got {sizes} ids")
        pads = student.config.pad_id, teacher.config.pad_id
        if pads[0] != pads[1]:
            raise ValueError(f"student and teacher must have one pad_id, got {pads}")
        self.config, self.student, self.teacher = student.config, student, teacher
        self.candidates, self.seed = candidates, seed

    def most_hypotheses(self, max_len: int) -> int:
        """One for each candidate (see `decoding.ParallelModel`).

        Args:
            max_len: as for `translate_ids`.

        Returns:
            The most that `top_beams` can be.
        """
        return self.candidates

    def translate_ids(
        self, src: Tensor, max_len: int = 100, *, beam: int = 1, top_beams: int = 1
    ) -> list[list[Hypothesis]]:
        """Translate with several fertilities, ranked by the teacher.

        Args:
            src: token ids, (batch, src_len).
            max_len: most tokens of a translation, </s> included; never more than the teacher can read.
            beam: without effect, see `candidates`.
            top_beams: hypotheses for each sentence, at most `candidates`.

        Returns:
            For each sentence its best hypotheses; score and log-probability are the teacher's.

        Raises:
            ValueError: as `FertilityTransformer.translate_ids` and `Transformer.encode` do, or if the teacher
                is in training mode.
        """
        check_parallel(self, max_len, self.most_hypotheses(max_len), top_beams)
        max_len = min(max_len, self.teacher.config.max_len)
        if self.teacher.training and self.teacher.config.dropout > 0:
            raise ValueError("teacher is in training mode, dropout would decide: call eval() first")
        n = self.candidates
        with torch.inference_mode():
            memory, src_mask, log_probs = self.student.read(src)
            tries = [log_probs.argmax(-1)]
            if n > 1:
                tries += self._drawn(log_probs)
            fertilities = torch.stack(tries, 1).flatten(0, 1)  # (batch · n, src_len)
            src, memory, src_mask, log_probs = (
                x.repeat_interleave(n, 0) for x in (src, memory, src_mask, log_probs)
            )
            fertilities = within(fertilities, log_probs, max_len - 1)
            candidates = (src, fertilities, memory, src_mask, log_probs)
            judged: list[Hypothesis] = []
            for some in zip(*(torch.split(x, _AT_ONCE) for x in candidates), strict=True):
                judged += self._judged(some[0], self.student.written(*some))
        groups = [judged[i : i + n] for i in range(0, len(judged), n)]
        return [sorted(group, key=lambda h: -h.score)[:top_beams] for group in groups]

    def _drawn(self, log_probs: Tensor) -> Sequence[Tensor]:
        generator = torch.Generator(log_probs.device).manual_seed(self.seed)
        batch, src_len, _ = log_probs.shape
        probs = log_probs.exp().flatten(0, 1)
        drawn = torch.multinomial(probs, self.candidates - 1, True, generator=generator)
        return drawn.view(batch, src_len, -1).unbind(-1)

    def _judged(self, src: Tensor, found: Sequence[Hypothesis]) -> list[Hypothesis]:
        """The same hypotheses with the teacher's log-probabilities."""
        pad_id = self.teacher.config.pad_id
        rows = [torch.tensor([BOS_ID, *hypothesis.ids]) for hypothesis in found]
        tgt = nn.utils.rnn.pad_sequence(rows, True, pad_id).to(src.device)
        scores = sentence_log_probs(self.teacher(src, tgt[:, :-1]), tgt[:, 1:], pad_id).tolist()
        return [Hypothesis(h.ids, s, s) for h, s in zip(found, scores, strict=True)]
