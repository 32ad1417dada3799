"""The changes of the layer since 2017, which since_2017 compares by loss and since_2017_times by time."""

from dataclasses import replace
from typing import Any, Literal

from transformer_course.encoder_decoder import LayerConfig
from transformer_course.families import DecoderConfig, DecoderOnly

FIRST = "as in 2017"
SETTINGS: dict[str, Any] = {
    "vocab_size": 600,
    "layer": {"d_model": 64, "n_heads": 4, "d_ff": 256, "dropout": 0.0},
    "n_layers": 3,
    "changes": {
        FIRST: {},
        "RMS norm": {"norm_kind": "rms"},
        "SwiGLU": {"activation": "swiglu", "d_ff": 172},
        "no biases": {"bias": False},
        "grouped keys": {"n_key_heads": 2, "d_ff": 288},  # what they save goes into the net
        "rotary positions": {"rotary_base": 10000.0},
        "norm of queries and keys": {"qk_norm": True},
    },
    "d_ff, all together": 208,
}


def layers(config: dict[str, Any]) -> dict[str, LayerConfig]:
    """The layer with each change alone, then with all together, by name.

    Args:
        config: has the layer, the changes and "d_ff, all together".
    """
    together: dict[str, Any] = {}
    for change in config["changes"].values():
        together |= change
    together["d_ff"] = config["d_ff, all together"]
    all_changes = config["changes"] | {"all together": together}
    layer = LayerConfig(**config["layer"])
    return {name: replace(layer, **change) for name, change in all_changes.items()}


def decoder(layer: LayerConfig, n_layers: int, vocab_size: int) -> DecoderOnly:
    """A decoder of such layers; without rotation its positions are learned."""
    positions: Literal["none", "learned"] = "none" if layer.rotary_base else "learned"
    return DecoderOnly(DecoderConfig(vocab_size, layer, n_layers, positions=positions))
