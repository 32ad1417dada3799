"""What decides the size and the kind of a Transformer (chapter 06)."""

from dataclasses import dataclass, replace
from typing import Literal

from transformer_course.validation import check_whole_numbers


@dataclass(frozen=True)
class LayerConfig:
    """All that a layer needs to know; encoder, decoder and every family of models are built from it.

    Sections (§) are those of Vaswani et al. 2017.

    Args:
        d_model: width of the vectors between layers.
        n_heads: attention heads; must divide d_model.
        d_ff: width inside the feed-forward net.
        dropout: share of numbers set to zero after each sub-layer (§5.4); at least 0 and below 1.
        norm: "post", LayerNorm(x + Sublayer(x)) as in the paper (§3.1), or "pre", x + Sublayer(LayerNorm(x))
            (Xiong et al. 2020).
        bias: whether linear maps have biases.
        n_key_heads: heads of keys and values, each shared by a group of heads (Ainslie et al. 2023); as many as
            n_heads if None.
        norm_kind: "layer", layer norm, or "rms", `RMSNorm` (chapter 11).
        norm_eps: keeps the root of a norm away from 0; above 0.
        activation: what stands between the two maps of the feed-forward net: "relu"; "gelu", exact, or
            "gelu_tanh", its approximation (Hendrycks and Gimpel 2016); or "swiglu", which makes it a
            `GatedFeedForward` (chapter 11).
        rotary_base: turns queries and keys of self-attention by their positions, see `RotaryEncoding`; None =
            no rotation.
        qk_norm: whether each head's queries and keys pass through an `RMSNorm` of their own (Henry et al.
            2020).
        relative: adds to the scores of self-attention by distances: "alibi", "t5", "shaw" or "xl", see
            `relative_positions` (chapter 12); None = nothing. "t5" is for decoders: without a causal mask, it
            can't tell how far away a later token is.

    Raises:
        ValueError: naming the field, its value and the rule it breaks.
    """

    d_model: int = 128
    n_heads: int = 4
    d_ff: int = 512
    dropout: float = 0.1
    norm: Literal["pre", "post"] = "pre"
    bias: bool = True
    n_key_heads: int | None = None
    norm_kind: Literal["layer", "rms"] = "layer"
    norm_eps: float = 1e-5
    activation: Literal["relu", "gelu", "gelu_tanh", "swiglu"] = "relu"
    rotary_base: float | None = None
    qk_norm: bool = False
    relative: Literal["alibi", "t5", "shaw", "xl"] | None = None

    def __post_init__(self) -> None:
        check_whole_numbers(self)
        if self.d_model % self.n_heads:
            raise ValueError(
                f"d_model ({self.d_model}) must be divisible by n_heads ({self.n_heads})"
            )
        if self.n_key_heads is not None and (
            self.n_key_heads < 1 or self.n_heads % self.n_key_heads
        ):
            raise ValueError(
                f"n_heads ({self.n_heads}) must be divisible by n_key_heads ({self.n_key_heads})"
            )
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout ({self.dropout}) must be at least 0 and below 1")
        if self.norm not in ("pre", "post"):
            raise ValueError(f"norm ({self.norm!r}) must be 'pre' or 'post'")
        self._check_newer()

    def _check_newer(self) -> None:
        if self.norm_kind not in ("layer", "rms"):
            raise ValueError(f"norm_kind ({self.norm_kind!r}) must be 'layer' or 'rms'")
        if not 0 < self.norm_eps < 1:
            raise ValueError(f"norm_eps ({self.norm_eps}) must be above 0 and below 1")
        if self.activation not in ("relu", "gelu", "gelu_tanh", "swiglu"):
            raise ValueError(
                f"activation ({self.activation!r}) must be 'relu', 'gelu', 'gelu_tanh' or 'swiglu'"
            )
        if self.relative not in (None, "alibi", "t5", "shaw", "xl"):
            raise ValueError(
                f"relative ({self.relative!r}) must be 'alibi', 't5', 'shaw', 'xl' or None"
            )
        if self.rotary_base is None:
            return
        if not 1 < self.rotary_base < float("inf"):
            raise ValueError(f"rotary_base ({self.rotary_base}) must be above 1 and finite")
        if self.d_model // self.n_heads % 2:
            raise ValueError(
                f"rotary_base turns pairs of numbers, so d_model / n_heads ({self.d_model} / "
                f"{self.n_heads}) must be even"
            )


@dataclass(frozen=True)
class TransformerConfig:
    """Every size and choice of a Transformer. Start from a preset: `tiny`, `narrow`, `small` or `base`.

    Sections (§) are those of Vaswani et al. 2017.

    Args:
        vocab_size: number of token ids, shared by source and target (§5.1).
        d_model: width of the vectors between layers.
        n_heads: attention heads; must divide d_model.
        n_encoder_layers: layers of the encoder, N in the paper.
        n_decoder_layers: layers of the decoder.
        d_ff: width inside the feed-forward net.
        dropout: share of numbers set to zero after each sub-layer and after the embedding (§5.4); at least 0
            and below 1.
        max_len: the longest sequence, in tokens.
        norm: "post", LayerNorm(x + Sublayer(x)) as in the paper (§3.1), or "pre", x + Sublayer(LayerNorm(x))
            with one more norm on top of each stack (Xiong et al. 2020), which trains well with less warm-up.
        positions: "sinusoidal", "learned" or "none" (chapter 05).
        tie_embeddings: one matrix for source embedding, target embedding and output (§3.4; Press and Wolf
            2017).
        pad_id: the id of padding.
        bias: whether linear maps have biases.
        n_key_heads: heads of keys and values, each shared by a group of heads (Ainslie et al. 2023); as many as
            n_heads if None.

    Raises:
        ValueError: naming the field, its value and the rule it breaks.
    """

    vocab_size: int
    d_model: int = 128
    n_heads: int = 4
    n_encoder_layers: int = 2
    n_decoder_layers: int = 2
    d_ff: int = 512
    dropout: float = 0.1
    max_len: int = 512
    norm: Literal["pre", "post"] = "pre"
    positions: Literal["sinusoidal", "learned", "none"] = "sinusoidal"
    tie_embeddings: bool = True
    pad_id: int = 0
    bias: bool = True
    n_key_heads: int | None = None

    def __post_init__(self) -> None:
        check_whole_numbers(self, least={"pad_id": None})
        _ = self.layer  # it checks what concerns a layer
        if self.positions not in ("sinusoidal", "learned", "none"):
            raise ValueError(
                f"positions ({self.positions!r}) must be 'sinusoidal', 'learned' or 'none'"
            )
        if not 0 <= self.pad_id < self.vocab_size:
            raise ValueError(
                f"pad_id ({self.pad_id}) must be one of the {self.vocab_size} token ids"
            )

    @property
    def layer(self) -> LayerConfig:
        """What a layer of this model needs to know."""
        return LayerConfig(
            self.d_model,
            self.n_heads,
            self.d_ff,
            self.dropout,
            self.norm,
            self.bias,
            self.n_key_heads,
        )

    @classmethod
    def tiny(cls, vocab_size: int) -> "TransformerConfig":
        """Trains in minutes on a laptop's processor: 2+2 layers, d_model 128, pre-norm.

        Args:
            vocab_size: number of token ids.

        Returns:
            The config.

        Raises:
            ValueError: if `vocab_size` is no whole number, or below 1.
        """
        return cls(vocab_size)

    @classmethod
    def narrow(cls, vocab_size: int) -> "TransformerConfig":
        """For a small corpus: 4+4 layers, d_model 128, d_ff 256, pre-norm (the sizes of Wu et al. 2021).

        Args:
            vocab_size: number of token ids.

        Returns:
            The config.

        Raises:
            ValueError: if `vocab_size` is no whole number, or below 1.
        """
        return replace(cls(vocab_size), n_encoder_layers=4, n_decoder_layers=4, d_ff=256)

    @classmethod
    def small(cls, vocab_size: int) -> "TransformerConfig":
        """The size of the speed table: 3+3 layers, d_model 256, pre-norm.

        Args:
            vocab_size: number of token ids.

        Returns:
            The config.

        Raises:
            ValueError: if `vocab_size` is no whole number, or below 1.
        """
        return replace(
            cls(vocab_size), d_model=256, n_encoder_layers=3, n_decoder_layers=3, d_ff=1024
        )

    @classmethod
    def base(cls, vocab_size: int) -> "TransformerConfig":
        """The paper's base model (Vaswani et al. 2017, table 3): 6+6 layers, d_model 512, 8 heads, post-norm.

        Args:
            vocab_size: number of token ids.

        Returns:
            The config.

        Raises:
            ValueError: if `vocab_size` is no whole number, or below 1.
        """
        return cls(vocab_size, 512, 8, 6, 6, 2048, norm="post")
