"""Independent oracles: torch.nn's own layers with our weights, and tiny models to compare."""

import re
from collections.abc import Iterable

import pytest
import torch
from torch import Tensor, nn

from transformer_course.encoder_decoder import (
    DecoderLayer,
    EncoderLayer,
    LayerNorm,
    Transformer,
    TransformerConfig,
)
from transformer_course.multi_head import MultiHeadAttention

PAD, BOS, EOS = 0, 1, 2


def tiny_config(vocab_size: int = 13, **changes: object) -> TransformerConfig:
    """Sizes that differ from one another: 2 heads of width 3, 7 in the feed-forward net."""
    sizes: dict[str, object] = {
        "d_model": 6,
        "n_heads": 2,
        "n_encoder_layers": 2,
        "n_decoder_layers": 3,
        "d_ff": 7,
        "dropout": 0.0,
        "max_len": 17,
    }
    return TransformerConfig(vocab_size, **(sizes | changes))  # type: ignore[arg-type]


def tiny_model(seed: int = 0, sharpness: float = 1.0, **changes: object) -> Transformer:
    """A random model in evaluation mode, every weight drawn anew (no zero bias, no gain of 1).

    Args:
        seed: of the draw.
        sharpness: multiplies the output matrix where it isn't tied; above 1 the model is surer of itself.
        changes: fields of the config that differ from `tiny_config`.
    """
    torch.manual_seed(seed)
    model = Transformer(tiny_config(**changes)).eval()  # type: ignore[arg-type]
    shake(model)
    if not model.config.tie_embeddings:
        with torch.no_grad():
            model.output.weight.mul_(sharpness)
    return model


def shake(module: nn.Module) -> None:
    """Add noise to every parameter, so that none is 0 or 1 by luck."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))


def random_ids(lengths: Iterable[int], vocab_size: int = 13, width: int | None = None) -> Tensor:
    """Rows of random ordinary ids (3 and above), padded with 0 to the longest row or to `width`."""
    rows = [torch.randint(3, vocab_size, (n,)) for n in lengths]
    width = width or max(len(row) for row in rows)
    return torch.stack([torch.cat([row, row.new_zeros(width - len(row))]) for row in rows])


def refuses(message: str) -> "pytest.RaisesExc[ValueError]":
    """Expect a ValueError with exactly this message, values included."""
    return pytest.raises(ValueError, match=f"^{re.escape(message)}$")


def assert_same(actual: Tensor, expected: Tensor, tolerance: float = 1e-5) -> None:
    """Equal shapes, and values within `tolerance`, absolute and relative."""
    torch.testing.assert_close(actual, expected, rtol=tolerance, atol=tolerance)


def assert_same_gradients(
    outputs: tuple[Tensor, Tensor], pairs: dict[str, tuple[Tensor, Tensor]]
) -> None:
    """Send the same random gradient into both outputs and compare what arrives at each pair of leaves.

    Args:
        outputs: ours and the oracle's.
        pairs: name → our leaf tensor and the oracle's gradient's owner, or a slice of it, as (ours, theirs).
    """
    ours, theirs = outputs
    gradient = torch.randn_like(ours)
    ours.backward(gradient)
    theirs.backward(gradient)
    for name, (mine, other) in pairs.items():
        assert mine.grad is not None, name
        assert other.grad is not None, name
        assert mine.grad.abs().max() > 0, f"no gradient reaches {name}"
        assert_same(mine.grad, other.grad, 1e-4)


def torch_attention(ours: MultiHeadAttention) -> nn.MultiheadAttention:
    """torch.nn.MultiheadAttention with our weights (it packs query, key and value into one matrix)."""
    d_model = ours.w_query.in_features
    theirs = nn.MultiheadAttention(d_model, ours.n_heads, batch_first=True)
    copy_attention(ours, theirs)
    return theirs


def copy_attention(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    """Copy our weights into torch's attention."""
    parts = (ours.w_query, ours.w_key, ours.w_value)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
        theirs.in_proj_bias.copy_(torch.cat([part.bias for part in parts]))
    copy_linear(ours.w_output, theirs.out_proj)


def copy_linear(ours: nn.Linear, theirs: nn.Linear) -> None:
    """Copy weight and bias."""
    with torch.no_grad():
        theirs.weight.copy_(ours.weight)
        theirs.bias.copy_(ours.bias)


def copy_norm(ours: LayerNorm, theirs: nn.LayerNorm) -> None:
    """Copy gain and bias."""
    with torch.no_grad():
        theirs.weight.copy_(ours.gain)
        theirs.bias.copy_(ours.bias)
    theirs.eps = ours.eps


def torch_encoder_layer(
    ours: EncoderLayer, config: TransformerConfig
) -> nn.TransformerEncoderLayer:
    """torch.nn.TransformerEncoderLayer with our weights."""
    theirs = nn.TransformerEncoderLayer(
        config.d_model,
        config.n_heads,
        config.d_ff,
        0.0,
        batch_first=True,
        norm_first=config.norm == "pre",
    )
    copy_attention(ours.self_attention, theirs.self_attn)
    copy_linear(ours.feed_forward.inner, theirs.linear1)
    copy_linear(ours.feed_forward.outer, theirs.linear2)
    for mine, other in zip(ours.residuals, (theirs.norm1, theirs.norm2), strict=True):
        copy_norm(mine.norm, other)  # type: ignore[arg-type]
    return theirs


def torch_decoder_layer(
    ours: DecoderLayer, config: TransformerConfig
) -> nn.TransformerDecoderLayer:
    """torch.nn.TransformerDecoderLayer with our weights."""
    theirs = nn.TransformerDecoderLayer(
        config.d_model,
        config.n_heads,
        config.d_ff,
        0.0,
        batch_first=True,
        norm_first=config.norm == "pre",
    )
    copy_attention(ours.self_attention, theirs.self_attn)
    copy_attention(ours.cross_attention, theirs.multihead_attn)
    copy_linear(ours.feed_forward.inner, theirs.linear1)
    copy_linear(ours.feed_forward.outer, theirs.linear2)
    norms = (theirs.norm1, theirs.norm2, theirs.norm3)
    for mine, other in zip(ours.residuals, norms, strict=True):
        copy_norm(mine.norm, other)  # type: ignore[arg-type]
    return theirs


def torch_transformer(ours: Transformer) -> nn.Transformer:
    """torch.nn.Transformer (layers only: no embedding, no output matrix) with our weights."""
    config = ours.config
    pre = config.norm == "pre"
    encoder = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(
            config.d_model, config.n_heads, config.d_ff, 0.0, batch_first=True, norm_first=pre
        ),
        config.n_encoder_layers,
        nn.LayerNorm(config.d_model) if pre else None,
        enable_nested_tensor=False,
    )
    decoder = nn.TransformerDecoder(
        nn.TransformerDecoderLayer(
            config.d_model, config.n_heads, config.d_ff, 0.0, batch_first=True, norm_first=pre
        ),
        config.n_decoder_layers,
        nn.LayerNorm(config.d_model) if pre else None,
    )
    # Its constructor draws all weights anew, the given stacks' too: so ours are copied after it.
    theirs = nn.Transformer(
        config.d_model,
        config.n_heads,
        custom_encoder=encoder,
        custom_decoder=decoder,
        batch_first=True,
    )
    for i, layer in enumerate(ours.encoder_layers):
        encoder.layers[i] = torch_encoder_layer(layer, config)  # type: ignore[arg-type]
    for i, layer in enumerate(ours.decoder_layers):
        decoder.layers[i] = torch_decoder_layer(layer, config)  # type: ignore[arg-type]
    if pre:
        copy_norm(ours.encoder_norm, encoder.norm)  # type: ignore[arg-type]
        copy_norm(ours.decoder_norm, decoder.norm)  # type: ignore[arg-type]
    return theirs
