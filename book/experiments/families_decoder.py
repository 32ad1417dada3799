"""Translation by a decoder alone, beside encoder and decoder: equal weights, pairs, batches and updates."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from experiment_training import trained, trained_on
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from transformer_course.corpus import grammar
from transformer_course.corpus.batches import Example, collate
from transformer_course.corpus.grammar.orthography import PLAIN
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
)
from transformer_course.fast import use_fast
from transformer_course.masking import padding_mask
from transformer_course.recipe import encode_pairs

CONFIG: dict[str, Any] = {
    "n_train": 60_000,
    "n_valid": 300,
    "n_test": 500,
    "vocab_size": 1200,
    "layer": {"d_model": 128, "n_heads": 4, "dropout": 0.0},  # of all three, as in 2017
    # Five layers have about as many weights as two and two of an encoder and a decoder.
    "encoder and decoder": {"d_ff": 512, "n_encoder_layers": 2, "n_decoder_layers": 2},
    "decoder alone": {"d_ff": 456, "n_layers": 5},
    "batch_size": 64,
    "training": {
        "max_steps": 1500,
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
    "batch_size": 8,
    "training": {"max_steps": 12, "warmup_steps": 4, "validate_every": 6},
}


def run(seed: int, config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Train three translators; measure them on held-out combinations of words."""
    pairs = {
        split: list(grammar.generate(split, config[f"n_{split}"], style=PLAIN))
        for split in ("train", "valid", "test")
    }
    lines = (text for pair in pairs["train"] for text in (pair.source, pair.target))
    vocabulary = Vocabulary.train(lines, config["vocab_size"])
    examples = {split: encode_pairs(vocabulary, some) for split, some in pairs.items()}
    rows = {split: joined(some, config["batch_size"]) for split, some in examples.items()}
    settings = config["training"] | {"seed": seed}
    scores: dict[str, Any] = {"exact match": {}, "held-out loss": {}, "weights": {}}
    curves: dict[str, list[float]] = {}
    for name in ("encoder and decoder", "decoder alone", "decoder alone, prompt seen whole"):
        torch.manual_seed(seed)
        model = built(name, config, len(vocabulary))
        place = folder / name
        if isinstance(model, Transformer):
            batches = InBatches(examples["train"], config["batch_size"])
            trainer = trained(model, batches, examples["valid"], settings, place)
        else:
            loss = prefix_loss if name.endswith("whole") else language_model_loss
            _, trainer = trained_on(model, rows["train"], rows["valid"], settings, place, loss)
        written = written_by(model, examples["test"], vocabulary)
        scores["exact match"][name] = round(exact_match(pairs["test"], written), 5)
        scores["weights"][name] = sum(p.numel() for p in model.parameters())
        curves[name] = [round(record["loss"], 5) for record in trainer.history]
        scores["held-out loss"][name] = curves[name][-1]
    return {"curves": curves, "scores": scores}


def built(name: str, config: dict[str, Any], vocab_size: int) -> Any:
    """One of the three."""
    if name == "encoder and decoder":
        return use_fast(
            Transformer(TransformerConfig(vocab_size, **config["layer"], **config[name]))
        )
    choice = config["decoder alone"]
    layer = LayerConfig(**config["layer"], d_ff=choice["d_ff"])
    sizes = DecoderConfig(vocab_size, layer, choice["n_layers"], positions="sinusoidal")
    return use_fast((PrefixDecoder if name.endswith("whole") else DecoderOnly)(sizes))


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
    with_encoder = isinstance(model, Transformer)
    for i in range(0, len(examples), 50):
        prompts = [
            torch.tensor([*source, 2] if with_encoder else [*source, 2, 1])
            for source, _ in examples[i : i + 50]
        ]
        found = greedy(model, pad_sequence(prompts, True), 40, bos_id=1 if with_encoder else -1)
        texts += vocabulary.decode([[i for i in ids if i != 2] for ids in found])
    return texts
