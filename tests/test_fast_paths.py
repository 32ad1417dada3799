"""Each fast path gives what its readable counterpart gives: outputs, gradients, edge cases and refusals."""

import pytest
import torch
from torch import Tensor

from transformer_course.attention import fused_attention, scaled_dot_product_attention
from transformer_course.decoding import beam_search, greedy
from transformer_course.encoder_decoder import Transformer, TransformerConfig
from transformer_course.loss import chunked_cross_entropy, cross_entropy
from transformer_course.multi_head import record_attention


def inputs() -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values with distinct sizes, (2, 3, 5 or 7, 11 or 13)."""
    shapes = (2, 3, 5, 11), (2, 3, 7, 11), (2, 3, 7, 13)
    queries, keys, values = (torch.randn(shape, requires_grad=True) for shape in shapes)
    return queries, keys, values


@pytest.mark.parametrize(
    "mask_shape", [None, (7,), (5, 7), (2, 1, 1, 7), (2, 1, 5, 7), (2, 3, 5, 7), (5, 1)]
)
def test_fused_attention_equals_the_written_out_one(mask_shape: tuple[int, ...] | None) -> None:
    tensors = inputs()
    mask = None if mask_shape is None else torch.rand(mask_shape) < 0.6
    results = []
    for output in (
        scaled_dot_product_attention(*tensors, mask)[0],
        fused_attention(*tensors, mask),
    ):
        torch.manual_seed(1)
        results.append(
            (output, *torch.autograd.grad((output * torch.randn(output.shape)).sum(), tensors))
        )
    for written_out, fused in zip(*results, strict=True):
        torch.testing.assert_close(fused, written_out)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_fused_query_with_nothing_allowed_gets_zeros_and_finite_gradients(
    dtype: torch.dtype,
) -> None:
    tensors = [x.detach().to(dtype).requires_grad_() for x in inputs()]
    mask = torch.ones(2, 1, 5, 7, dtype=torch.bool)
    mask[1, :, 2] = False
    output = fused_attention(tensors[0], tensors[1], tensors[2], mask)
    assert (output[1, :, 2] == 0).all()
    assert (output[0] != 0).any(-1).all()
    gradients = torch.autograd.grad(output.sum(), tensors)
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert (gradients[0][1, :, 2] == 0).all()


def test_fused_attention_refuses_what_the_written_out_one_refuses() -> None:
    queries, keys, values = inputs()
    with pytest.raises(ValueError, match=r"mask must be boolean .*float32"):
        fused_attention(queries, keys, values, torch.ones(5, 7))
    with pytest.raises(ValueError, match=r"mask of shape \(7, 5\)"):
        fused_attention(queries, keys, values, torch.ones(7, 5, dtype=torch.bool))
    with pytest.raises(ValueError, match="same width d_k, got 11 and 13"):
        fused_attention(queries, values, values)
    with pytest.raises(ValueError, match="7 keys and 6 values"):
        fused_attention(queries, keys, values[:, :, :6])


@pytest.fixture
def model() -> Transformer:
    torch.manual_seed(3)
    config = TransformerConfig(
        29, d_model=12, n_heads=3, n_encoder_layers=2, n_decoder_layers=2, d_ff=17, dropout=0.0
    )
    return Transformer(config).eval()


def source() -> Tensor:
    """Three sentences, one of them nothing but padding."""
    src = torch.randint(3, 29, (3, 7))
    src[1, 4:] = 0
    src[2] = 0
    return src


def test_model_with_fused_attention_equals_the_readable_one(model: Transformer) -> None:
    src, tgt = source(), torch.randint(3, 29, (3, 5))
    readable = [greedy(model, src, 9), beam_search(model, src, 3, 9), model(src, tgt)]
    assert model.use_fused() is model
    fused = [greedy(model, src, 9), beam_search(model, src, 3, 9), model(src, tgt)]
    assert fused[0] == readable[0]
    for a, b in zip(fused[1], readable[1], strict=True):
        assert a[0].ids == b[0].ids
        assert a[0].log_prob == pytest.approx(b[0].log_prob, abs=1e-4)
    torch.testing.assert_close(fused[2], readable[2])
    model.use_fused(False)
    torch.testing.assert_close(model(src, tgt), readable[2], rtol=0, atol=0)


def test_attention_can_be_recorded_where_it_is_fused(model: Transformer) -> None:
    src, tgt = source(), torch.randint(3, 29, (3, 5))
    with record_attention(model) as readable:
        model(src, tgt)
    model.use_fused()
    with record_attention(model) as recorded:
        model(src, tgt)
    assert len(recorded) == 6
    for name, weights in readable.items():
        torch.testing.assert_close(recorded[name], weights, rtol=0, atol=0)
    assert all(layer.self_attention.fused for layer in model.encoder_layers)


@pytest.mark.parametrize("label_smoothing", [0.0, 0.1])
@pytest.mark.parametrize("chunk", [1, 4, 512])
def test_chunked_cross_entropy_equals_the_readable_one(label_smoothing: float, chunk: int) -> None:
    states = torch.randn(3, 7, 5, requires_grad=True)
    weight = torch.randn(13, 5, requires_grad=True)
    labels = torch.randint(1, 13, (3, 7))
    labels[1, 4:] = 0
    results = []
    for loss in (
        cross_entropy(states @ weight.T, labels, 0, label_smoothing),
        chunked_cross_entropy(states, weight, labels, 0, label_smoothing, chunk),
    ):
        results.append((loss, *torch.autograd.grad(3 * loss, (states, weight))))
    for readable, chunked in zip(*results, strict=True):
        torch.testing.assert_close(chunked, readable)


def test_chunked_cross_entropy_of_nothing_but_padding_is_zero() -> None:
    states, weight = torch.randn(2, 5, requires_grad=True), torch.randn(7, 5, requires_grad=True)
    loss = chunked_cross_entropy(states, weight, torch.tensor([0, 0]))
    loss.backward()
    assert loss.item() == 0
    assert states.grad is not None
    assert (states.grad == 0).all()


def test_chunked_cross_entropy_refuses() -> None:
    states, weight, labels = torch.randn(2, 5), torch.randn(7, 5), torch.tensor([1, 2])
    with pytest.raises(ValueError, match=r"labels of shape \(1,\) .* states \(2, 5\)"):
        chunked_cross_entropy(states, weight, labels[:1])
    with pytest.raises(ValueError, match=r"chunk \(0\) must be 1 or more"):
        chunked_cross_entropy(states, weight, labels, chunk=0)
    with pytest.raises(ValueError, match=r"label_smoothing \(1.0\)"):
        chunked_cross_entropy(states, weight, labels, label_smoothing=1.0)
    with pytest.raises(ValueError, match="7"):
        chunked_cross_entropy(states, weight, torch.tensor([1, 7]))
