"""The recipe of a translator (chapter 07): all settings of its training, and those for the corpora by name."""

import math
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from transformer_course.checkpoints import CheckpointError, read_sealed, write_sealed
from transformer_course.corpus.vocabulary import LARGEST
from transformer_course.encoder_decoder import TransformerConfig
from transformer_course.training import TrainingConfig
from transformer_course.training.resuming import upgraded_training

PRESETS = ("tiny", "narrow", "small", "base")
MODELS = ("transformer", "nat", "mask-predict")
OPTIMIZERS = ("adam", "muon")
_MOST = 10**12  # no computer has memory for it, and torch counts no further than 2**63
SIZES = ("n_layers", "n_decoder_layers", "d_model", "n_heads", "d_ff")


@dataclass(frozen=True)
class Recipe:
    """All that decides how a translator is trained, apart from its data.

    Args:
        preset: size of the model: "tiny", "narrow", "small" or "base" (`TransformerConfig`).
        vocab_size: subwords of both languages together, 259 to a million; fewer if the text has no more.
        dropout: share of numbers set to zero in training, at least 0 and below 1.
        label_smoothing: ε of the training loss, at least 0 and below 1 (Vaswani et al. 2017, §5.4).
        training: steps, batches, learning rate, seed.
        n_layers: layers of the encoder, at most 1,000, and of the decoder if `n_decoder_layers` is None; the
            preset's if None.
        d_model: width of the vectors between layers, even; the preset's if None.
        n_heads: attention heads, must divide d_model; the preset's if None.
        d_ff: width inside the feed-forward net; the preset's if None.
        model: "transformer", or one that writes all words at once (chapter 13): "nat", `FertilityTransformer`,
            or "mask-predict", `MaskPredict`.
        n_decoder_layers: layers of the decoder, if not as many as of the encoder (Kasai et al. 2021 take one).
        r_drop: α of R-Drop, 0 or more (Liang et al. 2021; `loss.r_drop_loss`), for the model "transformer" with
            dropout. Above 0 an update takes twice the time and memory.
        optimizer: "adam", or "muon" for the matrices inside the layers and Adam for the rest
            (`training.MuonWithAdam`).

    Raises:
        ValueError: naming the field, its value and the rule it breaks.
    """

    preset: str = "tiny"
    vocab_size: int = 4000
    dropout: float = 0.1
    label_smoothing: float = 0.1
    training: TrainingConfig = field(default_factory=TrainingConfig)
    n_layers: int | None = None
    d_model: int | None = None
    n_heads: int | None = None
    d_ff: int | None = None
    model: str = "transformer"
    n_decoder_layers: int | None = None
    r_drop: float = 0.0
    optimizer: str = "adam"

    def __post_init__(self) -> None:
        if self.preset not in PRESETS:
            raise ValueError(f"preset ({self.preset!r}) must be one of {', '.join(PRESETS)}")
        if self.model not in MODELS:
            raise ValueError(f"model ({self.model!r}) must be one of {', '.join(MODELS)}")
        if self.optimizer not in OPTIMIZERS:
            raise ValueError(
                f"optimizer ({self.optimizer!r}) must be one of {', '.join(OPTIMIZERS)}"
            )
        if self.vocab_size < 259:
            raise ValueError(
                f"vocab_size ({self.vocab_size}) must be at least 259: 3 special tokens and 256 bytes"
            )
        if self.vocab_size > LARGEST:
            raise ValueError(f"vocab_size ({self.vocab_size}) must be at most {LARGEST:,}")
        for name in ("dropout", "label_smoothing"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name} ({getattr(self, name)}) must be at least 0 and below 1")
        if not 0 <= self.r_drop < math.inf:
            raise ValueError(f"r_drop ({self.r_drop}) must be a finite number, 0 or more")
        if self.r_drop and self.model != "transformer":
            raise ValueError(
                f"r_drop ({self.r_drop}) is for the model 'transformer', not {self.model!r}"
            )
        if self.r_drop and not self.dropout:
            raise ValueError(
                f"r_drop ({self.r_drop}) needs dropout above 0: without it both passes are the same"
            )
        self._check_sizes()

    def _check_sizes(self) -> None:
        for name in SIZES:
            value = getattr(self, name)
            most = 1000 if "layers" in name else _MOST
            if value is not None and (type(value) is not int or not 1 <= value <= most):
                raise ValueError(f"{name} ({value!r}) must be a whole number, 1 to {most:,}")
        d_model = self.config(self.vocab_size).d_model  # the config refuses what doesn't fit
        if d_model % 2:
            raise ValueError(f"d_model ({d_model}) must be even and 2 or more")

    def config(self, vocab_size: int) -> TransformerConfig:
        """The model's config for a vocabulary of this size.

        Args:
            vocab_size: entries of the vocabulary, special tokens included.

        Returns:
            The preset, with this recipe's dropout and sizes.

        Raises:
            ValueError: if `vocab_size` is no whole number, or below 1.
        """
        preset: TransformerConfig = getattr(TransformerConfig, self.preset)(vocab_size)
        return replace(
            preset,
            dropout=self.dropout,
            n_encoder_layers=self.n_layers or preset.n_encoder_layers,
            n_decoder_layers=self.n_decoder_layers or self.n_layers or preset.n_decoder_layers,
            d_model=self.d_model or preset.d_model,
            n_heads=self.n_heads or preset.n_heads,
            d_ff=self.d_ff or preset.d_ff,
        )

    def with_training(self, **settings: Any) -> "Recipe":
        """The same recipe with other settings of its training.

        Args:
            **settings: fields of `TrainingConfig` by name.

        Returns:
            The recipe.

        Raises:
            ValueError: if a value breaks a rule of `TrainingConfig`.
        """
        return replace(self, training=replace(self.training, **settings))

    def record(self) -> dict[str, Any]:
        """The recipe as JSON says it.

        Returns:
            Its fields by name, those of the training inside; without those that came later, where they are at
            their default: then it is written as before.
        """
        later = (*SIZES, "model", "r_drop", "optimizer")
        usual = {f.name: f.default for f in fields(self) if f.name in later}
        return {
            name: value
            for name, value in asdict(self).items()
            if name not in usual or value != usual[name]
        }

    def save(self, folder: str | Path) -> None:
        """Write `recipe.json` into `folder`.

        Args:
            folder: the run's; made if need be.

        Raises:
            CheckpointError: if the file can't be written.
        """
        write_sealed(Path(folder) / "recipe.json", self.record())

    @classmethod
    def load(cls, folder: str | Path) -> "Recipe":
        """Read the recipe of a run.

        Args:
            folder: the run's, with a `recipe.json`.

        Returns:
            The recipe; what an older version didn't write has its default.

        Raises:
            CheckpointError: if it is missing, damaged, or was changed since it was written.
        """
        path = Path(folder) / "recipe.json"
        record = read_sealed(path)
        try:
            training = TrainingConfig(**upgraded_training(record["training"]))
            return cls(**record | {"training": training})
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise CheckpointError(f"{path} is damaged: {error}") from error

    def settings(self) -> dict[str, Any]:
        """Every setting by its name, those of the training among them; sizes as the model has them."""
        model = self.config(self.vocab_size)
        sizes = {"n_layers": model.n_encoder_layers, "n_decoder_layers": model.n_decoder_layers}
        sizes |= {name: getattr(model, name) for name in ("d_model", "n_heads", "d_ff")}
        own = {k: v for k, v in asdict(self).items() if k != "training"}
        return own | sizes | asdict(self.training)


# The grammar never runs out of sentences, so nothing is learnt by heart: no dropout, no smoothing.
# Sized for eight minutes of two cores, or nine of one, in bf16. After 5,400 updates, one pronoun of twelve is
# still wrong where only the meaning decides. In as much time as these, 3,600 updates with batches of 2,048
# positions left more sentences wrong (7 % instead of 6); 3,000 subwords, which cut words up, left 16 %.
GRAMMAR_RECIPE = Recipe(
    vocab_size=4000,
    dropout=0.0,
    label_smoothing=0.0,
    training=TrainingConfig(
        max_steps=7000, max_tokens=1280, peak_rate=2e-3, warmup_steps=200, validate_every=700
    ),
)

# The same with more words, so that everyday ones stay whole, and more updates for more kinds of sentences.
EVERYDAY_RECIPE = replace(
    GRAMMAR_RECIPE,
    vocab_size=5000,
    training=replace(GRAMMAR_RECIPE.training, max_steps=8000, validate_every=800),
)

# 29,000 sentences, read sixty times: dropout and smoothing keep the model from learning them by heart.
MULTI30K_RECIPE = Recipe(
    preset="narrow",
    vocab_size=10_000,
    dropout=0.3,
    label_smoothing=0.1,
    training=TrainingConfig(
        max_steps=14_000,
        max_tokens=4096,
        peak_rate=5e-3,
        warmup_steps=1000,
        validate_every=500,
        average=10,
    ),
)

# About one point of BLEU above the recipe above, by a wider model with R-Drop and Muon that reads each of the
# 29,000 sentences 26 times, twice each time. It takes two cores one or two hours in bf16, by their kind.
SMALL_CORPUS_RECIPE = replace(
    MULTI30K_RECIPE,
    d_model=256,
    d_ff=512,
    r_drop=5.0,
    optimizer="muon",
    training=replace(MULTI30K_RECIPE.training, max_steps=6000, warmup_steps=500),
)
RECIPES = {
    "grammar": GRAMMAR_RECIPE,
    "everyday": EVERYDAY_RECIPE,
    "multi30k": MULTI30K_RECIPE,
}
NAMED_RECIPES = RECIPES | {"small-corpus": SMALL_CORPUS_RECIPE}
