"""A decoder alone: a language model beside counts of n-grams, a translator beside encoder and decoder."""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from experiment_training import trained, trained_on
from torch import Tensor

from transformer_course.corpus import grammar
from transformer_course.corpus.batches import Example, collate
from transformer_course.corpus.grammar.orthography import PLAIN
from transformer_course.corpus.pairs import Pair
from transformer_course.corpus.scoring import exact_match
from transformer_course.corpus.vocabulary import Vocabulary
from transformer_course.decoding import greedy
from transformer_course.encoder_decoder import LayerConfig, Transformer, TransformerConfig
from transformer_course.families import (
    DecoderConfig,
    DecoderOnly,
    Rows,
    language_model_loss,
    prefix_mask,
    token_losses,
)
from transformer_course.masking import padding_mask
from transformer_course.recipe import encode_pairs

CONFIG: dict[str, Any] = {
    "n_train": 60_000,
    "n_valid": 300,
    "n_test": 500,
    "vocab_size": 1200,
    "orders": [1, 2, 3, 4, 5],
    "language model": {
        "layer": {"d_model": 128, "n_heads": 4, "d_ff": 512, "dropout": 0.1},
        "n_layers": 4,
        "batch_size": 64,
    },
    "encoder and decoder": {
        "d_model": 128,
        "n_heads": 4,
        "d_ff": 512,
        "n_encoder_layers": 2,
        "n_decoder_layers": 2,
        "dropout": 0.1,
    },
    # Five layers of this width have about as many weights as two and two of an encoder and a decoder.
    "decoder alone": {
        "layer": {"d_model": 128, "n_heads": 4, "d_ff": 456, "dropout": 0.1},
        "n_layers": 5,
    },
    "batch_size": 64,  # pairs in a batch, of every translator
    "training": {
        "max_steps": 2000,
        "peak_rate": 2e-3,
        "warmup_steps": 200,
        "validate_every": 500,
    },
}
PROBE: dict[str, Any] = {
    "n_train": 300,
    "n_valid": 10,
    "n_test": 4,
    "vocab_size": 300,
    "orders": [1, 3],
    "batch_size": 8,
    "language model": {"batch_size": 8, "n_layers": 2},
    "training": {"max_steps": 12, "warmup_steps": 4, "validate_every": 6},
}


def run(seed: int, config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Train the language model and three translators; measure all on held-out combinations of words."""
    pairs = {
        split: list(grammar.generate(split, config[f"n_{split}"], style=PLAIN))
        for split in ("train", "valid", "test")
    }
    lines = (text for pair in pairs["train"] for text in (pair.source, pair.target))
    vocabulary = Vocabulary.train(lines, config["vocab_size"])
    language, curve = language_models(seed, config, pairs, vocabulary, folder)
    translators, curves = all_translators(seed, config, pairs, vocabulary, folder)
    return {
        "curves": {"language model": curve, **curves},
        "scores": {"language model": language, "translation": translators},
    }


def language_models(
    seed: int,
    config: dict[str, Any],
    pairs: dict[str, list[Pair]],
    vocabulary: Vocabulary,
    folder: Path,
) -> tuple[dict[str, Any], list[float]]:
    """Perplexity and bits per character of English, by a decoder and by counts."""
    rows = {
        split: [[1, *ids, 2] for ids in vocabulary.encode([p.source for p in some])]
        for split, some in pairs.items()
    }
    choice = config["language model"]
    torch.manual_seed(seed)
    layer = LayerConfig(**choice["layer"], activation="gelu_tanh")
    model = DecoderOnly(DecoderConfig(len(vocabulary), layer, choice["n_layers"]))
    data = {split: Rows(rows[split], batch_size=choice["batch_size"]) for split in rows}
    model, trainer = trained_on(
        model,
        data["train"],
        data["valid"],
        config["training"] | {"seed": seed},
        folder / "language model",
        language_model_loss,
    )
    with torch.no_grad():
        total = sum(
            token_losses(model, *data["test"].tensors(batch)).sum().item()
            for batch in data["test"].epoch()
        )
    nats = {"decoder": total}
    for order in config["orders"]:
        counts = Counts(rows["train"], order, len(vocabulary))
        nats[f"{order}-grams"] = -sum(counts.log_prob(row) for row in rows["test"])
    tokens = sum(len(row) - 1 for row in rows["test"])
    letters = sum(len(pair.source) + 1 for pair in pairs["test"])  # one for the end
    return {
        "perplexity": {name: round(math.exp(n / tokens), 5) for name, n in nats.items()},
        "bits per character": {
            name: round(n / math.log(2) / letters, 5) for name, n in nats.items()
        },
    }, [round(record["loss"], 5) for record in trainer.history]


class Counts:
    """An n-gram model of ids, interpolated after Witten and Bell: new contexts fall back to shorter ones."""

    def __init__(self, rows: Sequence[Sequence[int]], order: int, vocab_size: int) -> None:
        self.order, self.vocab_size = order, vocab_size
        self.followed: dict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
        for row in rows:
            for i in range(1, len(row)):
                for n in range(min(order, i + 1)):
                    self.followed[tuple(row[i - n : i])][row[i]] += 1
        self.total = {context: sum(after.values()) for context, after in self.followed.items()}

    def log_prob(self, row: Sequence[int]) -> float:
        """Log-probability of all ids but the first, in nats."""
        total = 0.0
        for i in range(1, len(row)):
            p = 1 / self.vocab_size
            for n in range(min(self.order, i + 1)):
                context = tuple(row[i - n : i])
                if context in self.total:
                    after = self.followed[context]
                    kinds, seen = len(after), self.total[context]
                    p = (after[row[i]] + kinds * p) / (seen + kinds)
            total += math.log(p)
        return total


def all_translators(
    seed: int,
    config: dict[str, Any],
    pairs: dict[str, list[Pair]],
    vocabulary: Vocabulary,
    folder: Path,
) -> tuple[dict[str, Any], dict[str, list[float]]]:
    """Exact match, weights and learning curves of three translators of one size."""
    examples = {split: encode_pairs(vocabulary, some) for split, some in pairs.items()}
    scores: dict[str, Any] = {"exact match": {}, "held-out loss": {}, "weights": {}}
    curves: dict[str, list[float]] = {}
    rows = {split: joined(some, config["batch_size"]) for split, some in examples.items()}
    settings = config["training"] | {"seed": seed}
    for name in ("encoder and decoder", "decoder alone", "decoder alone, prompt seen whole"):
        torch.manual_seed(seed)
        model: Any
        if name == "encoder and decoder":
            model = Transformer(TransformerConfig(len(vocabulary), **config[name]))
            size = config["batch_size"]
            trainer = trained(
                model,
                InBatches(examples["train"], size),
                examples["valid"],
                settings,
                folder / name,
            )
        else:
            choice = config["decoder alone"]
            sizes = DecoderConfig(
                len(vocabulary), LayerConfig(**choice["layer"]), choice["n_layers"]
            )
            whole = name.endswith("whole")
            model = PrefixDecoder(sizes) if whole else DecoderOnly(sizes)
            loss = prefix_loss if whole else language_model_loss
            model, trainer = trained_on(
                model, rows["train"], rows["valid"], settings, folder / name, loss
            )
        written = written_by(model, examples["test"], vocabulary)
        scores["exact match"][name] = round(exact_match(pairs["test"], written), 5)
        scores["weights"][name] = sum(p.numel() for p in model.parameters())
        curves[name] = [round(record["loss"], 5) for record in trainer.history]
        scores["held-out loss"][name] = curves[name][-1]
    return scores, curves


class InBatches(Rows):
    """Pairs in the same batches as the joined rows, for a model with an encoder."""

    def __init__(self, examples: Sequence[Example], batch_size: int) -> None:
        super().__init__(joined(examples, batch_size).rows, batch_size=batch_size)
        self.examples = examples

    def tensors(self, batch: Sequence[int]) -> tuple[Tensor, ...]:
        """Source and target, each padded."""
        collated = collate(self.examples, batch)
        return collated.src, collated.tgt


def joined(examples: Sequence[Example], batch_size: int) -> Rows:
    """Source, </s>, <s>, target, </s> in one row; all up to <s> is only read."""
    rows = [[*source, 2, 1, *target, 2] for source, target in examples]
    lengths = [len(source) + 2 for source, _ in examples]
    return Rows(rows, prompt_lengths=lengths, batch_size=batch_size)


class PrefixDecoder(DecoderOnly):
    """A decoder whose prompt sees all of itself."""

    def states(
        self, ids: Tensor, mask: Tensor | None = None, caches: Any = None, positions: Any = None
    ) -> Tensor:
        """As in `DecoderOnly`; what a search reads first is the prompt."""
        if caches is not None and mask is None:
            mask = padding_mask(ids)
        return super().states(ids, mask, caches, positions)


def prefix_loss(model: DecoderOnly, ids: Tensor, prompt_lengths: Tensor) -> Tensor:
    """The loss of a language model that sees its prompt whole."""
    mask = prefix_mask(ids[:, :-1], prompt_lengths)
    return language_model_loss(model, ids, prompt_lengths, mask)


def written_by(model: Any, examples: Sequence[Example], vocabulary: Vocabulary) -> list[str]:
    """What greedy search writes: for an encoder after the source, for a decoder after the prompt."""
    texts = []
    for source, _ in examples:
        prompt = [*source, 2] if isinstance(model, Transformer) else [*source, 2, 1]
        ids = greedy(model, torch.tensor([prompt]), 40)[0]
        texts += vocabulary.decode([[i for i in ids if i != 2]])
    return texts
