"""What attention costs by length: products, bytes of scores, bytes of the cache (chapter 12)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ContextCost:
    """What the self-attention of a decoder costs beside its projections (Vaswani et al. 2017, table 1).

    Args:
        multiply_adds: products that are summed in the scores and averages of all layers. Scores that are
            computed and then hidden count, too. A multiply-add is two floating-point operations.
        score_bytes: of the scores of one layer, stored once. Attention that is written out holds several
            tensors of this size.
        cache_bytes: of the keys and values of all layers (chapter 09).
    """

    multiply_adds: int
    score_bytes: int
    cache_bytes: int


def context_cost(
    length: int,
    d_model: int,
    n_heads: int,
    n_layers: int = 1,
    n_key_heads: int | None = None,
    window: int | None = None,
    bytes_per_number: int = 4,
    batch: int = 1,
) -> ContextCost:
    r"""What a text costs each layer: $2n^2d$ multiply-adds, $hn^2$ scores, $2nd_kh_k$ numbers in the cache.

    With a window of r tokens, `local_attention` computes $2r$ scores for each query and hides half of them.
    $2rn$ takes the place of $n^2$, with n filled up to whole blocks (Vaswani et al. 2017, §4, give the order
    $rnd$). Of the cache only the last r tokens are needed. Shared keys (Ainslie et al. 2023) change the cache
    alone.

    Args:
        length: tokens, n.
        d_model: width of the vectors, d; $d_k = d / h$.
        n_heads: heads of queries, h.
        n_layers: layers.
        n_key_heads: heads of keys and values, $h_k$; as many as `n_heads` if None.
        window: how many tokens each one sees, r; all before it if None.
        bytes_per_number: 4 in single precision, 2 in half.
        batch: texts.

    Returns:
        Multiply-adds and bytes.

    Raises:
        ValueError: if a number is below 1, `d_model` isn't divisible by `n_heads`, or `n_heads` by
            `n_key_heads`.

    >>> context_cost(4096, d_model=512, n_heads=8)
    ContextCost(multiply_adds=17179869184, score_bytes=536870912, cache_bytes=16777216)
    >>> context_cost(4096, d_model=512, n_heads=8, n_key_heads=2, window=128)
    ContextCost(multiply_adds=1073741824, score_bytes=33554432, cache_bytes=131072)
    """
    key_heads = n_heads if n_key_heads is None else n_key_heads
    seen = length if window is None else min(window, length)  # tokens that a new one needs
    _check(length=length, d_model=d_model, n_heads=n_heads, n_layers=n_layers)
    _check(n_key_heads=key_heads, bytes_per_number=bytes_per_number, batch=batch)
    _check(window=seen)
    if d_model % n_heads:
        raise ValueError(f"d_model ({d_model}) must be divisible by n_heads ({n_heads})")
    if n_heads % key_heads:
        raise ValueError(f"n_heads ({n_heads}) must be divisible by n_key_heads ({key_heads})")
    pairs = length**2  # of a query and a key whose score is computed, in each head
    if window is not None:
        blocks = -(-length // seen)
        pairs = blocks * seen * 2 * seen  # each block has `seen` queries and twice as many keys
    numbers_cached = 2 * seen * (d_model // n_heads) * key_heads
    return ContextCost(
        batch * n_layers * 2 * pairs * d_model,
        batch * n_heads * pairs * bytes_per_number,
        batch * n_layers * numbers_cached * bytes_per_number,
    )


def _check(**numbers: int) -> None:
    for name, number in numbers.items():
        if number < 1:
            raise ValueError(f"{name} ({number}) must be 1 or more")
