"""Non-autoregressive translation (chapter 13): alignments, fertilities, mask-predict, distillation."""

from transformer_course.non_autoregressive.distillation import Teacher, distil
from transformer_course.non_autoregressive.fertility import FertilityTransformer, copy_by_fertility
from transformer_course.non_autoregressive.ibm_models import (
    IbmModel,
    aligned_fertilities,
    fertilities,
)
from transformer_course.non_autoregressive.mask_predict import MASK_ID, MaskPredict, Pass
from transformer_course.non_autoregressive.measures import conditional_entropy, repeated_words
from transformer_course.non_autoregressive.noisy import NoisyParallel
from transformer_course.non_autoregressive.objectives import (
    FertilityBatches,
    bare_targets,
    draw_gaps,
    fertility_loss,
    mask_predict_loss,
)

__all__ = [
    "MASK_ID",
    "FertilityBatches",
    "FertilityTransformer",
    "IbmModel",
    "MaskPredict",
    "NoisyParallel",
    "Pass",
    "Teacher",
    "aligned_fertilities",
    "bare_targets",
    "conditional_entropy",
    "copy_by_fertility",
    "distil",
    "draw_gaps",
    "fertilities",
    "fertility_loss",
    "mask_predict_loss",
    "repeated_words",
]
