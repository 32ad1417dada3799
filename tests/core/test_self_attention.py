"""Self-attention: torch as oracle, order is invisible, and where queries, keys and values come from."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from oracles import assert_same, assert_same_gradients
from torch import nn

from transformer_course.self_attention import SelfAttention

BATCH, LENGTH, D_MODEL = 2, 5, 7


def torch_self_attention(ours: SelfAttention) -> nn.MultiheadAttention:
    """torch's attention with one head, which has d_k = d_v = d_model, our weights and no output map."""
    theirs = nn.MultiheadAttention(D_MODEL, 1, bias=False, batch_first=True)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(
            torch.cat([ours.w_query.weight, ours.w_key.weight, ours.w_value.weight])
        )
        theirs.out_proj.weight.copy_(torch.eye(D_MODEL))
    return theirs


@pytest.mark.parametrize("cross", [False, True])
def test_equals_torch_with_gradients(cross: bool) -> None:
    torch.manual_seed(0)
    ours = SelfAttention(D_MODEL, D_MODEL)
    theirs = torch_self_attention(ours)
    x = torch.randn(BATCH, LENGTH, D_MODEL, requires_grad=True)
    memory = torch.randn(BATCH, 11 if cross else LENGTH, D_MODEL)
    mask = torch.rand(BATCH, LENGTH, memory.shape[1]) < 0.5
    mask[..., 0] = True
    x_theirs = x.detach().clone().requires_grad_()
    source = memory if cross else x_theirs
    output, weights = ours(x, mask, memory=memory if cross else None)
    expected, expected_weights = theirs(x_theirs, source, source, attn_mask=~mask)
    assert_same(output, expected)
    assert_same(weights, expected_weights)
    assert_same_gradients((output, expected), {"x": (x, x_theirs)})
    assert theirs.in_proj_weight.grad is not None
    ours_packed = [part.weight.grad for part in (ours.w_query, ours.w_key, ours.w_value)]
    assert_same(torch.cat([g for g in ours_packed if g is not None]), theirs.in_proj_weight.grad)


def test_widths_of_keys_and_values_are_free() -> None:
    attention = SelfAttention(D_MODEL, 3, 11)
    output, weights = attention(torch.randn(BATCH, LENGTH, D_MODEL))
    assert output.shape == (BATCH, LENGTH, 11)
    assert weights.shape == (BATCH, LENGTH, LENGTH)
    assert SelfAttention(D_MODEL, 3)(torch.randn(1, 2, D_MODEL))[0].shape == (1, 2, 3)


def test_three_projections_of_their_own_and_no_bias() -> None:
    """One shared projection would make the scores symmetric; the paper's projections have no bias."""
    torch.manual_seed(0)
    attention = SelfAttention(D_MODEL, 3)
    assert sorted(dict(attention.named_parameters())) == [
        "w_key.weight",
        "w_query.weight",
        "w_value.weight",
    ]
    x = torch.randn(1, LENGTH, D_MODEL)
    scores = attention(x)[1][0].log()  # up to a number for each row
    # With symmetric scores, both ways round a triangle of words would have the same sum.
    there = scores[0, 1] + scores[1, 2] + scores[2, 0]
    back = scores[0, 2] + scores[2, 1] + scores[1, 0]
    assert abs(there - back) > 0.01


@given(order=st.permutations(range(LENGTH)), seed=st.integers(0, 999))
def test_shuffling_the_words_shuffles_the_result(order: list[int], seed: int) -> None:
    torch.manual_seed(seed)
    attention = SelfAttention(D_MODEL, 3, 11)
    x = torch.randn(BATCH, LENGTH, D_MODEL)
    assert_same(attention(x[:, order])[0], attention(x)[0][:, order])


@given(order=st.permutations(range(LENGTH)), seed=st.integers(0, 999))
def test_shuffling_the_memory_changes_nothing(order: list[int], seed: int) -> None:
    torch.manual_seed(seed)
    attention = SelfAttention(D_MODEL, 3, 11)
    x, memory = torch.randn(BATCH, 3, D_MODEL), torch.randn(BATCH, LENGTH, D_MODEL)
    assert_same(attention(x, memory=memory[:, order])[0], attention(x, memory=memory)[0])


def test_sentences_of_a_batch_do_not_mix() -> None:
    torch.manual_seed(0)
    attention = SelfAttention(D_MODEL, 3, 11)
    x = torch.randn(3, LENGTH, D_MODEL)
    alone = torch.cat([attention(sentence[None])[0] for sentence in x])
    assert_same(attention(x)[0], alone)


def test_mask_decides_who_is_seen() -> None:
    torch.manual_seed(0)
    attention = SelfAttention(D_MODEL, 3)
    x = torch.randn(1, LENGTH, D_MODEL)
    only_second = torch.arange(LENGTH) == 1
    output, weights = attention(x, only_second)
    assert torch.equal(weights, only_second.float().expand(1, LENGTH, LENGTH))
    assert_same(output, attention.w_value(x[:, 1:2]).expand(-1, LENGTH, -1))


def test_refuses_a_mask_that_does_not_fit() -> None:
    attention = SelfAttention(D_MODEL, 3)
    with pytest.raises(
        ValueError, match=r"^mask of shape \(2, 3\) must be broadcastable to .*\(1, 5, 5\)"
    ):
        attention(torch.zeros(1, 5, D_MODEL), torch.ones(2, 3, dtype=torch.bool))
    with pytest.raises(ValueError, match=r"^mask must be boolean .* got dtype torch\.uint8$"):
        attention(torch.zeros(1, 5, D_MODEL), torch.ones(5, 5, dtype=torch.uint8))


def test_reset_draws_every_matrix_anew() -> None:
    module = SelfAttention(7, 3, 5)
    with torch.no_grad():
        for weight in module.parameters():
            weight.fill_(9.0)
    torch.manual_seed(4)
    module.reset_parameters()
    torch.manual_seed(4)
    fresh = SelfAttention(7, 3, 5)
    for ours, theirs in zip(module.parameters(), fresh.parameters(), strict=True):
        assert torch.equal(ours, theirs)
