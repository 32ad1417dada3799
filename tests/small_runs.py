"""Small data and small runs that several test modules share: number words read backwards, into French."""

import itertools
import tempfile
from functools import cache
from pathlib import Path

import torch

from transformer_course.corpus.batches import Example
from transformer_course.corpus.pairs import Pair
from transformer_course.corpus.vocabulary import Vocabulary
from transformer_course.encoder_decoder import Transformer, TransformerConfig
from transformer_course.loss import teacher_forcing_loss
from transformer_course.recipe import Recipe, encode_pairs, split_pairs
from transformer_course.training import Trainer, TrainingConfig, validation_loss
from transformer_course.translator import Translator

WORDS = {"one": "un", "two": "deux", "three": "trois", "four": "quatre", "five": "cinq"}


def number_pairs(longest: int = 3) -> list[Pair]:
    """All sequences of one to `longest` number words, and the French ones backwards."""
    return [
        Pair(" ".join(words), (" ".join(WORDS[word] for word in reversed(words)),))
        for length in range(1, longest + 1)
        for words in itertools.product(WORDS, repeat=length)
    ]


def reversals(longest: int = 4, symbols: int = 5) -> list[Example]:
    """Sequences of ids and the same backwards."""
    return [
        (list(ids), list(reversed(ids)))
        for length in range(1, longest + 1)
        for ids in itertools.product(range(3, 3 + symbols), repeat=length)
    ]


def small_model(
    seed: int = 0, *, vocab_size: int = 11, dropout: float = 0.0, tied: bool = True
) -> Transformer:
    """A Transformer for `reversals`."""
    torch.manual_seed(seed)
    return Transformer(
        TransformerConfig(
            vocab_size=vocab_size,
            d_model=32,
            n_heads=2,
            n_encoder_layers=1,
            n_decoder_layers=1,
            d_ff=64,
            dropout=dropout,
            max_len=64,
            tie_embeddings=tied,
        )
    )


def small_recipe(**settings: object) -> Recipe:
    """A recipe for a few updates on number words."""
    training = {"max_steps": 12, "max_tokens": 200, "warmup_steps": 4, "validate_every": 5}
    return Recipe(vocab_size=300, training=TrainingConfig(**{**training, **settings}))


@cache
def trained_run() -> Path:
    """The folder of a translator that has learned `number_pairs`, trained once for all tests."""
    folder = Path(tempfile.mkdtemp(prefix="transformer-course-")) / "numbers"
    train, valid, _ = split_pairs(number_pairs())
    lines = [text for pair in train for text in (pair.source, pair.target)]
    vocabulary = Vocabulary.train(lines, 300)
    examples, held_out = encode_pairs(vocabulary, train), encode_pairs(vocabulary, valid)
    model = small_model(vocab_size=len(vocabulary))
    config = TrainingConfig(
        max_steps=300, max_tokens=300, peak_rate=0.01, warmup_steps=30, validate_every=300
    )

    def validate(model: Transformer) -> dict[str, float]:
        return {"loss": validation_loss(model, held_out, teacher_forcing_loss)}

    Trainer(model, examples, teacher_forcing_loss, validate, config).train()
    Translator(model, vocabulary).save(folder)
    return folder


@cache
def trained() -> Translator:
    """The translator of `trained_run`."""
    return Translator.load(trained_run())
