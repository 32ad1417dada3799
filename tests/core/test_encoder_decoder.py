"""The whole model: torch.nn as oracle, its parts, caching, gradients, and what it refuses."""

import math
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from oracles import (
    assert_same,
    assert_same_gradients,
    random_ids,
    refuses,
    shake,
    tiny_config,
    tiny_model,
    torch_decoder_layer,
    torch_encoder_layer,
    torch_transformer,
)
from torch import nn

from transformer_course.encoder_decoder import (
    DecoderLayer,
    EncoderLayer,
    FeedForward,
    LayerConfig,
    LayerNorm,
    Residual,
    Transformer,
    TransformerConfig,
    layer_norm,
)
from transformer_course.masking import causal_mask, decoder_mask, padding_mask
from transformer_course.positional_encoding import sinusoidal_encoding

BATCH, SRC_LEN, TGT_LEN, HEADS, D_MODEL, D_FF = 2, 5, 7, 3, 15, 11
NORMS = pytest.mark.parametrize("norm", ["pre", "post"])


def layer_config(norm: str) -> LayerConfig:
    return tiny_config(d_model=D_MODEL, n_heads=HEADS, d_ff=D_FF, norm=norm).layer


@NORMS
def test_encoder_layer_equals_torch_with_gradients(norm: str) -> None:
    torch.manual_seed(0)
    ours = EncoderLayer(layer_config(norm))
    shake(ours)
    theirs = torch_encoder_layer(ours, layer_config(norm))
    x = torch.randn(BATCH, SRC_LEN, D_MODEL, requires_grad=True)
    x_theirs = x.detach().clone().requires_grad_()
    real = torch.arange(SRC_LEN) < torch.tensor([[SRC_LEN], [3]])
    output = ours(x, real[:, None, None])
    expected = theirs(x_theirs, src_key_padding_mask=~real)
    assert_same(output, expected)
    pairs = {
        "x": (x, x_theirs),
        "inner": (ours.feed_forward.inner.weight, theirs.linear1.weight),
        "outer": (ours.feed_forward.outer.bias, theirs.linear2.bias),
        "gain 1": (ours.residuals[0].norm.gain, theirs.norm1.weight),  # type: ignore[union-attr]
        "bias 2": (ours.residuals[1].norm.bias, theirs.norm2.bias),  # type: ignore[union-attr]
    }
    assert_same_gradients((output, expected), pairs)  # type: ignore[arg-type]


@NORMS
def test_decoder_layer_equals_torch_with_gradients(norm: str) -> None:
    torch.manual_seed(0)
    ours = DecoderLayer(layer_config(norm))
    shake(ours)
    theirs = torch_decoder_layer(ours, layer_config(norm))
    x = torch.randn(BATCH, TGT_LEN, D_MODEL, requires_grad=True)
    memory = torch.randn(BATCH, SRC_LEN, D_MODEL, requires_grad=True)
    copies = [y.detach().clone().requires_grad_() for y in (x, memory)]
    real = torch.arange(SRC_LEN) < torch.tensor([[SRC_LEN], [3]])
    causal = causal_mask(TGT_LEN)
    output = ours(x, memory, real[:, None, None], causal)
    expected = theirs(*copies, tgt_mask=~causal[0, 0], memory_key_padding_mask=~real)
    assert_same(output, expected)
    pairs = {
        "x": (x, copies[0]),
        "memory": (memory, copies[1]),
        "self": (ours.self_attention.w_output.weight, theirs.self_attn.out_proj.weight),
        "cross": (ours.cross_attention.w_output.weight, theirs.multihead_attn.out_proj.weight),
        "inner": (ours.feed_forward.inner.weight, theirs.linear1.weight),
        "gain 3": (ours.residuals[2].norm.gain, theirs.norm3.weight),  # type: ignore[union-attr]
    }
    assert_same_gradients((output, expected), pairs)  # type: ignore[arg-type]


@NORMS
@pytest.mark.parametrize("tie", [True, False])
def test_model_equals_torch_with_gradients(norm: str, tie: bool) -> None:
    """Embedding, layers, norms and output; sizes, masks and shift as in training."""
    torch.manual_seed(0)
    ours = tiny_model(norm=norm, tie_embeddings=tie)
    theirs = torch_transformer(ours)
    src, tgt = random_ids([5, 3, 4]), random_ids([7, 7, 2])
    tables = [
        t.weight.detach().clone().requires_grad_() for t in (ours.src_embedding, ours.tgt_embedding)
    ]
    if tie:
        tables[1] = tables[0]
    root, positions = math.sqrt(ours.config.d_model), sinusoidal_encoding(7, ours.config.d_model)
    states = theirs(
        tables[0][src] * root + positions[:5],
        tables[1][tgt] * root + positions,
        tgt_mask=nn.Transformer.generate_square_subsequent_mask(7, dtype=torch.bool),
        src_key_padding_mask=src == 0,
        tgt_key_padding_mask=tgt == 0,
        memory_key_padding_mask=src == 0,
    )
    output = ours.output.weight.detach().clone().requires_grad_()
    expected = states @ (tables[0] if tie else output).T
    logits = ours(src, tgt)
    assert logits.shape == (3, 7, 13)
    assert_same(logits, expected)
    encoder_layer, decoder_layer = ours.encoder_layers[0], ours.decoder_layers[2]
    pairs = {
        "source embedding": (ours.src_embedding.weight, tables[0]),
        "target embedding": (ours.tgt_embedding.weight, tables[1]),
        "output": (ours.output.weight, tables[0] if tie else output),
        "first layer": (
            encoder_layer.self_attention.w_output.weight,
            theirs.encoder.layers[0].self_attn.out_proj.weight,
        ),
        "last layer": (
            decoder_layer.feed_forward.outer.weight,
            theirs.decoder.layers[2].linear2.weight,
        ),
    }
    assert_same_gradients((logits, expected), pairs)  # type: ignore[arg-type]


@given(width=st.integers(2, 9), scale=st.sampled_from([1e-3, 1.0, 100.0]), seed=st.integers(0, 99))
def test_layer_norm_equals_torch(width: int, scale: float, seed: int) -> None:
    """At a scale of 1e-3 the eps decides, so a wrong place of it shows."""
    torch.manual_seed(seed)
    x, gain, bias = scale * torch.randn(3, 5, width), torch.randn(width), torch.randn(width)
    expected = F.layer_norm(x, (width,), gain, bias, 1e-5)
    assert_same(layer_norm(x, gain, bias), expected, 1e-4)
    module = LayerNorm(width)
    with torch.no_grad():
        module.gain.copy_(gain)
        module.bias.copy_(bias)
    assert_same(module(x), expected)
    assert_same(layer_norm(x, gain, bias, 0.1), F.layer_norm(x, (width,), gain, bias, 0.1), 1e-4)


def test_feed_forward_treats_each_position_by_itself() -> None:
    torch.manual_seed(0)
    net = FeedForward(D_MODEL, D_FF)
    x = torch.randn(BATCH, SRC_LEN, D_MODEL)
    alone = torch.stack([net(x[:, i]) for i in range(SRC_LEN)], 1)
    assert_same(net(x), alone)
    inner = x @ net.inner.weight.T + net.inner.bias
    assert_same(net(x), inner.clamp(min=0) @ net.outer.weight.T + net.outer.bias)


@NORMS
def test_residual_adds_and_drops_out_only_in_training(norm: str) -> None:
    config = replace(layer_config(norm), dropout=0.5)
    residual = Residual(config)
    x = torch.randn(BATCH, SRC_LEN, D_MODEL)
    whole = residual.eval()(x, lambda y: torch.ones_like(y))
    bare = x + 1
    assert_same(whole, bare if norm == "pre" else F.layer_norm(bare, (D_MODEL,)))
    torch.manual_seed(0)
    difference = Residual(replace(config, norm="pre")).train()(x, lambda y: torch.ones_like(y)) - x
    assert set(difference.round(decimals=3).unique().tolist()) == {0.0, 2.0}


def test_dropout_is_used_in_every_place() -> None:
    """Embeddings and each sub-layer (§5.4): 2 + 2·2 + 3·3 draws for 2 + 3 layers."""
    model = tiny_model(dropout=0.5).train()
    drops = [m for m in model.modules() if isinstance(m, nn.Dropout)]
    calls: list[int] = []
    for drop in drops:
        drop.register_forward_hook(lambda *_: calls.append(1))
    model(random_ids([5]), random_ids([4]))
    assert len(calls) == 2 + 2 * 2 + 3 * 3


def test_fresh_weights() -> None:
    """Biases 0, gains 1, embeddings of variance 1/d_model, so times the root they have variance 1."""
    torch.manual_seed(0)
    model = Transformer(
        TransformerConfig(1000, d_model=64, n_heads=4, d_ff=64, tie_embeddings=False)
    )
    for table in (model.src_embedding.weight, model.tgt_embedding.weight, model.output.weight):
        assert table.std().item() * 8 == pytest.approx(1.0, abs=0.02)
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            assert (parameter == 0).all(), name
    layer = model.encoder_layers[0]
    bound = math.sqrt(6 / (64 + 64))
    largest = float(layer.self_attention.w_query.weight.detach().abs().max())  # type: ignore[union-attr,operator]
    assert bound * 0.99 < largest <= bound


def test_a_seed_draws_the_tables_in_one_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Source, target, output: in the order of a set, equal seeds would give other weights in each run."""
    drawn: list[torch.Tensor] = []
    models = [tiny_model(tie_embeddings=tie) for tie in [True] + 8 * [False]]
    monkeypatch.setattr(torch.nn.init, "normal_", lambda weight, std: drawn.append(weight))
    tied = models[0]
    for model in models:
        drawn.clear()
        model.reset_parameters()
        tables = (model.src_embedding, model.tgt_embedding, model.output)
        expected = tables[:1] if model is tied else tables
        assert [id(weight) for weight in drawn] == [id(table.weight) for table in expected]


def test_tied_embeddings_are_one_matrix() -> None:
    tied, free = tiny_model(), tiny_model(tie_embeddings=False)
    assert tied.src_embedding.weight is tied.tgt_embedding.weight
    assert tied.src_embedding.weight is tied.output.weight
    assert len({id(w.weight) for w in (free.src_embedding, free.tgt_embedding, free.output)}) == 3
    counts = [sum(p.numel() for p in m.parameters()) for m in (tied, free)]
    assert counts[1] - counts[0] == 2 * 13 * 6


def test_presets_have_the_sizes_they_name() -> None:
    base = TransformerConfig.base(37_000)
    sizes = base.d_model, base.n_heads, base.n_encoder_layers, base.n_decoder_layers, base.d_ff
    assert sizes == (512, 8, 6, 6, 2048)
    assert base.norm == "post"
    with torch.device("meta"):
        parameters = sum(p.numel() for p in Transformer(base).parameters())
    # By hand: embedding, six layers of 4 projections / 8 projections, feed-forward nets, norms.
    attention, net, norm = 4 * (512 * 512 + 512), 2 * 512 * 2048 + 2048 + 512, 2 * 512
    layers = 6 * (attention + net + 2 * norm) + 6 * (2 * attention + net + 3 * norm)
    assert parameters == 37_000 * 512 + layers
    assert 63.0e6 < parameters < 63.1e6
    small = TransformerConfig.small(8000)
    sizes = small.d_model, small.n_heads, small.n_encoder_layers, small.n_decoder_layers, small.d_ff
    assert sizes == (256, 4, 3, 3, 1024)
    tiny = TransformerConfig.tiny(8000)
    assert (tiny.d_model, tiny.n_encoder_layers, tiny.norm) == (128, 2, "pre")
    narrow = TransformerConfig.narrow(8000)
    assert (narrow.d_model, narrow.n_heads, narrow.d_ff, narrow.norm) == (128, 4, 256, "pre")
    assert narrow.n_encoder_layers == narrow.n_decoder_layers == 4
    assert small.vocab_size == tiny.vocab_size == narrow.vocab_size == 8000


def test_without_positions_the_encoder_sees_a_set() -> None:
    model = tiny_model(positions="none")
    src, order = random_ids([5]), [3, 0, 4, 1, 2]
    assert_same(model.encode(src[:, order]), model.encode(src)[:, order])
    model = tiny_model()
    assert not torch.allclose(model.encode(src[:, order]), model.encode(src)[:, order], atol=1e-2)


@given(
    chunks=st.lists(st.integers(1, 4), min_size=1, max_size=5),
    seed=st.integers(0, 99),
    norm=st.sampled_from(["pre", "post"]),
    positions=st.sampled_from(["sinusoidal", "learned", "none"]),
)
@torch.no_grad()
def test_cached_equals_uncached_to_the_last_token(
    chunks: list[int], seed: int, norm: str, positions: str
) -> None:
    chunks = [*chunks, 1]
    model = tiny_model(seed, norm=norm, positions=positions, max_len=21)
    src, tgt = random_ids([5, 2]), random_ids([sum(chunks)] * 2)
    expected = model(src, tgt)
    src_mask = padding_mask(src)
    memory = model.encode(src, src_mask)
    cache = model.start_cache(memory, src_mask, tgt.shape[1])
    start = 0
    for size in chunks:
        new = tgt[:, start : start + size]
        # With a cache the memory isn't read again: it may be anything, or None.
        states = model.decode(new, None, src_mask, cache=cache)
        assert_same(model.logits(states), expected[:, start : start + size], 2e-5)
        start += size
        assert cache.length == start


@torch.no_grad()
def test_cached_with_rival_tokens_equals_uncached() -> None:
    """Two beams over one cache: each sees its own ancestors only, and both stand at the same position."""
    model = tiny_model()
    src, src_mask = random_ids([5]), padding_mask(random_ids([5]))
    memory = model.encode(src, src_mask)
    cache = model.start_cache(memory, src_mask, 4, beams=2)
    rivals = torch.tensor([[3, 4], [5, 6], [7, 8]])  # second row: both grow from beam 1
    parents = [[0, 1], [1, 1], [1, 0]]
    paths: list[list[int]] = [[], []]
    slots: list[list[int]] = [[], []]
    for step, row in enumerate(rivals):
        paths = [[*paths[p], int(t)] for p, t in zip(parents[step], row, strict=True)]
        slots = [[*slots[p], 2 * step + b] for b, p in enumerate(parents[step])]
        mask = torch.zeros(1, 1, 2, 2 * step + 2, dtype=torch.bool)
        for b in range(2):
            mask[0, 0, b, slots[b]] = True
        states = model.decode(row[None], None, src_mask, mask, cache, torch.tensor([step, step]))
        for b in range(2):
            alone = model.decode(torch.tensor([paths[b]]), memory, src_mask)
            assert_same(states[:, b], alone[:, -1])
    assert cache.length == 6


@torch.no_grad()
def test_rows_of_a_cache_go_on_alone() -> None:
    model = tiny_model()
    src, tgt = random_ids([5, 2, 4]), random_ids([6, 6, 6])
    src_mask = padding_mask(src)
    cache = model.start_cache(model.encode(src, src_mask), src_mask, 6)
    model.decode(tgt[:, :4], None, src_mask, cache=cache)
    rows = torch.tensor([2, 0])
    cache, src_mask = cache.select(rows), src_mask[rows]
    states = model.decode(tgt[rows, 4:], None, src_mask, cache=cache)
    assert_same(model.logits(states), model(src, tgt)[rows, 4:], 2e-5)


def test_int32_ids_and_explicit_masks_give_the_same() -> None:
    model = tiny_model()
    src, tgt = random_ids([5, 3]), random_ids([4, 6])
    expected = model(src, tgt)
    assert_same(model(src.int(), tgt.int()), expected)
    assert_same(model(src, tgt, padding_mask(src), decoder_mask(tgt)), expected)


def test_bf16_stays_close_and_finite() -> None:
    """Autocast, as in training, with a sentence of padding only: no NaN in outputs or gradients."""
    model = tiny_model()
    src, tgt = random_ids([5, 3, 1]), random_ids([4, 6, 2])
    src[2] = 0
    expected = model(src, tgt)
    with torch.autocast("cpu", torch.bfloat16):
        logits = model(src, tgt)
    assert_same(logits.float(), expected, 0.2)
    logits.float().logsumexp(-1).sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"d_model": 250, "n_heads": 8}, "d_model (250) must be divisible by n_heads (8)"),
        ({"n_heads": 0}, "n_heads (0) must be 1 or more"),
        ({"d_model": 0}, "d_model (0) must be 1 or more"),
        ({"n_encoder_layers": 0}, "n_encoder_layers (0) must be 1 or more"),
        ({"n_decoder_layers": -1}, "n_decoder_layers (-1) must be 1 or more"),
        ({"d_ff": 0}, "d_ff (0) must be 1 or more"),
        ({"max_len": 0}, "max_len (0) must be 1 or more"),
        ({"vocab_size": 0}, "vocab_size (0) must be 1 or more"),
        ({"d_model": 6.0}, "d_model (6.0) must be a whole number"),
        ({"n_heads": True}, "n_heads (True) must be a whole number"),
        ({"dropout": 1.0}, "dropout (1.0) must be at least 0 and below 1"),
        ({"dropout": -0.1}, "dropout (-0.1) must be at least 0 and below 1"),
        ({"dropout": math.nan}, "dropout (nan) must be at least 0 and below 1"),
        ({"norm": "both"}, "norm ('both') must be 'pre' or 'post'"),
        ({"positions": "rotary"}, "positions ('rotary') must be 'sinusoidal', 'learned' or 'none'"),
        ({"pad_id": 13}, "pad_id (13) must be one of the 13 token ids"),
        ({"pad_id": -1}, "pad_id (-1) must be one of the 13 token ids"),
    ],
)
def test_config_refuses(changes: dict[str, object], message: str) -> None:
    with refuses(message):
        replace(tiny_config(), **changes)  # type: ignore[arg-type]


def test_odd_width_is_refused_where_positions_come_in_pairs() -> None:
    with refuses("d_model (15) must be even and 2 or more: sines and cosines come in pairs"):
        Transformer(tiny_config(d_model=D_MODEL, n_heads=HEADS, d_ff=D_FF))


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (torch.tensor([[3, 13]]), "has the id 13, which is outside the vocabulary of 13 ids"),
        (torch.tensor([[-1, 3]]), "has the id -1, which is outside the vocabulary of 13 ids"),
        (torch.tensor([[3.0]]), "must hold whole numbers (int64 or int32), got torch.float32"),
        (torch.tensor([[True]]), "must hold whole numbers (int64 or int32), got torch.bool"),
        (
            torch.zeros(0, 4).long(),
            "must hold at least one token, shape (batch, length), got (0, 4)",
        ),
        (
            torch.zeros(2, 0).long(),
            "must hold at least one token, shape (batch, length), got (2, 0)",
        ),
        (torch.tensor([3, 4]), "must hold at least one token, shape (batch, length), got (2,)"),
    ],
)
def test_refuses_ids(ids: torch.Tensor, message: str) -> None:
    model = tiny_model()
    src_mask = torch.ones(1, 1, 1, 3, dtype=torch.bool)
    with refuses(f"src {message}"):
        model.encode(ids)
    with refuses(f"tgt {message}"):
        model.decode(ids, torch.zeros(1, 3, 6), src_mask)


def test_refuses_a_sequence_longer_than_the_positions() -> None:
    model = tiny_model(max_len=5)
    fits, too_long = random_ids([5]), random_ids([6])
    message = "sequence of length 6 is longer than the positions, max_len (5)"
    with refuses(message):
        model(too_long, fits)
    with refuses(message):
        model(fits, too_long)
    mask = padding_mask(fits)
    cache = model.start_cache(model.encode(fits), mask, 5)
    with torch.no_grad():
        model.decode(fits, None, mask, cache=cache)
        with refuses(message):
            model.decode(fits[:, :1], None, mask, cache=cache)


def test_refuses_masks_that_do_not_fit() -> None:
    """(batch, src_len) would broadcast as (q_len, k_len) where the sizes happen to agree."""
    model = tiny_model()
    src, tgt = random_ids([5] * 5), random_ids([7] * 5)
    rule = "must have the four dimensions (batch, heads, q_len, k_len), with batch 1 or 5 and k_len"
    for shape in [(5, 5), (4, 1, 1, 5), (5, 1, 1, 3), (5, 1, 1, 1), (5, 1, 5)]:
        with refuses(f"src_mask of shape {shape} {rule} 5"):
            model(src, tgt, torch.ones(shape, dtype=torch.bool))
    for shape in [(7, 7), (3, 1, 7, 7), (5, 1, 7, 5)]:
        with refuses(f"tgt_mask of shape {shape} {rule} 7"):
            model(src, tgt, None, torch.ones(shape, dtype=torch.bool))
    with refuses("mask must be boolean (True = may attend), got dtype torch.float32"):
        model(src, tgt, torch.ones(5, 1, 1, 5))
    with pytest.raises(
        ValueError, match=r"^mask of shape \(5, 1, 6, 7\) must be broadcastable to "
    ):
        model(src, tgt, None, torch.ones(5, 1, 6, 7, dtype=torch.bool))


def test_refuses_memory_and_cache_of_another_batch() -> None:
    model = tiny_model()
    src, tgt = random_ids([5, 4]), random_ids([7, 7, 7])
    mask = padding_mask(src)
    memory = model.encode(src)
    with refuses("tgt has a batch of 3, the memory one of 2"):
        model(src, tgt)
    with refuses("memory must be given where there is no cache"):
        model.decode(tgt[:2], None, mask)
    with torch.no_grad():
        cache = model.start_cache(memory, mask, 4)
        with refuses("tgt has a batch of 3, the cache one of 2"):
            model.decode(tgt, memory, mask, cache=cache)
        with refuses("tgt has a batch of 1, the cache one of 2"):
            model.decode(tgt[:1], memory, mask, cache=cache)


@torch.no_grad()
def test_refuses_a_full_cache_and_caches_that_cannot_be() -> None:
    model = tiny_model()
    src, tgt = random_ids([5, 4]), random_ids([7, 7])
    mask = padding_mask(src)
    memory = model.encode(src)
    cache = model.start_cache(memory, mask, 4)
    model.decode(tgt[:, :3], memory, mask, cache=cache)
    with refuses("cache is full: 3 positions in use, 2 more asked for, capacity 4"):
        model.decode(tgt[:, 3:5], memory, mask, cache=cache)
    for max_len in (0, 18):
        with refuses(f"max_len ({max_len}) must be 1 or more and at most the model's max_len (17)"):
            model.start_cache(memory, mask, max_len)
    with refuses("beams (0) must be 1 or more"):
        model.start_cache(memory, mask, 4, 0)
    with refuses(
        "src_mask of shape (2, 1, 1, 4) must have the four dimensions (batch, heads, q_len, k_len), "
        "with batch 1 or 2 and k_len 5"
    ):
        model.start_cache(memory, mask[..., :4], 4)


@NORMS
@torch.no_grad()
def test_encoder_layers_with_a_cache_make_a_decoder_only_model(norm: str) -> None:
    """New tokens one by one, several at once, and rows that go on alone: as with a causal mask at once."""
    torch.manual_seed(0)
    config = LayerConfig(12, 3, 16, dropout=0.0, norm=norm, n_key_heads=1, bias=False)  # type: ignore[arg-type]
    layers = [EncoderLayer(config) for _ in range(2)]
    x = torch.randn(2, 6, 12)
    expected = x
    for layer in layers:
        expected = layer(expected, causal_mask(6))
    caches = [layer.self_attention.start_cache(2, 6) for layer in layers]
    for start, end in ((0, 3), (3, 4), (4, 5)):
        y = x[:, start:end]
        for layer, cache in zip(layers, caches, strict=True):
            y = layer(y, causal_mask(end)[:, :, start:], cache)
        assert_same(y, expected[:, start:end])
    y = x[1:, 5:]
    for layer, cache in zip(layers, caches, strict=True):
        y = layer(y, None, cache.select(torch.tensor([1])))
    assert_same(y, expected[1:, 5:])
    with refuses("cache is full: 5 positions in use, 2 more asked for, capacity 6"):
        layers[0](x[:, 4:], None, caches[0])


def test_a_layer_needs_the_settings_of_a_layer_only() -> None:
    assert tiny_config(d_model=12, n_heads=3, d_ff=20, norm="post").layer == LayerConfig(
        12, 3, 20, dropout=0.0, norm="post"
    )
    layer = EncoderLayer(LayerConfig(12, 3, 20, bias=False))
    names = {name for name, _ in layer.named_parameters() if name.endswith("bias")}
    assert names == {"residuals.0.norm.bias", "residuals.1.norm.bias"}
    with refuses("n_heads (4) must be divisible by n_key_heads (3)"):
        LayerConfig(n_key_heads=3)
    with refuses("d_model (10) must be divisible by n_heads (3)"):
        LayerConfig(10, 3)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("positions", ["learned", "sinusoidal"])
def test_reset_leaves_nothing_of_what_was_trained(bias: bool, positions: str) -> None:
    """The same weights as a fresh model drawn from the same seed, norms and learned positions among them."""
    torch.manual_seed(3)
    model = tiny_model(bias=bias, positions=positions)
    with torch.no_grad():
        for p in model.parameters():
            p.fill_(7.0)
    torch.manual_seed(4)
    model.reset_parameters()
    assert not any((p == 7).any() for p in model.parameters())
    for name, p in model.named_parameters():
        if "norm.gain" in name:
            assert (p == 1).all()
        elif name.endswith("bias"):
            assert (p == 0).all()


@pytest.mark.slow
def test_ids_are_looked_at_where_that_costs_nothing_and_the_model_can_be_exported() -> None:
    """Nothing in the model waits for the device; torch.export traces it, with other ids and lengths."""
    model = tiny_model().eval()
    src, tgt = random_ids([5, 3]), random_ids([4, 4])
    batch, n, m = (torch.export.Dim(name, min=2, max=16) for name in ("batch", "n", "m"))
    shapes = {"src": {0: batch, 1: n}, "tgt": {0: batch, 1: m}, "src_mask": None, "tgt_mask": None}
    exported = torch.export.export(model, (src, tgt, None, None), dynamic_shapes=shapes)
    other = random_ids([7, 2, 4]), random_ids([3, 3, 3])
    assert_same(exported.module()(*other, None, None), model(*other))
    on_meta = tiny_model().to("meta")
    assert on_meta(src.to("meta"), tgt.to("meta")).shape == (2, 4, on_meta.config.vocab_size)
