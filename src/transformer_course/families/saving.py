"""Files of the families (chapter 11): one file of weights and sizes, and the vocabulary beside it."""

import dataclasses
from pathlib import Path
from typing import Any, Protocol

from transformer_course.checkpoints import (
    FORMAT,
    CheckpointError,
    check_format,
    load_tensors,
    load_weights,
    loadable_weights,
    replacing,
    save_tensors,
)
from transformer_course.encoder_decoder import LayerConfig
from transformer_course.families.config import DecoderConfig, EncoderConfig, VisionConfig
from transformer_course.families.models import (
    Classifier,
    DecoderOnly,
    EncoderOnly,
    VisionTransformer,
)

Model = EncoderOnly | DecoderOnly | VisionTransformer | Classifier
FAMILIES = {
    "EncoderOnly": (EncoderOnly, EncoderConfig),
    "DecoderOnly": (DecoderOnly, DecoderConfig),
    "VisionTransformer": (VisionTransformer, VisionConfig),
}
KNOWN = [*FAMILIES, "Classifier"]


class Words(Protocol):
    """What is asked of a vocabulary, such as `Vocabulary`: the models themselves know ids only."""

    @property
    def digest(self) -> str:
        """A fingerprint of all that decides how a text is cut."""
        ...

    def __len__(self) -> int:
        """Number of token ids."""
        ...

    def save(self, path: Path) -> None:
        """Write it into a file.

        Args:
            path: the file; its folder exists.
        """
        ...


def save_model(model: Model, folder: str | Path, vocabulary: Words | None = None) -> None:
    """Write a model's weights and sizes, and its vocabulary, as translators are written.

    Args:
        model: one of the three families, or a `Classifier` on one of them.
        folder: where `model.safetensors` and `vocabulary.json` go; made if there is none.
        vocabulary: what makes the model's ids of a text; left out for images, or ids of your own.

    Raises:
        CheckpointError: if a file can't be written, or the model is of no family, or of another type than
            `load_model` makes: torch.float32, unless torch has another default.
        ValueError: if the vocabulary has more entries than the model has token ids.
    """
    values, weights = _described(model) | {"format": FORMAT}, loadable_weights(model)
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CheckpointError(f"{path} can't be made: {error.strerror}") from error
    if vocabulary is not None:
        ids = getattr(model.config, "vocab_size", 0)
        if len(vocabulary) > ids:  # fewer are fine: [MASK] may stand behind them
            raise ValueError(f"vocabulary has {len(vocabulary)} entries, the model {ids} token ids")
        values |= {"vocabulary": vocabulary.digest}
        with replacing(path / "vocabulary.json") as temporary:
            vocabulary.save(temporary)
    save_tensors(path / "model.safetensors", weights, values)


def load_model(folder: str | Path, vocabulary: Words | None = None) -> Model:
    """Read what `save_model` wrote.

    Args:
        folder: where `model.safetensors` is.
        vocabulary: the one that makes the model's ids; if given, it must be the one that was saved with it.

    Returns:
        The model, in evaluation mode, on the processor.

    Raises:
        CheckpointError: if the file is missing or damaged, holds a model of another kind, or belongs to another
            vocabulary, or was saved without one and one is given.
    """
    path = Path(folder) / "model.safetensors"
    tensors, values = load_tensors(path)
    if values.get("family") not in KNOWN:
        raise CheckpointError(f"{path} holds no model of {KNOWN}")
    check_format(path, values.get("format", 1))
    if vocabulary is not None and "vocabulary" not in values:
        raise CheckpointError(f"{path} was saved without a vocabulary, so none can be checked")
    if vocabulary is not None and vocabulary.digest != values.get("vocabulary"):
        raise CheckpointError(f"{path} belongs to another vocabulary than the one given")
    try:
        model = _made(values)
        load_weights(model, tensors)
    except (TypeError, KeyError, ValueError) as error:
        raise CheckpointError(f"{path} is damaged or of another version ({error})") from error
    model.eval()
    return model


def _described(model: Model) -> dict[str, Any]:
    """What `_made` needs to make such a model."""
    name = type(model).__name__
    if isinstance(model, Classifier):
        of_top = {"n_classes": model.output.out_features, "pooling": model.pooling}
        return {"family": name, "body": _described(model.body), **of_top}
    if name not in FAMILIES:
        raise CheckpointError(f"{name} can't be saved: `load_model` knows {KNOWN}")
    return {"family": name, "config": dataclasses.asdict(model.config)}


def _made(values: dict[str, Any]) -> Model:
    """A model with fresh weights, of the family and the sizes in a file."""
    if values["family"] == "Classifier":
        body = _made(values["body"])
        if not isinstance(body, EncoderOnly | DecoderOnly):
            raise ValueError(f"a Classifier has no body of {type(body).__name__}")
        return Classifier(body, values["n_classes"], values["pooling"])
    make, sizes = FAMILIES[values["family"]]
    config = values["config"] | {"layer": LayerConfig(**values["config"]["layer"])}
    return make(sizes(**config))
