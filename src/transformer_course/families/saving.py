"""Files of the families (chapter 11): one file of weights and sizes, and the vocabulary beside it."""

import dataclasses
from pathlib import Path

from transformer_course.checkpoints import (
    CheckpointError,
    load_tensors,
    load_weights,
    save_tensors,
    weights_of,
)
from transformer_course.encoder_decoder import LayerConfig
from transformer_course.families.config import DecoderConfig, EncoderConfig, VisionConfig
from transformer_course.families.models import DecoderOnly, EncoderOnly, VisionTransformer

Model = EncoderOnly | DecoderOnly | VisionTransformer
FAMILIES = {
    "EncoderOnly": (EncoderOnly, EncoderConfig),
    "DecoderOnly": (DecoderOnly, DecoderConfig),
    "VisionTransformer": (VisionTransformer, VisionConfig),
}


def save_model(model: Model, folder: str | Path) -> None:
    """Write a model's weights and sizes, as translators are written; a vocabulary has its own `save`.

    Args:
        model: one of the three families.
        folder: where `model.safetensors` goes; made if there is none.

    Raises:
        CheckpointError: if the file can't be written, or the model is of no family.
    """
    name = type(model).__name__
    if name not in FAMILIES:
        raise CheckpointError(f"{name} can't be saved: `load_model` knows {[*FAMILIES]}")
    values = {"family": name, "config": dataclasses.asdict(model.config)}
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CheckpointError(f"{path} can't be made: {error.strerror}") from error
    save_tensors(path / "model.safetensors", weights_of(model), values)


def load_model(folder: str | Path) -> Model:
    """Read what `save_model` wrote.

    Args:
        folder: where `model.safetensors` is.

    Returns:
        The model, in evaluation mode.

    Raises:
        CheckpointError: if the file is missing or damaged, or holds a model of another kind.
    """
    path = Path(folder) / "model.safetensors"
    tensors, values = load_tensors(path)
    if values.get("family") not in FAMILIES:
        raise CheckpointError(f"{path} holds no model of {[*FAMILIES]}")
    make, sizes = FAMILIES[values["family"]]
    try:
        config = values["config"] | {"layer": LayerConfig(**values["config"]["layer"])}
        model: Model = make(sizes(**config))
        load_weights(model, tensors)
    except (TypeError, KeyError, ValueError) as error:
        raise CheckpointError(f"{path} is damaged or of another version ({error})") from error
    model.eval()
    return model
