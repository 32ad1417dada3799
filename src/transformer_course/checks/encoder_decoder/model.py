"""The Transformer in NumPy as functions of its weights, post-norm: what several exercises are made of."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.multi_head.multi_head_attention import reference as attend

Array = NDArray[Any]
Weights = dict[str, Any]
Norm = Callable[[Array, Array, Array], Array]
FeedForward = Callable[[Array, Array, Array, Array, Array], Array]
EPS = 1e-5


def right_feed_forward(x: Array, w_1: Array, b_1: Array, w_2: Array, b_2: Array) -> Array:
    """Return (..., d_model): each position by itself through two maps and a ReLU."""
    result: Array = np.maximum(x @ w_1 + b_1, 0.0) @ w_2 + b_2
    return result


def right_layer_norm(x: Array, gain: Array, bias: Array, eps: float = EPS) -> Array:
    """Return (..., d_model): each token's vector with mean 0 and variance 1, then gain and bias."""
    mean = x.mean(axis=-1, keepdims=True)
    result: Array = gain * (x - mean) / np.sqrt(x.var(axis=-1, keepdims=True) + eps) + bias
    return result


def right_attention(x: Array, memory: Array, weights: Any, n_heads: int, mask: Array) -> Array:
    """Return the output of multi-head attention, (batch, q_len, d_model)."""
    output, _ = attend(x, memory, weights[0], weights[1], weights[2], weights[3], n_heads, mask)
    return output


def right_encoder_layer(x: Array, mask: Array, weights: Weights, n_heads: int) -> Array:
    """Return (batch, src_len, d_model): self-attention, then feed-forward, each added and normalised."""
    first, second = weights["norms"]
    attended = right_attention(x, x, weights["self_attention"], n_heads, mask)
    x = right_layer_norm(x + attended, *first)
    return right_layer_norm(x + right_feed_forward(x, *weights["feed_forward"]), *second)


def right_decoder_layer(
    x: Array, memory: Array, src_mask: Array, tgt_mask: Array, weights: Weights, n_heads: int
) -> Array:
    """Return (batch, tgt_len, d_model): three sub-layers, each added and normalised."""
    first, second, third = weights["norms"]
    attended = right_attention(x, x, weights["self_attention"], n_heads, tgt_mask)
    x = right_layer_norm(x + attended, *first)
    looked = right_attention(x, memory, weights["cross_attention"], n_heads, src_mask)
    x = right_layer_norm(x + looked, *second)
    return right_layer_norm(x + right_feed_forward(x, *weights["feed_forward"]), *third)


def right_masks(src: Array, tgt: Array) -> tuple[Array, Array]:
    """Return the masks of the source and of the target; True = may attend, id 0 is padding."""
    causal = np.tri(tgt.shape[1], dtype=bool)
    return (src != 0)[:, None, None, :], (tgt != 0)[:, None, None, :] & causal


def draw_layer(
    rng: np.random.Generator, d_model: int, d_ff: int, *, decoder: bool = False
) -> Weights:
    """Return the weights of a layer, as the exercises name them."""

    def attention() -> tuple[Array, ...]:
        return tuple(rng.normal(size=(4, d_model, d_model)) / np.sqrt(d_model) * 1.3)

    weights: Weights = {"self_attention": attention()}
    if decoder:
        weights["cross_attention"] = attention()
    weights["feed_forward"] = (
        rng.normal(size=(d_model, d_ff)) / np.sqrt(d_model) * 1.3,
        rng.normal(size=d_ff) / 2,
        rng.normal(size=(d_ff, d_model)) / np.sqrt(d_ff) * 1.3,
        rng.normal(size=d_model) / 2,
    )
    weights["norms"] = [
        (1 + rng.normal(size=d_model) / 3, rng.normal(size=d_model) / 3)
        for _ in range(3 if decoder else 2)
    ]
    return weights


def small_layer(*, decoder: bool = False) -> Weights:
    """Return a layer of width 3 and d_ff 2 in small whole numbers: a check shows all of them."""

    def whole(*rows: list[int]) -> Array:
        return np.array(rows, dtype=float)

    def pair(gain: list[int], bias: list[int]) -> tuple[Array, ...]:
        return np.array(gain, dtype=float), np.array(bias, dtype=float)

    query, key = whole([1, 0, 0], [0, 1, 0], [0, 0, 2]), whole([0, 1, 0], [1, 0, 0], [0, 0, 1])
    value, output = whole([1, 0, 1], [0, 2, 0], [0, 0, 1]), whole([1, 0, 0], [0, 0, 1], [0, 1, 0])
    weights: Weights = {"self_attention": (query, key, value, output)}
    if decoder:
        weights["cross_attention"] = (key, output, query, value)
    weights["feed_forward"] = (
        whole([1, 0], [0, 1], [-1, 1]),
        np.array([1.0, 0.0]),
        whole([2, 0, -1], [0, 1, 1]),
        np.array([0.0, 1.0, 0.0]),
    )
    norms = [pair([1, 2, 1], [0, 1, -1]), pair([2, 1, 1], [1, 0, 0]), pair([1, 1, 3], [0, 0, 1])]
    weights["norms"] = norms if decoder else norms[:2]
    return weights


def draw_mask(rng: np.random.Generator, batch: int, q_len: int, k_len: int) -> Array:
    """Return a mask in which every query sees the first key, and not every query every key."""
    mask: Array = rng.random((batch, 1, q_len, k_len)) < 0.6
    mask[..., 0] = True
    if k_len > 1:
        mask[..., -1, -1] = False
    return mask


def draw_padding(rng: np.random.Generator, batch: int, k_len: int) -> Array:
    """Return a mask of padding; the first token is real, and in the first sentence the last one isn't."""
    mask: Array = np.arange(k_len) < rng.integers(1, k_len + 1, size=(batch, 1))
    if k_len > 1:
        mask[0, -1] = False
    return mask[:, None, None, :]
