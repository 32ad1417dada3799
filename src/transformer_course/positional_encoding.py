"""Positional encoding (chapter 05): telling attention, which sees a set, where each token stands."""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn


def sinusoidal_encoding(
    length: int,
    d_model: int,
    layout: Literal["interleaved", "concatenated"] = "interleaved",
    base: float = 10000.0,
) -> Tensor:
    r"""The fixed positional encoding of the paper (Vaswani et al. 2017, §3.5).

    $PE_{(pos,\,2i)} = \sin(pos / 10000^{2i/d})$ and $PE_{(pos,\,2i+1)} = \cos(pos / 10000^{2i/d})$, with
    $pos = 0 … length-1$ and $i = 0 … d/2-1$.

    Args:
        length: number of positions, 1 or more.
        d_model: width; even, because sines and cosines come in pairs.
        layout: "interleaved" as in the paper (sin, cos, sin, cos, …), or "concatenated" (all sines, then all
            cosines): the same columns in another order.
        base: wavelengths go from 2π to $2\pi \cdot base^{1 - 2/d}$ positions; 10000 in the paper.

    Returns:
        (length, d_model), values in [-1, 1].

    Raises:
        ValueError: if a size is below 1, `d_model` is odd, or `layout` is unknown.

    >>> sinusoidal_encoding(3, 4)[2]
    tensor([ 0.9093, -0.4161,  0.0200,  0.9998])
    """
    if length < 1:
        raise ValueError(f"length ({length}) must be 1 or more")
    if d_model < 2 or d_model % 2:
        raise ValueError(
            f"d_model ({d_model}) must be even and 2 or more: sines and cosines come in pairs"
        )
    if layout not in ("interleaved", "concatenated"):
        raise ValueError(f"layout ({layout!r}) must be 'interleaved' or 'concatenated'")
    # In double precision: an angle of thousands of radians loses digits in single precision.
    positions = torch.arange(length, dtype=torch.float64)[:, None]  # (length, 1)
    exponents = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model  # (d_model/2,)
    angles = positions / base**exponents  # (length, d_model/2)
    pair = (angles.sin(), angles.cos())
    columns = torch.stack(pair, -1).flatten(-2) if layout == "interleaved" else torch.cat(pair, -1)
    return columns.float()  # (length, d_model)


class PositionalEncoding(nn.Module):
    """Adds a position's vector to each token's vector: a fixed sinusoid, or one that is learned.

    Args:
        max_len: number of positions there are.
        d_model: width of the vectors.
        kind: "sinusoidal" (Vaswani et al. 2017, §3.5), "learned" (Gehring et al. 2017), or "none".
        layout: of the sinusoids, see `sinusoidal_encoding`.

    Raises:
        ValueError: if `max_len` is below 1, `kind` is unknown, or, for sinusoids, as `sinusoidal_encoding`
            does.
    """

    table: Tensor | None

    def __init__(
        self,
        max_len: int,
        d_model: int,
        kind: Literal["sinusoidal", "learned", "none"] = "sinusoidal",
        layout: Literal["interleaved", "concatenated"] = "interleaved",
    ) -> None:
        super().__init__()
        if max_len < 1:
            raise ValueError(f"max_len ({max_len}) must be 1 or more")
        self.max_len = max_len
        if kind == "sinusoidal":
            # Not saved with the weights: it can be computed again.
            self.register_buffer(
                "table", sinusoidal_encoding(max_len, d_model, layout), persistent=False
            )
        elif kind == "learned":
            self.table = nn.Parameter(torch.randn(max_len, d_model) * d_model**-0.5)
        elif kind == "none":
            self.table = None
        else:
            raise ValueError(f"kind ({kind!r}) must be 'sinusoidal', 'learned' or 'none'")

    def reset_parameters(self) -> None:
        """Draw learned vectors anew, entries of variance 1/d_model; sinusoids are fixed."""
        if isinstance(self.table, nn.Parameter):
            nn.init.normal_(self.table, std=self.table.shape[1] ** -0.5)

    def forward(self, x: Tensor, positions: Tensor | None = None) -> Tensor:
        """Add its position's vector to each token.

        Args:
            x: (batch, length, d_model).
            positions: where the tokens stand, counted from 0, (length,) or (batch, length), int64; 0, 1, 2,
                … if left out.

        Returns:
            (batch, length, d_model).

        Raises:
            ValueError: if there are more tokens than `max_len`, `positions` aren't as many as the tokens,
                or, where they are in the processor's memory, one is below 0 or not below `max_len`.
        """
        if positions is None:
            self._check_end(x.shape[1])
            return x if self.table is None else x + self.table[: x.shape[1]]
        if positions.shape[-1] != x.shape[1]:
            raise ValueError(
                f"positions of shape {tuple(positions.shape)} must name a place for each of {x.shape[1]} tokens"
            )
        if positions.device.type == "cpu" and not torch.compiler.is_compiling():
            low, high = (x.item() for x in torch.aminmax(positions))
            if low < 0:
                raise ValueError(f"positions ({low}) must be 0 or more")
            self._check_end(int(high) + 1)
        return x if self.table is None else x + self.table[positions]

    def _check_end(self, end: int) -> None:
        if end > self.max_len:
            raise ValueError(
                f"sequence of length {end} is longer than the positions, max_len ({self.max_len})"
            )


@dataclass(frozen=True)
class RotaryEncoding:
    r"""Turns queries and keys by angles that grow with their positions (Su et al. 2021; see chapter 12).

    Numbers $j$ and $j + d_k/2$ of a head are a point of a plane; at position $m$ it is turned by
    $m \cdot base^{-2j/d_k}$. So the score of a query and a key depends on their contents and their distance.

    Args:
        base: wavelengths go from 2π to $2\pi \cdot base^{1 - 2/d_k}$ positions.
        layout: which numbers are a pair: "halves", $j$ and $j + d_k/2$, as `transformers` has Llama,
            or "interleaved", neighbours, as in Su et al. 2021.

    Raises:
        ValueError: if `layout` is unknown.

    >>> turned = RotaryEncoding()(torch.tensor([[[[1.0, 0.0]] * 2]]), torch.arange(2))
    >>> turned[0, 0]  # at position 1 by one radian
    tensor([[1.0000, 0.0000],
            [0.5403, 0.8415]])
    """

    base: float = 10000.0
    layout: Literal["halves", "interleaved"] = "halves"

    def __post_init__(self) -> None:
        if self.layout not in ("halves", "interleaved"):
            raise ValueError(f"layout ({self.layout!r}) must be 'halves' or 'interleaved'")

    def __call__(self, x: Tensor, positions: Tensor) -> Tensor:
        """Turn each vector.

        Args:
            x: queries or keys, (batch, heads, length, d_k).
            positions: where they stand, counted from 0, (length,) or (batch, length), int64.

        Returns:
            The shape of `x`; every vector as long as before.

        Raises:
            ValueError: if d_k is odd.
        """
        d_k = x.shape[-1]
        if d_k % 2:
            raise ValueError(f"d_k ({d_k}) must be even: numbers are turned in pairs")
        exact = torch.promote_types(
            x.dtype, torch.float32
        )  # angles are too large for half precision
        exponents = torch.arange(0, d_k, 2, device=x.device, dtype=exact) / d_k  # (d_k/2,)
        angles = positions[..., None] / self.base**exponents  # (…, length, d_k/2)
        if positions.dim() == 2:
            angles = angles[:, None]  # (batch, 1, length, d_k/2)
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        if self.layout == "halves":
            first, second = x.chunk(2, -1)
            return torch.cat([first * cos - second * sin, second * cos + first * sin], -1)
        first, second = x[..., ::2], x[..., 1::2]
        return torch.stack([first * cos - second * sin, second * cos + first * sin], -1).flatten(-2)
