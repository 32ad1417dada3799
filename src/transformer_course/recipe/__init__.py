"""How a translator is trained from sentence pairs (chapter 07): the recipe, the split, the run.

A run is a recipe (`recipe.settings`), data (`recipe.data`) and a folder (`recipe.folder`); `recipe.train` makes
a translator of them.
"""

from transformer_course.recipe.data import encode_pairs, split_pairs
from transformer_course.recipe.folder import refuse_used
from transformer_course.recipe.settings import PRESETS, Recipe
from transformer_course.recipe.train import PairError, TrainingWarning, train_translator

__all__ = [
    "PRESETS",
    "PairError",
    "Recipe",
    "TrainingWarning",
    "encode_pairs",
    "refuse_used",
    "split_pairs",
    "train_translator",
]
