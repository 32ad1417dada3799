"""What a training run of the command line is made from (chapter 07), and where that is written down.

The names of `recipe.settings`, `recipe.data` and `recipe.folder` that a run in Python can do without.
"""

from transformer_course.recipe.data import Data, digest, read_files
from transformer_course.recipe.folder import load_held_out, load_run, save_run, was_begun_by
from transformer_course.recipe.settings import (
    GRAMMAR_RECIPE,
    MULTI30K_RECIPE,
    RECIPES,
    SMALL_CORPUS_RECIPE,
)

__all__ = [
    "GRAMMAR_RECIPE",
    "MULTI30K_RECIPE",
    "RECIPES",
    "SMALL_CORPUS_RECIPE",
    "Data",
    "digest",
    "load_held_out",
    "load_run",
    "read_files",
    "save_run",
    "was_begun_by",
]
