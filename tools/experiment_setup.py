"""What experiments on small translators share: how one is trained, and what it writes.

Experiments import it; their fingerprint then counts the code from here that they use.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from torch import nn

from transformer_course.checkpoints import list_checkpoints
from transformer_course.corpus.pairs import Pair
from transformer_course.corpus.vocabulary import Vocabulary
from transformer_course.encoder_decoder import Transformer, TransformerConfig
from transformer_course.loss import teacher_forcing_loss
from transformer_course.recipe import encode_pairs
from transformer_course.seq2seq import ConvolutionalSeq2Seq, RecurrentSeq2Seq, Seq2SeqConfig
from transformer_course.training import Trainer, TrainingConfig, validation_loss
from transformer_course.translator import Translator

TRANSLATOR = [  # the package's modules that decide what a trained translator writes
    "attention.py",
    "corpus/batches.py",
    "corpus/grammar",
    "corpus/scoring.py",
    "corpus/vocabulary.py",
    "decoding.py",
    "encoder_decoder.py",
    "loss.py",
    "masking.py",
    "multi_head.py",
    "positional_encoding.py",
    "recipe.py",
    "training.py",
    "translator.py",
]


def seq2seq_model(name: str, vocab_size: int, sizes: dict[str, Any]) -> nn.Module:
    """A fresh "Transformer", "convolution", or recurrent model of any other name, without dropout."""
    if name == "Transformer":
        return Transformer(TransformerConfig(vocab_size, dropout=0.0, **sizes)).use_fused()
    config = Seq2SeqConfig(vocab_size, dropout=0.0, **sizes)
    return (ConvolutionalSeq2Seq if name == "convolution" else RecurrentSeq2Seq)(config)


def joint_vocabulary(pairs: Sequence[Pair], size: int) -> Vocabulary:
    """Subwords of both languages together."""
    return Vocabulary.train((text for p in pairs for text in (p.source, p.target)), size)


def trained(
    model: nn.Module,
    vocabulary: Vocabulary,
    pairs: tuple[Sequence[Pair], Sequence[Pair]],
    training: dict[str, Any],
    folder: Path,
) -> Trainer:
    """Train a model on pairs (to train, to validate), or go on where an earlier run was interrupted."""
    examples, valid = (encode_pairs(vocabulary, some) for some in pairs)
    trainer = Trainer(
        cast("Transformer", model),  # to trainer, loss and search all models look alike
        examples,
        teacher_forcing_loss,
        lambda model: {"loss": validation_loss(model, valid, teacher_forcing_loss)},
        TrainingConfig(**training),
        folder,
    )
    if list_checkpoints(folder):
        trainer.resume()
    trainer.train()
    trainer.model.eval()
    return trainer


def greedy(translator: Translator, pairs: Sequence[Pair]) -> list[str]:
    """What the translator writes for each source, by greedy search."""
    return translator.translate([pair.source for pair in pairs], beam=1)
