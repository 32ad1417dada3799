"""Multi-head attention (chapter 04): several attentions side by side, each in a subspace of its own.

The key-value cache belongs to chapter 09 (decoding): what was computed for earlier positions is
kept, so that a new position costs one row of attention and not a whole triangle.
"""

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn

from transformer_course.attention import scaled_dot_product_attention, softmax

_RECORDING = threading.RLock()  # two blocks at once would restore what the other one changed
Attend = Callable[[Tensor, Tensor, Tensor, Tensor | None], tuple[Tensor, Tensor | None]]


class Rotation(Protocol):
    """A position scheme that turns queries and keys: by how much, depends on where they stand (chapter 12)."""

    def __call__(self, x: Tensor, positions: Tensor) -> Tensor:
        """Turn each vector.

        Args:
            x: queries or keys, (batch, heads, length, d_k).
            positions: where they stand, counted from 0, (length,) or (batch, length), int64.

        Returns:
            The shape of `x`.
        """


class ScoreBias(Protocol):
    """A position scheme that adds a number to each score: how far is the key from the query (chapter 12)?"""

    def __call__(self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor) -> Tensor:
        """What is added to the scores, after these were divided by √d_k.

        Args:
            q: queries, (batch, heads, q_len, d_k).
            k: keys, (batch, heads, k_len, d_k).
            q_positions: where the queries stand, (batch, q_len), or (1, q_len) if all rows do alike; int64.
            k_positions: where the keys stand, (batch, k_len) or (1, k_len), int64.

        Returns:
            Broadcastable to (batch, heads, q_len, k_len).
        """


@dataclass
class KeyValueCache:
    """Keys and values of the positions so far, in memory that is set aside once (chapter 09).

    Args:
        keys: (batch, heads, capacity, d_k); only the first `length` entries are in use.
        values: (batch, heads, capacity, d_k).
        length: number of entries in use.
        read_only: whether it stands for a memory, so that nothing is appended.
        positions: where each key stands in its sentence, (batch, capacity), int64; kept only for a score bias.
    """

    keys: Tensor
    values: Tensor
    length: int = 0
    read_only: bool = False
    positions: Tensor | None = None

    def append(self, keys: Tensor, values: Tensor, positions: Tensor | None = None) -> None:
        """Add the keys and values of new positions.

        Args:
            keys: (batch, heads, new_len, d_k).
            values: (batch, heads, new_len, d_k).
            positions: where they stand, (new_len,) or (batch, new_len); needed where a scheme adds to the
                scores.

        Raises:
            ValueError: if they are of another batch, there aren't as many values as keys, or they don't fit
                into what is left of the capacity.
        """
        if keys.shape[0] != self.keys.shape[0]:
            raise ValueError(
                f"keys have a batch of {keys.shape[0]}, the cache one of {self.keys.shape[0]}"
            )
        if keys.shape[2] != values.shape[2]:
            raise ValueError(
                f"each key needs its value: got {keys.shape[2]} keys and {values.shape[2]} values"
            )
        end = self.length + keys.shape[2]
        if end > self.keys.shape[2]:
            raise ValueError(
                f"cache is full: {self.length} positions in use, {keys.shape[2]} more asked for, "
                f"capacity {self.keys.shape[2]}"
            )
        self.keys[:, :, self.length : end] = keys
        self.values[:, :, self.length : end] = values
        if positions is not None:
            if self.positions is None:
                self.positions = positions.new_zeros(self.keys.shape[0], self.keys.shape[2])
            self.positions[:, self.length : end] = positions
        self.length = end

    def select(self, rows: Tensor) -> "KeyValueCache":
        """The cache of some sentences of the batch.

        Args:
            rows: their indices, (new_batch,), int64.

        Returns:
            A new cache with copies of their keys and values; as long, and of the same capacity.
        """
        positions = None if self.positions is None else self.positions[rows]
        return KeyValueCache(
            self.keys[rows], self.values[rows], self.length, self.read_only, positions
        )


class MultiHeadAttention(nn.Module):
    r"""Attention by `n_heads` heads in parallel, concatenated and projected once more.

    $\mathrm{MultiHead}(Q,K,V) = \mathrm{Concat}(\mathrm{head}_1,…,\mathrm{head}_h)W^O$

    $\mathrm{head}_i = \mathrm{Attention}(QW_i^Q, KW_i^K, VW_i^V)$

    These are the formulas of Vaswani et al. 2017, §3.2.2. The $W_i^Q$ of all heads stand side by side in one
    matrix `w_query`; each head sees *all* of the input.
    Like torch.nn.MultiheadAttention, and unlike the paper's formula, the projections have biases.

    Args:
        d_model: width of input and output.
        n_heads: number of heads; d_k = d_v = d_model / n_heads.
        bias: whether the four maps have biases.
        n_key_heads: heads of the keys and values; fewer than `n_heads` lets groups of heads share them (Ainslie
            et al. 2023, chapter 12). As many as `n_heads` if left out.
        rotation: turns queries and keys by their positions; nothing if left out (chapter 12).
        score_bias: adds to the scores by positions; nothing if left out (chapter 12).

    Attributes:
        attend: the function that averages the values, (queries, keys, values, mask) → output and weights;
            `transformer_course.fast` puts torch's fused kernel in its place. Not called where there is a score
            bias.
        query_norm: normalises each head's queries before they are turned; does nothing by default (chapter 11).
        key_norm: the same for the keys.

    Raises:
        ValueError: if a number is below 1, d_model isn't divisible by n_heads, or n_heads by n_key_heads.
    """

    attend: Attend

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        bias: bool = True,
        n_key_heads: int | None = None,
        rotation: Rotation | None = None,
        score_bias: ScoreBias | None = None,
    ) -> None:
        super().__init__()
        n_key_heads = n_heads if n_key_heads is None else n_key_heads
        if d_model < 1 or n_heads < 1 or d_model % n_heads:
            raise ValueError(
                f"d_model ({d_model}) must be 1 or more and divisible by n_heads ({n_heads})"
            )
        if n_key_heads < 1 or n_heads % n_key_heads:
            raise ValueError(
                f"n_heads ({n_heads}) must be divisible by n_key_heads ({n_key_heads})"
            )
        self.n_heads, self.n_key_heads = n_heads, n_key_heads
        self.rotation, self.score_bias = rotation, score_bias
        self.attend = scaled_dot_product_attention
        d_keys = d_model // n_heads * n_key_heads
        self.w_query = nn.Linear(d_model, d_model, bias)
        self.w_key = nn.Linear(d_model, d_keys, bias)
        self.w_value = nn.Linear(d_model, d_keys, bias)
        self.w_output = nn.Linear(d_model, d_model, bias)
        self.query_norm: nn.Module = nn.Identity()
        self.key_norm: nn.Module = nn.Identity()

    def reset_parameters(self) -> None:
        """Draw fresh weights: Xavier-uniform maps (Glorot and Bengio 2010), zero biases."""
        for linear in (self.w_query, self.w_key, self.w_value, self.w_output):
            reset_linear(linear)
        self.reset_score_bias()

    def reset_score_bias(self) -> None:
        """Draw the weights of the score bias anew, if it has any (chapter 12)."""
        reset = getattr(self.score_bias, "reset_parameters", None)
        if reset is not None:
            reset()

    def split_heads(self, x: Tensor) -> Tensor:
        """Cut the width into heads of d_k.

        Args:
            x: (batch, length, heads · d_k).

        Returns:
            (batch, heads, length, d_k).
        """
        d_k = self.w_query.out_features // self.n_heads
        return x.view(*x.shape[:2], -1, d_k).transpose(1, 2)

    def forward(
        self,
        x: Tensor,
        memory: Tensor | None = None,
        mask: Tensor | None = None,
        cache: KeyValueCache | None = None,
        positions: Tensor | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        """Let each position of `x` look at all positions of `x`, or of `memory`.

        Args:
            x: (batch, q_len, d_model), where the queries come from.
            memory: (batch, k_len, d_model), where keys and values come from; `x` if left out.
            mask: boolean, broadcastable to (batch, heads, q_len, k_len); True = may attend. With a cache,
                k_len counts the cached positions too.
            cache: where keys and values of earlier positions are kept (chapter 09). Those of `x` or `memory`
                are appended to it; a cache that is `read_only`, such as that of a memory, is read as it is.
            positions: where the positions of `x` stand, (q_len,) or (batch, q_len), int64, for a rotation or a
                score bias; 0, 1, … after those in the cache if left out.

        Returns:
            The output, (batch, q_len, d_model), and the weights, (batch, heads, q_len, k_len); None instead
            of the weights where `attend` gives none.

        Raises:
            ValueError: if `x` or `memory` haven't the shapes above or hold no position, the new keys are of
                another batch than the cache or don't fit into it, the mask isn't boolean or doesn't fit, or
                `memory` meets a rotation or a score bias, see `cache_memory`.
        """
        source = self._checked(x, memory)
        positions = self._positions(x, cache, positions)
        q = self.query_norm(self.split_heads(self.w_query(x)))  # (batch, heads, q_len, d_k)
        q = self._rotated(q, positions)
        k, v = self.keys_and_values(source, cache, positions)  # (batch, heads, k_len, d_k)
        heads, weights = self._attended(q, k, v, mask, cache, positions)
        concatenated = heads.transpose(1, 2).flatten(-2)  # (batch, q_len, d_model)
        return self.w_output(concatenated), weights

    def keys_and_values(
        self, memory: Tensor, cache: KeyValueCache | None = None, positions: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Keys and values of all heads: those in the cache, then those of `memory`, which join them there.

        Args:
            memory: (batch, k_len, d_model), where keys and values come from; not read if the cache is
                read-only.
            cache: those of earlier positions (chapter 09).
            positions: where the positions of `memory` stand, (k_len,) or (batch, k_len), for a rotation or a
                score bias.

        Returns:
            The keys and the values, each (batch, heads, cached and new length, d_k).

        Raises:
            ValueError: as `forward` does.
        """
        if cache is None or not cache.read_only:
            self._check_input("memory", memory, memory.shape[0])
            k = self.key_norm(self.split_heads(self.w_key(memory)))
            k = self._rotated(k, positions)
            v = self.split_heads(self.w_value(memory))
            if cache is not None:
                cache.append(k, v, positions if self.score_bias else None)
        if cache is not None:
            k, v = cache.keys[:, :, : cache.length], cache.values[:, :, : cache.length]
        if self.n_key_heads < self.n_heads:  # each head of keys serves a group of heads
            group = self.n_heads // self.n_key_heads
            k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
        return k, v

    def cache_memory(self, memory: Tensor, positions: Tensor | None = None) -> KeyValueCache:
        """Keys and values of a memory, computed once and only read from then on (chapter 09).

        Args:
            memory: (batch, k_len, d_model).
            positions: where the positions of `memory` stand, (k_len,), int64, if it is what stands before `x`
                and `x` itself, for a rotation or a score bias (chapter 12).

        Returns:
            A cache that is read-only.

        Raises:
            ValueError: if `memory` hasn't the shape above or holds no position, or `positions` is left out
                where it is needed.
        """
        self._check_input("memory", memory, memory.shape[0])
        if positions is None and (self.rotation or self.score_bias):
            raise ValueError(
                "positions must say where memory stands: there is a rotation or a score bias"
            )
        keys, values = (self.split_heads(w(memory)) for w in (self.w_key, self.w_value))
        keys = self._rotated(self.key_norm(keys), positions)
        places = None if positions is None else positions.expand(len(memory), -1)
        # In one piece each: else every step's matrix products would copy them again.
        return KeyValueCache(keys.contiguous(), values.contiguous(), memory.shape[1], True, places)

    def start_cache(self, batch: int, capacity: int) -> KeyValueCache:
        """An empty cache.

        Args:
            batch: number of sentences.
            capacity: the most positions it should hold.

        Returns:
            The cache, of length 0, where the weights are and of their dtype.
        """
        weight, d_k = self.w_key.weight, self.w_query.out_features // self.n_heads
        shape = (batch, self.n_key_heads, capacity, d_k)
        return KeyValueCache(weight.new_empty(shape), weight.new_empty(shape))

    def _attended(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        mask: Tensor | None,
        cache: KeyValueCache | None,
        positions: Tensor | None,
    ) -> tuple[Tensor, Tensor | None]:
        """Output and weights of each head; a score bias is added before softmax."""
        if self.score_bias is None or positions is None:
            return self.attend(q, k, v, mask)
        k_positions = positions
        if cache is not None and cache.positions is not None:
            k_positions = cache.positions[:, : cache.length]
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (batch, heads, q_len, k_len)
        places = (x if x.dim() == 2 else x[None] for x in (positions, k_positions))
        weights = softmax(scores + self.score_bias(q, k, *places), mask)
        return weights @ v, weights

    def _positions(
        self, x: Tensor, cache: KeyValueCache | None, positions: Tensor | None
    ) -> Tensor | None:
        """Where the positions of `x` stand; None where no scheme asks."""
        if positions is not None or not (self.rotation or self.score_bias):
            return positions
        start = cache.length if cache is not None else 0
        return torch.arange(start, start + x.shape[1], device=x.device)

    def _rotated(self, x: Tensor, positions: Tensor | None) -> Tensor:
        return x if self.rotation is None or positions is None else self.rotation(x, positions)

    def _checked(self, x: Tensor, memory: Tensor | None) -> Tensor:
        """Where keys and values come from, after a look at both shapes."""
        self._check_input("x", x, x.shape[0])
        if memory is not None and memory.shape[0] != x.shape[0]:
            raise ValueError(f"memory has a batch of {memory.shape[0]}, x one of {x.shape[0]}")
        if memory is not None and (self.rotation or self.score_bias):
            raise ValueError(
                "memory needs positions where there is a rotation or a score bias: give them to cache_memory"
            )
        return x if memory is None else memory

    def _check_input(self, name: str, x: Tensor, batch: int) -> None:
        d_model = self.w_query.in_features
        if x.dim() != 3 or x.shape[0] != batch or x.shape[2] != d_model or not x.shape[1]:
            raise ValueError(
                f"{name} of shape {tuple(x.shape)} must have the shape (batch, length, d_model), "
                f"with length 1 or more, batch {batch} and d_model {d_model}"
            )


def reset_linear(linear: nn.Linear) -> None:
    """Draw a fresh linear map: Xavier-uniform weights (Glorot and Bengio 2010), a zero bias if it has one.

    Args:
        linear: the map, changed in place.
    """
    nn.init.xavier_uniform_(linear.weight)
    if linear.bias is not None:
        nn.init.zeros_(linear.bias)


@contextmanager
def record_attention(model: nn.Module) -> Iterator[dict[str, Tensor]]:
    """Collect the weights of every multi-head attention inside `model` while the block runs.

    Fused attention gives no weights, so attention is written out inside the block. What other threads compute
    with the model meanwhile is not collected, and a second such block waits for the end of the first.

    Args:
        model: any module that contains `MultiHeadAttention`.

    Yields:
        A dictionary that fills up: the attention's name in the model → its latest weights, (batch, heads,
        q_len, k_len).

    >>> attention = nn.ModuleDict({"self": MultiHeadAttention(8, 2)})
    >>> with record_attention(attention) as maps:
    ...     _ = attention["self"](torch.zeros(1, 3, 8), torch.zeros(1, 5, 8))
    >>> {name: tuple(weights.shape) for name, weights in maps.items()}
    {'self': (1, 2, 3, 5)}
    """
    maps: dict[str, Tensor] = {}

    mine = threading.get_ident()

    def keep(name: str) -> "torch.utils.hooks.RemovableHandle":
        def hook(_module: nn.Module, _inputs: object, output: tuple[Tensor, Tensor]) -> None:
            if threading.get_ident() == mine:
                maps[name] = output[1].detach()

        return modules[name].register_forward_hook(hook)

    with _RECORDING:
        modules = {n: m for n, m in model.named_modules() if isinstance(m, MultiHeadAttention)}
        handles = [keep(name) for name in modules]
        before = {module: module.attend for module in modules.values()}
        try:
            for module in before:
                module.attend = scaled_dot_product_attention
            yield maps
        finally:
            for module, attend in before.items():
                module.attend = attend
            for handle in handles:
                handle.remove()
