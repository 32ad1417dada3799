"""Attention against torch's own, its properties, and what it refuses."""

import math
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from oracles import assert_same, assert_same_gradients, refuses
from torch import Tensor

from transformer_course.attention import (
    AdditiveAttention,
    check_mask,
    scaled_dot_product_attention,
    softmax,
)
from transformer_course.fast import fused_attention

BATCH, HEADS, Q_LEN, K_LEN, D_K, D_V = 2, 3, 5, 7, 11, 13


def make_inputs() -> tuple[Tensor, Tensor, Tensor]:
    torch.manual_seed(0)
    queries = torch.randn(BATCH, HEADS, Q_LEN, D_K, requires_grad=True)
    keys = torch.randn(BATCH, HEADS, K_LEN, D_K, requires_grad=True)
    values = torch.randn(BATCH, HEADS, K_LEN, D_V, requires_grad=True)
    return queries, keys, values


def random_mask(*shape: int) -> Tensor:
    """About half of the entries True, and at least one in each row."""
    mask = torch.rand(shape) < 0.5
    mask[..., 0] |= ~mask.any(-1)
    return mask


@pytest.mark.parametrize(
    "mask_shape", [None, (K_LEN,), (BATCH, 1, 1, K_LEN), (BATCH, HEADS, Q_LEN, K_LEN)]
)
def test_equals_torch_with_gradients(mask_shape: tuple[int, ...] | None) -> None:
    ours, theirs = make_inputs(), make_inputs()
    mask = None if mask_shape is None else random_mask(*mask_shape)
    output, weights = scaled_dot_product_attention(*ours, mask)
    expected = F.scaled_dot_product_attention(
        *theirs, attn_mask=None if mask is None else mask.expand(BATCH, HEADS, Q_LEN, K_LEN)
    )
    assert output.shape == (BATCH, HEADS, Q_LEN, D_V)
    assert weights.shape == (BATCH, HEADS, Q_LEN, K_LEN)
    assert_same(output, expected)
    names = ("queries", "keys", "values")
    pairs = {name: (a, b) for name, a, b in zip(names, ours, theirs, strict=True)}
    assert_same_gradients((output, expected), pairs)


def test_equals_the_equation_written_with_loops() -> None:
    queries, keys, values = (x.detach()[0, 0] for x in make_inputs())
    output, weights = scaled_dot_product_attention(queries, keys, values)
    for i in range(Q_LEN):
        exponentials = [
            math.exp(sum(float(queries[i, c] * keys[k, c]) for c in range(D_K)) / math.sqrt(D_K))
            for k in range(K_LEN)
        ]
        for k in range(K_LEN):
            share = exponentials[k] / sum(exponentials)
            assert float(weights[i, k]) == pytest.approx(share, rel=1e-4)
        for c in range(D_V):
            mean = sum(float(weights[i, k] * values[k, c]) for k in range(K_LEN))
            assert float(output[i, c]) == pytest.approx(mean, rel=1e-4, abs=1e-5)


@given(
    shape=st.lists(st.integers(1, 5), min_size=1, max_size=4),
    scale=st.sampled_from([0.01, 1.0, 100.0, 1e30]),
    seed=st.integers(0, 999),
    masked=st.booleans(),
)
def test_weights_are_positive_and_sum_to_one(
    shape: list[int], scale: float, seed: int, masked: bool
) -> None:
    torch.manual_seed(seed)
    scores = torch.randn(shape) * scale
    mask = random_mask(*shape) if masked else None
    weights = softmax(scores, mask)
    assert (weights >= 0).all()
    assert_same(weights.sum(-1), torch.ones(shape[:-1]))
    if mask is not None:
        assert (weights[~mask] == 0).all()


@given(dim=st.integers(-3, 2), drop=st.integers(0, 3), seed=st.integers(0, 999))
def test_softmax_along_any_dimension(dim: int, drop: int, seed: int) -> None:
    """A mask with fewer dimensions than the scores belongs to the last ones, whatever `dim` is."""
    torch.manual_seed(seed)
    scores = torch.randn(2, 3, 5)
    mask = torch.rand(scores.shape[drop:]) < 0.5 if drop < 3 else torch.tensor(True)
    expected = scores.masked_fill(~mask, -torch.inf).softmax(dim).nan_to_num(0.0)
    assert_same(softmax(scores, mask, dim), expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("seen", [-math.inf, -1.0])
def test_a_hidden_key_never_gets_weight(dtype: torch.dtype, seen: float) -> None:
    """Not even where all scores that may be seen are infinitely low, as after an overflow."""
    scores = torch.tensor([[seen, 0.0], [0.0, -math.inf]], dtype=dtype, requires_grad=True)
    weights = softmax(scores, torch.tensor([True, False]))
    assert weights.tolist() == [[0.0 if seen == -math.inf else 1.0, 0.0], [1.0, 0.0]]
    (weights * torch.tensor([2.0, 3.0])).sum().backward()
    assert scores.grad is not None
    assert (scores.grad == 0).all()


def test_a_score_that_overflows_in_half_precision_gives_hidden_keys_no_weight() -> None:
    queries, keys = torch.full((1, 8), 300.0), torch.full((2, 8), -300.0)
    keys[1] = 0.0  # hidden
    mask, values = torch.tensor([True, False]), torch.tensor([[1.0], [5.0]])
    output, weights = scaled_dot_product_attention(queries.half(), keys.half(), values.half(), mask)
    assert weights[0, 1] == 0
    assert output == 0


def test_a_score_that_overflows_to_infinity_is_nan_where_it_is_seen() -> None:
    """As in torch: no silent answer. Where it is hidden, it does no harm."""
    queries, keys = torch.full((1, 8), 300.0).half(), torch.full((2, 8), 300.0).half()
    keys[1] = 0.0
    values = torch.tensor([[1.0], [5.0]]).half()
    for mask in (None, torch.tensor([True, True]), torch.tensor([True, False])):
        output, weights = scaled_dot_product_attention(queries, keys, values, mask)
        assert weights[0, 0].isnan()
        assert output.isnan()
    output, weights = scaled_dot_product_attention(
        queries, keys, values, torch.tensor([False, True])
    )
    assert weights.tolist() == [[0.0, 1.0]]
    assert output == 5


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_the_lowest_finite_score_shares_with_hidden_keys(dtype: torch.dtype) -> None:
    """The limit that the docstring names: what is lost goes to nobody, and one step above nothing is lost."""
    lowest = torch.finfo(dtype).min
    mask = torch.tensor([True, False])
    at_the_limit = torch.tensor([lowest, 0.0], dtype=dtype)
    assert softmax(at_the_limit, mask).tolist() == [0.5, 0.0]
    one_step = torch.nextafter(at_the_limit, torch.zeros_like(at_the_limit))
    assert softmax(one_step, mask).tolist() == [1.0, 0.0]


def test_additive_attention_draws_every_map_anew() -> None:
    attention = AdditiveAttention(d_query=5, d_key=3, d_hidden=11)
    before = [p.detach().clone() for p in attention.parameters()]
    attention.reset_parameters()
    assert len(before) == 3
    assert all((p != old).all() for p, old in zip(attention.parameters(), before, strict=True))


def test_softmax_equals_torch_without_mask_and_forgets_a_common_shift() -> None:
    torch.manual_seed(0)
    scores = torch.randn(3, 5, 7)
    assert_same(softmax(scores, dim=1), F.softmax(scores, 1))
    assert_same(softmax(scores), softmax(scores + 50.0))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("mask_shape", [(1,), (Q_LEN, 1), (Q_LEN, K_LEN)])
def test_query_without_any_key_gets_zeros_and_finite_gradients(
    dtype: torch.dtype, mask_shape: tuple[int, ...]
) -> None:
    queries, keys, values = (x.detach().to(dtype).requires_grad_() for x in make_inputs())
    mask = torch.ones(mask_shape, dtype=torch.bool)
    blind = slice(None) if mask_shape == (1,) else slice(1, 3)
    mask[blind] = False
    output, weights = scaled_dot_product_attention(queries, keys, values, mask)
    assert (output[:, :, blind] == 0).all()
    assert (weights[:, :, blind] == 0).all()
    output.sum().backward()
    for x in (queries, keys, values):
        assert x.grad is not None
        assert x.grad.isfinite().all()
    assert queries.grad is not None
    assert (queries.grad[:, :, blind] == 0).all()
    if blind != slice(None):
        assert (queries.grad[:, :, 3:] != 0).any()


def test_a_masked_key_and_its_value_change_nothing() -> None:
    queries, keys, values = (x.detach() for x in make_inputs())
    mask = torch.arange(K_LEN) != 4
    before, _ = scaled_dot_product_attention(queries, keys, values, mask)
    keys[:, :, 4], values[:, :, 4] = 1e4, -1e4
    assert torch.equal(scaled_dot_product_attention(queries, keys, values, mask)[0], before)


def test_scaled_scores_keep_variance_one() -> None:
    """Why eq. 1 divides by the root of d_k: with it, wide queries don't make sharper weights."""
    torch.manual_seed(0)
    entropies = []
    for width in (4, 1024):
        queries, keys = torch.randn(64, width), torch.randn(31, width)
        _, weights = scaled_dot_product_attention(queries, keys, keys)
        entropies.append(float(-torch.xlogy(weights, weights).sum(-1).mean()))
    assert entropies[0] == pytest.approx(entropies[1], abs=0.15)
    # Scores of variance 1 take half a nat off the entropy of equal weights; smaller ones take less.
    assert max(entropies) < math.log(31) - 0.3


@pytest.mark.parametrize("with_mask", [False, True])
def test_additive_attention_equals_its_equation(with_mask: bool) -> None:
    torch.manual_seed(0)
    attention = AdditiveAttention(d_query=5, d_key=3, d_hidden=11)
    queries, keys, values = torch.randn(2, 7, 5), torch.randn(2, 13, 3), torch.randn(2, 13, 17)
    mask = random_mask(2, 7, 13) if with_mask else None
    output, weights = attention(queries, keys, values, mask)
    assert output.shape == (2, 7, 17)
    for b, i in [(0, 0), (1, 6)]:
        energies = torch.stack(
            [
                attention.v.weight[0]
                @ torch.tanh(
                    attention.w_query.weight @ queries[b, i] + attention.w_key.weight @ key
                )
                for key in keys[b]
            ]
        )
        if mask is not None:
            energies = energies.masked_fill(~mask[b, i], -torch.inf)
        assert_same(weights[b, i], energies.softmax(0))
        assert_same(output[b, i], energies.softmax(0) @ values[b])
    output.sum().backward()
    for name, parameter in attention.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().max() > 0, name


def test_refuses_a_mask_of_another_type() -> None:
    message = "mask must be boolean (True = may attend), got dtype torch.float32"
    with refuses(message):
        softmax(torch.zeros(2, 3), torch.ones(2, 3))
    with refuses(message.replace("float32", "int64")):
        check_mask(torch.ones(3, dtype=torch.int64), torch.Size((2, 3)))


@pytest.mark.parametrize("shape", [(3, 2), (1, 2, 3), (2,), (0,), (2, 1, 1, 3)])
def test_refuses_a_mask_of_another_shape(shape: tuple[int, ...]) -> None:
    with refuses(
        f"mask of shape {shape} must be broadcastable to the scores of shape (2, 3), that is "
        "(..., q_len, k_len)"
    ):
        softmax(torch.zeros(2, 3), torch.ones(shape, dtype=torch.bool))


def test_refuses_sizes_that_do_not_fit() -> None:
    with refuses("queries and keys must have the same width d_k, got 5 and 3"):
        scaled_dot_product_attention(torch.zeros(2, 5), torch.zeros(7, 3), torch.zeros(7, 5))
    with refuses("each key needs its value: got 7 keys and 2 values"):
        scaled_dot_product_attention(torch.zeros(2, 5), torch.zeros(7, 5), torch.zeros(2, 5))


@pytest.mark.parametrize("attention", [scaled_dot_product_attention, fused_attention])
def test_batches_that_do_not_fit_are_torchs_error_as_the_docstring_says(
    attention: Callable[..., object],
) -> None:
    queries, keys = torch.zeros(2, 3, 5), torch.zeros(3, 7, 5)
    assert "RuntimeError: if the leading dimensions" in (attention.__doc__ or "")
    with pytest.raises(RuntimeError):
        attention(queries, keys, keys)
    with pytest.raises(RuntimeError):
        attention(queries, keys[:2], keys)
    with refuses("queries and keys must have the same width d_k, got 4 and 5"):
        attention(queries[..., :4], keys, keys)
    with refuses("each key needs its value: got 7 keys and 6 values"):
        attention(queries, keys, keys[:, :6])
