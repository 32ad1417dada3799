"""Masks: what they hide, their polarity against torch's two conventions, and what they do in a whole model."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from oracles import assert_same, random_ids, refuses, tiny_model
from torch import nn

from transformer_course.attention import scaled_dot_product_attention
from transformer_course.masking import causal_mask, decoder_mask, padding_mask


@given(length=st.integers(1, 9))
def test_causal_mask_shows_a_position_itself_and_the_past(length: int) -> None:
    mask = causal_mask(length)
    assert mask.shape == (1, 1, length, length)
    assert mask.dtype == torch.bool
    for t in range(length):
        for k in range(length):
            assert bool(mask[0, 0, t, k]) == (k <= t)


@given(lengths=st.lists(st.integers(1, 6), min_size=1, max_size=4), pad_id=st.sampled_from([0, 9]))
def test_padding_mask_shows_what_is_real(lengths: list[int], pad_id: int) -> None:
    ids = random_ids(lengths, vocab_size=9, width=7)
    ids[ids == 0] = pad_id
    mask = padding_mask(ids, pad_id)
    assert mask.shape == (len(lengths), 1, 1, 7)
    for row, length in enumerate(lengths):
        assert mask[row, 0, 0].tolist() == [k < length for k in range(7)]


def test_decoder_mask_is_causal_and_padding() -> None:
    ids = torch.tensor([[1, 5, 6], [1, 5, 0]])
    expected = [[[1, 0, 0], [1, 1, 0], [1, 1, 1]], [[1, 0, 0], [1, 1, 0], [1, 1, 0]]]
    assert decoder_mask(ids).shape == (2, 1, 3, 3)
    assert decoder_mask(ids)[:, 0].int().tolist() == expected
    assert decoder_mask(torch.tensor([[0, 5]]), pad_id=7).int().tolist() == [[[[1, 0], [1, 1]]]]


def test_polarity_against_torch() -> None:
    """torch's modules: True = hidden. `F.scaled_dot_product_attention`: True = may attend, like ours."""
    torch.manual_seed(0)
    length = 5
    hidden = nn.Transformer.generate_square_subsequent_mask(length, dtype=torch.bool)
    assert torch.equal(causal_mask(length)[0, 0], ~hidden)
    queries, keys, values = torch.randn(3, 2, 7, length, 11).unbind(0)
    ours, _ = scaled_dot_product_attention(queries, keys, values, causal_mask(length))
    theirs = F.scaled_dot_product_attention(queries, keys, values, is_causal=True)
    assert_same(ours, theirs)


@given(
    length=st.integers(2, 9),
    position=st.integers(1, 8),
    seed=st.integers(0, 99),
    norm=st.sampled_from(["pre", "post"]),
)
def test_future_never_changes_the_past(length: int, position: int, seed: int, norm: str) -> None:
    position = min(position, length - 1)
    model = tiny_model(seed, norm=norm)
    src, tgt = random_ids([5, 3]), random_ids([length, length])
    before = model(src, tgt)
    changed = tgt.clone()
    changed[:, position] = 3 + (changed[:, position] - 2) % 10
    after = model(src, changed)
    assert_same(after[:, :position], before[:, :position], 1e-6)
    assert not torch.allclose(after[:, position], before[:, position], atol=1e-4)


def test_no_gradient_flows_from_the_past_to_the_future() -> None:
    model = tiny_model(tie_embeddings=False)
    src, tgt = random_ids([5]), torch.arange(3, 11)[None]
    for position in range(tgt.shape[1]):
        model.zero_grad()
        model(src, tgt)[0, position].square().sum().backward()
        gradient = model.tgt_embedding.weight.grad
        assert gradient is not None
        reached = gradient.abs().sum(-1) > 0
        assert reached.tolist() == [3 <= i <= 3 + position for i in range(13)]


@given(
    lengths=st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), min_size=1, max_size=4),
    extra=st.integers(0, 3),
    seed=st.integers(0, 99),
    norm=st.sampled_from(["pre", "post"]),
    positions=st.sampled_from(["sinusoidal", "learned"]),
)
def test_padded_batch_gives_what_its_sentences_give_alone(
    lengths: list[tuple[int, int]], extra: int, seed: int, norm: str, positions: str
) -> None:
    model = tiny_model(seed, norm=norm, positions=positions)
    src = random_ids([n for n, _ in lengths], width=6 + extra)
    tgt = random_ids([n for _, n in lengths], width=6 + extra)
    together = model(src, tgt)
    for row, (n_src, n_tgt) in enumerate(lengths):
        alone = model(src[row : row + 1, :n_src], tgt[row : row + 1, :n_tgt])
        assert_same(together[row : row + 1, :n_tgt], alone, 2e-5)


def test_padding_embedding_gets_no_gradient_from_the_encoder() -> None:
    model = tiny_model(tie_embeddings=False)
    src, tgt = random_ids([5, 2]), random_ids([4, 3])
    real = tgt != 0
    model(src, tgt)[real].square().sum().backward()
    for table in (model.src_embedding, model.tgt_embedding):
        assert table.weight.grad is not None
        assert (table.weight.grad[0] == 0).all()


def test_sentence_of_padding_only_stays_finite() -> None:
    model = tiny_model()
    src, tgt = torch.zeros(2, 4, dtype=torch.int64), random_ids([3, 3])
    src[0] = 5
    logits = model(src, tgt)
    assert logits.isfinite().all()
    logits.sum().backward()
    assert all(p.grad is None or bool(p.grad.isfinite().all()) for p in model.parameters())


@pytest.mark.parametrize("shape", [(3,), (2, 1, 1, 3), ()])
def test_padding_mask_refuses_ids_that_are_not_a_batch(shape: tuple[int, ...]) -> None:
    ids = torch.ones(shape, dtype=torch.int64)
    for make in (padding_mask, decoder_mask):
        with refuses(f"ids must have shape (batch, length), got {shape}"):
            make(ids)


@pytest.mark.parametrize("length", [0, -3])
def test_causal_mask_refuses_an_empty_sequence(length: int) -> None:
    with refuses(f"length ({length}) must be 1 or more"):
        causal_mask(length)
    with refuses("length (0) must be 1 or more"):
        decoder_mask(torch.zeros(2, 0, dtype=torch.int64))
