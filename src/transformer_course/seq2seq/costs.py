"""What a layer costs: recurrent, convolutional, self-attention (chapter 00)."""

from dataclasses import dataclass


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
    field by kernel_size instead (so counts Vaswani et al. 2017, §4). Kalchbrenner et al. 2016 translate with
    dilated convolutions whose steps double.

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
