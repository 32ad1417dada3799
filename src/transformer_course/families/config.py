"""The sizes of each family (chapter 11): each holds the config of its layers, and what the family adds."""

import math
from dataclasses import dataclass
from typing import Literal

from transformer_course.encoder_decoder import LayerConfig
from transformer_course.validation import check_whole_numbers


class _OfLayers:
    """What a trainer and a search ask of every config, taken from that of the layers."""

    layer: LayerConfig
    positions: str

    @property
    def d_model(self) -> int:
        """Width of the vectors between layers."""
        return self.layer.d_model

    @property
    def dropout(self) -> float:
        """Share of numbers set to zero after each sub-layer and after the embedding."""
        return self.layer.dropout

    @property
    def embedding_scale(self) -> float:
        """What embeddings are multiplied by: √d_model beside sinusoids, which would drown them (chapter 05)."""
        return math.sqrt(self.d_model) if self.positions == "sinusoidal" else 1.0


def _check_sequence(config: "EncoderConfig | DecoderConfig") -> None:
    check_whole_numbers(config, least={"pad_id": None})
    if config.positions not in ("sinusoidal", "learned", "none"):
        raise ValueError(
            f"positions ({config.positions!r}) must be 'sinusoidal', 'learned' or 'none'"
        )
    if not -1 <= config.pad_id < config.vocab_size:
        raise ValueError(
            f"pad_id ({config.pad_id}) must be one of the {config.vocab_size} token ids, or -1"
        )


@dataclass(frozen=True)
class EncoderConfig(_OfLayers):
    """The sizes of an `EncoderOnly` model (BERT; Devlin et al. 2019).

    Args:
        vocab_size: number of token ids.
        layer: what each layer needs to know.
        n_layers: layers.
        max_len: the longest sequence, in tokens.
        positions: "learned", as in BERT, "sinusoidal" or "none" (chapter 05).
        pad_id: the id of padding; -1 where there is none, so that all rows are of one length.

    Raises:
        ValueError: naming the field, its value and the rule it breaks.

    >>> EncoderConfig.tiny(1000).layer.norm
    'post'
    """

    vocab_size: int
    layer: LayerConfig
    n_layers: int = 4
    max_len: int = 128
    positions: Literal["sinusoidal", "learned", "none"] = "learned"
    pad_id: int = 0

    def __post_init__(self) -> None:
        _check_sequence(self)

    @classmethod
    def tiny(cls, vocab_size: int) -> "EncoderConfig":
        """Like BERT, in minutes on a laptop's processor: 4 layers, d_model 128, post-norm, GELU.

        Args:
            vocab_size: number of token ids.

        Returns:
            The config.

        Raises:
            ValueError: if `vocab_size` is no whole number, or below 1.
        """
        return cls(vocab_size, LayerConfig(norm="post", activation="gelu", norm_eps=1e-12))


@dataclass(frozen=True)
class DecoderConfig(_OfLayers):
    """The sizes of a `DecoderOnly` model (GPT-2; Radford et al. 2019).

    Args:
        vocab_size: number of token ids.
        layer: what each layer needs to know.
        n_layers: layers.
        max_len: the longest sequence, in tokens, prompt and continuation together.
        positions: "learned", as in GPT-2, "sinusoidal" or "none"; rotary positions belong to the layer.
        pad_id: the id of padding; -1 where there is none, so that all rows are of one length.
        tie_embeddings: one matrix for embedding and output.

    Raises:
        ValueError: naming the field, its value and the rule it breaks.

    >>> DecoderConfig.modern(1000).layer.norm_kind
    'rms'
    """

    vocab_size: int
    layer: LayerConfig
    n_layers: int = 4
    max_len: int = 128
    positions: Literal["sinusoidal", "learned", "none"] = "learned"
    pad_id: int = 0
    tie_embeddings: bool = True

    def __post_init__(self) -> None:
        _check_sequence(self)

    @classmethod
    def tiny(cls, vocab_size: int) -> "DecoderConfig":
        """Like GPT-2, in minutes on a laptop's processor: 4 layers, d_model 128, pre-norm, GELU.

        Args:
            vocab_size: number of token ids.

        Returns:
            The config.

        Raises:
            ValueError: if `vocab_size` is no whole number, or below 1.
        """
        return cls(vocab_size, LayerConfig(activation="gelu_tanh"))

    @classmethod
    def modern(cls, vocab_size: int) -> "DecoderConfig":
        """What became usual since: RMS norm, SwiGLU, no biases, grouped keys, rotary positions, QK-norm.

        Within 3 % as large as `tiny`: the gated net has three matrices, so it is less wide; what grouped keys
        and the missing table of positions save goes into it.

        Args:
            vocab_size: number of token ids.

        Returns:
            The config.

        Raises:
            ValueError: if `vocab_size` is no whole number, or below 1.
        """
        layer = LayerConfig(
            d_ff=384,
            bias=False,
            n_key_heads=2,
            norm_kind="rms",
            activation="swiglu",
            rotary_base=10000.0,
            qk_norm=True,
        )
        return cls(vocab_size, layer, positions="none")


@dataclass(frozen=True)
class VisionConfig(_OfLayers):
    """The sizes of a `VisionTransformer` (Dosovitskiy et al. 2021).

    Args:
        layer: what each layer needs to know.
        image_size: height and width of an image, in pixels.
        patch_size: height and width of a patch; must divide `image_size`.
        channels: numbers a pixel: 1 for grey, 3 for colours.
        n_classes: kinds of images.
        n_layers: layers.
        positions: "learned" or "none".

    Raises:
        ValueError: naming the field, its value and the rule it breaks.

    >>> VisionConfig.digits().n_patches
    16
    """

    layer: LayerConfig
    image_size: int
    patch_size: int
    channels: int
    n_classes: int
    n_layers: int = 4
    positions: Literal["learned", "none"] = "learned"

    def __post_init__(self) -> None:
        check_whole_numbers(self)
        if self.image_size % self.patch_size:
            raise ValueError(
                f"image_size ({self.image_size}) must be divisible by patch_size ({self.patch_size})"
            )
        if self.positions not in ("learned", "none"):
            raise ValueError(f"positions ({self.positions!r}) must be 'learned' or 'none'")

    @property
    def n_patches(self) -> int:
        """Patches of an image."""
        return (self.image_size // self.patch_size) ** 2

    @property
    def max_len(self) -> int:
        """The patches, and one token before them."""
        return self.n_patches + 1

    @classmethod
    def digits(cls) -> "VisionConfig":
        """For the 8 × 8 digits of scikit-learn: patches of 2 × 2, 2 layers, d_model 64.

        Returns:
            The config.
        """
        return cls(LayerConfig(d_model=64, d_ff=128, activation="gelu"), 8, 2, 1, 10, n_layers=2)
