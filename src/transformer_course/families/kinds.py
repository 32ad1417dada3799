"""Four kinds of models of the library transformers, and how each is one of ours (chapter 11).

Names of weights are those of its files (Wolf et al. 2020), settings those of its config.json.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from transformer_course.encoder_decoder import LayerConfig
from transformer_course.families.config import DecoderConfig, EncoderConfig, VisionConfig
from transformer_course.families.models import DecoderOnly, EncoderOnly, VisionTransformer

Model = EncoderOnly | DecoderOnly | VisionTransformer
Weights = dict[str, Tensor]
Config = Mapping[str, Any]


@dataclass(frozen=True)
class Kind:
    """How a kind of model in transformers is one of ours.

    Args:
        body: what the names of all weights but the head's begin with.
        layer: the names of layer {} begin with this, after `body`.
        inside: our module → theirs, inside a layer.
        outside: our module or parameter → theirs, outside the layers.
        left_out: what ours has no place for, as a pattern.
        read: their config → our model, with fresh weights.
        write: our config → theirs.
        to_ours: changes what has another shape there, in place.
        to_theirs: the way back, in place; it may ask our config.
    """

    body: str
    layer: str
    inside: Mapping[str, str]
    outside: Mapping[str, str]
    left_out: str
    read: Callable[[Config], Model]
    write: Callable[[Any], dict[str, Any]]
    to_ours: Callable[[Weights], None]
    to_theirs: Callable[[Weights, Any], None]


def _must(config: Config, **wanted: Any) -> None:
    """Refuse a config that asks for something else than what ours does."""
    for name, value in wanted.items():
        if config.get(name, value) != value:
            raise ValueError(f"{name} must be {value!r}, got {config[name]!r}")


def _pad_id(config: Config) -> int:
    """The id of padding; −1 if there is none, or if texts have it too, say as their end: it hides nothing."""
    pad_id, ends = config.get("pad_token_id"), config.get("eos_token_id")
    in_texts = [*(ends if isinstance(ends, list) else [ends]), config.get("bos_token_id")]
    return -1 if pad_id is None or pad_id in in_texts else int(pad_id)


def _read_bert(config: Config) -> EncoderOnly:
    _must(config, hidden_act="gelu", is_decoder=False, tie_word_embeddings=True)
    _must(config, position_embedding_type="absolute")
    return EncoderOnly(
        EncoderConfig(
            vocab_size=config["vocab_size"],
            layer=LayerConfig(
                config["hidden_size"],
                config["num_attention_heads"],
                config["intermediate_size"],
                config["hidden_dropout_prob"],
                norm="post",
                norm_eps=config["layer_norm_eps"],
                activation="gelu",
            ),
            n_layers=config["num_hidden_layers"],
            max_len=config["max_position_embeddings"],
            pad_id=_pad_id(config),
        )
    )


def _write_bert(ours: EncoderConfig) -> dict[str, Any]:
    return {
        "architectures": ["BertForMaskedLM"],
        "hidden_act": "gelu",
        "hidden_size": ours.d_model,
        "num_attention_heads": ours.layer.n_heads,
        "intermediate_size": ours.layer.d_ff,
        "hidden_dropout_prob": ours.dropout,
        "attention_probs_dropout_prob": 0.0,
        "layer_norm_eps": ours.layer.norm_eps,
        "vocab_size": ours.vocab_size,
        "num_hidden_layers": ours.n_layers,
        "max_position_embeddings": ours.max_len,
        "pad_token_id": None if ours.pad_id < 0 else ours.pad_id,
        "type_vocab_size": 1,
        "tie_word_embeddings": True,
    }


BERT_POSITIONS = "bert.embeddings.position_embeddings.weight"
BERT_SEGMENTS = "bert.embeddings.token_type_embeddings.weight"


def _bert_to_ours(weights: Weights) -> None:
    for name in list(weights):  # the first files called gain and bias of a norm so
        if found := re.fullmatch(r"(.+\.LayerNorm)\.(gamma|beta)", name):
            new = "weight" if found[2] == "gamma" else "bias"
            weights[f"{found[1]}.{new}"] = weights.pop(name)
    weights[BERT_POSITIONS] = weights[BERT_POSITIONS] + weights.pop(BERT_SEGMENTS)[0]


def _bert_to_theirs(weights: Weights, _: EncoderConfig) -> None:
    weights[BERT_SEGMENTS] = torch.zeros_like(weights[BERT_POSITIONS][:1])


def _read_gpt2(config: Config) -> DecoderOnly:
    _must(config, activation_function="gelu_new", add_cross_attention=False)
    _must(config, scale_attn_weights=True, scale_attn_by_inverse_layer_idx=False)
    return DecoderOnly(
        DecoderConfig(
            vocab_size=config["vocab_size"],
            layer=LayerConfig(
                config["n_embd"],
                config["n_head"],
                config.get("n_inner") or 4 * config["n_embd"],
                config["resid_pdrop"],
                norm_eps=config["layer_norm_epsilon"],
                activation="gelu_tanh",
            ),
            n_layers=config["n_layer"],
            max_len=config["n_positions"],
            pad_id=_pad_id(config),
            tie_embeddings=config.get("tie_word_embeddings", True),
        )
    )


def _write_gpt2(ours: DecoderConfig) -> dict[str, Any]:
    return {
        "architectures": ["GPT2LMHeadModel"],
        "activation_function": "gelu_new",
        "n_embd": ours.d_model,
        "n_head": ours.layer.n_heads,
        "n_inner": ours.layer.d_ff,
        "resid_pdrop": ours.dropout,
        "embd_pdrop": ours.dropout,
        "attn_pdrop": 0.0,
        "layer_norm_epsilon": ours.layer.norm_eps,
        "vocab_size": ours.vocab_size,
        "n_layer": ours.n_layers,
        "n_positions": ours.max_len,
        "pad_token_id": None if ours.pad_id < 0 else ours.pad_id,
        "bos_token_id": None,
        "eos_token_id": None,
        "tie_word_embeddings": ours.tie_embeddings,
    }


def _gpt2_to_ours(weights: Weights) -> None:
    """GPT-2 keeps the three maps of attention in one matrix, and every matrix turned around."""
    for name in list(weights):
        if name.endswith((".c_proj.weight", ".c_fc.weight")):
            weights[name] = weights[name].mT
        elif found := re.fullmatch(r"(.+\.attn)\.c_attn\.(\w+)", name):
            whole = weights.pop(name)
            parts = (whole.mT if whole.dim() == 2 else whole).chunk(3)
            for part, map_name in zip(parts, ("query", "key", "value"), strict=True):
                weights[f"{found[1]}.{map_name}.{found[2]}"] = part


def _gpt2_to_theirs(weights: Weights, _: DecoderConfig) -> None:
    for name in list(weights):
        if name.endswith((".c_proj.weight", ".c_fc.weight")):
            weights[name] = weights[name].mT
        elif found := re.fullmatch(r"(.+\.attn)\.query\.(\w+)", name):
            parts = [weights.pop(f"{found[1]}.{m}.{found[2]}") for m in ("query", "key", "value")]
            whole = torch.cat(parts)
            weights[f"{found[1]}.c_attn.{found[2]}"] = whole.mT if whole.dim() == 2 else whole


def _read_llama(config: Config) -> DecoderOnly:
    _must(config, hidden_act="silu", attention_bias=False, mlp_bias=False)
    rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
    if not isinstance(rope, Mapping):
        raise ValueError(f"rope_parameters must be names and values, got {rope!r}")
    _must(rope, rope_type="default", type="default")  # older files say type
    d_model, n_heads = config["hidden_size"], config["num_attention_heads"]
    if config.get("head_dim") is not None and n_heads:
        _must(config, head_dim=d_model // n_heads)
    return DecoderOnly(
        DecoderConfig(
            vocab_size=config["vocab_size"],
            layer=LayerConfig(
                d_model,
                n_heads,
                config["intermediate_size"],
                dropout=0.0,
                bias=False,
                n_key_heads=config.get("num_key_value_heads"),
                norm_kind="rms",
                norm_eps=config["rms_norm_eps"],
                activation="swiglu",
                rotary_base=rope.get("rope_theta", config.get("rope_theta", 10000.0)),
            ),
            n_layers=config["num_hidden_layers"],
            max_len=config["max_position_embeddings"],
            positions="none",
            pad_id=_pad_id(config),
            tie_embeddings=config.get("tie_word_embeddings", False),
        )
    )


def _write_llama(ours: DecoderConfig) -> dict[str, Any]:
    return {
        "architectures": ["LlamaForCausalLM"],
        "hidden_act": "silu",
        "hidden_size": ours.d_model,
        "num_attention_heads": ours.layer.n_heads,
        "head_dim": ours.d_model // ours.layer.n_heads,
        "num_key_value_heads": ours.layer.n_key_heads or ours.layer.n_heads,
        "intermediate_size": ours.layer.d_ff,
        "rms_norm_eps": ours.layer.norm_eps,
        "rope_parameters": {"rope_type": "default", "rope_theta": ours.layer.rotary_base},
        "vocab_size": ours.vocab_size,
        "num_hidden_layers": ours.n_layers,
        "max_position_embeddings": ours.max_len,
        "pad_token_id": None if ours.pad_id < 0 else ours.pad_id,
        "bos_token_id": None,
        "eos_token_id": None,
        "tie_word_embeddings": ours.tie_embeddings,
    }


def _read_vit(config: Config) -> VisionTransformer:
    _must(config, hidden_act="gelu", qkv_bias=True)
    return VisionTransformer(
        VisionConfig(
            layer=LayerConfig(
                config["hidden_size"],
                config["num_attention_heads"],
                config["intermediate_size"],
                config["hidden_dropout_prob"],
                norm_eps=config["layer_norm_eps"],
                activation="gelu",
            ),
            image_size=config["image_size"],
            patch_size=config["patch_size"],
            channels=config["num_channels"],
            n_classes=len(config.get("id2label") or (0, 1)),
            n_layers=config["num_hidden_layers"],
        )
    )


def _write_vit(ours: VisionConfig) -> dict[str, Any]:
    return {
        "architectures": ["ViTForImageClassification"],
        "hidden_act": "gelu",
        "hidden_size": ours.d_model,
        "num_attention_heads": ours.layer.n_heads,
        "intermediate_size": ours.layer.d_ff,
        "hidden_dropout_prob": ours.dropout,
        "attention_probs_dropout_prob": 0.0,
        "layer_norm_eps": ours.layer.norm_eps,
        "image_size": ours.image_size,
        "patch_size": ours.patch_size,
        "num_channels": ours.channels,
        "num_hidden_layers": ours.n_layers,
        "id2label": {str(i): f"LABEL_{i}" for i in range(ours.n_classes)},
    }


PATCHES = "vit.embeddings.patch_embeddings.projection.weight"
VIT_POSITIONS = "vit.embeddings.position_embeddings"


def _vit_to_ours(weights: Weights) -> None:
    """A convolution whose stride is its width is a linear map of each patch."""
    weights[PATCHES] = weights[PATCHES].flatten(1)
    weights[VIT_POSITIONS] = weights[VIT_POSITIONS][0]


def _vit_to_theirs(weights: Weights, ours: VisionConfig) -> None:
    width = ours.patch_size
    weights[PATCHES] = weights[PATCHES].view(-1, ours.channels, width, width)
    weights[VIT_POSITIONS] = weights[VIT_POSITIONS][None]


def _nothing(weights: Weights, ours: object = None) -> None:
    """Same shapes on both sides."""


KINDS = {
    "bert": Kind(
        body="bert.",
        layer="encoder.layer.{}",
        inside={
            "self_attention.w_query": "attention.self.query",
            "self_attention.w_key": "attention.self.key",
            "self_attention.w_value": "attention.self.value",
            "self_attention.w_output": "attention.output.dense",
            "residuals.0.norm": "attention.output.LayerNorm",
            "feed_forward.inner": "intermediate.dense",
            "feed_forward.outer": "output.dense",
            "residuals.1.norm": "output.LayerNorm",
        },
        outside={
            "embedding": "bert.embeddings.word_embeddings",
            "positions.table": BERT_POSITIONS,
            "embedding_norm": "bert.embeddings.LayerNorm",
            "head": "cls.predictions.transform.dense",
            "head_norm": "cls.predictions.transform.LayerNorm",
            "output_bias": "cls.predictions.bias",
        },
        left_out=r"bert\.pooler\..+|cls\.seq_relationship\..+|cls\.predictions\.decoder\..+|.+\.position_ids",
        read=_read_bert,
        write=_write_bert,
        to_ours=_bert_to_ours,
        to_theirs=_bert_to_theirs,
    ),
    "gpt2": Kind(
        body="transformer.",
        layer="h.{}",
        inside={
            "self_attention.w_query": "attn.query",
            "self_attention.w_key": "attn.key",
            "self_attention.w_value": "attn.value",
            "self_attention.w_output": "attn.c_proj",
            "residuals.0.norm": "ln_1",
            "feed_forward.inner": "mlp.c_fc",
            "feed_forward.outer": "mlp.c_proj",
            "residuals.1.norm": "ln_2",
        },
        outside={
            "embedding": "transformer.wte",
            "positions.table": "transformer.wpe.weight",
            "stack.norm": "transformer.ln_f",
            "output": "lm_head",
        },
        left_out=r"lm_head\.weight|.+\.attn\.(masked_)?bias",
        read=_read_gpt2,
        write=_write_gpt2,
        to_ours=_gpt2_to_ours,
        to_theirs=_gpt2_to_theirs,
    ),
    "llama": Kind(
        body="model.",
        layer="layers.{}",
        inside={
            "self_attention.w_query": "self_attn.q_proj",
            "self_attention.w_key": "self_attn.k_proj",
            "self_attention.w_value": "self_attn.v_proj",
            "self_attention.w_output": "self_attn.o_proj",
            "residuals.0.norm": "input_layernorm",
            "feed_forward.gate": "mlp.gate_proj",
            "feed_forward.inner": "mlp.up_proj",
            "feed_forward.outer": "mlp.down_proj",
            "residuals.1.norm": "post_attention_layernorm",
        },
        outside={
            "embedding": "model.embed_tokens",
            "stack.norm": "model.norm",
            "output": "lm_head",
        },
        left_out=r"lm_head\.weight|.+\.rotary_emb\.inv_freq",
        read=_read_llama,
        write=_write_llama,
        to_ours=_nothing,
        to_theirs=_nothing,
    ),
    "vit": Kind(
        body="vit.",
        layer="encoder.layer.{}",
        inside={
            "self_attention.w_query": "attention.attention.query",
            "self_attention.w_key": "attention.attention.key",
            "self_attention.w_value": "attention.attention.value",
            "self_attention.w_output": "attention.output.dense",
            "residuals.0.norm": "layernorm_before",
            "feed_forward.inner": "intermediate.dense",
            "feed_forward.outer": "output.dense",
            "residuals.1.norm": "layernorm_after",
        },
        outside={
            "patch_embedding": "vit.embeddings.patch_embeddings.projection",
            "first": "vit.embeddings.cls_token",
            "positions.table": VIT_POSITIONS,
            "stack.norm": "vit.layernorm",
            "output": "classifier",
        },
        left_out=r"vit\.pooler\..+|vit\.embeddings\.mask_token",
        read=_read_vit,
        write=_write_vit,
        to_ours=_vit_to_ours,
        to_theirs=_vit_to_theirs,
    ),
}
