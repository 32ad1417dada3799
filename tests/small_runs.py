"""Small data and small runs that several test modules share: number words read backwards, into French."""

import itertools
import tempfile
from functools import cache
from pathlib import Path

import torch

from transformer_course.corpus.batches import Example
from transformer_course.corpus.pairs import Pair
from transformer_course.encoder_decoder import Transformer, TransformerConfig
from transformer_course.recipe import Recipe, split_pairs, train_translator
from transformer_course.training import TrainingConfig
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


def small_model(seed: int = 0, *, dropout: float = 0.0, tied: bool = True) -> Transformer:
    """A Transformer for `reversals`."""
    torch.manual_seed(seed)
    return Transformer(
        TransformerConfig(
            vocab_size=11,
            d_model=32,
            n_heads=2,
            n_encoder_layers=1,
            n_decoder_layers=1,
            d_ff=64,
            dropout=dropout,
            max_len=16,
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
    recipe = Recipe(
        vocab_size=300,
        dropout=0.0,
        label_smoothing=0.0,
        training=TrainingConfig(
            max_steps=200, max_tokens=600, peak_rate=3e-3, warmup_steps=20, validate_every=100
        ),
    )
    train_translator(train, valid, folder, recipe)
    return folder


@cache
def trained() -> Translator:
    """The translator of `trained_run`."""
    return Translator.load(trained_run())
