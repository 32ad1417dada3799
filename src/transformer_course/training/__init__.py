"""Training (chapter 07): batches in, better weights out.

The trainer knows neither text nor any particular loss: it takes batches (ready-made: pairs of id lists), a loss
function, a function that evaluates the model, and an optimiser. Its parts: the learning rates
(`training.schedules`), all choices (`training.config`), what it asks of data and model (`training.batches`),
data on the disk (`training.shards`), the loop (`training.trainer`), the gradient of a batch, also in parts
(`training.gradients`) and on several processes (`training.processes`), which may have a part of the model
each (`training.sharding`), what a checkpoint holds (`training.resuming`), what is told on the way
(`training.telling`), and which weights are taken in the end (`training.final`).
"""

from transformer_course.training.batches import (
    Batches,
    Evaluate,
    LossFn,
    PairBatches,
    Sizes,
    Trainable,
)
from transformer_course.training.config import TrainingConfig
from transformer_course.training.diverging import DivergedError
from transformer_course.training.final import average_checkpoints
from transformer_course.training.optimizers import MuonWithAdam
from transformer_course.training.processes import (
    LostProcessError,
    Processes,
    ToldElsewhereError,
    joined,
)
from transformer_course.training.progress import Progress
from transformer_course.training.schedules import cosine_rate, inverse_sqrt_rate
from transformer_course.training.sharding import loss_of, shard
from transformer_course.training.shards import ShardBatches
from transformer_course.training.trainer import Outcome, Trainer
from transformer_course.training.validation import validation_loss

__all__ = [
    "Batches",
    "DivergedError",
    "Evaluate",
    "LossFn",
    "LostProcessError",
    "MuonWithAdam",
    "Outcome",
    "PairBatches",
    "Processes",
    "Progress",
    "ShardBatches",
    "Sizes",
    "ToldElsewhereError",
    "Trainable",
    "Trainer",
    "TrainingConfig",
    "average_checkpoints",
    "cosine_rate",
    "inverse_sqrt_rate",
    "joined",
    "loss_of",
    "shard",
    "validation_loss",
]
