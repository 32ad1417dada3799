"""Recurrent sequence to sequence (chapter 00): a GRU reads, a GRU writes."""

import math

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from transformer_course.attention import AdditiveAttention
from transformer_course.seq2seq.common import Seq2Seq, Seq2SeqCache, Seq2SeqConfig
from transformer_course.validation import check_ids


class RecurrentSeq2Seq(Seq2Seq):
    r"""A GRU reads, a GRU writes; in between stands one vector, or attention over all of the encoder's states.

    $s_i = \mathrm{GRU}(s_{i-1}, [y_{i-1}; c_i])$. Without attention $c_i = c$, the encoder's last states
    in both directions (after Cho et al. 2014, who read in one). With it $c_i = \sum_j \alpha_{ij} h_j$, where
    $\alpha_i = \mathrm{softmax}(e_i)$ and $e_{ij} = a(s_{i-1}, h_j)$ (Bahdanau et al. 2015, §3.1). Departures
    from both: one linear map with tanh before the output instead of maxout; $s_0$ is made from the first of
    the memory's vectors.

    Args:
        config: every size and choice.
    """

    def __init__(self, config: Seq2SeqConfig) -> None:
        super().__init__(config)
        d, n_layers = config.d_model, config.n_layers
        self.encoder = nn.GRU(d, d // 2, n_layers, batch_first=True, bidirectional=True)
        self.first = nn.ModuleList(nn.Linear(d, d) for _ in range(n_layers))
        self.attend = AdditiveAttention(d, d, d) if config.attention else None
        self.decoder = nn.GRU(2 * d, d, n_layers, batch_first=True)
        self.readout = nn.Linear(3 * d, d)

    def encode(self, src: Tensor, src_mask: Tensor | None = None) -> Tensor:
        """Read the source word by word, from both ends.

        Args:
            src: token ids, (batch, src_len).
            src_mask: (batch, 1, 1, src_len); True = may attend. Hides padding if left out.

        Returns:
            The memory, (batch, src_len, d_model), one state a word; without attention (batch, 1, d_model), one
            vector a sentence.

        Raises:
            ValueError: if ids haven't the shape (batch, length) or are outside the vocabulary, the batch is
                empty, or the mask hides anything else than an end of a sentence.
        """
        check_ids("src", src, self.config.vocab_size, self.config.max_len)
        mask = (self._source_mask(src) if src_mask is None else src_mask)[
            :, 0, 0
        ]  # (batch, src_len)
        lengths = mask.sum(-1)
        if lengths.min() < 1 or (mask[:, 1:] > mask[:, :-1]).any():
            raise ValueError(
                "src_mask must allow a beginning of each sentence, and hide only its end"
            )
        x = self.dropout(self.embedding(src) * math.sqrt(self.config.d_model))
        packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
        states, last = self.encoder(packed)  # last: (2 n_layers, batch, d_model / 2)
        if self.attend is None:
            return torch.cat([last[-2], last[-1]], -1)[:, None]  # (batch, 1, d_model)
        return pad_packed_sequence(states, batch_first=True, total_length=src.shape[1])[0]

    def _first_states(self, memory: Tensor) -> list[Tensor]:
        # With attention this is the first word's state: its backward half has read the whole sentence.
        return [torch.tanh(linear(memory[:, 0])) for linear in self.first]

    def _decoded(
        self, x: Tensor, memory: Tensor, mask: Tensor, cache: Seq2SeqCache
    ) -> tuple[Tensor, Tensor | None]:
        state, weights = torch.stack(cache.states), None  # (n_layers, batch, d_model)
        if self.attend is None:
            contexts = memory.expand(-1, x.shape[1], -1)  # the same vector at each step
            outputs, state = self.decoder(torch.cat([x, contexts], -1), state)
        else:
            found: list[tuple[Tensor, Tensor, Tensor]] = []
            for word in torch.split(
                x, 1, dim=1
            ):  # one by one: each look depends on the state before it
                context, weight = self.attend(state[-1][:, None], memory, memory, mask)
                output, state = self.decoder(torch.cat([word, context], -1), state)
                found.append((output, context, weight))
            outputs, contexts, weights = (torch.cat(parts, 1) for parts in zip(*found, strict=True))
        cache.states = list(state)
        read = torch.cat([outputs, contexts, x], -1)  # (batch, tgt_len, 3 d_model)
        return self.dropout(torch.tanh(self.readout(read))), weights
