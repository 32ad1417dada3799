"""Looking inside: what is recorded is what ran, what is patched acts, and each measure against a plain loop."""

import math
from itertools import combinations
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from transformer_course.encoder_decoder import LayerConfig, Transformer, TransformerConfig
from transformer_course.families import DecoderConfig, DecoderOnly, EncoderConfig, EncoderOnly
from transformer_course.inspecting import (
    AttentionOnly,
    alignment_error_rate,
    changed_attention,
    control_labels,
    copy_accuracy,
    equal_weights,
    gradient_times_input,
    kendall_tau,
    layer_names,
    leave_one_out,
    logit_lens,
    patched,
    patching_map,
    pattern_scores,
    recorded,
    repeated,
    rollout,
    train_probe,
    value_norms,
    watching,
    word_links,
    word_weights,
)
from transformer_course.masking import padding_mask
from transformer_course.multi_head import MultiHeadAttention, record_attention
from transformer_course.non_autoregressive import FertilityTransformer, MaskPredict

VOCAB, SRC, TGT = 23, 7, 5


def small() -> tuple[Transformer, Tensor, Tensor]:
    torch.manual_seed(0)
    model = Transformer(
        TransformerConfig(VOCAB, d_model=12, n_heads=3, d_ff=20, dropout=0.0)
    ).eval()
    return model, torch.randint(3, VOCAB, (1, SRC)), torch.randint(3, VOCAB, (1, TGT))


# ---------------------------------------------------------------- watching


def test_what_is_recorded_is_what_the_parts_gave() -> None:
    model, src, tgt = small()
    names = layer_names(model)
    assert names == [f"{side}_layers.{i}" for side in ("encoder", "decoder") for i in range(2)]
    assert layer_names(model, "decoder") == names[2:]
    with recorded(model, [*names, "encoder_layers.0.self_attention"]) as found:
        logits = model(src, tgt)
    assert torch.equal(model.logits(model.decoder_norm(found[names[-1]])), logits)
    assert torch.equal(model.encoder_norm(found[names[1]]), model.encode(src))
    assert found["encoder_layers.0.self_attention"].shape == (
        1,
        SRC,
        12,
    )  # the output, not the weights
    assert not any(x.requires_grad for x in found.values())


def test_nothing_is_left_behind() -> None:
    model, src, tgt = small()
    before = model(src, tgt)
    with watching(model, {"encoder_layers.0": lambda x: x * 2}):
        assert not torch.equal(model(src, tgt), before)
    broken = {"encoder_layers.0": lambda x: x + "no tensor"}
    with pytest.raises(TypeError), watching(model, broken):
        model(src, tgt)
    assert torch.equal(model(src, tgt), before)
    with watching(model, {"encoder_layers.0": lambda x: None}):
        assert torch.equal(model(src, tgt), before)


def test_an_attention_keeps_its_weights_when_its_output_is_replaced() -> None:
    torch.manual_seed(0)
    net = nn.ModuleDict({"attention": MultiHeadAttention(6, 2)})
    x = torch.randn(1, 3, 6)
    _, weights = net["attention"](x)
    with watching(net, {"attention": torch.zeros_like}):
        output, kept = net["attention"](x)
    assert not output.any()
    assert torch.equal(kept, weights)


def test_patching_moves_one_position_of_one_layer() -> None:
    model, src, tgt = small()
    other = src.clone()
    other[0, 3] = 3 + (other[0, 3] - 2) % (VOCAB - 3)
    name = "encoder_layers.0"
    with recorded(model, [name]) as there:
        model.encode(other)
    with recorded(model, [name]) as here:
        model.encode(src)
    wanted = here[name].clone()
    wanted[:, 2] = there[name][:, 2]
    with patched(model, there, 2), recorded(model, [name]) as found:
        model.encode(src)
    assert torch.equal(found[name], wanted)
    # All positions of a layer are all that the encoder passes on.
    with watching(model, {name: lambda _: there[name]}):
        assert torch.allclose(model(src, tgt), model(other, tgt), atol=1e-6)


def test_a_map_of_patches_has_a_row_for_each_layer_and_finds_the_word_that_differs() -> None:
    model, src, tgt = small()
    other = src.clone()
    other[0, 3] = 3 + (other[0, 3] - 2) % (VOCAB - 3)
    names = layer_names(model, "encoder")
    with recorded(model, names) as there:
        turned = model(other, tgt)[0, -1, 5]
    here = model(src, tgt)[0, -1, 5]
    table = patching_map(model, lambda: model(src, tgt)[0, -1, 5], there, range(SRC))
    assert table.shape == (2, SRC)
    with patched(model, {names[1]: there[names[1]]}, 3):
        assert table[1, 3] == model(src, tgt)[0, -1, 5]
    assert abs(table[0] - here).argmax() == 3
    assert abs(turned - here) > 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: watching(m, {"nobody": lambda x: x}), "visitors: the model has no part nobody"),
        (lambda m: watching(m, {"": lambda x: x}), "visitors: the model has no part "),
        (
            lambda m: recorded(m, ["encoder_layers.9"]),
            "visitors: the model has no part encoder_layers.9",
        ),
        (lambda m: changed_attention(m, {"output": equal_weights}), "'output', which is no multi"),
        (lambda m: changed_attention(m, {"nobody": equal_weights}), "'nobody', which is no multi"),
    ],
)
def test_parts_that_are_not_there_are_named(call, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=message), call(small()[0]):
        pass


def test_wrong_patches_are_refused() -> None:
    model, src, _ = small()
    value = torch.zeros(1, SRC, 12)
    for position, wrong in ((SRC, value), (-1, value), (0, value[:, 1:])):
        refused = pytest.raises(ValueError, match=rf"position \({position}\) of a value")
        with refused, patched(model, {"encoder_layers.0": wrong}, position):
            model.encode(src)
    refused = pytest.raises(ValueError, match=r"encoder_layers.0 returned the shape \(1, 1, 12\)")
    with refused, watching(model, {"encoder_layers.0": lambda x: x[:, :1]}):
        model.encode(src)


# ---------------------------------------------------------------- heads


def test_patterns_of_pure_heads() -> None:
    n = 5
    eye = torch.eye(n)
    back = torch.cat([eye[:1], eye[:-1]])
    ahead = torch.cat([eye[1:], eye[-1:]])
    first, last = eye[:1].expand(n, n), eye[-1:].expand(n, n)
    equal = torch.full((n, n), 1 / n)
    heads = torch.stack([back, eye, ahead, first, last, equal])
    scores = pattern_scores(heads)
    for head, name in enumerate(["previous", "same", "next", "first", "last"]):
        assert scores[name][head] == 1
        assert scores[name][5] == pytest.approx(1 / n)
    assert scores["spread"].tolist() == pytest.approx([0, 0, 0, 0, 0, 1], abs=1e-6)
    causal = torch.tril(torch.ones(n, n)) / torch.arange(1, n + 1)[:, None]
    row_by_row = [1.0 if t else 0.0 for t in range(n)]  # the first row sees one key only
    assert pattern_scores(causal[None])["spread"] == pytest.approx(sum(row_by_row) / n)


def test_value_norms_against_a_loop() -> None:
    torch.manual_seed(0)
    attention, memory = MultiHeadAttention(12, 3), torch.randn(1, 4, 12)
    norms = value_norms(attention, memory).detach()
    for head in range(3):
        for k in range(4):
            part = slice(4 * head, 4 * head + 4)
            value = attention.w_value(memory)[0, k, part]
            moved = attention.w_output.weight[:, part] @ value
            assert norms[0, head, k] == pytest.approx(moved.norm().item(), rel=1e-5)


def test_words_get_the_weight_of_their_subwords() -> None:
    weights = torch.tensor([[[0.1, 0.2, 0.3, 0.4], [0.5, 0.1, 0.1, 0.3], [0.2, 0.2, 0.2, 0.4]]])
    # Source: word 0 has two subwords, word 1 one, then </s>. Target: one word of two subwords.
    predicts = word_weights(weights, [0, 0, 1], [0, 0])
    assert torch.allclose(predicts, torch.tensor([[[0.45, 0.2]]]))  # rows 0 and 1
    reads = word_weights(weights, [0, 0, 1], [0, 0], "reads")
    assert torch.allclose(reads, torch.tensor([[[0.5, 0.15]]]))  # rows 1 and 2
    norms = torch.tensor([[1.0, 1.0, 10.0, 1.0]])
    scaled = word_weights(weights, [0, 0, 1], [0, 0], "norms", norms)
    assert torch.allclose(scaled, torch.tensor([[[0.45, 2.0]]]))
    assert word_weights(weights.double(), [0, 0, 1], [0, 0]).dtype == torch.float64
    assert word_links(predicts[0]) == {(0, 0)}
    assert word_links(scaled[0]) == {(1, 0)}
    with pytest.raises(ValueError, match=r"reading \('writes'\) must be one of predicts, reads, n"):
        word_weights(weights, [0, 0, 1], [0, 0], "writes")
    with pytest.raises(ValueError, match="norms must be given"):
        word_weights(weights, [0, 0, 1], [0, 0], "norms")
    for src, tgt in (([0] * 5, [0]), ([0], [0] * 3)):
        with pytest.raises(ValueError, match=r"weights of shape \(1, 3, 4\) must have a row"):
            word_weights(weights, src, tgt)


def test_alignment_error_rate_by_hand() -> None:
    gold = [{(0, 0), (1, 1), (2, 1)}, {(0, 0)}]
    assert alignment_error_rate(gold, gold) == 0
    assert alignment_error_rate([{(1, 0)}, set()], gold) == 1
    found = [{(0, 0), (1, 1)}, {(1, 0)}]  # 2 of 3 right; 2 of 4 found
    assert alignment_error_rate(found, gold) == pytest.approx(1 - 2 * 2 / (3 + 4))
    with pytest.raises(ValueError, match="found has 1 sentences, gold has 2"):
        alignment_error_rate([set()], gold)
    with pytest.raises(ValueError, match="at least one link"):
        alignment_error_rate([set()], [set()])


def test_rollout_by_hand() -> None:
    one = torch.tensor([[[1.0, 0.0], [1.0, 0.0]]])  # everybody looks at position 0
    assert torch.allclose(rollout([one]), torch.tensor([[1.0, 0.0], [0.5, 0.5]]))
    assert torch.allclose(rollout([one, one]), torch.tensor([[1.0, 0.0], [0.75, 0.25]]))
    other = torch.tensor(
        [[[0.0, 1.0], [0.0, 1.0]]]
    )  # and then at position 1: the later layer mixes last
    assert torch.allclose(rollout([one, other]), torch.tensor([[0.75, 0.25], [0.5, 0.5]]))
    maps = [torch.softmax(torch.randn(3, 4, 4), -1) for _ in range(3)]
    assert torch.allclose(rollout(maps).sum(-1), torch.ones(4))
    with pytest.raises(ValueError, match="at least one layer"):
        rollout([])


@pytest.mark.parametrize("shape", [(3, 3), (1, 3, 4), (1, 1, 1)])
def test_patterns_need_square_maps(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="must have the shape"):
        pattern_scores(torch.rand(shape))


# ---------------------------------------------------------------- causes


def test_leave_one_out_against_a_loop() -> None:
    model, src, tgt = small()
    src[0, -1] = 0  # padding: hidden anyway
    visible = padding_mask(src, 0)

    def run(mask: Tensor) -> Tensor:
        return model(src, tgt, mask)[0, :, 5]

    falls = leave_one_out(run, visible)
    assert falls.shape == (SRC, TGT)
    assert not falls[-1].any()
    for position in range(SRC - 1):
        mask = visible.clone()
        mask[0, 0, 0, position] = False
        assert torch.equal(falls[position], (run(visible) - run(mask)).detach())
    with pytest.raises(ValueError, match=r"must have the shape \(1, 1, 1, k_len\)"):
        leave_one_out(run, visible[0])


def test_gradient_times_input_of_a_sum_is_its_parts() -> None:
    table = nn.Embedding(5, 3)
    ids, factor = torch.tensor([[1, 4, 1]]), torch.tensor([2.0, -1.0, 3.0])
    net = nn.ModuleDict({"table": table})
    found = gradient_times_input(net, "table", lambda: (net["table"](ids) * factor).sum())
    assert torch.allclose(found, (table(ids) * factor).sum(-1))
    with torch.no_grad():  # gradients are made where they are needed
        again = gradient_times_input(net, "table", lambda: (net["table"](ids) * factor).sum())
    assert torch.equal(found, again)
    with pytest.raises(ValueError, match=r"name \('table'\) must be a part that the run uses"):
        gradient_times_input(net, "table", lambda: torch.zeros((), requires_grad=True))


def test_the_first_use_of_tied_embeddings_counts() -> None:
    model, src, tgt = small()
    assert model.src_embedding is model.tgt_embedding
    found = gradient_times_input(model, "src_embedding", lambda: model(src, tgt)[0, -1, 5])
    assert found.shape == (1, SRC)


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=2, max_size=7))
def test_kendall_tau_counts_pairs(rows: list[tuple[int, int]]) -> None:
    a, b = (torch.tensor(column, dtype=torch.float) for column in zip(*rows, strict=True))
    signs = [(x[0] - y[0]) * (x[1] - y[1]) for x, y in combinations(rows, 2)]
    wanted = sum((s > 0) - (s < 0) for s in signs) / len(signs)
    assert kendall_tau(a, b) == pytest.approx(wanted)
    assert kendall_tau(a, b) == pytest.approx(-kendall_tau(a, -b))


@pytest.mark.parametrize("shapes", [((1,), (1,)), ((2,), (3,)), ((2, 2), (2, 2))])
def test_kendall_tau_needs_two_rows(shapes: tuple[tuple[int, ...], ...]) -> None:
    with pytest.raises(ValueError, match="must be rows of the same length"):
        kendall_tau(*map(torch.zeros, shapes))


def test_attention_with_other_weights() -> None:
    model, src, tgt = small()
    src[0, -1] = 0
    name = "decoder_layers.1.cross_attention"
    own = model(src, tgt)
    with changed_attention(model, {name: lambda weights, _mask: weights}):
        assert torch.allclose(model(src, tgt), own, atol=1e-6)
    with changed_attention(model, {name: equal_weights}), record_attention(model) as maps:
        pass
    with changed_attention(model, {name: equal_weights}):
        different = model(src, tgt)
        part = model.get_submodule(name)
        output, weights = part(torch.randn(1, 2, 12), torch.randn(1, SRC, 12), padding_mask(src, 0))
    assert maps == {}
    assert not torch.allclose(different, own, atol=1e-4)
    assert torch.allclose(weights[..., :-1], torch.tensor(1 / (SRC - 1)))
    assert not weights[..., -1].any()  # what is hidden gets nothing
    assert output.shape == (1, 2, 12)
    assert torch.equal(model(src, tgt), own)


def test_a_change_of_weights_within_another() -> None:
    model, src, tgt = small()
    name = "encoder_layers.0.self_attention"
    own = model(src, tgt)
    with changed_attention(model, {name: equal_weights}):
        equal = model(src, tgt)
        with changed_attention(model, {name: lambda weights, _mask: weights.flip(-1)}):
            assert torch.allclose(model(src, tgt), equal, atol=1e-6)  # equal ones, turned round
        with changed_attention(model, {name: lambda weights, _mask: 2 * weights}):
            assert not torch.allclose(model(src, tgt), equal, atol=1e-3)
        assert torch.equal(model(src, tgt), equal)
    assert torch.equal(model(src, tgt), own)


# ---------------------------------------------------------------- models of later chapters


def later(name: str) -> tuple[nn.Module, tuple[Tensor, ...]]:
    """A small model of chapters 11 to 13, and what it reads."""
    torch.manual_seed(0)
    sizes: dict[str, Any] = {"d_model": 12, "n_heads": 3, "d_ff": 20, "dropout": 0.0}
    src, tgt = torch.randint(3, VOCAB, (1, SRC)), torch.randint(3, VOCAB, (1, TGT))
    if name == "fertility":
        fertilities = torch.ones_like(src)
        return FertilityTransformer(TransformerConfig(VOCAB, **sizes)).eval(), (src, fertilities)
    if name == "mask-predict":
        return MaskPredict(TransformerConfig(VOCAB, **sizes)).eval(), (src, tgt)
    changes: dict[str, dict[str, Any]] = {
        "rotary": {"d_model": 24, "n_key_heads": 1, "rotary_base": 10000.0},
        "since 2017": {"norm_kind": "rms", "activation": "swiglu", "qk_norm": True},
    }
    changes |= {kind: {"relative": kind} for kind in ("alibi", "t5", "shaw", "xl")}
    layer = LayerConfig(**(sizes | changes.get(name, {})))
    if name == "encoder":
        return EncoderOnly(EncoderConfig(VOCAB, layer, 2)).eval(), (src,)
    return DecoderOnly(DecoderConfig(VOCAB, layer, 2)).eval(), (src,)


LATER = ["encoder", "decoder", "rotary", "since 2017", "alibi", "t5", "shaw", "xl"]
LATER += ["fertility", "mask-predict"]


@pytest.mark.parametrize("name", LATER)
def test_models_of_later_chapters_are_seen_and_patched(name: str) -> None:
    model, inputs = later(name)
    names = layer_names(model)
    src = inputs[0]
    changed = src.clone()
    changed[0, 2] = 3 + (src[0, 2] - 2) % (VOCAB - 3)
    with torch.no_grad(), recorded(model, names) as there:
        model(changed, *inputs[1:])
    whole = model(*inputs)
    with torch.no_grad():
        table = patching_map(
            model, lambda: (model(*inputs) - whole).norm(), {names[0]: there[names[0]]}, range(SRC)
        )
    assert len(names) == (4 if len(inputs) == 2 else 2)
    assert int(table[0].argmax()) == 2
    assert model(*inputs).equal(whole)
    if len(inputs) == 2:
        assert [len(layer_names(model, side)) for side in ("encoder", "decoder")] == [2, 2]
    value = gradient_times_input(model, names[0], lambda: model(*inputs)[0, -1, 5])
    assert value.shape == (1, SRC)
    assert value.abs().sum() > 0


@pytest.mark.parametrize("name", LATER)
def test_the_weights_of_later_models_are_changed_and_recorded(name: str) -> None:
    """Also where a score bias stands beside the scores (chapter 12): its own weights change nothing."""
    model, inputs = later(name)
    names = [n for n, part in model.named_modules() if isinstance(part, MultiHeadAttention)]
    own = model(*inputs)
    with changed_attention(model, dict.fromkeys(names, lambda weights, _mask: weights)):
        assert torch.allclose(model(*inputs), own, atol=1e-6)
    with changed_attention(model, dict.fromkeys(names, equal_weights)):
        assert not torch.allclose(model(*inputs), own, atol=1e-3)
        with record_attention(model) as maps:
            model(*inputs)
    for weights in maps.values():
        seen = weights[0, 0, -1]
        assert torch.allclose(seen[seen > 0], 1 / (seen > 0).sum())
    assert set(maps) == set(names)
    assert torch.equal(model(*inputs), own)
    attention = model.get_submodule(names[0])
    assert isinstance(attention, MultiHeadAttention)
    d_model = attention.w_query.in_features
    norms = value_norms(attention, torch.randn(1, SRC, d_model))
    assert norms.shape == (1, attention.n_heads, SRC)


# ---------------------------------------------------------------- layers


def test_the_lens_at_the_last_layer_is_the_model() -> None:
    model, src, tgt = small()
    with recorded(model, layer_names(model, "decoder")) as states:
        logits = model(src, tgt)
    found = logit_lens(states, lambda state: model.logits(model.decoder_norm(state)))
    assert found.shape == (2, 1, TGT, VOCAB)
    assert torch.equal(found[-1], logits)
    assert not torch.allclose(found[0], logits)


def test_a_probe_finds_what_is_there_and_nothing_in_noise() -> None:
    torch.manual_seed(0)
    x = torch.randn(400, 8)
    y = (x[:, 3] > 0).long() + 2 * (x[:, 5] * 100 > 0).long()
    probe = train_probe(x[:300] * torch.tensor([1.0] * 5 + [100.0] + [1.0] * 2) + 7, y[:300])
    assert (
        probe.accuracy(x[300:] * torch.tensor([1.0] * 5 + [100.0] + [1.0] * 2) + 7, y[300:]) > 0.9
    )
    assert train_probe(x.double(), y).weight.dtype == torch.float64
    same = torch.cat([x, torch.full((400, 1), 123.456)], 1)  # a number that is always the same
    probe = train_probe(same, y)
    same[:, -1] *= 1.0001
    assert probe.accuracy(same, y) > 0.9
    noise = torch.randint(2, (400,))
    assert train_probe(x[:300], noise[:300]).accuracy(x[300:], noise[300:]) < 0.65
    with pytest.raises(ValueError, match="two different classes or more"):
        train_probe(x, torch.zeros(400, dtype=torch.long))
    with pytest.raises(ValueError, match=r"\(400, 8\) and \(5,\)"):
        train_probe(x, y[:5])


def test_control_labels_belong_to_the_word_and_occur_as_often() -> None:
    items, y = [f"word {i % 200}" for i in range(600)], [int(i % 4 == 0) for i in range(600)]
    labels = control_labels(items, y)
    assert labels[:200] == labels[200:400] == labels[400:]
    assert labels != control_labels(items, y, seed=1)
    assert 0.15 < sum(labels) / len(labels) < 0.35
    for wrong in ([], [0]):
        with pytest.raises(ValueError, match="a label for each item"):
            control_labels(items[: 2 * len(wrong)], wrong)


# ---------------------------------------------------------------- induction


def test_sequences_repeat_and_no_token_comes_twice_within_a_period() -> None:
    tokens, periods = repeated(50, 17, 23, (3, 9), torch.Generator().manual_seed(0))
    assert tokens.shape == (50, 17)
    assert set(periods.tolist()) == set(range(3, 10))
    for row, period in zip(tokens.tolist(), periods.tolist(), strict=True):
        assert len(set(row)) == len(set(row[:period])) == period
        assert all(row[i] == row[i - period] for i in range(period, 17))
    for wrong in ((1, 3), (4, 3), (3, 18), (3, 24)):
        with pytest.raises(ValueError, match=r"periods \("):
            repeated(1, 17, 23, wrong, torch.Generator())


def test_copying_is_counted_where_it_is_possible() -> None:
    tokens, periods = repeated(20, 17, 23, (5, 5), torch.Generator().manual_seed(0))

    class Copier(nn.Module):
        def forward(self, seen: Tensor) -> Tensor:
            logits = torch.zeros(*seen.shape, 23)
            for t in range(5, seen.shape[1]):  # what followed when this token came last
                logits[range(len(seen)), t, seen[:, t - 4]] = 1.0
            return logits

    assert copy_accuracy(Copier(), tokens, periods) == 1
    assert copy_accuracy(Copier(), tokens, periods + 100) != 1  # nothing can be copied: no number
    assert math.isnan(copy_accuracy(Copier(), tokens, periods + 100))


def test_the_model_without_feed_forward_sees_no_future() -> None:
    torch.manual_seed(0)
    model = AttentionOnly(23, 12, 3, n_layers=2, max_len=9)
    tokens = torch.randint(23, (2, 9))
    other = tokens.clone()
    other[:, 6:] = (other[:, 6:] + 1) % 23
    assert torch.allclose(model(tokens)[:, :6], model(other)[:, :6], atol=1e-6)
    assert not torch.allclose(model(tokens)[:, 6:], model(other)[:, 6:])
    names = [name for name, _ in model.named_modules() if name.startswith("layers.")]
    with record_attention(model) as maps:
        model(tokens)
    assert [*maps] == ["layers.0", "layers.1"]
    assert set(maps) <= set(names)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_equal_rankings_of_16_bits_agree(dtype: torch.dtype) -> None:
    row = torch.randperm(256).to(dtype)
    assert kendall_tau(row, row) == 1
