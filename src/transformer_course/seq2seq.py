"""Sequence to sequence (chapter 00): the Transformer's forerunners, recurrent and convolutional.

Both have the Transformer's methods (`encode`, `decode`, `logits`, `start_cache`), so trainer, loss, greedy
search and `Translator` work with them. Beam search needs beam 1: they keep one state a sentence.
"""

import math
from dataclasses import dataclass, fields
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from transformer_course.attention import AdditiveAttention, scaled_dot_product_attention


@dataclass(frozen=True)
class LayerCost:
    """What one layer costs for n tokens (Vaswani et al. 2017, table 1, counted with all projections).

    Args:
        multiply_adds: products that are summed, biases and non-linearities left out.
        sequential_steps: operations that must wait for each other.
        longest_path: layers, or steps, that a signal passes between the two ends of the sequence.
    """

    multiply_adds: int
    sequential_steps: int
    longest_path: int


def attention_cost(n: int, d_model: int) -> LayerCost:
    r"""Self-attention: $4nd^2$ for queries, keys, values and output, $2n^2d$ for scores and averages.

    Vaswani et al. 2017, table 1, give the order $n^2d$, without the projections.

    Args:
        n: tokens.
        d_model: width of input and output.

    Returns:
        The cost of one layer.

    Raises:
        ValueError: if a number is below 1.

    >>> attention_cost(10, 512)
    LayerCost(multiply_adds=10588160, sequential_steps=1, longest_path=1)
    """
    _check_positive(n=n, d_model=d_model)
    return LayerCost(4 * n * d_model**2 + 2 * n**2 * d_model, 1, 1)


def recurrent_cost(n: int, d_model: int, maps: int = 3) -> LayerCost:
    """A recurrent layer: each step maps the input and the state, $d^2$ each, once for every inner map.

    The GRU is from Cho et al. 2014, the LSTM from Hochreiter and Schmidhuber 1997.

    Args:
        n: tokens.
        d_model: width of input and state.
        maps: 3 for a GRU (two gates and the candidate), 4 for an LSTM, 1 for a plain recurrent net.

    Returns:
        The cost of one layer.

    Raises:
        ValueError: if a number is below 1.

    >>> recurrent_cost(10, 512).multiply_adds == 6 * 10 * 512**2
    True
    """
    _check_positive(n=n, d_model=d_model, maps=maps)
    return LayerCost(2 * maps * n * d_model**2, n, n)


def convolution_cost(n: int, d_model: int, kernel_size: int, *, dilated: bool = False) -> LayerCost:
    r"""A convolution of width k: $knd^2$; its path is the number of layers until one output sees all n tokens.

    Vaswani et al. 2017, table 1 and §4.

    Args:
        n: tokens.
        d_model: width of input and output.
        kernel_size: tokens that one convolution sees, k.
        dilated: whether the layers are spread out as in `receptive_field`.

    Returns:
        The cost of one layer; the path counts layers.

    Raises:
        ValueError: if a number is below 1, or a kernel of 1 can never join the tokens.

    >>> convolution_cost(100, 512, 3).longest_path, convolution_cost(100, 512, 3, dilated=True).longest_path
    (50, 5)
    """
    _check_positive(n=n, d_model=d_model, kernel_size=kernel_size)
    if kernel_size == 1 < n:
        raise ValueError(f"kernel_size (1) must be 2 or more: it never joins n ({n}) tokens")
    n_layers = 1
    while receptive_field(kernel_size, n_layers, dilated=dilated) < n:
        n_layers += 1
    return LayerCost(kernel_size * n * d_model**2, 1, n_layers)


def receptive_field(kernel_size: int, n_layers: int, *, dilated: bool = False) -> int:
    """How many tokens one output of a stack of convolutions sees.

    Each layer adds kernel_size - 1. If layer i (from 0) takes every kernel_size^i-th token, it multiplies the
    field by kernel_size instead. Kalchbrenner et al. 2016 translate with such dilated convolutions.

    Args:
        kernel_size: tokens that one convolution sees, 1 or more.
        n_layers: convolutions on top of each other, 1 or more.
        dilated: whether layer i takes every kernel_size^i-th token.

    Returns:
        Number of tokens.

    Raises:
        ValueError: if a number is below 1.

    >>> receptive_field(3, 4), receptive_field(3, 4, dilated=True)
    (9, 81)
    """
    _check_positive(kernel_size=kernel_size, n_layers=n_layers)
    return kernel_size**n_layers if dilated else 1 + n_layers * (kernel_size - 1)


def _check_positive(**values: int) -> None:
    for name, value in values.items():
        if value < 1:
            raise ValueError(f"{name} ({value}) must be 1 or more")


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
        max_len: the longest sequence that trainer and search may ask for; the models themselves know no limit.
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
        for field in fields(self):
            value = getattr(self, field.name)
            if field.type is int and (not isinstance(value, int) or isinstance(value, bool)):
                raise ValueError(f"{field.name} ({value!r}) must be a whole number")
            if field.type is int and field.name != "pad_id" and value < 1:
                raise ValueError(f"{field.name} ({value}) must be 1 or more")
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

    def start_cache(
        self, memory: Tensor, src_mask: Tensor, max_len: int, beams: int = 1
    ) -> Seq2SeqCache:
        """The decoder's states before the first target token.

        Args:
            memory: what `encode` returned, (batch, memory_len, d_model).
            src_mask: (batch, 1, 1, src_len); True = may attend. Not needed here.
            max_len: most target positions that will be decoded.
            beams: 1; these models keep one state a sentence.

        Returns:
            The cache, for `decode`.

        Raises:
            ValueError: if `max_len` is below 1 or beyond the model's, or `beams` isn't 1.
        """
        if not 1 <= max_len <= self.config.max_len:
            raise ValueError(
                f"max_len ({max_len}) must be 1 or more and at most the model's max_len "
                f"({self.config.max_len})"
            )
        if beams != 1:
            raise ValueError(f"beams ({beams}) must be 1: this model keeps one state a sentence")
        return Seq2SeqCache(self._first_states(memory))

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
        self._check_ids("tgt", tgt)
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
            ValueError: if the model has no attention, or as `encode` and `decode` do.
        """
        if not self.config.attention:
            raise ValueError("attention (False) must be True: this model looks at nothing")
        self._check_ids("tgt", tgt)
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

    def _check_ids(self, name: str, ids: Tensor) -> None:
        if ids.dim() != 2 or ids.numel() == 0:
            raise ValueError(
                f"{name} must hold at least one token, shape (batch, length), got {tuple(ids.shape)}"
            )
        low, high = (int(x) for x in torch.aminmax(ids))
        if low < 0 or high >= self.config.vocab_size:
            raise ValueError(
                f"{name} has the id {low if low < 0 else high}, which is outside the vocabulary of "
                f"{self.config.vocab_size} ids"
            )


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
        self._check_ids("src", src)
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


class GatedConvolution(nn.Module):
    """A convolution over tokens with a gated linear unit, and a residual connection around it.

    After Gehring et al. 2017, §3.2; here layer norm stands before the convolution.

    Args:
        d_model: width of input and output.
        kernel_size: tokens that it sees.
        causal: whether it sees the tokens before a position only, itself included, or as many on both sides.
    """

    def __init__(self, d_model: int, kernel_size: int, causal: bool) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.convolution = nn.Conv1d(d_model, 2 * d_model, kernel_size)
        self.reach, self.causal = kernel_size - 1, causal

    def forward(
        self, x: Tensor, before: Tensor | None = None, hidden: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """One layer.

        Args:
            x: (batch, length, d_model).
            before: for a causal layer what the call before returned beside its output, (batch,
                kernel_size - 1, d_model); zeros if left out.
            hidden: (batch, length, 1); True = padding, which counts as zeros, as all that is
                beyond the ends does.

        Returns:
            The output, (batch, length, d_model), and the last kernel_size - 1 inputs after layer norm, (batch,
            kernel_size - 1, d_model), for the next call.
        """
        y = self.norm(x) if hidden is None else self.norm(x).masked_fill(hidden, 0.0)
        nothing = y.new_zeros(len(y), self.reach, y.shape[-1])
        if self.causal:
            y = torch.cat([nothing if before is None else before, y], 1)
        else:
            half = self.reach // 2
            y = torch.cat(
                [nothing[:, :half], y, nothing[:, half:]], 1
            )  # (batch, length + reach, d)
        gated = nn.functional.glu(
            self.convolution(y.transpose(1, 2)), 1
        )  # (batch, d_model, length)
        return x + gated.transpose(1, 2), y[:, y.shape[1] - self.reach :]


class ConvolutionalSeq2Seq(Seq2Seq):
    """Convolutions read and write; each layer of the decoder looks at the memory (after Gehring et al. 2017).

    Departures: layer norm instead of weight norm, attention by scaled dot products, and no position embedding,
    for a convolution knows which of its inputs stands left of which.

    Args:
        config: every size and choice; `attention` must be True.

    Raises:
        ValueError: if `config.attention` is False.
    """

    def __init__(self, config: Seq2SeqConfig) -> None:
        super().__init__(config)
        if not config.attention:
            raise ValueError("attention (False) must be True: the convolutional model needs it")
        d, k, n_layers = config.d_model, config.kernel_size, config.n_layers
        self.encoder = nn.ModuleList(GatedConvolution(d, k, causal=False) for _ in range(n_layers))
        self.decoder = nn.ModuleList(GatedConvolution(d, k, causal=True) for _ in range(n_layers))
        self.queries = nn.ModuleList(nn.Linear(d, d) for _ in range(n_layers))
        self.mix = nn.ModuleList(nn.Linear(d, d) for _ in range(n_layers))
        self.norms = nn.ModuleList(nn.LayerNorm(d) for _ in range(2))

    def encode(self, src: Tensor, src_mask: Tensor | None = None) -> Tensor:
        """Read all of the source at once; each layer widens what a word sees by kernel_size - 1.

        Args:
            src: token ids, (batch, src_len).
            src_mask: (batch, 1, 1, src_len); True = may attend. Hides padding if left out.

        Returns:
            The memory, (batch, src_len, d_model).

        Raises:
            ValueError: if ids haven't the shape (batch, length) or are outside the vocabulary, or the batch is
                empty.
        """
        self._check_ids("src", src)
        mask = self._source_mask(src) if src_mask is None else src_mask
        hidden = ~mask[:, 0, 0, :, None]  # (batch, src_len, 1)
        x = self.dropout(self.embedding(src) * math.sqrt(self.config.d_model))
        for layer in self.encoder:
            x = layer(x, hidden=hidden)[0]
        return self.norms[0](x)

    def _first_states(self, memory: Tensor) -> list[Tensor]:
        reach = self.config.kernel_size - 1
        return [memory.new_zeros(len(memory), reach, memory.shape[-1]) for _ in self.decoder]

    def _decoded(
        self, x: Tensor, memory: Tensor, mask: Tensor, cache: Seq2SeqCache
    ) -> tuple[Tensor, Tensor | None]:
        weights = None
        parts = zip(self.decoder, self.queries, self.mix, strict=True)
        for i, (layer, query, mix) in enumerate(parts):
            x, cache.states[i] = layer(x, cache.states[i])
            found, weights = scaled_dot_product_attention(query(x), memory, memory, mask)
            x = x + mix(found)
        return self.dropout(self.norms[1](x)), weights
