"""Multi-head attention: torch as oracle, heads, cache, recording, and what it refuses."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from oracles import assert_same, assert_same_gradients, refuses, shake, torch_attention
from torch import Tensor, nn

from transformer_course.masking import causal_mask
from transformer_course.multi_head import MultiHeadAttention, record_attention
from transformer_course.positional_encoding import RotaryEncoding

BATCH, Q_LEN, K_LEN, HEADS, D_K = 2, 7, 11, 3, 5
D_MODEL = HEADS * D_K


def make_attention(seed: int = 0) -> MultiHeadAttention:
    torch.manual_seed(seed)
    attention = MultiHeadAttention(D_MODEL, HEADS)
    shake(attention)
    return attention


def leaves(*shapes: tuple[int, ...]) -> list[Tensor]:
    return [torch.randn(shape, requires_grad=True) for shape in shapes]


@pytest.mark.parametrize("masked", [False, True])
def test_equals_torch_with_gradients(masked: bool) -> None:
    ours = make_attention()
    theirs = torch_attention(ours)
    mine = leaves((BATCH, Q_LEN, D_MODEL), (BATCH, K_LEN, D_MODEL))
    other = [x.detach().clone().requires_grad_() for x in mine]
    mask = torch.rand(BATCH, HEADS, Q_LEN, K_LEN) < 0.5 if masked else None
    if mask is not None:
        mask[..., 0] = True
    hidden = None if mask is None else ~mask.flatten(0, 1)  # torch: True = hidden
    output, weights = ours(*mine, mask)
    expected, expected_weights = theirs(
        *other, other[1], attn_mask=hidden, average_attn_weights=False
    )
    assert output.shape == (BATCH, Q_LEN, D_MODEL)
    assert_same(output, expected)
    assert_same(weights, expected_weights)
    names = ("x", "memory")
    pairs = {name: (a, b) for name, a, b in zip(names, mine, other, strict=True)}
    pairs["w_output"] = ours.w_output.weight, theirs.out_proj.weight
    assert_same_gradients((output, expected), pairs)
    packed = torch.cat([p.weight.grad for p in (ours.w_query, ours.w_key, ours.w_value)])  # type: ignore[misc]
    assert theirs.in_proj_weight.grad is not None
    assert_same(packed, theirs.in_proj_weight.grad, 1e-4)


def test_equals_torch_in_self_attention_with_padding() -> None:
    """Torch may take another path inside (one packed product); keys and values default to `x`."""
    ours = make_attention()
    theirs = torch_attention(ours)
    x = torch.randn(BATCH, Q_LEN, D_MODEL)
    real = torch.arange(Q_LEN) < torch.tensor([[Q_LEN], [4]])
    expected, _ = theirs(x, x, x, key_padding_mask=~real)
    for memory in (x, None):
        assert_same(ours(x, memory, real[:, None, None])[0], expected)


def test_equals_heads_one_by_one() -> None:
    """Each head projects all of the input; concatenation and W^O equal a sum over heads."""
    attention = make_attention()
    x = torch.randn(BATCH, Q_LEN, D_MODEL)
    total = attention.w_output.bias.expand(BATCH, Q_LEN, D_MODEL)
    for head in range(HEADS):
        rows = slice(head * D_K, (head + 1) * D_K)
        q, k, v = (
            x @ part.weight[rows].T + part.bias[rows]
            for part in (attention.w_query, attention.w_key, attention.w_value)
        )
        mixed = torch.softmax(q @ k.transpose(1, 2) / D_K**0.5, -1) @ v
        total = total + mixed @ attention.w_output.weight[:, rows].T
    assert_same(attention(x, x)[0], total)


def test_split_heads_gives_each_head_its_neighbouring_columns() -> None:
    x = torch.arange(BATCH * Q_LEN * D_MODEL).float().view(BATCH, Q_LEN, D_MODEL)
    split = make_attention().split_heads(x)
    assert split.shape == (BATCH, HEADS, Q_LEN, D_K)
    for head in range(HEADS):
        assert torch.equal(split[:, head], x[:, :, head * D_K : (head + 1) * D_K])


def test_number_of_heads_does_not_change_the_number_of_parameters() -> None:
    counts = {sum(p.numel() for p in MultiHeadAttention(12, h).parameters()) for h in (1, 2, 3, 4)}
    assert counts == {4 * (12 * 12 + 12)}


@pytest.mark.parametrize("autocast", [False, True])
@pytest.mark.parametrize("cached", [False, True])
def test_query_without_any_key_gets_the_bias_and_finite_gradients(
    autocast: bool, cached: bool
) -> None:
    """Zeros from the attention; what is left after W^O is its bias."""
    attention = make_attention()
    queries, keys = leaves((BATCH, Q_LEN, D_MODEL), (BATCH, K_LEN, D_MODEL))
    mask = torch.ones(BATCH, 1, Q_LEN, K_LEN, dtype=torch.bool)
    mask[1, :, 2:4] = False
    with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        if cached:
            cache = attention.cache_memory(keys)
            output, weights = attention(queries, mask=mask, cache=cache)
        else:
            output, weights = attention(queries, keys, mask=mask)
    assert (weights[1, :, 2:4] == 0).all()
    assert_same(output[1, 2:4].float(), attention.w_output.bias.expand(2, -1), 1e-2)
    output.float().square().sum().backward()
    for name, leaf in [("queries", queries), ("keys", keys), *attention.named_parameters()]:
        assert leaf.grad is not None, name
        assert leaf.grad.isfinite().all(), name
    assert queries.grad is not None
    assert (queries.grad[1, 2:4] == 0).all()


@given(chunks=st.lists(st.integers(1, 4), min_size=1, max_size=4), seed=st.integers(0, 99))
@torch.no_grad()
def test_cached_equals_uncached(chunks: list[int], seed: int) -> None:
    """New positions one by one or several at once; capacity to spare, or none."""
    attention = make_attention(seed)
    length = sum(chunks)
    x = torch.randn(BATCH, length, D_MODEL)
    expected, expected_weights = attention(x, x, mask=causal_mask(length))
    cache = attention.start_cache(BATCH, length + seed % 2)
    end = 0
    for size in chunks:
        start, end = end, end + size
        new = x[:, start:end]
        mask = causal_mask(end)[:, :, start:]
        output, weights = attention(new, new, mask=mask, cache=cache)
        assert cache.length == end
        assert_same(output, expected[:, start:end])
        assert_same(weights, expected_weights[:, :, start:end, :end])


@torch.no_grad()
def test_cache_of_some_sentences() -> None:
    attention = make_attention()
    x = torch.randn(3, Q_LEN, D_MODEL)
    cache = attention.start_cache(3, Q_LEN + 1)
    attention(x, x, cache=cache)
    rows = torch.tensor([2, 0])
    chosen = cache.select(rows)
    new = torch.randn(2, 1, D_MODEL)
    output, _ = attention(new, new, cache=chosen)
    whole = torch.cat([x[rows], new], 1)
    assert_same(output, attention(new, whole)[0])
    assert (cache.length, chosen.length) == (Q_LEN, Q_LEN + 1)


def test_records_the_weights_of_every_attention_and_stops_after_the_block() -> None:
    attention = make_attention()
    model = nn.ModuleDict({"first": attention, "other": nn.Linear(2, 2)})
    x = torch.randn(BATCH, Q_LEN, D_MODEL)
    with record_attention(model) as maps:
        _, weights = attention(x, x)
    assert list(maps) == ["first"]
    assert torch.equal(maps["first"], weights)
    assert not maps["first"].requires_grad
    attention(x[:, :2], x)
    assert torch.equal(maps["first"], weights)
    with pytest.raises(RuntimeError, match="stop"), record_attention(model):
        raise RuntimeError("stop")
    assert not attention._forward_hooks


@pytest.mark.parametrize(
    ("d_model", "n_heads"), [(250, 8), (8, 0), (8, -2), (3, 5), (0, 4), (-4, 2)]
)
def test_refuses_a_width_that_heads_do_not_divide(d_model: int, n_heads: int) -> None:
    with refuses(f"d_model ({d_model}) must be 1 or more and divisible by n_heads ({n_heads})"):
        MultiHeadAttention(d_model, n_heads)
    for n_key_heads in (0, 4):
        with refuses(f"n_heads (6) must be divisible by n_key_heads ({n_key_heads})"):
            MultiHeadAttention(12, 6, n_key_heads=n_key_heads)


def test_refuses_a_full_cache() -> None:
    attention = make_attention()
    cache = attention.start_cache(BATCH, 4)
    x = torch.zeros(BATCH, 3, D_MODEL)
    attention(x, x, cache=cache)
    with refuses("cache is full: 3 positions in use, 3 more asked for, capacity 4"):
        attention(x, x, cache=cache)
    assert cache.length == 3
    with refuses("keys have a batch of 1, the cache one of 2"):
        attention(x[:1, :1], x[:1, :1], cache=cache)


def test_refuses_input_of_another_shape() -> None:
    """Without a check, one sentence without its batch dimension would give nonsense of the right shape."""
    attention = make_attention()
    x = torch.zeros(BATCH, Q_LEN, D_MODEL)
    rule = f"must have the shape (batch, length, d_model), with length 1 or more, batch {BATCH} and d_model"
    for name, shape, inputs in [
        ("x", (7, 15), (x[0],)),
        ("memory", (2, 7, 14), (x, x[..., 1:])),
        ("memory", (2, 0, 15), (x, x[:, :0])),
        ("x", (2, 0, 15), (x[:, :0],)),
    ]:
        said = rule.replace("batch 2", "batch 7") if shape == (7, 15) else rule
        with refuses(f"{name} of shape {shape} {said} {D_MODEL}"):
            attention(*inputs)
    with refuses("memory has a batch of 1, x one of 2"):
        attention(x, x[:1])
    with refuses("each key needs its value: got 3 keys and 1 values"):
        attention.start_cache(BATCH, 4).append(torch.zeros(2, 3, 3, 5), torch.zeros(2, 3, 1, 5))
    with pytest.raises(
        ValueError, match=r"^mask of shape \(5, 7\) must be broadcastable to .*\(2, 3, 7, 7\)"
    ):
        attention(x, x, mask=torch.ones(5, 7, dtype=torch.bool))


def test_groups_of_heads_share_keys_and_values() -> None:
    """Equal to full attention whose maps of keys and values repeat each group's head; the cache is smaller."""
    torch.manual_seed(0)
    grouped = MultiHeadAttention(12, 6, n_key_heads=2)
    full = MultiHeadAttention(12, 6)
    state = grouped.state_dict()
    for name in ("w_key", "w_value"):
        for kind in ("weight", "bias"):
            heads = state[f"{name}.{kind}"].unflatten(0, (2, 2))
            state[f"{name}.{kind}"] = heads.repeat_interleave(3, 0).flatten(0, 1)
    full.load_state_dict(state)
    x, memory = torch.randn(2, 5, 12), torch.randn(2, 7, 12)
    for inputs in ((x,), (x, memory)):
        for ours, theirs in zip(grouped(*inputs), full(*inputs), strict=True):
            assert_same(ours, theirs)
    cache = grouped.start_cache(2, 5)
    assert cache.keys.numel() * 3 == full.start_cache(2, 5).keys.numel()
    parts = [grouped(x[:, t : t + 1], cache=cache)[0] for t in range(5)]
    assert_same(torch.cat(parts, 1), grouped(x, mask=causal_mask(5))[0])


def turn(x: Tensor, positions: Tensor) -> Tensor:
    """A rotation: neighbouring pairs are turned by the position, one radian each."""
    angle = positions[:, None].double()
    a, b = x[..., 0::2].double(), x[..., 1::2].double()
    pair = a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()
    return torch.stack(pair, -1).flatten(-2).to(x.dtype)


def nearer_is_better(_: Tensor, __: Tensor, q_positions: Tensor, k_positions: Tensor) -> Tensor:
    """A score bias: a slope for each of three heads."""
    distance = (q_positions[:, None, :, None] - k_positions[:, None, None]).abs()
    return -torch.tensor([1.0, 0.5, 0.25])[:, None, None] * distance


@pytest.mark.parametrize("kind", ["rotation", "score_bias"])
@torch.no_grad()
def test_position_schemes_see_offsets_only_and_work_with_a_cache(kind: str) -> None:
    torch.manual_seed(0)
    scheme = {"rotation": turn, "score_bias": nearer_is_better}[kind]
    attention = MultiHeadAttention(12, 3, **{kind: scheme})  # type: ignore[arg-type]
    plain = MultiHeadAttention(12, 3)
    plain.load_state_dict(attention.state_dict())
    x, mask = torch.randn(2, 5, 12), causal_mask(5)
    expected, weights = attention(x, mask=mask)
    assert not torch.allclose(expected, plain(x, mask=mask)[0])
    assert_same(attention(x, mask=mask, positions=torch.arange(7, 12))[0], expected, 1e-5)
    assert weights is not None
    q, k = (plain.split_heads(w(x)) for w in (plain.w_query, plain.w_key))
    where = torch.arange(5)
    if kind == "rotation":
        scores = turn(q, where) @ turn(k, where).mT / 2
    else:
        scores = q @ k.mT / 2 + nearer_is_better(q, k, where[None], where[None])
    assert_same(weights, scores.masked_fill(~mask, -torch.inf).softmax(-1), 1e-5)
    cache = attention.start_cache(2, 6)
    parts = [
        attention(x[:, t : t + n], cache=cache, mask=causal_mask(t + n)[:, :, t:])[0]
        for t, n in ((0, 2), (2, 1), (3, 2))
    ]
    assert_same(torch.cat(parts, 1), expected, 1e-5)
    rows = torch.tensor([1])
    again = attention(x[rows, :1], cache=cache.select(rows), positions=torch.tensor([5]))[0]
    assert_same(again, attention(x[:, :1], cache=cache)[0][rows], 1e-5)


def test_reset_draws_every_map_anew_with_biases_or_without() -> None:
    for bias in (True, False):
        attention = MultiHeadAttention(12, 3, bias=bias)
        before = {name: p.detach().clone() for name, p in attention.named_parameters()}
        assert len(before) == (8 if bias else 4)
        attention.reset_parameters()
        for name, p in attention.named_parameters():
            assert (p == 0).all() if name.endswith("bias") else (p != before[name]).any()
            if name.endswith("weight"):
                assert p.abs().max() <= (6 / 24) ** 0.5


def test_a_memory_that_is_kept_needs_its_places_for_a_rotation() -> None:
    attention = MultiHeadAttention(8, 2, rotation=RotaryEncoding())
    with refuses("positions must say where memory stands: there is a rotation or a score bias"):
        attention.cache_memory(torch.zeros(1, 3, 8))
    assert attention.cache_memory(torch.zeros(1, 3, 8), torch.arange(3)).length == 3
