"""Positional encoding (chapter 05): telling attention, which sees a set, where each token stands."""

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

    def forward(self, x: Tensor, start: int = 0, step: int = 1) -> Tensor:
        """Add positions start, start, …, start+1, … to the tokens, `step` tokens to a position.

        Args:
            x: (batch, length, d_model).
            start: position of the first token, counted from 0.
            step: how many neighbouring tokens share a position; above 1 only in beam search (chapter 09),
                where they are rival tokens for the same place.

        Returns:
            (batch, length, d_model).

        Raises:
            ValueError: if `start` is below 0, `step` is below 1, or a position is beyond `max_len`.
        """
        if start < 0 or step < 1:
            raise ValueError(f"start ({start}) must be 0 or more and step ({step}) 1 or more")
        end = start + -(-x.shape[1] // step)
        if end > self.max_len:
            raise ValueError(
                f"sequence of length {end} is longer than the positions, max_len ({self.max_len})"
            )
        if self.table is None:
            return x
        rows = self.table[start:end]  # (positions, d_model)
        return x + (rows if step == 1 else rows.repeat_interleave(step, 0)[: x.shape[1]])
