"""To and from the library transformers (chapter 11): BERT, GPT-2, Llama and ViT under our names and back.

A folder that transformers (Wolf et al. 2020) wrote holds config.json and model.safetensors. Nothing of
transformers is imported here, and nothing is downloaded. What differs from kind to kind is in `kinds`.
"""

import json
import re
import warnings
from pathlib import Path

import safetensors
import safetensors.torch
import torch

from transformer_course.checkpoints import CheckpointError, read_json, write_atomically
from transformer_course.checkpoints.tensors import not_finite
from transformer_course.families.kinds import KINDS, Kind, Model, Weights
from transformer_course.families.models import DecoderOnly, EncoderOnly, VisionTransformer


def from_pretrained(folder: str | Path) -> Model:
    """Read a model that transformers wrote: BERT (Devlin et al. 2019), GPT-2, Llama or ViT.

    GPT-2 is by Radford et al. 2019, Llama by Touvron et al. 2023, ViT by Dosovitskiy et al. 2021. The vector of
    BERT's first segment joins the positions, as the tokens of a single sentence always have it; its second
    segment, its pooler and its next-sentence head have no place here. Where a file has no head for the words
    or classes, the model gets a fresh one, and a warning says so. A model without padding, or whose padding has
    the id of its beginning or end, has a `pad_id` of −1: it takes rows of equal length. Search in it with
    `bos_id` = −1, because its prompt starts by itself.

    Args:
        folder: holds config.json and model.safetensors, or the several files of a large model and their index.

    Returns:
        The model, in evaluation mode and in single precision; it gives the logits of theirs.

    Raises:
        CheckpointError: if a file is missing or damaged, a weight is missing, unknown, of another shape, not of
            floating-point numbers or not finite, or the config asks for something that ours doesn't do.
    """
    path = Path(folder)
    config = read_json(path / "config.json")
    weights = {name: w for part in _parts(path) for name, w in _read(part).items()}
    name = config.get("model_type")
    if not isinstance(name, str) or name not in KINDS:
        raise CheckpointError(
            f"{path / 'config.json'} has model_type {name!r}; it must be one of {[*KINDS]}"
        )
    kind = KINDS[name]
    try:
        if quantized := config.get("quantization_config"):
            raise ValueError(f"quantization_config must be left out, got {quantized!r}")
        model = kind.read(config)
    except KeyError as error:
        raise CheckpointError(f"{path / 'config.json'} lacks {error}") from error
    except (ArithmeticError, TypeError, ValueError) as error:
        raise CheckpointError(f"{path / 'config.json'} can't be used: {error}") from error
    try:
        _fill(model, kind, weights)
    except (KeyError, RuntimeError, ValueError) as error:
        raise CheckpointError(f"{path / 'model.safetensors'} doesn't fit: {error}") from error
    model.eval()
    return model


def to_pretrained(model: Model, folder: str | Path) -> None:
    """Write a model as transformers (Wolf et al. 2020) would: the way back from `from_pretrained`.

    Args:
        model: one of ours, with the choices of BERT, GPT-2, Llama or ViT.
        folder: where config.json and model.safetensors go; made if there is none.

    Raises:
        CheckpointError: if none of the four has the model's choices, a weight is not finite, or a file can't be
            written.
    """
    name = _name(model)
    kind, path = KINDS[name], Path(folder)
    weights = {
        _theirs(ours, kind): weight.detach().clone() for ours, weight in model.named_parameters()
    }
    kind.to_theirs(weights, model.config)
    if bad := not_finite(weights):
        raise CheckpointError(f"{path} is not written: {bad} holds NaN or an infinite number")
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CheckpointError(f"{path} can't be made: {error.strerror}") from error
    whole = {name: weight.contiguous() for name, weight in weights.items()}
    write_atomically(path / "model.safetensors", safetensors.torch.save(whole, {"format": "pt"}))
    text = json.dumps({"model_type": name} | kind.write(model.config), indent=2)
    write_atomically(path / "config.json", text.encode())


def _parts(folder: Path) -> list[Path]:
    """The files with the weights: one, or those that an index names."""
    whole, index = folder / "model.safetensors", folder / "model.safetensors.index.json"
    if whole.is_file() or not index.is_file():
        return [whole]
    found = read_json(index).get("weight_map", {})
    try:
        parts = [index.with_name(name) for name in sorted(set(found.values()))]
    except (AttributeError, TypeError, ValueError):
        parts = []
    if not parts:
        raise CheckpointError(
            f"{index} must have a weight_map: weights, and the file of each beside it"
        )
    return parts


def _read(path: Path) -> Weights:
    if not path.is_file():
        raise CheckpointError(f"{path} is missing")
    try:
        found = safetensors.torch.load_file(path)
    except (OSError, safetensors.SafetensorError) as error:
        raise CheckpointError(f"{path} can't be read ({error})") from error
    return {name: w.float() if w.is_floating_point() else w for name, w in found.items()}


def _theirs(ours: str, kind: Kind) -> str:
    """Their name of one of our parameters."""
    if found := re.fullmatch(r"stack\.layers\.(\d+)\.(.+)\.(\w+)", ours):
        number, module, name = found.groups()
        their_module = f"{kind.body}{kind.layer.format(number)}.{kind.inside[module]}"
    elif ours in kind.outside:
        return kind.outside[ours]
    else:
        module, _, name = ours.rpartition(".")
        their_module = kind.outside[module]
    return f"{their_module}.{'weight' if name == 'gain' else name}"


def _fill(model: Model, kind: Kind, given: Weights) -> None:
    """Put their weights into our model: each once, none too few and none too many."""
    if not any(name.startswith(kind.body) for name in given):  # saved as a body without a head
        given = {kind.body + name: weight for name, weight in given.items()}
    kind.to_ours(given)
    missing, head = [], False
    with torch.no_grad():
        for ours, parameter in model.named_parameters():
            theirs = _theirs(ours, kind)
            weight = given.pop(theirs, None)
            if weight is None and not theirs.startswith(kind.body):
                missing.append(ours)
            elif weight is None or weight.shape != parameter.shape:
                found = "nothing" if weight is None else tuple(weight.shape)
                raise ValueError(f"{theirs} must be of shape {tuple(parameter.shape)}, got {found}")
            elif not weight.is_floating_point():
                raise ValueError(f"{theirs} must be of floating-point numbers, got {weight.dtype}")
            elif not_finite({theirs: weight}):
                raise ValueError(f"{theirs} holds NaN or an infinite number")
            else:
                parameter.copy_(weight)
                head = head or not theirs.startswith(kind.body)
    if head and missing:
        raise ValueError(f"it has a part of the head only; missing: {', '.join(missing)}")
    unknown = [name for name in given if not re.fullmatch(kind.left_out, name)]
    if unknown:
        raise ValueError(f"{type(model).__name__} has no place for {', '.join(sorted(unknown))}")
    if missing:
        warnings.warn(
            f"the file has no head, so these are fresh: {', '.join(missing)}", stacklevel=3
        )


def _name(model: Model) -> str:
    """The kind of transformers that has this model's choices."""
    config, of_layer = model.config, model.config.layer
    layer = (of_layer.norm, of_layer.norm_kind, of_layer.activation, of_layer.bias)
    newer = (of_layer.n_key_heads, of_layer.rotary_base, of_layer.qk_norm, of_layer.relative)
    older = newer == (None, None, False, None) and config.positions == "learned"
    if isinstance(model, DecoderOnly):
        if layer == ("pre", "layer", "gelu_tanh", True) and older:
            return "gpt2"
        rotated = of_layer.rotary_base is not None and config.positions == "none"
        rotated = rotated and not of_layer.qk_norm and of_layer.relative is None
        if layer == ("pre", "rms", "swiglu", False) and rotated:
            return "llama"
    if isinstance(model, EncoderOnly) and layer == ("post", "layer", "gelu", True) and older:
        return "bert"
    if isinstance(model, VisionTransformer) and layer == ("pre", "layer", "gelu", True) and older:
        return "vit"
    raise CheckpointError(f"none of {[*KINDS]} has the choices of {config}")
