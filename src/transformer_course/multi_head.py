"""Multi-head attention (chapter 04): several attentions side by side, each in a subspace of its own.

The key-value cache belongs to chapter 09 (decoding): what was computed for earlier positions is
kept, so that a new position costs one row of attention and not a whole triangle.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from transformer_course.attention import fused_attention, scaled_dot_product_attention


@dataclass
class KeyValueCache:
    """Keys and values of the positions so far, in memory that is set aside once (chapter 09).

    Args:
        keys: (batch, heads, capacity, d_k); only the first `length` positions are in use.
        values: (batch, heads, capacity, d_k).
        length: number of positions in use.
    """

    keys: Tensor
    values: Tensor
    length: int = 0

    def append(self, keys: Tensor, values: Tensor) -> None:
        """Add the keys and values of new positions.

        Args:
            keys: (batch, heads, new_len, d_k).
            values: (batch, heads, new_len, d_k).

        Raises:
            ValueError: if they are of another batch, or don't fit into what is left of the capacity.
        """
        if keys.shape[0] != self.keys.shape[0]:
            raise ValueError(
                f"keys have a batch of {keys.shape[0]}, the cache one of {self.keys.shape[0]}"
            )
        end = self.length + keys.shape[2]
        if end > self.keys.shape[2]:
            raise ValueError(
                f"cache is full: {self.length} positions in use, {keys.shape[2]} more asked for, "
                f"capacity {self.keys.shape[2]}"
            )
        self.keys[:, :, self.length : end] = keys
        self.values[:, :, self.length : end] = values
        self.length = end

    def select(self, rows: Tensor) -> "KeyValueCache":
        """The cache of some sentences of the batch.

        Args:
            rows: their indices, (new_batch,), int64.

        Returns:
            A new cache with copies of their keys and values; as long, and of the same capacity.
        """
        return KeyValueCache(self.keys[rows], self.values[rows], self.length)


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

    Attributes:
        fused: compute with `fused_attention`, which is faster for long sequences and gives no weights.

    Raises:
        ValueError: if n_heads is below 1, or d_model isn't divisible by it.
    """

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.fused = False
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model ({d_model}) must be divisible by n_heads ({n_heads})")
        self.n_heads = n_heads
        self.w_query = nn.Linear(d_model, d_model)
        self.w_key = nn.Linear(d_model, d_model)
        self.w_value = nn.Linear(d_model, d_model)
        self.w_output = nn.Linear(d_model, d_model)

    def split_heads(self, x: Tensor) -> Tensor:
        """Cut the width into heads.

        Args:
            x: (batch, length, d_model).

        Returns:
            (batch, heads, length, d_k).
        """
        return x.view(*x.shape[:2], self.n_heads, -1).transpose(1, 2)

    def forward(
        self,
        queries: Tensor,
        keys: Tensor | None = None,
        values: Tensor | None = None,
        mask: Tensor | None = None,
        cache: KeyValueCache | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        """Attend from `queries` to `keys`, and average `values`.

        Args:
            queries: (batch, q_len, d_model).
            keys: (batch, k_len, d_model). May be left out only with a cache: then what the cache holds is
                all there is to attend to.
            values: (batch, k_len, d_model); `keys` if left out.
            mask: boolean, broadcastable to (batch, heads, q_len, k_len); True = may attend. With a cache,
                k_len counts the cached positions too.
            cache: where keys and values of earlier positions are kept (chapter 09); the new ones are
                appended to it.

        Returns:
            The output, (batch, q_len, d_model), and the weights, (batch, heads, q_len, k_len); None instead
            of the weights where `fused` is set.

        Raises:
            ValueError: if neither keys nor cache are given, there are values without keys, queries, keys or
                values haven't the shapes above, the new keys are of another batch than the cache or don't fit
                into it, or the mask isn't boolean or doesn't fit; without a cache also if there aren't as many
                values as keys.
        """
        if keys is None and (cache is None or values is not None):
            raise ValueError(
                "keys must be given where there is no cache, or where there are values"
            )
        for name, x in (("queries", queries), ("keys", keys), ("values", values)):
            self._check_input(name, x, queries.shape[0])
        q = self.split_heads(self.w_query(queries))  # (batch, heads, q_len, d_k)
        if keys is not None:
            k, v = self.project_memory(keys, values)
            if cache is not None:
                cache.append(k, v)
        if cache is not None:
            k, v = cache.keys[:, :, : cache.length], cache.values[:, :, : cache.length]
        weights: Tensor | None = None
        if self.fused:
            heads = fused_attention(q, k, v, mask)  # (batch, heads, q_len, d_v)
        else:
            heads, weights = scaled_dot_product_attention(q, k, v, mask)
        concatenated = heads.transpose(1, 2).flatten(-2)  # (batch, q_len, d_model)
        return self.w_output(concatenated), weights

    def project_memory(self, keys: Tensor, values: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Keys and values of all heads, as `forward` computes them.

        Args:
            keys: (batch, k_len, d_model).
            values: (batch, k_len, d_model); `keys` if left out.

        Returns:
            The keys and the values, each (batch, heads, k_len, d_k).
        """
        values = keys if values is None else values
        return self.split_heads(self.w_key(keys)), self.split_heads(self.w_value(values))

    def _check_input(self, name: str, x: Tensor | None, batch: int) -> None:
        d_model = self.w_query.in_features
        if x is not None and (x.dim() != 3 or x.shape[0] != batch or x.shape[2] != d_model):
            raise ValueError(
                f"{name} of shape {tuple(x.shape)} must have the shape (batch, length, d_model), "
                f"with batch {batch} and d_model {d_model}"
            )

    def start_cache(self, batch: int, capacity: int) -> KeyValueCache:
        """An empty cache.

        Args:
            batch: number of sentences.
            capacity: the most positions it shall hold.

        Returns:
            The cache, of length 0, where the weights are and of their dtype.
        """
        weight = self.w_key.weight
        shape = (batch, self.n_heads, capacity, weight.shape[0] // self.n_heads)
        return KeyValueCache(weight.new_empty(shape), weight.new_empty(shape))


@contextmanager
def record_attention(model: nn.Module) -> Iterator[dict[str, Tensor]]:
    """Collect the weights of every multi-head attention inside `model` while the block runs.

    Fused attention gives no weights, so it is switched off inside the block.

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

    def keep(name: str) -> "torch.utils.hooks.RemovableHandle":
        def hook(_module: nn.Module, _inputs: object, output: tuple[Tensor, Tensor]) -> None:
            maps[name] = output[1].detach()

        return modules[name].register_forward_hook(hook)

    modules = {n: m for n, m in model.named_modules() if isinstance(m, MultiHeadAttention)}
    handles = [keep(name) for name in modules]
    fused = {module: module.fused for module in modules.values()}
    try:
        for module in fused:
            module.fused = False
        yield maps
    finally:
        for module, was_fused in fused.items():
            module.fused = was_fused
        for handle in handles:
            handle.remove()
