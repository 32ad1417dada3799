"""Positions: the paper's formula with Python's own sine, rotations, layouts, and what is refused."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from oracles import assert_same, refuses

from transformer_course.positional_encoding import PositionalEncoding, sinusoidal_encoding

widths = st.sampled_from([2, 4, 6, 10, 14, 22])


@given(length=st.integers(1, 40), d_model=widths, base=st.sampled_from([10000.0, 10.0]))
def test_equals_the_formula(length: int, d_model: int, base: float) -> None:
    table = sinusoidal_encoding(length, d_model, base=base)
    assert table.shape == (length, d_model)
    assert table.dtype == torch.float32
    for position in {0, length // 2, length - 1}:
        for i in range(d_model // 2):
            angle = position / base ** (2 * i / d_model)
            assert float(table[position, 2 * i]) == pytest.approx(math.sin(angle), abs=1e-6)
            assert float(table[position, 2 * i + 1]) == pytest.approx(math.cos(angle), abs=1e-6)


def test_far_positions_keep_their_digits() -> None:
    row = sinusoidal_encoding(60_001, 6)[60_000]
    angles = [60_000 / 10_000 ** (i / 3) for i in range(3)]
    expected = [function(angle) for angle in angles for function in (math.sin, math.cos)]
    assert row.tolist() == pytest.approx(expected, abs=1e-6)


@given(length=st.integers(1, 30), d_model=widths)
def test_layouts_are_permutations_of_each_other(length: int, d_model: int) -> None:
    interleaved = sinusoidal_encoding(length, d_model)
    concatenated = sinusoidal_encoding(length, d_model, "concatenated")
    order = [*range(0, d_model, 2), *range(1, d_model, 2)]
    assert torch.equal(concatenated, interleaved[:, order])


@given(d_model=widths, offset=st.integers(0, 30))
def test_a_step_is_a_rotation_whose_entries_are_the_step_s_own_encoding(
    d_model: int, offset: int
) -> None:
    table = sinusoidal_encoding(64, d_model).double()
    sine, cosine = table[offset, 0::2], table[offset, 1::2]
    for position in (0, 1, 33):
        sin_p, cos_p = table[position, 0::2], table[position, 1::2]
        rotated = torch.stack([sin_p * cosine + cos_p * sine, cos_p * cosine - sin_p * sine], -1)
        assert_same(rotated.flatten(), table[position + offset], 1e-6)


@given(
    d_model=widths, first=st.integers(0, 30), second=st.integers(0, 30), shift=st.integers(0, 30)
)
def test_dot_products_depend_on_the_distance_only(
    d_model: int, first: int, second: int, shift: int
) -> None:
    table = sinusoidal_encoding(64, d_model).double()
    here, there = table[first] @ table[second], table[first + shift] @ table[second + shift]
    assert float(here) == pytest.approx(float(there), abs=1e-5)
    assert float(table[first] @ table[first]) == pytest.approx(d_model / 2, abs=1e-5)


def test_every_position_is_unique() -> None:
    table = sinusoidal_encoding(1000, 10)
    distances = torch.cdist(table, table) + torch.eye(1000) * 9
    assert distances.min() > 0.1


def test_adds_the_table() -> None:
    x = torch.randn(3, 5, 6)
    module = PositionalEncoding(7, 6)
    assert_same(module(x), x + sinusoidal_encoding(5, 6))
    assert_same(module(x, torch.arange(2, 7)), x + sinusoidal_encoding(7, 6)[2:])
    layout = PositionalEncoding(7, 6, layout="concatenated")
    assert_same(layout(x), x + sinusoidal_encoding(5, 6, "concatenated"))
    none = PositionalEncoding(7, 6, "none")
    assert torch.equal(none(x), x)
    assert torch.equal(none(x, torch.arange(2, 7)), x)
    assert not list(module.parameters())
    assert not module.state_dict(), "what can be computed again is not saved"


def test_learned_positions_start_as_large_as_embeddings() -> None:
    """Their variance is 1 / d_model, that of a fresh embedding."""
    torch.manual_seed(0)
    table = PositionalEncoding(400, 25, "learned").table
    assert table is not None
    assert 0.19 < table.std().item() < 0.21


def test_learned_positions_are_learned() -> None:
    module = PositionalEncoding(7, 6, "learned")
    x = torch.randn(3, 5, 6)
    output = module(x)
    assert_same(output - x, module.table[:5].expand(3, -1, -1).detach(), 1e-5)  # type: ignore[index]
    output.sum().backward()
    (table,) = module.parameters()
    assert table.grad is not None
    assert table.grad.tolist() == [[3.0] * 6] * 5 + [[0.0] * 6] * 2


@given(positions=st.lists(st.integers(0, 11), min_size=1, max_size=8))
def test_tokens_may_stand_anywhere(positions: list[int]) -> None:
    module, table = PositionalEncoding(12, 6), sinusoidal_encoding(12, 6)
    x = torch.zeros(2, len(positions), 6)
    each = torch.tensor([positions, positions[::-1]])
    assert torch.equal(module(x, each[0]), table[positions].expand(2, -1, -1))
    assert torch.equal(module(x, each)[1], table[positions[::-1]])


def test_reset_draws_learned_positions_anew() -> None:
    module = PositionalEncoding(50, 64, "learned")
    before = module.table.detach().clone()  # type: ignore[union-attr]
    module.reset_parameters()
    assert (module.table != before).all()
    assert module.table.std().item() == pytest.approx(1 / 8, rel=0.1)  # type: ignore[union-attr]
    PositionalEncoding(5, 6).reset_parameters()


def test_whole_table_may_be_used_and_no_more() -> None:
    for kind in ("sinusoidal", "learned", "none"):
        module = PositionalEncoding(7, 6, kind)  # type: ignore[arg-type]
        assert module(torch.zeros(1, 7, 6)).shape == (1, 7, 6)
        for length, positions in [(8, None), (2, [6, 7]), (2, [7, 0])]:
            with refuses("sequence of length 8 is longer than the positions, max_len (7)"):
                where = None if positions is None else torch.tensor(positions)
                module(torch.zeros(1, length, 6), where)


def test_refuses_what_it_cannot_encode() -> None:
    with refuses("length (0) must be 1 or more"):
        sinusoidal_encoding(0, 4)
    for d_model in (5, 0, -2):
        with refuses(
            f"d_model ({d_model}) must be even and 2 or more: sines and cosines come in pairs"
        ):
            sinusoidal_encoding(3, d_model)
    with refuses("layout ('mixed') must be 'interleaved' or 'concatenated'"):
        sinusoidal_encoding(3, 4, "mixed")  # type: ignore[arg-type]
    with refuses("kind ('rotary') must be 'sinusoidal', 'learned' or 'none'"):
        PositionalEncoding(3, 4, "rotary")  # type: ignore[arg-type]
    for kind in ("sinusoidal", "learned", "none"):
        with refuses("max_len (0) must be 1 or more"):
            PositionalEncoding(0, 4, kind)  # type: ignore[arg-type]
    module = PositionalEncoding(7, 6)
    with refuses("positions (-1) must be 0 or more"):
        module(torch.zeros(1, 2, 6), torch.tensor([0, -1]))
    with refuses("positions of shape (3,) must name a place for each of 2 tokens"):
        module(torch.zeros(1, 2, 6), torch.arange(3))
