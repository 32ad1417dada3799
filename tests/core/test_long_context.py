"""Positions as distances, segments with a memory, masks: loops as oracles, and transformers."""

import copy
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from oracles import assert_same, random_ids, refuses, shake
from torch import Tensor
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.t5.modeling_t5 import T5Attention

from transformer_course.attention import softmax
from transformer_course.checkpoints import CheckpointError, load_tensors, save_tensors
from transformer_course.decoding import beam_search, greedy
from transformer_course.encoder_decoder import EncoderLayer, LayerConfig
from transformer_course.families import (
    DecoderConfig,
    DecoderOnly,
    EncoderConfig,
    EncoderOnly,
    load_model,
    save_model,
    to_pretrained,
)
from transformer_course.fast import use_fast
from transformer_course.long_context import (
    AlibiBias,
    ShawPositions,
    T5Bias,
    TransformerXLPositions,
    alibi_slopes,
    global_mask,
    layer_with_past,
    local_mask,
    reach,
    read_in_segments,
    read_segment,
    relative_positions,
    relative_shift,
    strided_mask,
    t5_buckets,
)
from transformer_course.masking import causal_mask
from transformer_course.multi_head import MultiHeadAttention, record_attention
from transformer_course.positional_encoding import RotaryEncoding

VOCAB, MAX_LEN = 13, 40
KINDS = ("alibi", "t5", "shaw", "xl")
# What tells a decoder of distances: changes of its layers.
SCHEMES: dict[str, dict[str, Any]] = {
    **{kind: {"relative": kind} for kind in KINDS},
    "rotary": {"rotary_base": 20.0},
    "grouped": {"relative": "xl", "n_key_heads": 2, "norm": "post"},
    "none": {},
}
schemes = st.sampled_from([*SCHEMES])
each_kind = pytest.mark.parametrize("kind", KINDS)
each_scheme = pytest.mark.parametrize("scheme", SCHEMES)


def layer(**changes: Any) -> LayerConfig:
    """4 heads of width 6, 7 numbers in the feed-forward net, no dropout."""
    return LayerConfig(**({"d_model": 24, "n_heads": 4, "d_ff": 7, "dropout": 0.0} | changes))


def decoder(scheme: str, seed: int = 0, **changes: Any) -> Any:
    """A random language model without positions at the bottom."""
    torch.manual_seed(seed)
    sizes: dict[str, Any] = {"n_layers": 2, "max_len": MAX_LEN, "positions": "none"} | changes
    model = DecoderOnly(DecoderConfig(VOCAB, layer(**SCHEMES[scheme]), **sizes))
    shake(model)
    return model.eval()


def text(n: int, rows: int = 2) -> Tensor:
    return random_ids([n] * rows, VOCAB)


def shaken(module: Any) -> Any:
    shake(module)
    return module


# What each scheme adds


def wave(distance: int, width: int) -> Tensor:
    angles = [distance / 10000 ** (2 * i / width) for i in range(width // 2)]
    return torch.tensor([*map(math.sin, angles), *map(math.cos, angles)])


def bucket(back: int) -> int:
    """T5's, for a causal mask: 16 of their own, then 16 that grow from 16 to 128 by a factor."""
    if back < 16:
        return max(back, 0)
    edges = [16 * 8 ** (n / 16) for n in range(1, 16)]
    return 16 + sum(back >= edge - 1e-6 for edge in edges)


def added(scheme: Any, h: int, q: Tensor, k: Tensor, back: int) -> Tensor:
    """What a scheme adds to one score, by its formula."""
    d_k = len(q)
    match scheme:
        case AlibiBias():
            return torch.tensor(-abs(back) / 4 ** (h + 1))  # of 4 heads
        case T5Bias():
            return scheme.table[bucket(back), h]
        case ShawPositions():
            return q @ scheme.table[max(-16, min(16, -back)) + 16] / d_k**0.5
    u, v = scheme.key_bias[h, 0], scheme.distance_bias[h, 0]
    r = scheme.w_distance.weight[h * d_k : (h + 1) * d_k] @ wave(back, 4 * d_k)
    return (u @ k + q @ r + v @ r) / d_k**0.5


@each_kind
@torch.no_grad()
def test_each_scheme_adds_what_its_formula_says(kind: str) -> None:
    """Places of two rows: the last 3 of 40, and 3 in the middle, so that keys come after queries, too."""
    torch.manual_seed(0)
    scheme = shaken(relative_positions(kind, 4, 6))
    q, k = torch.randn(2, 4, 3, 6), torch.randn(2, 4, 40, 6)
    k_places = torch.stack([torch.arange(40), torch.arange(40).flip(0) + 5])
    q_places = torch.tensor([[37, 38, 39], [30, 12, 20]])
    found = scheme(q, k, q_places, k_places).expand(2, 4, 3, 40)
    expected = torch.empty(2, 4, 3, 40)
    for b, h, i, j in torch.cartesian_prod(*map(torch.arange, expected.shape)).tolist():
        back = int(q_places[b, i] - k_places[b, j])
        expected[b, h, i, j] = added(scheme, h, q[b, h, i], k[b, h, j], back)
    assert_same(found, expected)
    assert_same(scheme(q, k, q_places[:1], k_places[:1]).expand_as(found)[0], found[0])


@each_kind
@torch.no_grad()
def test_attention_adds_it_before_softmax(kind: str) -> None:
    """So that of Transformer-XL is q·k + q·r + u·k + v·r, all divided by √d_k."""
    torch.manual_seed(0)
    scheme = shaken(relative_positions(kind, 4, 6))
    attention = MultiHeadAttention(24, 4, score_bias=scheme)
    x, mask = torch.randn(2, 7, 24), causal_mask(7)
    output, weights = attention(x, mask=mask)
    q, k, v = (
        attention.split_heads(w(x)) for w in (attention.w_query, attention.w_key, attention.w_value)
    )
    scores = torch.full((2, 4, 7, 7), -torch.inf)
    for b, h, i, j in torch.cartesian_prod(*map(torch.arange, scores.shape)).tolist():
        if j <= i:
            content = q[b, h, i] @ k[b, h, j] / 6**0.5
            scores[b, h, i, j] = content + added(scheme, h, q[b, h, i], k[b, h, j], i - j)
    assert_same(weights, scores.softmax(-1))
    heads = (scores.softmax(-1) @ v).transpose(1, 2).flatten(-2)
    assert_same(output, attention.w_output(heads))
    plain = MultiHeadAttention(24, 4)
    plain.load_state_dict(attention.state_dict(), strict=False)
    assert not torch.allclose(plain(x, mask=mask)[0], output, atol=1e-2)


def test_slopes_are_those_of_bloom() -> None:
    for n_heads in range(1, 25):
        theirs = build_alibi_tensor(torch.ones(1, 3, dtype=torch.int64), n_heads, torch.float32)
        ours = alibi_slopes(n_heads)
        assert_same(ours, theirs[:, 0, 1])
        assert (ours > 0).all()
        assert (ours < 1).all()
    with refuses("n_heads (0) must be 1 or more"):
        alibi_slopes(0)


@given(half=st.integers(2, 20), further=st.integers(1, 200), both_ways=st.booleans())
def test_buckets_are_those_of_transformers(half: int, further: int, both_ways: bool) -> None:
    back = torch.arange(-300, 300)
    sizes = 2 * half, half + further
    ours = t5_buckets(back, *sizes, both_ways)
    of_t5: Any = T5Attention
    theirs = of_t5._relative_position_bucket(-back, both_ways, *sizes)
    assert torch.equal(ours, theirs)
    assert (ours[300:].diff() >= 0).all()
    assert ours.min() == 0
    assert ours.max() == 2 * half - 1


@pytest.mark.parametrize("both_ways", [False, True])
def test_later_keys_have_buckets_of_their_own_or_none(both_ways: bool) -> None:
    scheme, unread, places = shaken(T5Bias(2, 8, 20, both_ways)), torch.zeros(1), torch.arange(9)
    added = scheme(unread, unread, places[None], places[None])[0]  # (heads, 9, 9)
    assert (added[:, 0, 1:] == added[:, :1, 0]).all() == (not both_ways)
    assert (added[:, 0, 1:] != added[:, 1:, 0]).all()


@each_scheme
@torch.no_grad()
def test_only_distances_count(scheme: str) -> None:
    model, ids = decoder(scheme), text(9)
    expected = model(ids)
    moved = model.output(model.states(ids, positions=torch.arange(20, 29)))
    assert_same(moved, expected, 1e-4)
    other = model.output(model.states(ids, positions=torch.arange(9).roll(1)))
    assert torch.allclose(other, expected, atol=1e-3) == (scheme == "none")


def test_places_with_gaps_are_refused_where_they_would_be_read_wrongly() -> None:
    scheme, q = TransformerXLPositions(2, 4), torch.zeros(1, 2, 3, 4)
    places = torch.tensor([[0, 1, 3]])
    with refuses("positions are up to 3 apart; 3 keys without gaps are at most 2"):
        scheme(q, q, places, places)
    assert scheme(q, q, places.clamp(max=2), places.clamp(max=2)).shape == (1, 2, 3, 3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: AlibiBias(0), "n_heads (0) must be 1 or more"),
        (lambda: T5Bias(2, 5), "n_buckets (5) must be even, 4 or more"),
        (lambda: T5Bias(2, 2), "n_buckets (2) must be even, 4 or more"),
        (lambda: T5Bias(2, 8, 4), "max_distance (4) must be above half of n_buckets (8)"),
        (
            lambda: t5_buckets(torch.arange(3), max_distance=16),
            "max_distance (16) must be above half of n_buckets (32)",
        ),
        (lambda: t5_buckets(torch.arange(3), 7), "n_buckets (7) must be even, 4 or more"),
        (lambda: ShawPositions(4, 0), "clip (0) must be 1 or more"),
        (
            lambda: TransformerXLPositions(3, 5),
            "n_heads · d_k (15) must be even: sines and cosines come in pairs",
        ),
        (
            lambda: relative_positions("rotary", 2, 4),
            "kind ('rotary') must be 'alibi', 't5', 'shaw' or 'xl'",
        ),
        (
            lambda: layer(relative="ALiBi"),
            "relative ('ALiBi') must be 'alibi', 't5', 'shaw', 'xl' or None",
        ),
    ],
)
def test_schemes_refuse(make: Callable[[], object], message: str) -> None:
    with refuses(message):
        make()


# The shift of Transformer-XL


@given(q_len=st.integers(1, 6), before=st.integers(0, 5), seed=st.integers(0, 99))
def test_the_shift_puts_each_score_under_its_key(q_len: int, before: int, seed: int) -> None:
    torch.manual_seed(seed)
    k_len = q_len + before
    by_distance = torch.randn(2, 3, q_len, k_len)
    back = torch.arange(before, k_len)[:, None] - torch.arange(k_len)
    index = (k_len - 1 - back).clamp(max=k_len - 1).expand(2, 3, -1, -1)
    mask = causal_mask(k_len)[:, :, before:]
    expected = softmax(by_distance.gather(-1, index), mask)
    shifted = relative_shift(by_distance)
    assert_same(softmax(shifted, mask), expected)
    assert torch.equal(
        shifted[:, :, -1], by_distance[:, :, -1]
    )  # the last row stands right already
    if q_len > 1:  # the first row ends with what belongs to the second one, or with a padding zero
        assert not torch.allclose(shifted.softmax(-1), expected, atol=1e-3)


def test_a_mask_before_the_shift_hides_the_wrong_keys() -> None:
    by_distance, mask = torch.arange(1.0, 17).view(4, 4), causal_mask(4)[0, 0]
    right = relative_shift(by_distance).masked_fill(~mask, -torch.inf)
    wrong = relative_shift(by_distance.masked_fill(~mask, -torch.inf))
    assert (right.isfinite() == mask).all()
    assert not wrong[2, 2].isfinite()  # itself
    assert wrong[0, 1].isfinite()  # the future
    assert torch.equal(wrong[3], right[3])


@torch.no_grad()
def test_distances_by_the_shift_are_those_of_the_scheme() -> None:
    """As Dai et al. 2019 compute them: r of all distances, the furthest first, then the shift."""
    torch.manual_seed(0)
    scheme = shaken(TransformerXLPositions(2, 4))
    q, k = torch.randn(3, 2, 4, 4), torch.randn(3, 2, 7, 4)
    waves = torch.stack([wave(distance, 8) for distance in range(6, -1, -1)])
    r = scheme.w_distance(waves).view(7, 2, 4).transpose(0, 1)
    of_distance = relative_shift((q + scheme.distance_bias) @ r.mT)
    expected = (of_distance + scheme.key_bias @ k.mT) / 2
    found = scheme(q, k, torch.arange(3, 7)[None], torch.arange(7)[None])
    hidden = ~causal_mask(7)[:, :, 3:]
    assert_same(found.masked_fill(hidden, 0), expected.masked_fill(hidden, 0))


# Rotary positions: two layouts


@given(pairs=st.integers(2, 4), heads=st.integers(1, 3), seed=st.integers(0, 99))
@torch.no_grad()
def test_both_layouts_agree_after_one_permutation_of_two_maps(
    pairs: int, heads: int, seed: int
) -> None:
    torch.manual_seed(seed)
    d_k = 2 * pairs
    halves, neighbours, mixed, half_done = (
        MultiHeadAttention(heads * d_k, heads, rotation=RotaryEncoding(layout=layout))
        for layout in ("halves", "interleaved", "interleaved", "interleaved")
    )
    shake(halves)
    for other in (neighbours, mixed, half_done):
        other.load_state_dict(halves.state_dict())
    order = torch.arange(d_k).view(2, pairs).T.flatten()  # 0, d_k/2, 1, d_k/2 + 1, …
    rows = (torch.arange(heads)[:, None] * d_k + order).flatten()
    for linear in (neighbours.w_query, neighbours.w_key, half_done.w_query):
        linear.weight.copy_(linear.weight[rows])
        linear.bias.copy_(linear.bias[rows])
    x = torch.randn(2, 8, heads * d_k)
    expected, weights = halves(x)
    for ours, theirs in zip(neighbours(x), (expected, weights), strict=True):
        assert_same(ours, theirs, 1e-4)
    for wrong in (mixed, half_done):
        assert not torch.allclose(wrong(x)[1], weights, atol=1e-3)


# Caches


@given(scheme=schemes, chunks=st.lists(st.integers(1, 4), min_size=1, max_size=4))
@torch.no_grad()
def test_cached_equals_uncached(scheme: str, chunks: list[int]) -> None:
    model, ids = decoder(scheme), text(sum(chunks))
    expected = model.states(ids)
    caches = model.stack.start_caches(2, sum(chunks))
    parts = [model.states(part, None, caches) for part in torch.split(ids, chunks, 1)]
    assert_same(torch.cat(parts, 1), expected, 2e-5)


@each_scheme
@torch.no_grad()
def test_rows_of_different_lengths_are_continued_as_if_each_stood_alone(scheme: str) -> None:
    """Greedy with a cache is greedy without; a beam search of three prompts is three beam searches."""
    model, lengths = decoder(scheme, seed=4), [4, 1, 6]
    src = random_ids(lengths, VOCAB)
    alone = [src[i : i + 1, :n] for i, n in enumerate(lengths)]
    found = greedy(model, src, 7, bos_id=-1)
    for row, written in zip(alone, found, strict=True):
        ids = row
        for token in written:
            assert token == 1 + model(ids)[0, -1, 1:].argmax()  # a search writes no padding
            ids = torch.cat([ids, torch.tensor([[token]])], 1)
    together = beam_search(model, src, 3, 7, top_beams=3, bos_id=-1)
    for hypotheses, row in zip(together, alone, strict=True):
        (expected,) = beam_search(model, row, 3, 7, top_beams=3, bos_id=-1)
        assert [h.ids for h in hypotheses] == [h.ids for h in expected]
        assert [h.score for h in hypotheses] == pytest.approx([h.score for h in expected], rel=1e-4)


@each_kind
@torch.no_grad()
def test_selected_rows_of_a_cache_keep_their_places(kind: str) -> None:
    torch.manual_seed(0)
    attention = MultiHeadAttention(24, 4, score_bias=shaken(relative_positions(kind, 4, 6)))
    cache, x = attention.start_cache(2, 6), torch.randn(2, 5, 24)
    attention(x[:, :4], cache=cache, positions=torch.tensor([[0, 1, 2, 3], [2, 0, 3, 1]]))
    rows = torch.tensor([1, 0, 1])
    places, new = torch.tensor([[4], [3]]), x[:, 4:]
    chosen = cache.select(rows)
    expected = attention(new, cache=cache, positions=places)[0]
    assert_same(attention(new[rows], cache=chosen, positions=places[rows])[0], expected[rows])
    assert cache.positions is not None
    assert chosen.positions is not None
    assert cache.positions.data_ptr() != chosen.positions.data_ptr()


def test_a_memory_must_say_where_it_stands() -> None:
    x, memory = torch.randn(2, 3, 24), torch.randn(2, 5, 24)
    message = "memory needs positions where there is a rotation or a score bias: give them to cache_memory"
    for changes in ({"score_bias": AlibiBias(4)}, {"rotation": RotaryEncoding()}):
        attention: Any = MultiHeadAttention(24, 4, **changes)
        with refuses(message):
            attention(x, memory)
        given, moved = (
            attention(
                x,
                cache=attention.cache_memory(memory, torch.arange(5) + n),
                positions=torch.arange(2, 5) + n,
            )[1]
            for n in (0, 7)
        )
        assert_same(given, moved)
    assert MultiHeadAttention(24, 4)(x, memory, positions=torch.arange(3))[1].shape == (2, 4, 3, 5)


# Segments with a memory


def segment_mask(n: int, length: int, memory: int) -> Tensor:
    """Who sees whom in one layer: back to `memory` tokens before the own segment, True = may attend."""
    seen = torch.zeros(n, n, dtype=torch.bool)
    for i in range(n):
        seen[i, max(0, i - i % length - memory) : i + 1] = True
    return seen[None, None]


@given(scheme=schemes, n=st.integers(1, 12), length=st.integers(1, 13), memory=st.integers(0, 13))
@torch.no_grad()
def test_segments_are_one_pass_through_the_mask_of_their_memory(
    scheme: str, n: int, length: int, memory: int
) -> None:
    """A memory off by one, or a position, would show. With a memory of the whole text it is the causal mask."""
    model, ids = decoder(scheme), text(n)
    found = read_in_segments(model, ids, length, memory)
    assert_same(found, model(ids, segment_mask(n, length, memory)), 2e-5)
    if memory >= n:
        assert_same(found, model(ids), 2e-5)


@each_scheme
@torch.no_grad()
def test_segments_without_a_memory_know_nothing_of_each_other(scheme: str) -> None:
    model, ids = decoder(scheme), text(10)
    parts = [model(part) for part in torch.split(ids, 4, 1)]
    assert_same(read_in_segments(model, ids, 4), torch.cat(parts, 1), 2e-5)


@pytest.mark.parametrize(("length", "memory"), [(3, 3), (2, 4), (4, 1), (3, 2)])
@pytest.mark.parametrize("scheme", ["alibi", "xl"])
@torch.no_grad()
def test_what_a_token_can_know_of(scheme: str, length: int, memory: int) -> None:
    """Change one token, and see which logits move: 3 layers, so a memory beyond the layers' reach counts."""
    n, model = 16, decoder(scheme, n_layers=3)
    ids = text(n, 1).expand(n, -1)
    changed = ids.clone()
    changed.diagonal().copy_(3 + (ids.diagonal() - 2) % (VOCAB - 3))
    assert (changed.diagonal() != ids.diagonal()).all()
    before, after = (read_in_segments(model, x, length, memory) for x in (ids, changed))
    moved = ((before - after).abs().amax(-1) > 0).T  # (whose logits, which token)
    assert torch.equal(moved, reach([segment_mask(n, length, memory)] * 3))
    if memory % length == 0:
        starts = torch.arange(n) - torch.arange(n) % length
        assert torch.equal(moved.int().argmax(-1), (starts - 3 * memory).clamp(min=0))


@each_scheme
def test_no_gradient_flows_into_the_memory(scheme: str) -> None:
    """Enough memory gives the same logits; the last segment's gradients end where it begins."""
    model = decoder(scheme, tie_embeddings=False)
    ids = torch.tensor([[3, 4, 5, 6, 7, 8], [9, 10, 11, 12, 1, 2]])  # each token once
    gradients = []
    for logits in (model(ids), read_in_segments(model, ids, 2, 6)):
        model.zero_grad()
        logits[:, 4:].square().sum().backward()
        gradients.append(model.embedding.weight.grad[ids].clone())
    whole, cut = gradients
    assert_same(cut[:, 4:], whole[:, 4:], 1e-4)
    assert (cut[:, :4] == 0).all()
    assert (whole[:, :4].abs().amax(-1) > 1e-4).all()


def test_one_segment_draws_the_dropout_of_one_pass() -> None:
    torch.manual_seed(0)
    of_layer = layer(relative="alibi", dropout=0.5)
    model = DecoderOnly(DecoderConfig(VOCAB, of_layer, 2, MAX_LEN, "none")).train()
    ids, outputs = text(6), []
    for read in (model, lambda ids: read_in_segments(model, ids, 6)):
        torch.manual_seed(1)
        outputs.append(read(ids))
    assert_same(*outputs)
    assert not torch.allclose(model(ids), outputs[0])


def test_what_is_remembered_is_what_each_layer_read(monkeypatch: pytest.MonkeyPatch) -> None:
    model, ids = decoder("shaw"), text(7)
    read: list[Tensor] = []

    def watched(one: EncoderLayer, x: Tensor, *rest: Any) -> Tensor:
        read.append(x)
        return layer_with_past(one, x, *rest)

    monkeypatch.setattr("transformer_course.long_context.memory.layer_with_past", watched)
    pasts = [torch.zeros(2, 0, 24)] * 2
    for start, end in ((0, 3), (3, 7)):
        _, pasts = read_segment(model, ids[:, start:end], pasts, 5)
    for i, past in enumerate(pasts):
        assert torch.equal(past, torch.cat([read[i], read[2 + i]], 1)[:, 2:])
        assert not past.requires_grad
    assert read[0].requires_grad
    _, pasts = read_segment(model, ids, pasts, 0)
    assert [past.shape for past in pasts] == [(2, 0, 24)] * 2


def test_segments_refuse() -> None:
    model, ids = decoder("alibi"), text(4)
    empty = [torch.zeros(2, 0, 24)] * 2
    with refuses("length (0) must be 1 or more"):
        read_in_segments(model, ids, 0)
    with refuses("memory (-1) must be 0 or more"):
        read_in_segments(model, ids, 2, -1)
    with refuses("positions ('learned') must be 'none': a memory needs distances"):
        read_in_segments(decoder("alibi", positions="learned"), ids, 2)
    with refuses("pasts (1) must be one for each of 2 layers"):
        read_segment(model, ids, empty[:1], 2)
    with refuses("ids has the id 13, which is outside the vocabulary of 13 ids"):
        read_segment(model, torch.full((2, 4), 13), empty, 2)
    with refuses("ids must hold at least one token, shape (batch, length), got (4,)"):
        read_in_segments(model, ids[0], 2)
    shape = (
        "must have the shape (batch, past_len, d_model), with batch and d_model of x, (2, 4, 24)"
    )
    with refuses(f"past of shape (1, 0, 24) {shape}"):
        read_segment(model, ids, [torch.zeros(1, 0, 24)] * 2, 2)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_layer_reads_what_came_before(norm: Any) -> None:
    torch.manual_seed(0)
    one = EncoderLayer(layer(relative="t5", norm=norm))
    shake(one)
    x, mask = torch.randn(2, 7, 24), causal_mask(7)
    assert_same(layer_with_past(one, x[:, 3:], x[:, :3], mask[:, :, 3:]), one(x, mask)[:, 3:])
    for shape in ((2, 3, 23), (1, 3, 24), (2, 24)):
        with refuses(
            f"past of shape {shape} must have the shape (batch, past_len, d_model), with batch and d_model "
            "of x, (2, 7, 24)"
        ):
            layer_with_past(one, x, torch.zeros(shape))


# Masks


@given(length=st.integers(1, 9), size=st.integers(1, 11), causal=st.booleans())
def test_masks_are_their_definitions(length: int, size: int, causal: bool) -> None:
    rules: dict[Any, Callable[[int, int], bool]] = {
        local_mask: lambda i, j: abs(i - j) <= size - 1,
        strided_mask: lambda i, j: (i - j) % size == 0,
        global_mask: lambda i, j: i < size or j < size or i == j,
    }
    for make, rule in rules.items():
        mask = make(length, size, causal)
        assert mask.shape == (1, 1, length, length)
        assert mask.dtype == torch.bool
        for i, j in torch.cartesian_prod(torch.arange(length), torch.arange(length)).tolist():
            assert bool(mask[0, 0, i, j]) == (rule(i, j) and (j <= i or not causal)), (i, j)
        assert torch.equal(make(length, size), make(length, size, True))


def test_windows_reach_further_with_each_layer() -> None:
    for layers, window in ((1, 3), (2, 3), (3, 2), (4, 1)):
        found = reach([local_mask(12, window)] * layers)
        assert torch.equal(found, local_mask(12, layers * (window - 1) + 1)[0, 0])


@given(length=st.integers(1, 12), stride=st.integers(1, 5), causal=st.booleans())
def test_a_window_and_a_stride_reach_everything_in_two_steps(
    length: int, stride: int, causal: bool
) -> None:
    """A stride alone reaches its own multiples only, in however many steps."""
    halves = [local_mask(length, stride, causal), strided_mask(length, stride, causal)]
    everything = causal_mask(length)[0, 0] if causal else torch.ones(length, length).bool()
    assert torch.equal(reach(halves), everything)
    assert torch.equal(reach(halves[::-1]), everything)
    assert torch.equal(reach([halves[1]] * 9), halves[1][0, 0])


def test_reach_goes_from_the_bottom_up_and_keeps_what_is_known() -> None:
    """Token 1 reads token 0 in one layer, token 2 reads token 1 in the other: the order decides."""
    first, second = torch.zeros(2, 3, 3, dtype=torch.bool)
    first[1, 0] = second[2, 1] = True
    assert reach([first, second]).int().tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert reach([second, first]).int().tolist() == [[1, 0, 0], [1, 1, 0], [0, 1, 1]]
    joined = local_mask(9, 2, False) | global_mask(9, 1, False)
    assert not reach([joined]).all()
    assert reach([joined] * 2).all()
    with refuses("masks is empty; there must be one a layer"):
        reach([])


def test_masks_refuse() -> None:
    for make, name in ((local_mask, "window"), (strided_mask, "stride"), (global_mask, "n_global")):
        with refuses(f"{name} (0) must be 1 or more"):
            make(3, 0)
        with refuses("length (0) must be 1 or more"):
            make(0, 3)


# Models with such layers


def encoder(kind: Any) -> Any:
    torch.manual_seed(0)
    return shaken(
        EncoderOnly(EncoderConfig(VOCAB, layer(relative=kind), 2, MAX_LEN, "none"))
    ).eval()


@each_kind
@torch.no_grad()
def test_an_encoder_tells_orders_apart(kind: str) -> None:
    """T5's buckets for causal masks don't know how far away a later token is: its docstring says so."""
    model, ids = encoder(kind), torch.tensor([[3, 4, 5, 6]])
    swapped = ids[:, [0, 1, 3, 2]]
    one, other = (model(x)[0, 0] for x in (ids, swapped))
    assert not torch.allclose(one, other, atol=1e-4)
    one_layer = copy.deepcopy(model)
    del one_layer.stack.layers[1]
    one, other = (one_layer(x)[0, 0] for x in (ids, swapped))
    assert torch.allclose(one, other, atol=1e-5) == (kind == "t5")


@each_kind
def test_gradients_reach_every_weight_and_reset_leaves_nothing_of_them(kind: str) -> None:
    model = decoder(kind)
    model(text(30)).logsumexp(-1).sum().backward()
    for name, p in model.named_parameters():
        if not name.endswith("w_key.bias"):  # a number added to all scores of a query changes none
            assert p.grad is not None
            assert p.grad.abs().max() > 0, name
    names = [name for name, _ in model.named_parameters() if "score_bias" in name]
    assert len(names) == 2 * {"alibi": 0, "t5": 1, "shaw": 1, "xl": 3}[kind]
    for part in (model, model.stack.layers[0].self_attention):
        with torch.no_grad():
            for p in model.parameters():
                p.fill_(7.0)
        part.reset_parameters()
        for name, p in part.named_parameters():
            assert not (p == 7).any(), name
            if name.endswith(("key_bias", "distance_bias")) or (kind, name[-5:]) == ("t5", "table"):
                assert (p == 0).all(), name


def test_learned_schemes_start_at_the_right_size() -> None:
    torch.manual_seed(0)
    model: Any = DecoderOnly(DecoderConfig(VOCAB, LayerConfig(64, 4, 8, relative="shaw"), 1))
    table = model.stack.layers[0].self_attention.score_bias.table
    assert table.std().item() * 4 == pytest.approx(1, abs=0.1)
    xl = TransformerXLPositions(4, 16)
    xl.reset_parameters()
    assert xl.w_distance.weight.abs().max() <= (6 / 128) ** 0.5
    assert (T5Bias(2).table == 0).all()


@each_scheme
@torch.no_grad()
def test_models_come_back_from_their_files(scheme: str, tmp_path: Path) -> None:
    model, ids = decoder(scheme), text(8)
    save_model(model, tmp_path)
    again: Any = load_model(tmp_path)
    assert again.config == model.config
    assert torch.equal(again(ids), model(ids))
    if scheme == "rotary":  # a file of a version that knew no such field
        tensors, values = load_tensors(tmp_path / "model.safetensors")
        assert values["config"]["layer"].pop("relative", "missing") is None
        save_tensors(tmp_path / "model.safetensors", tensors, values)
        assert torch.equal(load_model(tmp_path)(ids), model(ids))


@pytest.mark.parametrize("like", ["gpt2", "llama", "bert"])
def test_transformers_has_no_place_for_them(like: str, tmp_path: Path) -> None:
    """ALiBi has no weights that could betray it: its choice must be looked at."""
    of_layer = layer(activation="gelu_tanh")
    if like == "llama":
        of_layer = layer(norm_kind="rms", activation="swiglu", bias=False, rotary_base=10000.0)
    positions: Any = "none" if like == "llama" else "learned"
    config: Any = DecoderConfig(VOCAB, of_layer, 1, positions=positions)
    if like == "bert":
        config = EncoderConfig(VOCAB, layer(norm="post", activation="gelu"), 1)
    make: Any = EncoderOnly if like == "bert" else DecoderOnly
    to_pretrained(make(config), tmp_path)
    assert like in (tmp_path / "config.json").read_text()
    with_slopes = replace(config, layer=replace(config.layer, relative="alibi"))
    with pytest.raises(CheckpointError, match="has the choices of"):
        to_pretrained(make(with_slopes), tmp_path)


@each_kind
@torch.no_grad()
def test_fast_and_recorded_attention_know_of_the_scheme(kind: str) -> None:
    model, ids = decoder(kind), text(9)
    expected = model(ids)
    with record_attention(model) as maps:
        model(ids)
    attention: Any = model.stack.layers[0].self_attention
    x = model.stack.layers[0].residuals[0].before(model.embedding(ids))
    assert_same(maps["stack.layers.0.self_attention"], attention(x, mask=causal_mask(9))[1])
    assert_same(use_fast(copy.deepcopy(model))(ids), expected)


@each_kind
@torch.no_grad()
def test_nothing_waits_for_the_device_and_half_precision_works(kind: str) -> None:
    model, ids = decoder(kind), text(9)
    copied = copy.deepcopy(model)
    assert torch.equal(copied(ids), model(ids))
    assert copied.to("meta")(ids.to("meta")).shape == (2, 9, VOCAB)
    rough = copy.deepcopy(model).bfloat16()
    assert rough(ids).dtype == torch.bfloat16
    assert (rough(ids).float() - model(ids)).abs().mean() < 0.1 * model(ids).abs().mean()
    assert read_in_segments(rough, ids, 4, 4).dtype == torch.bfloat16
    with torch.autocast("cpu", torch.bfloat16):
        mixed = model(ids)
    assert (mixed.float() - model(ids)).abs().mean() < 0.1 * model(ids).abs().mean()
    exact = copy.deepcopy(model).double()
    assert_same(exact(ids).float(), model(ids), 1e-4)


def test_slopes_move_with_the_model_and_are_not_saved() -> None:
    scheme: Any = AlibiBias(4)
    assert scheme.state_dict() == {}
    assert list(scheme.parameters()) == []
    assert scheme.to("meta").slopes.device.type == "meta"
    assert AlibiBias(4).bfloat16().slopes.dtype == torch.bfloat16


@pytest.mark.slow
def test_a_model_is_exported_for_other_lengths() -> None:
    model, n = decoder("xl", n_layers=1), torch.export.Dim("n", min=2, max=MAX_LEN)
    exported = torch.export.export(model, (text(5),), dynamic_shapes={"ids": {1: n}})
    traced: Any = exported.module()
    ids = text(11)
    assert_same(traced(ids), model(ids))
