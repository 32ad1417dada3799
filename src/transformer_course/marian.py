"""A bridge to MarianMT of the library transformers (chapter 06): the same model under other names, both ways.

Marian is a program for neural translation (Junczys-Dowmunt et al. 2018); MarianMT is its model in transformers
(Wolf et al. 2020), a Transformer with post-norm. Its positions are all sines, then all
cosines; ours alternate, as in the paper. So the bridge puts the features of every weight into the other order:
the model computes the same. Nothing of transformers is imported here.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor

from transformer_course.encoder_decoder import Transformer, TransformerConfig
from transformer_course.positional_encoding import sinusoidal_encoding

PROJECTIONS = {"w_query": "q_proj", "w_key": "k_proj", "w_value": "v_proj"}
ENCODER = {"self_attention": "self_attn"}
DECODER = {**ENCODER, "cross_attention": "encoder_attn"}
EMBEDDINGS = {
    "src_embedding.weight": "model.encoder.embed_tokens.weight",
    "tgt_embedding.weight": "model.decoder.embed_tokens.weight",
    "output.weight": "lm_head.weight",
}
POSITIONS = ("model.encoder.embed_positions.weight", "model.decoder.embed_positions.weight")
SHARED, BIAS = "model.shared.weight", "final_logits_bias"


def from_marian(weights: Mapping[str, Tensor], config: Mapping[str, Any]) -> Transformer:
    """Make a `Transformer` that computes what a MarianMT model computes (Junczys-Dowmunt et al. 2018).

    Args:
        weights: its `state_dict()`: name → tensor, of any precision.
        config: its `config.to_dict()`, or what its config.json holds.

    Returns:
        The model, in evaluation mode and in single precision. It decodes with `bos_id` = Marian's
        decoder_start_token_id.

    Raises:
        ValueError: if a weight is missing, unknown or of another shape; if the config lacks a setting, or has
            one that `TransformerConfig` refuses; if embeddings differ that the config calls one; or if Marian
            does something that our model doesn't: another activation than ReLU, encoder and decoder with
            different numbers of heads, widths of the feed-forward net or vocabularies, a bias of the logits
            that isn't 0, positions that aren't sinusoids.
    """
    ours = _read_config(config)
    model = Transformer(ours)
    given, order = dict(weights), _interleaved(ours.d_model)
    _check_fixed(given, ours)
    given = {name: weight.float() for name, weight in given.items()}
    state, names = model.state_dict(), dict(_names(ours)) | EMBEDDINGS
    loaded = {}
    for name, theirs in names.items():
        if theirs not in given and theirs in EMBEDDINGS.values():
            given[theirs] = given[SHARED] if SHARED in given else torch.empty(0)
        if theirs not in given or given[theirs].shape != state[name].shape:
            found = tuple(given[theirs].shape) if theirs in given else "nothing"
            raise ValueError(f"{theirs} must be of shape {tuple(state[name].shape)}, got {found}")
        loaded[name] = _permuted(name, given.pop(theirs), order)
    given.pop(SHARED, None)
    if given:
        raise ValueError(f"weights holds names that Marian doesn't have: {', '.join(given)}")
    if not config.get("scale_embedding", False):  # ours always multiplies embeddings by √d_model
        for name in ("src_embedding.weight", "tgt_embedding.weight"):
            loaded[name] = loaded[name] / math.sqrt(ours.d_model)
    if ours.tie_embeddings and any(
        not torch.equal(loaded[name], loaded["output.weight"]) for name in EMBEDDINGS
    ):
        raise ValueError("the embeddings must be one matrix, as the config says, but they differ")
    model.load_state_dict(loaded)
    return model.eval()


def to_marian(
    model: Transformer, bos_id: int = 1, eos_id: int = 2
) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Give a model's weights Marian's names and order: the way back from `from_marian`.

    Marian: Junczys-Dowmunt et al. 2018.

    Args:
        model: with post-norm, sinusoidal positions, biases, and as many key heads as heads, which are all that
            Marian has.
        bos_id: the id that starts a target.
        eos_id: the id that ends it.

    Returns:
        A state dict for `MarianMTModel`, and the arguments of its `MarianConfig`.

    Raises:
        ValueError: if the model's norm, positions, biases or number of key heads are others.

    >>> model = Transformer(TransformerConfig(9, 8, 2, 1, 1, 16, norm="post"))
    >>> weights, config = to_marian(model)
    >>> weights["model.encoder.layers.0.fc1.weight"].shape, config["encoder_ffn_dim"]
    (torch.Size([16, 8]), 16)
    """
    ours = model.config
    n_key_heads = ours.n_key_heads or ours.n_heads
    for name, value, only in (
        ("norm", ours.norm, "post"),
        ("positions", ours.positions, "sinusoidal"),
        ("bias", ours.bias, True),
        ("n_key_heads", n_key_heads, ours.n_heads),
    ):
        if value != only:
            raise ValueError(f"{name} ({value!r}) must be {only!r}: Marian has no other")
    order = _interleaved(ours.d_model).argsort()
    names = dict(_names(ours)) | EMBEDDINGS
    state = model.state_dict()
    weights = {theirs: _permuted(name, state[name], order) for name, theirs in names.items()}
    if ours.tie_embeddings:
        weights[SHARED] = weights[EMBEDDINGS["output.weight"]]
    table = sinusoidal_encoding(ours.max_len, ours.d_model, "concatenated")
    weights |= {name: table.clone() for name in POSITIONS}
    weights[BIAS] = torch.zeros(1, ours.vocab_size)
    return weights, _written_config(ours, bos_id, eos_id)


def _names(config: TransformerConfig) -> Iterator[tuple[str, str]]:
    """Yield our name and Marian's for every weight of the layers."""
    for side, count, attentions in (
        ("encoder", config.n_encoder_layers, ENCODER),
        ("decoder", config.n_decoder_layers, DECODER),
    ):
        for i in range(count):
            ours, theirs = f"{side}_layers.{i}", f"model.{side}.layers.{i}"
            modules = {
                f"{attention}.{name}": f"{other}.{marian}"
                for attention, other in attentions.items()
                for name, marian in (PROJECTIONS | {"w_output": "out_proj"}).items()
            } | {"feed_forward.inner": "fc1", "feed_forward.outer": "fc2"}
            for name, other in modules.items():
                for kind in ("weight", "bias"):
                    yield f"{ours}.{name}.{kind}", f"{theirs}.{other}.{kind}"
            norms = [*(f"{other}_layer_norm" for other in attentions.values()), "final_layer_norm"]
            for number, norm in enumerate(norms):
                for kind, other in (("gain", "weight"), ("bias", "bias")):
                    yield f"{ours}.residuals.{number}.norm.{kind}", f"{theirs}.{norm}.{other}"


def _interleaved(d_model: int) -> Tensor:
    """Return where each of our features stands in Marian's order: 0, d/2, 1, d/2 + 1, …"""
    return torch.arange(d_model).view(2, -1).T.flatten()


def _permuted(name: str, weight: Tensor, order: Tensor) -> Tensor:
    """Return a weight with the features that go in, or come out, of the model's width in another order."""
    module, kind = name.split(".")[-2:]
    if (
        module in PROJECTIONS or module == "inner"
    ):  # what goes in; what comes out isn't of that width
        return weight[:, order] if kind == "weight" else weight.clone()
    return weight[:, order] if name in EMBEDDINGS else weight[order]


def _read_config(config: Mapping[str, Any]) -> TransformerConfig:
    """Return our configuration for Marian's, or say what we don't have."""
    for name in (
        "vocab_size",
        "d_model",
        "encoder_layers",
        "decoder_layers",
        "encoder_attention_heads",
        "encoder_ffn_dim",
        "max_position_embeddings",
        "activation_function",
        "pad_token_id",
    ):
        if name not in config:
            raise ValueError(f"config has no {name}")
    if config["activation_function"] != "relu":
        raise ValueError(f"activation_function ({config['activation_function']!r}) must be 'relu'")
    for name, other in (
        ("decoder_attention_heads", "encoder_attention_heads"),
        ("decoder_ffn_dim", "encoder_ffn_dim"),
        ("decoder_vocab_size", "vocab_size"),
    ):
        if config.get(name) not in (None, config[other]):
            raise ValueError(f"{name} ({config[name]}) must equal {other} ({config[other]})")
    shared = config.get("share_encoder_decoder_embeddings", True)
    tied = shared and config.get("tie_word_embeddings", True)
    return TransformerConfig(
        config["vocab_size"],
        config["d_model"],
        config["encoder_attention_heads"],
        config["encoder_layers"],
        config["decoder_layers"],
        config["encoder_ffn_dim"],
        config.get("dropout", 0.1),
        config["max_position_embeddings"],
        norm="post",
        tie_embeddings=bool(tied and config.get("scale_embedding", False)),
        pad_id=config["pad_token_id"],
    )


def _check_fixed(given: dict[str, Tensor], config: TransformerConfig) -> None:
    """Take out what our model has fixed, after a look that it has the fixed values."""
    table = sinusoidal_encoding(config.max_len, config.d_model, "concatenated")
    for name in POSITIONS:
        positions = given.pop(name, table)
        step = max(1e-5, torch.finfo(positions.dtype).eps)  # in half precision they are rounded
        if positions.shape != table.shape or not torch.allclose(
            positions.float(), table, atol=step
        ):
            raise ValueError(
                f"{name} must be the sinusoids of {config.max_len} positions (all sines, then all cosines)"
            )
    if given.pop(BIAS, torch.zeros(1)).count_nonzero():
        raise ValueError(f"{BIAS} must be 0: our logits have no bias")


def _written_config(config: TransformerConfig, bos_id: int, eos_id: int) -> dict[str, Any]:
    """Return the arguments of transformers' MarianConfig."""
    sides = {
        f"{side}_{name}": value
        for side, layers in (
            ("encoder", config.n_encoder_layers),
            ("decoder", config.n_decoder_layers),
        )
        for name, value in (
            ("layers", layers),
            ("attention_heads", config.n_heads),
            ("ffn_dim", config.d_ff),
        )
    }
    return sides | {
        "vocab_size": config.vocab_size,
        "d_model": config.d_model,
        "max_position_embeddings": config.max_len,
        "dropout": config.dropout,
        "activation_function": "relu",
        "scale_embedding": True,
        "share_encoder_decoder_embeddings": config.tie_embeddings,
        "tie_word_embeddings": config.tie_embeddings,
        "pad_token_id": config.pad_id,
        "decoder_start_token_id": bos_id,
        "eos_token_id": eos_id,
        "forced_eos_token_id": None,
    }
