"""Parts of a layer that came after 2017 (chapter 06); chapter 11 explains them: RMS norm, a gated net."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_course.multi_head import reset_linear


class RMSNorm(nn.Module):
    r"""Give each vector a root mean square of 1, then a learned gain (Zhang and Sennrich 2019, eq. 4).

    $y = g \odot x / \sqrt{\frac{1}{d}\sum_i x_i^2 + \epsilon}$: layer norm without the mean and without a bias.
    It is computed in single precision at least.

    Args:
        d_model: width of the vectors.
        eps: keeps the root away from 0.

    >>> RMSNorm(2)(torch.tensor([3.0, 4.0])).detach()  # divided by the root of (9 + 16) / 2
    tensor([0.8485, 1.1314])
    """

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def reset_parameters(self) -> None:
        """Go back to a gain of 1."""
        nn.init.ones_(self.gain)

    def forward(self, x: Tensor) -> Tensor:
        """Normalise each vector.

        Args:
            x: (..., d_model).

        Returns:
            (..., d_model).
        """
        precise = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
        mean_square = precise.pow(2).mean(-1, keepdim=True)
        return self.gain * (precise * torch.rsqrt(mean_square + self.eps)).to(x.dtype)


class GatedFeedForward(nn.Module):
    r"""A feed-forward net whose inner numbers are gated: $(\mathrm{swish}(xW_g) \odot xW_1)W_2$.

    SwiGLU of Shazeer 2020, eq. 6; $\mathrm{swish}(z) = z\,\sigma(z)$. It has three matrices where
    `FeedForward` has two, so two thirds of `d_ff` give it as many weights.

    Args:
        d_model: width of input and output.
        d_ff: width in between.
        bias: whether the three maps have biases.
    """

    def __init__(self, d_model: int, d_ff: int, bias: bool = True) -> None:
        super().__init__()
        self.gate = nn.Linear(d_model, d_ff, bias)
        self.inner = nn.Linear(d_model, d_ff, bias)
        self.outer = nn.Linear(d_ff, d_model, bias)

    def reset_parameters(self) -> None:
        """Draw fresh weights: Xavier-uniform maps (Glorot and Bengio 2010), zero biases."""
        for linear in (self.gate, self.inner, self.outer):
            reset_linear(linear)

    def forward(self, x: Tensor) -> Tensor:
        """Map each vector to a new one of the same width.

        Args:
            x: (..., d_model).

        Returns:
            (..., d_model).
        """
        return self.outer(F.silu(self.gate(x)) * self.inner(x))
