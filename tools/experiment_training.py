"""The training that experiments with small models have in common."""

from pathlib import Path
from typing import Any, TypeVar

import torch

from transformer_course.checkpoints import list_checkpoints
from transformer_course.corpus import grammar
from transformer_course.corpus.batches import Example
from transformer_course.corpus.pairs import Pair
from transformer_course.corpus.vocabulary import Vocabulary
from transformer_course.encoder_decoder import Transformer
from transformer_course.families import Rows
from transformer_course.loss import teacher_forcing_loss
from transformer_course.recipe import encode_pairs
from transformer_course.seq2seq import Seq2Seq
from transformer_course.training import LossFn, Trainer, TrainingConfig, validation_loss
from transformer_course.training.batches import Trainable

Model = TypeVar("Model", bound=Trainable)
Pairs = dict[str, list[Pair]]
Examples = dict[str, list[Example]]

# A small layer with every change of since_2017 but grouped keys.
TODAYS_LAYER: dict[str, Any] = {
    "d_model": 64,
    "n_heads": 4,
    "d_ff": 172,
    "dropout": 0.0,
    "bias": False,
    "norm_kind": "rms",
    "activation": "swiglu",
    "rotary_base": 10000.0,
    "qk_norm": True,
}


def prepared(config: dict[str, Any], seed: int = 0) -> tuple[Pairs, Vocabulary, Examples]:
    """Sentences of one phenomenon by split, the vocabulary of those to train on, and all of them as ids.

    Args:
        config: has the phenomenon, n_train, n_valid, n_test and vocab_size.
        seed: decides which sentences.
    """
    pairs = {
        split: list(grammar.sentences_with(config["phenomenon"], split, config[f"n_{split}"], seed))
        for split in ("train", "valid", "test")
    }
    lines = (text for pair in pairs["train"] for text in (pair.source, pair.target))
    vocabulary = Vocabulary.train(lines, config["vocab_size"])
    return pairs, vocabulary, {split: encode_pairs(vocabulary, pairs[split]) for split in pairs}


def trained(
    model: Transformer | Seq2Seq,
    train: list[Example],
    valid: list[Example],
    training: dict[str, Any],
    folder: Path,
    loss: LossFn = teacher_forcing_loss,
) -> Trainer:
    """Train a model, or go on where an earlier run was interrupted.

    Args:
        model: a Transformer, or a model that trainer, loss and search can't tell from one.
        train: what it learns from.
        valid: held-out examples, for the loss without smoothing that the history keeps.
        training: values of `TrainingConfig`, the seed among them.
        folder: for the checkpoints.
        loss: what is made small.
    """
    trainer = Trainer(
        model,
        train,
        loss,
        lambda model: {"loss": validation_loss(model, valid, teacher_forcing_loss)},
        TrainingConfig(**training),
        folder,
    )
    if list_checkpoints(folder):
        trainer.resume()
    _to_the_end(trainer)
    trainer.model.eval()
    return trainer


def _to_the_end(trainer: Trainer) -> None:
    """Train; a training that was interrupted must not be measured, or a record would hold half of it."""
    if trainer.train() == "interrupted":
        raise KeyboardInterrupt


def trained_on(
    model: Model,
    train: Rows,
    valid: Rows,
    training: dict[str, Any],
    folder: Path,
    loss: LossFn,
) -> tuple[Model, Trainer]:
    """Train one of the families, or go on where an earlier run was interrupted.

    Args:
        model: the model, trained in place.
        train: what it learns from.
        valid: held-out rows, for the losses of the history; those of their batches are averaged.
        training: values of `TrainingConfig`, the seed among them.
        folder: for the checkpoints.
        loss: what is made small.
    """

    def evaluate(model: Any) -> dict[str, float]:
        torch.manual_seed(0)  # what is hidden from a masked model is the same every time
        batches = valid.epoch()
        device = next(model.parameters()).device
        losses = [
            loss(model, *(t.to(device) for t in valid.tensors(batch))).item() for batch in batches
        ]
        return {"loss": sum(losses) / len(losses)}

    trainer = Trainer(model, train, loss, evaluate, TrainingConfig(**training), folder)
    if list_checkpoints(folder):
        trainer.resume()
    _to_the_end(trainer)
    model.eval()
    return model, trainer
