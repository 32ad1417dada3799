"""Loss: torch as oracle for values and gradients, the floor of smoothing, and what is refused."""

import math
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from oracles import assert_same, assert_same_gradients, random_ids, refuses, tiny_model

from transformer_course.encoder_decoder import Transformer, TransformerConfig
from transformer_course.loss import (
    chunked_cross_entropy,
    cross_entropy,
    kl_divergence,
    log_softmax,
    perplexity,
    r_drop_loss,
    smoothing_floor,
    teacher_forcing_loss,
)

VOCAB = 7
smoothings = st.sampled_from([0.0, 0.1, 0.5, 0.9])


def make(seed: int, scale: float = 1.0) -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(seed)
    logits = (scale * torch.randn(3, 5, VOCAB)).requires_grad_()
    labels = torch.randint(1, VOCAB, (3, 5))
    labels[0, 3:] = labels[2, 1:] = 0
    return logits, labels


@given(smoothing=smoothings, seed=st.integers(0, 99), scale=st.sampled_from([0.1, 1.0, 30.0]))
def test_cross_entropy_equals_torch_with_gradients(
    smoothing: float, seed: int, scale: float
) -> None:
    logits, labels = make(seed, scale)
    theirs = logits.detach().clone().requires_grad_()
    loss = cross_entropy(logits, labels, label_smoothing=smoothing)
    expected = F.cross_entropy(
        theirs.flatten(0, 1), labels.flatten(), ignore_index=0, label_smoothing=smoothing
    )
    assert loss.shape == ()
    assert_same(loss, expected)
    assert_same_gradients((loss, expected), {"logits": (logits, theirs)})
    assert logits.grad is not None
    assert (logits.grad[labels == 0] == 0).all()


@given(smoothing=smoothings, seed=st.integers(0, 99))
def test_cross_entropy_is_the_definition(smoothing: float, seed: int) -> None:
    """-Σ q log p, and also the floor plus the divergence of p from the smoothed target q."""
    logits, labels = make(seed)
    target = (1 - smoothing) * F.one_hot(labels, VOCAB) + smoothing / VOCAB
    losses = -(target * log_softmax(logits)).sum(-1)
    loss = cross_entropy(logits, labels, label_smoothing=smoothing)
    assert_same(loss, losses[labels != 0].mean())
    divergence = kl_divergence(target, logits.softmax(-1))[labels != 0].mean()
    assert_same(loss, divergence + smoothing_floor(VOCAB, smoothing))


@given(vocab_size=st.integers(2, 50), smoothing=st.sampled_from([0.0, 0.01, 0.1, 0.9]))
def test_the_floor_is_reached_at_the_optimum_and_nowhere_beaten(
    vocab_size: int, smoothing: float
) -> None:
    label = torch.tensor([1])
    target = torch.full((1, vocab_size), smoothing / vocab_size, dtype=torch.float64)
    target[0, 1] += 1 - smoothing
    best = target.clamp(min=1e-30).log()
    floor = smoothing_floor(vocab_size, smoothing)
    at = cross_entropy(best, label, label_smoothing=smoothing)
    assert float(at) == pytest.approx(floor, abs=1e-9)
    beside = cross_entropy(best + 0.1 * torch.randn_like(best), label, label_smoothing=smoothing)
    assert float(beside) >= floor - 1e-9


def test_the_syllabus_floor() -> None:
    assert smoothing_floor(6, 0.1) == pytest.approx(0.4210, abs=5e-5)
    assert smoothing_floor(37_000, 0.0) == 0.0
    assert smoothing_floor(1, 0.1) == pytest.approx(0.0)


def test_padding_of_any_id_counts_for_nothing() -> None:
    logits, labels = make(0)
    real = labels != 0
    alone = cross_entropy(logits[real], labels[real])
    assert_same(cross_entropy(logits, labels), alone)
    for pad_id in (-100, 99):
        moved = labels.masked_fill(~real, pad_id)
        assert_same(
            cross_entropy(logits, moved, pad_id, 0.1), cross_entropy(logits, labels, 0, 0.1)
        )
    assert cross_entropy(logits, torch.zeros_like(labels)) == 0.0


def test_no_logarithm_of_zero() -> None:
    """Logits so far apart that p is 0 in single precision: the loss stays finite and right."""
    logits = torch.tensor([[0.0, 1000.0, -1000.0]], requires_grad=True)
    for label, expected in [(1, 0.0), (2, 2000.0)]:
        loss = cross_entropy(logits, torch.tensor([label]))
        assert float(loss.detach()) == pytest.approx(expected, rel=1e-6)
    loss = cross_entropy(logits, torch.tensor([1]), label_smoothing=0.3)
    assert float(loss.detach()) == pytest.approx(0.1 * 1000 + 0.1 * 2000, rel=1e-6)
    loss.backward()
    assert logits.grad is not None
    assert logits.grad.isfinite().all()


@pytest.mark.parametrize("loss_fn", [teacher_forcing_loss, r_drop_loss])
def test_an_output_with_a_bias_is_refused(loss_fn: Any) -> None:
    model = tiny_model()
    model.output = torch.nn.Linear(model.config.d_model, model.config.vocab_size)
    ids = random_ids([3], 9)
    with pytest.raises(ValueError, match="output must have no bias"):
        loss_fn(model, ids, ids)


@pytest.mark.parametrize("label_smoothing", [0.0, 0.1])
@pytest.mark.parametrize("chunk", [1, 4, 512])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_chunked_cross_entropy_under_autocast(
    label_smoothing: float, chunk: int, dtype: torch.dtype
) -> None:
    """Equal to single precision but for rounding, which averages out; gradients have their tensors' types."""
    torch.manual_seed(0)
    states = torch.randn(40, 16).to(dtype).requires_grad_()
    weight = torch.randn(13, 16, requires_grad=True)
    labels = torch.randint(1, 13, (40,))
    labels[::7] = 0
    settings = (labels, 0, label_smoothing, chunk)
    loss = chunked_cross_entropy(states.float(), weight, *settings)
    exact = torch.autograd.grad(3 * loss, (states, weight))
    with torch.autocast("cpu", torch.bfloat16):
        rounded_loss = chunked_cross_entropy(states, weight, *settings)
    rounded = torch.autograd.grad(3 * rounded_loss, (states, weight))
    assert rounded_loss.dtype == torch.float32
    assert rounded_loss.item() == pytest.approx(loss.item(), rel=0.003)
    for a, b in zip(exact, rounded, strict=True):
        assert a.dtype == b.dtype
        assert (a - b).norm() < 0.01 * a.norm()


def test_chunked_cross_entropy_under_autocast_of_an_impossible_token_is_finite() -> None:
    weight = torch.tensor([[0.0], [1.0], [-1.0]], requires_grad=True)
    states = torch.tensor([[1000.0]], requires_grad=True)
    with torch.autocast("cpu", torch.bfloat16):
        loss = chunked_cross_entropy(states, weight, torch.tensor([2]))
    assert loss.item() > 80
    gradient = torch.autograd.grad(loss, states)[0]
    assert gradient.item() == pytest.approx(2.0)  # p is 1 for id 1, so (1) - (-1)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_logits_give_a_loss_in_single_precision(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    logits, labels = torch.randn(31, 4001).to(dtype), torch.randint(1, 4001, (31,))
    expected = cross_entropy(logits.float(), labels, label_smoothing=0.1)
    for autocast in (False, True):
        with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
            loss = cross_entropy(logits, labels, label_smoothing=0.1)
        assert loss.dtype == torch.float32
        assert_same(loss, expected)


@given(seed=st.integers(0, 99), scale=st.sampled_from([1.0, 1e3, 1e30]))
def test_log_softmax_equals_torch(seed: int, scale: float) -> None:
    torch.manual_seed(seed)
    logits = scale * torch.randn(3, 5, VOCAB)
    assert_same(log_softmax(logits), F.log_softmax(logits, -1))
    assert_same(log_softmax(logits).exp().sum(-1), torch.ones(3, 5))


@given(seed=st.integers(0, 99))
def test_kl_divergence_equals_torch_and_is_no_distance(seed: int) -> None:
    torch.manual_seed(seed)
    p, q = torch.randn(2, 5, VOCAB).softmax(-1).unbind(0)
    expected = F.kl_div(q.log(), p, reduction="none").sum(-1)
    assert_same(kl_divergence(p, q), expected)
    assert (kl_divergence(p, q) > 0).all()
    assert_same(kl_divergence(p, p), torch.zeros(5))
    assert not torch.allclose(kl_divergence(p, q), kl_divergence(q, p))


def test_kl_divergence_where_a_probability_is_zero() -> None:
    one_hot, half = torch.tensor([1.0, 0.0]), torch.tensor([0.5, 0.5])
    assert float(kl_divergence(one_hot, half)) == pytest.approx(math.log(2))
    assert float(kl_divergence(half, one_hot)) == math.inf
    assert float(kl_divergence(one_hot, one_hot)) == 0.0


def test_perplexity() -> None:
    uniform, labels = torch.zeros(4, 8), torch.tensor([1, 2, 3, 7])
    assert perplexity(float(cross_entropy(uniform, labels))) == pytest.approx(8)
    assert perplexity(0.0) == 1.0
    assert perplexity(700.0) == math.inf
    assert math.isnan(perplexity(math.nan))
    assert perplexity(1e6) == math.inf


def test_refuses() -> None:
    logits = torch.zeros(2, 3, VOCAB)
    labels = torch.ones(2, 3, dtype=torch.int64)
    with refuses(
        "labels of shape (2, 2) must have the shape of the logits (2, 3, 7) without the last "
        "dimension"
    ):
        cross_entropy(logits, labels[:, 1:])
    for smoothing in (1.0, -0.1, math.nan):
        message = f"label_smoothing ({smoothing}) must be at least 0 and below 1"
        with refuses(message):
            cross_entropy(logits, labels, label_smoothing=smoothing)
        with refuses(message):
            smoothing_floor(7, smoothing)
    for label in (7, -100):
        with refuses(f"labels has the id {label}, which is outside the vocabulary of 7 ids"):
            cross_entropy(logits, labels.index_fill(1, torch.tensor([1]), label))
    with refuses("labels must be whole numbers (int64), got torch.float32"):
        cross_entropy(logits, labels.float())
    with refuses("vocab_size (0) must be 1 or more"):
        smoothing_floor(0, 0.1)
    with refuses("p and q must have one shape, got (2,) and (1, 2)"):
        kl_divergence(torch.ones(2), torch.ones(1, 2))


def test_chunked_cross_entropy_refuses_what_its_docstring_names() -> None:
    states, weight, labels = torch.zeros(2, 3), torch.zeros(5, 3), torch.tensor([1, 4])
    assert "RuntimeError: if states and weight differ in width" in (
        chunked_cross_entropy.__doc__ or ""
    )
    for given_labels in (labels, labels * 0):  # for padding alone as well
        with pytest.raises(RuntimeError):
            chunked_cross_entropy(states, torch.zeros(5, 4), given_labels)
    with refuses(
        "labels of shape (1,) must have the shape of the states (2, 3) without the last dimension"
    ):
        chunked_cross_entropy(states, weight, labels[:1])
    with refuses("labels must be whole numbers (int64), got torch.int32"):
        chunked_cross_entropy(states, weight, labels.int())
    with refuses("labels has the id 5, which is outside the vocabulary of 5 ids"):
        chunked_cross_entropy(states, weight, labels + 1)
    with refuses("label_smoothing (1.0) must be at least 0 and below 1"):
        chunked_cross_entropy(states, weight, labels, label_smoothing=1.0)
    with refuses("chunk (0) must be 1 or more"):
        chunked_cross_entropy(states, weight, labels, chunk=0)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_teacher_forcing_predicts_each_token_from_those_before_it(smoothing: float) -> None:
    torch.manual_seed(0)
    config = TransformerConfig(VOCAB, d_model=6, n_heads=2, d_ff=11, dropout=0.0)
    model = Transformer(config)
    src = torch.tensor([[3, 4, 2], [5, 2, 0]])
    tgt = torch.tensor([[1, 6, 5, 2, 0], [1, 3, 4, 6, 2]])
    loss = teacher_forcing_loss(model, src, tgt, smoothing)
    by_hand = []
    for row in range(2):
        ids = [int(i) for i in tgt[row] if i]
        for t in range(1, len(ids)):  # one prefix after the other, alone, unpadded
            logits = model(src[row, src[row] != 0][None], torch.tensor([ids[:t]]))[0, -1]
            q = torch.full((VOCAB,), smoothing / VOCAB)
            q[ids[t]] += 1 - smoothing
            by_hand.append(-(q * logits.log_softmax(-1)).sum())
    assert len(by_hand) == 7
    assert_same(loss, torch.stack(by_hand).mean())


def pairs_for_r_drop(dropout: float) -> tuple[Transformer, torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    model = Transformer(TransformerConfig(VOCAB, d_model=6, n_heads=2, d_ff=11, dropout=dropout))
    src = torch.tensor([[3, 4, 2], [5, 2, 0]])
    return model, src, torch.tensor([[1, 6, 5, 2, 0], [1, 3, 4, 6, 2]])


def test_r_drop_without_dropout_is_teacher_forcing() -> None:
    model, src, tgt = pairs_for_r_drop(0.0)
    assert_same(r_drop_loss(model, src, tgt, 0.1), teacher_forcing_loss(model, src, tgt, 0.1))


@pytest.mark.parametrize("weight", [0.0, 5.0])
def test_r_drop_adds_the_divergence_of_two_passes(weight: float) -> None:
    model, src, tgt = pairs_for_r_drop(0.5)
    seen: list[torch.Tensor] = []
    model.decoder_norm.register_forward_hook(lambda *called: seen.append(called[-1]))
    loss = r_drop_loss(model, src, tgt, 0.1, weight)
    (states,) = seen
    logits, real = model.output(states), tgt[:, 1:] != 0
    p, q = (half[real].log_softmax(-1) for half in logits.chunk(2))  # (real tokens, vocab_size)
    assert not torch.allclose(p, q)
    right = tgt[:, 1:][real]
    of_each = [F.cross_entropy(x, right, label_smoothing=0.1) for x in (p, q)]
    both = [F.kl_div(b, a, reduction="sum", log_target=True) for a, b in ((p, q), (q, p))]
    expected = sum(of_each) / 2 + weight / 2 * sum(both) / 2 / len(right)
    assert_same(loss, expected)
    assert_same(
        *(
            torch.autograd.grad(x, model.output.weight, retain_graph=True)[0]
            for x in (loss, expected)
        )
    )


@pytest.mark.slow
def test_r_drop_brings_the_passes_together() -> None:
    """Trained with it, a model says nearly the same whatever dropout leaves out."""
    apart = []
    for weight in (0.0, 5.0):
        model, src, tgt = pairs_for_r_drop(0.3)
        optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
        for _ in range(60):
            optimizer.zero_grad()
            r_drop_loss(model, src, tgt, 0.1, weight).backward()
            optimizer.step()
        with torch.no_grad():
            torch.manual_seed(1)
            usual = r_drop_loss(model, src, tgt, 0.1, 0.0)
            torch.manual_seed(1)
            more = r_drop_loss(model, src, tgt, 0.1, 4.0)
        apart.append(float(more - usual))
    assert apart[1] < apart[0] / 2
