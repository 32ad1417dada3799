"""The models of chapter 00 against torch's cells, against loops, and against themselves step by step."""

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from transformer_course.corpus.vocabulary import Vocabulary
from transformer_course.decoding import beam_search, greedy
from transformer_course.loss import cross_entropy, teacher_forcing_loss
from transformer_course.seq2seq import (
    ConvolutionalSeq2Seq,
    GatedConvolution,
    LayerCost,
    RecurrentSeq2Seq,
    Seq2Seq,
    Seq2SeqConfig,
    attention_cost,
    convolution_cost,
    receptive_field,
    recurrent_cost,
)
from transformer_course.training import Trainer, TrainingConfig, validation_loss
from transformer_course.translator import Translator

CONFIG = Seq2SeqConfig(vocab_size=29, d_model=14, n_layers=2, dropout=0.0)
KINDS = ["one vector", "attention", "convolution"]


def build(kind: str, config: Seq2SeqConfig = CONFIG) -> Seq2Seq:
    torch.manual_seed(3)
    if kind == "convolution":
        return ConvolutionalSeq2Seq(config).eval()
    return RecurrentSeq2Seq(replace(config, attention=kind == "attention")).eval()


def ids(*shape: int, low: int = 3) -> Tensor:
    return torch.randint(low, CONFIG.vocab_size, shape)


@pytest.mark.parametrize("kind", KINDS)
def test_shapes_and_gradients(kind: str) -> None:
    model = build(kind)
    logits = model(ids(5, 7), ids(5, 3))
    assert logits.shape == (5, 3, 29)
    logits.sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
    memory = model.encode(ids(5, 7))
    assert memory.shape == (5, 1 if kind == "one vector" else 7, 14)


@pytest.mark.parametrize("kind", KINDS)
def test_step_by_step_equals_all_at_once(kind: str) -> None:
    model, src, tgt = build(kind), ids(5, 7), ids(5, 11)
    src[1, 4:] = 0
    mask = (src != 0)[:, None, None]
    memory = model.encode(src, mask)
    cache = model.start_cache(memory, mask, 11)
    steps = [model.decode(token, memory, mask, cache=cache) for token in torch.split(tgt, 1, 1)]
    torch.testing.assert_close(torch.cat(steps, 1), model.decode(tgt, memory, mask))
    cache = model.start_cache(memory, mask, 11)
    chunks = [
        model.decode(part, memory, mask, cache=cache) for part in torch.split(tgt, [4, 1, 6], 1)
    ]
    torch.testing.assert_close(torch.cat(chunks, 1), model.decode(tgt, memory, mask))


@pytest.mark.parametrize("kind", KINDS)
def test_cache_selects_sentences(kind: str) -> None:
    model, src, tgt = build(kind), ids(5, 7), ids(5, 2)
    mask, rows = torch.ones(5, 1, 1, 7, dtype=torch.bool), torch.tensor([4, 1])
    memory = model.encode(src)
    cache = model.start_cache(memory, mask, 9)
    model.decode(tgt[:, :1], memory, mask, cache=cache)
    chosen = cache.select(rows)
    after = model.decode(tgt[rows, 1:], memory[rows], mask[rows], cache=chosen)
    torch.testing.assert_close(after, model.decode(tgt, memory, mask)[rows, 1:])


@pytest.mark.parametrize("kind", KINDS)
def test_padding_changes_nothing(kind: str) -> None:
    model, src, tgt = build(kind), ids(5, 7), ids(5, 3)
    padded = torch.cat([src, torch.zeros(5, 4, dtype=torch.int64)], 1)
    torch.testing.assert_close(model(padded, tgt), model(src, tgt))


@pytest.mark.parametrize("kind", KINDS)
def test_the_future_changes_nothing_and_the_past_does(kind: str) -> None:
    model, src, tgt = build(kind), ids(2, 7), ids(2, 9)
    other = tgt.clone()
    other[:, 5] = (tgt[:, 5] - 3 + 1) % 26 + 3
    before, after = model(src, tgt), model(src, other)
    assert torch.equal(before[:, :5], after[:, :5])
    assert not torch.isclose(before[:, 5:8], after[:, 5:8]).all(-1).any()


@pytest.mark.parametrize("kind", KINDS)
def test_order_and_every_word_of_the_source_matter(kind: str) -> None:
    model, src, tgt = build(kind), torch.arange(3, 10)[None], ids(1, 3)
    for j in range(7):
        other = src.clone()
        other[0, j] = 20
        assert not torch.allclose(model(src, tgt), model(other, tgt), atol=1e-6), j
    assert not torch.allclose(model(src, tgt), model(src.flip(1), tgt), atol=1e-4)


def test_recurrent_decoder_is_bahdanaus_equations() -> None:
    model = cast("RecurrentSeq2Seq", build("attention", replace(CONFIG, n_layers=1)))
    src, tgt = ids(1, 5), ids(1, 4)
    scale = 14**0.5
    embedded = model.embedding.weight[src[0]] * scale  # (5, 14)
    halves = []
    for suffix, order in (("", range(5)), ("_reverse", range(4, -1, -1))):
        cell = nn.GRUCell(14, 7)
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
            getattr(cell, name).data = getattr(model.encoder, f"{name}_l0{suffix}").data
        state, found = torch.zeros(7), {}
        for j in order:
            found[j] = state = cell(embedded[j], state)
        halves.append(torch.stack([found[j] for j in range(5)]))
    h = torch.cat(halves, 1)  # (5, 14)
    torch.testing.assert_close(model.encode(src)[0], h)

    assert model.attend is not None
    w, u, v = model.attend.w_query.weight, model.attend.w_key.weight, model.attend.v.weight[0]
    cell = nn.GRUCell(28, 14)
    for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
        getattr(cell, name).data = getattr(model.decoder, f"{name}_l0").data
    s = torch.tanh(cast("nn.Linear", model.first[0])(h[0]))
    for i, word in enumerate(model.embedding.weight[tgt[0]] * scale):
        e = torch.stack([v @ torch.tanh(w @ s + u @ h[j]) for j in range(5)])
        alpha = e.exp() / e.exp().sum()
        torch.testing.assert_close(model.alignment(src, tgt)[0, i], alpha)
        c = sum((alpha[j] * h[j] for j in range(5)), torch.zeros(14))
        s = cell(torch.cat([word, c]), s)
        state = torch.tanh(model.readout(torch.cat([s, c, word])))
        expected = model.embedding.weight @ state
        torch.testing.assert_close(model(src, tgt)[0, i], expected)


def test_one_vector_holds_the_last_states_of_both_directions() -> None:
    model = cast("RecurrentSeq2Seq", build("one vector"))
    src = ids(2, 7)
    states, _ = model.encoder(model.embedding(src) * 14**0.5)
    expected = torch.cat([states[:, -1, :7], states[:, 0, 7:]], -1)
    torch.testing.assert_close(model.encode(src)[:, 0], expected)


def test_one_vector_reaches_the_decoder_at_each_step() -> None:
    model = build("one vector")
    src, tgt, mask = ids(1, 7), ids(1, 3), torch.ones(1, 1, 1, 7, dtype=torch.bool)
    memory = model.encode(src)
    cache = model.start_cache(memory, mask, 9)
    model.decode(tgt[:, :2], memory, mask, cache=cache)
    same = model.decode(
        tgt[:, 2:], memory, mask, cache=model.start_cache(memory, mask, 9).select(torch.tensor([0]))
    )
    cached = model.decode(tgt[:, 2:], memory, mask, cache=cache)
    assert not torch.allclose(same, cached)
    cache = model.start_cache(memory, mask, 9)
    first = model.decode(tgt[:, :1], memory, mask, cache=cache)
    assert not torch.allclose(
        first, model.decode(tgt[:, :1], memory + 1, mask, cache=model.start_cache(memory, mask, 9))
    )


@pytest.mark.parametrize("causal", [True, False])
def test_gated_convolution_against_loops(causal: bool) -> None:
    torch.manual_seed(0)
    layer, x = GatedConvolution(5, 3, causal), torch.randn(1, 7, 5)
    y = layer.norm(x)[0]
    weight, bias = layer.convolution.weight, layer.convolution.bias  # (10, 5, 3)
    assert bias is not None
    for t in range(7):
        total = bias.clone()
        for k in range(3):
            place = t + k - (2 if causal else 1)
            if 0 <= place < 7:
                total = total + weight[:, :, k] @ y[place]
        expected = x[0, t] + total[:5] * torch.sigmoid(total[5:])
        torch.testing.assert_close(layer(x)[0][0, t], expected)


def test_encoder_of_convolutions_sees_its_receptive_field() -> None:
    model = build("convolution", replace(CONFIG, n_layers=3, kernel_size=5))
    src = ids(1, 31)
    other = src.clone()
    other[0, 15] = (src[0, 15] - 3 + 1) % 26 + 3
    moved = (model.encode(src) != model.encode(other)).any(-1)[0].nonzero().flatten()
    assert len(moved) == receptive_field(5, 3) == 13
    assert moved.tolist() == list(range(9, 22))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_loss_trainer_search_and_translator_work_with_the_model(kind: str, tmp_path: Path) -> None:
    lines = ["the cat sees the dog", "le chat voit le chien", "a dog runs", "un chien court"]
    vocabulary = Vocabulary.train(lines, 300)
    examples = [
        (vocabulary.encode([lines[i]])[0], vocabulary.encode([lines[i + 1]])[0]) for i in (0, 2)
    ]
    config = Seq2SeqConfig(len(vocabulary), d_model=32, dropout=0.0)
    model = build(kind, config)
    trainer = Trainer(
        model,
        examples,
        teacher_forcing_loss,
        lambda m: {"loss": validation_loss(m, examples, teacher_forcing_loss)},
        TrainingConfig(max_steps=60, warmup_steps=5, peak_rate=1e-2, validate_every=30),
        tmp_path,
    )
    trainer.train()
    assert trainer.history[-1]["loss"] < 0.2
    translator = Translator(model, vocabulary)
    assert translator.translate([lines[0], lines[2]], beam=1) == [lines[1], lines[3]]
    src = torch.tensor([[*examples[0][0], 2]])
    assert greedy(model, src)[0] == beam_search(model, src, beam=1)[0][0].ids
    assert translator.translate([lines[0], lines[2]]) == [lines[1], lines[3]]  # with beams


def test_teacher_forcing_loss_is_the_cross_entropy_of_the_logits() -> None:
    model, src, tgt = build("attention"), ids(3, 5), ids(3, 6)
    tgt[2, 4:] = 0
    loss = teacher_forcing_loss(model, src, tgt)
    torch.testing.assert_close(loss, cross_entropy(model(src, tgt[:, :-1]), tgt[:, 1:]))


@pytest.mark.parametrize("kind", ["attention", "convolution"])
def test_alignment_rows_sum_to_one_and_leave_padding_out(kind: str) -> None:
    src = ids(3, 7)
    src[2, 5:] = 0
    weights = build(kind).alignment(src, ids(3, 4))
    assert weights.shape == (3, 4, 7)
    torch.testing.assert_close(weights.sum(-1), torch.ones(3, 4))
    assert (weights[2, :, 5:] == 0).all()
    assert (weights[:2] > 0).all()


@given(st.integers(2, 7), st.integers(1, 5))
@settings(deadline=None, max_examples=20)
def test_receptive_field_is_what_a_gradient_finds(kernel_size: int, n_layers: int) -> None:
    for dilated in (False, True):
        field = receptive_field(kernel_size, n_layers, dilated=dilated)
        if field > 600:
            continue
        x = torch.ones(1, 1, field + 3, dtype=torch.float64, requires_grad=True)
        y = x
        for i in range(n_layers):
            dilation = kernel_size**i if dilated else 1
            weight = torch.ones(1, 1, kernel_size, dtype=torch.float64)
            y = nn.functional.conv1d(y, weight, dilation=dilation)
        (gradient,) = torch.autograd.grad(y[0, 0, 0], x)
        assert int((gradient != 0).sum()) == field


def test_costs_of_layers() -> None:
    d = 512
    for n in (1, 10, 512, 1000):
        assert attention_cost(n, d) == LayerCost(4 * n * d * d + 2 * n * n * d, 1, 1)
        assert recurrent_cost(n, d) == LayerCost(6 * n * d * d, n, n)
        assert recurrent_cost(n, d, 4).multiply_adds == 8 * n * d * d
        assert convolution_cost(n, d, 3).multiply_adds == 3 * n * d * d
    assert attention_cost(d, d).multiply_adds == recurrent_cost(d, d).multiply_adds
    assert attention_cost(2 * d, d).multiply_adds == recurrent_cost(2 * d, d, 4).multiply_adds
    assert [convolution_cost(n, d, 3).longest_path for n in (1, 3, 4, 9)] == [1, 1, 2, 4]
    assert [convolution_cost(n, d, 3, dilated=True).longest_path for n in (3, 4, 9, 10)] == [
        1,
        2,
        2,
        3,
    ]


def test_costs_are_counts_of_torchs_own_weights() -> None:
    gru, lstm, n = nn.GRU(11, 11), nn.LSTM(11, 11), 5
    for layer, maps in ((gru, 3), (lstm, 4)):
        weights = sum(w.numel() for name, w in layer.named_parameters() if "weight" in name)
        assert recurrent_cost(n, 11, maps).multiply_adds == n * weights
    weights = nn.Conv1d(11, 11, 3).weight.numel()
    assert convolution_cost(n, 11, 3).multiply_adds == n * weights


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"d_model": 13}, r"d_model \(13\) must be even"),
        ({"kernel_size": 4}, r"kernel_size \(4\) must be odd"),
        ({"dropout": 1.0}, r"dropout \(1.0\) must be at least 0 and below 1"),
        ({"n_layers": 0}, r"n_layers \(0\) must be 1 or more"),
        ({"d_model": 2.0}, r"d_model \(2.0\) must be a whole number"),
        ({"pad_id": 29}, r"pad_id \(29\) must be one of the 29 token ids"),
    ],
)
def test_config_names_what_is_wrong(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(CONFIG, **values)


@pytest.mark.parametrize("kind", KINDS)
def test_models_name_what_is_wrong(kind: str) -> None:
    model, src = build(kind), ids(2, 5)
    mask = torch.ones(2, 1, 1, 5, dtype=torch.bool)
    memory = model.encode(src)
    for wrong, message in (
        (torch.tensor([[29]]), "has the id 29, which is outside the vocabulary of 29 ids"),
        (torch.tensor([[-1]]), "has the id -1"),
        (torch.zeros(2, 0, dtype=torch.int64), r"must hold at least one token.*got \(2, 0\)"),
    ):
        with pytest.raises(ValueError, match=f"src {message}"):
            model.encode(wrong)
        with pytest.raises(ValueError, match=f"tgt {message}"):
            model.decode(wrong, memory, mask)
    hidden = torch.zeros(1, 1, 1, 1, dtype=torch.bool)
    with pytest.raises(ValueError, match="tgt_mask must hide nothing"):
        model.decode(ids(2, 1), memory, mask, hidden)
    for max_len in (0, 513):
        with pytest.raises(
            ValueError, match=rf"max_len \({max_len}\) must be 1 or more and at most"
        ):
            model.start_cache(memory, mask, max_len)


def test_recurrent_models_name_what_is_wrong() -> None:
    model, src = build("attention"), ids(2, 5)
    for hidden in ([0], [2], [0, 1, 2, 3, 4]):
        mask = torch.ones(2, 1, 1, 5, dtype=torch.bool)
        mask[1, 0, 0, hidden] = False
        with pytest.raises(ValueError, match="src_mask must allow a beginning"):
            model.encode(src, mask)
    with pytest.raises(
        ValueError, match=r"attention \(False\) must be True: this model looks at nothing"
    ):
        build("one vector").alignment(src, src)
    with pytest.raises(ValueError, match=r"^model is in training mode, dropout would decide: call"):
        build("attention", replace(CONFIG, dropout=0.1)).train().alignment(src, src)
    build("attention", replace(CONFIG, dropout=0.0)).train().alignment(src, src)
    with pytest.raises(ValueError, match=r"attention \(False\) must be True: the convolutional"):
        ConvolutionalSeq2Seq(replace(CONFIG, attention=False))


def test_costs_name_what_is_wrong() -> None:
    with pytest.raises(ValueError, match=r"n \(0\) must be 1 or more"):
        attention_cost(0, 8)
    with pytest.raises(ValueError, match=r"maps \(0\) must be 1 or more"):
        recurrent_cost(1, 8, 0)
    with pytest.raises(ValueError, match=r"kernel_size \(1\) must be 2 or more"):
        convolution_cost(2, 8, 1)
    with pytest.raises(ValueError, match=r"n_layers \(0\) must be 1 or more"):
        receptive_field(3, 0)
