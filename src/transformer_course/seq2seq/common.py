"""What the forerunners of the Transformer have in common (chapter 00): sizes, states, order of the calls."""

import math
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn

from transformer_course.validation import check_ids, check_whole_numbers


@dataclass(frozen=True)
class Seq2SeqConfig:
    """Every size and choice of a model of this chapter.

    Args:
        vocab_size: number of token ids, shared by source and target.
        d_model: width of the vectors between layers; even.
        n_layers: layers of the encoder, and of the decoder.
        attention: whether a recurrent decoder looks at all states of the encoder (Bahdanau et al. 2015) or gets
            one vector (Cho et al. 2014). The convolutional model always has attention.
        kernel_size: tokens that one convolution sees; odd. The recurrent model doesn't use it.
        dropout: share of numbers set to zero after the embedding and before the output; at least 0 and below 1.
        max_len: the longest sequence, in tokens; the models could read more, but trainer and search rely on it.
        pad_id: the id of padding.

    Raises:
        ValueError: naming the field, its value and the rule it breaks.
    """

    vocab_size: int
    d_model: int = 128
    n_layers: int = 1
    attention: bool = True
    kernel_size: int = 3
    dropout: float = 0.1
    max_len: int = 512
    pad_id: int = 0

    def __post_init__(self) -> None:
        check_whole_numbers(self, least={"pad_id": None})
        if self.d_model % 2:
            raise ValueError(f"d_model ({self.d_model}) must be even: half for each direction")
        if self.kernel_size % 2 == 0:
            raise ValueError(f"kernel_size ({self.kernel_size}) must be odd, to have a middle")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout ({self.dropout}) must be at least 0 and below 1")
        if not 0 <= self.pad_id < self.vocab_size:
            raise ValueError(
                f"pad_id ({self.pad_id}) must be one of the {self.vocab_size} token ids"
            )


@dataclass
class Seq2SeqCache:
    """What a decoder keeps between two target tokens. Made by `start_cache`, renewed by `decode`.

    Args:
        states: one tensor a layer, batch first. Recurrent: the state, (batch, d_model). Convolutional: the last
            inputs after layer norm, (batch, kernel_size - 1, d_model).
    """

    states: list[Tensor]

    def select(self, rows: Tensor) -> "Seq2SeqCache":
        """The cache of some sentences of the batch.

        Args:
            rows: their indices, (new_batch,), int64.

        Returns:
            A new cache with copies of their states.
        """
        return Seq2SeqCache([state[rows] for state in self.states])


@dataclass
class Seq2SeqState:
    """Where a search stands (chapter 09). Made by `Seq2Seq.start`, carried on by `Seq2Seq.step`.

    A decoder with a state per sentence needs one for each beam: a sentence with 4 beams stands 4 times in here.

    Args:
        memory: what `encode` returned, (batch · beams, memory_len, d_model).
        src_mask: (batch · beams, 1, 1, src_len); True = may attend.
        cache: the decoder's states.
        beams: beginnings that are kept open for each sentence.
    """

    memory: Tensor
    src_mask: Tensor
    cache: Seq2SeqCache
    beams: int

    def select(self, rows: Tensor) -> "Seq2SeqState":
        """The state of some sentences of the batch.

        Args:
            rows: their indices, (new_batch,), int64.

        Returns:
            A new state with copies of what belongs to them.
        """
        beams = torch.arange(self.beams, device=rows.device)
        index = (rows[:, None] * self.beams + beams).flatten()
        cache = self.cache.select(index)
        return Seq2SeqState(self.memory[index], self.src_mask[index], cache, self.beams)

    def reorder(self, parents: Tensor) -> None:
        """Let each beam go on from another one.

        Args:
            parents: for each beam the one that it goes on from, (batch, beams), int64.
        """
        first = torch.arange(len(parents), device=parents.device)[:, None] * self.beams
        self.cache = self.cache.select((first + parents).flatten())


class Seq2Seq(nn.Module):
    """What both models share: one embedding for source, target and output, and the order of the calls.

    One matrix for all embeddings: Press and Wolf 2017.

    Args:
        config: every size and choice.
    """

    def __init__(self, config: Seq2SeqConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)
        nn.init.normal_(self.embedding.weight, std=config.d_model**-0.5)
        self.dropout = nn.Dropout(config.dropout)
        self.output = nn.Linear(config.d_model, config.vocab_size, bias=False)
        self.output.weight = self.embedding.weight

    def reset_parameters(self) -> None:
        """Draw fresh weights: embeddings of variance 1/d_model, all other parts as torch draws them."""
        for module in self.modules():
            if isinstance(module, nn.Linear | nn.LayerNorm | nn.Conv1d | nn.GRU):
                module.reset_parameters()
        nn.init.normal_(self.embedding.weight, std=self.config.d_model**-0.5)

    def encode(self, src: Tensor, src_mask: Tensor | None = None) -> Tensor:
        """Read the source once.

        Args:
            src: token ids, (batch, src_len).
            src_mask: (batch, 1, 1, src_len); True = may attend. Hides padding if left out.

        Returns:
            The memory, (batch, memory_len, d_model).

        Raises:
            NotImplementedError: always; each model reads in its own way.
        """
        raise NotImplementedError

    def start_cache(self, memory: Tensor, src_mask: Tensor, max_len: int) -> Seq2SeqCache:
        """The decoder's states before the first target token.

        Args:
            memory: what `encode` returned, (batch, memory_len, d_model).
            src_mask: (batch, 1, 1, src_len); True = may attend. Not needed here.
            max_len: most target positions that will be decoded.

        Returns:
            The cache, for `decode`.

        Raises:
            ValueError: if `max_len` is below 1 or beyond the model's.
        """
        if not 1 <= max_len <= self.config.max_len:
            raise ValueError(
                f"max_len ({max_len}) must be 1 or more and at most the model's max_len "
                f"({self.config.max_len})"
            )
        return Seq2SeqCache(self._first_states(memory))

    def start(self, src: Tensor, max_len: int, beams: int = 1) -> Seq2SeqState:
        """Read the source, and set out on a search (chapter 09).

        Args:
            src: token ids, (batch, src_len).
            max_len: most target tokens that will be read.
            beams: beginnings that are kept open for each sentence.

        Returns:
            The state before the first target token, for `step`.

        Raises:
            ValueError: if `beams` is below 1, or as `encode` and `start_cache` do.
        """
        if beams < 1:
            raise ValueError(f"beams ({beams}) must be 1 or more")
        src_mask = self._source_mask(src)
        memory = self.encode(src, src_mask).repeat_interleave(beams, 0)
        src_mask = src_mask.repeat_interleave(beams, 0)
        cache = self.start_cache(memory, src_mask, max_len)
        return Seq2SeqState(memory, src_mask, cache, beams)

    def step(self, tokens: Tensor, state: Seq2SeqState) -> Tensor:
        """Read the newest token of each beam, and score the next one (chapter 09).

        Args:
            tokens: ids, (batch, beams).
            state: from `start`; it is carried on by one token a beam.

        Returns:
            Logits, (batch, beams, vocab_size).

        Raises:
            ValueError: as `decode` does.
        """
        states = self.decode(tokens.reshape(-1, 1), state.memory, state.src_mask, None, state.cache)
        return self.logits(states).view(*tokens.shape, -1)

    def decode(
        self,
        tgt: Tensor,
        memory: Tensor,
        src_mask: Tensor,
        tgt_mask: Tensor | None = None,
        cache: Seq2SeqCache | None = None,
    ) -> Tensor:
        """Read the target so far and the memory.

        Args:
            tgt: token ids, (batch, tgt_len), from <s> on; with a cache only the tokens that are new.
            memory: what `encode` returned, (batch, memory_len, d_model).
            src_mask: (batch, 1, 1, src_len); True = may attend.
            tgt_mask: None, or True everywhere (True = may attend): the decoder can't hide more than the future.
            cache: from `start_cache`; it is renewed.

        Returns:
            States, (batch, tgt_len, d_model); `logits` turns them into scores.

        Raises:
            ValueError: if ids haven't the shape (batch, length) or are outside the vocabulary, the batch is
                empty, `tgt_mask` hides something, or, in a model with attention, `src_mask` isn't boolean or
                doesn't fit.
        """
        check_ids("tgt", tgt, self.config.vocab_size, self.config.max_len)
        if tgt_mask is not None and not tgt_mask.all():
            raise ValueError(
                "tgt_mask must hide nothing: this decoder sees exactly what came before"
            )
        if cache is None:
            cache = Seq2SeqCache(self._first_states(memory))
        x = self.dropout(self.embedding(tgt) * math.sqrt(self.config.d_model))
        return self._decoded(x, memory, src_mask[:, 0], cache)[0]

    def alignment(self, src: Tensor, tgt: Tensor) -> Tensor:
        """The weights with which each target position looked at the source.

        Args:
            src: token ids, (batch, src_len).
            tgt: token ids, (batch, tgt_len), starting with <s>.

        Returns:
            Weights, (batch, tgt_len, src_len); of the top layer, where there are several. Row t belongs to
            the prediction of the token after `tgt[:, t]`.

        Raises:
            ValueError: if the model has no attention, is in training mode with dropout, or as `encode` and
                `decode` do.
        """
        if not self.config.attention:
            raise ValueError("attention (False) must be True: this model looks at nothing")
        if self.training and self.config.dropout > 0:
            raise ValueError(
                "model is in training mode, dropout would decide: call model.eval() first"
            )
        check_ids("tgt", tgt, self.config.vocab_size, self.config.max_len)
        mask = self._source_mask(src)
        memory = self.encode(src, mask)
        x = self.embedding(tgt) * math.sqrt(self.config.d_model)
        weights = self._decoded(x, memory, mask[:, 0], Seq2SeqCache(self._first_states(memory)))[1]
        return cast("Tensor", weights)

    def logits(self, states: Tensor) -> Tensor:
        """Score every token of the vocabulary.

        Args:
            states: what `decode` returned, (..., d_model).

        Returns:
            Logits, (..., vocab_size); softmax makes probabilities of them.
        """
        return self.output(states)

    def forward(self, src: Tensor, tgt: Tensor, src_mask: Tensor | None = None) -> Tensor:
        """Scores for each next token, as in training.

        Args:
            src: token ids, (batch, src_len).
            tgt: token ids, (batch, tgt_len), starting with <s> (the target shifted right).
            src_mask: (batch, 1, 1, src_len); True = may attend. Hides padding if left out.

        Returns:
            Logits, (batch, tgt_len, vocab_size).

        Raises:
            ValueError: as `encode` and `decode` do.
        """
        src_mask = self._source_mask(src) if src_mask is None else src_mask
        return self.logits(self.decode(tgt, self.encode(src, src_mask), src_mask))

    def _first_states(self, memory: Tensor) -> list[Tensor]:
        raise NotImplementedError

    def _decoded(
        self, x: Tensor, memory: Tensor, mask: Tensor, cache: Seq2SeqCache
    ) -> tuple[Tensor, Tensor | None]:
        """States and attention weights for embedded target tokens; renews the cache."""
        raise NotImplementedError

    def _source_mask(self, src: Tensor) -> Tensor:
        return (src != self.config.pad_id)[:, None, None]  # (batch, 1, 1, src_len)
