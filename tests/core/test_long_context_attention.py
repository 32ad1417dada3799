"""Attention in linear memory, windows and strides in blocks, costs: against masks and measurements."""

import math
import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from oracles import assert_same, random_ids, refuses, shake
from torch import Tensor
from torch.nn.attention.bias import causal_lower_right
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from transformer_course.attention import scaled_dot_product_attention
from transformer_course.encoder_decoder import LayerConfig
from transformer_course.families import DecoderConfig, DecoderOnly
from transformer_course.long_context import (
    attend_block_by_block,
    context_cost,
    local,
    local_attention,
    local_mask,
    running_softmax,
    running_softmax_attention,
    strided_attention,
    strided_mask,
)
from transformer_course.masking import causal_mask, padding_mask
from transformer_course.multi_head import MultiHeadAttention

BLOCKS = (1, 2, 3, 5, 7, 100)  # the lengths below are 1, 5, 7 and 11


def inputs(q_len: int, k_len: int, dtype: torch.dtype = torch.float64) -> tuple[Tensor, ...]:
    """Queries, keys and values of 2 texts and 3 heads, 5 and 4 wide."""
    torch.manual_seed(100 * q_len + k_len)
    shapes = (2, 3, q_len, 5), (2, 3, k_len, 5), (2, 3, k_len, 4)
    return tuple(torch.randn(shape, dtype=dtype, requires_grad=True) for shape in shapes)


def lower_right(q_len: int, k_len: int) -> Tensor:
    """The last query sees the last key; True = may attend."""
    return torch.ones(q_len, k_len, dtype=torch.bool).tril(k_len - q_len)


def assert_same_with_gradients(
    found: Tensor, expected: Tensor, tensors: tuple[Tensor, ...], tolerance: float = 1e-12
) -> None:
    """The same output, and the same gradients of queries, keys and values."""
    assert_same(found, expected, tolerance)
    above = torch.randn_like(found)
    gradients = [torch.autograd.grad(output, tensors, above) for output in (found, expected)]
    for gradient, wanted in zip(*gradients, strict=True):
        assert_same(gradient, wanted, tolerance)


class Largest(TorchDispatchMode):
    """How many numbers the largest tensor has that is made while the block runs."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        for made in result if isinstance(result, tuple | list) else (result,):
            if isinstance(made, Tensor):
                self.numbers = max(self.numbers, made.numel())
        return result


def flops(function: Callable[[], object]) -> int:
    """Floating-point operations of the matrix products, as torch counts them."""
    with FlopCounterMode(display=False) as counter:
        function()
    return int(counter.get_total_flops())


def decoder(**layer: Any) -> DecoderOnly:
    """A small decoder with shaken weights."""
    torch.manual_seed(0)
    sizes = {"d_model": 12, "n_heads": 4, "d_ff": 7, "dropout": 0.0} | layer
    model = DecoderOnly(DecoderConfig(13, LayerConfig(**sizes), n_layers=3, max_len=40)).eval()
    shake(model)
    return model


def with_attention(model: DecoderOnly, attend: Callable[[Tensor, Tensor, Tensor], Tensor]) -> None:
    """Put another attention into all layers; the mask isn't read."""
    for module in model.modules():
        if isinstance(module, MultiHeadAttention):
            module.attend = lambda q, k, v, mask: (attend(q, k, v), None)


# Running softmax


@given(seed=st.integers(0, 99), k_len=st.integers(1, 9), spread=st.sampled_from([1.0, 100.0, 1e4]))
def test_running_softmax_is_softmax(seed: int, k_len: int, spread: float) -> None:
    torch.manual_seed(seed)
    scores, values = spread * torch.randn(k_len).double(), torch.randn(k_len, 3).double()
    assert_same(running_softmax(scores, values), torch.softmax(scores, 0) @ values, 1e-12)


def test_running_softmax_needs_one_row_with_a_value_for_each_score() -> None:
    with refuses("scores of shape (2, 3) must be one row, (k_len,)"):
        running_softmax(torch.zeros(2, 3), torch.zeros(3, 2))
    with refuses("scores of shape (0,) must be one row, (k_len,)"):
        running_softmax(torch.zeros(0), torch.zeros(0, 2))
    with refuses("each score needs its value: got 3 scores and 2 values"):
        running_softmax(torch.zeros(3), torch.zeros(2, 2))


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize(("q_len", "k_len"), [(7, 7), (5, 11), (1, 7), (11, 5), (7, 1)])
@pytest.mark.parametrize("causal", [False, True])
def test_running_softmax_attention_is_attention(
    causal: bool, q_len: int, k_len: int, block: int
) -> None:
    tensors = inputs(q_len, k_len)
    mask = lower_right(q_len, k_len) if causal else None
    expected, _ = scaled_dot_product_attention(*tensors, mask)
    found = running_softmax_attention(*tensors, causal, block)
    assert_same_with_gradients(found, expected, tensors)


@pytest.mark.parametrize(("q_len", "k_len"), [(300, 300), (130, 300), (1, 129)])
def test_running_softmax_attention_is_torchs_in_single_precision(q_len: int, k_len: int) -> None:
    tensors = inputs(q_len, k_len, torch.float32)
    plain = F.scaled_dot_product_attention(*tensors)
    torch.testing.assert_close(running_softmax_attention(*tensors), plain, rtol=0, atol=1e-6)
    causal = F.scaled_dot_product_attention(*tensors, attn_mask=causal_lower_right(q_len, k_len))
    found = running_softmax_attention(*tensors, causal=True)
    torch.testing.assert_close(found, causal, rtol=0, atol=1e-6)


@pytest.mark.parametrize("causal", [False, True])
def test_gradients_of_running_softmax_attention_are_those_of_differences(causal: bool) -> None:
    for q_len, k_len in ((4, 5), (5, 4)):
        tensors = tuple(x[:1, :1].detach().requires_grad_() for x in inputs(q_len, k_len))
        assert torch.autograd.gradcheck(
            lambda q, k, v: running_softmax_attention(q, k, v, causal, 2), tensors
        )


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("size", [1e4, -1e4])
def test_huge_scores_do_no_harm(causal: bool, size: float) -> None:
    q, k, v = inputs(7, 7)
    grown = ((size * q).detach().requires_grad_(), k, v)
    expected, _ = scaled_dot_product_attention(*grown, lower_right(7, 7) if causal else None)
    found = running_softmax_attention(*grown, causal, 3)
    assert (grown[0] @ k.mT).abs().max() > 1e4
    assert_same_with_gradients(found, expected, grown, 1e-9)


def test_equal_huge_scores_give_the_mean() -> None:
    v = inputs(1, 7)[2]
    for score in (1e4, -1e4):
        q = torch.full((2, 3, 1, 1), score, dtype=torch.float64)
        found = running_softmax_attention(q, torch.ones_like(v[..., :1]), v, block=2)
        assert_same(found, v.mean(-2, keepdim=True), 1e-12)


def test_a_query_before_the_first_key_gets_zeros_and_sends_nothing_back() -> None:
    q, k, v = inputs(5, 2)
    output = running_softmax_attention(q, k, v, causal=True, block=2)
    assert torch.equal(output[..., :3, :], torch.zeros_like(output[..., :3, :]))
    for gradient in torch.autograd.grad(output[..., :3, :].sum(), (q, k, v)):
        assert torch.equal(gradient, torch.zeros_like(gradient))


def test_a_new_query_sees_the_whole_cache_and_with_is_causal_of_torch_the_first_key_only() -> None:
    q, k, v = inputs(1, 7)
    everything = scaled_dot_product_attention(q, k, v)[0]
    assert_same(running_softmax_attention(q, k, v, causal=True, block=3), everything, 1e-12)
    with torch.no_grad():
        topleft = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    assert_same(topleft, v[..., :1, :].detach(), 1e-12)


def test_a_block_keeps_the_logarithm_of_its_rows_sums() -> None:
    q, k, v = inputs(3, 7)
    output, log_sums = attend_block_by_block(q, k, v, 2)
    scores = q @ k.mT
    assert_same(log_sums, scores.logsumexp(-1, keepdim=True), 1e-12)
    assert_same(output, scores.softmax(-1) @ v, 1e-12)
    _, log_sums = attend_block_by_block(q, k, v, 2, first=2)
    seen = scores.masked_fill(~torch.ones(3, 7, dtype=torch.bool).tril(2), -math.inf)
    assert_same(log_sums, seen.logsumexp(-1, keepdim=True), 1e-12)


@pytest.mark.parametrize("causal", [False, True])
def test_no_tensor_of_running_softmax_attention_grows_with_the_square(causal: bool) -> None:
    q, k, v = inputs(64, 64)
    kept: list[int] = []
    with (
        Largest() as largest,
        torch.autograd.graph.saved_tensors_hooks(
            lambda x: kept.append(x.numel()) or x, lambda x: x
        ),
    ):
        running_softmax_attention(q, k, v, causal, block=8).sum().backward()
    assert largest.numbers == q.numel()
    assert sum(kept) == q.numel() + k.numel() + 2 * v.numel() + 2 * 3 * 64
    with Largest() as largest:
        scaled_dot_product_attention(q, k, v)[0].sum().backward()
    assert largest.numbers == 2 * 3 * 64 * 64


def test_blocks_that_are_hidden_as_a_whole_are_skipped() -> None:
    tensors = inputs(64, 64)
    one_pair = flops(lambda: running_softmax_attention(*inputs(16, 16), block=16))
    assert flops(lambda: running_softmax_attention(*tensors, block=16)) == 16 * one_pair
    assert (
        flops(lambda: running_softmax_attention(*tensors, True, 16)) == (4 + 3 + 2 + 1) * one_pair
    )
    output = running_softmax_attention(*tensors, True, 16).sum()
    # Five products a pair where the forward pass has two: weights, their gradients, those of q, k and v.
    widths = 5 + 4 + 5 + 5 + 4
    assert flops(output.backward) == 10 * one_pair // (5 + 4) * widths


def test_running_softmax_attention_says_what_does_not_fit() -> None:
    q, k, v = inputs(5, 7)
    with refuses("block (0) must be 1 or more"):
        running_softmax_attention(q, k, v, block=0)
    with refuses("queries and keys must have the same width d_k, got 5 and 4"):
        running_softmax_attention(q, v, v)
    with refuses("each key needs its value: got 7 keys and 6 values"):
        running_softmax_attention(q, k, v[..., 1:, :])
    with refuses(
        "q, k and v must have the same batch and heads, got (2, 3, 5, 5) and (2, 1, 7, 5) and "
        "(2, 3, 7, 4)"
    ):
        running_softmax_attention(q, k[:, :1], v)


def test_running_softmax_attention_has_no_gradients_of_gradients() -> None:
    q, k, v = inputs(5, 7)
    output = running_softmax_attention(q, k, v)
    message = (
        "running_softmax_attention can't be differentiated twice (create_graph=True): use "
        "scaled_dot_product_attention"
    )
    with pytest.raises(RuntimeError, match=f"^{re.escape(message)}$"):
        torch.autograd.grad(output.sum(), q, create_graph=True)


def test_a_decoder_with_running_softmax_has_the_same_logits_and_gradients() -> None:
    model, ids = decoder(n_key_heads=2, rotary_base=100.0, d_model=16), random_ids([11, 11])
    logits = model(ids)
    logits.logsumexp(-1).sum().backward()
    expected = [p.grad for p in model.parameters()]
    model.zero_grad()
    with_attention(model, lambda q, k, v: running_softmax_attention(q, k, v, causal=True, block=4))
    found = model(ids)
    assert_same(found, logits)
    found.logsumexp(-1).sum().backward()
    for parameter, gradient in zip(model.parameters(), expected, strict=True):
        assert parameter.grad is not None
        assert gradient is not None
        assert_same(parameter.grad, gradient, 1e-4)
    with torch.no_grad():  # with a cache there are fewer queries than keys
        caches = model.stack.start_caches(2, 11)
        states = [model.states(part, caches=caches) for part in ids.split([5, 1, 5], 1)]
        assert_same(model.output(torch.cat(states, 1)), logits)


# Windows and strides

SPARSE = [(local_attention, local_mask), (strided_attention, strided_mask)]


@pytest.mark.parametrize(("attention", "mask"), SPARSE)
@pytest.mark.parametrize("size", [1, 2, 3, 5, 6, 11, 12, 40])
@pytest.mark.parametrize("length", [1, 2, 5, 11, 12])
@pytest.mark.parametrize("causal", [True, False])
def test_attention_in_blocks_is_attention_with_its_mask(
    attention: Callable[..., Tensor],
    mask: Callable[..., Tensor],
    size: int,
    length: int,
    causal: bool,
) -> None:
    tensors = inputs(length, length)
    expected, _ = scaled_dot_product_attention(*tensors, mask(length, size, causal))
    assert_same_with_gradients(attention(*tensors, size, causal), expected, tensors)


@pytest.mark.parametrize(("attention", "mask"), SPARSE)
def test_attention_in_blocks_is_torchs_in_single_precision(
    attention: Callable[..., Tensor], mask: Callable[..., Tensor]
) -> None:
    tensors = inputs(300, 300, torch.float32)
    expected = F.scaled_dot_product_attention(*tensors, attn_mask=mask(300, 32))
    torch.testing.assert_close(attention(*tensors, 32), expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize(("attention", "mask"), SPARSE)
def test_a_decoder_with_attention_in_blocks_is_the_masked_decoder(
    attention: Callable[..., Tensor], mask: Callable[..., Tensor]
) -> None:
    model, ids = decoder(), random_ids([17, 17])
    masked = model(ids, mask(17, 3))
    assert (masked - model(ids)).abs().max() > 1e-2
    with_attention(model, lambda q, k, v: attention(q, k, v, 3))
    assert_same(model(ids), masked)


def test_padding_on_the_right_changes_nothing_before_it() -> None:
    model, ids = decoder(), random_ids([17, 9])
    masked = model(ids, local_mask(17, 3) & padding_mask(ids))
    with_attention(model, lambda q, k, v: local_attention(q, k, v, 3))
    assert_same(model(ids)[1, :9], masked[1, :9])


def test_time_and_memory_of_a_window_grow_with_the_length() -> None:
    for length in (64, 128, 256):
        tensors = inputs(length, length)
        with Largest() as largest:
            local_attention(*tensors, 8)
        assert largest.numbers == 2 * 3 * length * 2 * 8
        assert flops(lambda t=tensors: local_attention(*t, 8)) == 2 * 6 * length * 16 * (5 + 4)


def test_time_and_memory_of_a_stride_are_those_of_the_square_divided_by_it() -> None:
    for length in (64, 128):
        tensors = inputs(length, length)
        with Largest() as largest:
            strided_attention(*tensors, 8)
        assert largest.numbers == 2 * 3 * length * length // 8
        full = flops(lambda t=tensors: scaled_dot_product_attention(*t))
        assert 8 * flops(lambda t=tensors: strided_attention(*t, 8)) == full


@pytest.mark.parametrize("attention", [local_attention, strided_attention])
def test_a_window_or_a_stride_beyond_the_text_costs_no_more_than_one_of_its_length(
    attention: Callable[..., Tensor],
) -> None:
    tensors = inputs(5, 5)
    costs = [flops(lambda n=n: attention(*tensors, n)) for n in (5, 40)]
    assert costs[0] == costs[1]


def test_attention_in_blocks_says_what_does_not_fit() -> None:
    q, k, v = inputs(7, 7)
    with refuses("window (0) must be 1 or more"):
        local_attention(q, k, v, 0)
    with refuses("stride (-1) must be 1 or more"):
        strided_attention(q, k, v, -1)
    with refuses("length (0) must be 1 or more"):
        local_attention(q[..., :0, :], k[..., :0, :], v[..., :0, :], 3)
    with refuses("queries and keys must have the same width d_k, got 5 and 4"):
        local_attention(q, v, v, 3)
    for attention in (local_attention, strided_attention):
        with refuses(
            "q, k and v must be of one sequence, got shapes (2, 3, 1, 5) and (2, 3, 7, 5) and "
            "(2, 3, 7, 4)"
        ):
            attention(q[..., :1, :], k, v, 3)


# What it costs


@pytest.mark.parametrize("n_key_heads", [None, 4, 2, 1])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_cache_has_the_bytes_that_are_counted(
    n_key_heads: int | None, dtype: torch.dtype
) -> None:
    model = decoder(n_key_heads=n_key_heads).to(dtype)
    caches = model.stack.start_caches(5, 31)
    measured = sum(tensor.nbytes for cache in caches for tensor in (cache.keys, cache.values))
    cost = context_cost(31, 12, 4, 3, n_key_heads, bytes_per_number=dtype.itemsize, batch=5)
    assert cost.cache_bytes == measured


def test_a_window_needs_only_its_own_tokens_in_the_cache() -> None:
    caches = decoder().stack.start_caches(5, 8)
    measured = sum(tensor.nbytes for cache in caches for tensor in (cache.keys, cache.values))
    for length, needed in ((31, measured), (8, measured), (4, measured // 2)):
        assert context_cost(length, 12, 4, 3, window=8, batch=5).cache_bytes == needed


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_scores_and_products_of_attention_that_is_written_out_are_those_that_are_counted(
    dtype: torch.dtype,
) -> None:
    q, k, v = (torch.randn(2, 3, 29, 5, dtype=dtype) for _ in range(3))
    weights = scaled_dot_product_attention(q, k, v, causal_mask(29))[1]
    cost = context_cost(29, 15, 3, bytes_per_number=dtype.itemsize, batch=2)
    assert cost.score_bytes == weights.nbytes
    counted = flops(lambda: scaled_dot_product_attention(q, k, v, causal_mask(29)))
    assert 2 * cost.multiply_adds == counted
    layers = context_cost(29, 15, 3, n_layers=7, bytes_per_number=dtype.itemsize, batch=2)
    assert layers.multiply_adds == 7 * cost.multiply_adds
    assert layers.score_bytes == cost.score_bytes


def test_products_of_a_model_are_those_that_are_counted() -> None:
    model, ids = decoder(), random_ids([11, 11])
    whole = flops(lambda: model(ids))
    with_attention(model, lambda q, k, v: v)
    attention = whole - flops(lambda: model(ids))
    assert attention == 2 * context_cost(11, 12, 4, n_layers=3, batch=2).multiply_adds


@pytest.mark.parametrize(("length", "window"), [(29, 8), (24, 8), (5, 8)])
def test_scores_and_products_of_a_window_are_those_that_are_counted(
    length: int, window: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    q, k, v = (torch.randn(2, 3, length, 5) for _ in range(3))
    cost = context_cost(length, 15, 3, window=window, batch=2)
    assert 2 * cost.multiply_adds == flops(lambda: local_attention(q, k, v, window))
    kept: list[int] = []

    def spied(*tensors: Tensor) -> tuple[Tensor, Tensor]:
        output, weights = scaled_dot_product_attention(*tensors)
        kept.append(weights.nbytes)
        return output, weights

    monkeypatch.setattr(local, "scaled_dot_product_attention", spied)
    local_attention(q, k, v, window)
    assert kept == [cost.score_bytes]


def test_shared_keys_make_the_cache_smaller_and_nothing_else() -> None:
    alone, shared = (context_cost(100, 32, 8, 3, n_key_heads=n) for n in (8, 2))
    assert alone.cache_bytes == 4 * shared.cache_bytes
    assert alone.multiply_adds == shared.multiply_adds
    assert alone.score_bytes == shared.score_bytes
    assert alone == context_cost(100, 32, 8, 3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"length": 0}, "length (0) must be 1 or more"),
        ({"d_model": 0}, "d_model (0) must be 1 or more"),
        ({"n_heads": -3}, "n_heads (-3) must be 1 or more"),
        ({"n_layers": 0}, "n_layers (0) must be 1 or more"),
        ({"n_key_heads": 0}, "n_key_heads (0) must be 1 or more"),
        ({"window": 0}, "window (0) must be 1 or more"),
        ({"bytes_per_number": 0}, "bytes_per_number (0) must be 1 or more"),
        ({"batch": 0}, "batch (0) must be 1 or more"),
        ({"d_model": 10}, "d_model (10) must be divisible by n_heads (4)"),
        ({"n_key_heads": 3}, "n_heads (4) must be divisible by n_key_heads (3)"),
    ],
)
def test_costs_say_what_does_not_fit(changes: dict[str, int], message: str) -> None:
    with refuses(message):
        context_cost(**({"length": 7, "d_model": 12, "n_heads": 4} | changes))


def test_sums_of_16_bits_neither_overflow_nor_stop() -> None:
    q, k = torch.zeros(1, 1, 1, 4).half(), torch.zeros(1, 1, 6656, 4).half()
    v = torch.full((1, 1, 6656, 1), 10.0).half()
    found = running_softmax_attention(q, k, v)
    assert (found.item(), found.dtype) == (10.0, torch.float16)
    q = torch.full((1, 1, 1, 1), 20.0).bfloat16()
    k = torch.ones(1, 1, 2, 1).bfloat16()
    v = torch.ones(1, 1, 2, 1).bfloat16().requires_grad_()
    running_softmax_attention(q, k, v).sum().backward()
    assert v.grad is not None
    assert v.grad.flatten().tolist() == [0.5, 0.5]
    with torch.autocast("cpu", torch.bfloat16):
        assert running_softmax_attention(q.float(), k.float(), v.float()).dtype == torch.float32
