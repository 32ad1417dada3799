"""The families: transformers, torch.nn and plain sums as oracles, searches, objectives, files, and refusals."""

import itertools
import json
import math
import re
import shutil
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch
import torch.nn.functional as F
import transformers
from hypothesis import given
from hypothesis import strategies as st
from oracles import assert_same, assert_same_gradients, random_ids, refuses, shake, tiny_model
from torch import Tensor, nn
from transformers.models.llama import modeling_llama

from transformer_course.checkpoints import FORMAT, CheckpointError, load_tensors, save_tensors
from transformer_course.corpus.vocabulary import Vocabulary
from transformer_course.decoding import beam_search, greedy, sample
from transformer_course.encoder_decoder import (
    DecoderLayer,
    EncoderLayer,
    GatedFeedForward,
    LayerConfig,
    RMSNorm,
)
from transformer_course.families import (
    IGNORED,
    Classifier,
    DecoderConfig,
    DecoderOnly,
    EncoderConfig,
    EncoderOnly,
    Rows,
    VisionConfig,
    VisionTransformer,
    classification_loss,
    from_pretrained,
    language_model_loss,
    load_model,
    mask_tokens,
    masked_loss,
    pool,
    prefix_mask,
    save_model,
    to_pretrained,
    token_losses,
)
from transformer_course.masking import causal_mask, decoder_mask
from transformer_course.positional_encoding import RotaryEncoding
from transformer_course.training import Progress, Trainer, TrainingConfig, validation_loss

VOCAB, MAX_LEN, EOS = 13, 17, 2
MODERN: dict[str, Any] = {"n_key_heads": 2, "bias": False, "rotary_base": 20.0, "qk_norm": True}
MODERN |= {"norm_kind": "rms", "activation": "swiglu"}
# What a language model may be made of: changes of its layers, and its positions.
STYLES: dict[str, tuple[dict[str, Any], str]] = {
    "learned": ({}, "learned"),
    "sinusoidal, post-norm": ({"norm": "post", "activation": "gelu"}, "sinusoidal"),
    "rotary": ({"rotary_base": 20.0}, "none"),
    "modern": (MODERN, "none"),
}
styles = st.sampled_from([*STYLES])
each_style = pytest.mark.parametrize("style", STYLES)


def layer(**changes: Any) -> LayerConfig:
    """Heads of width 4, 7 numbers in the feed-forward net, no dropout."""
    return LayerConfig(**({"d_model": 16, "n_heads": 4, "d_ff": 7, "dropout": 0.0} | changes))


def shaken(model: Any) -> Any:
    """In evaluation mode, with noise on every weight."""
    shake(model)
    return model.eval()


def decoder(style: str = "learned", seed: int = 0, **changes: Any) -> DecoderOnly:
    """A random language model."""
    torch.manual_seed(seed)
    changed, positions = STYLES[style]
    sizes: dict[str, Any] = {"vocab_size": VOCAB, "n_layers": 2, "max_len": MAX_LEN}
    sizes |= {"layer": layer(**changed), "positions": positions}
    return shaken(DecoderOnly(DecoderConfig(**(sizes | changes))))


def encoder(seed: int = 0, **changes: Any) -> EncoderOnly:
    """A random masked language model, like BERT if `changes` don't say otherwise."""
    torch.manual_seed(seed)
    of_layer = layer(**({"norm": "post", "activation": "gelu"} | changes))
    return shaken(EncoderOnly(EncoderConfig(VOCAB, of_layer, 2, MAX_LEN)))


def vision(seed: int = 0, **changes: Any) -> VisionTransformer:
    """Images of 6 × 6 pixels in 2 colours, cut into 9 patches."""
    torch.manual_seed(seed)
    sizes: dict[str, Any] = {"n_layers": 2} | changes
    return shaken(VisionTransformer(VisionConfig(layer(activation="gelu"), 6, 2, 2, 5, **sizes)))


def images(batch: int = 3) -> Tensor:
    return torch.randn(batch, 2, 6, 6)


def spoilt(message: str) -> "pytest.RaisesExc[CheckpointError]":
    """Expect a CheckpointError with exactly this message."""
    return pytest.raises(CheckpointError, match=f"^{re.escape(message)}$")


def assert_same_weights(one: nn.Module, two: nn.Module) -> None:
    ours, others = dict(one.named_parameters()), dict(two.named_parameters())
    assert ours.keys() == others.keys()
    for name in ours:
        assert torch.equal(ours[name], others[name]), name


# The parts of a layer


@given(width=st.integers(1, 9), scale=st.sampled_from([1e-3, 1.0, 100.0]), seed=st.integers(0, 99))
def test_rms_norm_equals_torch_with_gradients(width: int, scale: float, seed: int) -> None:
    """At a scale of 1e-3 the eps decides, so a wrong place of it shows."""
    torch.manual_seed(seed)
    ours, theirs = RMSNorm(width, 1e-4), nn.RMSNorm(width, 1e-4)
    assert (ours.gain == 1).all()
    shake(ours)
    with torch.no_grad():
        theirs.weight.copy_(ours.gain)
    x = (scale * torch.randn(3, 5, width)).requires_grad_()
    copy = x.detach().clone().requires_grad_()
    outputs = ours(x), theirs(copy)
    assert_same(*outputs)
    assert_same_gradients(outputs, {"x": (x, copy), "gain": (ours.gain, theirs.weight)})
    half = x.detach().bfloat16()
    assert ours.bfloat16()(half).dtype == torch.bfloat16
    assert_same(ours(half).float(), theirs.bfloat16()(half).float(), 0.01)
    ours.reset_parameters()
    assert (ours.gain == 1).all()


@pytest.mark.parametrize("bias", [True, False])
def test_gated_feed_forward_is_its_formula(bias: bool) -> None:
    torch.manual_seed(0)
    net = GatedFeedForward(5, 7, bias)
    net.reset_parameters()
    assert sum(p.numel() for p in net.parameters()) == 3 * 5 * 7 + bias * (7 + 7 + 5)
    assert all((p == 0).all() for name, p in net.named_parameters() if name.endswith("bias"))
    shake(net)
    x = torch.randn(2, 3, 5)
    maps: list[Any] = [net.gate, net.inner, net.outer]
    gate, inner, outer = ((m.weight, 0 if m.bias is None else m.bias) for m in maps)
    z = x @ gate[0].T + gate[1]
    gated = z / (1 + (-z).exp()) * (x @ inner[0].T + inner[1])
    assert_same(net(x), gated @ outer[0].T + outer[1])


def test_query_and_key_norms_stand_before_the_rotation_of_each_head() -> None:
    torch.manual_seed(0)
    attention: Any = shaken(EncoderLayer(layer(**MODERN)).self_attention)
    x, turn = torch.randn(1, 5, 16), RotaryEncoding(20.0)
    q, k, v = (
        w(x).view(1, 5, -1, 4).transpose(1, 2)
        for w in (attention.w_query, attention.w_key, attention.w_value)
    )
    q, k = (
        turn(F.rms_norm(y, (4,), norm.gain, 1e-5), torch.arange(5))
        for y, norm in ((q, attention.query_norm), (k, attention.key_norm))
    )
    heads = F.scaled_dot_product_attention(q, k, v, enable_gqa=True)
    expected = attention.w_output(heads.transpose(1, 2).flatten(2))
    assert_same(attention(x)[0], expected)


@torch.no_grad()
def test_cross_attention_has_the_norms_but_no_rotation_cached_or_not() -> None:
    torch.manual_seed(0)
    ours = shaken(DecoderLayer(layer(**MODERN)))
    assert ours.cross_attention.rotation is None
    x, memory = torch.randn(2, 3, 16), torch.randn(2, 5, 16)
    order = [3, 1, 0, 4, 2]
    assert_same(ours(x, memory[:, order], None), ours(x, memory, None))
    kept = ours.cross_attention.cache_memory(memory)
    assert_same(ours(x, None, None, cross_cache=kept), ours(x, memory, None))


@given(
    layout=st.sampled_from(["halves", "interleaved"]),
    pairs=st.integers(1, 8),
    places=st.tuples(*3 * [st.integers(0, 300)]),
    base=st.sampled_from([10.0, 10000.0]),
)
def test_rotation_keeps_lengths_and_scores_know_the_distance_only(
    layout: Any, pairs: int, places: tuple[int, int, int], base: float
) -> None:
    turn, (q, k) = RotaryEncoding(base, layout), torch.randn(2, 1, 1, 1, 2 * pairs)
    first, second, shift = places

    def score(here: int, there: int) -> Tensor:
        turned = turn(q, torch.tensor([here])), turn(k, torch.tensor([there]))
        assert_same(turned[0].norm(), q.norm(), 1e-4)
        return (turned[0] * turned[1]).sum()

    assert_same(score(first, second), score(first + shift, second + shift), 1e-3)
    assert torch.equal(turn(q, torch.tensor([0])), q)


@given(length=st.integers(1, 9), pairs=st.integers(1, 5), seed=st.integers(0, 99))
def test_rotation_equals_llamas_and_the_papers(length: int, pairs: int, seed: int) -> None:
    torch.manual_seed(seed)
    d_k = 2 * pairs
    x, positions = torch.randn(2, 3, length, d_k), torch.randint(0, 200, (2, length))
    config = transformers.LlamaConfig(hidden_size=d_k, num_attention_heads=1)
    cos, sin = modeling_llama.LlamaRotaryEmbedding(config)(x, positions)
    expected, _ = modeling_llama.apply_rotary_pos_emb(x, x, cos, sin)
    halves = RotaryEncoding()
    assert_same(halves(x, positions), expected)
    order = torch.arange(d_k).view(2, pairs).T.flatten()  # 0, d_k/2, 1, d_k/2 + 1, …
    neighbours = RotaryEncoding(layout="interleaved")(x[..., order], positions)
    assert_same(neighbours, expected[..., order])
    numbers = torch.view_as_complex(x[..., order].view(2, 3, length, pairs, 2).contiguous())
    angles = positions[:, None, :, None] * 10000.0 ** (-torch.arange(pairs) / pairs)
    turned = torch.view_as_real(numbers * torch.polar(torch.ones(()), angles)).flatten(-2)
    assert_same(neighbours, turned)
    assert_same(halves(x, positions[0])[0], expected[0])


def test_rotation_is_as_exact_as_its_numbers() -> None:
    x = torch.tensor([0.0, 1.0, 0.0, 0.0], dtype=torch.float64)[None, None, None]
    angle = 123456 / 10000**0.5
    expected = torch.tensor([0.0, math.cos(angle), 0.0, math.sin(angle)], dtype=torch.float64)
    turned = RotaryEncoding()(x, torch.tensor([123456]))[0, 0, 0]
    torch.testing.assert_close(turned, expected)


def test_rotation_refuses() -> None:
    pairs = "rotary_base turns pairs of numbers, so d_model / n_heads (16 / 16) must be even"
    with refuses(pairs):
        layer(rotary_base=9.0, n_heads=16)
    with refuses("layout ('thirds') must be 'halves' or 'interleaved'"):
        RotaryEncoding(layout="thirds")  # type: ignore[arg-type]
    with refuses("d_k (5) must be even: numbers are turned in pairs"):
        RotaryEncoding()(torch.zeros(1, 1, 2, 5), torch.arange(2))


# Sizes


def weights_of(model: Callable[[], nn.Module]) -> int:
    with torch.device("meta"):
        return sum(p.numel() for p in model().parameters())


def test_presets_have_the_weights_they_should() -> None:
    """By hand; old and new are about equal, so that comparing them is fair."""
    tiny, modern = DecoderConfig.tiny(1000), DecoderConfig.modern(1000)
    old, new = (weights_of(lambda c=c: DecoderOnly(c)) for c in (tiny, modern))  # type: ignore[misc]
    table, positions = 1000 * 128, 128 * 128
    of_layer = 4 * (128 * 128 + 128) + (2 * 128 * 512 + 512 + 128) + 4 * 128
    assert old == table + positions + 4 * of_layer + 2 * 128
    assert new == table + 4 * (3 * 128 * 128 + 3 * 128 * 384 + 2 * 128 + 2 * 32) + 128
    assert abs(new / old - 1) < 0.03
    bert = weights_of(lambda: EncoderOnly(EncoderConfig.tiny(1000)))
    head = 128 * 128 + 128 + 2 * 128 + 1000
    assert bert == table + positions + 2 * 128 + 4 * of_layer + head
    digits = VisionConfig.digits()
    assert (digits.n_patches, digits.max_len, digits.d_model, digits.dropout) == (16, 17, 64, 0.1)
    assert VisionTransformer(digits)(torch.zeros(3, 1, 8, 8)).shape == (3, 10)
    for config in (tiny, modern, EncoderConfig.tiny(1000)):
        assert (config.d_model, config.dropout, config.vocab_size) == (128, 0.1, 1000)


@pytest.mark.parametrize(
    ("config", "field", "value", "rule"),
    [
        ("layer", "norm_kind", "batch", "must be 'layer' or 'rms'"),
        ("layer", "norm_eps", 0.0, "must be above 0 and below 1"),
        ("layer", "norm_eps", 1.0, "must be above 0 and below 1"),
        ("layer", "norm_eps", math.nan, "must be above 0 and below 1"),
        ("layer", "activation", "silu", "must be 'relu', 'gelu', 'gelu_tanh' or 'swiglu'"),
        ("layer", "rotary_base", 1.0, "must be above 1 and finite"),
        ("layer", "rotary_base", math.inf, "must be above 1 and finite"),
        ("texts", "positions", "rotary", "must be 'sinusoidal', 'learned' or 'none'"),
        ("texts", "pad_id", 13, "must be one of the 13 token ids, or -1"),
        ("texts", "pad_id", -2, "must be one of the 13 token ids, or -1"),
        ("texts", "n_layers", 0, "must be 1 or more"),
        ("texts", "max_len", 5.0, "must be a whole number"),
        ("images", "image_size", 7, "must be divisible by patch_size (2)"),
        ("images", "positions", "sinusoidal", "must be 'learned' or 'none'"),
        ("images", "channels", 0, "must be 1 or more"),
        ("images", "n_classes", True, "must be a whole number"),
    ],
)
def test_configs_refuse(config: str, field: str, value: object, rule: str) -> None:
    texts: list[Any] = [encoder().config, decoder().config]
    configs = {"layer": [layer()], "texts": texts, "images": [vision().config]}
    for valid in configs[config]:
        with refuses(f"{field} ({value!r}) {rule}"):
            replace(valid, **{field: value})


MAKERS: dict[str, Callable[[], Any]] = {
    "encoder": encoder,
    "pre-norm encoder": lambda: encoder(norm="pre", norm_kind="rms"),
    "decoder": decoder,
    "modern decoder": lambda: decoder("modern", tie_embeddings=False),
    "vision": vision,
}


@pytest.mark.parametrize("kind", MAKERS)
def test_gradients_reach_every_weight_and_reset_leaves_nothing_of_them(kind: str) -> None:
    model = MAKERS[kind]()
    inputs = images() if kind == "vision" else random_ids([MAX_LEN, 4], VOCAB)
    model(inputs).logsumexp(-1).sum().backward()
    for name, p in model.named_parameters():
        if not name.endswith("w_key.bias"):  # a number added to all scores of a query changes none
            assert p.grad.abs().max() > 0, name
    torch.manual_seed(4)
    with torch.no_grad():
        for p in model.parameters():
            p.fill_(7.0)
    model.reset_parameters()
    for name, p in model.named_parameters():
        assert not (p == 7).any(), name
        if "norm" in name and name.endswith("gain"):
            assert (p == 1).all(), name
        elif name.endswith("bias"):
            assert (p == 0).all(), name
    torch.manual_seed(4)
    again = MAKERS[kind]()
    torch.manual_seed(4)
    again.reset_parameters()
    assert_same_weights(model, again)


def test_fresh_embeddings_have_variance_1_over_d_model() -> None:
    torch.manual_seed(0)
    wide = LayerConfig(64, 4, 64)
    for tied in (True, False):
        model = DecoderOnly(DecoderConfig(1000, wide, 1, tie_embeddings=tied))
        assert (model.output.weight is model.embedding.weight) == tied
        assert model.embedding.weight.std().item() * 8 == pytest.approx(1, abs=0.02)
    assert model.output.weight.detach().abs().max() <= math.sqrt(6 / 1064)


@pytest.mark.parametrize("make", [DecoderOnly, EncoderOnly])
@pytest.mark.parametrize(("positions", "scale"), [("sinusoidal", 4.0), ("learned", 1.0)])
def test_sinusoids_do_not_drown_the_words(make: Any, positions: Any, scale: float) -> None:
    """Beside numbers as large as 1, an embedding is multiplied by √d_model, here by 4 (§3.4)."""
    sizes = DecoderConfig if make is DecoderOnly else EncoderConfig
    model = make(sizes(VOCAB, layer(), 1, positions=positions)).eval()
    arrived: list[Tensor] = []
    model.stack.register_forward_pre_hook(lambda _, given: arrived.append(given[0]))
    ids = torch.tensor([[1, 5, 9, 3]])
    model(ids)
    words = arrived[0] - model.positions.table[:4]
    assert torch.allclose(words, model.embedding(ids) * scale, atol=1e-6)


# Encoder only


@given(
    lengths=st.lists(st.integers(1, 7), min_size=2, max_size=4),
    norm=st.sampled_from(["pre", "post"]),
    base=st.sampled_from([None, 20.0]),
)
@torch.no_grad()
def test_padding_changes_nothing_for_an_encoder(lengths: list[int], norm: str, base: Any) -> None:
    model, ids = encoder(norm=norm, rotary_base=base), random_ids(lengths, VOCAB, 9)
    logits = model(ids)
    assert logits.shape == (len(lengths), 9, VOCAB)
    for row, length in enumerate(lengths):
        assert_same(logits[row, :length], model(ids[row : row + 1, :length])[0])


@torch.no_grad()
def test_an_encoder_sees_both_sides_and_a_mask_hides_them() -> None:
    model, ids = encoder(), random_ids([6], VOCAB)
    before = model(ids)[0]
    for place in range(6):
        changed = ids.clone()
        changed[0, place] = 3 + (ids[0, place] - 2) % 10
        moved = (model(changed)[0] - before).abs().amax(-1)
        assert (moved > 1e-3).all()
    hidden = model(ids, causal_mask(6))
    assert_same(hidden[:, :4], model(ids[:, :4], causal_mask(4)))
    assert not torch.allclose(hidden, before[None], atol=1e-2)


@pytest.mark.parametrize("make", [encoder, decoder])
def test_models_of_texts_refuse(make: Callable[[], Any]) -> None:
    model = make()
    with refuses("ids has the id 13, which is outside the vocabulary of 13 ids"):
        model(torch.tensor([[3, 13]]))
    with refuses("ids must hold whole numbers (int64 or int32), got torch.float32"):
        model(torch.tensor([[3.0]]))
    with refuses("ids must hold at least one token, shape (batch, length), got (2, 0)"):
        model(torch.zeros(2, 0).long())
    with refuses("sequence of length 18 is longer than the positions, max_len (17)"):
        model(random_ids([18], VOCAB))
    with refuses("mask must be boolean (True = may attend), got dtype torch.float32"):
        model(random_ids([5], VOCAB), torch.ones(1, 1, 1, 5))


# Decoder only


@given(style=styles, place=st.integers(1, 8), token=st.integers(3, VOCAB - 1))
@torch.no_grad()
def test_the_future_changes_nothing_for_a_decoder(style: str, place: int, token: int) -> None:
    model, ids = decoder(style), random_ids([9], VOCAB)
    changed = ids.clone()
    changed[0, place:] = token
    before, after = model(ids), model(changed)
    assert torch.equal(before[:, :place], after[:, :place])
    assert (changed == ids).all() or not torch.allclose(before, after, atol=1e-3)


@given(style=styles, chunks=st.lists(st.integers(1, 4), min_size=1, max_size=4))
@torch.no_grad()
def test_cached_equals_uncached_to_the_last_token(style: str, chunks: list[int]) -> None:
    model, ids = decoder(style), random_ids([sum(chunks), 1], VOCAB)
    expected, mask = model.states(ids), decoder_mask(ids)
    caches, told = (model.stack.start_caches(n, sum(chunks)) for n in (1, 2))
    start = 0
    for size in chunks:
        end = start + size
        seen, places = mask[:, :, start:end, :end], torch.arange(start, end)
        states = model.states(ids[:, start:end], seen, told, places)
        assert_same(states, expected[:, start:end], 2e-5)
        states = model.states(ids[:1, start:end], None, caches)
        assert_same(states, expected[:1, start:end], 2e-5)
        start = end
    with refuses(f"cache is full: {start} positions in use, 1 more asked for, capacity {start}"):
        model.states(ids[:1, :1], None, caches, torch.tensor([0]))


@given(
    style=styles,
    lengths=st.lists(st.integers(1, 6), min_size=1, max_size=4),
    beams=st.integers(1, 3),
    seed=st.integers(0, 999),
)
@torch.no_grad()
def test_start_and_step_equal_one_pass_over_prompt_and_beam(
    style: str, lengths: list[int], beams: int, seed: int
) -> None:
    """Random tokens, random parents, rows that leave: each beam reads its own prompt and ancestors only."""
    model = decoder(style, seed)
    src = random_ids(lengths, VOCAB)
    prompts = [row[:n].tolist() for row, n in zip(src, lengths, strict=True)]
    state = model.start(src, 5, beams)
    paths: list[list[list[int]]] = [[[] for _ in range(beams)] for _ in prompts]
    tokens = torch.full((len(prompts), beams), -1)  # not read
    for step in range(5):
        if step in (0, 3) and len(prompts) > 1:  # the last row goes, the others change places
            rows = torch.arange(len(prompts) - 1).flip(0)
            state, tokens = state.select(rows), tokens[rows]
            prompts, paths = ([each[i] for i in rows.tolist()] for each in (prompts, paths))
        logits = model.step(tokens, state)
        for row, beam in itertools.product(range(len(prompts)), range(beams)):
            whole = torch.tensor([prompts[row] + paths[row][beam]])
            assert_same(logits[row, beam], model(whole)[0, -1], 2e-5)
        parents = torch.randint(0, beams, tokens.shape)
        tokens = torch.randint(1, VOCAB, tokens.shape)
        state.reorder(parents)
        paths = [
            [[*paths[row][p], t] for p, t in zip(from_, new, strict=True)]
            for row, (from_, new) in enumerate(zip(parents.tolist(), tokens.tolist(), strict=True))
        ]


@each_style
def test_each_prompt_is_continued_as_if_it_stood_alone(style: str) -> None:
    model, lengths = decoder(style), [4, 1, 6]
    src = random_ids(lengths, VOCAB)
    alone = [src[i : i + 1, :n] for i, n in enumerate(lengths)]
    together = greedy(model, src, 7, bos_id=-1)
    assert together == [greedy(model, row, 7, bos_id=-1)[0] for row in alone]
    assert together == [h[0].ids for h in beam_search(model, src, 1, 7, bos_id=-1)]
    wide = beam_search(model, src, 3, 7, top_beams=3, bos_id=-1)
    for found, row in zip(wide, alone, strict=True):
        (expected,) = beam_search(model, row, 3, 7, top_beams=3, bos_id=-1)
        assert [h.ids for h in found] == [h.ids for h in expected]
        assert [h.score for h in found] == pytest.approx([h.score for h in expected], rel=1e-4)
    for row, chosen in zip(alone, together, strict=True):
        assert sample(model, row, 7, top_k=1, bos_id=-1) == [chosen]
        padded = torch.cat([row, row.new_zeros(1, 3)], 1)
        seeds = [torch.Generator().manual_seed(5) for _ in range(2)]
        drawn = sample(model, row, 7, generator=seeds[0], bos_id=-1)
        assert drawn == sample(model, padded, 7, generator=seeds[1], bos_id=-1)


@each_style
@torch.no_grad()
def test_a_wide_beam_search_equals_brute_force(style: str) -> None:
    """Words 3, 4, 5 and the end: a beam of 50 holds all 40 texts of at most 3 tokens."""
    model, src = decoder(style, vocab_size=100, tie_embeddings=False), torch.tensor([[7, 8, 9, 0]])
    few = torch.tensor([i for i in range(100) if i not in (EOS, 3, 4, 5)])
    model.output.register_forward_hook(lambda _, __, out: out.index_fill(-1, few, -math.inf))
    words = (3, 4, 5)
    texts = [[*w, EOS] for n in range(3) for w in itertools.product(words, repeat=n)]
    texts += [list(w) for w in itertools.product(words, repeat=3)]
    expected = {}
    for text in texts:
        log_probs = model(torch.tensor([[7, 8, 9, *text]]))[0, 2:-1].log_softmax(-1)
        total = sum(float(row[token]) for row, token in zip(log_probs, text, strict=True))
        expected[tuple(text)] = total / ((5 + len(text)) / 6) ** 0.6
    (found,) = beam_search(model, src, 50, 3, top_beams=50, bos_id=-1)
    best_first = sorted(expected, key=lambda text: -expected[text])
    assert [tuple(h.ids) for h in found] == best_first
    assert [h.score for h in found] == pytest.approx(sorted(expected.values())[::-1], rel=1e-4)


def test_prompts_that_cannot_be_continued_are_refused() -> None:
    full = random_ids([5], VOCAB)
    assert len(sample(decoder(), full, 13, top_k=1, eos_id=1, bos_id=-1)[0]) <= 13
    with refuses("max_len (14) and a prompt of 5 tokens need 18 positions; the model has 17"):
        greedy(decoder(), full, 14, bos_id=-1)
    model = decoder()
    with refuses("beams (0) must be 1 or more"):
        model.start(full, 3, 0)
    message = "src must hold at least one token a row, padding on the right only"
    for rows in ([[0, 3, 4]], [[3, 4, 5], [3, 0, 4]], [[3, 4], [0, 0]]):
        with refuses(message):
            model.start(torch.tensor(rows), 3)
    with refuses("src has the id 13, which is outside the vocabulary of 13 ids"):
        model.start(torch.tensor([[13]]), 3)
    with refuses("src must hold at least one token, shape (batch, length), got (3,)"):
        model.start(torch.tensor([3, 4, 5]), 3)
    free = decoder(pad_id=-1)  # without padding, 0 is a token as any other
    assert len(greedy(free, torch.tensor([[0, 3, 0]]), 3, bos_id=-1)[0]) > 0
    with refuses("eos_id (-1) must differ from pad_id (-1) and bos_id (-1)"):
        greedy(free, torch.tensor([[3]]), 3, bos_id=-1, eos_id=-1)


# Pooling, classes, images


def test_pooling_leaves_padding_out() -> None:
    states, real = torch.randn(3, 4, 5), torch.arange(4) < torch.tensor([[4], [1], [3]])
    rows = [states[i, :n] for i, n in enumerate((4, 1, 3))]
    assert_same(pool(states, real, "first"), torch.stack([row[0] for row in rows]))
    assert_same(pool(states, real, "last"), torch.stack([row[-1] for row in rows]))
    assert_same(pool(states, real, "mean"), torch.stack([row.mean(0) for row in rows]))
    with refuses("pooling ('max') must be 'first', 'mean' or 'last'"):
        pool(states, real, "max")  # type: ignore[arg-type]


@pytest.mark.parametrize("pooling", ["first", "mean", "last"])
@pytest.mark.parametrize("make", [encoder, decoder])
@torch.no_grad()
def test_a_classifier_reads_real_tokens_only(make: Callable[[], Any], pooling: Any) -> None:
    torch.manual_seed(0)
    model, ids = Classifier(make(), 4, pooling).eval(), random_ids([5, 2], VOCAB)
    logits = model(ids)
    assert logits.shape == (2, 4)
    assert_same(logits[1:], model(ids[1:, :2]))
    place = {"first": 0, "last": 1}.get(pooling)
    states = model.body.states(ids[1:, :2])[0]
    vector = states.mean(0) if place is None else states[place]
    assert_same(logits[1], model.output(vector))
    with refuses("pooling ('max') must be 'first', 'mean' or 'last'"):
        Classifier(make(), 4, "max")(ids)  # type: ignore[arg-type]


@given(
    width=st.sampled_from([2, 3]),
    channels=st.sampled_from([1, 3]),
    side=st.integers(1, 4),
    seed=st.integers(0, 99),
)
@torch.no_grad()
def test_patch_embedding_is_a_convolution(width: int, channels: int, side: int, seed: int) -> None:
    torch.manual_seed(seed)
    size = width * side
    model = VisionTransformer(VisionConfig(layer(), size, width, channels, 5, 1))
    shake(model)
    picture, linear = torch.randn(2, channels, size, size), model.patch_embedding
    conv = nn.Conv2d(channels, 16, width, stride=width)
    conv.weight.copy_(linear.weight.view(conv.weight.shape))
    conv.bias.copy_(linear.bias)  # type: ignore[union-attr]
    patches = model.patches(picture)
    assert patches.shape == (2, model.config.n_patches, channels * width**2)
    assert_same(linear(patches), conv(picture).flatten(2).mT)
    assert_same(patches[1, -1], picture[1, :, -width:, -width:].flatten())
    assert model.states(picture).shape == (2, 1 + side**2, 16)


@pytest.mark.parametrize("positions", ["none", "learned"])
@torch.no_grad()
def test_only_positions_tell_where_a_patch_stands(positions: str) -> None:
    model, picture = vision(positions=positions), images()
    mixed = model.patches(picture)[:, torch.randperm(9)]
    elsewhere = F.fold(mixed.mT, (6, 6), 2, stride=2)
    assert torch.equal(model.patches(elsewhere), mixed)
    assert torch.allclose(model(elsewhere), model(picture), atol=1e-5) == (positions == "none")
    assert_same(model(picture)[1:2], model(picture[1:2]))


def test_images_of_another_shape_are_refused() -> None:
    for shape in ((3, 1, 6, 6), (3, 2, 6, 8), (2, 6, 6)):
        with refuses(f"images of shape {shape} must have the shape (batch, 2, 6, 6)"):
            vision()(torch.zeros(shape))


# Objectives


def test_mask_tokens_in_the_shares_of_bert() -> None:
    """200,000 tokens: every bound is five standard deviations."""
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(4, 1000, (400, 500), generator=generator)
    read, labels = mask_tokens(ids, 3, 1000, special=4, generator=generator)
    chosen = labels != IGNORED
    assert torch.equal(labels[chosen], ids[chosen])
    assert torch.equal(read[~chosen], ids[~chosen])
    n = int(chosen.sum())
    assert n / 200_000 == pytest.approx(0.15, abs=0.004)
    masked, stayed = (read == 3)[chosen], (read == ids)[chosen]
    assert masked.sum().item() / n == pytest.approx(0.8, abs=0.012)
    assert stayed.sum().item() / n == pytest.approx(0.1, abs=0.009)
    others = read[chosen][~masked & ~stayed]
    assert len(others) / n == pytest.approx(0.1, abs=0.009)
    assert others.float().mean().item() == pytest.approx((4 + 999) / 2, abs=5 * 288 / 3000**0.5)
    assert chosen.float().mean(0).std() < 0.03  # at every place alike


def test_mask_tokens_and_special_ids() -> None:
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(0, 8, (100, 100), generator=generator)
    read, labels = mask_tokens(ids, 2, 8, share=0.5, special=5, generator=generator)
    chosen = labels != IGNORED
    assert set(ids[chosen].tolist()) == {5, 6, 7}
    assert set(read[chosen].tolist()) == {2, 5, 6, 7}
    assert chosen[ids >= 5].float().mean().item() == pytest.approx(0.5, abs=0.05)
    only = mask_tokens(torch.full((1, 400), 5), 2, 6, special=5, generator=generator)[0]
    assert set(only[0].tolist()) == {2, 5}
    seeds = [torch.Generator().manual_seed(1) for _ in range(2)]
    first, second = (mask_tokens(ids, 2, 8, generator=seed) for seed in seeds)
    assert torch.equal(first[0], second[0])
    assert torch.equal(first[1], second[1])
    assert set(ids[first[1] != IGNORED].tolist()) == {3, 4, 5, 6, 7}  # 0, 1 and 2 are special
    for share in (0.0, 1.0, math.nan):
        with refuses(f"share ({share}) must be between 0 and 1"):
            mask_tokens(ids, 2, 8, share=share)
    with refuses("special (8) must be below vocab_size (8)"):
        mask_tokens(ids, 2, 8, special=8)


def test_masked_loss_counts_what_was_chosen() -> None:
    model, ids = encoder(), random_ids([*20 * [17], 9], VOCAB)
    for special in (3, 8):
        seeds = [torch.Generator().manual_seed(4) for _ in range(2)]
        read, labels = mask_tokens(ids, 1, VOCAB, special=special, generator=seeds[0])
        log_probs = model(read).log_softmax(-1)
        places = (labels != IGNORED).nonzero().tolist()
        assert len(places) >= 9
        by_hand = torch.stack([-log_probs[i, j, ids[i, j]] for i, j in places]).mean()
        assert_same(masked_loss(model, ids, 1, special=special, generator=seeds[1]), by_hand)
    assert masked_loss(model, torch.tensor([[1, 2, 1, 0]]), 1).item() == 0


@each_style
def test_language_model_loss_by_hand(style: str) -> None:
    """Rows alone, a token at a time; of a prompt nothing is guessed."""
    model, ids = decoder(style), random_ids([6, 4, 1], VOCAB)
    for prompts in (None, [1, 1, 1], [3, 1, 1], [0, 4, 5]):
        expected, losses = [], torch.zeros(3, 5)
        for i, length in enumerate((6, 4, 1)):
            for t in range(1 if prompts is None else max(1, prompts[i]), length):
                log_probs = model(ids[i : i + 1, :t])[0, -1].log_softmax(-1)
                losses[i, t - 1] = -log_probs[ids[i, t]]
                expected.append(losses[i, t - 1])
        lengths = None if prompts is None else torch.tensor(prompts)
        assert_same(token_losses(model, ids, lengths), losses)
        assert_same(language_model_loss(model, ids, lengths), torch.stack(expected).mean())
    with refuses("ids must hold at least one token, shape (batch, length), got (2, 0)"):
        language_model_loss(model, ids[:2, :1])


@torch.no_grad()
def test_a_prefix_is_seen_from_both_sides() -> None:
    ids = torch.tensor([[5, 6, 7, 8], [5, 6, 0, 0]])
    expected = [
        [[1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]],
        [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 0, 0]],
    ]
    lengths = torch.tensor([2, 1])
    mask = prefix_mask(ids, lengths)
    assert mask.dtype == torch.bool
    assert mask[:, 0].int().tolist() == expected
    assert prefix_mask(ids, lengths, pad_id=-1)[1, 0, 3].all()
    model = decoder()
    logits = model(ids[:1], mask[:1])
    assert_same(logits[:, :2], model(ids[:1, :2], mask[:1, :, :2, :2]))
    assert not torch.allclose(logits[:, 0], model(ids[:1])[:, 0], atol=1e-2)
    seen = mask[:, :, :-1, :-1]
    expected_loss = F.cross_entropy(logits[0, 1:3], ids[0, 2:])
    assert_same(language_model_loss(model, ids[:1], lengths[:1], seen[:1]), expected_loss)
    losses = token_losses(model, ids, lengths, seen)
    assert losses[0].sum().item() == pytest.approx(2 * expected_loss.item(), rel=1e-5)
    assert losses.count_nonzero() == 3


def test_classification_loss() -> None:
    model, picture, labels = vision(), images(), torch.tensor([4, 0, IGNORED])
    expected = F.cross_entropy(model(picture)[:2], labels[:2])
    assert_same(classification_loss(model, picture, labels), expected)


@given(
    lengths=st.lists(st.integers(1, 9), min_size=1, max_size=60),
    size=st.integers(1, 7),
    seed=st.integers(0, 99),
)
def test_every_row_comes_once_an_epoch_among_rows_of_like_length(
    lengths: list[int], size: int, seed: int
) -> None:
    data, every = Rows([[3] * n for n in lengths], batch_size=size), list(range(len(lengths)))
    assert data.epoch() == [every[i : i + size] for i in range(0, len(every), size)]
    batches = data.epoch(seed)
    assert sorted(i for batch in batches for i in batch) == every
    assert len(batches) == len(data.epoch())
    assert batches == data.epoch(seed)
    if len(lengths) <= 20 * size:  # one portion: the batches' ranges of lengths only touch
        spans = sorted(sorted(lengths[i] for i in batch) for batch in batches)
        assert all(one[-1] <= two[0] for one, two in itertools.pairwise(spans))


def test_rows_as_batches() -> None:
    data = Rows([[5, 6, 7], [8], [9, 3]], [2, 0, 1], batch_size=2, pad_id=11)
    rows, labels = data.tensors([1, 2, 0])
    assert rows.tolist() == [[8, 11, 11], [9, 3, 11], [5, 6, 7]]
    assert (rows.dtype, labels.dtype) == (torch.int64, torch.int64)
    assert labels.tolist() == [0, 1, 2]
    assert len(Rows([[5]]).tensors([0])) == 1
    pictures = Rows(images(7), list(range(7)), batch_size=3)
    chosen, classes = pictures.tensors([6, 2])
    assert torch.equal(chosen, pictures.rows[[6, 2]])  # type: ignore[call-overload]
    assert classes.tolist() == [6, 2]
    assert pictures.epoch(3) != pictures.epoch(4)
    assert sorted(i for batch in pictures.epoch(3) for i in batch) == list(range(7))
    prompts = Rows([[5, 6, 7], [8, 9]], prompt_lengths=[2, 1])
    assert prompts.tensors([1, 0])[1].tolist() == [1, 2]
    found = [rows.n_predicted([0, 1]) for rows in (data, pictures, prompts, Rows([[5, 6, 7], [8]]))]
    assert found == [2, 2, 2, 2]


@torch.no_grad()
def test_validation_is_the_mean_of_what_is_guessed_whatever_the_batches() -> None:
    """Rows of 8 and 2 tokens: means of batches would weigh them alike, tokens would weigh their classes."""
    ids = random_ids([8, 2, 5], VOCAB)
    rows = [row[row != 0].tolist() for row in ids]
    model, judge = decoder(), Classifier(encoder(), 4).eval()
    expected = token_losses(model, ids).sum().item() / (7 + 1 + 4)
    one_by_one = Rows(rows, batch_size=1)
    assert validation_loss(model, one_by_one, language_model_loss) == pytest.approx(expected)
    kinds = [3, 0, 1]
    expected = F.cross_entropy(judge(ids), torch.tensor(kinds)).item()
    labelled = Rows(rows, kinds, batch_size=1)
    assert validation_loss(judge, labelled, classification_loss) == pytest.approx(expected)


def test_rows_that_differ_have_other_fingerprints() -> None:
    """Also in the size of a batch: which rows meet depends on it, so a run can't go on with another."""
    pixels, rows = torch.zeros(2, 1, 2, 2), [[3, 4], [5]]
    several = [Rows(other) for other in (rows, [[3], [4, 5]], [[3, 4], [6]], [[5], [3, 4]])]
    several += [Rows(rows, [0, 1]), Rows(rows, [1, 0]), Rows(pixels), Rows(pixels + 1)]
    several += [Rows(rows, batch_size=2), Rows(rows, pad_id=1)]
    assert len({data.digest for data in several}) == len(several)
    assert Rows(rows, [0, 1]).digest == several[4].digest
    assert Rows(pixels.clone()).digest == several[6].digest


def test_rows_refuse() -> None:
    for rows in ([], [[3], []], torch.zeros(0, 2)):
        with refuses("rows must hold at least one row, and each row something"):
            Rows(rows)
    with refuses("labels (1 numbers) must be as many as rows (2)"):
        Rows([[3], [4]], [0])
    with refuses("prompt_lengths (3 numbers) must be as many as rows (2)"):
        Rows([[3], [4]], prompt_lengths=[1, 1, 1])
    for read in (0, 2):
        rule = "must be 1 or more, and below the length of its row (2)"
        with refuses(f"prompt_lengths ({read}) {rule}"):
            Rows([[3, 4, 5], [3, 4]], prompt_lengths=[1, read])
    with refuses("rows have labels or prompt_lengths, not both"):
        Rows([[3], [4]], [0, 1], [1, 1])
    with refuses("batch_size (0) must be 1 or more"):
        Rows([[3]], batch_size=0)


class Killed(BaseException):
    """Stands for a process that is no more."""


# Rows that go up by one, of 3 to 8 tokens, and images that are darker or lighter.
COUNTING = [[*range(first, first + n)] for first in (3, 4, 5) for n in range(3, 9)]
GREY = torch.linspace(-1, 1, 18)[:, None, None, None].expand(18, 2, 6, 6)
KINDS = [row[0] - 3 for row in COUNTING]
TASKS: dict[str, tuple[Callable[[], Any], Rows, Any]] = {
    "decoder": (decoder, Rows(COUNTING, batch_size=4), language_model_loss),
    "modern decoder, prompts": (
        lambda: decoder("modern"),
        Rows(COUNTING, prompt_lengths=[2] * 18, batch_size=4),
        language_model_loss,
    ),
    "encoder": (encoder, Rows(COUNTING, batch_size=4), lambda m, ids: masked_loss(m, ids, 1)),
    "classifier": (
        lambda: Classifier(encoder(), 3),
        Rows(COUNTING, KINDS, batch_size=4),
        classification_loss,
    ),
    "images": (vision, Rows(GREY, KINDS, batch_size=4), classification_loss),
}


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_training_lowers_the_loss_and_resumes_to_the_same_weights(
    tmp_path: Path, task: str
) -> None:
    """Stopped at step 17, between two checkpoints and in the middle of an epoch, it goes on from step 14."""
    make, rows, loss_fn = TASKS[task]

    def evaluate(model: nn.Module) -> dict[str, float]:
        torch.manual_seed(1)  # the trainer puts its own random numbers aside
        losses = [loss_fn(model, *rows.tensors(range(18))) for _ in range(5)]
        return {"loss": torch.stack(losses).mean().item()}

    def trainer(name: str) -> Trainer:
        torch.manual_seed(0)
        model = make()
        for module in model.modules():
            if isinstance(module, nn.Dropout):
                module.p = 0.1
        config = TrainingConfig(max_steps=20, validate_every=7, peak_rate=0.02, warmup_steps=2)
        return Trainer(model, rows, loss_fn, evaluate, config, tmp_path / name)

    def kill(progress: Progress) -> None:
        if progress.step == 17:
            raise Killed

    before = evaluate(make())["loss"]
    whole: Any = trainer("whole")
    assert whole.train() == "finished"
    assert whole.history[-1]["loss"] < 0.9 * before
    with pytest.raises(Killed):
        trainer("killed").train(kill)
    resumed: Any = trainer("killed")
    shake(resumed.model)
    resumed.resume()
    assert resumed.step == 14
    assert resumed.train() == "finished"
    assert_same_weights(resumed.model, whole.model)


# Files


@pytest.mark.parametrize("kind", MAKERS)
@torch.no_grad()
def test_models_come_back_from_their_files(tmp_path: Path, kind: str) -> None:
    model = MAKERS[kind]().train()
    save_model(model, tmp_path / "a" / "b")
    again: Any = load_model(tmp_path / "a" / "b")
    assert (type(again), again.config, again.training) == (type(model), model.config, False)
    assert_same_weights(again, model)
    inputs = images() if kind == "vision" else random_ids([5, 3], VOCAB)
    assert torch.equal(again(inputs), model(inputs))


@pytest.mark.parametrize("pooling", ["first", "mean", "last"])
@torch.no_grad()
def test_a_classifier_comes_back_with_its_body(tmp_path: Path, pooling: Any) -> None:
    model = shaken(Classifier(decoder("modern", tie_embeddings=False), 3, pooling))
    save_model(model.train(), tmp_path)
    again: Any = load_model(tmp_path)
    assert (type(again.body), again.config, again.training) == (DecoderOnly, model.config, False)
    assert_same_weights(again, model)
    ids = random_ids([5, 3], VOCAB)
    assert torch.equal(again(ids), model(ids))


def test_a_vocabulary_stands_beside_the_model_and_belongs_to_it(tmp_path: Path) -> None:
    few, others = (Vocabulary.train([text] * 9, 300) for text in ("the cat", "a dog"))
    torch.manual_seed(0)
    model = DecoderOnly(DecoderConfig(len(few) + 1, layer(), n_layers=1))  # the last id is [MASK]
    save_model(model, tmp_path, few)
    found = Vocabulary.load(tmp_path / "vocabulary.json")
    assert found.encode(["the cat"]) == few.encode(["the cat"])
    assert_same_weights(load_model(tmp_path, found), model)
    assert_same_weights(load_model(tmp_path), model)
    path = tmp_path / "model.safetensors"
    with spoilt(f"{path} belongs to another vocabulary than the one given"):
        load_model(tmp_path, others)
    save_model(model, tmp_path)  # without one
    with spoilt(f"{path} was saved without a vocabulary, so none can be checked"):
        load_model(tmp_path, few)
    for small, ids in ((decoder(), VOCAB), (vision(), 0)):
        with refuses(f"vocabulary has {len(few)} entries, the model {ids} token ids"):
            save_model(small, tmp_path, few)


def test_files_that_hold_no_family_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    names = "['EncoderOnly', 'DecoderOnly', 'VisionTransformer', 'Classifier']"
    with spoilt(f"{path} is missing"):
        load_model(tmp_path)
    translator: Any = tiny_model()
    with spoilt(f"Transformer can't be saved: `load_model` knows {names}"):
        save_model(translator, tmp_path)
    for kind in (torch.bfloat16, torch.float64):
        with spoilt(f"embedding.weight ({kind}) can't be saved: it must be of torch.float32"):
            save_model(decoder().to(kind), tmp_path)
    assert list(tmp_path.iterdir()) == []
    save_tensors(path, dict(translator.named_parameters()), {"config": {"vocab_size": 13}})
    with spoilt(f"{path} holds no model of {names}"):
        load_model(tmp_path)
    save_model(decoder(), tmp_path)
    tensors, values = load_tensors(path)
    of_layer, misfit = values["config"]["layer"], "the weights don't fit the model"
    for changes, reason in [
        ({"n_layers": 0}, "n_layers (0) must be 1 or more"),
        ({"layer": of_layer | {"norm_eps": 2}}, "norm_eps (2) must be above 0 and below 1"),
        ({"tie_embeddings": False}, f"{misfit}: tensors has no output.weight"),
        ({"d_ff": 3}, "DecoderConfig.__init__() got an unexpected keyword argument 'd_ff'"),
    ]:
        save_tensors(path, tensors, values | {"config": values["config"] | changes})
        with spoilt(f"{path} is damaged or of another version ({reason})"):
            load_model(tmp_path)
    for left, missing in [({}, "config"), ({"config": {"vocab_size": 13}}, "layer")]:
        save_tensors(path, tensors, {"family": "DecoderOnly"} | left)
        with spoilt(f"{path} is damaged or of another version ('{missing}')"):
            load_model(tmp_path)
    with spoilt(f"Transformer can't be saved: `load_model` knows {names}"):
        save_model(Classifier(translator, 3), tmp_path)
    save_model(Classifier(encoder(), 3), tmp_path)
    tensors, values = load_tensors(path)
    image = {"family": "VisionTransformer", "config": asdict(vision().config)}
    for changes, reason in [
        ({"body": image}, "a Classifier has no body of VisionTransformer"),
        ({"n_classes": 4}, f"{misfit}: output.weight must have shape (4, 16), got (3, 16)"),
        ({"body": {"family": "Other", "config": {}}}, "'Other'"),
    ]:
        save_tensors(path, tensors, values | changes)
        with spoilt(f"{path} is damaged or of another version ({reason})"):
            load_model(tmp_path)
    save_model(decoder(), tmp_path)
    tensors, values = load_tensors(path)
    save_tensors(path, tensors, values | {"format": FORMAT + 1})
    with spoilt(
        f"{path} has format {FORMAT + 1}, this package reads up to {FORMAT}: install a newer one"
    ):
        load_model(tmp_path)
    del values["format"]  # as files were before they had one
    save_tensors(path, tensors, values)
    assert_same_weights(load_model(tmp_path), decoder())
    save_model(decoder(), tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with spoilt(f"{path} is damaged: it doesn't hold what was written"):
        load_model(tmp_path)
    for save in (save_model, to_pretrained):
        with spoilt(f"{path} can't be made: File exists"):
            save(decoder(layer=layer(activation="gelu_tanh")), path)


# To and from transformers

SIZES: dict[str, dict[str, Any]] = {
    "bert": {"hidden_size": 12, "num_attention_heads": 3, "intermediate_size": 7},
    "gpt2": {"n_embd": 12, "n_head": 3, "n_positions": MAX_LEN, "n_layer": 2},
    "llama": {"hidden_size": 16, "num_attention_heads": 4, "intermediate_size": 7},
    "vit": {"hidden_size": 12, "num_attention_heads": 3, "intermediate_size": 7},
}
SIZES["llama"]["rope_parameters"] = {"rope_type": "default", "rope_theta": 20.0}
SIZES["vit"] |= {"image_size": 6, "patch_size": 2, "num_channels": 2, "num_labels": 5}
MODELS: dict[str, tuple[Any, Any]] = {
    "bert": (transformers.BertForMaskedLM, transformers.BertConfig),
    "gpt2": (transformers.GPT2LMHeadModel, transformers.GPT2Config),
    "llama": (transformers.LlamaForCausalLM, transformers.LlamaConfig),
    "vit": (transformers.ViTForImageClassification, transformers.ViTConfig),
}
VARIANTS: dict[str, dict[str, Any]] = {
    "bert": {"layer_norm_eps": 0.01},  # large, so that a norm that has another one shows
    "gpt2": {"layer_norm_epsilon": 0.01},
    "gpt2, untied": {"tie_word_embeddings": False, "n_inner": 7, "pad_token_id": 0},
    "llama": {"num_key_value_heads": 2, "pad_token_id": 0},
    "llama, tied": {"tie_word_embeddings": True, "rms_norm_eps": 0.01},
    "vit": {"layer_norm_eps": 0.01},
}


@cache
def theirs(variant: str) -> Any:
    """A model of transformers with random weights, none of them 0 or 1 as after a fresh start."""
    torch.manual_seed(3)
    name = variant.split(",")[0]
    sizes: dict[str, Any] = SIZES[name] | VARIANTS[variant]
    if name != "vit":
        sizes |= {"vocab_size": VOCAB, "bos_token_id": None, "eos_token_id": None}
    if name != "gpt2":
        sizes |= {"num_hidden_layers": 2, "max_position_embeddings": MAX_LEN}
    make, config = MODELS[name]
    model = make(config(**sizes))
    for weight in model.parameters():
        nn.init.normal_(weight, std=0.3)
    return model.eval()


@cache
def folder_of(variant: str) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="transformer-course-"))
    theirs(variant).save_pretrained(folder)
    return folder


@pytest.mark.parametrize("variant", VARIANTS)
@torch.no_grad()
def test_the_logits_are_theirs_there_and_back(variant: str, tmp_path: Path) -> None:
    ours: Any = from_pretrained(folder_of(variant))
    assert not ours.training
    inputs = images() if variant == "vit" else random_ids([9, 9], VOCAB)
    expected = theirs(variant)(inputs).logits
    assert expected.std() > 0.1
    assert_same(ours(inputs), expected)
    to_pretrained(ours, tmp_path / "a" / "b")
    back = type(theirs(variant)).from_pretrained(tmp_path / "a" / "b").eval()
    assert_same(back(inputs).logits, expected)
    again: Any = from_pretrained(tmp_path / "a" / "b")
    assert again.config == ours.config
    assert_same_weights(again, ours)


@torch.no_grad()
def test_padding_is_hidden_as_berts_attention_mask_hides_it() -> None:
    ours, ids = from_pretrained(folder_of("bert")), random_ids([9, 4, 1], VOCAB)
    real = ids != 0
    expected = theirs("bert")(ids, attention_mask=real.long()).logits
    assert_same(ours(ids)[real], expected[real])


@pytest.mark.parametrize("variant", [name for name in VARIANTS if name[0] in "gl"])
def test_greedy_writes_what_generate_writes(variant: str) -> None:
    """Prompts of unlike length: ours are padded on the right, theirs on the left."""
    ours: Any = from_pretrained(folder_of(variant))
    pads = VARIANTS[variant].get("pad_token_id") == 0
    assert ours.config.pad_id == (0 if pads else -1)
    lengths = [5, 2, 4] if pads else [5, 5, 5]
    src = random_ids(lengths, VOCAB)
    left = torch.stack([row.roll(5 - n) for row, n in zip(src, lengths, strict=True)])
    written = theirs(variant).generate(
        left,
        attention_mask=(left != 0).long(),
        max_new_tokens=11,
        do_sample=False,
        eos_token_id=EOS,
        pad_token_id=EOS,
        suppress_tokens=[0] if pads else None,
    )
    ends = [[*row[5:], EOS].index(EOS) + 6 for row in written.tolist()]
    expected = [row[5:end] for row, end in zip(written.tolist(), ends, strict=True)]
    assert greedy(ours, src, 11, bos_id=-1) == expected


@pytest.mark.parametrize("ends", [EOS, [0, EOS]])
@torch.no_grad()
def test_an_end_that_also_pads_is_read_as_an_end(ends: int | list[int], tmp_path: Path) -> None:
    """As in many fine-tuned models: what can't be told from padding hides nothing."""
    theirs("gpt2").save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    config |= {"pad_token_id": EOS, "eos_token_id": ends}
    (tmp_path / "config.json").write_text(json.dumps(config))
    ours: Any = from_pretrained(tmp_path)
    ids = random_ids([9, 9], VOCAB)
    ids[:, [0, 4]] = EOS
    assert_same(ours(ids), theirs("gpt2")(ids).logits)


@pytest.mark.parametrize("variant", ["bert", "gpt2", "llama", "vit"])
@torch.no_grad()
def test_a_body_without_a_head_gets_a_fresh_one(variant: str, tmp_path: Path) -> None:
    body = theirs(variant).base_model
    body.save_pretrained(tmp_path)
    fresh = {
        "bert": "output_bias, head.weight, head.bias, head_norm.gain, head_norm.bias",
        "gpt2": "",  # its head is the embedding
        "llama": "output.weight",
        "vit": "output.weight, output.bias",
    }[variant]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ours: Any = from_pretrained(tmp_path)
    said = [str(w.message) for w in caught if w.category is UserWarning]
    assert said == ([f"the file has no head, so these are fresh: {fresh}"] if fresh else [])
    assert all(w.filename == __file__ for w in caught)
    inputs = images() if variant == "vit" else random_ids([9, 9], VOCAB)
    expected = body(inputs).last_hidden_state
    assert_same(ours.states(inputs), expected)


def changed(variant: str, folder: Path, **config: Any) -> Path:
    """Their files with another config; a value of None takes a field out."""
    shutil.copytree(folder_of(variant), folder, dirs_exist_ok=True)
    path = folder / "config.json"
    values = json.loads(path.read_text()) | config
    path.write_text(json.dumps({k: v for k, v in values.items() if v is not None}))
    return folder


@pytest.mark.parametrize(
    ("variant", "field", "value", "wanted"),
    [
        ("bert", "hidden_act", "relu", "'gelu'"),
        ("bert", "is_decoder", True, "False"),
        ("bert", "tie_word_embeddings", False, "True"),
        ("bert", "position_embedding_type", "relative_key", "'absolute'"),
        ("gpt2", "activation_function", "relu", "'gelu_new'"),
        ("gpt2", "add_cross_attention", True, "False"),
        ("gpt2", "scale_attn_weights", False, "True"),
        ("gpt2", "scale_attn_by_inverse_layer_idx", True, "False"),
        ("llama", "hidden_act", "gelu", "'silu'"),
        ("llama", "attention_bias", True, "False"),
        ("llama", "mlp_bias", True, "False"),
        ("llama", "head_dim", 8, "4"),
        ("vit", "hidden_act", "relu", "'gelu'"),
        ("vit", "qkv_bias", False, "True"),
    ],
)
def test_settings_that_ours_has_not_are_refused(
    variant: str, field: str, value: object, wanted: str, tmp_path: Path
) -> None:
    with spoilt(
        f"{tmp_path / 'config.json'} can't be used: {field} must be {wanted}, got {value!r}"
    ):
        from_pretrained(changed(variant, tmp_path, **{field: value}))


def test_other_rotations_are_refused_also_where_older_versions_wrote_them(tmp_path: Path) -> None:
    older: dict[str, Any] = {"rope_parameters": None}
    older["rope_scaling"] = {"type": "linear", "factor": 2.0}
    newer = {"rope_parameters": {"rope_type": "linear", "factor": 2.0}}
    for name, changes in (("rope_type", newer), ("type", older)):
        reason = f"{name} must be 'default', got 'linear'"
        with spoilt(f"{tmp_path / 'config.json'} can't be used: {reason}"):
            from_pretrained(changed("llama", tmp_path, **changes))


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({"rope_parameters": [1]}, "rope_parameters must be names and values, got [1]"),
        ({"num_attention_heads": 0}, "n_heads (0) must be 1 or more"),
        ({"pad_token_id": math.inf}, "cannot convert float infinity to integer"),
        (
            {"quantization_config": {"bits": 8}},
            "quantization_config must be left out, got {'bits': 8}",
        ),
    ],
)
def test_odd_configs_are_refused(config: Any, reason: str, tmp_path: Path) -> None:
    with spoilt(f"{tmp_path / 'config.json'} can't be used: {reason}"):
        from_pretrained(changed("llama", tmp_path, **config))


def test_a_rotary_base_is_found_where_older_versions_wrote_it(tmp_path: Path) -> None:
    folder = changed("llama", tmp_path, rope_parameters=None, rope_theta=20.0)
    assert from_pretrained(folder).config == from_pretrained(folder_of("llama")).config
    folder = changed("llama", tmp_path, rope_parameters=None)
    assert from_pretrained(folder).config.layer.rotary_base == 10000.0


def test_folders_that_hold_no_such_model_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    with spoilt(f"{path} is missing"):
        from_pretrained(tmp_path)
    kinds = "['bert', 'gpt2', 'llama', 'vit']"
    with spoilt(f"{path} has model_type 't5'; it must be one of {kinds}"):
        from_pretrained(changed("bert", tmp_path, model_type="t5"))
    with spoilt(f"{path} has model_type ['bert']; it must be one of {kinds}"):
        from_pretrained(changed("bert", tmp_path, model_type=["bert"]))
    with spoilt(f"{path} has model_type None; it must be one of {kinds}"):
        from_pretrained(changed("bert", tmp_path, model_type=None))
    with spoilt(f"{path} can't be used: d_model (13) must be divisible by n_heads (3)"):
        from_pretrained(changed("bert", tmp_path, hidden_size=13))
    with spoilt(f"{path} lacks 'vocab_size'"):
        from_pretrained(changed("bert", tmp_path, vocab_size=None))
    weights = tmp_path / "model.safetensors"
    changed("bert", tmp_path)
    weights.write_bytes(b"not these")
    with pytest.raises(CheckpointError, match=rf"^{re.escape(str(weights))} can't be read \(.+\)$"):
        from_pretrained(tmp_path)
    weights.unlink()
    with spoilt(f"{weights} is missing"):
        from_pretrained(tmp_path)


@torch.no_grad()
def test_weights_in_several_files_are_read(tmp_path: Path) -> None:
    """Large models come so."""
    theirs("llama").save_pretrained(tmp_path, max_shard_size="4KB")
    parts = sorted(tmp_path.glob("model-*.safetensors"))
    assert len(parts) > 2
    assert not (tmp_path / "model.safetensors").exists()
    assert_same_weights(from_pretrained(tmp_path), from_pretrained(folder_of("llama")))
    index = tmp_path / "model.safetensors.index.json"
    names = json.loads(index.read_text())["weight_map"]
    for damaged in ({}, {"weight_map": {}}, {"weight_map": {"a": 3}}, {"weight_map": [1]}):
        index.write_text(json.dumps(damaged))
        with spoilt(f"{index} must have a weight_map: weights, and the file of each beside it"):
            from_pretrained(tmp_path)
    index.write_text(json.dumps({"weight_map": names | {"a": "../a.safetensors"}}))
    with spoilt(f"{index} must have a weight_map: weights, and the file of each beside it"):
        from_pretrained(tmp_path)
    index.write_text("{")
    with pytest.raises(CheckpointError, match=f"^{re.escape(str(index))} is damaged: "):
        from_pretrained(tmp_path)
    index.write_text(json.dumps({"weight_map": names}))
    parts[1].unlink()
    with spoilt(f"{parts[1]} is missing"):
        from_pretrained(tmp_path)


def rewrite(folder: Path, change: Callable[[dict[str, Tensor]], Any]) -> str:
    """Write their weights again, changed; returns the file's name."""
    path = folder / "model.safetensors"
    weights = {name: w.clone() for name, w in safetensors.torch.load_file(path).items()}
    path.write_bytes(safetensors.torch.save(change(weights)))
    return str(path)


PART = "it has a part of the head only; missing"
NORM, BIAS = "transformer.h.0.ln_1.weight", "transformer.h.1.attn.c_attn.bias"
UNKNOWN = {"score.weight": torch.ones(2), "bias": torch.ones(3)}


def without(name: str) -> Callable[[dict[str, Tensor]], dict[str, Tensor]]:
    return lambda weights: {n: w for n, w in weights.items() if n != name}


@pytest.mark.parametrize(
    ("variant", "change", "reason"),
    [
        ("gpt2", without(NORM), f"{NORM} must be of shape (12,), got nothing"),
        (
            "gpt2",
            without(BIAS),
            "transformer.h.1.attn.query.bias must be of shape (12,), got nothing",
        ),
        ("gpt2", lambda w: w | {NORM: torch.ones(5)}, f"{NORM} must be of shape (12,), got (5,)"),
        ("gpt2", lambda w: w | UNKNOWN, "DecoderOnly has no place for bias, score.weight"),
        (
            "gpt2",
            lambda w: {name: weight.to(torch.int8) for name, weight in w.items()},
            "transformer.wte.weight must be of floating-point numbers, got torch.int8",
        ),
        (
            "gpt2",
            lambda w: w | {NORM: torch.full((12,), torch.nan)},
            f"{NORM} holds NaN or an infinite number",
        ),
        (
            "gpt2",
            lambda w: w | {NORM: torch.full((12,), 1e300, dtype=torch.float64)},
            f"{NORM} holds NaN or an infinite number",
        ),
        ("bert", without("cls.predictions.bias"), f"{PART}: output_bias"),
        ("vit", without("classifier.weight"), f"{PART}: output.weight"),
    ],
)
def test_weights_that_do_not_fit_are_refused(
    variant: str, change: Callable[[Any], Any], reason: str, tmp_path: Path
) -> None:
    path = rewrite(changed(variant, tmp_path), change)
    with spoilt(f"{path} doesn't fit: {reason}"):
        from_pretrained(tmp_path)


def test_old_names_and_half_precision_are_read_too(tmp_path: Path) -> None:
    """The first files of BERT call gain and bias of a norm gamma and beta; weights are single ones here."""

    def old(weights: dict[str, Tensor]) -> dict[str, Tensor]:
        new = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
        return {re.sub(r"LayerNorm\.\w+$", lambda m: new[m[0]], n): w for n, w in weights.items()}

    rewrite(changed("bert", tmp_path), old)
    expected: Any = from_pretrained(folder_of("bert"))
    assert_same_weights(from_pretrained(tmp_path), expected)
    rewrite(tmp_path, lambda weights: {name: w.bfloat16() for name, w in weights.items()})
    ours: Any = from_pretrained(tmp_path)
    assert {p.dtype for p in ours.parameters()} == {torch.float32}
    assert torch.equal(ours.embedding.weight, expected.embedding.weight.bfloat16().float())


def test_weights_that_are_not_finite_are_not_written(tmp_path: Path) -> None:
    ours = decoder(layer=layer(activation="gelu_tanh"))
    with torch.no_grad():
        ours.embedding.weight[3, 2] = torch.nan
    name = "transformer.wte.weight"
    with spoilt(f"{tmp_path} is not written: {name} holds NaN or an infinite number"):
        to_pretrained(ours, tmp_path)
    assert not any(tmp_path.iterdir())


def test_a_bert_without_padding_has_no_id_of_it(tmp_path: Path) -> None:
    ours = EncoderOnly(replace(encoder().config, pad_id=-1))
    to_pretrained(ours, tmp_path)
    assert from_pretrained(tmp_path).config == ours.config
    assert transformers.BertConfig.from_pretrained(tmp_path).pad_token_id is None


@pytest.mark.parametrize(
    "make",
    [
        decoder,  # ReLU
        lambda: decoder("modern"),  # QK-norm
        lambda: decoder(layer=layer(activation="gelu_tanh", n_key_heads=2)),
        lambda: decoder(layer=layer(activation="gelu_tanh"), positions="none"),
        lambda: encoder(norm="pre"),
        lambda: encoder(rotary_base=20.0),
        lambda: vision(positions="none"),
        lambda: Classifier(encoder(), 3),
    ],
)
def test_choices_that_no_kind_has_are_not_written(make: Callable[[], Any], tmp_path: Path) -> None:
    model = make()
    with spoilt(f"none of ['bert', 'gpt2', 'llama', 'vit'] has the choices of {model.config}"):
        to_pretrained(model, tmp_path)
    assert not any(tmp_path.iterdir())
