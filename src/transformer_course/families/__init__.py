"""Three families from the same layers (chapter 11): encoder only, decoder only, and images as sequences.

`config` has the sizes, `models` the models, `prompts` what a search in a decoder alone keeps, `objectives` what
they are trained to do, `saving` their files, `pretrained` and `kinds` the way to and from the
library transformers.
"""

from transformer_course.families.config import DecoderConfig, EncoderConfig, VisionConfig
from transformer_course.families.models import (
    Classifier,
    DecoderOnly,
    EncoderOnly,
    Stack,
    VisionTransformer,
    pool,
)
from transformer_course.families.objectives import (
    IGNORED,
    Rows,
    classification_loss,
    language_model_loss,
    mask_tokens,
    masked_loss,
    prefix_mask,
    token_losses,
)
from transformer_course.families.pretrained import from_pretrained, to_pretrained
from transformer_course.families.prompts import PromptState
from transformer_course.families.saving import Words, load_model, save_model

__all__ = [
    "IGNORED",
    "Classifier",
    "DecoderConfig",
    "DecoderOnly",
    "EncoderConfig",
    "EncoderOnly",
    "PromptState",
    "Rows",
    "Stack",
    "VisionConfig",
    "VisionTransformer",
    "Words",
    "classification_loss",
    "from_pretrained",
    "language_model_loss",
    "load_model",
    "mask_tokens",
    "masked_loss",
    "pool",
    "prefix_mask",
    "save_model",
    "to_pretrained",
    "token_losses",
]
